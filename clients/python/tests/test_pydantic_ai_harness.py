"""The memory store of Pydantic AI's harness: equal to its own for SQLite, and one for several processes."""

import asyncio
import dataclasses
import os
import random
import subprocess
import sys
import threading
from collections import Counter

import pytest

pytest.importorskip("pydantic_ai_harness", reason="pydantic-ai-harness is installed by .ci/python")

from pydantic_ai import Agent, ModelRetry  # noqa: E402
from pydantic_ai.messages import (  # noqa: E402
    ModelResponse, RetryPromptPart, TextPart, ToolCallPart, ToolReturnPart, UserPromptPart,
)
from pydantic_ai.models.function import FunctionModel  # noqa: E402
from pydantic_ai_harness.memory import (  # noqa: E402
    Memory, MemoryConflictError, MemoryMutation, MemoryOperation, MemoryOperationConflictError, MemoryStore, MetadataMemoryStore,
    SearchableMemoryStore, SqliteMemoryStore,
)

from commonbook import Invalid, Unavailable  # noqa: E402
from commonbook.pydantic_ai_harness import CommonbookMemoryStore  # noqa: E402

KETTLE = "The kettle of the tea shop whistles at 96 degrees.\n"
SECRET = "sk-ant-api03-" + "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOP"
TEXTS = [
    KETTLE, "", " ", "\n\n", "\u200b", "a", "a\r\nb\t\n", "  a  \n", "Größe 日本 😀", "e\u0301", "\ufeffa\u00a0b\u2028c\u202e",
    "(blank)", "x" * 5000, "[redacted:x]",
]
PATHS = [
    "main/MEMORY.md", "main/a.md", "main/a-b.md", "main/a_b.md", "main/aXb.md", "main/deep/a.md", "main", "main-2/a.md",
    "Main/a.md", "a", "-", "_/_", "...", "a.", "a/../b", "./a", "a//b", "/a", "a/", "", "a b", "ä", "a%2Fb", "x" * 200, "x" * 201,
    "a/.", "a\n",
]
METADATA = [None, None, {}, {"updated_by": "agent"}, {"": "", "who made it": "Größe 日本 😀"}, {"version": "1", "deleted": "true"}]
READ = {"max_chars": 100_000}


class Calls:
    """Calls of a seed for two stores, which know each version by its number."""

    def __init__(self, seed):
        self._random = random.Random(seed)
        self._operations = [MemoryOperation(f"op {seed}", "first")]
        # What each of the stores calls a version, and the paths that have had one.
        self.versions = [(None, None), ("1:1", "nonsense")]
        self.current = {}

    def call(self):
        """The name of a method, its arguments, and the number of the version that it expects."""
        path = self._random.choice(PATHS[:10] if self._random.random() < 0.9 else PATHS)
        match self._random.choices(["write", "delete", "read", "operation", "list"], [10, 5, 5, 2, 3])[0]:
            case "write":
                more = {"operation": self._operation(), "content": self._random.choice(TEXTS)}
                if self._random.random() < 0.6:
                    more["metadata"] = self._random.choice(METADATA)
                return "write_with_metadata" if "metadata" in more else "write", {"path": path, **more}, self._version(path)
            case "delete":
                return "delete", {"path": path, "operation": self._operation()}, self._version(path)
            case "read":
                return "read", {"path": path, "max_chars": self._random.choice([100_000, 100_000, 1, 3, 0, -1])}, None
            case "operation":
                return "get_operation", {"operation": self._random.choice(self._operations)}, None
        cut = path[:self._random.randint(0, len(path))]
        return "list_paths", {"prefix": cut, "limit": self._random.choice([1, 2, 5, 100, 1000, 0])}, None

    def _operation(self):
        chance = self._random.random()
        if chance < 0.3:
            return None
        if chance < 0.55:
            return self._random.choice(self._operations)
        if chance < 0.65:
            return dataclasses.replace(self._random.choice(self._operations), fingerprint="another")
        self._operations.append(MemoryOperation(f"{self._operations[0].id} {len(self._operations)}", "first"))
        return self._operations[-1]

    def _version(self, path):
        if self._random.random() < 0.75:
            return self.current.get(path, 0)
        return self._random.randrange(len(self.versions))


