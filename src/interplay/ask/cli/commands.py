"""The group of all commands of `interplay`, the run of one, and `interplay completion`, by which shells know them."""

from __future__ import annotations

import os
import sys
from typing import Any

import click
from click.shell_completion import get_completion_class, shell_complete

from interplay.ask.cli.demo import demo
from interplay.ask.cli.errors import EXIT_CODES
from interplay.ask.cli.info import bench, info
from interplay.ask.cli.interactions import interactions
from interplay.ask.cli.power import power
from interplay.ask.cli.run import run
from interplay.ask.cli.saved import combine, merge, report
from interplay.ask.cli.site import site

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


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}, epilog=EXIT_CODES)
@click.version_option(package_name="interplay", message="%(prog)s %(version)s")
def commands() -> None:
    """Find the variables that are informative about an outcome, alone or together with others.

    \b
    interplay run data.csv --target outcome -k 2 --report report.html
    interplay demo
    """  # noqa: D301 - click looks for that character


for command in (run, interactions, power, merge, combine, site, report, demo, bench, info, completion):
    commands.add_command(command)


def run_command() -> Any:
    """Run the command that the arguments ask for."""
    asked_by_shell = os.environ.get(COMPLETE_VARIABLE)
    if asked_by_shell:  # the Tab key
        return shell_complete(commands, {}, "interplay", COMPLETE_VARIABLE, asked_by_shell)
    # Not commands.main(), which handles errors and closed pipes in its own way.
    with commands.make_context("interplay", sys.argv[1:]) as context:
        return commands.invoke(context)
