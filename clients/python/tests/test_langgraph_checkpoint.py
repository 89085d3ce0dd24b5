"""LangGraph's checkpointer: its own conformance tests, its savers beside this one, real graphs, and what several processes do."""

import asyncio
import base64
import datetime
import decimal
import json
import operator
import os
import pathlib
import random
import subprocess
import sys
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, TypedDict

import pytest

pytest.importorskip("langgraph.checkpoint.conformance", reason="langgraph-checkpoint-conformance is installed by .ci/python")

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage  # noqa: E402
from langgraph.channels import DeltaChannel  # noqa: E402
from langgraph.checkpoint.base import ERROR, INTERRUPT, RESUME, empty_checkpoint  # noqa: E402
from langgraph.checkpoint.conformance import checkpointer_test, validate  # noqa: E402
from langgraph.checkpoint.memory import InMemorySaver  # noqa: E402
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer  # noqa: E402
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer  # noqa: E402
from langgraph.checkpoint.serde.types import _DeltaSnapshot  # noqa: E402
from langgraph.graph import END, START, StateGraph, add_messages  # noqa: E402
from langgraph.types import Command, Interrupt, Send, interrupt  # noqa: E402

from commonbook import NotFound, Unavailable, _checkpoint_documents  # noqa: E402
from commonbook._checkpoint_documents import id_of, name_of, newest_first, segment_of  # noqa: E402
from commonbook.langgraph import CommonbookSaver  # noqa: E402

NAMES = ["", ".", "..", "a/b", "~", "%", "%7E", " a ", "a\u200b", "e\u0301", "日本", "tab\t", "child:1|x:2", "A", "a"]
TESTS = {
    "put": 17, "put_writes": 10, "get_tuple": 10, "list": 16, "delete_thread": 5, "delete_for_runs": 7, "copy_thread": 8, "prune": 8,
}


@pytest.fixture
def shared(commonbook_server, workspace):
    """The client of the process."""
    with commonbook_server.book("langgraph", workspace=workspace) as book:
        yield book


@pytest.fixture
def saver(shared):
    return CommonbookSaver(shared, agent="tea")


@pytest.fixture
def other(commonbook_server, workspace):
    """The checkpointer of another process of the agent."""
    with commonbook_server.book("langgraph", workspace=workspace) as book:
        yield CommonbookSaver(book, agent="tea")


def thread(name="tuesday", namespace="", checkpoint=None):
    """A config."""
    return {"configurable": {"thread_id": name, "checkpoint_ns": namespace, **({"checkpoint_id": checkpoint} if checkpoint else {})}}


def checkpoint_of(saver, values, before=None, changed=None):
    """A checkpoint that changes these values of the one before, and the versions that it has anew."""
    known = before["channel_versions"] if before else {}
    # As LangGraph does: what changes in one step has one version.
    versions = dict.fromkeys(changed or values, saver.get_next_version(max(known.values(), default=None), None))
    made = empty_checkpoint() | {"channel_values": values, "channel_versions": {**known, **versions}}
    return made, versions


def put(saver, values, config=None, before=None, changed=None, **metadata):
    """Puts a checkpoint; returns it and its config."""
    made, versions = checkpoint_of(saver, values, before, changed)
    return made, saver.put(config or thread(), made, {"source": "loop", "step": 0, **metadata}, versions)


def documents(saver, path="/checkpoints/"):
    """The documents of the agent."""
    return {memory["path"]: memory for memory in saver._acting.list_all(path=path)}


def told(found):
    """What a checkpoint tuple says, of any saver."""
    if found is None:
        return None
    configs = [config and config["configurable"] for config in (found.config, found.parent_config)]
    return [*configs, found.checkpoint, found.metadata, found.pending_writes]


def test_conformance(shared, loop):
    @checkpointer_test(name="CommonbookSaver")
    async def made():
        yield CommonbookSaver(shared)

    results = loop.run_until_complete(validate(made)).results
    assert [result.failures for result in results.values() if result.failures] == []
    assert {name: result.tests_passed for name, result in results.items()} == TESTS


