from __future__ import annotations

import pytest

from memspec_py.anchors import symbols_treesitter
from memspec_py.anchors.symbols import Symbols, Unreadable, symbols_of

# Every grammar of the extra is asked for; without it these tests have nothing to say.
for _grammar in ("tree_sitter", *(f"tree_sitter_{one}" for one in ("go", "java", "rust"))):
    pytest.importorskip(_grammar)
for _grammar in ("tree_sitter_javascript", "tree_sitter_typescript"):
    pytest.importorskip(_grammar)

TYPESCRIPT = """\
// a file
@Dec({ a: 1 }) export class A<T> extends B {
  static x = 1;
  #p = 2;
  private q?: string;
  /** doc */
  m(a: number): void;
  m(a: any) { return `one  ${a +
    1}`; }
  get v() { return 1; }
  set v(x) {}
  constructor() { super(); }
}
export interface I { a: string; f(): void }
export type U = A<any> | "b  c";
export const enum E { X, Y = 2 }
namespace N { export function f() {} }
export const a = 1, { b, c: [d] } = x;
const api = { get: () => 1, post() {}, nested: { deep: 1 } } as const;
export default function main() { const local = 1; }
declare module "x" { function q(): void }
function g(a: string): void;
function g(a: any) {}
if (x) { var inside = 1; }
"""
TYPESCRIPT_NAMES = (
    "A A.x A.#p A.q A.m A.v A.constructor I I.a I.f U E E.X E.Y N N.f a b d api api.get api.post"
    " api.nested api.nested.deep default main x x.q g inside"
)
JAVASCRIPT = """\
export class A { static x = 1; m() { return /a  b/.test(y) } }
function* gen() { yield 1 }
exports.one = function () {};
module.exports = { two: 2 };
A.prototype.three = () => 3;
let four = <a b="c  d">text  here</a>;
export default { name: "x" };
"""
JAVASCRIPT_NAMES = (
    "A A.x A.m gen exports.one module.exports A.prototype.three four default default.name"
)
GO = """\
package a

const (
	A = iota // first
	B
)

var x, y = 1, "two  words"

// T is.
type T struct {
	F, G int `json:"a  b"`
	Other
}
type I interface { M(a int) error }
type Al = T

func (t *T) M(a int) error { return nil }
func (g Gen[K, V]) N() {}
func F[P any](p P) { x := 1; _ = x }
"""
GO_NAMES = "A B x y T T.F T.G I I.M Al T.M Gen.N F"
RUST = """\
//! about
/// doc
#[derive(Debug)]
pub struct S<T> { pub a: T, b: u8 }
enum E { A, B(u8), C { x: u8 } }
impl<T> S<T> { pub const K: u8 = 1; fn new() -> Self { loop {} } }
impl<T> Display for m::S<T> { fn fmt(&self) { write!(f, "a  b {}", 1 /* c */) } type X = u8; }
trait Tr { fn a(&self); fn b() {} type Y; }
mod inner { pub fn f() {} }
macro_rules! mm { () => {} }
static X: u8 = 1; const Y: char = ' '; type Z = u8;
"""
RUST_NAMES = "S S.a S.b E E.A E.B E.C S.K S.new S.fmt S.X Tr Tr.a Tr.b Tr.Y inner inner.f mm X Y Z"
JAVA = """\
package p;
/** doc */
@Ann("a  b") public class A<T> {
  private static final int X = 1, Y = 2;
  @Override public void m(int a) { }
  void m() { }
  A() { }
  class In { int q; }
  enum E { P, Q(1) { }; int z; }
  record R(int a) { R { } }
  @interface An { int v() default 1; }
}
interface I { int K = 1; void f(); }
"""
JAVA_NAMES = "A A.X A.Y A.m A.A A.In A.In.q A.E A.E.P A.E.Q A.E.z A.R A.R.R A.An A.An.v I I.K I.f"

FILES = {
    "a.ts": (TYPESCRIPT, TYPESCRIPT_NAMES),
    "a.jsx": (JAVASCRIPT, JAVASCRIPT_NAMES),
    "a.go": (GO, GO_NAMES),
    "a.rs": (RUST, RUST_NAMES),
    "a.java": (JAVA, JAVA_NAMES),
}


def symbols(file: str, text: str) -> Symbols:
    """The symbols of a text that can be read."""
    found = symbols_of(file, text.encode())
    assert isinstance(found, Symbols), found.reason
    return found


def changed(file: str, old: str, new: str) -> set[str]:
    """The symbols whose id one edit of the file changes."""
    text = FILES[file][0]
    assert old in text
    before, after = symbols(file, text), symbols(file, text.replace(old, new, 1))
    return {name for name in before.names if before.id_of(name) != after.id_of(name)}