@pytest.fixture
def make_store(commonbook_server, workspace):
    """Makes a store as another process has it: over a client of its own."""
    books = []

    def make_store(name="ann", user=None, **options):
        books.append(commonbook_server.book(name, workspace=workspace, user=user))
        return CommonbookMemoryStore(books[-1], **options)

    yield make_store
    for book in books:
        book.close()


@pytest.fixture
def rook(commonbook_server, workspace):
    """The client of another agent."""
    with commonbook_server.book("rook", workspace=workspace) as book:
        yield book


def run(method, *arguments, **named):
    """What a method of a store returns, in an event loop of its own."""
    return asyncio.run(method(*arguments, **named))


def outcome(store, name, arguments):
    """What a call returned, or the class of its error."""
    try:
        return run(getattr(store, name), **arguments)
    except (MemoryConflictError, MemoryOperationConflictError, ValueError) as error:
        return type(error)


def version(store, path):
    """The version of a file; None if there is none."""
    file = run(store.read, path, **READ)
    return file and file.version


def at_once(*calls):
    """Runs calls in threads that begin together; what they return."""
    results, errors, barrier = [None] * len(calls), [], threading.Barrier(len(calls))

    def act(number, call):
        try:
            barrier.wait()
            results[number] = call()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=act, args=pair) for pair in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    return results


def operation(id, fingerprint="write"):
    return MemoryOperation(id, fingerprint)


@pytest.mark.parametrize("seed", range(4))
def test_a_store_equals_that_of_sqlite(make_store, tmp_path, seed):
    calls, reference = Calls(seed), SqliteMemoryStore(database=tmp_path / "memory.db")
    stores = [make_store(), make_store()]
    kinds = Counter()
    for number in range(150):
        name, arguments, expected = calls.call()
        answers = []
        for side, store in enumerate([reference, stores[number % 2]]):
            given = dict(arguments)
            if name in ("write", "write_with_metadata", "delete"):
                given["expected_version"] = calls.versions[expected][side]
            answers.append(outcome(store, name, given))
        wanted, answer = answers
        if dataclasses.is_dataclass(wanted) and not isinstance(wanted, type):
            pair = (wanted.version, answer.version)
            if isinstance(wanted, MemoryMutation) and not wanted.replayed:
                if wanted.version is not None:
                    assert all(theirs != pair[0] and ours != pair[1] for theirs, ours in calls.versions)
                    calls.versions.append(pair)
                calls.current[arguments["path"]] = calls.versions.index(pair)
            assert pair in calls.versions, (seed, number, name, arguments)
            wanted, answer = (dataclasses.replace(found, version=None) for found in answers)
            # It is no part of what makes two files equal.
            assert getattr(wanted, "metadata", None) == getattr(answer, "metadata", None), (seed, number, name, arguments)
        assert answer == wanted, (seed, number, name, arguments)
        kinds[name, str(getattr(wanted, "replayed", wanted and type(wanted)))] += 1
    everything = run(reference.list_paths, limit=1000)
    assert run(stores[0].list_paths, limit=1000) == everything
    for path in everything:
        wanted = run(reference.read, path, **READ)
        assert dataclasses.replace(run(stores[1].read, path, **READ), version=wanted.version) == wanted


def test_it_is_each_of_the_protocols(make_store):
    store = make_store()
    assert all(isinstance(store, protocol) for protocol in (MemoryStore, MetadataMemoryStore, SearchableMemoryStore))
    with pytest.raises(TypeError):
        run(store.write_with_metadata, "main/a.md", "a", expected_version=None, metadata={"a": 1})
    with pytest.raises(UnicodeEncodeError):
        run(store.write, "main/a.md", "\ud800", expected_version=None)
    assert run(store.list_paths, limit=1) == []


