"""One or two sentences for what several memories say: the most central statement, then what the others add.

Extractive: every word comes from the sources, except for small connectives. The clauses of a person's
notes are kept whole, joined where they share a subject or a beginning, and left out where they say nothing new.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise, takewhile

from retain.domain.claims import signature
from retain.domain.stem import stem
from retain.domain.words import STOP_WORDS, bare, is_spaceless, query_terms
from retain.engine.lifecycle.contradictions import clash
from retain.engine.lifecycle.vocabulary import VERBS

LONGEST = 400
MOST_ADDED = 4
_LONG_LEAD = 240
_MOST_READ = 40  # of a cluster: the most central, else the newest; the rest says much the same
_READ = 2000  # characters of a long text
_ENOUGH = 2.0  # new to a reader: one detail, or three words

_LABEL = re.compile(
    r"""^\s*(?:[-*•>\#]+\s+|\d+[.)]\s+                                    # a bullet, a number
    |\[[^\]]{0,30}\d[^\]]{0,30}\]\s*[-–:]?\s*                             # [10:32]
    |\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d\S*)?\s*[-–:,]?\s*|\d\d?:\d\d(?::\d\d)?\s*[-–:]\s*
    |(?!next|warning|error|bug|fix|issue|cause)(?-i:[A-Z])[a-z]{1,20}:\s+  # who speaks, or "Note:"
    |(?:user|assistant|human|me|note|update|fyi)\s*:\s*)""",
    re.I | re.X,
)
_OPENING = re.compile(
    r"""^(?:(?:today|yesterday|tonight|earlier|just\ now|right\ now|this\ (?:morning|afternoon|evening|week|session)
    |so|ok(?:ay)?|also|well|and|then|again|fyi|note\ that|remember(?:\ that)?|it\ turns\ out(?:\ that)?
    |as\ discussed|for\ the\ record)\b,?\s+)+""",
    re.I | re.X,
)
_FENCE = re.compile(r"```.*?(?:```|$)", re.DOTALL)
_SENTENCE_END = re.compile(
    r"(?<![A-Z])(?<!\be\.g)(?<!\bi\.e)(?<!\betc)(?<!\bvs)[.!?]+\s+(?=[A-Z`\"“(\d])|(?<=[。！？])|;\s+(?=[A-Z`])|\n+"
)
_POINTS_BACK = re.compile(r"^(?:it|this|that|these|those|they|he|she|its|their|which|instead|but|however)\b", re.I)
_DECIDES = re.compile(r"\b(?:decid\w+|chose|agreed|prefer\w*|must|always|never|uses?|requires?|needs?)\b", re.I)
_PREFERS = re.compile(
    r"\b(?:user|i) (?:\w+ly |always )?(?:prefer|like|want|love|hate|dislike|ask|favou?r)\w{0,2}\b|\bpreference\b",
    re.I,
)
_IDLE = re.compile(r"(?:debugged|discussed|investigated|checked|looked|started|worked|reviewed)\b", re.I)
_FLEETING = re.compile(r"\b(?:again|still|currently|just|i think|maybe|next|todo)\b|:\s", re.I)
_IDENTIFIER = re.compile(r"[`_/\\@=#<>$~]|\w\.\w|[a-z][A-Z]|\d|^[A-Z]{2,}|^\W*-")
_TAIL = re.compile(r",?\s(?=(?:because|since|so that|when|whenever|unless|until|with|via|using)\s)")
_PAUSE = frozenset(("because", "since", "so", "when", "whenever", "unless"))
_CLAUSE_END = re.compile(r"[,;:–]\s|\s(?=because\b|since\b|which\b|so that\b)")
_PRONOUNS = frozenset(("we", "i", "you", "they", "user"))
_PAST = frozenset("built chose cut did found got kept made put ran set took wrote".split())  # noqa: SIM905
_SMALL = frozenset("the a an we our my i it its this that each every all no".split())  # noqa: SIM905
_AUXILIARY = frozenset(
    "is are was were must should can cannot will has have had may might could would does do did never always".split()  # noqa: SIM905
)
_NOUN_ENDINGS = ("ion", "ing", "er", "or", "ment", "al", "able", "age")


@dataclass(frozen=True, slots=True)
class Statement:
    """A clause of one source, in the source's words, and how well it stands for all of them."""

    text: str
    source: int
    weight: float
    words: frozenset[str]
    details: frozenset[str]

    @property
    def tokens(self) -> list[str]:
        return self.text.split()

    def adds(self, words: Iterable[str], details: Iterable[str]) -> float:
        """How much a reader learns who knows these words and details already."""
        new = self.words.difference(words)
        done = _tense(self.tokens[0]) == "past" and not _IDLE.match(self.text)
        return 2.0 * len(self.details.difference(details)) + 0.7 * (len(new) + (done and len(new) > 1))


