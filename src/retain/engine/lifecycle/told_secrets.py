"""Secrets told in a sentence, in whichever language: "the password is …", "login: ada / …", a PIN, a pass phrase."""

import re

from retain.engine.lifecycle.detector import Detector, value_of
from retain.engine.lifecycle.placeholders import is_masked, is_password, is_placeholder

# What a password is called, and what stands between that and the password. English has more in `detectors`.
PASSWORDS = """
    password passwd passcode pw pwd passwort kennwort zugangscode contraseña contrasena clave mot_de_passe mdp parola
    parola_d'ordine senha palavra-passe wachtwoord hasło haslo hasła пароль пароля şifre sifre lösenord adgangskode
    passord salasana heslo jelszó mật_khẩu kata_sandi
"""
UNSPACED = "密码 密碼 口令 パスワード 暗証番号 비밀번호"  # nothing tells where such a word begins
LINKS = "is was ist lautet war es era est c'est était è é jest är er on je adalah là это"
# "Password policy is …" speaks of something else.
OTHERS = (
    "policy reset length field hash manager column rule requirement check validation generator prompt strength expir "
    "rotation hint input page form protect less based auth error change count age history"
)


def _listed(words: str) -> list[str]:
    return [word.replace("_", " ") for word in words.split()]


def _any_of(words: str) -> str:
    return "|".join(re.escape(word) for word in sorted(_listed(words), key=len, reverse=True))


_NAME = rf"(?:(?<![^\W_])(?i:{_any_of(PASSWORDS)})(?![\w@}}]|[ _-]?(?i:{_any_of(OTHERS)}))|(?:{_any_of(UNSPACED)}))"
_BETWEEN = r"[^\n.;:=：，。、,]{0,60}?"
_LINK = rf"(?:[ \t]*(?:[:=：—]|[-–][ \t]|是|为|為|は|が|=>|->)[ \t]*|[ \t](?i:{_any_of(LINKS)})[ \t]{{1,3}})"
_CHANGED = r"(?i:\b(?:chang|set|reset|rotat|updat|switch)\w{0,5}\b)"
_QUOTE = r"""["'`“”„«‘’「]"""
_VALUE = r"""([^\s"'`“”«»‘’」,;，。、<>|]{3,199}[^\s"'`“”«»‘’」,;，。、<>|.:)\]}!?…])"""
_PHRASE = r"(?i:pass ?phrase|passphrase|seed|mnemonic|recovery phrase|frase de paso|phrase secrète)"
# Words that a random phrase does not have, and a sentence about one has soon.
_COMMON = """
    a an and any are as at be been before but by can could does each for from had has have here how if in into is it its
    just long longer longest made make may must never new no not now of off on once one only or our out over please
    provided required same see set shared short should so stored strong than that the their them then there they this
    to too under unless until up use used user uses using very via was we were what when where which while who will
    with without words written wrong you your again always empty missing prompt prompted asked invalid
    incorrect rotated changed ignored cached encrypted hashed derived protected optional unknown lost weak safe kept
"""
_WORD = rf"(?!(?:{'|'.join(_COMMON.split())})\b)[a-z]{{3,12}}"
UNSPACED_LETTER = re.compile(r"[\u3040-\u9fff\uac00-\ud7a3]")  # the sentence goes on without a space
_MNEMONIC = _WORD.replace("[a-z]", "[a-z0-9]")
TICKET = re.compile(r"[A-Z]{1,10}-?\d{1,7}|[A-Z][\dA-Z_.-]*")
_OF = r"(?i:for|of|для|от|von|für|de|del|do|da|van|voor|pour|per)"
_USER = r"[\w.@+-]{2,60}"


def _is_told(match: re.Match[str]) -> bool:
    value = value_of(match)
    if is_placeholder(value) or is_masked(value) or UNSPACED_LETTER.search(value):
        return False
    return is_password(value)


def _is_named_so(match: re.Match[str]) -> bool:
    """Right behind the word: with a digit, and a capital or a symbol, which no ticket, version or algorithm has."""
    value = value_of(match)
    is_mixed = any(c.isdigit() for c in value) and any(c.isupper() or c in "!@#$%^&*~+" for c in value)
    return is_mixed and not TICKET.fullmatch(value) and _is_told(match)


def _is_pin(match: re.Match[str]) -> bool:
    rest = match.string[match.end() : match.end() + 12].lower()
    return not re.match(r"[\d.:/-]*\d|\s*(?:ms|s|px|sec|min|mm|cm|bytes?|times|chars?|digits?)\b", rest)


_HINTS = tuple(_listed(f"{PASSWORDS} {UNSPACED}"))

