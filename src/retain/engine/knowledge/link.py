"""Entities by rule: what a text names.

Precision comes before recall: a thing missed today is linked once it is known, a wrong one stays in the graph.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

from retain.domain.graph import fold
from retain.engine.knowledge.stated import Mention, Stated, labelled, stated
from retain.engine.knowledge.technologies import TECHNOLOGIES

__all__ = ["Mention", "Stated", "fold", "labelled", "mentions", "stated"]

MOST_MENTIONS = 12
MOST_WORDS = 4  # in the name of a known entity
LONGEST_WORD = 200

Lookup = Callable[[str], str | None]  # from a folded name to the type of the entity that has it


class Word(NamedTuple):
    text: str
    start: int
    folded: str
    opens: bool  # a sentence, a line or a quotation
    is_joined: bool  # only space lies between it and the word before

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def is_capitalised(self) -> bool:
        is_shaped = (self.text.istitle() and len(self.text) > 1) or SURNAME.fullmatch(self.text) is not None
        return is_shaped and self.text.isalpha() and self.folded not in NOT_NAMES


def mentions(text: str, known: Lookup = lambda name: None) -> list[Mention]:
    """What `text` names, each thing once, in order; of more than twelve, the known ones and then the first.

    Kinds: component, file, library, service, language, tool, person, concept (a name of which no more is known).
    """
    words = list(_words(text))
    found: dict[str, Mention] = {}
    already_known: set[str] = set()
    place = 0
    while place < len(words):
        used, mention = _mention_at(text, words, place, known)
        place += used
        if mention and (name := fold(mention.name)) not in found:
            kind = known(name)
            found[name] = replace(mention, kind=kind) if kind else mention
            already_known.update([name] if kind else [])
    kept = sorted(found, key=lambda name: name not in already_known)[:MOST_MENTIONS]
    return sorted((found[name] for name in kept), key=lambda mention: mention.start)


def _words(text: str) -> Iterator[Word]:
    end = 0
    for match in WORD.finditer(text):
        word, start = match[0], match.start()
        if not word.isalnum():
            stripped = word.rstrip(".:/-_~@").lstrip("_#:")
            start += word.find(stripped)
            word = stripped
        if word and len(word) <= LONGEST_WORD:
            gap = text[end:start]
            opens = gap != " " and (end == 0 or not OPENING.isdisjoint(gap))
            yield Word(word, start, word.casefold() if word.isascii() else fold(word), opens, gap.isspace())
            end = start + len(word)


def _mention_at(text: str, words: list[Word], place: int, known: Lookup) -> tuple[int, Mention | None]:
    """What begins at this word, if anything, and how many words it takes."""
    word = words[place]
    if word.text[0] >= FIRST_UNSPACED:
        return 1, _inside(word, known)
    used, mention = _listed(text, words, place, known)
    if mention:
        return used, mention
    if kind := _installed(words, place):
        return 1, Mention(PINNED.sub("", word.text), kind, word.start)
    if word.text.islower() and word.text.isalpha():
        return 1, None
    shaped = _shaped(text, word)
    if shaped or not word.is_capitalised:
        return 1, shaped and _or_its_owner(shaped, known)
    return _name(text, words, place)


def _listed(text: str, words: list[Word], place: int, known: Lookup) -> tuple[int, Mention | None]:
    """The longest run of words from here that is a known entity or a well-known technology."""
    word = words[place]
    runs = [word.folded]
    for following in words[place + 1 : place + MOST_WORDS]:
        if not following.is_joined:
            break
        runs.append(f"{runs[-1]} {following.folded}")
    for used in range(len(runs), 0, -1):
        kind, technology = known(runs[used - 1]), TECHNOLOGIES.get(runs[used - 1])
        if not kind and not technology:
            continue
        written = text[word.start : words[place + used - 1].end]
        if kind and runs[used - 1] not in COMMON:
            return used, _spelled(" ".join(written.split()), kind, word.start, written)
        if technology and not (technology.is_ambiguous and (word.opens or technology.name != written)):
            return used, _spelled(technology.name, technology.kind, word.start, written)
    head, hyphen, tail = word.folded.rpartition("-")
    if hyphen and tail in COMPOUNDS and (technology := TECHNOLOGIES.get(head)) and not technology.is_ambiguous:
        return 1, _spelled(technology.name, technology.kind, word.start, word.text[: len(head)])
    return 1, None


def _spelled(name: str, kind: str, start: int, written: str) -> Mention:
    return Mention(name, kind, start, "" if written == name else written)


def _inside(word: Word, known: Lookup) -> Mention | None:
    """The first known name in a run of a script that sets no spaces between words."""
    for start in range(len(word.text) - 1):
        for size in range(8, 1, -1):
            name = word.text[start : start + size]
            if len(name) == size and (kind := known(fold(name))):
                return Mention(name, kind, word.start + start)
    return None


def _installed(words: list[Word], place: int) -> str | None:
    """The kind of what a command installs, a line imports, or a sentence calls a library."""
    word, before = words[place], words[place - 1]
    if not place or (before.folded not in INTRODUCING and before.text[0] != "-"):
        return None
    if not PACKAGE.fullmatch(word.text) or word.folded in COMMON:
        return None
    after = words[place + 1] if place + 1 < len(words) else None
    joined_after = after.folded if after and after.is_joined else ""
    if joined_after in LIBRARY_NOUNS and before.folded in DETERMINERS and word.is_joined:
        return None if word.folded in ADJECTIVES or word.folded.endswith(("ed", "ing", "ive", "al")) else "library"
    if before.folded == "import" and before.opens and joined_after in ("", "as"):
        return "library"
    if before.folded == "from" and joined_after == "import":
        return "library"
    return _kind_by_command(words, place)


def _kind_by_command(words: list[Word], place: int) -> str | None:
    while place and words[place - 1].text[0] == "-":  # npm install --save-dev x
        place -= 1
    if place < 2 or words[place - 1].folded not in INSTALLING:
        return None
    return INSTALLERS.get(words[place - 2].folded)


def _shaped(text: str, word: Word) -> Mention | None:
    """A name that only code, files, addresses and handles have."""
    match = SHAPE.fullmatch(word.text)
    if not match or not match.lastgroup:
        is_quoted = text[word.start - 1 : word.start] == "`" == text[word.end : word.end + 1]
        return Mention(word.text, "component", word.start) if is_quoted and KEBAB.fullmatch(word.text) else None
    shape = match.lastgroup
    name, start = match[shape], word.start + match.start(shape)
    if NOISE.fullmatch(name) or SURNAME.fullmatch(name):
        return None
    if shape == "person" and (name.casefold() in ANNOTATIONS or text[word.end : word.end + 1] == "("):
        return None
    return Mention(name, shape, start)


def _or_its_owner(mention: Mention, known: Lookup) -> Mention:
    """`AuthService.refresh` speaks of AuthService, where only that is known."""
    owner, dot, _ = mention.name.partition(".")
    kind = known(fold(owner)) if dot and mention.kind == "component" and not known(fold(mention.name)) else None
    return Mention(owner, kind, mention.start) if kind else mention


def _name(text: str, words: list[Word], place: int) -> tuple[int, Mention | None]:
    """A capitalised name, of several words if they stand together; a person if it speaks, prefers or is asked."""
    run = [words[place]]
    for word in words[place + 1 : place + MOST_WORDS]:
        if not word.is_joined or not word.is_capitalised or word.folded in TECHNOLOGIES:
            break
        run.append(word)
    used, first, last = len(run), run[0], run[-1]
    following = words[place + used] if place + used < len(words) else None
    acts = following is not None and following.is_joined and following.folded in PERSONAL
    if place == 0 and first.start <= 2 and SPEAKER.match(text, last.end) and not _is_topic(run):
        return used, Mention(text[first.start : last.end], "person", first.start)
    if first.opens:
        if first.folded in STARTERS:
            return 1, None
        if not acts and used == 1:
            return used, None
    if _is_noise(text, words, place):
        return used, None
    by = [word.folded for word in words[max(0, place - 2) : place]]
    is_author = by[-1:] == ["by"] and by[0] in AUTHORING
    name, written = " ".join(word.text for word in run), text[first.start : last.end]
    kind = "person" if acts or is_author else "concept"
    # A name may go on in the next line.
    return used, Mention(name, kind, first.start, "" if written == name else written)


def _is_topic(run: list[Word]) -> bool:
    """`Decision: …`, `Deployment: …`: a heading, not a speaker."""
    return run[0].folded in STARTERS or run[-1].folded in TOPICS or run[-1].folded.endswith(TOPIC_ENDINGS)


def _is_noise(text: str, words: list[Word], place: int) -> bool:
    """Capitals mean nothing in headings, in quoted prose, in titles, and in German."""
    start = words[place].start
    line = text.rfind("\n", 0, start) + 1
    if text[line : line + 1] == "#" or text.count('"', line, start) % 2:
        return True
    inner = [w for w in words[max(0, place - 20) : place + 20] if not w.opens and w.text.isalpha()]
    capitals = sum(w.text[0].isupper() for w in inner)
    return sum(w.folded in GERMAN for w in inner) >= 2 or (len(inner) >= 4 and capitals * 2 > len(inner))


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


FIRST_UNSPACED = "\u3040"  # kana, han and hangul begin here
WORD = re.compile(
    r"""https?://[^\s<>"'`)\]]+|[\u3040-\u9fff\uac00-\ud7af]+"""
    r"""|[^\s"'`()\[\]{}<>,;|*=!?“”‘’…—–\u3000-\u9fff\uac00-\ud7af\uff00-\uffef]+(?:\(\))?"""
)
OPENING = frozenset('.!?:\n"“`(')
PINNED = re.compile(r"(?<=.)@.*")
PACKAGE = re.compile(r"@?[A-Za-z][\w.-]*[A-Za-z0-9](?:/[\w.-]+)?(?:@[\w.^~-]+)?")
SPEAKER = re.compile(r"\*{0,2}:\*{0,2}\s")
SURNAME = re.compile(r"(?:Mc|Mac|De|Di|La|Le|Van)[A-Z][a-z]+")
KEBAB = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)+")
# Marks that redaction leaves, ids of our own, plurals of acronyms, two-letter Latin.
NOISE = re.compile(
    r"redacted:.*|(?:mem|proj)_[a-z0-9]{20}|[A-Z]+s|PhDs?|(?:self|this|cls)|"
    r"(?:localhost|127\..*|0\.0\.0\.0|.*\bexample\.(?:com|org|net))|[a-z-]+\.(?:com|org|net|io|dev|ai|co|app)"
)
EXTENSIONS = (
    "astro bash bat c cc cfg cjs conf cpp cs css csv db dockerfile env ex exs feature fs go gql gradle graphql h hbs "
    "hpp hs htm html ini ipynb j2 java jl jpg js json json5 jsonl jsx kt kts less lock lua md mdx mjs ml mm nix onnx "
    "parquet pdf php pl png prisma proto ps1 py pyi r rb rs rst sass scala scm scss service sh sol sql sqlite surql "
    "svelte svg swift tf toml ts tsv tsx txt vue wasm xml yaml yml zig zsh"
).replace(" ", "|")
FOLDERS = r"src|libs?|tests?|docs?|apps?|packages|scripts|config|cmd|internal|pkg|bin|etc|usr|var|home|opt|tmp|\.\w+"
SHAPE = re.compile(
    rf"https?://(?:[^\s/@]*@)?(?:www\.)?(?P<service>[\w-]+(?:\.[\w-]+)+)(?:[/:?#].*)?"
    rf"|(?P<file>(?:~|\.{{1,2}})?/?(?:[\w.@+-]+/)*[\w+-][\w.+-]*\.(?:{EXTENSIONS})"
    rf"|(?:~|\.{{1,2}}|(?:~?/)?(?:{FOLDERS}))/[\w.@+/-]*[\w+-]"
    rf"|(?:[\w.+-]+/)*(?:[Mm]akefile|Dockerfile|Jenkinsfile|Procfile|Gemfile|Rakefile|Justfile|LICENSE|CODEOWNERS|"
    rf"\.env|\.[a-z]+(?:ignore|rc)))(?::\d+(?:[:-]\d+)?)?"
    rf"|(?P<library>@[a-z0-9][\w.-]*/[\w.-]*\w)(?:@.*)?"
    rf"|@(?P<person>[A-Za-z][\w-]*\w)"
    rf"|(?:(?:self|this|cls)\.)?(?P<component>[A-Za-z_]\w+(?:(?:\.|::|\#)[A-Za-z_]\w+)+(?=\(\)|$)"
    rf"|_*[A-Za-z][A-Za-z0-9]*(?:_+[A-Za-z0-9]+)+|[A-Za-z_]\w+(?=\(\))"
    rf"|(?=[A-Za-z0-9]*?(?:[A-Za-z][a-z0-9]+[A-Z]|[A-Z]{{3,}}[a-z]{{2}}))[A-Za-z][A-Za-z0-9]+)(?:\(\))?"
)
COMPOUNDS = _set("based backed like style compatible native only specific side powered driven first free hosted")
INSTALLING = _set("install i add get require")
INSTALLERS = dict.fromkeys(
    ("pip", "pip3", "pipx", "uv", "poetry", "npm", "yarn", "pnpm", "bun", "cargo", "gem"), "library"
)
INSTALLERS |= dict.fromkeys(("go", "composer", "conda"), "library") | dict.fromkeys(
    ("brew", "apt", "apt-get", "dnf"), "tool"
)
LIBRARY_NOUNS = _set("library package crate gem framework sdk")
DETERMINERS = _set("the our via using use uses")
INTRODUCING = DETERMINERS | INSTALLING | {"import", "from"}
ADJECTIVES = _set(
    "new old same standard following python go rust client server core common utility main right wrong whole entire "
    "internal private public npm latest current first second other best small tiny big open-source third-party third "
    "party helper ui test web http c java javascript typescript node this that top-level top own base support popular "
    "official default good"
)
ANNOTATIONS = _set(
    "property dataclass staticmethod classmethod override overload abstractmethod cached lru_cache media param "
    "returns return throws deprecated see todo import interface autowired test bean entity component injectable "
    "fixture pytest type types example since author version link inheritdoc suppresswarnings nullable notnull "
    "decorator layer apply tailwind latest next"
)
PERSONAL = _set(
    "said says prefers preferred wants wanted asked asks thinks likes loves hates suggested suggests told mentioned "
    "decided believes agreed disagreed joined lives insisted insists wrote reviewed approved proposed recommends "
    "recommended complained"
)
AUTHORING = _set(
    "written authored maintained owned reviewed approved reported requested proposed made created built led"
)
COMMON = _set(
    "the a an it its is are was were be been this that these those we you he she they i me us him her them and or not "
    "no to of in on for with by as at do does did has have had from if so but up all any can will may new use used "
    "using"
)
NOT_NAMES = _set(
    "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays "
    "sundays january february march april june july august september "
    "october november december i english german french spanish chinese japanese american european ok okay yes no am "
    "pm mr mrs ms dr christmas internet true false none null todo note"
)
STARTERS = (
    NOT_NAMES
    | COMMON
    | _set(
        "user users team everyone everybody nobody someone people management customer customers client clients "
        "developer developers assistant human system agent model there here when where while why how what who which "
        "whose because since although though after before during until unless once whenever whether either neither "
        "both each every some many most few several another other such then thus therefore however also even still "
        "just only never always sometimes often usually maybe perhaps yesterday today tomorrow now later currently "
        "previously recently finally first second third next last remember note please let lets make ask tell add "
        "remove run call check update upgrade fix deploy build test write read create delete move rename set get put "
        "keep avoid prefer ensure see look find try start stop open close install configure enable disable switch "
        "migrate replace refactor store save load send fetch import export define change convert handle support "
        "should must could would our my your his their given using according instead with without inside outside "
        "under over between among like unlike despite for from about against across per via new old same one two "
        "three good bad great thanks hello hi hey dear sorry sure well meet met talk follow contact invite assign "
        "merge review approve document rebase commit push pull release ship revert debug"
    )
)
TOPICS = _set(
    "warning fix bug error result results summary example usage title problem solution cause context status date "
    "important rule tip question answer goal plan step steps task tasks issue reason why how what where when decision "
    "decisions lesson gotcha pattern patterns preference preferences fact idea hint info update updates progress "
    "background build auth database backend frontend api cache caching style workflow project branch release version "
    "name type kind path file files command output input key value url host port scope source target owner author "
    "priority deadline constraint rationale root default defaults architecture structure setup stack tools tests test "
    "docs code security performance memory session config naming format important remember reminder tl dr tldr see "
    "also follow-up followup next changelog fixed added removed changed subject re"
)
TOPIC_ENDINGS = (
    "tion",
    "sion",
    "ment",
    "ness",
    "ity",
    "ing",
    "ance",
    "ence",
    "ship",
    "ism",
    "ture",
    "ies",
    "ons",
    "als",
)
GERMAN = _set(
    "der das und ist nicht wir ein eine einen mit für auf dem den des wird werden sind oder auch von zum zur im"
)
