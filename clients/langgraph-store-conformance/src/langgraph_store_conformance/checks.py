"""The checks: each says in one sentence what a store has to do, and fails with an `AssertionError` that names what it did."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import Any, NamedTuple

from langgraph.store.base import (
    GetOp, InvalidNamespaceError, Item, ListNamespacesOp, MatchCondition, PutOp, SearchItem, SearchOp,
)

from .faces import Face, Factory, check_face

MANY = 10_000


class Check(NamedTuple):
    """One check, by its name. Its sentence is the docstring of `run`."""

    name: str
    run: Callable[[Face], Awaitable[None]]

    def __call__(self, factory: Factory, face: str = "sync") -> None:
        """Does the check with a new store. Fails with what the store does wrong."""
        check_face(self.run, factory, face)


CHECKS: dict[str, Check] = {}

VALUES: dict[str, Any] = {
    "empty": {},
    "constants": {"none": None, "true": True, "false": False},
    "integers": {"zero": 0, "one": 1, "negative": -7, "beyond floats": 2**53 + 1, "largest": 2**63 - 1, "smallest": -(2**63)},
    "floats": {"one": 1.0, "tenth": 0.1, "small": 5e-324, "large": 1.7976931348623157e308, "negative": -2.5},
    "empty inside": {"object": {}, "list": [], "text": ""},
    "nested": {"list": [1, [2, [3, {"deep": [None, {"deeper": True}]}]]], "object": {"a": {"b": {"c": {}}}}},
    "blanks": {"text": "  two lines\n\tand a tab \r\n "},
    "quotes": {"text": "it's \"so\" \\ and \\n, `so` and $so, {so} and %s"},
    "control characters": {"text": "bell \u0007, escape \u001b, delete \u007f, next line \u0085"},
    "letters": {"text": "Größe, 日本語, עברית, e\u0301 and é, \u200b\u2028\ufeff, \ufe0f, 😀 and 👩\u200d🚀"},
    "names": {"": 1, "a.b": 2, "$eq": 3, "with blank": 4, "it's": 5, "Größe": 6, "UPPER": 7, "upper": 8, "0": 9},
    "order": {"b": 1, "a": 2, "c": {"z": 1, "y": 2}},
    "looks like something else": {"text": "null", "number": "1", "object": "{}", "time": "2026-11-30T00:00:00Z"},
    "long": {"text": "kettle " * 3000},
}
LABELS = [
    "a", "A", "ab", "a b", " a", "a ", "a/b", "a%", "a_b", "a-b", "a*b", "*", "?", "[a]", "%2F", "a\\b", "it's", '"a"', "a:b", "a|b",
    "a,b", "(a)", "{a}", "é", "e\u0301", "日本", "😀", "~", "#a", "null", "0", "user@example",
]
KEYS = [*LABELS, "", ".", "..", "a.b", ".a", "/", "//", "a/../b", "line\nbreak", "x" * 150]
REFUSED: list[Any] = [("",), ("a", ""), ("a.b",), ("a", "b.c"), (".",), (1,), ("a", None), ("nul\x00",)]


def check(run: Callable[[Face], Awaitable[None]]) -> Callable[[Face], Awaitable[None]]:
    """Adds a check."""
    CHECKS[run.__name__] = Check(run.__name__, run)
    return run


def same(got: Any, wanted: Any, what: object = "") -> None:
    """Fails unless two things are equal, as JSON where JSON tells `1`, `1.0` and `true` apart."""
    if got != wanted or exact(got) != exact(wanted):
        raise AssertionError(f"{what}{': ' if what else ''}expected {wanted!r}, got {got!r}")


def exact(value: Any) -> str:
    """A value as JSON, whatever the order of its names."""
    return json.dumps(value, sort_keys=True, default=repr)


def true(fact: object, what: str) -> None:
    """Fails unless something is so."""
    if not fact:
        raise AssertionError(what)


@contextlib.contextmanager
def refused(kind: type[Exception], what: object) -> Iterator[None]:
    """Fails unless the block fails in this way."""
    try:
        yield
    except kind:
        return
    raise AssertionError(f"{what!r} is accepted; expected {kind.__name__}")


def names(items: Iterable[Item]) -> list[str]:
    """Which items these are, in an order of their own."""
    return sorted("/".join([*item.namespace, item.key]) for item in items)


async def put_all(store: Face, namespace: tuple[str, ...], values: dict[str, Any]) -> None:
    """Puts an item for each key, in one batch."""
    await store.batch([PutOp(namespace, key, value) for key, value in values.items()])


async def fill(store: Face, *places: str) -> None:
    """Puts an item at each place, `a/b/key`, whose value names it."""
    parts = [place.split("/") for place in places]
    await store.batch([PutOp(tuple(part[:-1]), part[-1], {"place": place}) for place, part in zip(places, parts)])


# Get, put and delete


@check
async def put_and_get(store: Face) -> None:
    """An item comes back with its namespace, key and value, and with times that have a zone."""
    same(await store.put(("notes", "u1"), "tea", {"degrees": 80}), None, "the answer to a put")
    item = await store.get(("notes", "u1"), "tea")
    true(isinstance(item, Item), f"expected an Item, got {item!r}")
    same((item.namespace, item.key, item.value), (("notes", "u1"), "tea", {"degrees": 80}))
    true(item.created_at.tzinfo and item.updated_at.tzinfo, f"the times have no zone: {item.created_at}, {item.updated_at}")
    true(item.created_at <= item.updated_at, f"created at {item.created_at}, after its last change at {item.updated_at}")


@check
async def get_what_is_missing(store: Face) -> None:
    """What is not there is None, whether its namespace has others or not."""
    await fill(store, "notes/tea")
    for namespace, key in [(("notes",), "coffee"), (("none",), "tea"), (("notes", "tea"), "tea"), ((), "tea")]:
        same(await store.get(namespace, key), None, (namespace, key))


@check
async def put_replaces(store: Face) -> None:
    """A second put replaces the value as a whole, and is the last change."""
    await store.put(("notes",), "tea", {"degrees": 80, "kind": "green"})
    before = await store.get(("notes",), "tea")
    updated_at = before.updated_at
    await store.put(("notes",), "tea", {"degrees": 96})
    after = await store.get(("notes",), "tea")
    same(after.value, {"degrees": 96})
    true(updated_at <= after.updated_at, f"last changed at {after.updated_at}, before {updated_at}")
    same(names(await store.search(("notes",))), ["notes/tea"])


@check
async def put_keeps_its_value(store: Face) -> None:
    """What the caller does with a value after the put changes no item."""
    value = {"degrees": 80}
    await store.put(("notes",), "tea", value)
    value["degrees"] = 96
    same((await store.get(("notes",), "tea")).value, {"degrees": 80})


@check
async def delete_one(store: Face) -> None:
    """A deletion removes one item, and one that is not there is no error."""
    await fill(store, "notes/tea", "notes/coffee", "other/tea", "notes/tea/tea")
    same(await store.delete(("notes",), "tea"), None, "the answer to a deletion")
    await store.delete(("notes",), "tea")
    await store.delete(("none",), "tea")
    same(await store.get(("notes",), "tea"), None)
    same(names(await store.search(())), ["notes/coffee", "notes/tea/tea", "other/tea"])


@check
async def put_after_delete(store: Face) -> None:
    """A deleted item can be put again, and has nothing of the old one."""
    await store.put(("notes",), "tea", {"degrees": 80})
    await store.delete(("notes",), "tea")
    await store.put(("notes",), "tea", {"kind": "green"})
    same((await store.get(("notes",), "tea")).value, {"kind": "green"})


@check
async def namespaces_are_apart(store: Face) -> None:
    """One key in two namespaces is two items, however alike the namespaces look when they are joined."""
    places: list[tuple[tuple[str, ...], str]] = [
        (("a",), "k"), (("a", "b"), "k"), (("a", "b", "c"), "k"), (("ab",), "k"), (("a/b",), "k"), (("a",), "b/k"), (("a:b",), "k"),
        (("a,b",), "k"), (("a", "b"), "c/k"), (("a|b",), "k"), (("b", "a"), "k"),
    ]
    await store.batch([PutOp(namespace, key, {"number": number}) for number, (namespace, key) in enumerate(places)])
    for number, (namespace, key) in enumerate(places):
        same((await store.get(namespace, key)).value, {"number": number}, (namespace, key))


@check
async def any_key(store: Face) -> None:
    """A key may have any letters."""
    await put_all(store, ("keys",), {key: {"number": number} for number, key in enumerate(KEYS)})
    for number, key in enumerate(KEYS):
        item = await store.get(("keys",), key)
        same(item and (item.key, item.value), (key, {"number": number}), repr(key))
    same(sorted(item.key for item in await store.search(("keys",), limit=MANY)), sorted(KEYS))


@check
async def any_label(store: Face) -> None:
    """A label may have any letters but a period and NUL."""
    await store.batch([PutOp(("labels", label, "end"), "key", {"number": number}) for number, label in enumerate(LABELS)])
    for number, label in enumerate(LABELS):
        item = await store.get(("labels", label, "end"), "key")
        same(item and (item.namespace, item.value), (("labels", label, "end"), {"number": number}), repr(label))
        same([item.value["number"] for item in await store.search(("labels", label))], [number], f"below {label!r}")
    listed = await store.list_namespaces(prefix=("labels",), limit=MANY)
    same(sorted(listed), sorted(("labels", label, "end") for label in LABELS))


@check
async def any_value(store: Face) -> None:
    """A value of JSON comes back as it was, from a get and from a search."""
    await put_all(store, ("values",), VALUES)
    for name, value in VALUES.items():
        same((await store.get(("values",), name)).value, value, name)
    found = {item.key: item.value for item in await store.search(("values",), limit=MANY)}
    for name, value in VALUES.items():
        same(found.get(name), value, name)


@check
async def large_integers(store: Face) -> None:
    """An integer of JSON has any size."""
    for value in ({"number": 2**64}, {"number": -(10**40)}):
        await store.put(("values",), "large", value)
        same((await store.get(("values",), "large")).value, value)


# Search


@check
async def search_below_a_prefix(store: Face) -> None:
    """A search finds what is in a namespace and below it, label by label, and with `()` everything."""
    await fill(store, "a/1", "a/b/2", "a/b/c/3", "ab/4", "b/a/5", "A/6")
    for prefix, wanted in {
        (): ["A/6", "a/1", "a/b/2", "a/b/c/3", "ab/4", "b/a/5"], ("a",): ["a/1", "a/b/2", "a/b/c/3"], ("a", "b"): ["a/b/2", "a/b/c/3"],
        ("ab",): ["ab/4"], ("A",): ["A/6"], ("b",): ["b/a/5"], ("c",): [], ("a", "b", "c", "3"): [],
    }.items():
        same(names(await store.search(prefix)), wanted, prefix)


@check
async def search_takes_labels_literally(store: Face) -> None:
    """Nothing in a prefix is a pattern."""
    await fill(store, "axb/1", "axb/c/2", "a_b/3", "a%b/4", "a*b/5", "[a]/6", "*/7")
    for prefix, wanted in {
        ("a_b",): ["a_b/3"], ("a%b",): ["a%b/4"], ("a*b",): ["a*b/5"], ("[a]",): ["[a]/6"], ("*",): ["*/7"], ("a?b",): [], ("%",): [],
        ("axb", "*"): [], ("a",): [], ("ax",): [],
    }.items():
        same(names(await store.search(prefix)), wanted, prefix)


@check
async def search_returns_search_items(store: Face) -> None:
    """A search returns items that have a score, None where nothing ranks them."""
    await fill(store, "a/1")
    [item] = await store.search(("a",))
    true(isinstance(item, SearchItem), f"expected a SearchItem, got {item!r}")
    same((item.namespace, item.key, item.value), (("a",), "1", {"place": "a/1"}))
    true(item.score is None or isinstance(item.score, float), f"the score is {item.score!r}")
    true(item.created_at.tzinfo and item.updated_at.tzinfo, "the times have no zone")


@check
async def search_in_pages(store: Face) -> None:
    """`limit`, by default 10, and `offset` cut pages that neither repeat nor skip an item."""
    await fill(store, *(f"a/{number:02}" for number in range(25)), "b/1")
    same(len(await store.search(("a",))), 10, "the default limit")
    pages = [await store.search(("a",), limit=10, offset=offset) for offset in (0, 10, 20, 30)]
    same([len(page) for page in pages], [10, 10, 5, 0], "the lengths of pages")
    same(names(item for page in pages for item in page), [f"a/{number:02}" for number in range(25)])
    same(len(await store.search(("a",), limit=0)), 0, "a limit of 0")
    same(len(await store.search(("a",), limit=MANY, offset=24)), 1, "the last one")


async def _filtered(store: Face, values: dict[str, Any], filters: list[tuple[dict[str, Any], list[str]]]) -> None:
    await put_all(store, ("a",), values)
    for wanted, keys in filters:
        same(sorted(item.key for item in await store.search(("a",), filter=wanted)), keys, wanted)


@check
async def filter_by_equality(store: Face) -> None:
    """A filter chooses the items whose fields are equal, all of them."""
    await _filtered(store, {
        "1": {"kind": "tea", "hot": True, "degrees": 80}, "2": {"kind": "tea", "hot": False, "degrees": 8}, "3": {"kind": "Tea"},
        "4": {"kind": "80", "degrees": 80.5}, "5": {"degrees": 80},
    }, [
        ({"kind": "tea"}, ["1", "2"]), ({"kind": "tea", "hot": True}, ["1"]), ({"hot": False}, ["2"]), ({"degrees": 80}, ["1", "5"]),
        ({"degrees": 80.5}, ["4"]), ({"kind": "coffee"}, []), ({"none": "tea"}, []), ({}, ["1", "2", "3", "4", "5"]), ({"kind": "80"}, ["4"]),
    ])


@check
async def filter_by_objects_and_lists(store: Face) -> None:
    """A list in a filter is equal to an equal list, and an object to one that has its fields."""
    await _filtered(store, {
        "1": {"place": {"city": "Linz", "zip": 4020}}, "2": {"place": {"city": "Graz"}}, "3": {"place": ["Linz"]}, "4": {"place": ["Linz", "Graz"]},
        "5": {"place": "Linz"},
    }, [
        ({"place": {"city": "Linz"}}, ["1"]), ({"place": {"city": "Linz", "zip": 4020}}, ["1"]), ({"place": {"city": "Wien"}}, []),
        ({"place": ["Linz"]}, ["3"]), ({"place": ["Linz", "Graz"]}, ["4"]), ({"place": ["Graz", "Linz"]}, []), ({"place": "Linz"}, ["5"]),
    ])


@check
async def filter_by_operators(store: Face) -> None:
    """`$eq`, `$ne`, `$gt`, `$gte`, `$lt` and `$lte` compare numbers as numbers; several hold together."""
    await _filtered(store, {key: {"n": number} for key, number in {"1": 9, "2": 10, "3": 100, "4": -1, "5": 9.5}.items()}, [
        ({"n": {"$eq": 9}}, ["1"]), ({"n": {"$ne": 9}}, ["2", "3", "4", "5"]), ({"n": {"$gt": 9}}, ["2", "3", "5"]),
        ({"n": {"$gte": 9.5}}, ["2", "3", "5"]), ({"n": {"$lt": 10}}, ["1", "4", "5"]), ({"n": {"$lte": 10}}, ["1", "2", "4", "5"]),
        ({"n": {"$gt": 9, "$lt": 100}}, ["2", "5"]), ({"n": {"$gte": -1, "$ne": 10, "$lte": 9}}, ["1", "4"]), ({"n": {"$gt": 1000}}, []),
    ])


@check
async def filter_by_operators_on_other_values(store: Face) -> None:
    """`$eq` and `$ne` compare any values."""
    await _filtered(store, {"1": {"v": "tea"}, "2": {"v": True}, "3": {"v": None}, "4": {"v": "Tea"}}, [
        ({"v": {"$eq": "tea"}}, ["1"]), ({"v": {"$ne": "tea"}}, ["2", "3", "4"]), ({"v": {"$eq": True}}, ["2"]), ({"v": {"$ne": True}}, ["1", "3", "4"]),
    ])


@check
async def filter_by_any_name(store: Face) -> None:
    """Field and text of a filter may have any letters, and are code for nobody."""
    fields = ["with blank", "it's", 'a"b', "a.b", "Größe", "a-b", "x' OR '1'='1", "0", "a[0]", "日本"]
    await put_all(store, ("a",), {str(number): {name: f"it's {name}; --"} for number, name in enumerate(fields)})
    for number, name in enumerate(fields):
        found = await store.search(("a",), filter={name: f"it's {name}; --"})
        same([item.key for item in found], [str(number)], name)
        same(len(await store.search(("a",), filter={name: "' OR 1=1 --"})), 0, name)


@check
async def filter_an_unknown_operator(store: Face) -> None:
    """An operator that does not exist is an error."""
    await store.put(("a",), "1", {"n": 1})
    with refused(ValueError, "$near"):
        await store.search(("a",), filter={"n": {"$near": 1}})


@check
async def filter_before_the_page(store: Face) -> None:
    """`limit` and `offset` count what the filter has chosen."""
    await put_all(store, ("a",), {str(number): {"even": number % 2 == 0} for number in range(30)})
    pages = [await store.search(("a",), filter={"even": True}, limit=10, offset=offset) for offset in (0, 10)]
    same([len(page) for page in pages], [10, 5], "the lengths of pages")
    same(sorted(int(item.key) for page in pages for item in page), [*range(0, 30, 2)])


@check
async def query_finds(store: Face) -> None:
    """A search with the words of an item finds it, within its prefix and filter."""
    await store.put(("a",), "kettle", {"text": "The kettle whistles at 96 degrees.", "sure": True})
    await store.put(("a", "b"), "lid", {"text": "The lid of the kettle is loose.", "sure": False})
    await store.put(("b",), "kettle", {"text": "The kettle whistles at 96 degrees.", "sure": True})
    found = await store.search(("a",), query="The kettle whistles at 96 degrees.")
    true("a/kettle" in names(found), f"the item with these words is not found: {names(found)}")
    true({item.namespace[0] for item in found} == {"a"}, f"found outside of the prefix: {names(found)}")
    found = await store.search(("a",), query="kettle whistles", filter={"sure": True})
    same(names(found), ["a/kettle"], "with a filter")
    same(len(await store.search(("a",), query="kettle", limit=1)), 1, "with a limit of 1")


@check
async def query_is_plain_words(store: Face) -> None:
    """Nothing in a query is an error, or leads out of the prefix."""
    await store.put(("a",), "1", {"text": "kettle"})
    await store.put(("b",), "2", {"text": "kettle"})
    for query in [
        '"', "'; DROP TABLE store; --", "kettle AND", "-kettle", "b:kettle", "kettle OR path:/*", "*", "(", "kettle~", "日本", "NEAR(", "%", "\\", " ", "?!",
        'namespace:"b" kettle', "owner:someone kettle", "kettle\nkettle", "{}", "kettle " * 50,
    ]:
        found = await store.search(("a",), query=query)
        true(set(names(found)) <= {"a/1"}, f"{query!r} finds {names(found)}")


# Namespaces


async def _listed(store: Face, wanted: list[str], **named: Any) -> None:
    found = await store.list_namespaces(**named)
    true(all(isinstance(namespace, tuple) for namespace in found), f"expected tuples, got {found!r}")
    same(sorted("/".join(namespace) for namespace in found), wanted, named)


@check
async def list_namespaces(store: Face) -> None:
    """Every namespace that has an item is listed once, and none besides."""
    await _listed(store, [])
    await fill(store, "a/1", "a/2", "a/b/3", "c/d/e/4")
    await _listed(store, ["a", "a/b", "c/d/e"])


@check
async def list_by_prefix_and_suffix(store: Face) -> None:
    """A prefix and a suffix compare whole labels, and hold together."""
    await fill(store, "a/b/c/1", "a/b/d/2", "a/c/3", "ab/c/4", "b/c/5", "c/6", "a/b/7", "A/c/8")
    for prefix, suffix, wanted in [
        (("a",), None, ["a/b", "a/b/c", "a/b/d", "a/c"]), (("a", "b"), None, ["a/b", "a/b/c", "a/b/d"]), (("ab",), None, ["ab/c"]),
        (None, ("c",), ["A/c", "a/b/c", "a/c", "ab/c", "b/c", "c"]), (None, ("b", "c"), ["a/b/c", "b/c"]), (("a",), ("c",), ["a/b/c", "a/c"]),
        (("a", "b", "c"), ("b", "c"), ["a/b/c"]), (("c",), ("c",), ["c"]), (("x",), None, []), (None, ("a", "b", "c", "d"), []),
        ((), (), ["A/c", "a/b", "a/b/c", "a/b/d", "a/c", "ab/c", "b/c", "c"]),
    ]:
        await _listed(store, wanted, prefix=prefix, suffix=suffix)


@check
async def list_by_wildcards(store: Face) -> None:
    """`*` in a prefix or suffix is any one label."""
    await fill(store, "a/x/v1/1", "a/y/v1/2", "a/x/v2/3", "b/x/v1/4", "a/x/5", "a/6", "v1/7", "a/x/z/v1/8")
    for prefix, suffix, wanted in [
        (("a", "*"), None, ["a/x", "a/x/v1", "a/x/v2", "a/x/z/v1", "a/y/v1"]), (("a", "*", "v1"), None, ["a/x/v1", "a/y/v1"]),
        (("*", "x"), None, ["a/x", "a/x/v1", "a/x/v2", "a/x/z/v1", "b/x/v1"]), (None, ("*", "v1"), ["a/x/v1", "a/x/z/v1", "a/y/v1", "b/x/v1"]),
        (None, ("x", "*"), ["a/x/v1", "a/x/v2", "b/x/v1"]), (("*",), None, ["a", "a/x", "a/x/v1", "a/x/v2", "a/x/z/v1", "a/y/v1", "b/x/v1", "v1"]),
        (("*", "*", "*", "*"), None, ["a/x/z/v1"]), (("a", "*"), ("*", "v2"), ["a/x/v2"]), (("*", "*", "*", "*", "*"), None, []),
    ]:
        await _listed(store, wanted, prefix=prefix, suffix=suffix)


@check
async def list_takes_labels_literally(store: Face) -> None:
    """Nothing in a condition but `*` is a pattern."""
    await fill(store, "axb/1", "a_b/2", "a%b/3", "a+b/4", "[a]/5", "(a)/6", "a$/7", "c/axb/8")
    for label in ["a_b", "a%b", "a+b", "[a]", "(a)", "a$"]:
        await _listed(store, [label], prefix=(label,))
        await _listed(store, [label], suffix=(label,))
    for label in ["a?b", "%", "a", "a*", "x", "b"]:
        await _listed(store, [], prefix=(label,))


@check
async def list_to_a_depth(store: Face) -> None:
    """`max_depth` cuts namespaces off, and names each of these once."""
    await fill(store, "a/b/c/1", "a/b/d/e/2", "a/b/d/i/3", "a/b/f/4", "a/c/f/5", "b/6")
    await _listed(store, ["a/b/c", "a/b/d", "a/b/f"], prefix=("a", "b"), max_depth=3)
    await _listed(store, ["a", "b"], max_depth=1)
    await _listed(store, ["a/b", "a/c", "b"], max_depth=2)
    await _listed(store, ["a/b", "a/c"], suffix=("f",), max_depth=2)
    await _listed(store, ["a/b/c", "a/b/d/e", "a/b/d/i", "a/b/f", "a/c/f", "b"], max_depth=9)


@check
async def list_in_pages(store: Face) -> None:
    """`limit`, by default 100, and `offset` cut pages of what the conditions choose, after it was cut to a depth."""
    await store.batch([PutOp(("a", f"{number:03}", f"{depth}"), "key", {}) for number in range(60) for depth in range(2)])
    await fill(store, "b/1")
    same(len(await store.list_namespaces()), 100, "the default limit")
    for depth, count in ((None, 120), (2, 60)):
        pages = [await store.list_namespaces(prefix=("a",), max_depth=depth, limit=50, offset=offset) for offset in (0, 50, 100, 150)]
        same([len(page) for page in pages], [max(0, min(50, count - offset)) for offset in (0, 50, 100, 150)], "the lengths of pages")
        same(len({namespace for page in pages for namespace in page}), count, "the namespaces of all pages")


# Batches


@check
async def batch_in_order(store: Face) -> None:
    """A batch has one result for each operation, in their order, None for a put, and takes any iterable."""
    await fill(store, "a/1", "b/2")
    ops = [
        GetOp(("b",), "2"), PutOp(("c",), "3", {"n": 3}), SearchOp(("a",)), GetOp(("a",), "none"),
        ListNamespacesOp(match_conditions=(MatchCondition("prefix", ("b",)),)), PutOp(("b",), "2", None), GetOp(("a",), "1"),
    ]
    results = await store.batch(iter(ops))
    same(len(results), len(ops), "the number of results")
    same([results[0].key, results[1], names(results[2]), results[3]], ["2", None, ["a/1"], None])
    same([results[4], results[5], results[6].key], [[("b",)], None, "1"])
    same(names(await store.search(())), ["a/1", "c/3"])
    same(await store.batch([]), [], "an empty batch")


@check
async def batch_reads_before_it_writes(store: Face) -> None:
    """Every read of a batch sees what was there before its puts."""
    await store.put(("a",), "1", {"n": 1})
    results = await store.batch([
        PutOp(("a",), "1", {"n": 2}), PutOp(("a",), "2", {}), GetOp(("a",), "1"), GetOp(("a",), "2"), SearchOp(("a",)), ListNamespacesOp(),
        PutOp(("b",), "1", {}),
    ])
    same(results[2].value, {"n": 1})
    same([results[3], names(results[4]), results[5]], [None, ["a/1"], [("a",)]])
    same((await store.get(("a",), "1")).value, {"n": 2})


@check
async def batch_last_put_counts(store: Face) -> None:
    """Of several puts and deletions of one key in a batch the last one counts."""
    await store.put(("a",), "there", {"n": 0})
    await store.batch([
        PutOp(("a",), "twice", {"n": 1}), PutOp(("a",), "gone", {"n": 1}), PutOp(("a",), "there", None), PutOp(("a",), "twice", {"n": 2}),
        PutOp(("a",), "gone", None), PutOp(("a",), "there", {"n": 3}), PutOp(("b",), "twice", {"n": 4}),
    ])
    found = {(*item.namespace, item.key): item.value["n"] for item in await store.search(())}
    same(sorted(found.items()), [(("a", "there"), 3), (("a", "twice"), 2), (("b", "twice"), 4)])


@check
async def batch_of_many(store: Face) -> None:
    """A batch may have more than a hundred operations."""
    await store.batch([PutOp(("a", str(number % 7)), str(number), {"n": number}) for number in range(150)])
    results = await store.batch([GetOp(("a", str(number % 7)), str(number)) for number in range(150)])
    same([item and item.value["n"] for item in results], [*range(150)])
    await store.batch([PutOp(("a", str(number % 7)), str(number), None) for number in range(150)])
    same(await store.search(("a",)), [])


# What is refused, and what is not supported


@check
async def labels_that_are_refused(store: Face) -> None:
    """A label that is empty, no text, or has a period or NUL is refused by every method, and so is a put into `()` or `langgraph`."""
    for namespace in REFUSED:
        with refused(InvalidNamespaceError, namespace):
            await store.put(namespace, "key", {})
        with refused(InvalidNamespaceError, namespace):
            await store.get(namespace, "key")
        with refused(InvalidNamespaceError, namespace):
            await store.delete(namespace, "key")
        with refused(InvalidNamespaceError, namespace):
            await store.search(namespace)
        with refused(InvalidNamespaceError, namespace):
            await store.list_namespaces(prefix=namespace)
        with refused(InvalidNamespaceError, namespace):
            await store.list_namespaces(suffix=namespace)
    for namespace in ((), ("langgraph",), ("langgraph", "a")):
        with refused(InvalidNamespaceError, namespace):
            await store.put(namespace, "key", {})
    same(await store.search(()), [], "what a refused put leaves")


@check
async def batch_confuses_no_labels(store: Face) -> None:
    """An operation of a batch with a period in a label never means two labels."""
    await fill(store, "foo/bar/key")
    for op in (ListNamespacesOp((MatchCondition("prefix", ("foo.bar",)),)), SearchOp(("foo.bar",)), GetOp(("foo.bar",), "key")):
        with contextlib.suppress(InvalidNamespaceError):
            same((await store.batch([op]))[0] or None, None, op)
    with contextlib.suppress(InvalidNamespaceError):
        await store.batch([PutOp(("foo.bar",), "key", None)])
    same(names(await store.search(("foo",))), ["foo/bar/key"])


@check
async def ttl(store: Face) -> None:
    """A store that has no ttl says so and refuses one; one that has it keeps the item until then."""
    if store.store.supports_ttl:
        await store.put(("a",), "1", {"n": 1}, ttl=10)
        same((await store.get(("a",), "1", refresh_ttl=True)).value, {"n": 1})
    else:
        with refused(NotImplementedError, "ttl=10"):
            await store.put(("a",), "1", {"n": 1}, ttl=10)
        same(await store.get(("a",), "1"), None, "what a refused put leaves")
    await store.put(("a",), "2", {"n": 2}, ttl=None)
    same((await store.get(("a",), "2", refresh_ttl=False)).value, {"n": 2})
    same(len(await store.search(("a",), filter={"n": 2}, refresh_ttl=False)), 1)


@check
async def index(store: Face) -> None:
    """What is put with `index=False` is there for a get and a search; a list of fields is taken, or refused as not implemented."""
    await store.put(("a",), "1", {"text": "kettle"}, index=False)
    same((await store.get(("a",), "1")).value, {"text": "kettle"})
    same(names(await store.search(("a",), filter={"text": "kettle"})), ["a/1"])
    with contextlib.suppress(NotImplementedError):
        await store.put(("a",), "2", {"text": "kettle", "more": ["lid"]}, index=["text", "more[*]"])
        same((await store.get(("a",), "2")).value, {"text": "kettle", "more": ["lid"]})


# Several at once


@check
async def puts_at_once(store: Face) -> None:
    """Of puts at once, in threads or tasks, none is lost."""

    def work(number: int) -> Callable[[], Any]:
        async def put() -> None:
            await store.put(("a", str(number % 5)), str(number), {"n": number})
            same((await store.get(("a", str(number % 5)), str(number))).value, {"n": number})

        return put

    await store.together([work(number) for number in range(100)])
    same(sorted(item.value["n"] for item in await store.search(("a",), limit=MANY)), [*range(100)])


@check
async def batches_at_once(store: Face) -> None:
    """Batches at once, of puts, deletions and reads, each do all of theirs."""

    def work(number: int) -> Callable[[], Any]:
        async def batch() -> None:
            await store.batch([PutOp(("a", str(number)), str(key), {"n": number}) for key in range(5)])
            results = await store.batch([PutOp(("a", str(number)), "0", None), GetOp(("a", str(number)), "1"), SearchOp(("a", str(number)))])
            same([results[1].value, len(results[2])], [{"n": number}, 5])

        return batch

    await store.together([work(number) for number in range(30)])
    same(len(await store.search(("a",), limit=MANY)), 120)


@check
async def one_key_at_once(store: Face) -> None:
    """Of puts of one key at once one counts as a whole, and none fails."""

    def work(number: int) -> Callable[[], Any]:
        async def put() -> None:
            await store.put(("a",), "key", {"first": number, "text": "kettle " * 100, "last": number})

        return put

    await store.together([work(number) for number in range(20)])
    value = (await store.get(("a",), "key")).value
    true(value["first"] == value["last"] and value["first"] in range(20), f"got {value['first']} and {value['last']}")
    same(len(await store.search(("a",))), 1)
