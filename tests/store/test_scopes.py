from __future__ import annotations

import fnmatch
import os
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memspec_py.store.scopes import (
    Covering,
    Derived,
    covered_by,
    covering,
    derive,
    matches,
    near,
    specificity,
)

HOME = Path("/home/me")
BASE = Path("/srv/mono")

names = st.text(st.characters(exclude_characters="/\0"), min_size=1, max_size=6).filter(
    lambda name: name not in {".", ".."}
)
awkward = st.text(st.sampled_from("ab*?[]!-~ "), min_size=1, max_size=6)
folders = st.lists(names | awkward, min_size=1, max_size=5).map(lambda all_: Path("/", *all_))


def takes_in(pattern: str, folder: str, *, home: Path | None = HOME) -> bool:
    """Whether a pattern of the store in ``/srv/mono`` matches a folder."""
    return matches(pattern, Path(folder), base=BASE, home=home)


@pytest.mark.parametrize(
    ("pattern", "inside", "outside"),
    [
        ("/srv/app", "/srv/app /srv/app/a /srv/app/a/b", "/srv /srv/app2 /srv/ap / /x/srv/app"),
        ("/srv/app/", "/srv/app /srv/app/a", "/srv/app2"),
        ("~/git/kleidia", "/home/me/git/kleidia/x", "/home/me/git /home/me/git/kleidia-docs"),
        ("~", "/home/me /home/me/x", "/home /home/me2 /root"),
        ("~/", "/home/me /home/me/x", "/home /home/me2"),
        ("~/p/**", "/home/me/p /home/me/p/a /home/me/p/a/b", "/home/me /home/me/p2"),
        ("~/p/*", "/home/me/p/a /home/me/p/a/b /home/me/p/.a", "/home/me/p /home/me/p2"),
        ("./services/*", "/srv/mono/services/a /srv/mono/services/a/b", "/srv/mono/services"),
        ("services/api", "/srv/mono/services/api", "/srv/services/api /srv/mono/services"),
        (".", "/srv/mono /srv/mono/x", "/srv /srv/mono2"),
        ("../other", "/srv/other /srv/other/x", "/srv/mono/other /srv/mono"),
        ("*", "/srv/mono/a /srv/mono/a/b", "/srv/mono /srv"),
        ("**", "/srv/mono /srv/mono/a /srv/mono/a/b", "/srv /srv/mono2"),
        ("/", "/ /a /a/b", ""),
        ("/**", "/ /a /a/b", ""),
        ("/*", "/a /a/b", "/"),
        ("/srv/**/docs", "/srv/docs /srv/a/docs /srv/a/b/docs/c", "/srv /srv/a /srv/docs2"),
        ("/srv/**/a/**/b", "/srv/a/b /srv/x/a/y/a/z/b/c", "/srv/b/a /srv/a /srv/x/b"),
        ("/srv/**/**", "/srv /srv/a", "/"),
        ("/a/*/c", "/a/b/c /a/b/c/d", "/a/c /a/b/b/c /a/b"),
        ("/a/app-*", "/a/app- /a/app-x /a/app-x/y", "/a/app /a/x-app-x"),
        ("/a/*-x*z", "/a/-xz /a/b-xyz/q", "/a/x-z /a/-xzy"),
        ("/a/b?", "/a/bc /a/b? /a/bc/d", "/a/b /a/bcd /a/b/c"),
        ("/a/[bc]d", "/a/bd /a/cd /a/[bc]d", "/a/d /a/ad /a/bcd"),
        ("/a/[b-d]", "/a/b /a/c /a/d /a/[b-d]", "/a/a /a/e /a/-"),
        ("/a/[!b-d]", "/a/a /a/- /a/!", "/a/b /a/c /a/d"),
        ("/a/[]x]", "/a/] /a/x", "/a/y /a/[]"),
        ("/a/[x", "/a/[x /a/[x/b", "/a/x /a/["),
        ("/a/./b//c/", "/a/b/c", "/a/b"),
        ("//a", "/a /a/b", "/"),
        ("/a/Ä*", "/a/Ä /a/Äb", "/a/ä /a/A"),
        ("~me/x", "/srv/mono/~me/x", "/home/me/x"),
        ("~*", "/srv/mono/~a", "/home/me /home/me/a"),
        ("", "", "/ /srv/mono /home/me"),
        ("/a\0b", "", "/a /ab /"),
        ("/a/*/../c", "", "/a/c /a/b/c /a"),
    ],
)
def test_what_a_pattern_takes_in(pattern: str, inside: str, outside: str) -> None:
    """The folders it names and all that is below them, and nothing beside."""
    assert [
        folder for folder in inside.split(" ") if folder and not takes_in(pattern, folder)
    ] == []
    assert [folder for folder in outside.split(" ") if folder and takes_in(pattern, folder)] == []


def test_upper_and_lower_case_differ() -> None:
    """As they do on the disk."""
    assert not takes_in("/srv/App", "/srv/app")
    assert not takes_in("/srv/[A-Z]pp", "/srv/app")


