#!/bin/sh
# Starts Retain for the plugin: `retain.sh serve`, or `retain.sh hook EVENT`.
# A client that was started from a desktop has a short PATH, so what `retain setup` noted goes before it, and the usual
# places are looked at too.
# Without Retain a hook answers {} and the session goes on; the first SessionStart says how to install it.

home=${RETAIN_HOME:-$HOME/.retain}
case $home in "~/"*) home=$HOME/${home#"~/"} ;; esac
noted=
if [ -r "$home/command" ]; then
    IFS= read -r noted <"$home/command"
fi
# One path, which may have spaces in it; or that of a Python, and the module.
python=${noted%" -m retain"}

# Another program is called retain too, and deletes files: one that was not named by somebody must be ours by what is
# written in it. Nothing else is called retain-mcp.
is_ours() {
    case $1 in
    */retain-mcp | */retain-mcp.exe) return 0 ;;
    esac
    [ "$1" != "$noted" ] && [ "$1" = "$python" ] && return 0
    grep -q 'retain\.__main__' "$1" 2>/dev/null
}

found=
for candidate in "${RETAIN_COMMAND:-}" "$python" \
    "$(command -v retain-mcp 2>/dev/null)" "$(command -v retain 2>/dev/null)" \
    "$HOME/.local/bin/retain-mcp" /opt/homebrew/bin/retain-mcp /usr/local/bin/retain-mcp \
    "$HOME/.local/share/uv/tools/retain-mcp/bin/retain-mcp" "$HOME/.local/share/pipx/venvs/retain-mcp/bin/retain-mcp" \
    "$HOME/.local/bin/retain" /opt/homebrew/bin/retain /usr/local/bin/retain \
    "$HOME/.local/share/uv/tools/retain/bin/retain" "$HOME/.local/share/pipx/venvs/retain/bin/retain"; do
    if [ -n "$candidate" ] && [ -f "$candidate" ] && [ -x "$candidate" ]; then
        if [ "$candidate" = "${RETAIN_COMMAND:-}" ] || is_ours "$candidate"; then
            found=$candidate
            break
        fi
    fi
done

if [ -n "$found" ] && [ "$found" = "$python" ] && [ "$noted" != "$python" ]; then
    exec "$found" -m retain "$@"
elif [ -n "$found" ]; then
    exec "$found" "$@"
fi

install="Retain is not installed where this plugin looks, so nothing is remembered. Install it from a clone of its repository (pipx install ., or make install) and run retain setup once from that installation, which tells the plugin where it is."
if [ "${1:-}" != hook ]; then
    echo "$install" >&2
    exit 127
fi

cat >/dev/null
told="${CLAUDE_PLUGIN_DATA:-}/told-how-to-install"
if [ "${2:-}" = SessionStart ] && [ -n "${CLAUDE_PLUGIN_DATA:-}" ] && [ ! -e "$told" ]; then
    mkdir -p "$CLAUDE_PLUGIN_DATA" 2>/dev/null
    # In a shell of its own: a failing redirection would end this one.
    if (: >"$told") 2>/dev/null; then
        printf '{"systemMessage": "%s"}\n' "$install"
        exit 0
    fi
fi
echo '{}'
exit 0