def summary(texts: Sequence[str], closeness: Sequence[float] = ()) -> str:
    """At most 400 characters that end with a full stop. Give the oldest first: of two that clash, the newer holds.

    `closeness` says how near each text is to the middle of all; without it shared words decide.
    """
    statements = _statements(texts, closeness)
    lead = _lead(statements)
    if lead.text.endswith("?"):
        return recurring(texts, closeness)
    lead, rest = _with_tail(_shortened(lead), [s for s in statements if s.text != lead.text])
    return _fitting(lead, rest, texts)


def extended(before: str, texts: Sequence[str], closeness: Sequence[float] = ()) -> str:
    """An earlier summary with what newer texts add; a new one where they correct it."""
    lead = _statement(_cleaned(before), 0)
    others = _statements(texts, closeness)
    if any(_corrects(other, lead) for other in others):
        return summary(texts, closeness)
    return _fitting(_shortened(lead), others, [before, *texts])


def recurring(texts: Sequence[str], closeness: Sequence[float] = ()) -> str:
    """The statement that best stands for what keeps coming up, said as such."""
    lead = _shortened(_lead(_statements(texts, closeness)))
    said = _lowered(lead.text, texts) or lead.text
    kind = " question" if said.endswith("?") else " preference" if is_preference(texts) else ""
    return _closed(f"Recurring{kind}: {said}")


def is_preference(texts: Sequence[str]) -> bool:
    """Whether most of the texts tell what the user likes or how the user works, whatever the project."""
    return sum(_PREFERS.search(text) is not None for text in texts) * 2 > len(texts)


def themes(texts: Sequence[str], most: int = 4) -> tuple[str, ...]:
    """What most of the texts speak of, in their own words: pairs of words where those recur together."""
    surface: dict[str, Counter[str]] = {}
    held: Counter[str] = Counter()
    for text in texts:
        spoken = [(_key(word), word.strip(".,;:!?()\"'")) for word in _cleaned(text[:_READ]).split()]
        pairs = [((*a[0], *b[0]), f"{a[1]} {b[1]}") for a, b in pairwise(spoken) if a[0] and b[0]]
        for key, form in {**dict(pairs), **{key: form for key, form in spoken if key}}.items():
            name = " ".join(key)
            held[name] += 1
            surface.setdefault(name, Counter())[form if _IDENTIFIER.search(form) else form.lower()] += 1
    recurring = [name for name in held if held[name] * 2 > len(texts) or held[name] >= 3]
    ranked = sorted(recurring, key=lambda name: (-held[name] - 0.6 * name.count(" "), name))
    chosen: list[str] = []
    for name in ranked:
        if not any(set(name.split()) & set(other.split()) for other in chosen):
            chosen.append(name)
    return tuple(surface[name].most_common(1)[0][0] for name in chosen[:most])


def _key(word: str) -> tuple[str, ...]:
    """What two forms of a word have in common; empty for a word that is no topic."""
    plain = bare(word.strip(".,;:!?()\"'`"))
    if plain in STOP_WORDS or len(plain) < 3 or plain.isdigit() or _tense(plain) or stem(plain) in VERBS:
        return ()
    return (stem(plain),)


