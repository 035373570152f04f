"""Take secrets and private spans out of a text before anything stores, sends or logs it."""

import re
from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text fit to be kept, and the names of what was removed from it, each once, in order."""

    text: str
    found: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Detector:
    """What one kind of secret looks like.

    The last group of `pattern` that matched is the secret, without groups the whole match. The pattern
    runs only if one of `hints` (lower case) is in the text, and must take linear time on any input.
    """

    name: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    is_secret: Callable[[re.Match[str]], bool] = lambda match: _value(match) != ""


def redact(text: str) -> Redacted:
    """Replace each secret by `[redacted:<name>]`; the words around it stay.

    Redacting the result again changes nothing. Values that only stand for a secret (`changeme`, `xxx`,
    `<your-key>`, `${VAR}`, `env("X")`) stay too: they are what a memory about configuration is made of.
    """
    found: dict[str, None] = {}
    before = ""
    # Removing one secret can bare another that it was glued to, so look until nothing is left. Each
    # round leaves less text outside of the marks, so this ends.
    while text != before:
        before = text
        text = _without_private(text, found)
        lowered = text.lower()
        for detector in DETECTORS:
            if any(hint in lowered for hint in detector.hints):
                text = _without(detector, text, found)
    return Redacted(text, tuple(found))


def _without_private(text: str, found: dict[str, None]) -> str:
    """Spans may nest; one that is never closed reaches to the end, because hiding too much is the safe mistake."""
    if "<private" not in text.lower():
        return text
    kept: list[str] = []
    depth = position = 0
    for tag in PRIVATE_TAG.finditer(text):
        if tag[0][1] != "/":
            if depth == 0:
                kept += text[position : tag.start()], _mark("private_span", found)
            depth += 1
        elif depth:
            depth -= 1
            position = tag.end()
    return "".join(kept) + (text[position:] if depth == 0 else "")


def _without(detector: Detector, text: str, found: dict[str, None]) -> str:
    kept: list[str] = []
    position = search_from = 0
    while match := detector.pattern.search(text, search_from):
        start, end = match.span(match.lastindex or 0)
        if detector.is_secret(match):
            kept += text[position:start], _mark(detector.name, found)
            if end - start == LONGEST and (rest := REST_OF_VALUE.match(text, end)):
                end = rest.end()
            position = search_from = end
        else:
            # The value was harmless, but may itself hold a secret: `note: "password=…"`.
            search_from = start if start > match.start() else end
    return "".join(kept) + text[position:]


def _mark(name: str, found: dict[str, None]) -> str:
    found[name] = None
    return f"[redacted:{name}]"


def _value(match: re.Match[str]) -> str:
    return MARK.sub("", match[match.lastindex or 0])


def _is_random(value: str) -> bool:
    """Long, with a run that mixes letters and digits as no word, path or identifier does."""
    if AWS_SECRET.fullmatch(value):
        return True
    return len(value) >= 16 and any(
        sum(c.isdigit() for c in run) >= 2 and sum(c.isalpha() for c in run) >= 2 for run in LONG_RUN.findall(value)
    )


def _is_placeholder(value: str) -> bool:
    if REFERENCE.match(value) or not any(c.isalnum() for c in value) or FILLER.fullmatch(value):
        return True
    if len(value) > 60:
        return False
    parts = WORD.findall(value.lower())
    has_more = "".join(parts) != SEPARATOR.sub("", value.lower())
    return not has_more and all(part in STAND_INS or part in "0123456789" for part in parts)


def _is_prefixed_key(match: re.Match[str]) -> bool:
    # `sk-` and `pypi-` also begin ordinary kebab-case names; a key has a long unbroken run or digits.
    return _is_random(match[0]) or max(map(len, ALNUM_RUN.findall(match[0]))) >= 20


def _is_key_block(match: re.Match[str]) -> bool:
    return KEY_BODY.search(match[0]) is not None


def _is_authorization(match: re.Match[str]) -> bool:
    """Bearer or Basic: in a header nearly any value counts, in a sentence only what must be a token."""
    value, has_digit = _value(match), any(c.isdigit() for c in match[3])
    if _is_placeholder(value) or TECHNICAL.match(value):
        return False
    if match[1]:
        return has_digit or len(value) >= 16 or _is_user_and_password(value)
    if match[2].lower() == "basic":
        return _is_user_and_password(value)
    return _is_random(value) or (has_digit and len(value) >= 16 and "/" not in value)


def _is_user_and_password(value: str) -> bool:
    try:
        return b":" in b64decode(value, validate=True)
    except ValueError:
        return False


def _is_url_password(match: re.Match[str]) -> bool:
    value = _value(match)
    # A number and a slash is a port and a path, as in http://localhost:4873/@scope/name.
    return bool(value) and not (REFERENCE.match(value) or FILLER.fullmatch(value) or PORT.match(value))


def _is_assigned_secret(match: re.Match[str]) -> bool:
    if not _names_a_secret(match):
        return False
    value = _value(match)
    if len(value) < 4 or _is_placeholder(value):
        return False
    if match["quote"]:
        return _is_quoted_secret(value, is_phrase="phrase" in match[0].lower())
    if CALL.match(value) or TECHNICAL.match(value):
        return False
    if _is_random(value):
        return True
    if CODE.fullmatch(value) or PATH.match(value) or "://" in value:
        return False
    if value.isdigit():
        return len(value) >= 6
    if any(c.isalpha() for c in value) and STRONG.search(value):
        return not DURATION.fullmatch(value)
    return WORDS.fullmatch(value) is not None and len(value) >= 4 and _is_bare_word_assigned(match)


def _is_quoted_secret(value: str, *, is_phrase: bool) -> bool:
    # "password": "Enter your password" is a label; "password": "Passwort" is one in German.
    if any(c.isspace() for c in value):
        return is_phrase
    is_label = value.isalpha() and value.istitle()
    return not (is_label or PATH.match(value) or "://" in value)


def _is_bare_word_assigned(match: re.Match[str]) -> bool:
    """`PASSWORD=letmein` and, alone on its line, `password: letmein`; not `f(password=given)` or "token: short"."""
    rest = match.string[match.end() : match.end() + 2].strip(" \t")
    if match["operator"] == "=" and match["space"] == "":
        return not rest.startswith((",", ")", "(", ".", "["))
    return match["operator"] == ":" and rest[:1] in ("", "\n", "\r") and _value(match).isalpha()


def _is_told_secret(match: re.Match[str]) -> bool:
    """ "The password is hunter2", "API key for prod: 8f3…"."""
    value = _value(match)
    if not _names_a_secret(match) or NAMES_A_DIGEST.search(match["between"]):
        return False
    if _is_placeholder(value) or "://" in value or PATH.match(value):
        return False
    if _is_random(value):
        return True
    return match[0][0] in "pP" and FOR_WHAT.fullmatch(match["between"]) is not None and _is_weak_password(match, value)


def _is_weak_password(match: re.Match[str], value: str) -> bool:
    """`hunter2` after "password is" or in quotes, a plain word only with both."""
    if TECHNICAL.match(value) or DURATION.fullmatch(value) or CALL.match(value):
        return False
    is_quoted = match.string[match.start("told") - 1] in QUOTES
    has_digit = any(c.isdigit() for c in value)
    return (has_digit or is_quoted) if match["link"] else (has_digit and is_quoted)


def _names_a_secret(match: re.Match[str]) -> bool:
    """A bare "key" names nothing secret, an "api key" does."""
    start = match.start()
    return match[0][0] not in "kK" or KEY_OF_WHAT.search(match.string[max(0, start - 16) : start]) is not None


def _is_option_value(match: re.Match[str]) -> bool:
    value = _value(match)
    if len(value) < 4 or value.startswith("-") or _is_placeholder(value) or PATH.match(value):
        return False
    return _is_random(value) or STRONG.search(value) is not None


LONGEST = 1000  # characters of a value that are looked at; the rest of a longer secret goes with them
REST_OF_VALUE = re.compile(r"""[^\s"'`,;&<>]*""")
MARK = re.compile(r"\[redacted:[a-z_]+\]")
PRIVATE_TAG = re.compile(r"</?private(?:\s[^<>]{0,200})?>", re.I)
LONG_RUN = re.compile(r"[A-Za-z0-9]{12,}")
ALNUM_RUN = re.compile(r"[A-Za-z0-9]+")
KEY_BODY = re.compile(r"[A-Za-z0-9+/=]{16}")
WORD = re.compile(r"[a-z]+|\d+")
WORDS = re.compile(r"[A-Za-z_-]+")
SEPARATOR = re.compile(r"[-_. ]")
STRONG = re.compile(r"[0-9!@#$%^&*+~?|\\]")
FILLER = re.compile(r"[xX*.•?#…_-]+|(.)\1*|[xX*•]{4,}[A-Za-z0-9]{0,4}")
REFERENCE = re.compile(
    r"\$[A-Za-z_]\w*$|\$[{(]|\{\{?|<|%\(?\w+\)?[%s]|!\w|#\{|\[(?:your|redacted|hidden|secret)|(?:os\.|process\.|import\.meta\.)?"
    r"(?:get)?env(?:iron)?(?:[.(\[:]|$)|(?:op|vault|env|file|secrets?|arn|ssm|keyring):|secrets?\.[A-Za-z_]+$",
    re.I,
)
CALL = re.compile(r"[A-Za-z_][\w.:>-]*\(")
CODE = re.compile(r"[A-Za-z_]\w*(?:(?:\?\.|\.|->|::)[A-Za-z_]\w*|\[[^\]]*\]?)+")
PATH = re.compile(r"(?:~|\.{1,2})?/(?:[\w.-]{1,40}/)*[\w.-]{1,40}$")
FOR_WHAT = re.compile(r"(?:[ \t]+for[ \t].*)?")
AWS_SECRET = re.compile(r"(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])(?=[^0-9]*[0-9])[A-Za-z0-9/+]{40}")
QUOTES = "\"'`"
PORT = re.compile(r"\d{1,5}/")
DURATION = re.compile(r"\d+[a-zA-Z]{1,5}")
TECHNICAL = re.compile(
    r"(?:oauth|base|sha|md|argon|pbkdf|utf|ed25519|[rhep]s\d|https?\d|v\d|ipv|x\d|aes|k8s|[bs]crypt|ec2|s3\b)[\w-]*$",
    re.I,
)
NAMES_A_DIGEST = re.compile(
    r"\b(?:commit|sha\d*|hash(?:es)?|digest|checksum|uuid|guid|ids?|revision|fingerprint)\b", re.I
)
STAND_INS = frozenset(
    re.findall(
        r"\w+",
        """a an and any api app auth await bar baz basic bearer bool boolean bytes change changeme client config
        credentials dummy empty enter env example fake false foo from get given here hidden in input insert int key keys
        masked me missing name new nil none null number object of optional pass passphrase passwd password placeholder
        provided pwd redacted replace required return sample secret secretstr see self set some str string tbd test text
        the this to todo token true type undefined unknown unset use user value var variable with your yourkey""",
    )
)

