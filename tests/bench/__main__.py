"""``bin/bench``: one command for each benchmark, loaded when it is asked for."""

from __future__ import annotations

from importlib import import_module

import click

# Each module has its click command under the name `command`.
_MODULES = {
    "drift": "tests.bench.drift",
    "hooks": "tests.bench.hooks",
    "mcp": "tests.bench.mcp",
    "near": "tests.bench.near",
    "readers": "tests.bench.readers",
    "retrieval": "tests.bench.retrieval",
    "speed": "tests.bench.speed",
}


class _Benchmarks(click.Group):
    """Finds a benchmark by its module, so that none pays for the imports of another."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click's signature
        return list(_MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in _MODULES:
            return None
        found = import_module(_MODULES[cmd_name]).command
        assert isinstance(found, click.Command)
        return found


@click.command(cls=_Benchmarks)
def main() -> None:
    """Measure memspec. A missed target is an exit of 1 only with --check."""


if __name__ == "__main__":
    main(prog_name="bin/bench")
