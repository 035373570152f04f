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

found=
for candidate in "${RETAIN_COMMAND:-}" "$python" "$(command -v retain 2>/dev/null)" "$HOME/.local/bin/retain" \
    /opt/homebrew/bin/retain /usr/local/bin/retain \
    "$HOME/.local/share/uv/tools/retain/bin/retain" "$HOME/.local/share/pipx/venvs/retain/bin/retain"; do
    if [ -n "$candidate" ] && [ -f "$candidate" ] && [ -x "$candidate" ]; then
        found=$candidate
        break
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
