"""Shell commands: what was run, whether it can have mended something, whether it is safe to hand on."""

import re

_AROUND = re.compile(r"^(?:cd [^&|;]{1,200}&& *)+|(?: *2>&1| *\| *(?:tail|head|grep|tee|cat)\b[^|]{0,80})+ *$")
_LOOKS_WORDS = """
    grep rg egrep ag ls cat find fd which where type test [ [[ diff curl wget ping ps head tail echo printf cd pwd
    rm cp mv kill sed awk jq command stat git gh env printenv wc sort tree file du df date whoami id man sleep
    true false export history read less more touch mkdir ssh scp
"""
_LOOKS = frozenset(_LOOKS_WORDS.split())
_INLINE = re.compile(r"(?:^|\s)(?:-c|-e|--eval)\s|<<|\n")
_SETTING = re.compile(r"[A-Za-z_]\w*=\S+")
_MENDS = re.compile(
    r"(?:[A-Z_]\w*=\S+ )*(?:sudo )?(?:(?:npm|pnpm|yarn|bun)(?: -\S+)* (?:i|install|ci|add|rebuild|dedupe)\b"
    r"|npx playwright install|corepack enable|nvm (?:use|install)|(?:python3? -m )?(?:uv )?pip3? install"
    r"|uv (?:add|sync|lock)|uv tool install|pipx install|poetry (?:add|install|lock)|pipenv install|conda install"
    r"|pyenv install|cargo (?:add|update|clean|install)|rustup (?:target|component|toolchain|default|update)\b"
    r"|go (?:get|mod tidy|mod download|generate|install|work)|bundle (?:install|update|add)|gem install"
    r"|composer (?:require|install|update|dump-autoload)|mix (?:deps\.get|ecto\.\w+|local\.\w+)"
    r"|dotnet (?:add|restore|tool)|(?:apt|apt-get|dnf|yum|apk|pacman|zypper|brew|port|choco|winget"
    r"|scoop)(?: -\S+)* (?:install|add|-S\w*|services (?:re)?start|link|upgrade)\b"
    r"|docker[ -]compose(?: -f \S+)* (?:up|start|restart)|docker (?:start|run|compose|volume|network)"
    r"|podman (?:start|run)|minikube start|colima start|systemctl (?:re)?start|service \S+ (?:re)?start"
    r"|pg_ctl\b.*\bstart|redis-server|initdb|createdb|createuser|npx prisma (?:generate|migrate|db)"
    r"|prisma (?:generate|migrate|db)|alembic upgrade|(?:python3? )?(?:\./)?manage\.py migrate|(?:bin/)?rails db:\w+"
    r"|(?:bin/)?rake db:\w+|php artisan (?:migrate|key:generate|config:clear|cache:clear|storage:link)"
    r"|npm run (?:build|generate|codegen|prepare|setup|db:\w+|migrate)|pnpm (?:build|generate|codegen)"
    r"|make (?:deps|setup|generate|proto|migrate|install|build|bootstrap|init)\b|cp \S*\.?env\S* \S*\.env\S*"
    r"|chmod \+x|export [A-Z_]+=\S+|terraform init|helm (?:repo|dependency)|flutter (?:pub get|clean)|pod install"
    r"|opam (?:install|update|upgrade|switch)|(?:stack|cabal) (?:install|setup|update)|ghcup install"
    r"|luarocks(?: \S+)* install"
    r"|cpanm? \S|nix-env -i\S*|nix (?:profile install|develop|flake update)|nix-shell -p|shards install|nimble install"
    r"|raco pkg install|dart pub get|deno (?:install|cache|add)|pdm (?:add|install|sync)|rye (?:add|sync)|(?:mamba"
    r"|micromamba) install"
    r"|snap install|flatpak install|xbps-install|emerge \S|lein deps|rebar3 get-deps|conan install|vcpkg install"
    r"|elm install"
    r"|gleam (?:add|deps)|zig fetch|git submodule update|git lfs (?:pull|install)|R CMD INSTALL|bower install"
    r"|jspm install"
    r"|spago install|mint install|carthage (?:update|bootstrap)|tlmgr install|ansible-galaxy \S+ install"
    r"|helm plugin install"
    r"|swift package (?:resolve|reset|update)|xcode-select|sdk install|asdf install|mise (?:install|use)"
    r"|rm -rf? (?:\S*/)?(?:node_modules|\.next|\.nuxt|dist|build|target|\.cache|\.turbo|\.gradle|__pycache__|\.venv"
    r"|DerivedData)\S*(?= *$| *&&))"
)
# What would be harmful as a habit is not handed on as a way to mend things.
_UNSAFE = re.compile(
    r"https?://|\bcurl\b|\bwget\b|\|\s*(?:sudo )?(?:sh|bash|zsh|python)|--no-verify|--force\b|--insecure|-k\b.*http"
    r"|ssl|tls|REJECT_UNAUTHORIZED|--trusted-host|index-url|--registry|chmod (?:-R )?(?:777|a\+w)|\beval\b|base64"
    r"|--privileged|--break-system-packages|\bnc\b|/etc/|\[redacted|[\x00-\x1f`]",
    re.I,
)


def told(command: str) -> str:
    """A command without the change of folder before it and the pipes that only shorten its output."""
    return _AROUND.sub("", " ".join(command.split())).strip()


def is_work(command: str) -> bool:
    """Whether failing says something: builds and tests do, looking for something that is not there does not."""
    words = _words(told(command))
    return bool(words) and words[0] not in _LOOKS and len(command) <= 160 and not _INLINE.search(command)


def mends(command: str) -> bool:
    """Whether a command changes what other commands find: installs, starts, generates, clears."""
    return _MENDS.match(told(command)) is not None


def is_safe(command: str) -> bool:
    return len(command) <= 160 and _UNSAFE.search(command) is None


def same_work(first: str, second: str) -> bool:
    """Whether two commands do the same to the same things, whatever their options and settings."""
    return _essence(first) == _essence(second)


def extends(first: str, second: str) -> bool:
    """Whether the second is the first with something added: a setting in front, an option, a wrapper (`uv run`)."""
    before, after = told(first).split(), told(second).split()
    added = [word for word in after if word not in before]
    in_order = [word for word in after if word in before] == before
    return first != second and bool(added) and "sudo" not in added and in_order


def program(command: str) -> str:
    words = _words(told(command))
    return words[0].rsplit("/", 1)[-1] if words else ""


def _words(command: str) -> list[str]:
    words = command.split()
    while words and _SETTING.fullmatch(words[0]):
        words = words[1:]
    return words


def _essence(command: str) -> list[str]:
    return [word for word in _words(told(command)) if not word.startswith("-")]
