"""`interplay completion`: the few lines that let a shell complete commands, options and their values."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

#: The printed lines set this variable when they ask for completions.
COMPLETE_VARIABLE = "_INTERPLAY_COMPLETE"


@click.command(short_help="Print the shell code that completes commands with Tab.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the code with which SHELL completes `interplay` commands when you press Tab.

    \b
    bash:  interplay completion bash >> ~/.bashrc
    zsh:   interplay completion zsh >> ~/.zshrc
    fish:  interplay completion fish > ~/.config/fish/completions/interplay.fish
    """  # noqa: D301 - click looks for that character
    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"no completion for {shell}")
    # Not kind.source(), which runs bash to check its version.
    maker = kind(context.find_root().command, {}, "interplay", COMPLETE_VARIABLE)
    click.echo(maker.source_template % maker.source_vars())