@pytest.mark.parametrize("file", FILES)
def test_every_kind_of_declaration_has_a_name(file: str) -> None:
    """Members too; what is local to a function has none."""
    text, names = FILES[file]
    found = symbols(file, text)
    assert found.names == names.split()
    assert not found.is_damaged


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("a.ts", "// a file", "// another\n/* and */"),
        ("a.ts", "/** doc */", ""),
        ("a.ts", "static x = 1;", "static   x=1 /* c */;"),
        ("a.ts", "{ return 1; }", "{\n    return 1; // c\n  }"),
        ("a.ts", "export const a", "const a"),
        ("a.ts", "${a +\n    1}", "${ a + 1 }"),
        ("a.jsx", "m() { return", "m()\n{\n  return"),
        ("a.go", "// first", ""),
        ("a.go", "// T is.", "// T was."),
        ("a.go", "{ return nil }", "{\n\treturn nil\n}"),
        ("a.rs", "/// doc", "/// other\n/// words"),
        ("a.rs", "/* c */", ""),
        ("a.rs", "pub a: T, b", "pub a: T,\n    b"),
        ("a.java", "/** doc */", "// c"),
        ("a.java", "public void m(int a) { }", "public void m( int a ) {\n}"),
    ],
)
def test_white_space_and_comments_are_folded(file: str, old: str, new: str) -> None:
    """In every language."""
    assert changed(file, old, new) == set()


@pytest.mark.parametrize(
    ("file", "old", "new", "names"),
    [
        ("a.ts", "a: 1 })", "a: 2 })", "A"),
        ("a.ts", "m(a: number)", "m(a: string)", "A A.m"),
        ("a.ts", "`one  ${", "`one ${", "A A.m"),
        ("a.ts", "1}`", "1} `", "A A.m"),
        ("a.ts", "1}`", "2}`", "A A.m"),
        ("a.ts", '"b  c"', '"b c"', "U"),
        ("a.ts", "const a = 1", "const a = 2", "a"),
        ("a.ts", "const a", "let a", "a b d"),
        ("a.ts", "deep: 1", "deep: 2", "api api.nested api.nested.deep"),
        ("a.ts", "Y = 2", "Y = 3", "E E.Y"),
        ("a.ts", "function g(a: string)", "function g(b: string)", "g"),
        ("a.ts", "const local = 1", "const local = 2", "default main"),
        ("a.ts", "set v(x) {}", "set v(y) {}", "A A.v"),
        ("a.jsx", "/a  b/", "/a b/", "A A.m"),
        ("a.jsx", "c  d", "c d", "four"),
        ("a.jsx", "=> 3", "=> 4", "A.prototype.three"),
        ("a.jsx", "two: 2", "two: 3", "module.exports"),
        ("a.go", "A = iota", "A = iota + 1", "A"),
        ("a.go", '"two  words"', '"two words"', "x y"),
        ("a.go", "a  b", "a b", "T T.F T.G"),
        ("a.go", "return nil", "return err", "T.M"),
        ("a.rs", "derive(Debug)", "derive(Clone)", "S"),
        ("a.rs", "a  b {}", "a b {}", "S.fmt"),
        ("a.rs", "' '", "'  '", "Y"),
        ("a.rs", "loop {}", "loop { }  x", "S.new"),
        ("a.java", "a  b", "a b", "A"),
        ("a.java", "X = 1", "X = 2", "A A.X A.Y"),
        ("a.java", "void m() { }", "void m() { x(); }", "A A.m"),
        ("a.java", "default 1", "default 2", "A A.An A.An.v"),
    ],
)
def test_a_change_changes_what_it_is_in(file: str, old: str, new: str, names: str) -> None:
    """And all overloads of one name together."""
    assert changed(file, old, new) == set(names.split())


def test_words_are_not_run_together() -> None:
    """Where white space matters it is kept as one blank."""
    texts = ["x = a + +b", "x = a ++b", "return x", "returnx"]
    ids = [symbols("a.js", f"function f() {{ {text} }}").id_of("f") for text in texts]
    assert len(set(ids[1:])) == 3
    assert ids[0] != symbols("a.js", "function f() { x = a + b }").id_of("f")


def test_rust_may_be_typed_as_rust() -> None:
    """``Type::f`` is ``Type.f``."""
    assert symbols("a.rs", RUST).find("S::new") == "S.new"
    assert symbols("a.rs", RUST).find("S::old") is None


def test_ids_stay_what_they_are() -> None:
    """They are in people's records: a change of the rule needs a new name for it."""
    ids = {
        file: symbols(file, text).id_of(names.split()[0]) for file, (text, names) in FILES.items()
    }
    assert ids == {
        "a.go": "ts1:c4ead6802f06d69075852e47a2dbb29dd7ef3c4e",
        "a.java": "ts1:81523e6866b5fcf930adf54a011900357fa0d89c",
        "a.jsx": "ts1:330d51cb61363ee8961b6060bf100faed5066021",
        "a.rs": "ts1:284f36c63f29c9edf32a36253c426cbd9b4a5048",
        "a.ts": "ts1:1c1d6de5ea998976ef2e0e78f1db5540c343fae6",
    }


def test_damage_is_told() -> None:
    """What is missing from a damaged file may be in its damaged part."""
    assert symbols("a.ts", TYPESCRIPT + "class {{{ (").is_damaged


def test_without_the_grammar_the_file_has_no_symbols(monkeypatch: pytest.MonkeyPatch) -> None:
    """And the reason names what to install."""

    def refuse(name: str) -> object:
        raise ImportError(name)

    symbols_treesitter.parser.cache_clear()
    monkeypatch.setattr(symbols_treesitter, "import_module", refuse)
    found = symbols_of("a.ts", b"x")
    assert isinstance(found, Unreadable)
    assert "symbols" in found.reason
