"""What may stand for a word of the command line, for shell completion.

Nothing is opened, synced or written: layers come from the resolver, ids from the names of files,
titles from the few files that are shown.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from memspec_py.record.words import Kind, State, Type, Witness

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import click

    from memspec_py.store.layers import Layer

FILE, FOLDER, WORD = "file", "dir", "plain"
MOST_IDS = 50
_TITLE_CHARS = 60
# Words in place of a metavar: `[prompt|file-open]`.
_CHOICE = re.compile(r"\[[a-z_-]+(\|[a-z_-]+)+\]\Z")


class Candidate(NamedTuple):
    """One word, or the wish for the shell's own files or folders; ``about`` says what it is."""

    value: str
    about: str = ""
    kind: str = WORD


class Place(NamedTuple):
    """What is known when a word is asked for: the command, and where it would look."""

    command: str
    cwd: str | None
    store: str | None


Offer: TypeAlias = "Callable[[Place, str], Iterable[Candidate]]"


def offered(command: str, parameter: click.Parameter) -> Offer | None:
    """How the words for a parameter are found; None when click itself knows, or nobody can."""
    name = parameter.name or ""
    if (command, name) in _BY_PARAMETER:
        return _BY_PARAMETER[command, name]
    shown = parameter.metavar or ""
    if _CHOICE.match(shown):
        return _fixed(*shown.strip("[]").split("|"))
    return _BY_METAVAR.get(shown) or _BY_NAME.get(name)


def _fixed(*words: str) -> Offer:
    return lambda _, typed: [Candidate(word) for word in words if word.startswith(typed)]


def _edges(place: Place, typed: str) -> Iterable[Candidate]:
    from memspec_py.acts.relate import LINKS

    return _fixed(*LINKS)(place, typed)


def _followed_edges(place: Place, typed: str) -> Iterable[Candidate]:
    from memspec_py.views.search import EXPANDABLE

    return _fixed(*EXPANDABLE)(place, typed)


def _list_of(offer: Offer) -> Offer:
    """Words with commas between them: what was typed before the last comma stays."""

    def offer_last(place: Place, typed: str) -> Iterator[Candidate]:
        head, comma, last = typed.rpartition(",")
        taken = head.split(",")
        for found in offer(place, last):
            if found.value not in taken:
                yield found._replace(value=f"{head}{comma}{found.value}")

    return offer_last


def _paths(kind: str) -> Offer:
    return lambda _, typed: [Candidate(typed, kind=kind)]


def _ids(*folders: str) -> Offer:
    """Ids of records in these folders of the stores, newest first; with their titles, if few."""
    return lambda place, typed: _known_ids(_layers(place), folders, typed)


def _known_ids(
    layers: Sequence[Layer], folders: tuple[str, ...], typed: str
) -> Iterator[Candidate]:
    from memspec_py.ids import PREFIX, is_id, prefix_range
    from memspec_py.store.listing import list_records

    between = (PREFIX, PREFIX + "~") if PREFIX.startswith(typed) else prefix_range(typed)
    if between is None:
        return
    found: dict[str, tuple[Layer, str]] = {}
    for layer in layers:
        for path in list_records(layer.root).paths:
            id_ = path[path.rfind("/") + 1 : -len(".md")]
            if path.startswith(folders) and between[0] <= id_ <= between[1] and is_id(id_):
                found.setdefault(id_, (layer, path))
    for id_ in _some(found, lambda id_: _rank(folders, found[id_][1])):
        yield Candidate(id_, _title(*found[id_]))


def _some(ids: Iterable[str], rank: Callable[[str], int]) -> list[str]:
    """The newest of the lowest rank; with the first and the last of all that are left out.

    A shell completes what its words have in common. With these two that is what all ids have in
    common, so that none is out of reach.
    """
    newest = sorted(ids, reverse=True)
    by_rank = sorted(newest, key=rank)
    if len(newest) <= MOST_IDS:
        return by_rank
    return list(dict.fromkeys([*by_rank[: MOST_IDS - 2], newest[0], newest[-1]]))


def _rank(folders: tuple[str, ...], path: str) -> int:
    return next(at for at, folder in enumerate(folders) if path.startswith(folder))


def _title(layer: Layer, path: str) -> str:
    from memspec_py.record.frontmatter import Unreadable
    from memspec_py.record.parse import parse_record
    from memspec_py.render.text import harmless
    from memspec_py.store.files import read

    limits = layer.settings.limits
    try:
        record = parse_record(read(layer.root / path, limits.record_bytes), limits)
    except (OSError, Unreadable):
        return "(cannot be read)"
    title = harmless(record.title)
    short = title if len(title) <= _TITLE_CHARS else f"{title[: _TITLE_CHARS - 1]}…"
    return f"[{record.type or record.kind}] {short}"


