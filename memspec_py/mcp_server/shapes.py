"""What the list of tools says of a reply: the published schema, weakened until the list is short.

Every agent reads the whole list in every session. So of each of ``schema/*.json`` it has the names
of the fields that the answer itself always has. What stands in every reply (the store, the index,
warnings), and what each field is, is left to the published schemas. Whatever they allow is allowed
by this, and so is an error: some clients hold an error to the same schema.
"""

from __future__ import annotations

from typing import Any

# Fields of the circumstances, which are the same for all.
_EVERYWHERE = frozenset(
    {
        *("store", "index", "unreadable", "unreadable_count", "warnings"),
        *("layers", "layers_unavailable", "layers_left_out", "layers_stale"),
    }
)


def output_schema(name: str) -> dict[str, Any]:
    """The weak form of a published schema."""
    from memspec_py.record.schema import schema

    always = [field for field in schema(name)["required"] if field not in _EVERYWHERE]
    return {"type": "object", "anyOf": [{"required": always}, {"required": ["error"]}]}
