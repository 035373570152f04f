"""Secrets by the place where they stand: in addresses, headers, commands, and the files of common tools."""

import re
from base64 import b64decode

from retain.engine.lifecycle.detector import Detector, value_of
from retain.engine.lifecycle.placeholders import is_masked, is_password, is_placeholder, is_random

_SECRET_NAME = (
    r"(?:passw(?:or)?[dt]|passwd|pwd|passphrase|secret|token|api[_-]?key|credential|private[_-]?key|access[_-]?key)"
)
_QUOTED = r"""(?:["'`]|&quot;|&#34;|\\")"""
_PARAMETERS = """
    sig signature token access_token auth auth_token authtoken id_token refresh_token api_key api-key apikey appkey
    app_key key secret client_secret password passwd pwd pass session sessionid session_id sid jwt code hmac
    X-Amz-Signature X-Amz-Security-Token X-Goog-Signature license_key subscription-key private_token
    job_token webhook_token invite magic ticket otp passcode hash h t s k appid access_key accesskey apitoken user_key
"""
_SHORT = frozenset({"key", "code", "hash", "h", "t", "s", "k", "sid", "invite", "ticket", "appid", "signature", "sig"})


def _is_random_value(match: re.Match[str]) -> bool:
    value = value_of(match)
    return is_random(value) and not is_masked(value) and not is_placeholder(value)


def _is_placed(match: re.Match[str]) -> bool:
    value = value_of(match)
    if not value or is_placeholder(value) or is_masked(value):
        return False
    return is_password(value)


def _is_set(match: re.Match[str]) -> bool:
    """`name: DB_PASSWORD, value: …`, where the value may only name a secret, too."""
    return _is_placed(match) and not re.search(r"secret|password|token|\bkey\b", value_of(match), re.I)


def _is_given(match: re.Match[str]) -> bool:
    """Where nothing but a password can stand, nearly any value is one."""
    value = value_of(match)
    return len(value) >= 4 and not (is_placeholder(value) or is_masked(value))


def _is_parameter(match: re.Match[str]) -> bool:
    if match[1].lower() in _SHORT:
        return _is_random_value(match)
    return _is_placed(match)


def _is_pair(match: re.Match[str]) -> bool:
    try:
        return b":" in b64decode(value_of(match), validate=True)
    except ValueError:
        return False