class Calls:
    """Calls of a seed, made to two savers."""

    def __init__(self, seed, *savers):
        self._random, self._savers = random.Random(seed), savers
        self._puts, self._writes = [], []

    def put(self):
        name, namespace = self._random.choice(["a", "b"]), self._random.choice(["", "", "child:1"])
        before, config = None, thread(name, namespace)
        earlier = [put for put in self._puts if put[1]["configurable"].items() >= config["configurable"].items()]
        if earlier:
            before, config = self._random.choice(earlier[-3:])
        values = dict(before["channel_values"]) if before else {}
        changes = {self._random.choice("vwxyz"): self._value() for _ in range(self._random.randint(0, 3))}
        emptied = {name: None for name in values if self._random.random() < 0.1}
        kept = {name: value for name, value in {**values, **changes}.items() if name not in emptied}
        made, versions = checkpoint_of(self._savers[0], kept, before, {**changes, **emptied, "none": None})
        metadata = {"source": self._random.choice(["input", "loop"]), "step": len(self._puts), "run_id": self._random.choice("rst")}
        for again in range(self._random.choice([1, 1, 1, 2])):
            for saver in self._savers:
                stored = saver.put(config, made, metadata, versions)
        self._puts.append((made, stored))

    def write(self):
        if not self._puts:
            return
        config, task = self._random.choice(self._puts[-4:])[1], self._random.choice(["t1", "t2", "t3"])
        if self._random.random() < 0.3:
            writes = [(channel, self._value()) for channel in self._random.sample([ERROR, INTERRUPT, RESUME], 2)]
        else:
            writes = [(self._random.choice("vwx"), self._value()) for _ in range(self._random.randint(0, 3))]
        for saver in self._savers:
            saver.put_writes(config, writes, task, f"~path {task[::-1]}")

    def answers(self):
        """What each saver answers to the same questions."""
        questions = [lambda saver, config=thread(name, ns): [saver.get_tuple(config)] for name in "abc" for ns in ("", "child:1")]
        for _, config in self._puts[-6:]:
            questions.append(lambda saver, config=config: [saver.get_tuple(config)])
        whole = self._random.choice(self._puts)[1]
        place = {**whole["configurable"]}
        place.pop("checkpoint_id")
        for named in (
            {}, {"limit": 2}, {"before": whole}, {"filter": {"run_id": "r"}}, {"filter": {"source": "loop", "run_id": "s"}, "limit": 1},
            {"filter": {"none": 1}}, {"limit": 0},
        ):
            questions.append(lambda saver, named=named: [*saver.list({"configurable": place}, **named)])
        questions.append(lambda saver: [*saver.list(whole)])
        # The order of several namespaces is open.
        questions.append(lambda saver: sorted(saver.list(None), key=lambda found: found.checkpoint["id"]))
        apart = {name: part for name, part in place.items() if name != "checkpoint_ns"}
        questions.append(lambda saver: sorted(saver.list({"configurable": apart}), key=lambda found: found.checkpoint["id"]))
        return [[[told(found) for found in question(saver)] for question in questions] for saver in self._savers]

    def _value(self):
        return self._random.choice([
            None, True, 7, 2.5, "tea", "long " * 300, [], {"degrees": [96, 100]}, b"\x00\xff", {1, 2}, (3, 4), uuid.UUID(int=7),
        ])


@pytest.mark.parametrize("seed", range(2))
def test_a_seed_of_calls_has_the_answers_of_the_saver_in_memory(saver, seed):
    calls = Calls(seed, saver, InMemorySaver())
    for number in range(28):
        (calls.put if number == 0 or calls._random.random() < 0.5 else calls.write)()
        if number % 13 == 12:
            ours, theirs = calls.answers()
            assert ours == theirs
    for checkpointer in calls._savers:
        checkpointer.delete_thread("a")
    ours, theirs = calls.answers()
    assert ours == theirs


def test_a_put_writes_what_changed_and_again_nothing(saver):
    values = {"messages": ["hello"], "notes": {"kettle": 96}, "count": 1, "name": "tea", "story": "long " * 300}
    first, config = put(saver, values)
    # One for the checkpoint, and one for the values that are not small.
    assert len(documents(saver)) == 2
    values = {**values, "messages": ["hello", "again"], "count": 2}
    made, versions = checkpoint_of(saver, values, first, ["messages", "count"])
    for _ in range(2):
        newest = saver.put(config, made, {"source": "loop"}, versions)
        kept = documents(saver)
        assert len(kept) == 4 and {memory["revision"] for memory in kept.values()} == {1}
    assert saver.get_tuple(thread()).checkpoint["channel_values"] == values
    assert saver.get_tuple(newest).parent_config == config and saver.get_tuple(config).checkpoint["channel_values"]["count"] == 1
    # A change to the values of one is none to those of the other.
    notes = [found.checkpoint["channel_values"]["notes"] for found in saver.list(thread())]
    assert notes[0] == notes[1] and notes[0] is not notes[1]


