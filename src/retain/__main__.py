"""The `retain` command: hands over to the server or to the other commands, each with only the imports it needs."""

import sys


def main() -> None:
    if sys.argv[1:2] == ["hook"]:
        from retain.surfaces.hooks.runner import main as answer

        answer(sys.argv[2:])
    if sys.argv[1:2] == ["statusline"]:
        from retain.surfaces.hooks.statusline import main as tell

        tell(sys.argv[1:])
    # A client waits for `serve`, so it does not pay for the command line.
    if sys.argv[1:2] == ["serve"]:
        from retain.surfaces.cli.serve import serve

        serve(sys.argv[2:])
    from retain.surfaces.cli.main import cli

    cli(prog_name="retain")


if __name__ == "__main__":
    main()
