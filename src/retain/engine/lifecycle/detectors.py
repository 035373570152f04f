"""What secrets look like in texts and files: keys by their shape, and values by the names beside them."""

import re
from base64 import b64decode
from collections.abc import Callable

from retain.engine.lifecycle import vendor_keys
from retain.engine.lifecycle.detector import Detector, Where, value_of
from retain.engine.lifecycle.placed_secrets import PLACED
from retain.engine.lifecycle.placeholders import (
    CALL,
    CODE,
    DURATION,
    FILLER,
    LONG_RUN,
    PATH,
    PORT,
    REFERENCE,
    STRONG,
    TECHNICAL,
    is_local,
    is_masked,
    is_placeholder,
    is_random,
)
from retain.engine.lifecycle.told_secrets import TOLD


def _is_no_example(match: re.Match[str]) -> bool:
    return not is_masked(value_of(match))


def _is_prefixed_key(match: re.Match[str]) -> bool:
    # `sk-` and `pypi-` also begin ordinary kebab-case names; a key has a long unbroken run or digits.
    is_key = is_random(match[0]) or max(map(len, ALNUM_RUN.findall(match[0]))) >= 20
    return is_key and not is_masked(match[0])


def _is_broken(match: re.Match[str]) -> bool:
    """A terminal wraps in the middle of a token: what is on the next line is as random as what is before."""
    first, _, rest = match[0].partition("\n")
    return all(any(c.isdigit() for c in part) and any(c.isalpha() for c in part) for part in (first[4:], rest.strip()))


def _is_bare_token(match: re.Match[str]) -> bool:
    """By itself in a sentence: as mixed as only a token is, and nobody says that it is a digest or public."""
    value, before = match[0], match.string[max(0, match.start() - 80) : match.start()]
    kinds = [sum(map(kind, value)) for kind in (str.isupper, str.islower, str.isdigit)]
    is_mixed = min(kinds) >= 4 and LONG_RUN.search(value) is not None
    return is_mixed and not (is_masked(value) or NO_TOKEN.search(before))


def _is_key_block(match: re.Match[str]) -> bool:
    return KEY_BODY.search(match[0]) is not None


def _is_authorization(match: re.Match[str]) -> bool:
    """Bearer or Basic: in a header nearly any value counts, in a sentence only what must be a token."""
    value, has_digit = value_of(match), any(c.isdigit() for c in match[3])
    if is_placeholder(value) or is_masked(value) or TECHNICAL.match(value):
        return False
    if match[1]:
        return has_digit or len(value) >= 16 or _is_user_and_password(value)
    if match[2].lower() == "basic":
        return _is_user_and_password(value)
    return is_random(value) or (has_digit and len(value) >= 16 and "/" not in value)


def _is_user_and_password(value: str) -> bool:
    try:
        return b":" in b64decode(value, validate=True)
    except ValueError:
        return False


def _is_url_password(match: re.Match[str]) -> bool:
    value = value_of(match)
    host = match.string[match.end() : match.end() + 80]
    user = match[0].removeprefix("://").partition(":")[0]
    if is_masked(value) or (is_placeholder(value) and (is_local(host) or is_placeholder(user))):
        return False
    # A number and a slash is a port and a path, as in http://localhost:4873/@scope/name.
    return bool(value) and not (REFERENCE.match(value) or FILLER.fullmatch(value) or PORT.match(value))


def _is_assigned_secret(match: re.Match[str]) -> bool:
    if not _names_a_secret(match):
        return False
    value = value_of(match)
    if len(value) < 4 or is_placeholder(value) or is_masked(value):
        return False
    if match["quote"]:
        return _is_quoted_secret(value, is_phrase=any(word in match[0].lower() for word in ("phrase", "psk")))
    if CALL.match(value) or TECHNICAL.match(value):
        return False
    if is_random(value):
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
        has_both = any(c.isdigit() for c in value) and SYMBOL.search(value) is not None
        return is_phrase or (has_both and not LABEL.search(value))
    is_label = value.isalpha() and value.istitle()
    return not (is_label or PATH.match(value) or "://" in value)


def _is_bare_word_assigned(match: re.Match[str]) -> bool:
    """`PASSWORD=letmein` and, alone on its line, `password: letmein`; not `f(password=given)` or "token: short"."""
    rest = match.string[match.end() : match.end() + 2].strip(" \t")
    if match["operator"] == "=" and match["space"] == "":
        return not rest.startswith((",", ")", "(", ".", "["))
    return match["operator"] == ":" and rest[:1] in ("", "\n", "\r") and value_of(match).isalpha()


def _is_told_secret(match: re.Match[str]) -> bool:
    """ "The password is hunter2", "API key for prod: 8f3…"."""
    value = value_of(match)
    if not _names_a_secret(match) or NAMES_A_DIGEST.search(match["between"]):
        return False
    if is_placeholder(value) or "://" in value or PATH.match(value):
        return False
    if is_random(value):
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
    before = match.string[max(0, start - 24) : start]
    return match[0][0] not in "kK" or KEY_OF_WHAT.search(before) is not None or _is_of_a_service(match, before)


