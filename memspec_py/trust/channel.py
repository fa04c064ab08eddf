"""The fronts a call can come through: every command loads this, and only some the tiers."""

from __future__ import annotations

from enum import StrEnum


class Channel(StrEnum):
    """The front a call comes through, which decides what its caller can be."""

    CLI = "cli"
    API = "api"
    MCP = "mcp"