def test_a_put_with_other_metadata_replaces_the_checkpoint(saver):
    made, config = put(saver, {"messages": ["hello"]}, step=1)
    saver.put(thread(), made, {"source": "loop", "step": 2}, made["channel_versions"])
    [found] = saver.list(thread())
    assert found.metadata["step"] == 2 and found.checkpoint["channel_values"] == {"messages": ["hello"]}


def test_a_put_is_one_request_and_the_newest_checkpoint_two(saver, monkeypatch):
    calls = []
    send = saver.book._connection.send
    monkeypatch.setattr(saver.book._connection, "send", lambda caller, call: calls.append(call.method) or send(caller, call))
    first, config = put(saver, {"messages": ["hello"], "count": 1})
    put(saver, {"messages": ["hello", "again"], "count": 1}, config, first, ["messages"])
    assert calls == ["POST"] * 2
    calls.clear()
    assert saver.get_tuple(thread()).checkpoint["channel_values"]["messages"] == ["hello", "again"]
    assert calls == ["GET"] * 2
    calls.clear()
    saver.put_writes(config, [("messages", "one"), ("count", 2), ("branch", None)], "task")
    saver.put_writes(config, [], "task")
    assert calls == ["POST"]
    put(saver, {"count": 1, "name": "tea", "branch": None}, thread("friday"))
    calls.clear()
    assert saver.get_tuple(thread("friday")).checkpoint["channel_values"] == {"count": 1, "name": "tea", "branch": None}
    assert calls == ["GET"]


def test_any_name_is_one_segment_and_comes_back(saver):
    segments = [segment_of(name) for name in NAMES]
    assert [name_of(segment) for segment in segments] == NAMES and len(set(segments)) == len(NAMES)
    for name in NAMES:
        _, config = put(saver, {"name": [name]}, thread(f"t{name}", name))
        saver.put_writes(config, [("name", name)], name)
    for name in NAMES:
        [found] = saver.list({"configurable": {"thread_id": f"t{name}"}})
        assert found.config["configurable"]["checkpoint_ns"] == name and found.checkpoint["channel_values"] == {"name": [name]}
        assert found.pending_writes == [(name, "name", name)]
    assert {found.config["configurable"]["thread_id"] for found in saver.list(None)} == {f"t{name}" for name in NAMES}


def test_the_greatest_id_is_the_first_path():
    ids = ["", "0", "00", "1", "10", "1f", "2", "a", "ab", "é", *(empty_checkpoint()["id"] for _ in range(9))]
    assert [id_of(segment) for segment in sorted(f"{newest_first(name)}" for name in ids)] == sorted(ids, reverse=True)
    assert sorted(f"{newest_first(name)}/~" for name in ids) == [f"{newest_first(name)}/~" for name in sorted(ids, reverse=True)]


def test_what_is_larger_than_a_document_or_a_request_is_kept_in_parts(saver, monkeypatch):
    monkeypatch.setattr(_checkpoint_documents, "PART_CHARS", 1000)
    monkeypatch.setattr(_checkpoint_documents, "BATCH_CHARS", 2500)
    large = os.urandom(3000)
    first, config = put(saver, {"picture": large, "count": 1})
    saver.put_writes(config, [("picture", large)], "task")
    assert max(len(memory["text"]) for memory in documents(saver).values()) == 1000
    found = saver.get_tuple(config)
    assert found.checkpoint["channel_values"]["picture"] == large == found.pending_writes[0][2]
    # Again it is the same, and its end may change.
    saver.put_writes(config, [(INTERRUPT, large[:-1] + b"!")], "task")
    saver.put(thread(), first, {"source": "loop"}, first["channel_versions"])
    assert [write[2] for write in saver.get_tuple(config).pending_writes] == [large[:-1] + b"!", large]
    saver.copy_thread("tuesday", "friday")
    assert saver.get_tuple(thread("friday")).checkpoint["channel_values"]["picture"] == large
    [part] = [path for path in documents(saver, "/checkpoints/tuesday/values/") if path.endswith("/000002")]
    saver._acting.delete(part)
    with pytest.raises(NotFound, match="lost a part"):
        saver.get_tuple(config)


