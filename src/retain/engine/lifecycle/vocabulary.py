"""The words that the rules about contradictions know: data, no decisions. Stems where a word is inflected."""

import re

from retain.domain.stem import stem


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _stems(text: str) -> frozenset[str]:
    return frozenset(form for word in text.split() for form in (word, stem(word)))


# Of each line one usually excludes the others where the subject is the same. A phrase is written with hyphens.
GROUPS = {
    "indentation": "tab space",
    "branch": "main master trunk develop",
    "day": "monday tuesday wednesday thursday friday saturday sunday",
    "frequency": "hourly daily nightly weekly biweekly monthly quarterly yearly",
    "database": "postgres mysql mariadb sqlite mongodb oracle cockroachdb dynamodb cassandra surrealdb mssql duckdb",
    "cache": "redis memcached valkey",
    "broker": "kafka rabbitmq nats sqs pubsub",
    "package manager": "npm yarn pnpm bun",
    "python packaging": "pip poetry uv pipenv conda pdm",
    "linter": "flake8 ruff pylint eslint",
    "type checker": "mypy pyright pyre",
    "search engine": "elasticsearch opensearch solr meilisearch typesense",
    "registry": "docker-hub ghcr ecr",
    "tracker": "jira linear trello asana",
    "branching": "trunk-based gitflow github-flow",
    "counting": "zero-based one-based",
    "test runner": "jest vitest mocha jasmine pytest unittest nose rspec minitest",
    "browser tests": "cypress playwright selenium puppeteer",
    "continuous integration": "github-actions gitlab-ci jenkins circleci travis buildkite teamcity",
    "build tool": "bazel nx turborepo lerna gradle maven webpack vite rollup esbuild parcel cmake meson",
    "language": "python javascript typescript go golang rust java kotlin swift ruby php scala elixir c++ c# cpp csharp",
    "web framework": "django flask fastapi rails express koa nestjs spring laravel starlette",
    "interface framework": "react vue svelte angular solid ember preact",
    "orm": "sqlalchemy prisma typeorm sequelize drizzle peewee tortoise django-orm",
    "cloud": "aws azure gcp heroku fly.io render vercel netlify digitalocean hetzner",
    "orchestration": "kubernetes nomad docker-swarm ecs",
    "git host": "github gitlab bitbucket gitea",
    "api style": "rest graphql grpc soap",
    "protocol": "http https",
    "format": "json xml yaml toml csv protobuf msgpack ini",
    "type": "string integer int float uuid boolean auto-increment bigint",
    "case": "camelcase snake_case pascalcase kebab-case",
    "quotes": "single-quote double-quote",
    "merging": "merge-commit squash rebase",
    "line endings": "lf crlf",
    "output": "stdout stderr",
    "theme": "dark-mode light-mode dark-theme light-theme",
    "time zone": "utc local-time gmt cet",
    "hashing": "bcrypt argon2 argon2id scrypt pbkdf2 md5 sha256",
    "license": "mit apache-2.0 gpl agpl bsd mpl",
    "editor": "vim neovim emacs vscode vs-code intellij pycharm zed",
    "formatter": "black prettier ruff-format biome yapf autopep8",
    "operating system": "linux macos windows ubuntu debian alpine fedora",
    "shell": "bash zsh fish powershell",
    "level": "debug info warning error critical",
    "repository": "monorepo polyrepo multirepo",
    "authentication": "jwt session-cookie basic-auth oauth oauth2 saml api-key",
}  # fmt: skip
# A project may well have several of these; they exclude one another only where something narrows them down.
LOOSE_GROUPS = frozenset(
    ("language", "operating system", "format", "type", "level", "shell", "case", "hashing", "authentication", "output",
     "frequency", "cloud", "linter", "protocol")
)  # fmt: skip
GROUP_OF = {word: group for group, words in GROUPS.items() for word in words.split()}
PHRASES = re.compile(
    r"\b(?:" + "|".join(w.replace("-", " ") for w in GROUP_OF if "-" in w and not re.search(r"\d", w)) + r")(?=s?\b)",
    re.IGNORECASE,
)
ALIASES = {
    "postgresql": "postgres", "k8s": "kubernetes", "js": "javascript", "ts": "typescript", "py": "python",
    "golang": "go", "mongo": "mongodb", "prod": "production", "dev": "development", "repo": "repository",
    "repositori": "repository", "config": "configuration", "configur": "configuration",
    "configuration": "configuration", "auth": "authentication", "authent": "authentication", "db": "database",
    "databas": "database", "indent": "indent", "indentation": "indent", "deploy": "deploy", "deployment": "deploy",
    "retri": "retry", "max": "maximum", "maxim": "maximum", "min": "minimum", "integers": "integer", "kept": "keep",
    "mon": "monday", "fri": "friday", "permit": "allow", "prohibit": "forbid", "forbidden": "forbid",
    "ban": "forbid", "disallow": "forbid", "nightly": "daily",
}  # fmt: skip