def _statements(texts: Sequence[str], closeness: Sequence[float]) -> list[Statement]:
    central = sorted(range(len(texts)), key=lambda source: -closeness[source] if closeness else -source)[:_MOST_READ]
    made = [_statement(unit, source) for source in sorted(central) for unit in _units(texts[source])]
    made = made or [_statement(" ".join(texts[0].split()), 0)]
    held = Counter(word for _, word in {(s.source, word) for s in made for word in s.words})

    def weight(s: Statement) -> float:
        shared = sum(held[word] for word in s.words) / (len(s.words) or 1) / len(texts)
        return 0.4 * shared + (closeness[s.source] if closeness else 0)

    return [replace(s, weight=weight(s)) for s in made]


def _units(text: str) -> list[str]:
    """The sentences of a text, cleaned; one that points back ("It takes…") stays with what it points to."""
    units: list[str] = []
    for sentence in _SENTENCE_END.split(_FENCE.sub(" ", text[:_READ])):
        unit = _cleaned(sentence or "")
        if units and _POINTS_BACK.match(unit):
            units[-1] += f". {unit}"
        elif len(unit.split()) > 1 or len(unit) > 8:
            units.append(unit)
    return units


def _cleaned(sentence: str) -> str:
    """Without the label of a speaker, a time, a bullet or a "Today" in front, and without the closing stop."""
    text = " ".join(sentence.split())
    while (shorter := _OPENING.sub("", _LABEL.sub("", text))) != text:
        text = shorter
    text = re.sub(r"^(?:the )?user (?=(?:said|\w+(?:s|ed))\b)", "The user ", text, flags=re.I)
    return text.rstrip(" .;,:!。！").replace("**", "")


def _statement(text: str, source: int) -> Statement:
    return Statement(text, source, 0.0, *_asserted(text))


@lru_cache(maxsize=4096)
def _asserted(text: str) -> tuple[frozenset[str], frozenset[str]]:
    said = signature(text)
    return frozenset(query_terms(text)), frozenset((*said.numbers, *said.identifiers, *said.names))


def _lead(statements: Sequence[Statement]) -> Statement:
    """The best one to begin with that no later source corrects: a summary tells what holds now."""
    ranked = sorted(statements, key=_leads, reverse=True)
    return next((s for s in ranked if not _is_corrected(s, statements)), ranked[0])


def _is_corrected(statement: Statement, statements: Sequence[Statement]) -> bool:
    return any(_corrects(other, statement) for other in statements if other.source > statement.source)


def _corrects(newer: Statement, older: Statement) -> bool:
    """By another value or a "not"; opposites ("failed", then "passed") are a story, not a correction."""
    found = clash(older.text, newer.text)
    return found is not None and found.kind != "antonym"


def _leads(statement: Statement) -> tuple[float, int]:
    """Prefers what is central, complete, declarative, of a size to read at once, and, all else equal, newer."""
    text, tokens = statement.text, statement.tokens
    faults = 0.5 * text.endswith("?") + 0.3 * (len(tokens) < 4) + 0.3 * (len(text) > _LONG_LEAD)
    faults += 0.1 * (_tense(tokens[0]) == "past") + 0.1 * (". " in text)
    faults += 0.1 * bool(_POINTS_BACK.match(text)) + 0.1 * bool(_FLEETING.search(text))
    return statement.weight - faults + 0.08 * bool(_DECIDES.search(text)), statement.source


def _shortened(lead: Statement) -> Statement:
    """A lead that is too long ends at its last clause that fits."""
    room = lead.text[: LONGEST - 20]
    if room == lead.text:
        return lead
    ends = [match.start() for match in _CLAUSE_END.finditer(room) if match.start() >= 80]
    return replace(lead, text=room[: ends[-1]] if ends else room.rsplit(" ", 1)[0].rstrip(" ,;:–") + "…")


def _with_tail(lead: Statement, others: Sequence[Statement]) -> tuple[Statement, list[Statement]]:
    """The lead with the reason or circumstance that another gives for the very same thing, and who is left."""
    for other in others:
        tail = _tail(lead, other)
        if tail and len(lead.text) + len(tail) < _LONG_LEAD:
            pause = "," if tail.split()[0] in _PAUSE else ""
            words, details = lead.words | other.words, lead.details | other.details
            longer = replace(lead, text=f"{lead.text}{pause} {tail}", words=words, details=details)
            return longer, [s for s in others if s is not other]
    return lead, list(others)


