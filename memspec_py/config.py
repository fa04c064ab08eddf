"""Settings of a store: the defaults, and how ``config.yaml`` changes them."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from memspec_py.clock import parse_duration
from memspec_py.errors import Invalid

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from memspec_py.report import Finding

_N = TypeVar("_N", int, float)

DEFAULT_DECAY = {"fact": "90d", "decision": "180d", "procedure": "90d", "observation": "7d"}
SEARCHED_TYPES = ("fact", "decision", "procedure", "observation")
DEFAULT_CONFIG = """\
# memspec settings. Every key may be left out; these are the defaults.
decay:
  fact: 90d
  decision: 180d
  procedure: 90d
  observation: 7d
profiles:
  default:
    types:
      - fact
      - decision
      - procedure
      - observation
    ranking:
      recency: "0.1"
anchors:
  repo_search_paths:
    - "~/git"
"""


class Limits(NamedTuple):
    """How large things may be; a record beyond a limit is unreadable and is never written.

    Sizes are in bytes where they say so, else in characters; counts are items per record.
    """

    record_bytes: int = 1_048_576
    title_chars: int = 300
    tag_chars: int = 64
    tags: int = 64
    edges: int = 256
    anchors: int = 256
    evidence: int = 64
    evidence_bytes: int = 5_242_880
    query_terms: int = 64


class Profile(NamedTuple):
    """What a search looks at and how much fresh records are preferred (0 to 1)."""

    types: tuple[str, ...] = SEARCHED_TYPES
    recency: float = 0.1


class Anchoring(NamedTuple):
    """Folders that may hold checkouts of other repositories; ``~`` is the home."""

    repo_search_paths: tuple[str, ...] = ("~/git",)


class StoreSetting(NamedTuple):
    """A layer that ``stores:`` declares: where it is, and whether new records may go there.

    ``path`` is as written; layers of higher ``priority`` come first.
    """

    name: str
    path: str
    priority: int = 0
    writable: bool = True


class Settings(NamedTuple):
    """A store's settings; ``findings`` tells what in ``config.yaml`` was not understood."""

    decay: Mapping[str, str] = MappingProxyType(DEFAULT_DECAY)
    profiles: Mapping[str, Profile] = MappingProxyType({"default": Profile()})
    scopes: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    scopes_require: bool = False
    anchors: Anchoring = Anchoring()
    limits: Limits = Limits()
    stores: tuple[StoreSetting, ...] = ()
    claims: tuple[str, ...] = ()
    operators: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()

    def profile(self, name: str) -> Profile:
        """The named profile; an unknown name is an error that lists the known ones."""
        try:
            return self.profiles[name]
        except KeyError:
            known = ", ".join(sorted(self.profiles))
            message = f"no profile {name!r} in config.yaml"
            raise Invalid(message, hint=f"known profiles: {known}") from None


class _Reader:
    """Typed reading of parsed settings that collects what it cannot understand."""

    def __init__(self, path: str = "config.yaml") -> None:
        self.path = path
        self.findings: list[Finding] = []

    def complain(self, key: str, wanted: str, instead: str = "the default is used") -> None:
        """Note a setting that is ignored, with what it should be and what happens instead."""
        from memspec_py.report import Finding, Severity

        self.findings.append(
            Finding(
                code="bad-setting",
                severity=Severity.WARNING,
                path=self.path,
                field=key,
                message=f"{key} should be {wanted}; {instead}",
            )
        )

    def table(self, value: object, key: str) -> Mapping[str, object]:
        """A mapping, or nothing."""
        if isinstance(value, dict):
            return value
        if value is not None:
            self.complain(key, "a mapping")
        return {}

    def texts(self, value: object, key: str) -> tuple[str, ...] | None:
        """A list of texts; a single text counts as a list of one."""
        if isinstance(value, str):
            return (value,)
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return tuple(value)
        if value is not None:
            self.complain(key, "a list of texts")
        return None

    def flag(self, value: object, key: str) -> bool:
        """True or false, written as text; nothing is false."""
        if value not in (None, "true", "false"):
            self.complain(key, "true or false")
        return value == "true"

    def number(
        self, value: object, key: str, read: Callable[[str], _N], low: _N, high: _N
    ) -> _N | None:
        """A number within bounds, written as text."""
        if value is None:
            return None
        try:
            number = read(value) if isinstance(value, str) else None
        except ValueError:
            number = None
        if number is not None and low <= number <= high:
            return number
        self.complain(key, f"a number from {low} to {high}")
        return None