# A token begins where no other word is under way; "\n" written out in JSON is no word.
START = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))"
PEM = r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
# The leading set is outside of the case-insensitive part: only so can the regex engine skip ahead to it.
KEY = (
    r"[PpSsTtKkAa](?i:(?<=p)(?:assw(?:or)?[dt]|assphrase|asscode|wd|(?<![a-z]p)ass)|(?<=s)ecret|(?<=t)oken|(?<=k)ey|(?<=a)uthorization)"
    r"(?i:[_-]?(?:access|base|dev|key|live|new|old|prod|production|secret|staging|string|test|token|value|\d{1,2})){0,4}+"
    r"(?![A-Za-z0-9_])"
)
KEY_OF_WHAT = re.compile(
    r"(?:api|access|account|app|auth|client|encryption|host|license|master|private|secret|service|shared|signing|ssh|storage|"
    r"subscription|webhook)[_\- ]?$",
    re.I,
)
KEY_HINTS = ("passw", "pwd", "pass", "secret", "token", "key", "authorization")


def _token(
    name: str, hints: str, pattern: str, is_secret: Callable[[re.Match[str]], bool] = lambda match: _value(match) != ""
) -> Detector:
    return Detector(name, tuple(hints.split()), re.compile(START + pattern), is_secret)


# Lengths are below the issuers' own: a token cut short by a copy is still most of a token.
DETECTORS = (
    Detector(
        "private_key",
        ("private key",),
        re.compile(
            PEM + r"(?:(?:[^-]|-(?!----))*+-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
            # Cut short: its headers, the lines of base64, and what there is of the last one.
            r"|\s*+(?:[A-Za-z-]{1,20}: [^\n]{0,200}\n\s*+)*+(?:[\s\\]*+[A-Za-z0-9+/=]{20,}+)++"
            r"(?:\n[A-Za-z0-9+/=]++(?!\S))?)"
        ),
        _is_key_block,
    ),
    _token("aws_access_key", "akia asia abia acca", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _token(
        "github_token",
        "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
        r"(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})",
    ),
    _token("gitlab_token", "gl", r"gl(?:pat|dt|rt|rtr|cbt|ptt|ft|imt|agent|oas|soat)-[A-Za-z0-9_.-]{16,}"),
    _token("slack_token", "xox xapp-", r"(?:xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{10,}|xapp-\d-[A-Za-z0-9-]{10,})"),
    Detector(
        "slack_webhook",
        ("hooks.slack.com",),
        re.compile(r"hooks\.slack\.com/(?:services|workflows)/([A-Za-z0-9/_-]{16,})"),
    ),
    _token(
        "stripe_key", "k_live_ k_test_ whsec_", r"(?:[sr]k_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{16,})"
    ),
    _token(
        "google_key",
        "aiza ya29. gocspx-",
        r"(?:AIza[A-Za-z0-9_-]{30,}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,})",
    ),
    _token("anthropic_key", "sk-ant-", r"sk-ant-[A-Za-z0-9_-]{16,}"),
    _token("openai_key", "sk-", r"sk-[A-Za-z0-9_-]{20,}", _is_prefixed_key),
    _token("npm_token", "npm_", r"npm_[A-Za-z0-9]{30,}"),
    _token("pypi_token", "pypi-", r"pypi-[A-Za-z0-9_-]{30,}", _is_prefixed_key),
    _token("huggingface_token", "hf_", r"hf_[A-Za-z0-9]{30,}"),
    _token("sendgrid_key", "sg.", r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    _token("twilio_key", "sk", r"SK[0-9a-f]{32}(?![A-Za-z0-9])"),
    _token(
        "service_token",
        "_v1_ shp dapi lin_api_ hvs. gsk_ xai- age-secret-key- pmak- r8_ pplx- atatt3 dp.pt. glsa_",
        r"(?:do[opr]_v1_[a-f0-9]{32,}|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}|dapi[a-f0-9]{32}|lin_api_[A-Za-z0-9]{20,}|"
        r"hvs\.[A-Za-z0-9_-]{20,}|gsk_[A-Za-z0-9]{20,}|xai-[A-Za-z0-9]{20,}|AGE-SECRET-KEY-1[A-Z0-9]{20,}|PMAK-[a-f0-9-]{20,}|"
        r"r8_[A-Za-z0-9]{20,}|pplx-[A-Za-z0-9]{20,}|ATATT3[A-Za-z0-9_=-]{20,}|dp\.pt\.[A-Za-z0-9]{20,}|glsa_[A-Za-z0-9_]{20,})",
    ),
    _token("jwt", "eyj", r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+){0,2}"),
    Detector(
        "authorization",
        ("bearer", "basic"),
        re.compile(
            r"""(authorization\\?["']?[ \t]{0,4}[:=][ \t]{0,4}\\?["']?)?"""
            r"""\b(bearer|basic)[ \t]{1,4}([A-Za-z0-9._~+/=-]{6,})""",
            re.I,
        ),
        _is_authorization,
    ),
    Detector(
        "url_password",
        ("://",),
        re.compile(r"""://[^\s/:@"'<>`]{0,100}:(?:([^\s/"'<>`]{1,300})@|([^\s@"'<>`]{1,300})@)"""),
        _is_url_password,
    ),
    Detector(
        "netrc_password",
        ("machine",),
        re.compile(r"\bmachine\s{1,4}\S{1,200}\s{1,4}login\s{1,4}\S{1,200}\s{1,4}password\s{1,4}(\S+)"),
    ),
    Detector(
        "command_password",
        ("--", "curl", "login", "mysql", "sshpass", "redis-cli"),
        re.compile(
            r"""(?<![\w-])--(?:[a-z]{1,20}-){0,3}(?:password|passwd|token|secret|api-?key)[= ]["']?([^\s"'`]{1,1000})"""
            r"""|\bcurl\b[^\n|]{0,200}?[ \t](?:-u|--user)[ =]?["']?[^\s:"']{1,100}:([^\s"']{1,1000})"""
            r"""|\b(?:docker login|mysql(?:dump|admin)?|sshpass|redis-cli)\b[^\n|]{0,100}?"""
            r"""[ \t]-[pa] ?["']?([^\s"'`]{1,1000})"""
        ),
        _is_option_value,
    ),
    Detector(
        "secret",
        KEY_HINTS,
        re.compile(
            KEY + r"""\\?["'\]*`]{0,3}[ \t]{0,4}"""
            r"""(?P<operator>=>|:=|(?::[ \t]{0,3}[A-Za-z&][\w.|\[\]]{0,30}\??[ \t]{1,3})?={1,3}|:|"""
            r""">(?=[^<>\s]{1,200}</))(?:\*\*)?(?P<space>[ \t]{0,4})"""
            r"""(?:[bBrRuU]{0,2}\\?(?P<quote>\"{3}|'{3}|["'`])(?P<quoted>[^\n]+?)\\?(?P=quote)"""
            r"""|(?P<bare>[^\s"'`,;&<>]{0,999}[^\s"'`,;&<>.:)}]))"""
        ),
        _is_assigned_secret,
    ),
    Detector(
        "secret",
        KEY_HINTS,
        re.compile(
            KEY + r"""(?P<between>(?:[ \t]{1,3}[A-Za-z'-]{1,20}){0,4}?)[ \t]{0,3}"""
            r"""(?P<link>\b(?:is|was|to)\b|:|=)?[ \t]{1,3}(?:["'`]|(?=[^\s"'`,;<>]{0,100}?\d))"""
            r"""(?P<told>[^\s"'`,;<>]{5,999}[^\s"'`,;<>.:)}!?])"""
        ),
        _is_told_secret,
    ),
)