def _is_of_a_service(match: re.Match[str], before: str) -> bool:
    """`STRIPE_KEY_PROD=…`, `routing_key: …`: random, and not what a table, a cache or a public key has."""
    named = KEY_OF_NAME.search(before)
    return named is not None and not NO_SECRET.search(named[0]) and is_random(value_of(match))


def _is_option_value(match: re.Match[str]) -> bool:
    value = value_of(match)
    if len(value) < 4 or value.startswith("-") or is_placeholder(value) or PATH.match(value):
        return False
    return is_random(value) or STRONG.search(value) is not None


REST_OF_VALUE = re.compile(r"""[^\s"'`,;&<>]*""")
ALNUM_RUN = re.compile(r"[A-Za-z0-9]+")
KEY_BODY = re.compile(r"[A-Za-z0-9+/=]{16}")
SYMBOL = re.compile(r"[!@#$%^&*~]")
LABEL = re.compile(r"\b(?:enter|must|least|characters?|chars|your|invalid|required|should|zeichen|min|max)\b", re.I)
WORDS = re.compile(r"[A-Za-z_-]+")
FOR_WHAT = re.compile(r"(?:[ \t]+for[ \t].*)?")
QUOTES = "\"'`"
NAMES_A_DIGEST = re.compile(
    r"\b(?:commit|sha\d*|hash(?:es)?|digest|checksum|uuid|guid|ids?|revision|fingerprint)\b", re.I
)

# A token begins where no other word is under way; "\n" written out in JSON is no word.
START = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))"
PEM = r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
# The leading set is outside of the case-insensitive part: only so can the regex engine skip ahead to it.
KEY = (
    r"[PpSsTtKkAa](?i:(?<=p)(?:assw(?:or)?[dt]|assphrase|asscode|wd|(?<![a-z]p)(?:ass|w|sk)|(?-i:(?<=[a-z]P)ass))|(?<=s)ecret|(?<=t)oken|(?<=k)ey|(?<=a)uthorization)"
    r"(?i:[_-]?(?:access|base|dev|key|live|new|old|prod|production|secret|staging|string|test|token|value|\d{1,2})){0,4}+"
    r"(?![A-Za-z0-9_])"
)
KEY_OF_WHAT = re.compile(
    r"(?:api|access|account|admin|app|deploy|integration|personal|ingest|write|auth|client|encryption|host|license|master|private|secret|service|shared|signing|ssh|storage|"
    r"subscription|webhook)[_\- ]?$",
    re.I,
)
KEY_OF_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{1,22}_$")
NO_SECRET = re.compile(
    r"cache|primary|public|foreign|sort|partition|idempot|object|pub_|hot|index|redis|row|s3_|group|cursor|page|host",
    re.I,
)
NO_TOKEN = re.compile(
    r"sha\d|integrity|checksum|digest|hash|fingerprint|public|pubkey|base64|ssh-|cert|image|commit|etag|blob|nonce|\bids?\b"
    r"|https?://|redacted|data:|encoded|signature|cursor|url|ast\b|class",
    re.I,
)
KEY_HINTS = ("passw", "pwd", "pass", "pw", "psk", "secret", "token", "key", "authorization")


def _token(
    name: str,
    hints: str,
    pattern: str,
    is_secret: Callable[[re.Match[str]], bool] = _is_no_example,
) -> Detector:
    return Detector(name, tuple(hints.split()), re.compile(START + pattern), is_secret, Where.AROUND)


# Lengths are below the issuers' own: a token cut short by a copy is still most of a token.
DETECTORS = (
    Detector(
        "broken_token",
        tuple(beginning.lower() for beginning in vendor_keys.BROKEN),
        re.compile(
            rf"{START}((?:{'|'.join(map(re.escape, vendor_keys.BROKEN))})"
            r"[A-Za-z0-9_.-]{3,200}\r?\n[ \t]{0,8}[A-Za-z0-9_-]{6,200})"
        ),
        _is_broken,
    ),
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
        Where.ANYWHERE,
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
        _is_no_example,
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
    *(
        Detector("service_token", (hint,), re.compile(START + pattern), _is_prefixed_key, Where.AT)
        for hint, pattern in vendor_keys.rows()
    ),
    *(_token("service_token", hint, pattern, _is_prefixed_key) for hint, pattern in vendor_keys.WHOLE),
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
    *PLACED,
    Detector(
        "token",
        ("token", "key", "secret", "credential", "auth", "script", "client", "api", "uses", "login", "bot"),
        re.compile(r"(?:(?<=[ \t\"'`(=:])|\A)[A-Za-z0-9_-]{40,200}(?![\w+/=.:-])"),
        _is_bare_token,
    ),
    *TOLD,
)