def test_a_put_that_breaks_off_leaves_no_checkpoint(saver, monkeypatch):
    monkeypatch.setattr(_checkpoint_documents, "BATCH_CHARS", 2100)
    values = {"first": os.urandom(1500), "second": os.urandom(1500)}
    made, versions = checkpoint_of(saver, values)
    versions["second"] = made["channel_versions"]["second"] = "2"
    send, sent = saver.book._connection.send, []

    def broken(caller, call):
        if len(sent) == 2:
            raise Unavailable("broken")
        sent.append(call)
        return send(caller, call)

    with monkeypatch.context() as patch, pytest.raises(Unavailable):
        patch.setattr(saver.book._connection, "send", broken)
        saver.put(thread(), made, {"source": "loop"}, versions)
    assert len(documents(saver)) == 2 and saver.get_tuple(thread()) is None and [*saver.list(None)] == []
    saver.put(thread(), made, {"source": "loop"}, versions)
    assert saver.get_tuple(thread()).checkpoint["channel_values"] == values


def test_a_serializer_that_encrypts(shared):
    class Cipher:
        def encrypt(self, text):
            salt = os.urandom(1)
            return "salted", salt + bytes(byte ^ salt[0] for byte in text)

        def decrypt(self, name, text):
            return bytes(byte ^ text[0] for byte in text[1:])

    saver = CommonbookSaver(shared, serde=EncryptedSerializer(Cipher()))
    values = {"messages": ["hello"], "count": 1}
    made, config = put(saver, values)
    saver.put(thread(), made, {"source": "loop", "step": 0}, made["channel_versions"])
    assert saver.get_tuple(config).checkpoint["channel_values"] == values
    assert all(memory["text"].startswith("msgpack+salted ") for memory in documents(saver).values())


def test_a_copy_with_an_allowlist_has_the_threads(saver):
    put(saver, {"messages": ["hello"]})
    saver.serde = JsonPlusSerializer(allowed_msgpack_modules=None)
    copy = saver.with_allowlist([("test_langgraph_checkpoint", "Order")])
    assert copy is not saver and copy.get_tuple(thread()).checkpoint["channel_values"] == {"messages": ["hello"]}


def test_threads_belong_to_their_agent(saver, shared, commonbook_server, workspace):
    _, config = put(saver, {"messages": ["The kettle whistles at 96 degrees."]})
    eve = commonbook_server.book("eve", workspace=workspace)
    for book, agent in ((shared, None), (shared, "coffee"), (eve, None)):
        assert CommonbookSaver(book, agent=agent).get_tuple(thread()) is None
    found = [hit["memory"] for hit in eve.search("When does the kettle whistle?")["hits"]]
    # Other tests have what is global.
    assert [*eve.list_all(path="/checkpoints/")] == [] == [memory for memory in found if memory["workspace"] == workspace]
    # What another agent shares at such a path is not read: it could be anything.
    for path, memory in documents(saver).items():
        assert (memory["owner"], memory["sharing"]) == ("langgraph/tea", "private")
        eve.save("msgpack AAAA", path=path.replace("/tuesday/", "/friday/"), sharing="shared")
    assert saver.get_tuple(thread("friday")) is None and [found.config for found in saver.list(None)] == [config]
    eve.close()


def test_a_user_of_the_client_changes_nothing(saver, commonbook_server, workspace):
    put(saver, {"messages": ["hello"]})
    with commonbook_server.book("langgraph", workspace=workspace, user="sue") as book:
        of_sue = CommonbookSaver(book, agent="tea")
        made, config = put(of_sue, {"messages": ["again"]})
        assert {memory["about"] for memory in documents(saver).values()} == {"project"}
        assert len([*saver.list(thread())]) == 2 == len([*of_sue.list(thread())])
        of_sue.delete_thread("tuesday")
    assert documents(saver) == {}


# Several processes


def test_writes_before_their_checkpoint_wait_for_it(saver):
    first, config = put(saver, {"messages": ["hello"]})
    made, versions = checkpoint_of(saver, {"messages": ["again"]}, first)
    saver.put_writes(thread(checkpoint=made["id"]), [("messages", "then")], "task")
    assert saver.get_tuple(thread()).config == config and [found.config for found in saver.list(thread())] == [config]
    assert saver.get_tuple(thread(checkpoint=made["id"])) is None
    saver.put(config, made, {"source": "loop"}, versions)
    assert saver.get_tuple(thread()).pending_writes == [("task", "messages", "then")]