def test_another_agent_finds_a_file_with_its_author(make_store, rook):
    run(make_store("pydantic-ai", agent="tea").write, "main/MEMORY.md", KETTLE, expected_version=None, operation=operation("1"))
    hits = rook.search("When does the kettle whistle?")["hits"]
    found = [(hit["memory"]["owner"], hit["memory"]["path"], hit["memory"]["text"]) for hit in hits]
    assert found == [("pydantic-ai/tea", "/pydantic-ai/memory/main/MEMORY.md", KETTLE)]
    assert [memory["path"] for memory in rook.list_all(path="/pydantic-ai/")] == ["/pydantic-ai/memory/main/MEMORY.md"]
    assert run(make_store("pydantic-ai").list_paths, limit=9) == run(make_store("rook").list_paths, limit=9) == []
    assert version(make_store("rook"), "main/MEMORY.md") is None and search(make_store("rook"), "kettle").matches == []


def test_an_owner_lets_another_agent_read_and_not_change(make_store):
    ann, reader = make_store(), make_store("rook", owner="ann")
    kept = run(ann.write, "main/MEMORY.md", KETTLE, expected_version=None).version
    run(make_store(sharing="private").write, "main/own.md", KETTLE, expected_version=None)
    assert run(ann.list_paths, limit=9) == ["main/MEMORY.md", "main/own.md"]
    assert run(reader.list_paths, limit=9) == ["main/MEMORY.md"]
    assert run(reader.read, "main/MEMORY.md", max_chars=10).content == KETTLE[:10]
    assert [match.path for match in search(reader, "kettle").matches] == ["main/MEMORY.md"]
    for change in (
        lambda: run(reader.write, "main/MEMORY.md", "mine", expected_version=kept, operation=operation("1")),
        lambda: run(reader.delete, "main/MEMORY.md", expected_version=kept),
    ):
        with pytest.raises(ModelRetry, match="belong to ann"):
            change()
    assert version(ann, "main/MEMORY.md") == kept and run(reader.get_operation, operation("1")) is None


def test_files_are_those_of_an_agent_whatever_its_user(make_store):
    kept = run(make_store(user="alex").write, "main/a.md", "I prefer my tea at 80 degrees.", expected_version=None)
    assert version(make_store(), "main/a.md") == version(make_store(user="bert"), "main/a.md") == kept.version
    assert run(make_store(user="bert").delete, "main/a.md", expected_version=kept.version, operation=operation("1")).existed
    assert run(make_store(user="alex").get_operation, operation("1")).replayed


def test_writers_at_once_lose_nothing(make_store):
    stores = [make_store() for _ in range(4)]

    def append(writer):
        for number in range(6):
            while True:
                file = run(stores[writer].read, "main/a.md", **READ)
                text = f"{file.content if file else ''}{writer} {number}\n"
                try:
                    run(
                        stores[writer].write, "main/a.md", text, expected_version=file and file.version,
                        operation=operation(f"{writer} {number}"),
                    )
                    break
                except MemoryConflictError:
                    continue

    at_once(*(lambda writer=writer: append(writer) for writer in range(4)))
    lines = run(stores[0].read, "main/a.md", **READ).content.splitlines()
    assert Counter(lines) == Counter(f"{writer} {number}" for writer in range(4) for number in range(6))


def test_one_operation_of_several_processes_happens_once(make_store):
    stores = [make_store() for _ in range(4)]
    for number in range(5):
        path, named = f"main/{number}.md", {"expected_version": None, "operation": operation(f"write {number}")}
        written = at_once(*(lambda store=store: run(store.write, path, KETTLE, **named) for store in stores))
        assert sorted(mutation.replayed for mutation in written) == [False, True, True, True]
        assert {mutation.version for mutation in written} == {version(stores[0], path)}
        named = {"expected_version": written[0].version, "operation": operation(f"delete {number}", "delete")}
        deleted = at_once(*(lambda store=store: run(store.delete, path, **named) for store in stores))
        assert sorted(mutation.replayed for mutation in deleted) == [False, True, True, True]
        assert all(mutation.existed for mutation in deleted) and version(stores[0], path) is None