def _is_private_key(match: re.Match[str]) -> bool:
    value = value_of(match)
    try:
        return b"PRIVATE" in b64decode(value[: min(len(value), 120) // 4 * 4])
    except ValueError:
        return False


def _is_hex_key(match: re.Match[str]) -> bool:
    near = match.string[max(0, match.start() - 120) : match.end() + 60].lower()
    return any(word in near for word in ("priv", "deployer", "signer", "mnemonic", "wallet", "accounts", "secret"))


def _is_cookie(match: re.Match[str]) -> bool:
    value = value_of(match)
    is_told = is_random(value) or (sum(c.isdigit() for c in value) >= 4 and any(c.isalpha() for c in value))
    return is_told and not is_placeholder(value) and not is_masked(value)


_OPTION = r"""["']?([^\s"'`]{4,200})"""
_SERVICES = "wandb|modal|railway|vercel|netlify|flyctl|hf|huggingface-cli|ngrok|snyk|heroku|gh|op|codecov"
_CLIENTS = r"mongo(?:sh|dump|restore)?|psql|sqlcmd|mssql-cli|lftp|ftp"
_LINE = r"[^\n|]{0,200}?[ \t]"
_COMMAND_NAMES = """
    login authtoken sudo chpasswd htpasswd pass: ldap smbclient ssh-keygen storepass keypass passphrase freerdp mongo
    psql sqlcmd mssql-cli ftp requirepass masterauth rootpw bindpw community openssl /user: add_user
    converttosecurestring convertto-securestring unzip 7z unrar
"""
_COMMANDS = (
    rf"\baz login\b{_LINE}-p[ =]?{_OPTION}",
    rf"\b(?:{_SERVICES})\b[ \t](?:auth[ \t]|config[ \t])?(?:login|authtoken|add-authtoken|auth)[ \t]"
    r"""(?:--?[\w-]{1,20}[ =])?["']?([^\s"'`|-][^\s"'`|]{11,200})""",
    r"""\becho[ \t](?:-n[ \t])?["']?(?:[\w.-]{1,40}:)?([^\s"'`|]{4,200})["']?[ \t]?\|[ \t]?"""
    r"(?:sudo[ \t](?:-\w[ \t]){0,3}?-S|(?:sudo[ \t])?chpasswd|docker login)",
    rf"\bhtpasswd[ \t]-\w{{0,4}}b\w{{0,4}}[ \t]\S{{1,200}}[ \t]\S{{1,60}}[ \t]{_OPTION}",
    rf"\bpass:{_OPTION}",
    rf"\bldap(?:search|add|modify)\b{_LINE}-w[ \t]?{_OPTION}",
    rf"\bsmbclient\b{_LINE}-U[ \t]?[\"']?[^\s\"'`%]{{1,60}}%{_OPTION}",
    rf"\bssh-keygen\b{_LINE}-N[ \t]?[\"']([^\"'\n]{{4,200}})",
    rf"[ \t]-{{1,2}}(?:storepass|keypass|passphrase|srcstorepass|deststorepass)[ =]{_OPTION}",
    rf"\bx?freerdp\b{_LINE}/p:{_OPTION}",
    rf"\b(?:{_CLIENTS})\b{_LINE}-[pP][ =]?{_OPTION}",
    rf"\b(?:requirepass|masterauth|rootpw|bindpw|rocommunity|rwcommunity)[ \t]{{1,8}}{_OPTION}",
    rf"\bsnmp-server community {_OPTION}",
    r"\b(?i:ConvertTo-SecureString)\b[^\n|\"']{0,60}[\"']([^\"'\n]{4,200})[\"']",
    rf"\bunzip\b{_LINE}-P[ \t]?{_OPTION}",
    rf"\b(?:7z[az]?|rar|unrar)\b{_LINE}-p{_OPTION}",
    rf"\bopenssl\b{_LINE}-k[ \t]{_OPTION}",
    rf"\bnet use\b{_LINE}/user:\S{{1,60}}[ \t]{_OPTION}",
    rf"\brabbitmqctl add_user \S{{1,60}} {_OPTION}",
)
PLACED = (
    Detector(
        "authorization",
        ("signature=", "response="),
        re.compile(r"""(?i:[, ](?:signature|response))=["']?([a-f0-9]{32,128})(?![A-Za-z0-9])"""),
    ),
    Detector(
        "secret",
        ("&quot;",),
        re.compile(rf"(?i:{_SECRET_NAME})&quot;\s?[:=]\s?&quot;((?:(?!&quot;)[^\n]){{4,200}})&quot;"),
        _is_given,
    ),
    Detector(
        "private_key", ('"kty"', "'kty'"), re.compile(r"""["'][dpqk]["']\s?:\s?["']([A-Za-z0-9_-]{20,999})["']""")
    ),
    Detector(
        "authorization",
        ("authorization",),
        re.compile(
            r"""(?i:authorization)\\?["']?[ \t]{0,3}[:=][ \t]{0,3}\\?["']?"""
            r"""[A-Za-z][\w-]{2,20}[ \t]{1,3}([^\s"'`,;<>]{8,999})"""
        ),
        _is_placed,
    ),
    Detector("private_key", ("ls0tls1crudjti",), re.compile(r"LS0tLS1CRUdJTi[A-Za-z0-9+/=]{20,}"), _is_private_key),
    Detector(
        "private_key",
        ("private-lines",),
        re.compile(
            r"Private-Lines: \d{1,3}\r?\n((?:[A-Za-z0-9+/=]{8,100}(?:\r?\n|$)){1,99}(?:Private-MAC: ?\w{1,100})?)"
        ),
    ),
    Detector("private_key", ("0x",), re.compile(r"(?<![A-Za-z0-9])(0x[a-fA-F0-9]{64})(?![A-Za-z0-9])"), _is_hex_key),
    Detector("url_password", ("@",), re.compile(r"://([^\s/:@\"'<>`]{16,200}):?(?:x-oauth-basic)?@"), _is_random_value),
    Detector(
        "url_password",
        ("thin:", "sqlplus", "impdp", "expdp", "sqlldr"),
        re.compile(r"(?:thin:|\b(?:sqlplus|impdp|expdp|sqlldr)\s(?:-\w+\s){0,3})[\w$#]{1,60}/([^\s@/\"']{3,100})@"),
        _is_given,
    ),
    Detector(
        "url_parameter",
        tuple(f"{name.lower()}=" for name in _PARAMETERS.split()),
        re.compile(rf"[?&;](?i:({'|'.join(map(re.escape, _PARAMETERS.split()))}))=([^\s&\"'<>#`\\]{{4,999}})"),
        _is_parameter,
    ),
    Detector(
        "webhook",
        ("hook",),
        re.compile(r"https?://[^\s\"'<>]{0,200}?hook[^\s\"'<>/]{0,60}/([^\s\"'<>?`)]{16,400})"),
        _is_random_value,
    ),
    Detector("webhook", ("/bot",), re.compile(r"/bot(\d{6,12}:[A-Za-z0-9_-]{20,})")),
    Detector(
        "command_password",
        ("identified", "password"),
        re.compile(
            r"(?i:\bidentified\s{1,3}(?:with\s{1,3}\w{1,40}\s{1,3})?(?:by|as)(?:\s{1,3}password)?"
            r"|\bpassword\s{0,2}\(|\b(?:user|role|login)\b[^\n;]{0,80}?\bpassword)\s{0,3}=?\s{0,3}N?['\"]([^'\"\n]{3,200})['\"]"
        ),
        _is_given,
    ),
    Detector(
        "pgpass",
        (":*:", ":5432:", ":5433:", ":5434:", ":6432:", ":6543:", "pgpass"),
        re.compile(r"^[\w.*-]{1,100}:(?:\d{2,5}|\*):[\w*-]{1,60}:[\w*.-]{1,60}:([^\s:]{4,100})(?=\s|$)", re.M),
        _is_given,
    ),
    Detector(
        "secret",
        ('"auth"', "'auth'"),
        re.compile(r"""["']auth["']\s{0,3}:\s{0,3}["']([A-Za-z0-9+/=]{8,})["']"""),
        _is_pair,
    ),
    Detector(
        "cookie",
        ("sess", "sid", "auth", "token", "csrf", "xsrf", "remember", "ticket", "cookie"),
        re.compile(
            r"(?i:(?<![\w.-])[\w.-]{0,30}(?:sess|sid|auth|token|jwt|csrf|xsrf|remember|identity|ticket|login)[\w.-]{0,30})"
            r"=([^\s;,\"'&<>()]{16,999})(?=;|$|\s|\"|')",
            re.M,
        ),
        _is_cookie,
    ),
    Detector(
        "secret",
        (
            "passw",
            "pwd",
            "passphrase",
            "secret",
            "token",
            "api_key",
            "api-key",
            "apikey",
            "private",
            "access",
            "credential",
        ),
        re.compile(
            rf"(?i:\b(?:key|name|variable|id)\b{_QUOTED}?\s{{0,3}}[=:]?\s{{0,3}}{_QUOTED}?[\w.:/-]{{0,40}}?{_SECRET_NAME}[\w.-]{{0,20}}"
            rf"{_QUOTED}?)(?:[^\n}}]{{0,100}}\n){{0,3}}?[^\n}}]{{0,100}}?\b(?i:value|default)\b{_QUOTED}?\s{{0,3}}[:=]\s{{0,3}}"
            rf"(?:{_QUOTED}((?:(?!&quot;|&#34;)[^\"'`\n<>])" + r"{3,200})" + rf"{_QUOTED}|([^\s\"'`,;<>{{}}]{{4,200}}))"
        ),
        _is_set,
    ),
    Detector(
        "command_password",
        tuple(_COMMAND_NAMES.split()),
        re.compile("|".join(_COMMANDS)),
        _is_given,
    ),
)