def _questions(place: Place, typed: str) -> Iterable[Candidate]:
    """A new question's title cannot be foreseen; an id can."""
    return _ids("questions/")(place, typed) if typed else ()


def _store_names(place: Place, typed: str) -> Iterator[Candidate]:
    from memspec_py.api import surroundings
    from memspec_py.store.layers import GLOBAL
    from memspec_py.store.layout import STORE_NAME

    if "/" in typed or typed in (".", "..", "~"):
        yield Candidate(typed, kind=FOLDER)
        return
    roots = {layer.name: layer.root for layer in _layers(place._replace(store=None))}
    home = surroundings().home
    if home is not None and (home / STORE_NAME).is_dir():
        roots.setdefault(GLOBAL, home / STORE_NAME)
    for name, root in roots.items():
        if name.startswith(typed):
            yield Candidate(name, str(root))


def _scopes(place: Place, typed: str) -> Iterator[Candidate]:
    layers = _layers(place)
    names = [name for layer in layers for name in layer.settings.scopes]
    for name in dict.fromkeys([*names, "universal"] if layers else ()):
        if name.startswith(typed):
            yield Candidate(name)


def _profiles(place: Place, typed: str) -> Iterator[Candidate]:
    names = [name for layer in _layers(place)[:1] for name in layer.settings.profiles]
    yield from (Candidate(name) for name in names if name.startswith(typed))


def _journals(place: Place, typed: str) -> Iterator[Candidate]:
    from memspec_py.store.undo_journal import heads

    names = [name for layer in _layers(place)[:1] for name, _ in heads(layer.root)[0]]
    for name in ["last", *reversed(names)] if names else []:
        if name.startswith(typed):
            yield Candidate(name)
    yield Candidate(typed, kind=FILE)


def _harnesses(place: Place, typed: str) -> Iterable[Candidate]:
    from memspec_py.acts.harness.table import BY_NAME
    from memspec_py.acts.set_up import ALL_FOUND

    return _fixed(*BY_NAME, ALL_FOUND)(place, typed)


def _layers(place: Place) -> tuple[Layer, ...]:
    """The stores that serve the place; none where there are none, or where they are broken."""
    from memspec_py.api import surroundings
    from memspec_py.errors import MemspecError
    from memspec_py.store.layers import resolve

    start = None if place.cwd is None else Path(place.cwd)
    try:
        resolution = resolve(surroundings(), start, place.store)
    except MemspecError:
        return ()
    return (resolution.primary,) if resolution.narrowed else resolution.layers


_IN_USE = _ids("memory/", "observations/", "questions/")
_CLAIM_TYPES = _fixed(*Type)
_ANY_TYPES = _fixed(*Type, Kind.OBSERVATION, Kind.QUESTION)
_FILES, _FOLDERS = _paths(FILE), _paths(FOLDER)
_BY_METAVAR: dict[str, Offer] = {
    "ID": _IN_USE,
    "ID...": _IN_USE,
    "ID,ID": _list_of(_IN_USE),
    "EDGE": _edges,
    "NAME|PATH": _store_names,
    "DIR": _FOLDERS,
    **dict.fromkeys(("PATH", "PATH...", "PATH ...", "FILE", "FILE|URL"), _FILES),
}
_BY_NAME: dict[str, Offer] = {
    "scope": _scopes,
    "profile": _profiles,
    "state": _fixed(*State, "any"),
    "witness": _fixed(*Witness),
    "journal": _journals,
}
# Where the same word means something else than elsewhere.
_BY_PARAMETER: dict[tuple[str, str], Offer] = {
    ("get", "record_id"): _ids("memory/", "observations/", "questions/", "archive/"),
    ("init", "harnesses"): _harnesses,
    ("remember", "answers_question"): _ids("questions/"),
    ("question", "question"): _questions,
    ("question", "more"): _IN_USE,
    ("context", "more_paths"): _FILES,
    ("supersede", "type_"): _CLAIM_TYPES,
    ("search", "type_"): _ANY_TYPES,
    ("list", "type_"): _ANY_TYPES,
    ("context", "type_"): _fixed(*Type, Kind.OBSERVATION),
    ("search", "edge_types"): _list_of(_followed_edges),
    ("export", "types"): _list_of(_CLAIM_TYPES),
}