def test_one_of_several_changes_of_a_version_happens(make_store):
    stores = [make_store() for _ in range(4)]
    for number in range(5):
        path = f"main/{number}.md"
        known = run(stores[0].write, path, KETTLE, expected_version=None).version

        def change(writer, path=path, known=known):
            change = stores[writer].delete if writer % 2 else stores[writer].write
            content = () if writer % 2 else (KETTLE,)
            try:
                return run(change, path, *content, expected_version=known, operation=operation(f"{path} {writer}"))
            except MemoryConflictError:
                return run(stores[writer].get_operation, operation(f"{path} {writer}"))

        changed = at_once(*(lambda writer=writer: change(writer) for writer in range(4)))
        # What failed has left no receipt.
        happened = [mutation for mutation in changed if mutation is not None]
        assert len(happened) == 1 and version(stores[0], path) == happened[0].version


def between(store, monkeypatch, method, act):
    """Acts once before a store sends what it has decided."""
    send, acts = getattr(store._acting, method), [act]

    def act_and_send(*arguments, **named):
        if acts:
            acts.pop()()
        return send(*arguments, **named)

    monkeypatch.setattr(store._acting, method, act_and_send)


@pytest.mark.parametrize("method", ["write", "delete"])
def test_a_file_that_was_made_anew_meanwhile_is_another_one(make_store, monkeypatch, method):
    store, other = make_store(), make_store()
    known = run(store.write, "main/a.md", KETTLE, expected_version=None).version

    def make_anew():
        run(other.delete, "main/a.md", expected_version=known)
        # It has the same path and revision.
        run(other.write, "main/a.md", "Another kettle.", expected_version=None)

    between(store, monkeypatch, "save_all", make_anew)
    content = () if method == "delete" else ("Mine.",)
    with pytest.raises(MemoryConflictError):
        run(getattr(store, method), "main/a.md", *content, expected_version=known, operation=operation("1"))
    assert run(store.read, "main/a.md", **READ).content == "Another kettle."
    assert run(store.get_operation, operation("1")) is None


@pytest.mark.parametrize("named", [{}, {"operation": operation("1")}])
def test_a_file_that_was_deleted_meanwhile_is_not_deleted_twice(make_store, monkeypatch, named):
    store, other = make_store(), make_store()
    known = run(store.write, "main/a.md", KETTLE, expected_version=None).version
    send = "save_all" if named else "delete"
    between(store, monkeypatch, send, lambda: run(other.delete, "main/a.md", expected_version=known))
    with pytest.raises(MemoryConflictError):
        run(store.delete, "main/a.md", expected_version=known, **named)


def test_a_deletion_that_is_cut_has_deleted(make_store, rook, monkeypatch):
    store, other = make_store(), make_store()
    known = run(store.write, "main/a.md", KETTLE, expected_version=None).version
    named = {"expected_version": known, "operation": operation("1")}

    def fail(*_, **named):
        raise Unavailable("the server has gone")

    monkeypatch.setattr(store._acting, "delete", fail)
    assert run(store.delete, "main/a.md", **named) == MemoryMutation(version=None, replayed=False, existed=True)
    # Its document is still there, and nobody has it.
    assert len(list(other.book.list_all(path="/pydantic-ai/memory/"))) == 1
    assert run(other.list_paths, limit=9) == [] and search(other, "kettle").matches == []
    assert rook.search("kettle")["hits"] == [] and list(rook.list_all(path="/pydantic-ai/")) == []
    assert run(other.delete, "main/a.md", **named) == MemoryMutation(version=None, replayed=True, existed=True)
    assert list(other.book.list_all(path="/pydantic-ai/memory/")) == [] and run(other.read, "main/a.md", **READ) is None


