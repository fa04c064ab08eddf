"""Reading what people type: lists in one word, and text from a file or standard input."""

from __future__ import annotations

import sys

import click


def comma_list(text: str | None) -> tuple[str, ...]:
    """The parts of ``a, b,c``."""
    return tuple(part for piece in (text or "").split(",") if (part := piece.strip()))


def text_from(text: str | None, path: str | None) -> str:
    """The text itself, or the content of a file; ``-`` in either place is standard input."""
    if text is not None and path is not None:
        raise click.UsageError("give --body or --body-file, not both")
    if path is not None and path != "-":
        return _file(path)
    if text == "-" or path == "-":
        return _decoded(sys.stdin.buffer.read(), "standard input")
    return text or ""


def _file(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return _decoded(file.read(), path)
    except OSError as problem:
        raise click.UsageError(f"{path} cannot be read: {problem.strerror}") from None


def _decoded(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise click.UsageError(f"{name} is not UTF-8 (byte {problem.start})") from None
