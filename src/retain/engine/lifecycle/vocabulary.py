"""Words that the rules about contradictions and summaries know: data, no decisions. Stems where a word is inflected."""

from retain.domain.stem import stem


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
GROUP_OF = {word: group for group, words in GROUPS.items() for word in words.split()}
GROUP_OF["postgresql"] = "database"


def group_of(word: str) -> str | None:
    """The group that a word belongs to, in one or the other case, as one or as several."""
    low = word.lower()
    return GROUP_OF.get(low) or GROUP_OF.get(low.removesuffix("s"))


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

VERBS = _stems(
    """use run listen happen live reside sit store keep save need require prefer like love hate want write log go
    expire return deploy squash rebase indent read load send push commit merge own lead maintain manage host point
    default belong take cost handle touch cover add support include contain accept provide introduce fix report
    mention work hit depend serve bind expose rotate expect allow forbid enable disable sort ship met connect
    follow target show hide name
    adopt choose pick favor favour recommend know speak learn meet start stop"""
)