def _tail(lead: Statement, other: Statement) -> str | None:
    """What follows "because", "with" or the like in a statement that otherwise says nothing but the lead."""
    if _TAIL.search(lead.text) or ". " in lead.text:
        return None
    for match in _TAIL.finditer(other.text):
        head, tail = _statement(other.text[: match.start()], 0), other.text[match.end() :]
        beyond = [word for word in head.tokens if not lead.words.issuperset(query_terms(word))]
        beyond = [word for word in beyond if bare(word) not in STOP_WORDS and _tense(word) != "past"]
        if beyond or 2 * len(head.words & lead.words) < len(lead.words):
            continue
        if _statement(tail, 0).adds(lead.words, lead.details) > 1:
            return tail
    return None


def _fitting(lead: Statement, others: Sequence[Statement], texts: Sequence[str]) -> str:
    """The lead and as much of what is worth adding as there is room for; what has the fewest details goes first."""
    chosen = _chosen(lead, others)
    while len(whole := _written(_ordered(lead, chosen), texts)) > LONGEST and chosen:
        chosen.remove(min(chosen, key=lambda s: (len(s.details), s.weight)))
    return whole


def _chosen(lead: Statement, others: Sequence[Statement]) -> list[Statement]:
    """What tells a reader of the lead most, then what tells most beside that, in the order of time."""
    words, details = set(lead.words), set(lead.details)
    chosen: list[Statement] = []
    left = [s for s in others if not s.text.endswith("?") and (s.details or any(map(_is_verb, s.tokens)))]
    while left and len(chosen) < MOST_ADDED:
        best = max(left, key=lambda s: (s.adds(words, details), s.weight))
        if best.adds(words, details) < _ENOUGH:
            break
        left.remove(best)
        if _is_corrected(best, [lead, *others]):
            continue
        chosen.append(best)
        words |= best.words
        details |= best.details
    return chosen


def _ordered(lead: Statement, chosen: Sequence[Statement]) -> list[Statement]:
    """The lead, then facts, then notes, each as they were said. Notes of what was done are a story, lead and all."""
    if _tense(lead.tokens[0]) == "past":
        return sorted([lead, *chosen], key=lambda s: s.source)
    return [lead, *sorted(chosen, key=lambda s: (_tense(s.tokens[0]) is not None, s.source))]


def _written(statements: Sequence[Statement], texts: Sequence[str]) -> str:
    """Clauses as sentences: those with one subject share it, the others follow after a semicolon or a stop."""
    clauses = _joined(_counted([s.text for s in statements]))
    sentences = [clauses[0]]
    for clause in clauses[1:]:
        low = _lowered(clause, texts)
        fits = len(sentences[-1]) + len(clause) < 220 and not re.search(r"; |\. ", sentences[-1] + clause)
        # A note without a subject ("Fixed…") would borrow the one before.
        if low and fits and _tense(clause.split()[0]) == _tense(sentences[-1].split()[0]):
            sentences[-1] += f"; {low}"
        else:
            sentences.append(clause)
    return " ".join(_closed(_raised(sentence)) for sentence in sentences)


def _counted(texts: Sequence[str]) -> list[str]:
    """Clauses that differ in one number or name are said once: "Finished task 3 and 4 of the importer"."""
    kept: list[tuple[list[str], int, list[str]]] = []
    for tokens in map(str.split, texts):
        for place, (other, slot, values) in enumerate(kept):
            differing = [i for i, (a, b) in enumerate(zip(other, tokens, strict=False)) if a != b]
            if len(other) != len(tokens) or len(differing) != 1 or slot not in (-1, at := differing[0]):
                continue
            if len(tokens) > 2 and _IDENTIFIER.search(tokens[at]):
                kept[place] = (other, at, [*(values or [other[at]]), tokens[at]])
                break
        else:
            kept.append((tokens, -1, []))
    return [
        " ".join([*tokens[:slot], _series(values), *tokens[slot + 1 :]] if values else tokens)
        for tokens, slot, values in kept
    ]