def test_a_file_follows_one_whose_deletion_was_cut(make_store, monkeypatch):
    store, other = make_store(), make_store()
    known = run(store.write, "main/a.md", KETTLE, expected_version=None).version
    monkeypatch.setattr(store._acting, "delete", lambda *_, **named: (_ for _ in ()).throw(Unavailable("gone")))
    run(store.delete, "main/a.md", expected_version=known, operation=operation("1"))
    with pytest.raises(MemoryConflictError):
        run(other.write, "main/a.md", "new", expected_version=known)
    assert not run(other.write, "main/a.md", "new", expected_version=None).existed
    assert run(store.read, "main/a.md", **READ).content == "new"


@pytest.mark.parametrize("text", [KETTLE, "\n"])
def test_a_deleted_file_can_be_restored(make_store, text):
    store = make_store()
    known = run(store.write_with_metadata, "main/a.md", text, expected_version=None, metadata={"by": "tea"}).version
    id = store.book.get("/pydantic-ai/memory/main/a.md")["id"]
    run(store.delete, "main/a.md", expected_version=known, operation=operation("1"))
    assert store.book.list(path="/pydantic-ai/memory/")["items"] == []
    store.book.restore(id)
    file = run(store.read, "main/a.md", **READ)
    assert file.content == text and file.metadata is file.operation_id is None and file.version != known


def test_a_change_by_another_door_is_another_version_without_metadata(make_store):
    store, path = make_store(), "/pydantic-ai/memory/main/a.md"
    named = {"metadata": {"by": "tea"}, "operation": operation("1")}
    known = run(store.write_with_metadata, "main/a.md", KETTLE, expected_version=None, **named).version
    store.book.update(path, text="Changed.")
    file = run(store.read, "main/a.md", **READ)
    assert (file.content, file.metadata, file.operation_id) == ("Changed.", None, None) and file.version != known
    with pytest.raises(MemoryConflictError):
        run(store.write, "main/a.md", "Mine.", expected_version=known)
    assert run(store.write, "main/a.md", "Mine.", expected_version=file.version).existed
    for odd in ("main/Größe.md", "main/a b.md"):
        store.book.save("Of another door.", path=f"/pydantic-ai/memory/{odd}", about="project")
    store.book.save("Of another door.", path="/pydantic-ai/memory/main/b.md", about="project")
    assert run(store.list_paths, limit=9) == ["main/a.md", "main/b.md"]
    assert [match.path for match in search(store, "another door").matches] == ["main/b.md"]
    assert run(store.delete, "main/b.md", expected_version=version(store, "main/b.md")).existed


def test_the_server_keeps_no_secret_and_no_control_character(make_store):
    store = make_store()
    named = {"expected_version": None, "metadata": {"key": SECRET, "who": "a\x1b"}}
    kept = run(store.write_with_metadata, "main/a.md", f"The key is {SECRET}.\x1b\x00", **named).version
    file = run(store.read, "main/a.md", **READ)
    assert file.content == "The key is [redacted:anthropic-key]." and file.version == kept
    assert file.metadata == {"key": "[redacted:anthropic-key]", "who": "a"}


def test_a_file_that_is_too_large_is_refused_with_its_receipt(make_store):
    store = make_store()
    run(store.write, "main/a.md", "x" * 102_400, expected_version=None)
    with pytest.raises(ModelRetry, match="102,?400"):
        run(store.write, "main/b.md", "x" * 102_401, expected_version=None, operation=operation("1"))
    with pytest.raises(Invalid):
        run(store.write, f"main/{SECRET}", "a", expected_version=None, operation=operation("1"))
    assert run(store.get_operation, operation("1")) is None and run(store.list_paths, limit=9) == ["main/a.md"]


def search(store, query, prefix="main/", **bounds):
    bounds = {"limit": 10, "max_files": 1000, "max_chars": 4000, "max_file_chars": 65_536, **bounds}
    return run(store.search, prefix, query, **bounds)