def test_a_checkpoint_without_its_values_is_not_returned(saver):
    _, config = put(saver, {"messages": ["hello"], "notes": ["kettle"]})
    [path] = documents(saver, "/checkpoints/tuesday/values/")
    saver._acting.delete(path)
    for read in (saver.get_tuple, lambda config: [*saver.list(config)]):
        with pytest.raises(NotFound):
            read(config)
    put(saver, {"notes": ["kettle"]}, thread("friday"))
    [memory] = documents(saver, "/checkpoints/friday/values/").values()
    other = saver._documents._dump(memory["path"], {"others": 1})[0]
    saver._acting.update(memory["id"], text=other["text"], memory_type="opaque")
    with pytest.raises(NotFound, match="lost the value of the channel notes"):
        saver.get_tuple(thread("friday"))


def test_a_thread_that_is_deleted_while_it_is_read(saver, other, monkeypatch):
    before, config = put(saver, {"messages": ["hello"]})
    put(saver, {"messages": ["again"]}, config, before)
    rest = saver.list(thread())
    assert next(rest).parent_config == config
    find = saver._find

    def find_and_delete(config):
        found = find(config)
        other.delete_thread("tuesday")
        return found

    monkeypatch.setattr(saver, "_find", find_and_delete)
    assert saver.get_tuple(config) is None and [*rest] == []


def test_two_processes_on_one_thread_lose_nothing(saver, other):
    before, config = put(saver, {"messages": []})
    begin = threading.Barrier(2)

    def work(saver, name):
        begin.wait()
        for number in range(6):
            # Each adds to what LangGraph saves for its null task, to one of the other's tasks, and a branch of the thread.
            saver.put_writes(config, [(f"{name}{index}", index) for index in range(number + 1)], f"null-{name}")
            saver.put_writes(config, [(ERROR if name == "a" else INTERRUPT, number), (RESUME, number)], "both")
            put(saver, {"messages": [name, number]}, config, before)

    with ThreadPoolExecutor(2) as pool:
        [*pool.map(work, (saver, other), "ab")]
    for reader in (saver, other):
        writes = {(task, channel): value for task, channel, value in reader.get_tuple(config).pending_writes}
        assert writes == {
            **{(f"null-{name}", f"{name}{index}"): index for name in "ab" for index in range(6)},
            ("both", ERROR): 5, ("both", INTERRUPT): 5, ("both", RESUME): 5,
        }
        branches = [found.checkpoint["channel_values"]["messages"] for found in reader.list(thread())]
        assert sorted(branches) == [[], *([name, number] for name in "ab" for number in range(6))]


def test_what_another_process_writes_between_reading_and_writing_stays(saver, other, monkeypatch):
    _, config = put(saver, {"messages": ["hello"]})
    saver.put_writes(config, [("messages", "one")], "task")
    load, waiting = _checkpoint_documents.CheckpointDocuments.load, [lambda: other.put_writes(config, [(ERROR, "broken")], "task")]

    def load_and_write(self, memory):
        found = load(self, memory)
        if waiting:
            waiting.pop()()
        return found

    monkeypatch.setattr(_checkpoint_documents.CheckpointDocuments, "load", load_and_write)
    saver.put_writes(config, [(INTERRUPT, "sure?")], "task")
    assert {write[1:] for write in saver.get_tuple(config).pending_writes} == {
        ("messages", "one"), (ERROR, "broken"), (INTERRUPT, "sure?"),
    }


def test_two_processes_with_one_version_keep_both_values(saver, other):
    # A graph whose versions are numbers may give one number to two channels.
    for process, channel in ((saver, "a"), (other, "b"), (saver, "a")):
        made = empty_checkpoint() | {"channel_values": {channel: [channel]}, "channel_versions": {channel: 1}}
        assert process.get_tuple(process.put(thread(), made, {}, {channel: 1})).checkpoint["channel_values"] == {channel: [channel]}
    assert len([*saver.list(thread())]) == 3 and len(documents(saver, "/checkpoints/tuesday/values/")) == 1


def test_a_put_during_a_pruning_keeps_its_values(saver, other, monkeypatch):
    first, config = put(saver, {"messages": ["hello"], "notes": ["kettle"]})
    second, config = put(saver, {"messages": ["again"], "notes": ["kettle"]}, config, first, ["messages"])
    below, then = _checkpoint_documents.CheckpointDocuments.below, {"messages": ["then"], "notes": ["kettle"]}
    waiting = [lambda: put(other, then, config, second, ["messages"])]

    def below_and_put(self, path):
        yield from below(self, path)
        if waiting:
            waiting.pop()()

    monkeypatch.setattr(_checkpoint_documents.CheckpointDocuments, "below", below_and_put)
    saver.prune(["tuesday"])
    assert [found.checkpoint["channel_values"] for found in saver.list(thread())] == [then] and not waiting


