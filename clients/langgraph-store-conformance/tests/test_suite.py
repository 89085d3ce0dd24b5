"""The suite itself: the reference passes, and each fault of a store is found by the check that is named for it."""

import contextlib
import subprocess
import sys

import pytest
from langgraph.store.base import GetOp, Item, ListNamespacesOp, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

from langgraph_store_conformance import CHECKS, FACES, conforms, run


class Faulty(InMemoryStore):
    """A store that does one thing wrong, by each of its faces."""

    supports_ttl = False

    def batch(self, ops):
        return self.answer([*ops])

    async def abatch(self, ops):
        return self.answer([*ops])

    def answer(self, ops):
        return InMemoryStore.batch(self, [self.changed(op) for op in ops])

    def changed(self, op):
        return op


class Joined(Faulty):
    def changed(self, op):
        if isinstance(op, (GetOp, PutOp)):
            return op._replace(namespace=tuple("/".join(op.namespace).split("/")))
        return op


class Blind(Faulty):
    def answer(self, ops):
        return [None if isinstance(result, Item) else result for result in super().answer(ops)]


class Merging(Faulty):
    def changed(self, op):
        if isinstance(op, PutOp) and op.value is not None:
            before = InMemoryStore.batch(self, [GetOp(op.namespace, op.key)])[0]
            return op._replace(value={**(before.value if before else {}), **op.value})
        return op


class Undeletable(Faulty):
    def changed(self, op):
        return GetOp(op.namespace, op.key) if isinstance(op, PutOp) and op.value is None else op


class LowerCase(Faulty):
    def changed(self, op):
        return op._replace(key=op.key.lower()) if isinstance(op, (GetOp, PutOp)) else op


class Floating(Faulty):
    def changed(self, op):
        if isinstance(op, PutOp) and op.value is not None:
            numbers = {name: float(value) if type(value) is int else value for name, value in op.value.items()}
            return op._replace(value=numbers)
        return op


class ByLetters(Faulty):
    def answer(self, ops):
        results = super().answer(ops)
        for number, op in enumerate(ops):
            if isinstance(op, SearchOp) and op.namespace_prefix:
                items = super().answer([op._replace(namespace_prefix=(), limit=10**6, offset=0)])[0]
                prefix = "/".join(op.namespace_prefix)
                found = [item for item in items if "/".join(item.namespace).startswith(prefix)]
                results[number] = found[op.offset:op.offset + op.limit]
        return results


class Unfiltered(Faulty):
    def changed(self, op):
        return op._replace(filter=None) if isinstance(op, SearchOp) else op


class FilteredLate(Faulty):
    def answer(self, ops):
        results = super().answer([op._replace(filter=None) if isinstance(op, SearchOp) else op for op in ops])
        for number, op in enumerate(ops):
            if isinstance(op, SearchOp) and op.filter:
                keys = {(item.namespace, item.key) for item in super(FilteredLate, self).answer([op._replace(limit=10**6, offset=0)])[0]}
                results[number] = [item for item in results[number] if (item.namespace, item.key) in keys]
        return results


class Reversed(Faulty):
    """Takes what is less for greater."""

    def changed(self, op):
        if isinstance(op, SearchOp) and op.filter and "n" in op.filter and isinstance(op.filter["n"], dict):
            return op._replace(filter={"n": {name.replace("$gt", "$lt"): value for name, value in op.filter["n"].items()}})
        return op


class Unpaged(Faulty):
    def changed(self, op):
        return op._replace(offset=0) if isinstance(op, (SearchOp, ListNamespacesOp)) else op


class Depthless(Faulty):
    def changed(self, op):
        return op._replace(max_depth=None) if isinstance(op, ListNamespacesOp) else op


class PrefixOnly(Faulty):
    def changed(self, op):
        if isinstance(op, ListNamespacesOp) and op.match_conditions:
            return op._replace(match_conditions=tuple(condition for condition in op.match_conditions if condition.match_type == "prefix"))
        return op


class Literal(Faulty):
    """Takes `*` for a label."""

    def answer(self, ops):
        results = super().answer(ops)
        for number, op in enumerate(ops):
            if isinstance(op, ListNamespacesOp) and any("*" in condition.path for condition in op.match_conditions or ()):
                results[number] = []
        return results


class InOrder(Faulty):
    """Does one operation after the other."""

    def answer(self, ops):
        return [InMemoryStore.batch(self, [op])[0] for op in ops]


class FirstPut(Faulty):
    def answer(self, ops):
        return super().answer([op for number, op in enumerate(ops) if not isinstance(op, PutOp) or all(
            not isinstance(other, PutOp) or (other.namespace, other.key) != (op.namespace, op.key) for other in ops[:number]
        )] if all(isinstance(op, PutOp) for op in ops) else ops)


class Short(Faulty):
    """Has no results for puts."""

    def answer(self, ops):
        results = super().answer(ops)
        return [result for op, result in zip(ops, results) if not isinstance(op, PutOp)] or [None] * (len(ops) == 1)


class Dotted(Faulty):
    """Joins labels by a period."""

    def changed(self, op):
        if isinstance(op, (GetOp, PutOp)):
            return op._replace(namespace=tuple(".".join(op.namespace).split(".")))
        return op


