from __future__ import annotations

from memspec_py.acts.harness.table import EVENTS
from tests.bench.hooks import measure


def test_each_hook_is_measured_with_something_to_say() -> None:
    """An empty answer would be a fast one."""
    rows = {row.name: row for row in measure(1_000, 1)}
    assert rows.keys() == {"--version", "search", *EVENTS}
    assert all(row.bytes > 100 for name, row in rows.items() if name != "--version")
    assert all(row.cpu_ms > 0 for row in rows.values())
