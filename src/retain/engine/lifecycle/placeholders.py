"""What a value is: random as only a machine makes it, or a stand-in for a secret that somebody else has."""

import re

MARK = re.compile(r"\[redacted:[a-z_]+\]")
LONG_RUN = re.compile(r"[A-Za-z0-9]{12,}")
WORD = re.compile(r"[a-z]+|\d+")
SEPARATOR = re.compile(r"[-_. ]")
FILLER = re.compile(r"[xX*.•?#…_-]+|(.)\1*|[xX*•]{4,}[A-Za-z0-9]{0,4}")
REFERENCE = re.compile(
    r"\$[A-Za-z_]\w*$|\$[{(]|\{\{?|<|%\(?\w+\)?[%s]|!\w|#\{|\[(?:your|redacted|hidden|secret)|(?:os\.|process\.|import\.meta\.)?"
    r"(?:get)?env(?:iron)?(?:[.(\[:]|$)|(?:op|vault|env|file|secrets?|arn|ssm|keyring):|secrets?\.[A-Za-z_]+$",
    re.I,
)
AWS_SECRET = re.compile(r"(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])(?=[^0-9]*[0-9])[A-Za-z0-9/+]{40}")
STAND_INS = frozenset(
    re.findall(
        r"\w+",
        """a an and any api app auth await bar baz basic bearer bool boolean bytes change changeme client config
        credentials dummy empty enter env example fake false foo from get given here hidden in input insert int key keys
        masked me missing name new nil none null number object of optional pass passphrase passwd password placeholder
        provided pwd redacted replace required return sample secret secretstr see self set some str string tbd test text
        the this to todo token true type undefined unknown unset use user username value var variable with your
        yourkey""",
    )
)
PATH = re.compile(r"(?:~|\.{1,2})?/(?:[\w.-]{1,40}/)*[\w.-]{1,40}$")
CALL = re.compile(r"[A-Za-z_][\w.:>-]*\(")
CODE = re.compile(r"[A-Za-z_]\w*(?:(?:\?\.|\.|->|::)[A-Za-z_]\w*|\[[^\]]*\]?)+")
DURATION = re.compile(r"\d+[a-zA-Z]{1,5}")
TECHNICAL = re.compile(
    r"(?:oauth|base|sha|md|argon|pbkdf|utf|ed25519|[rhep]s\d|https?\d|v\d|ipv|x\d|aes|k8s|[bs]crypt|ec2|s3\b)[\w-]*$",
    re.I,
)
STRONG = re.compile(r"[0-9!@#$%^&*+~?|\\]")
PORT = re.compile(r"\d{1,5}/")
SERIAL = re.compile(r"(?:[A-Z0-9]{4,6}-){3,7}[A-Z0-9]{4,6}")
STARRED = re.compile(r"[*•]{4}|[xX]{6}|\.{3}|…|0{10}")
NAMED_SO = re.compile(r"example|placeholder|your[_-]|dummy|redacted", re.I)
NUMBER = re.compile(r"[+-]?[\d.,:/_-]+(?:[a-zA-Z%]{1,6})?")
LETTER_RUN = re.compile(r"([A-Za-z0-9])\1{7}")


def is_random(value: str) -> bool:
    """Long, with a run that mixes letters and digits as no word, path or identifier does."""
    if AWS_SECRET.fullmatch(value) or (SERIAL.fullmatch(value) and any(c.isdigit() for c in value)):
        return True
    return len(value) >= 16 and any(
        sum(c.isdigit() for c in run) >= 2 and sum(c.isalpha() for c in run) >= 2 for run in LONG_RUN.findall(value)
    )


def is_placeholder(value: str) -> bool:
    if REFERENCE.match(value) or not any(c.isalnum() for c in value) or FILLER.fullmatch(value):
        return True
    if len(value) > 60:
        return False
    parts = WORD.findall(value.lower())
    has_more = "".join(parts) != SEPARATOR.sub("", value.lower())
    return not has_more and all(part in STAND_INS or part in "0123456789" for part in parts)


def is_masked(token: str) -> bool:
    """A token of a known shape that is no token: as documents print it, or as a page shows it."""
    if len(token) <= 60 and (STARRED.search(token) or LETTER_RUN.search(token)):
        return True
    return len(token) <= 48 and NAMED_SO.search(token) is not None


def is_local(host: str) -> bool:
    return re.match(r"(?:localhost|127\.|0\.0\.0\.0|\[::1\]|(?:[\w.-]*\.)?example\.)", host, re.I) is not None


def is_password(value: str) -> bool:
    """What stands where a password would: with a digit or a symbol, and no time, path, name of an algorithm or code."""
    if is_random(value):
        return True
    if TECHNICAL.match(value) or DURATION.fullmatch(value) or PATH.match(value) or CALL.match(value) or "://" in value:
        return False
    if CODE.fullmatch(value) or NUMBER.fullmatch(value):
        return False
    if value.isdigit():
        return len(value) >= 6
    return any(c.isalpha() for c in value) and STRONG.search(value) is not None and len(value) >= 5
