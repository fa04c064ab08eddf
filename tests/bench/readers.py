"""What it costs to read front matter: our two readers against the libraries one could use instead.

The index is built with whichever is fastest among those that never guess a type and refuse
duplicate keys, aliases and tags; the last column says which do.
"""

from __future__ import annotations

import io
import json
import time
from statistics import median
from typing import TYPE_CHECKING

import click

from memspec_py.record.canonical import read_canonical
from memspec_py.record.frontmatter import read, split
from memspec_py.record.parse import print_record
from memspec_py.record.yamltext import read_mapping
from tests.bench.stores import record_number

if TYPE_CHECKING:
    from collections.abc import Callable

_RECORDS = 200
_ROUNDS = 7


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of a table.")
def command(*, as_json: bool) -> None:
    """Readers of front matter, in microseconds a record."""
    heads = [split(print_record(record_number(number))).head for number in range(_RECORDS)]
    rows = [
        {"reader": name, "microseconds": round(_cost(reader, heads), 1), "strict": strict}
        for name, reader, strict in _readers()
    ]
    if as_json:
        click.echo(json.dumps({"records": _RECORDS, "readers": rows}))
        return
    click.echo(f"{'reader':44s}{'us/record':>10s}  no guesses, no duplicates, no aliases")
    for row in rows:
        strict = "yes" if row["strict"] else "no"
        click.echo(f"{row['reader']:44s}{row['microseconds']:10.1f}  {strict}")


def _readers() -> list[tuple[str, Callable[[str], object], bool]]:
    import frontmatter
    import yaml
    from ruamel.yaml import YAML

    pure = YAML(typ="safe", pure=True)
    return [
        ("ours: canonical form, else events", read, True),
        ("ours: canonical form alone", read_canonical, True),
        ("ours: libyaml events alone", read_mapping, True),
        ("PyYAML CSafeLoader", lambda head: yaml.load(head, yaml.CSafeLoader), False),
        (
            "python-frontmatter",
            lambda head: frontmatter.loads(f"---\n{head}---\n"),
            False,
        ),
        ("ruamel.yaml safe, pure", lambda head: pure.load(io.StringIO(head)), False),
    ]


def _cost(reader: Callable[[str], object], heads: list[str]) -> float:
    """Microseconds a record, the median over rounds."""
    rounds = []
    for _ in range(_ROUNDS):
        began = time.perf_counter()
        for head in heads:
            reader(head)
        rounds.append((time.perf_counter() - began) / len(heads) * 1e6)
    return median(rounds)