def test_without_a_home_a_tilde_means_nothing() -> None:
    """Rather than a folder of that name."""
    assert not takes_in("~/git", "/home/me/git", home=None)
    assert not takes_in("~", "/", home=None)
    assert not takes_in("~/**", "/srv/mono/~", home=None)
    assert takes_in("/home/me/git", "/home/me/git", home=None)


def test_the_names_of_home_and_store_are_no_patterns() -> None:
    """Only what a person wrote as a pattern is read as one."""
    odd = Path("/srv/app[1]*")
    assert matches("x/*", odd / "x" / "y", base=odd, home=None)
    assert not matches("x/*", Path("/srv/app1/x/y"), base=odd, home=None)
    assert matches("~/x*", odd / "xy", base=BASE, home=odd)
    assert not matches("~/x*", Path("/srv/app1/xy"), base=BASE, home=odd)


@given(pattern=st.text(), folder=folders)
@example(pattern="/\ud800/*", folder=Path("/\ud800/x"))
@example(pattern="/" + "**/a/" * 200 + "b", folder=Path("/" + "a/" * 400))
@example(pattern="/" + "*a" * 200, folder=Path("/" + "a" * 2_000))
def test_any_text_is_a_legal_pattern(pattern: str, folder: Path) -> None:
    """It matches or it does not, soon."""
    narrow = specificity(pattern, folder, base=BASE, home=HOME)
    assert matches(pattern, folder, base=BASE, home=HOME) == (narrow is not None)
    found = derive({"a": (pattern,)}, folder, base=BASE, home=HOME)
    assert found == (Derived("a", pattern) if narrow is not None else Derived())


@given(folder=folders, below=st.lists(names, max_size=3), more=names)
@example(folder=Path("/a/b"), below=[], more="c")
def test_a_pattern_made_from_a_folder(folder: Path, below: list[str], more: str) -> None:
    """It matches the folder and each one below it, and none beside it with a longer name."""
    beside = folder.with_name(folder.name + more)
    for pattern in (str(folder), f"{folder}/", f"{folder}/**"):
        assert takes_in(pattern, str(folder.joinpath(*below)))
        if not any(mark in str(folder) for mark in "*?["):
            assert not takes_in(pattern, str(beside.joinpath(*below)))


@given(pattern=awkward.filter(lambda text: "**" not in text), name=awkward)
@example(pattern="[!]", name="!")
@example(pattern="[a-b-z]", name="-")
@example(pattern="[b-a]", name="b")
@example(pattern="a*ab", name="aaab")
def test_wildcards_within_a_name_are_those_of_the_shell(pattern: str, name: str) -> None:
    """As the standard library reads them, but for a name that is the pattern itself."""
    wanted = fnmatch.fnmatchcase(name, pattern) or pattern == name
    assert takes_in(f"/x/{pattern}", f"/x/{name}") == wanted


@pytest.mark.parametrize("is_given_by_link", [True, False])
@pytest.mark.parametrize("pattern", ["{link}", "{real}", "{link}/**", "{real}/a*", "{real}/../s*"])
def test_a_link_makes_no_difference(
    tmp_path: Path, pattern: str, *, is_given_by_link: bool
) -> None:
    """Neither on the way that a person came by, nor in the pattern."""
    real = tmp_path / "disk" / "store"
    (real / "app" / "src").mkdir(parents=True)
    link = tmp_path / "link"
    link.symlink_to(real)
    folder = (link if is_given_by_link else real) / "app" / "src"
    text = pattern.format(link=link, real=real)
    assert matches(text, folder, base=tmp_path, home=None)
    assert not matches(text, tmp_path / "disk", base=tmp_path, home=None)
    assert not matches(text, tmp_path / "gone", base=tmp_path, home=None)


def test_a_linked_home_is_one_folder(tmp_path: Path) -> None:
    """By either of its names."""
    real = tmp_path / "data" / "me"
    (real / "git").mkdir(parents=True)
    home = tmp_path / "me"
    home.symlink_to(real)
    for told in (home, real):
        for came in (home, real):
            assert matches("~/git", came / "git", base=tmp_path, home=told)
            assert matches("~/*", came / "git", base=tmp_path, home=told)


def test_a_link_is_as_narrow_as_the_folder_it_leads_to(tmp_path: Path) -> None:
    """So that a short name of a deep folder wins over a folder above it."""
    deep = tmp_path / "a" / "b" / "c"
    deep.mkdir(parents=True)
    link = tmp_path / "l"
    link.symlink_to(deep)
    scopes = {"wide": (str(tmp_path / "a" / "b"),), "narrow": (str(link),)}
    for came in (deep, link):
        found = derive(scopes, came, base=tmp_path, home=None)
        assert found == Derived("narrow", str(link))


