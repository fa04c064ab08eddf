"""``memspec completion``."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script for a shell.

    \b
    Example:
      eval "$(memspec completion bash)"
      memspec completion fish > ~/.config/fish/completions/memspec.fish
    """
    root = click.get_current_context().find_root()
    made = get_completion_class(shell)
    assert made is not None
    click.echo(made(root.command, {}, "memspec", "_MEMSPEC_COMPLETE").source())
