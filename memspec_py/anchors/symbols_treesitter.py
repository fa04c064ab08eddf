"""Symbols of TypeScript, JavaScript, Go, Rust and Java, by tree-sitter and its grammars.

They are the extra ``symbols``; nothing of it is imported before a file of these languages is.

What an id is made of, the same for all of them: the text of the symbol's own declaration, with the
decorators, attributes or annotations before it, comments left out. White space between two words
counts as one blank and between other marks as none; strings and the like stay as they are, except
for the code in a template. No word of it depends on how a grammar names or cuts its nodes, so a
newer grammar gives the same ids.

``export`` is no part of a declaration. Of ``const a = 1, b = 2`` each name has its own part and the
keyword. Methods of Go and of Rust's ``impl`` blocks belong to their type; Rust's ``Type::f`` may be
typed for ``Type.f``. What is declared inside of a function has no name of its own.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from memspec_py.anchors.symbols import Symbols, Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

RULE = "ts1"

_Node: TypeAlias = "Any"  # tree_sitter.Node; the extra may be missing where types are checked


class _Grammar(NamedTuple):
    package: str
    function: str = "language"


class _Shape(NamedTuple):
    """What the declarations of a language are called in its grammar.

    ``named`` have their name in the field ``name``; ``open`` are those whose own members are
    symbols too; ``through`` are looked into for further declarations.
    """

    named: frozenset[str]
    open: frozenset[str]
    through: frozenset[str]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SCRIPT = _Shape(
    named=_words(
        "function_declaration generator_function_declaration function_signature class_declaration"
        " abstract_class_declaration interface_declaration type_alias_declaration enum_declaration"
        " internal_module module method_definition method_signature abstract_method_signature"
        " public_field_definition field_definition property_signature variable_declarator"
        " enum_assignment pair"
    ),
    open=_words(
        "class_declaration abstract_class_declaration interface_declaration enum_declaration"
        " internal_module module variable_declarator pair"
    ),
    through=_words(
        "program export_statement lexical_declaration variable_declaration class_body"
        " interface_body object_type enum_body expression_statement ambient_declaration object"
        " as_expression satisfies_expression if_statement else_clause try_statement catch_clause"
        " statement_block class"
    ),
)
_GO = _Shape(
    named=_words(
        "function_declaration method_declaration type_spec type_alias const_spec var_spec"
        " field_declaration method_elem method_spec"
    ),
    open=_words("type_spec"),
    through=_words(
        "source_file const_declaration var_declaration var_spec_list type_declaration struct_type"
        " field_declaration_list interface_type"
    ),
)
_RUST = _Shape(
    named=_words(
        "function_item function_signature_item struct_item enum_item union_item trait_item"
        " const_item static_item type_item associated_type mod_item macro_definition enum_variant"
        " field_declaration"
    ),
    open=_words("struct_item enum_item union_item trait_item mod_item"),
    through=_words(
        "source_file declaration_list field_declaration_list enum_variant_list foreign_mod_item"
    ),
)
_JAVA = _Shape(
    named=_words(
        "class_declaration interface_declaration enum_declaration record_declaration"
        " annotation_type_declaration method_declaration constructor_declaration"
        " compact_constructor_declaration enum_constant annotation_type_element_declaration"
        " field_declaration constant_declaration"
    ),
    open=_words(
        "class_declaration interface_declaration enum_declaration record_declaration"
        " annotation_type_declaration"
    ),
    through=_words(
        "program class_body interface_body enum_body enum_body_declarations annotation_type_body"
    ),
)

_TYPESCRIPT = _Grammar("tree_sitter_typescript", "language_typescript")
_LANGUAGES: dict[str, tuple[_Grammar, _Shape]] = {
    **dict.fromkeys((".js", ".jsx", ".mjs", ".cjs"), (_Grammar("tree_sitter_javascript"), _SCRIPT)),
    **dict.fromkeys((".ts", ".mts", ".cts"), (_TYPESCRIPT, _SCRIPT)),
    ".tsx": (_Grammar("tree_sitter_typescript", "language_tsx"), _SCRIPT),
    ".go": (_Grammar("tree_sitter_go"), _GO),
    ".rs": (_Grammar("tree_sitter_rust"), _RUST),
    ".java": (_Grammar("tree_sitter_java"), _JAVA),
}
_BEFORE = {"decorator", "attribute_item"}
_COMMENTS = {"comment", "line_comment", "block_comment", "html_comment", "hash_bang_line"}
_MIXED = "template_string"
_VERBATIM = ("string", "template", "char", "regex", "rune")


class _Declared(Symbols):
    def find(self, asked: str) -> str | None:
        """A symbol by its name, with dots or as Rust joins names."""
        plain = asked.replace("::", ".")
        return plain if plain in self else None


def read(data: bytes, suffix: str) -> Symbols | Unreadable:
    """The symbols of a source file; the suffix says which language it is in."""
    if suffix not in _LANGUAGES:
        return Unreadable(f"is in no language whose symbols are known ({suffix or 'no ending'})")
    grammar, shape = _LANGUAGES[suffix]
    try:
        tree = parser(grammar).parse(data)
    except ImportError:
        return Unreadable(f"needs a grammar for {suffix} files: install the extra `symbols`")
    pieces: dict[str, list[tuple[_Node, ...]]] = {}
    try:
        for name, nodes in _declarations(tree.root_node, "", shape):
            pieces.setdefault(name, []).append(nodes)
    except RecursionError:
        return Unreadable("is nested too deep")
    return _Declared(
        RULE, pieces, lambda nodes: _folded(nodes, data), is_damaged=tree.root_node.has_error
    )


@cache
def parser(grammar: _Grammar) -> Any:  # noqa: ANN401  tree_sitter.Parser
    """What reads a language; made once."""
    binding = import_module("tree_sitter")
    language = getattr(import_module(grammar.package), grammar.function)()
    return binding.Parser(binding.Language(language))


def _declarations(
    scope: _Node, prefix: str, shape: _Shape
) -> Iterator[tuple[str, tuple[_Node, ...]]]:
    """Every symbol with the nodes of its code."""
    before: list[_Node] = []
    for node in scope.named_children:
        if node.type in _BEFORE:
            before.append(node)
            continue
        if node.type in _COMMENTS:
            continue
        yield from _declared(node, prefix, shape, before)
        before = []


def _declared(
    node: _Node, prefix: str, shape: _Shape, before: list[_Node]
) -> Iterator[tuple[str, tuple[_Node, ...]]]:
    code = (*before, *_keyword(node), node)
    names = list(_names(node)) if node.type in shape.named else []
    for name in names:
        yield f"{prefix}{name}", code
    if node.type == "impl_item":
        of_type = _base(node.child_by_field_name("type"))
        body = node.child_by_field_name("body")
        if body is not None and of_type:
            yield from _declarations(body, f"{prefix}{of_type}.", shape)
    elif node.type in shape.open and names:
        for inner in node.named_children:
            if inner.type in shape.through:
                yield from _members(inner, f"{prefix}{names[0]}.", shape)
    elif node.type in shape.through:
        yield from _unnamed(node, prefix, code)
        value = node.child_by_field_name("value")
        if value is not None and value.type == "object":  # export default { … }
            prefix = f"{prefix}default."
        for one, nodes in _declarations(node, prefix, shape):
            # A decorator may stand before `export`, which is no part of the class.
            yield one, (*before, *nodes) if node.type == "export_statement" else nodes


def _members(node: _Node, prefix: str, shape: _Shape) -> Iterator[tuple[str, tuple[_Node, ...]]]:
    if node.type == "enum_body":  # of TypeScript: members without a value have no node of their own
        for member in node.named_children:
            if member.type in {"property_identifier", "string"}:
                yield f"{prefix}{_text(member)}", (member,)
    yield from _declarations(node, prefix, shape)


def _unnamed(node: _Node, prefix: str, code: tuple[_Node, ...]) -> Iterator[tuple[str, Any]]:
    """What scripts export without declaring it: ``export default``, ``exports.name = …``."""
    if node.type == "export_statement" and any(one.type == "default" for one in node.children):
        yield f"{prefix}default", code
    if node.type == "expression_statement" and node.named_child_count:
        inner = node.named_children[0]
        left = inner.child_by_field_name("left")
        if inner.type == "assignment_expression" and left is not None:
            yield f"{prefix}{''.join(_text(left).split())}", code


def _keyword(node: _Node) -> tuple[_Node, ...]:
    """The ``const`` before one of several declarators."""
    if node.type == "variable_declarator" and node.parent is not None:
        return tuple(node.parent.children[:1])
    return ()


def _names(node: _Node) -> Iterator[str]:
    if node.type == "method_declaration" and node.child_by_field_name("receiver") is not None:
        receiver = node.child_by_field_name("receiver")
        types = [one.child_by_field_name("type") for one in receiver.named_children]
        of_type = _base(next((one for one in types if one is not None), None))
        yield f"{of_type}.{_text(node.child_by_field_name('name'))}"
        return
    for declarator in node.children_by_field_name("declarator"):
        yield _text(declarator.child_by_field_name("name"))
    for field in ("name", "property", "key"):
        for name in node.children_by_field_name(field):
            if name.is_named:
                yield from _plain_names(name)


def _plain_names(name: _Node) -> Iterator[str]:
    """The names in a pattern such as ``{ a, b: [c] }``, or the one name that stands there."""
    if name.type in {"object_pattern", "array_pattern", "rest_pattern"}:
        for inner in name.named_children:
            yield from _plain_names(inner)
    elif name.type in {"pair_pattern", "object_assignment_pattern", "assignment_pattern"}:
        inner = name.child_by_field_name("value") if name.type == "pair_pattern" else None
        yield from _plain_names(inner or name.named_children[0])
    else:
        text = _text(name)
        yield text[1:-1] if name.type == "string" else text


def _base(type_: _Node | None) -> str:
    """The name of a type without its pointer, its parameters and the module it is from."""
    while type_ is not None:
        inner = type_.child_by_field_name("type") or type_.child_by_field_name("name")
        if inner is None and type_.type in {"pointer_type", "parenthesized_type"}:
            inner = type_.named_children[0] if type_.named_children else None
        if inner is None:
            return _text(type_)
        type_ = inner
    return ""


def _text(node: _Node) -> str:
    return str(node.text.decode("utf-8", "replace"))


def _folded(nodes: Iterable[_Node], data: bytes) -> Iterator[str]:
    """The code of some nodes as one text in which only what matters is left."""
    kept: list[str] = []
    last = ""
    for node in nodes:
        for word in _leaves(node, data):
            if last and _would_join(last, word[0]):
                kept.append(" ")
            kept.append(word)
            last = word[-1]
    yield "".join(kept)


def _would_join(last: str, first: str) -> bool:
    """Whether two words would read as another one without a blank between them."""
    if last in "+-":
        return first == last
    return (last.isalnum() or last in "_$") and (first.isalnum() or first in "_$")


def _is_verbatim(kind: str) -> bool:
    if kind in {_MIXED, "template_substitution"}:
        return False
    return any(part in kind for part in _VERBATIM)


def _leaves(root: _Node, data: bytes) -> Iterator[str]:
    """The words of the code in order; also text that a grammar has no node for."""
    waiting: list[_Node | bytes] = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, bytes):
            if node:
                yield node.decode("utf-8", "surrogateescape")
        elif node.type in _COMMENTS:
            continue
        elif _is_verbatim(node.type):
            waiting.append(data[node.start_byte : node.end_byte])
        elif not node.child_count:
            waiting.append(data[node.start_byte : node.end_byte].strip())
        else:
            # White space between nodes is text only where text and code are mixed.
            between = bytes if node.type == _MIXED else bytes.strip
            parts: list[_Node | bytes] = []
            at = node.start_byte
            for child in node.children:
                parts += (between(data[at : child.start_byte]), child)
                at = child.end_byte
            parts.append(between(data[at : node.end_byte]))
            waiting += reversed(parts)