def test_a_folder_that_is_gone_still_has_its_name(tmp_path: Path) -> None:
    """A loop of links is no obstacle either."""
    gone = tmp_path / "gone" / "x"
    assert matches(str(tmp_path / "gone"), gone, base=tmp_path, home=None)
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    assert matches(str(loop), loop / "x", base=tmp_path, home=None)
    assert not matches(str(loop), gone, base=tmp_path, home=None)


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [
        ("/a/b", "/a"),
        ("/a/b/c/*", "/a/b"),
        ("/a/b", "/a/*"),
        ("/a/b", "/a/b/**"),
        ("/a/b/*", "/a/b/**"),
        ("/a/b/*/d", "/a/b/*"),
        ("/a/b/c*", "/a/b/*"),
        ("/a/b/*", "/a/*/c"),
        ("/a/b/c*", "/a/b/c?*"),
        ("/", "/**"),
    ],
)
def test_the_narrower_of_two_patterns_wins(narrow: str, wide: str) -> None:
    """Most names before a wildcard, then fewest wildcards, then most other characters."""
    folder = Path("/a/b/cc/d") if "?" in wide else Path("/a/b/c/d")
    for scopes in ({"n": (narrow,), "w": (wide,)}, {"w": (wide,), "n": (narrow,)}):
        assert derive(scopes, folder, base=BASE, home=HOME) == Derived("n", narrow)


def test_the_scopes_of_the_manual() -> None:
    """With the patterns as people write them."""
    scopes = {
        "kleidia": ("~/git/kleidia", "~/git/kleidia-docs"),
        "plg": ("~/piletilevi/**",),
    }

    def at(folder: str) -> Derived:
        return derive(scopes, HOME / folder, base=HOME, home=HOME)

    assert at("git/kleidia/service/api") == Derived("kleidia", "~/git/kleidia")
    assert at("git/kleidia-docs") == Derived("kleidia", "~/git/kleidia-docs")
    assert at("piletilevi") == Derived("plg", "~/piletilevi/**")
    assert at("git/kleidia-other") == Derived()
    assert derive({}, HOME, base=HOME, home=HOME) == Derived()


def test_equally_narrow_scopes_are_told_and_none_is_chosen() -> None:
    """A guess would put a record where nobody looks for it."""
    scopes = {"a": ("/srv/app", "/srv/app/"), "b": ("/srv/app",), "c": ("/srv",), "d": ("/x",)}
    found = derive(scopes, Path("/srv/app/x"), base=BASE, home=HOME)
    assert found == Derived(name=None, pattern=None, tied=("a", "b"))
    narrower = {**scopes, "e": ("/srv/app/x",)}
    assert derive(narrower, Path("/srv/app/x"), base=BASE, home=HOME) == Derived("e", "/srv/app/x")


def test_a_scope_may_say_a_folder_twice() -> None:
    """That is no tie, and the first pattern counts."""
    found = derive({"a": ("/srv/app", "/srv/app/.")}, Path("/srv/app"), base=BASE, home=HOME)
    assert found == Derived("a", "/srv/app")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("klidia", "kleidia"),
        ("kleida", "kleidia"),
        ("KLEIDIA", "kleidia"),
        ("plgg", "PLG"),
        ("kleidia", None),
        ("harbour", None),
        ("", None),
    ],
)
def test_a_name_that_nearly_fits(name: str, meant: str | None) -> None:
    """Told as it is written; none for a name that is known or like no other."""
    assert near(name, ["kleidia", "PLG", "billing"]) == meant
    assert near(name, []) is None


def test_what_a_store_covers() -> None:
    """The narrowest of its patterns is told."""
    claims = ("~/work/platform/**", "~/git/my-project", "~/work")
    for folder, pattern in (
        ("work/platform/a", "~/work/platform/**"),
        ("work/x", "~/work"),
        ("git/my-project", "~/git/my-project"),
        ("git", None),
    ):
        assert covered_by(claims, HOME / folder, base=BASE, home=HOME) == pattern
    assert covered_by((), HOME, base=BASE, home=HOME) is None


def test_the_store_that_covers_a_folder() -> None:
    """The narrowest wins, each store's patterns start at its own folder, and ties are told."""
    stores = [
        ("team", ("~/work/**", "services"), Path("/srv/team")),
        ("mine", ("~/work/mine", "services"), Path("/srv/mine")),
        ("other", ("~/work/**",), Path("/srv/team")),
        ("none", (), Path("/")),
    ]

    def at(folder: Path) -> Covering | None:
        return covering(folder, stores, home=HOME)

    assert at(HOME / "work" / "mine" / "x") == Covering("mine", "~/work/mine")
    assert at(HOME / "work" / "x") == Covering(tied=("team", "other"))
    assert at(Path("/srv/team/services")) == Covering("team", "services")
    assert at(Path("/srv/mine/services")) == Covering("mine", "services")
    assert at(HOME) is None
    assert covering(HOME, stores[3:], home=HOME) is None


def test_a_folder_without_an_identity_goes_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some file systems number nothing; two folders without a number are not one folder."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    numbered = os.stat

    def unnumbered(path: str) -> os.stat_result:
        about = numbered(path)
        return os.stat_result((about.st_mode, 0, *about[2:]))

    monkeypatch.setattr("memspec_py.store.scopes.os.stat", unnumbered)
    monkeypatch.setattr("memspec_py.store.scopes.os.lstat", unnumbered)
    assert not matches(str(tmp_path / "a"), tmp_path / "b", base=tmp_path, home=None)
    assert matches(str(tmp_path / "a"), tmp_path / "a" / "x", base=tmp_path, home=None)