def _joined(texts: Sequence[str]) -> list[str]:
    """Clauses that begin with the same subject become one: "The worker reads X, writes Y and needs Z"."""
    groups: list[tuple[str, list[str]]] = []
    for text in texts:
        for place, (subject, said) in enumerate(groups):
            first = f"{subject} {said[0]}".strip()
            shared = _shared_subject(first, text) if len(said) < 3 and ". " not in first + text else None
            if shared is not None and (len(said) == 1 or shared == subject):
                cut = len(shared.split())
                said[0] = " ".join(first.split()[cut:])
                rest = " ".join(text.split()[cut:])
                groups[place] = (shared, [*said, rest if shared else rest[0].lower() + rest[1:]])
                break
        else:
            groups.append(("", [text]))
    return [f"{subject} {_series(said)}".strip() for subject, said in groups]


def _shared_subject(first: str, other: str) -> str | None:
    """The words with which both begin, up to the verb; empty when both are notes that begin with it."""
    a, b = first.split(), other.split()
    if _tense(a[0]) and _tense(a[0]) == _tense(b[0]):
        return ""
    same = len(list(takewhile(lambda pair: pair[0].lower() == pair[1].lower(), zip(a, b, strict=False))))
    for cut in range(min(same, len(a) - 1, len(b) - 1), 0, -1):
        subject = [bare(word) for word in a[:cut]]
        if subject[-1] in _PRONOUNS and cut <= 2 and not {a[cut], b[cut]} & {"and", "or"}:
            return " ".join(a[:cut])
        if _is_verb(a[cut]) and _is_verb(b[cut]) and not _SMALL.issuperset(subject) and subject[-1] not in STOP_WORDS:
            return " ".join(a[:cut])
    return None


def _series(parts: Sequence[str]) -> str:
    """One after another; with commas inside, "and" alone would lead astray."""
    if len(parts) < 2:
        return parts[0]
    comma = "," if any(", " in part or " and " in part for part in parts) else ""
    return f"{', '.join(parts[:-1])}{comma} and {parts[-1]}"


def _is_verb(word: str) -> bool:
    plain = bare(word)
    is_known = plain in _AUXILIARY or (stem(plain) in VERBS and not plain.endswith(_NOUN_ENDINGS))
    return is_known or _tense(word) == "past"


def _tense(word: str) -> str | None:
    """Whether a note that begins with this word tells what was done ("Fixed…") or what to do ("Use…")."""
    plain = bare(word)
    if plain in _PAST or (plain.endswith("ed") and len(plain) > 4 and plain.isalpha()):
        return "past"
    return "imperative" if stem(plain) in VERBS and not plain.endswith(("s", *_NOUN_ENDINGS)) else None


def _lowered(clause: str, texts: Sequence[str]) -> str | None:
    """The clause as it goes on after a semicolon; None when its first word may be a name or not."""
    first, _, rest = clause.partition(" ")
    if _IDENTIFIER.search(first) or first[0].islower() or first == "I":
        return clause
    if not first.isascii():
        return None
    low = first.lower()
    ordinary = bare(first) in STOP_WORDS | _SMALL or _is_verb(first)
    if ordinary or any(re.search(rf"(?<![\w-]){re.escape(low)}(?![\w-])", text) for text in texts):
        return f"{low} {rest}".strip()
    return clause if any(re.search(rf"[a-z,] {re.escape(first)}\b", text) for text in texts) else None


def _raised(sentence: str) -> str:
    first = sentence.split()[0]
    return sentence if _IDENTIFIER.search(first) else sentence[0].upper() + sentence[1:]


def _closed(sentence: str) -> str:
    if sentence.endswith((".", "!", "?", "…", "？")):
        return sentence
    return f"{sentence}{'。' if any(map(is_spaceless, sentence)) else '.'}"