def test_without_a_server_a_call_says_so(shared):
    with pytest.raises(Unavailable):
        CommonbookSaver(type(shared)("http://127.0.0.1:1", agent="x", workspace="w", retries=0)).get_tuple(thread())


# What is deleted


def test_a_deleted_thread_leaves_nothing(saver):
    for name in ("tuesday", "tuesday2"):
        _, config = put(saver, {"messages": ["hello"]}, thread(name))
        saver.put_writes(config, [("messages", "again")], "task")
        put(saver, {"messages": ["hello"]}, thread(name, "child:1"))
    saver.delete_thread("tuesday")
    assert {path.split("/")[2] for path in documents(saver)} == {"tuesday2"} and len([*saver.list(None)]) == 2


def test_what_stays_keeps_its_values(saver):
    first, config = put(saver, {"messages": ["hello"], "notes": ["kettle"]}, run_id="r1")
    second, config = put(saver, {"messages": ["again"], "notes": ["kettle"]}, config, first, ["messages"], run_id="r2")
    values = {"messages": ["then"], "notes": ["kettle"]}
    put(saver, values, config, second, ["messages"], run_id="r3")
    assert len(documents(saver, "/checkpoints/tuesday/values/")) == 3
    saver.delete_for_runs(["r1", "r2"])
    assert [found.metadata["run_id"] for found in saver.list(thread())] == ["r3"]
    assert saver.get_tuple(thread()).checkpoint["channel_values"] == values
    # The notes are in the document of the first checkpoint, which is gone.
    assert len(documents(saver, "/checkpoints/tuesday/values/")) == 2
    with pytest.raises(ValueError, match="strategy"):
        saver.prune(["tuesday"], strategy="keep_all")


class Log(TypedDict):
    lines: Annotated[list, DeltaChannel(lambda known, added: [*known, *(line for lines in added for line in lines)], snapshot_frequency=4)]
    count: Annotated[int, operator.add]


def log_graph(saver):
    builder = StateGraph(Log)
    builder.add_node("write", lambda state: {"lines": [f"line {state['count']}"], "count": 1})
    builder.add_edge(START, "write")
    builder.add_edge("write", END)
    return builder.compile(checkpointer=saver)


def test_a_channel_of_differences_is_rebuilt_and_survives_a_pruning(saver):
    memory, history = InMemorySaver(), []
    for number in range(7):
        for checkpointer in (memory, saver):
            log_graph(checkpointer).invoke({"lines": [f"input {number}"], "count": 0}, thread())
    for checkpointer in (memory, saver):
        history.append([state.values for state in log_graph(checkpointer).get_state_history(thread())])
    assert history[0] == history[1] and len(history[0][0]["lines"]) == 14
    found = saver.get_delta_channel_history(config=thread(), channels=["lines", "count", "none"])
    wanted = memory.get_delta_channel_history(config=thread(), channels=["lines", "count", "none"])
    assert [write[1:] for write in found["lines"]["writes"]] == [write[1:] for write in wanted["lines"]["writes"]] != []
    assert {name: entry.get("seed") for name, entry in found.items()} == {name: entry.get("seed") for name, entry in wanted.items()}
    assert saver.get_delta_channel_history(config=thread(), channels=[]) == {}
    before = len([*saver.list(thread())])
    saver.prune(["tuesday"])
    assert 1 < len([*saver.list(thread())]) < before
    assert log_graph(saver).get_state(thread()).values == history[0][0]
    assert len(log_graph(saver).invoke({"lines": ["after"], "count": 0}, thread())["lines"]) == 16


# The TypeScript client

IDS = ["1f1eca4e-fcbb-6f8d-8000-cc34c32ffc78", "1f1eca4e-fd0e-680b-8001-70c712544a23"]
MESSAGES = [
    HumanMessage("Tea, please.", id="m1"),
    AIMessage(
        "I boil it.", id="m2", tool_calls=[{"name": "boil", "args": {"degrees": 80}, "id": "c1", "type": "tool_call"}],
        usage_metadata={"input_tokens": 3, "output_tokens": 4, "total_tokens": 7},
    ),
    ToolMessage("It has boiled.", id="m3", tool_call_id="c1"),
]
NOTES = {
    "bytes": b"\x00\xff", "set": {1, 2}, "uuid": uuid.UUID(int=7), "decimal": decimal.Decimal("1.50"),
    "time": datetime.datetime(2026, 11, 30, 5, 24, 48, tzinfo=datetime.timezone.utc),
    "numbers": [-1, -200, -70000, -2**40, 200, 70000, 2**40, 2**63, 0.5],
    "texts": ["", "Größe 日本 😀", "x" * 40, "y" * 300], "none": None, "truth": [True, False], "keys": {7: "seven"},
    "list": [*range(20)], "record": {str(number): number for number in range(20)},
}


