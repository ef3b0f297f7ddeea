#!/bin/sh
# Runs `memtool-hook` for the event $1, which is on stdin; for `mcp`, the MCP server. Where there is no memtool, the start
# of a session says so and every other event is passed over, so that the client need not report a failure for each.

# The working folder is the user's project: nothing in it passes for Python's modules or for the program itself.
unset PYTHONPATH PYTHONHOME PYTHONSTARTUP PYTHONWARNINGS

if [ "$1" = mcp ]; then wanted=memtool option=mcp; else wanted=memtool-hook option=--plugin; fi
for name in "$wanted" "$HOME/.local/bin/$wanted"; do
    program=$(command -v "$name") || continue
    case $program in /*) exec "$program" "$option" ;; esac
done

[ "$1" = SessionStart ] || exit 0
case $(cat) in
*'"source":"startup"'*)
    printf '%s\n' '{"systemMessage": "The plugin memtool does nothing yet, because the program memtool-hook is neither on PATH nor in ~/.local/bin. Install memtool, for example with pipx or uv."}'
    ;;
esac
exit 0
