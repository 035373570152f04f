"""Technologies that need no introduction: how they are spelled, and what they are."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Technology:
    name: str
    kind: str
    # Also a common word, or an acronym: counts only in exactly this spelling, and not where a sentence begins.
    is_ambiguous: bool = False


# `!` marks an ambiguous name, `_` stands for a space, and further spellings follow after `=`.
_TABLE = {
    "language": """Python TypeScript JavaScript=ecmascript Go!=golang Rust! Java! Kotlin Swift! Ruby! PHP! Perl Scala
        Haskell Elixir Erlang Clojure Lua Dart! Julia! Zig! Nim! OCaml F# C# C++ Objective-C Bash!
        PowerShell SQL! PL/pgSQL HTML! CSS! GraphQL Solidity WebAssembly=wasm Terraform HCL! YAML! JSON!
        TOML! Markdown!""",
    "library": """React!=react.js,reactjs Vue!=vue.js,vuejs Angular! Svelte SvelteKit Next.js=nextjs Nuxt=nuxt.js
        Remix! Astro! jQuery Redux Tailwind_CSS=tailwind,tailwindcss Bootstrap! Vite Webpack Rollup! esbuild
        Babel Django Flask! FastAPI Starlette Pydantic SQLAlchemy Alembic Celery! NumPy pandas SciPy PyTorch
        TensorFlow Keras scikit-learn=sklearn Hugging_Face LangChain LlamaIndex
        Express!=express.js,expressjs NestJS Prisma! Drizzle! TypeORM Sequelize Mongoose!
        Ruby_on_Rails=rails Laravel Symfony Spring_Boot Hibernate! Actix Axum! Tokio Serde Rocket! Gin!
        Phoenix! LiveView Flutter! React_Native Electron! Tauri Three.js=threejs D3.js pytest=py.test Jest!
        Vitest Mocha! Cypress! Playwright! Selenium JUnit Hypothesis! Storybook Zod! tRPC gRPC
        Protobuf=protocol_buffers OpenTelemetry structlog httpx aiohttp asyncio uvicorn Gunicorn
        ONNX_Runtime=onnxruntime tree-sitter SQLModel Zustand RxJS Socket.IO=socket.io HTMX=htmx Alpine.js
        Lit! .NET=dotnet ASP.NET Entity_Framework""",
    "service": """PostgreSQL=postgres,postgre MySQL MariaDB SQLite=sqlite3 MongoDB=mongo Redis Valkey Memcached
        Cassandra! DynamoDB CockroachDB ClickHouse DuckDB SurrealDB Neo4j Elasticsearch OpenSearch
        Meilisearch Typesense Qdrant Weaviate Pinecone Milvus Chroma! pgvector Kafka=apache_kafka RabbitMQ
        NATS! Pulsar! Celery_Beat Nginx Caddy! Traefik HAProxy Envoy! AWS!=amazon_web_services Azure
        GCP!=google_cloud S3!=amazon_s3 EC2! AWS_Lambda Cloudflare Vercel Netlify Heroku Fly.io=fly.io
        DigitalOcean Supabase Firebase Auth0 Okta Keycloak Stripe! Twilio SendGrid Sentry! Datadog Grafana
        Prometheus! Loki! Jaeger! GitHub GitLab Bitbucket Jira Slack! Discord Notion! Figma Linear! OpenAI
        Anthropic! BigQuery Snowflake! Databricks Airflow=apache_airflow Spark!=apache_spark Hadoop PyPI
        Docker_Hub YouTube LinkedIn PayPal""",
    "tool": """Docker Docker_Compose=docker-compose Kubernetes=k8s Helm! Ansible Pulumi Vagrant! Jenkins
        GitHub_Actions GitLab_CI CircleCI Travis_CI ArgoCD Git! Mercurial! Make! CMake Bazel Gradle Maven!
        Cargo! pipx conda Yarn! pnpm Bun! Deno Node.js=nodejs,node.js ESLint Prettier! Ruff! mypy Pyright
        Pylint Biome! pre-commit VS_Code=vscode Visual_Studio_Code Vim! Neovim Emacs! IntelliJ PyCharm Xcode
        tmux Postman! Claude_Code Claude! Copilot! Cursor! ChatGPT Ollama Linux macOS Windows! Ubuntu Debian
        Homebrew systemd Wireshark""",
    "concept": """JWT! OAuth=oauth2 OIDC! SAML! CORS! CSRF! SSO! TLS! SSH! DNS! CDN! MCP! LLM! WebSocket=websockets
        BM25! WAL! CRDT!""",
}


def _index() -> dict[str, Technology]:
    index: dict[str, Technology] = {}
    for kind, rows in _TABLE.items():
        for row in rows.split():
            spelled, _, others = row.partition("=")
            name = spelled.rstrip("!").replace("_", " ")
            index[name.casefold()] = Technology(name, kind, spelled.endswith("!"))
            for other in filter(None, others.split(",")):
                index[other.replace("_", " ")] = Technology(name, kind)
    return index


TECHNOLOGIES = _index()