class Refusing(Faulty):
    """Takes labels that the base class refuses."""

    def get(self, namespace, key, *, refresh_ttl=None):
        return self.batch([GetOp(namespace, key)])[0]

    async def aget(self, namespace, key, *, refresh_ttl=None):
        return self.batch([GetOp(namespace, key)])[0]


class Lasting(Faulty):
    """Takes a ttl that it does not have."""

    def put(self, namespace, key, value, index=None, *, ttl=None):
        super().put(namespace, key, value, index)

    async def aput(self, namespace, key, value, index=None, *, ttl=None):
        await super().aput(namespace, key, value, index)


class Hidden(Faulty):
    """Loses what has no index."""

    def changed(self, op):
        return op._replace(value=None) if isinstance(op, PutOp) and op.index is False else op


class Losing(Faulty):
    """Loses one of many puts."""

    def answer(self, ops):
        return super().answer([op for op in ops if not (isinstance(op, PutOp) and op.value == {"n": 17} and op.key == "17")] or [GetOp(("x",), "x")])


class Failing(Faulty):
    """Fails as a store does that others overtake."""

    def answer(self, ops):
        if any(isinstance(op, PutOp) and op.value and op.value.get("first") == 15 for op in ops):
            raise RuntimeError("the key has changed meanwhile")
        return super().answer(ops)


FAULTS = {
    Joined: "namespaces_are_apart", Blind: "put_and_get", Merging: "put_replaces", Undeletable: "delete_one", LowerCase: "any_key",
    Floating: "any_value", ByLetters: "search_below_a_prefix", Unfiltered: "filter_by_equality", FilteredLate: "filter_before_the_page",
    Reversed: "filter_by_operators", Unpaged: "search_in_pages", Depthless: "list_to_a_depth", PrefixOnly: "list_by_prefix_and_suffix",
    Literal: "list_by_wildcards", InOrder: "batch_reads_before_it_writes", FirstPut: "batch_last_put_counts", Short: "batch_in_order",
    Dotted: "batch_confuses_no_labels", Refusing: "labels_that_are_refused", Lasting: "ttl", Hidden: "index", Losing: "puts_at_once",
    Failing: "one_key_at_once",
}


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("check", CHECKS)
def test_the_store_in_memory_conforms(check, face):
    CHECKS[check](InMemoryStore, face)


def test_the_reference_answers_as_itself():
    assert [result.failure for result in run(InMemoryStore, only=["sequence"], operations=2000)] == [None, None]


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("store", FAULTS)
def test_a_fault_is_found(store, face):
    [result] = run(store, faces=[face], only=[FAULTS[store]])
    assert result.failure, f"{FAULTS[store]} finds nothing wrong with {store.__name__}"


@pytest.mark.parametrize("store", [Merging, Undeletable, Floating, ByLetters, Unfiltered, Depthless, InOrder, Hidden, Unpaged, PrefixOnly])
def test_the_sequence_finds_a_fault(store):
    [result] = run(store, faces=["sync"], only=["sequence"])
    assert "seed 2026" in result.failure


def test_a_factory_may_be_a_context_manager():
    opened, closed = [], []

    @contextlib.contextmanager
    def blocking():
        opened.append(InMemoryStore())
        yield opened[-1]
        closed.append(opened[-1])

    @contextlib.asynccontextmanager
    async def awaiting():
        with blocking() as store:
            yield store

    async def made():
        return InMemoryStore()

    for factory, faces in ((blocking, FACES), (awaiting, ["async"]), (made, ["async"])):
        assert not any(result.failure for result in run(factory, faces=faces, only=["put_and_get", "delete_one"]))
    assert len(opened) == 6 and closed == opened
    with pytest.raises(ValueError, match="no check has the name sing: the names are put_and_get,"):
        run(InMemoryStore, only=["sing"])


def test_the_table(capsys):
    results = []
    assert not any(result.failure for result in run(InMemoryStore, only=["ttl"], report=results.append)) and len(results) == 2
    assert not conforms(Undeletable, operations=50)
    printed = capsys.readouterr().out
    assert "\ndelete_one                           FAILED  FAILED\n" in printed and "\nput_and_get                          ok      ok\n" in printed
    assert "\ndelete_one, sync: AssertionError: expected None, got Item(" in printed


def test_the_program(tmp_path):
    (tmp_path / "stores.py").write_text("from langgraph.store.memory import InMemoryStore as Good\n\ndef bad():\n    return 1 / 0\n")

    def program(*arguments):
        command = [sys.executable, "-B", "-m", "langgraph_store_conformance", *arguments]
        ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        return ran.returncode, ran.stdout + ran.stderr

    status, printed = program("stores:Good", "--only", "ttl", "sequence", "--operations", "20")
    assert status == 0 and printed == "check     sync    async\nttl       ok      ok\nsequence  ok      ok\n\n4 of 4 passed\n"
    status, printed = program("stores:bad", "--only", "ttl", "--face", "async")
    assert status == 1 and "ttl  FAILED\n\nttl, async: ZeroDivisionError: division by zero\n\n0 of 1 passed" in printed
    assert program("stores")[0] == 2