_SECONDS = {"ms": 0.001, "millisecond": 0.001, "s": 1, "sec": 1, "second": 1, "min": 60, "minute": 60, "h": 3600,
            "hour": 3600, "day": 86400, "week": 604800, "month": 2592000, "year": 31536000}  # fmt: skip
_BYTES = {"b": 1, "byte": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "kib": 1024, "mib": 2**20, "gib": 2**30}
UNITS: dict[str, tuple[str, float]] = {
    form: (dimension, factor)
    for dimension, table in (("time", _SECONDS), ("size", _BYTES))
    for unit, factor in table.items()
    for form in (unit, stem(unit), stem(unit + "s"))
}

# A word here, and its opposite there, while the rest is the same.
ANTONYMS = """
    enable/disable allow/forbid sync/async synchronous/asynchronous before/after public/private open/closed
    true/false mandatory/optional required/optional require/forbid fast/slow parallel/sequentially parallel/serially
    concurrently/sequentially manual/automatic manually/automatically hand/automatically internal/external
    include/exclude accept/reject succeed/fail pass/fail increase/decrease ascending/descending encrypted/plaintext
    verbose/concise verbose/terse long/short detailed/brief detailed/short local/remote static/dynamic
    strict/lenient strict/loose online/offline stateful/stateless eager/lazy opt-in/opt-out inbound/outbound
    broken/working like/dislike like/hate love/hate cheap/expensive everyone/nobody all/none on/off
    blocking/non-blocking light/dark high/low hard/soft push/pull upper/lower uppercase/lowercase left/right
    composition/inheritance agree/disagree first/last keep/delete keep/remove start/stop visible/hidden shown/hidden
    show/hide single/multiple relative/absolute formal/informal hot/cold early/late more/less singular/plural
    single-threaded/multi-threaded explicit/implicit
"""
OPPOSITES = {
    frozenset(pair) for a, b in (pair.split("/") for pair in ANTONYMS.split()) for pair in ((a, b), (stem(a), stem(b)))
}

COPULAS = _words("is are was were be must should shall can will has have had")
VERBS = _stems(
    """use run listen happen live reside sit store keep save need require prefer like love hate want write log go
    expire return deploy squash rebase indent read load send push commit merge own lead maintain manage host point
    default belong take cost handle touch cover add support include contain accept provide introduce fix report
    mention work hit depend serve bind expose rotate expect allow forbid enable disable sort ship met connect
    follow target show hide name
    adopt choose pick favor favour recommend know speak learn meet start stop"""
)
NAMES_ONE = _stems("call name target follow")  # slots of a single filler that need no preposition
GENERIC = _stems("use prefer adopt choose pick run like favor favour want recommend")
# Said of several things at once without contradiction.
MANY = _stems(
    """support include contain accept provide export import offer handle learn know speak depend test mention add
    introduce cover meet met report have has touch like love hate fix interest"""
)
LIGHT = _stems(
    """use run listen happen be has have go set get do make live reside sit need port prefer adopt choose now currently
    today always everywhere default please want value version also each switch move own"""
) | {"must", "should", "is", "are", "was", "were", "not", "never", "no", "without", "used", "one"}
GENERIC_NOUNS = _stems("server service app application project system codebase code component team user all every each")
ATTRIBUTES = _stems(
    """branch lead owner name limit timeout format license licence language database framework manager region host
    editor theme deadline point endpoint path directory folder default strategy orm formatter linter broker cache
    queue shell level maintainer reviewer provider backend frontend engine store location url key entry color colour
    model library address domain email protocol encoding locale currency convention style mode tool"""
)
IDENTITY_NOUNS = _stems(
    """item step phase part chapter task issue ticket pr bug section page line row question point option milestone
    sprint iteration case example note build commit release lesson exercise figure table rule appendix pull request
    week job run day round attempt experiment"""
)
MANY_SLOTS = frozenset({"work on", "work with", "work"})
VAGUE = _stems("bug error issue problem crash fix todo failure")
EVENTS = _words(
    """fixed added released deployed met merged introduced reported passed failed discussed finished completed shipped
    reviewed debugged investigated implemented refactored published tagged created visited tried
    asked told mentioned wrote noted worked looked talked spoke saw found noticed opened closed updated tested ran
    took lasted cost approved checked"""
)
POLAR = frozenset({"before", "after", "all", "none", "off"})  # stop words that turn a claim round
PREPOSITIONS = _words("on in at to with by from as under into via through after of for within up")
PARTICIPLE = re.compile(
    r"\w+(?:ed|en|wn|ne|ing)|read|sent|built|kept|set|made|put|held|bound|split|sold|paid|run", re.IGNORECASE
)
CONDITIONS = _words("if when unless while except during")
SCOPES = CONDITIONS | {"in", "for", "of", "under", "inside", "within", "outside"}
ARTICLES = _words("the a an our my now always only not never no still currently")
NEGATIVES = _words("not no never none nobody without neither")