TOLD = (
    Detector("secret", _HINTS, re.compile(f"{_NAME}{_BETWEEN}{_LINK}{_QUOTE}?{_VALUE}"), _is_told),
    Detector(
        "secret", _HINTS, re.compile(rf"{_CHANGED}[^\n.;:]{{0,40}}?{_NAME}{_BETWEEN} to {_QUOTE}?{_VALUE}"), _is_told
    ),
    Detector("secret", _HINTS, re.compile(rf"{_NAME}(?:'s|’s)[ \t]{_QUOTE}?{_VALUE}"), _is_told),
    Detector(
        "secret",
        _HINTS,
        re.compile(rf"{_NAME}(?: {_OF} \w{{2,20}}(?: \w{{2,20}})?)?[ \t]{_QUOTE}?{_VALUE}"),
        _is_named_so,
    ),
    Detector(
        "secret",
        _HINTS,
        re.compile(rf"(?<![^\s\"'`(]){_VALUE}[\"'`]? (?i:is|as|ist|es|est|als) (?:\w{{1,12}} ){{1,3}}?{_NAME}"),
        _is_told,
    ),
    Detector("secret", ("has",), re.compile(rf"(?<!\w)(?i:has[łl][oa]){_BETWEEN} to {_QUOTE}?{_VALUE}"), _is_told),
    Detector(
        "secret",
        ("password", "passwort", "contrase", "passcode"),
        re.compile(rf"(?i:\b(?:with|using|mit|con|und|and) (?:the |dem )?{_NAME}) {_QUOTE}?{_VALUE}"),
        _is_told,
    ),
    Detector(
        "secret",
        ("pin", "暗証番号", " code"),
        re.compile(
            r"""(?<![A-Za-z-])(?:PIN|Pin|pin|(?:door|gate|alarm|unlock|entry|safe|keypad) code|暗証番号)"""
            r"""(?![A-Za-z-])[^\n.;:=\d]{0,50}?"""
            r"""(?::|=|[ \t](?:is|ist|lautet|es|est|è|é|to|jest)[ \t]|は|là)[ \t]{0,3}["'`]?(\d{4,8})(?![\w%])"""
        ),
        _is_pin,
    ),
    Detector(
        "secret",
        ("phrase", "seed", "mnemonic", "frase"),
        re.compile(
            rf"{_PHRASE}[^\n.;:=]{{0,100}}?(?:[:=]|\b(?i:is|was|es|est|ist|lautet)\b)[ \t]{{0,3}}"
            rf"{_QUOTE}?((?:{_WORD}[ -]){{2,23}}{_WORD})(?![a-z])"
        ),
    ),
    Detector(
        "secret",
        ("pin", " code"),
        re.compile(r"(?i:\b(?:sim|card|door|alarm|bank|gate|keypad|safe)[ -](?:pin|code))[ \t]{1,3}(\d{4,8})(?![\w%])"),
        _is_pin,
    ),
    Detector(  # as Google makes them
        "secret",
        ("pass",),
        re.compile(r"""(?i:pass(?:word|wd)?)["']?[ \t]?[:=][ \t]?["'`]?((?:[a-z]{4} ){3}[a-z]{4})(?![a-z ])"""),
    ),
    Detector(
        "secret",
        ("phrase",),
        re.compile(
            rf"{_PHRASE}[^\n;:=\"']{{0,60}}?(?:[:=]|\b(?i:is|was)\b)[ \t]{{0,3}}[\"'`“]([^\"'`”\n]{{6,200}})[\"'`”]"
        ),
    ),
    Detector(
        "secret",
        ("seed", "mnemonic", "wallet", "metamask", "recovery phrase"),
        re.compile(rf"(?<![a-z0-9])((?:{_MNEMONIC}[ \t\n]{{1,3}}){{11,23}}{_MNEMONIC})(?![a-z0-9])"),
    ),
    Detector(
        "secret",
        ("login", "log in", "credential", "creds", "account", "zugangsdaten", "user", "acceso", "identifiant", "admin"),
        re.compile(
            r"(?i:\b(?:log ?in|logins?|credentials?|creds|accounts?|zugangsdaten|user(?:name)?|acceso|identifiants)\b)"
            rf"[^\n]{{0,40}}?[ \t:=(]{_USER}[ \t]{{1,3}}[/|][ \t]{{1,3}}{_QUOTE}?{_VALUE}"
        ),
        _is_told,
    ),
    Detector(
        "secret",
        ("login", "credential", "creds", "zugangsdaten", "auth"),
        re.compile(
            r"(?i:\b(?:login|credentials?|creds|zugangsdaten|basic auth)\b)(?:[ \t](?:is|are|for)[^\n:=]{0,30}?)?"
            rf"[ \t]*[:= ][ \t]*{_QUOTE}?{_USER}:{_VALUE}"
        ),
        _is_told,
    ),
    Detector(
        "recovery_code",
        ("recovery", "backup", "scratch", "2fa", "mfa", "emergency", "rescue", "one-time"),
        re.compile(
            r"(?i:\b(?:recovery|backup|scratch|2fa|mfa|emergency|rescue|one-time)[ \w-]{0,20}codes?\b)"
            r"[^\n:]{0,80}[:\n]\s{0,4}"
            r"((?:(?:[-*•][ \t]|\d{1,2}[.)][ \t])?(?=[A-Za-z-]{0,20}\d)[A-Za-z0-9]{4,10}(?:-[A-Za-z0-9]{3,10}){0,4}"
            r"(?![A-Za-z0-9])[ \t]{0,4}[,;\n]?[ \t]{0,4}\n?){1,24})"
        ),
    ),
)