def recorded(client):
    """The documents of a thread as a client has written them, which the tests of both clients read."""
    return json.loads((pathlib.Path(__file__).parents[2] / "threads" / f"{client}.json").read_text("utf-8"))


def made_by_hand(number, version, values):
    """A checkpoint that is the same in each run."""
    versions = {**dict.fromkeys(values, version), "notes": "1"}
    return {
        "v": 4, "id": IDS[number], "ts": "2026-11-30T05:24:48+00:00", "channel_values": values, "channel_versions": versions,
        "versions_seen": {}, "updated_channels": None,
    }


def test_a_thread_is_written_as_the_test_of_the_typescript_client_reads_it(saver):
    first = made_by_hand(0, "1", {"messages": MESSAGES[:1], "count": 1, "notes": NOTES})
    config = saver.put(thread("tea"), first, {"source": "input", "step": 0, "parents": {}}, first["channel_versions"])
    # The node `ask` is next.
    second = made_by_hand(1, "2", {"messages": MESSAGES, "count": 2, "notes": NOTES, "branch:to:ask": None})
    changed = {"messages": "2", "count": "2", "branch:to:ask": "2"}
    config = saver.put(config, second, {"source": "loop", "step": 1, "parents": {}}, changed)
    saver.put_writes(config, [("__interrupt__", [Interrupt({"question": "Serve?"}, id="i1")])], "t1", "~__pregel_pull, ask")
    writes = [("log", _DeltaSnapshot([1])), ("__pregel_tasks", Send("serve", {"cup": 1}))]
    saver.put_writes(config, writes, "t2", "~__pregel_pull, log")
    kept = {path: {"text": memory["text"], "metadata": memory["metadata"]} for path, memory in documents(saver).items()}
    # A newer package may pack a further field, which reads as before.
    same = contents_of(saver, kept) == contents_of(saver, recorded("python"))
    assert same, f"clients/threads/python.json differs; if that is meant, it is now: {json.dumps(kept)}"


def contents_of(saver, kept):
    """The contents of documents by their paths; a snapshot of a channel equals another one of its value."""
    contents = {}
    for path, document in kept.items():
        kind, _, data = document["text"].partition(" ")
        contents[path] = saver.serde.loads_typed((kind, base64.b64decode(data)))
        for row in contents[path].get("writes", ()):
            row[2] = getattr(row[2], "value", row[2])
    return contents


def test_a_thread_of_the_typescript_client_is_read(saver):
    for path, document in recorded("typescript").items():
        saver._acting.save(document["text"], path=path, metadata=document["metadata"], memory_type="opaque", about="project")
    newest, oldest = saver.list(thread("tea"))
    values = newest.checkpoint["channel_values"]
    assert newest.parent_config == oldest.config == thread("tea", "", IDS[0]) and oldest.parent_config is None
    assert newest.metadata == {"source": "loop", "step": 1, "parents": {}}
    assert values["messages"] == MESSAGES and oldest.checkpoint["channel_values"]["messages"] == MESSAGES[:1]
    notes = values["notes"]
    kept = {"text": "Größe 日本 😀", "none": None, "number": 0.5, "list": [1, "a"]}
    assert {name: notes[name] for name in kept} == kept
    # What JSON does not have is a plain record, and an interrupt, too.
    assert [notes[name]["id"] for name in ("bytes", "set", "map")] == [["Uint8Array"], ["Set"], ["Map"]]
    assert newest.pending_writes == [("t1", "__interrupt__", [{"value": {"question": "Serve?"}, "id": "i1"}])]
    # A graph goes on with it.
    builder = StateGraph(Chat).add_node("serve", lambda state: {"messages": [AIMessage("The tea is served.")]})
    graph = builder.add_edge(START, "serve").compile(checkpointer=saver)
    state = graph.invoke({"messages": [HumanMessage("Another one.")]}, thread("tea"))
    assert [message.text for message in state["messages"]] == [
        "Tea, please.", "I boil it.", "It has boiled.", "Another one.", "The tea is served.",
    ]


class Chat(TypedDict):
    messages: Annotated[list, add_messages]


# Graphs


