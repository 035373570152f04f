"""Explicit wishes in German, Dutch, Italian, Portuguese, Spanish, French and Chinese."""

import re

from retain.engine.capture.by_rule.found import Found

_FOREIGN_FACT = re.compile(
    r"(?:bitte )?(?:merk(?:e)? dir|denk(?:e)? (?:daran|dran)|vergiss nicht)\s?[,:]\s*(?:dass\s+)?(?P<de>.+)"
    r"|(?:onthoud|denk eraan|vergeet niet)\s?[,:]?\s*dat\s+(?P<nl>.+)"
    r"|(?:ricorda(?:ti)?|tieni presente|non dimenticare)\s+che\s+(?P<it>.+)"
    r"|(?:lembr[ae](?:-te|-se)?(?: de)?|não (?:te )?esque[çc]as?(?: de)?)\s+que\s+(?P<pt>.+)"
    r"|(?:recuerda|acu[ée]rdate de|ten en cuenta|no olvides)\s+que\s+(?P<es>.+)"
    r"|(?:souviens-toi|rappelle-toi|n'oublie pas|retiens|note bien)\s+qu(?:e\s+|')(?P<fr>.+)"
    r"|(?:请)?(?:记住|记得|牢记)[:：,，]?\s*(?P<zh>.+)",
    re.I,
)
_FOREIGN_RULE = re.compile(
    r"(?:lasst? uns |bitte |und )*(?:ab (?:jetzt|sofort)|von (?:jetzt|nun) an|in zukunft)\s?,?\s*(?:bitte )?(?P<de>.+)"
    r"|(?:a partir de ahora|de ahora en adelante)\s?,?\s*(?P<es>.+)|(?:à partir de maintenant|désormais"
    r"|dorénavant|à l'avenir)\s?,?\s*(?P<fr>.+)|(?:从现在开始|从现在起|以后(?:请)?(?=都|一律|总是))[,，]?\s*(?P<zh>.+)",
    re.I,
)
_NOT_ABROAD = re.compile(
    r"(?:und )?(?:bitte )?(?:(?:keine?[nr]?|nie(?:mals)?|nicht) .+ (?:in diesem (?:projekt|repo)|bei uns)\b.*"
    r"|(?:keine?[nr]? .+ mehr|nie wieder .+|immer .+) (?:in diesem (?:projekt|repo)|bei uns)\b.*)"
    r"|wir (?:benutzen|nutzen|verwenden|schreiben|deployen) (?:hier|in diesem|immer|nur|nie)\b .+"
    r"|(?:bitte )?(?:nie(?:mals)?|immer) .+ (?:pushen|committen|deployen|mergen|verwenden|benutzen|nutzen|schreiben"
    r"|ändern|anfassen"
    r"|löschen|fragen|testen|ausführen)"
    r"|(?:nunca|siempre) (?:uses?|usa|hagas|haz|pongas|pon|escribas|escribe|borres|toques|cambies|pregunta)\b .+"
    r"|(?:utilise|écris|mets|fais|demande) (?:toujours|jamais) .+|ne \w+ jamais .+ (?:sans|dans ce projet)\b.*"
    r"|bitte (?:nie wieder|ab jetzt|künftig|immer (?:erst|zuerst|nur)) .+"
    r"|(?:graag )?(?:geen|nooit) .+ (?:meer )?in dit project\b.*|(?:non|mai) .+ in questo progetto\b.*"
    r"|(?:s'il te plaît,? )?(?:plus (?:de|jamais)|pas de) .+ dans ce projet\b.*"
    r"|(?:por favor,? )?(?:nunca|no) .+ en este proyecto\b.*",
    re.I,
)
_SWAP = re.compile(r"[\w@/.+#-]+ (?:statt|anstelle von|anstatt) (?P<old>[\w@/.+#-]+)", re.I)
_ALWAYS_ABROAD = re.compile(r"\b(?:immer|nie(?:mals)?|siempre|nunca|toujours|jamais)\b|总是|永远|不要|只能|必须", re.I)


def in_another_language(text: str) -> Found | None:
    if _NOT_ABROAD.match(text):
        return Found(re.sub(r"^(?:und|bitte)\s+", "", text, flags=re.I), "pattern")
    rule = _FOREIGN_RULE.match(text)
    match = rule or _FOREIGN_FACT.match(text)
    if match is None:
        return None
    what = next(value for value in match.groups() if value)
    swap = _SWAP.match(what)
    if rule and swap:
        return Found(f"Ab jetzt {what}", "pattern", replaces=swap["old"])
    return Found(what, "pattern" if rule or _ALWAYS_ABROAD.search(what) else "architecture")