def test_a_search_finds_what_is_directly_below_its_prefix(make_store, rook, tmp_path):
    store, reference = make_store(), SqliteMemoryStore(database=tmp_path / "memory.db")
    files = {
        "main/MEMORY.md": KETTLE, "main/postgres-migration.md": "We use version 16.", "main/deep/a.md": KETTLE, "a.md": KETTLE,
        "main/long.md": f"{'word ' * 2000}The vacuum is off.{' word' * 2000}", "main-2/a.md": KETTLE, "main/blank.md": "",
    }
    for path, text in files.items():
        for kept in (store, reference):
            run(kept.write, path, text, expected_version=None)
    run(make_store("rook").write, "main/of-rook.md", KETTLE, expected_version=None)
    store.book.acting(workspace="global").save(KETTLE, path="/pydantic-ai/memory/main/global.md", about="project")
    queries = ["kettle", "Kettle whistles", "postgres", "migration", "postgres-migration.md", "vacuum", "MEMORY", "zebra", "16"]
    for prefix in ("main/", "", "main"):
        for query in queries:
            found, wanted = (search(kept, query, prefix) for kept in (store, reference))
            assert {match.path for match in found.matches} == {match.path for match in wanted.matches}, (prefix, query)
            assert found.scanned == len(found.matches) and not found.truncated
            assert all(0 < match.score <= 1 for match in found.matches)
    assert search(store, "kettle").matches[0].snippet == KETTLE
    assert "The vacuum is off." in search(store, "vacuum", max_chars=200).matches[0].snippet
    # Nothing in a query is an operator.
    assert [match.path for match in search(store, 'owner:rook "kettle -whistles path:/x').matches] == ["main/MEMORY.md"]
    bounded = [(" ", {}), ('"-', {}), *(("kettle", {bound: 0}) for bound in ("limit", "max_files", "max_chars", "max_file_chars"))]
    for query, bounds in bounded:
        nothing = search(store, query, **bounds)
        assert (nothing.matches, nothing.scanned, nothing.truncated) == ([], 0, False)
    for prefix in ("main//", "/", "../"):
        with pytest.raises(ValueError):
            search(store, "kettle", prefix)
        with pytest.raises(ValueError):
            run(store.list_paths, prefix, limit=1)


def test_a_search_is_bounded(make_store):
    store = make_store()
    for number in range(6):
        run(store.write, f"main/{number}.md", f"Kettle number {number}. {'word ' * 100}", expected_version=None)
        run(store.write, f"main/deep/{number}.md", "Kettle. Kettle.", expected_version=None)
    for bounds, count in (({"limit": 4}, 4), ({"max_files": 2}, 2), ({"limit": 6}, 6)):
        found = search(store, "kettle", **bounds)
        assert len(found.matches) == found.scanned == count and found.truncated == (count < 6), bounds
    for max_chars in (1, 3, 10, 100, 1000):
        found = search(store, "kettle", max_chars=max_chars)
        assert sum(len(match.path.removeprefix("main/")) + len(match.snippet) for match in found.matches) <= max_chars
        assert found.scanned == 6 and found.truncated == (len(found.matches) < 6)
    assert len(search(store, "kettle", max_chars=1000).matches) == 6


def test_more_files_than_a_page_has(make_store):
    store = make_store()
    # As another door saves them.
    for start in range(0, 250, 50):
        store.book.save_all([
            {"path": f"/pydantic-ai/memory/main/{number:03}.md", "text": f"Kettle {number}.", "about": "project"}
            for number in range(start, start + 50)
        ])
    paths = [f"main/{number:03}.md" for number in range(250)]
    for limit in (1, 99, 100, 101, 249, 250, 1000):
        assert run(store.list_paths, "main/", limit=limit) == paths[:limit]
    assert len(search(store, "kettle", limit=150, max_chars=100_000).matches) == 150


