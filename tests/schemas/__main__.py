"""``bin/schema``: write the schemas and SCHEMA.md, or check that they are current."""

from __future__ import annotations

import json
from pathlib import Path

import click

from tests.schemas.page import page
from tests.schemas.record import record_schema
from tests.schemas.replies import REPLIES, error_schema, reply_schema
from tests.schemas.shapes import SUFFIX, Schema

ROOT = Path(__file__).resolve().parents[2]
FOLDER = "schema"


def schemas() -> dict[str, Schema]:
    """Every published schema by its name."""
    replies = {name: reply_schema(name, reply) for name, reply in REPLIES.items()}
    return {"record": record_schema(), **replies, "error": error_schema()}


def published() -> dict[str, str]:
    """The text of every file that is made from the code, by its path in the checkout."""
    every = schemas()
    files = {
        f"{FOLDER}/{name}{SUFFIX}": json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
        for name, schema in every.items()
    }
    return {**files, "SCHEMA.md": page(every)}


def differences(root: Path) -> list[str]:
    """What in a checkout is not as the code has it, one sentence each."""
    files = published()
    found = []
    for name, text in files.items():
        path = root / name
        if not path.is_file():
            found.append(f"{name} is missing")
        elif path.read_text(encoding="utf-8") != text:
            found.append(f"{name} is not current")
    present = (f"{FOLDER}/{path.name}" for path in sorted((root / FOLDER).glob("*.json")))
    return found + [f"{name} is not made from anything" for name in present if name not in files]


@click.command()
@click.option("--check", is_flag=True, help="Write nothing; exit 1 when something is not current.")
@click.option("--root", type=click.Path(path_type=Path), default=ROOT, hidden=True)
@click.pass_context
def main(ctx: click.Context, *, check: bool, root: Path) -> None:
    """Write schema/*.json and SCHEMA.md from the classes they describe."""
    found = differences(root)
    for sentence in found:
        click.echo(sentence)
    if check:
        ctx.exit(1 if found else 0)
    files = published()
    (root / FOLDER).mkdir(exist_ok=True)
    for path in (root / FOLDER).glob("*.json"):
        if f"{FOLDER}/{path.name}" not in files:
            path.unlink()
    for name, text in files.items():
        (root / name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(prog_name="bin/schema")