_OVER = r"(?:,\s*(?:and\s+)?not|,?\s+instead of|,?\s+rather than|\s+in place of)\s+[^,.;]+"
_TO = (
    r"(?:\b(?:was|were|has been|have been|has|have|got)\s+)?"
    r"\b(?:switch|mov|migrat|chang|convert|upgrad|downgrad|bump|went|renam|rais|lower|increas|reduc)\w*(?:\s+(?:over"
    r"|back))?"
)
_MOVING = "switch mov migrat chang convert upgrad downgrad bump went renam rais lower increas reduc"
# What is said in another way, in the order in which it is put plainly: one of the hints that must be in a sentence
# (in lower case, divided by spaces or, where they hold some, by bars), what is looked for, and what it becomes.
REWRITES = [
    (tuple(hints.split("|" if "|" in hints else " ")), re.compile(pattern, re.IGNORECASE), plain)
    for hints, pattern, plain in (
        (
            "because since so due order avoid though which",
            r",?\s+\b(?:because|since|so that|due to|in order to|to avoid|although|though|so we|which)\b.*",
            "",
        ),
        ("used", r"\bused to\b", "formerly"),
        ("k", r"\b([0-9]+)k\b", r"\g<1>000"),
        (_MOVING, _TO + r"(?:\s+from\s+\S+(?:\s\S+)?)?\s+to\b", "use"),
        (_MOVING, _TO + r"\s+from\b.*?\bto\b", "use"),
        (_MOVING, rf"({_TO}(?:\s+\S+){{1,5}}?)\s+from\s+\S+(?:\s\S+)?\s+to\b", r"\1 to"),
        ("replaced", r"\breplaced\b.*?\b(?:with|by)\b", "use"),
        ("prefer", r"(\bprefer\w*\s.*?)\sover\s[^,.;]+", r"\1"),
        ("no", r"\bnot (?:only|just)\b|\bno matter\b|\bno problem\b|\bwhether or not\b|\bno doubt\b", ""),
        ("than", r"\bno (?:more|later|less|fewer) than\b", "at most"),
        ("longer", r"\bno longer\b", "not"),
        ("can't cannot", r"\bcan't\b|\bcannot\b", "can not"),
        ("won't", r"\bwon't\b", "will not"),
        ("n't", r"n't\b", " not"),
        ("not instead rather place", _OVER, ""),
        (
            "more now today days moment",
            r"\bany ?more\b|\bfrom now on\b|\bas of (?:now|today)\b|\bright now\b|\bthese days\b|\bat the moment\b",
            "",
        ),
        (
            "stopped quit avoid dropped abandoned ditched rid gave",
            r"\b(?:stopped|quit|avoid|avoids|dropped|(?<!^)(?<!keep )(?<!removes )(?<!an )(?<!the )abandoned|ditched"
            r"|got rid of"
            r"|gave up)\b(?:\s+using)?",
            "not use",
        ),
        ("refuse fail", r"\b(?:refuses?|fails?) to\b", "not"),
        ("rewritten", r"\b(?:was|were) rewritten in\b", "is written in"),
        (
            "is on|are on|turned on|switched on",
            r"\b(is|are) (?:turned |switched )?on\b(?=\s+(?:by|in|for)\b|\s*[.,]|\s*$)",
            r"\1 enabled",
        ),
        ("is off|are off|turned off|switched off", r"\b(is|are) (?:turned |switched )?off\b", r"\1 disabled"),
        ("tim", r"\btim(?:e|es|ed|ing) out\b", "timeout"),
        ("plain", r"\bplain text\b", "plaintext"),
        ("call", r"\bon call\b", "on-call"),
        ("pull", r"\bpull requests?\b", "pr"),
        ("do did", r"\b(?:do|does|did)\b", ""),
    )
]
MARKS = {
    mark: re.compile(pattern, re.IGNORECASE)
    for mark, pattern in {
        "question": r"\?\s*$",
        "past": r"\b(?:formerly|previously|originally|initially|in the past|back then|until)\b"
        r"|\b(?:was|were|had)\b(?!\s+use\b)",
        "hedged": r"\b(?:might|may|maybe|perhaps|consider\w*|plan\w* to|propos\w*|could|would|thinking|evaluat\w*"
        r"|discuss\w*|tr(?:y|ying) out|todo|wonder\w*|want\w* to)\b",
        "additive": r"\b(?:also|too|as well|additionally|another|sometimes|one of|such as|e\.g|(?:for|an) example"
        r"|some)\b",
        "bounded": r"\b(?:under|below|less than|at most|up to|more than|above|at least|exceed\w*|between|about|around"
        r"|roughly)\b",
        "other": r"\b(?:others?|else|another)\b",
        "conditional": r"\b(?:if|unless|when|whenever|except|while|during)\b",
    }.items()
}