def acting(store, *calls, **options):
    """What an agent with the capability reads that makes these calls, one a turn."""
    steps = [ToolCallPart(tool, given, tool_call_id=f"call {number}") for number, (tool, given) in enumerate(calls)]

    def model(messages, info):
        return ModelResponse(parts=[steps.pop(0) if steps else TextPart("Done.")])

    agent = Agent(FunctionModel(model), capabilities=[Memory(store=store, injection_errors="raise", **options)])
    parts = [part for message in run(agent.run, "Make tea").all_messages() for part in message.parts]
    prompts = [part.content for part in parts if isinstance(part, UserPromptPart) and not isinstance(part.content, str)]
    told = [item.content for prompt in prompts for item in prompt]
    return told, [part.content for part in parts if isinstance(part, (ToolReturnPart, RetryPromptPart))]


def test_an_agent_with_the_capability(make_store):
    store = make_store()
    told, answers = acting(
        store, ("write_memory", {"content": KETTLE}), ("write_memory", {"content": "Green tea: 80.", "file": "tea"}),
        ("write_memory", {"content": "97", "old_text": "96"}), ("read_memory", {"file": "MEMORY.md"}),
        ("search_memory", {"query": "green"}), ("write_memory", {"content": "a", "old_text": "not there"}),
        write_metadata={"updated_by": "tea"},
    )
    assert told == [] and [answer["status"] for answer in answers[:3]] == ["created", "created", "updated"]
    assert answers[3] == KETTLE.replace("96", "97") and answers[4]["matches"][0]["file"] == "tea.md"
    assert "was not found" in answers[5]
    assert run(store.read, "main/tea.md", **READ).metadata == {"updated_by": "tea"}
    # A later run of another process is told at once.
    told, answers = acting(make_store(), ("delete_memory", {"file": "tea"}), ("delete_memory", {"file": "tea"}))
    assert "whistles at 97 degrees" in told[0] and "tea.md" in told[0]
    assert [answer["status"] for answer in answers] == ["deleted", "not_found"]
    # What belongs to another agent is read, and the model learns why it is not changed.
    told, answers = acting(make_store("rook", owner="ann"), ("write_memory", {"content": "Mine."}))
    assert "whistles at 97 degrees" in told[0] and "belong to ann" in answers[0]


APPEND = """
import asyncio, sys
from pydantic_ai_harness.memory import MemoryConflictError, MemoryOperation
from commonbook import Commonbook
from commonbook.pydantic_ai_harness import CommonbookMemoryStore

async def main(url, workspace, writer):
    store = CommonbookMemoryStore(Commonbook(url, agent="ann", workspace=workspace))
    for number in range(8):
        while True:
            file = await store.read("main/a.md", max_chars=100_000)
            text = f"{file.content if file else ''}{writer} {number}\\n"
            # The other process has the same operations.
            operation = MemoryOperation(str(number), "append")
            try:
                await store.write("main/a.md", text, expected_version=file and file.version, operation=operation)
                break
            except MemoryConflictError:
                continue

asyncio.run(main(*sys.argv[1:]))
"""


def test_two_processes_with_the_same_operations_do_each_once(make_store, commonbook_server, workspace):
    def begin(writer):
        return subprocess.Popen([sys.executable, "-B", "-c", APPEND, commonbook_server.url, workspace, writer], env=os.environ)

    assert [process.wait() for process in [begin("a"), begin("b")]] == [0, 0]
    lines = run(make_store().read, "main/a.md", **READ).content.splitlines()
    assert [line.split()[1] for line in lines] == [str(number) for number in range(8)]


def test_the_book_of_this_machine_is_closed_and_a_given_one_is_not(make_store, commonbook_server, monkeypatch):
    monkeypatch.setenv("COMMONBOOK_URL", commonbook_server.url)
    store = CommonbookMemoryStore(agent="own")
    run(store.write, "main/a.md", KETTLE, expected_version=version(store, "main/a.md"))
    assert store.book.agent == "pydantic-ai" and store.book.get("pydantic-ai/own:/pydantic-ai/memory/main/a.md")["text"] == KETTLE
    store.close()
    with pytest.raises(RuntimeError):
        run(store.read, "main/a.md", **READ)
    given = make_store()
    given.close()
    assert run(given.read, "main/a.md", **READ) is None
