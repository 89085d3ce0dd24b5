"""A generated sequence of operations, whose results are those of LangGraph's own `InMemoryStore`."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from typing import Any

from langgraph.store.base import GetOp, ListNamespacesOp, MatchCondition, Op, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

from .checks import MANY, exact
from .faces import Face

OPERATIONS, SEED = 1000, 2026
LABELS = ["a", "b", "ab", "a b", "é", "a_b", "a%", "v1"]
KEYS = ["1", "2", "tea", "tea/green", "a b", "日本", "a.b", "x:y"]
TEXTS = ["", "tea", "kettle", "Größe", "it's", "null", "two\nlines", "😀", "\\", '"']
BATCH_MAX = 8


class Operations:
    """Operations of a seed. Each value has a number `n`, so that a filter compares it."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def batch(self) -> list[Op]:
        """The operations of the next batch."""
        return [self._next() for _ in range(self._random.choice([1, 1, 1, 2, 3, BATCH_MAX]))]

    def _next(self) -> Op:
        match self._random.choice(["put"] * 8 + ["delete"] * 3 + ["get"] * 5 + ["search"] * 5 + ["list"] * 2):
            case "put":
                return PutOp(self._namespace(1), self._random.choice(KEYS), self._object(), self._random.choice([None, None, False]))
            case "delete":
                return PutOp(self._namespace(1), self._random.choice(KEYS), None)
            case "get":
                return GetOp(self._namespace(1), self._random.choice(KEYS))
            case "search":
                limit, offset = self._random.choice([1, 3, 10, 100]), self._random.choice([0, 0, 0, 1, 5, 20])
                return SearchOp(self._namespace(0), self._filter(), limit, offset)
            case _:
                conditions = tuple(MatchCondition(kind, self._pattern()) for kind in ("prefix", "suffix") if self._random.random() < 0.4)
                depth = self._random.choice([None, None, 1, 2, 3])
                return ListNamespacesOp(conditions, depth, self._random.choice([2, 10, 100]), self._random.choice([0, 0, 1, 5]))

    def _namespace(self, least: int) -> tuple[str, ...]:
        length = self._random.choice([least, 1, 1, 2, 2, 3])
        return tuple(self._random.choice(LABELS if length == 1 else LABELS[:4]) for _ in range(length))

    def _pattern(self) -> tuple[str, ...]:
        return tuple("*" if self._random.random() < 0.3 else label for label in self._namespace(1))

    def _object(self) -> dict[str, Any]:
        others = {self._random.choice(["s", "t", "Größe", "a.b", ""]): self._value(2) for _ in range(self._random.randint(0, 3))}
        return {"n": self._random.choice([*range(-3, 12), 0.5, 1e10, 2**53 + 1]), **others}

    def _value(self, depth: int) -> Any:
        simple = [None, True, False, 0, 1, 1.5, *TEXTS]
        if depth == 0 or self._random.random() < 0.7:
            return self._random.choice(simple)
        if self._random.random() < 0.5:
            return [self._value(depth - 1) for _ in range(self._random.randint(0, 3))]
        return {self._random.choice(TEXTS): self._value(depth - 1) for _ in range(self._random.randint(0, 3))}

    def _filter(self) -> dict[str, Any] | None:
        number = self._random.randint(-3, 11)
        operator = self._random.choice(["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"])
        return self._random.choice([
            None, None, {"n": number}, {"n": {operator: number}}, {"n": {"$gt": number - 4, "$lte": number}}, {"s": self._random.choice(TEXTS)},
            {"s": self._random.choice(TEXTS), "n": {operator: number}}, {"t": {"$ne": self._random.choice(TEXTS)}}, {"t": [True]},
        ])


def sequence(operations: int = OPERATIONS, seed: int = SEED) -> Callable[[Face], Awaitable[None]]:
    """The check that a store answers a sequence as `InMemoryStore` does.

    The order of a search or a list is the store's own: a page is a part of its whole answer, and that has what the reference has.
    A namespace whose items are all deleted may be listed or not."""

    async def check(store: Face) -> None:
        reference, generated, done = InMemoryStore(), Operations(seed), 0
        while done < operations:
            ops = generated.batch()
            wholes = [op._replace(limit=MANY, offset=0) for op in ops if isinstance(op, (SearchOp, ListNamespacesOp))]
            occupied = namespaces_of(reference)
            results, wanted = await store.batch([*ops, *wholes]), reference.batch([*ops, *wholes])
            parts = [(op, result) for op, result in zip(ops, results) if isinstance(op, (SearchOp, ListNamespacesOp))]
            for number, (op, got, expected) in enumerate(zip([*ops, *wholes], results, wanted)):
                at = f"seed {seed}, operation {done + number}, {op!r}"
                if isinstance(op, (GetOp, PutOp)):
                    compare(item_of(got), item_of(expected), at)
            for (op, part), whole, got, expected in zip(parts, wholes, results[len(ops):], wanted[len(ops):]):
                at = f"seed {seed}, operations {done} to {done + len(ops)}, {op!r}"
                if isinstance(whole, SearchOp):
                    compare(sorted(map(item_of, got)), sorted(map(item_of, expected)), at)
                    compare([item_of(item) for item in part], [item_of(item) for item in got[op.offset:op.offset + op.limit]], f"{at}, a page")
                else:
                    least = occupied.batch([whole])[0]
                    if not {*least} <= {*got} <= {*expected} or len({*got}) != len(got):
                        raise AssertionError(f"{at}: expected {least!r}, got {got!r}")
                    compare(part, got[op.offset:op.offset + op.limit], f"{at}, a page")
            done += len(ops)
        compare(sorted(map(item_of, await store.search((), limit=MANY))), sorted(map(item_of, reference.search((), limit=MANY))), "at the end")

    return check


def namespaces_of(reference: InMemoryStore) -> InMemoryStore:
    """A store that has one item in each namespace of another one that has any."""
    occupied = InMemoryStore()
    for item in reference.search((), limit=MANY):
        occupied.put(item.namespace, "key", {})
    return occupied


def item_of(item: Any) -> str:
    """What is compared of an item."""
    return exact(item and [item.namespace, item.key, item.value])


def compare(got: Any, expected: Any, at: str) -> None:
    """Fails unless two results are equal."""
    if got != expected:
        raise AssertionError(f"{at}: expected {expected}, got {got}")