def settings_from(mapping: Mapping[str, object]) -> Settings:
    """The settings a parsed ``config.yaml`` asks for; what it gets wrong is a finding."""
    reader = _Reader()
    return Settings(
        decay=_decay(reader, mapping.get("decay")),
        profiles=_profiles(reader, mapping.get("profiles")),
        scopes={
            name: patterns
            for name, value in reader.table(mapping.get("scopes"), "scopes").items()
            if (patterns := reader.texts(value, f"scopes.{name}")) is not None
        },
        scopes_require=reader.flag(mapping.get("scopes_require"), "scopes_require"),
        anchors=_anchoring(reader, mapping.get("anchors")),
        limits=_limits(reader, mapping.get("limits")),
        stores=_stores(reader, mapping.get("stores")),
        claims=reader.texts(mapping.get("claims"), "claims") or (),
        operators=reader.texts(mapping.get("operators"), "operators") or (),
        findings=tuple(reader.findings),
    )


def _decay(reader: _Reader, value: object) -> Mapping[str, str]:
    decay = dict(DEFAULT_DECAY)
    for name, span in reader.table(value, "decay").items():
        try:
            if span != "never":
                parse_duration(str(span))
            decay[name] = str(span)
        except ValueError:
            reader.complain(f"decay.{name}", "a duration such as 90d, or never")
    return decay


def _profiles(reader: _Reader, value: object) -> Mapping[str, Profile]:
    profiles = {"default": Profile()}
    for name, given in reader.table(value, "profiles").items():
        key = f"profiles.{name}"
        table = reader.table(given, key)
        ranking = reader.table(table.get("ranking"), f"{key}.ranking")
        types = reader.texts(table.get("types"), f"{key}.types")
        if types is not None and not set(types) <= set(SEARCHED_TYPES):
            reader.complain(f"{key}.types", "among " + ", ".join(SEARCHED_TYPES))
            types = None
        recency = reader.number(ranking.get("recency"), f"{key}.ranking.recency", float, 0.0, 1.0)
        base = profiles["default"]
        profiles[name] = Profile(
            types=base.types if types is None else types,
            recency=base.recency if recency is None else recency,
        )
    return profiles


def _anchoring(reader: _Reader, value: object) -> Anchoring:
    table = reader.table(value, "anchors")
    paths = reader.texts(table.get("repo_search_paths"), "anchors.repo_search_paths")
    return Anchoring() if paths is None else Anchoring(repo_search_paths=paths)


def pointed_to(
    mapping: Mapping[str, object], path: str
) -> tuple[list[StoreSetting], list[Finding]]:
    """The layers a parsed pointer file declares, and what in it was not understood."""
    reader = _Reader(path)
    return list(_stores(reader, mapping.get("stores"))), reader.findings


def _stores(reader: _Reader, value: object) -> tuple[StoreSetting, ...]:
    """The declared layers in their order; one without a name or a path is told and left out."""
    if value is None:
        return ()
    if not isinstance(value, list):
        reader.complain("stores", "a list of layers, each with a name and a path", "it is left out")
        return ()
    found: dict[str, StoreSetting] = {}
    for position, given in enumerate(value):
        key = f"stores[{position}]"
        layer = _store(reader, given, key)
        if layer is None:
            continue
        if layer.name in found:
            reader.complain(f"{key}.name", "a name that no other layer has", "it is left out")
            continue
        found[layer.name] = layer
    return tuple(found.values())


def _store(reader: _Reader, given: object, key: str) -> StoreSetting | None:
    table = given if isinstance(given, dict) else {}
    name, path = table.get("name"), table.get("path")
    if not _is_word(name) or not _is_path(path):
        reader.complain(key, "a layer with a name (one word) and a path", "it is left out")
        return None
    assert isinstance(name, str)
    assert isinstance(path, str)
    priority = reader.number(table.get("priority"), f"{key}.priority", int, -1_000_000, 1_000_000)
    writable = table.get("writable")
    if writable not in (None, "true", "false"):
        # What cannot be understood must not open a store for writing.
        reader.complain(f"{key}.writable", "true or false", "it is read-only")
    return StoreSetting(
        name=name,
        path=path.strip(),
        priority=priority or 0,
        writable=writable in (None, "true"),
    )


def _is_word(value: object) -> bool:
    if not isinstance(value, str) or not value.isprintable():
        return False
    # A slash would make a path of it where ``--store`` takes either.
    return value != "" and not {" ", "/"} & set(value)


def _is_path(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip()) and "\0" not in value


def _limits(reader: _Reader, value: object) -> Limits:
    given = reader.table(value, "limits")
    known = {
        name: number
        for name in Limits._fields
        if (number := reader.number(given.get(name), f"limits.{name}", int, 1, 1 << 40)) is not None
    }
    for name in given:
        if name not in Limits._fields:
            reader.complain(f"limits.{name}", "one of " + ", ".join(Limits._fields))
    return Limits(**known)