class Order(TypedDict):
    items: Annotated[list, operator.add]
    approved: str


def order_graph(saver):
    """Takes an order, asks a person, and serves."""
    builder = StateGraph(Order)
    builder.add_node("take", lambda state: {"items": ["tea"]})
    builder.add_node("ask", lambda state: {"approved": interrupt(f"Serve {', '.join(state['items'])}?")})
    builder.add_node("serve", lambda state: {"items": [f"served: {state['approved']}"]})
    for source, target in ((START, "take"), ("take", "ask"), ("ask", "serve"), ("serve", END)):
        builder.add_edge(source, target)
    return builder.compile(checkpointer=saver)


RESUMING = """
import sys
from commonbook import Commonbook
from commonbook.langgraph import CommonbookSaver
from langgraph.types import Command
from test_langgraph_checkpoint import order_graph, thread

with Commonbook(sys.argv[1], agent="langgraph", workspace=sys.argv[2]) as book:
    print(order_graph(CommonbookSaver(book, agent="tea")).invoke(Command(resume="yes"), thread())["items"])
"""


def test_another_process_resumes_an_interrupted_graph(saver, commonbook_server, workspace):
    asked = order_graph(saver).invoke({"items": ["scone"]}, thread())
    assert asked["__interrupt__"][0].value == "Serve scone, tea?"
    ran = subprocess.run(
        [sys.executable, "-B", "-c", RESUMING, commonbook_server.url, workspace], cwd=os.path.dirname(__file__), capture_output=True,
        text=True, timeout=300, env={**os.environ, "PYTHONPATH": os.path.dirname(__file__)},
    )
    assert ran.returncode == 0 and ran.stdout == "['scone', 'tea', 'served: yes']\n", ran.stderr
    state = order_graph(saver).get_state(thread())
    assert state.values == {"items": ["scone", "tea", "served: yes"], "approved": "yes"} and state.next == ()


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_a_graph_goes_back_in_time(saver, loop, durability):
    async def go(saver):
        graph = order_graph(saver)
        await graph.ainvoke({"items": ["scone"]}, thread(), durability=durability)
        await graph.ainvoke(Command(resume="yes"), thread(), durability=durability)
        history = [state async for state in graph.aget_state_history(thread())]
        [asking] = [state for state in history if state.next == ("ask",)]
        # Another answer at the same question, then another order before it.
        other = await graph.ainvoke(Command(resume="no"), asking.config, durability=durability)
        fork = await graph.aupdate_state(asking.config, {"items": ["jam"]})
        forked = await graph.aget_state(fork)
        first = await graph.aget_state(history[0].config)
        return [(state.values, state.next, state.metadata) for state in [*history, forked, first]], other

    ours, theirs = (loop.run_until_complete(go(checkpointer)) for checkpointer in (saver, InMemorySaver()))
    assert ours == theirs and ours[0][-1][0]["items"] == ["scone", "tea", "served: yes"]
    assert ours[0][-2][0]["items"] == ["scone", "tea", "jam"]
    loop.run_until_complete(saver.adelete_thread("tuesday"))
    assert order_graph(saver).get_state(thread()).values == {} and documents(saver) == {}


def test_a_graph_inside_a_graph_has_a_namespace_of_its_own(saver):
    def inner(state):
        return {"approved": interrupt("Sure?")}

    small = StateGraph(Order).add_node("inner", inner).add_edge(START, "inner").compile()
    graph = StateGraph(Order).add_node("outer", small).add_edge(START, "outer").compile(checkpointer=saver)
    graph.invoke({"items": ["tea"]}, thread())
    state = graph.get_state(thread(), subgraphs=True)
    assert state.tasks[0].state.values["items"] == ["tea"] and state.tasks[0].interrupts[0].value == "Sure?"
    assert len({path.split("/")[4] for path in documents(saver, "/checkpoints/tuesday/steps/")}) == 2
    assert graph.invoke(Command(resume="yes"), thread())["approved"] == "yes"
    saver.delete_thread("tuesday")
    assert documents(saver) == {}


def test_many_graphs_at_once(saver, loop):
    async def go():
        graph = order_graph(saver)
        await asyncio.gather(*(graph.ainvoke({"items": [str(number)]}, thread(str(number))) for number in range(8)))
        done = await asyncio.gather(*(graph.ainvoke(Command(resume=str(number)), thread(str(number))) for number in range(8)))
        return [state["items"] for state in done]

    assert loop.run_until_complete(go()) == [[str(number), "tea", f"served: {number}"] for number in range(8)]
