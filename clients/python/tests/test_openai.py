"""The session of OpenAI Agents: equal to its own for SQLite, and one for several processes."""

import asyncio
import json
import os
import random
import subprocess
import sys
import threading
from collections import Counter

import pytest

pytest.importorskip("agents", reason="openai-agents is installed by .ci/python")

from agents import Agent, RunConfig, Runner, SQLiteSession  # noqa: E402
from agents.memory import Session, SessionSettings  # noqa: E402
from agents.testing import ScriptedModel, assistant_message  # noqa: E402

from commonbook import Invalid, Unavailable  # noqa: E402
from commonbook.openai import CommonbookSession  # noqa: E402

KEY = "sk-ant-api03-" + "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOP"
VALUES = [
    "tea", "", " ", "Größe 日本 😀", "\ud800", "\x00\x1b[1m", "e\u0301", "\u202e\u200b", f"The key is {KEY}",
    0, -1, 1.5, 1e300, 2**70, -0.0, True, False, None, [], {}, [[], {}], {"": {"a b": [1, "x"]}}, "x" * 5000, '"\\\n', "1e5",
]


class Histories:
    """Steps of a seed: the name of a method of a session, and its arguments."""

    def __init__(self, seed):
        self._random = random.Random(seed)

    def step(self):
        kind = self._random.choices(["add", "get", "pop", "clear"], [5, 6, 5, 0.3])[0]
        match kind:
            case "add":
                return "add_items", [[self._item() for _ in range(self._random.choice([0, 1, 1, 1, 2, 2, 3, 3, 5, 120]))]]
            case "get":
                return "get_items", [self._random.choice([None, None, 0, 1, 2, 3, 7, 99, 100, 101, 1000, -1])]
            case "pop":
                return "pop_item", []
        return "clear_session", []

    def _item(self):
        role = self._random.choice(["user", "assistant", "system"])
        item = {"role": role, "content": self._random.choice(VALUES), "n": self._random.randint(0, 10**9)}
        if self._random.random() < 0.3:
            item[self._random.choice(["id", "type", "ä", ""])] = self._random.choices(VALUES, k=self._random.randint(0, 3))
        return item


@pytest.fixture
def make_session(commonbook_server, workspace):
    """Makes a session as another process has it: over a client of its own."""
    books = []

    def make_session(session_id="s", name="ann", **options):
        books.append(commonbook_server.book(name, workspace=workspace))
        return CommonbookSession(session_id, books[-1], **options)

    yield make_session
    for book in books:
        book.close()


@pytest.fixture
def ann(commonbook_server, workspace):
    """The client of the agent ann."""
    with commonbook_server.book("ann", workspace=workspace) as book:
        yield book


def run(step, *arguments):
    """What a method of a session returns, in an event loop of its own."""
    return asyncio.run(step(*arguments))


def items(*numbers):
    """Items that differ."""
    return [{"role": "user", "content": f"item {number}"} for number in numbers]


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


def test_a_session_equals_that_of_sqlite(make_session):
    kinds = Counter()
    for seed in range(5):
        histories, expected = Histories(seed), SQLiteSession(f"s{seed}")
        ours = [make_session(f"s{seed}") for _ in range(2)]
        for number in range(50):
            name, arguments = histories.step()
            # The next step is that of another process.
            answer = run(getattr(ours[number % 2], name), *arguments)
            wanted = run(getattr(expected, name), *arguments)
            # JSON tells also 1 from True, and the order of fields.
            assert json.dumps(answer) == json.dumps(wanted), (seed, number, name, arguments)
            kinds[name, bool(wanted)] += 1
        assert json.dumps(run(ours[0].get_items)) == json.dumps(run(expected.get_items))
        expected.close()
    assert kinds["get_items", True] > 40 and kinds["pop_item", True] > 40 and kinds["pop_item", False] > 3, kinds


def test_it_is_a_session_with_the_settings_of_one(make_session):
    session = make_session(session_settings={"limit": 2})
    assert isinstance(session, Session) and session.session_id == "s" and session.session_settings == SessionSettings(limit=2)
    assert make_session().session_settings == SQLiteSession("s").session_settings
    run(session.add_items, items(1, 2, 3))
    assert [run(session.get_items, limit) for limit in (None, 1, 9)] == [items(2, 3), items(3), items(1, 2, 3)]


def test_an_id_has_a_session_of_its_own(make_session):
    names = [
        "a", "A", "a/b", "a/", ".", "..", "a*", "a%", "a%2F", "%2E", " a ", "\n", "\x00", "ä", "a\u0308", "日本", "\u200b", "a.b",
        "0", "x" * 900,
    ]
    for number, name in enumerate(names):
        run(make_session(name).add_items, items(number))
    for number, name in enumerate(names):
        assert run(make_session(name).get_items) == items(number), name
    with pytest.raises(Invalid):
        run(make_session("").add_items, items(1))


def test_two_processes_that_add_at_once_lose_nothing(make_session):
    sessions = [make_session() for _ in range(4)]

    def add(writer):
        for batch in range(8):
            run(sessions[writer].add_items, [{"writer": writer, "batch": batch, "part": part} for part in range(3)])

    at_once(*(lambda writer=writer: add(writer) for writer in range(4)))
    kept = run(make_session().get_items)
    batches = [kept[start:start + 3] for start in range(0, len(kept), 3)]
    assert all(part == {**batch[0], "part": number} for batch in batches for number, part in enumerate(batch))
    for writer in range(4):
        assert [batch[0]["batch"] for batch in batches if batch[0]["writer"] == writer] == list(range(8))


def test_an_item_is_popped_once(make_session):
    run(make_session().add_items, items(*range(24)))
    sessions = [make_session() for _ in range(4)]
    popped = at_once(*(lambda session=session: [run(session.pop_item) for _ in range(7)] for session in sessions))
    numbers = [item["content"] for batch in popped for item in batch if item is not None]
    assert Counter(numbers) == Counter(f"item {number}" for number in range(24))
    assert run(make_session().get_items) == []


def test_items_are_added_and_popped_at_once(make_session):
    adding, popping, reading = (make_session() for _ in range(3))

    def add():
        for number in range(10):
            run(adding.add_items, items(2 * number, 2 * number + 1))

    def read():
        return [run(reading.get_items) for _ in range(20)]

    _, popped, histories = at_once(add, lambda: [run(popping.pop_item) for _ in range(15)], read)
    kept = [item for item in [*run(reading.get_items), *popped] if item is not None]
    assert Counter(item["content"] for item in kept) == Counter(f"item {number}" for number in range(20))
    for history in histories:
        numbers = [int(item["content"].split()[1]) for item in history]
        # Two are added together, and the first of two is never popped first.
        assert numbers == sorted(numbers) and all(number % 2 == 0 or number - 1 in numbers for number in numbers)


def test_a_large_batch_is_one_step(make_session, monkeypatch):
    session, calls = make_session(), []
    save_all = session._acting.save_all
    monkeypatch.setattr(session._acting, "save_all", lambda documents: calls.append(len(documents)) or save_all(documents))
    run(session.add_items, items(*range(250)))
    assert len(calls) == 1 and run(session.get_items) == items(*range(250))
    popped = [run(session.pop_item) for _ in range(4)]
    assert popped == items(249, 248, 247, 246) and run(session.get_items, 2) == items(244, 245)


def test_what_cannot_be_added_adds_nothing(make_session):
    session = make_session()
    run(session.add_items, items(1))
    with pytest.raises(TypeError):
        run(session.add_items, [*items(2), {"content": {1, 2}}])
    with pytest.raises(Exception, match="text"):
        run(session.add_items, [*items(2), {"content": "x" * 5_000_000}])
    assert run(session.get_items) == items(1)


def test_a_pop_that_is_cut_leaves_nothing(make_session, ann, monkeypatch):
    session = make_session()
    run(session.add_items, items(1, 2, 3))

    def fail(*_):
        raise Unavailable("the server has gone")

    monkeypatch.setattr(session._acting, "delete", fail)
    assert [run(session.pop_item) for _ in range(2)] == items(3, 2)
    assert run(session.get_items) == run(session.get_items, 3) == items(1)
    other = make_session()
    run(other.add_items, items(4))
    assert run(other.get_items) == items(1, 4)
    assert [run(other.pop_item) for _ in range(3)] == [*items(4, 1), None]
    assert len(list(ann.list_all(path="/openai/s/"))) == 1


def test_a_clearing_that_is_cut_clears(make_session, ann, monkeypatch):
    session = make_session()
    run(session.add_items, items(1, 2, 3))
    delete, left = session._acting.delete, [1]

    def fail_later(folder):
        if not left:
            raise Unavailable("the server has gone")
        left.pop()
        # As if one call had room for the head alone.
        return {**delete(f"{folder}0"), "more": True}

    monkeypatch.setattr(session._acting, "delete", fail_later)
    with pytest.raises(Unavailable):
        run(session.clear_session)
    assert run(session.get_items) == [] and run(session.pop_item) is None
    run(session.add_items, items(4))
    assert run(session.get_items) == items(4)
    run(make_session().clear_session)
    assert list(ann.list_all(path="/openai/s/")) == []


def test_many_pages_are_of_one_moment(make_session, monkeypatch):
    session, other = make_session(), make_session()
    for start in range(0, 180, 90):
        run(session.add_items, items(*range(start, start + 90)))
    pages, page = [], session._acting.list

    def change_between(**filters):
        pages.append(filters)
        if len(pages) == 2:
            run(other.clear_session)
            run(other.add_items, items(7, 8))
        return page(**filters)

    monkeypatch.setattr(session._acting, "list", change_between)
    assert run(session.get_items) == items(7, 8)


def test_a_cancelled_call_is_done_before_the_next(make_session, monkeypatch):
    session = make_session()
    begun, go_on, save_all = threading.Event(), threading.Event(), session._acting.save_all

    def save_late(documents):
        begun.set()
        go_on.wait()
        return save_all(documents)

    async def cancel():
        task = asyncio.create_task(session.add_items(items(1)))
        await asyncio.to_thread(begun.wait)
        task.cancel()
        await asyncio.sleep(0)
        assert not task.done()
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        return await session.get_items()

    monkeypatch.setattr(session._acting, "save_all", save_late)
    assert run(cancel) == items(1)


def test_a_conversation_belongs_to_its_agent_alone(make_session, ann, commonbook_server, workspace):
    run(make_session(agent="weather man").add_items, [{"role": "user", "content": "The kettle whistles at 96 degrees."}])
    with commonbook_server.book("eve", workspace=workspace) as eve:
        assert list(eve.list_all(path="/openai/s/")) == [] and eve.search("kettle whistles")["hits"] == []
    documents = list(ann.acting(agent="ann/weather-man").list_all(path="/openai/s/"))
    kept = {(memory["owner"], memory["sharing"], memory["memory_type"]) for memory in documents}
    assert kept == {("ann/weather-man", "private", "opaque")}
    assert run(make_session().get_items) == [] and run(make_session(name="eve", agent="weather man").get_items) == []
    assert ann.acting(agent="ann/weather-man").search("kettle whistles")["hits"] == []


def test_a_session_is_one_for_all_users_of_its_agent(make_session, commonbook_server, workspace):
    said = [{"role": "user", "content": "I prefer green tea, and my name is Alex."}]
    with commonbook_server.book("ann", workspace=workspace, user="alex") as book:
        run(CommonbookSession("s", book).add_items, said)
    run(make_session().add_items, items(1))
    with commonbook_server.book("ann", workspace=workspace, user="bert") as book:
        session = CommonbookSession("s", book)
        assert run(session.get_items) == said + items(1)
        assert [run(session.pop_item) for _ in range(3)] == [*items(1), *said, None]


TURN = """
import asyncio, sys
from agents import Agent, RunConfig, Runner, function_tool
from agents.testing import ScriptedModel, assistant_message, function_call
from commonbook import Commonbook
from commonbook.openai import CommonbookSession

@function_tool
def boil(degrees: int) -> str:
    return f"boiled at {degrees}"

async def main(url, workspace, said, *steps):
    boiled = function_call("boil", {"degrees": 96}, call_id="c")
    model = ScriptedModel([[boiled if step == "boil" else assistant_message(step)] for step in steps])
    with Commonbook(url, agent="ann", workspace=workspace) as book:
        agent = Agent(name="tea", model=model, tools=[boil])
        await Runner.run(agent, said, session=CommonbookSession("shop", book), run_config=RunConfig(tracing_disabled=True))
    print(model.last_call.input)

asyncio.run(main(*sys.argv[1:]))
"""


def test_a_run_goes_on_in_another_process(make_session, commonbook_server, workspace):
    def turn(*arguments):
        command = [sys.executable, "-B", "-c", TURN, commonbook_server.url, workspace, *arguments]
        return subprocess.run(command, env=os.environ, capture_output=True, text=True, check=True).stdout

    turn("Boil the water.", "boil", "It has boiled.")
    read = turn("How hot was it?", "96 degrees.")
    places = [read.index(words) for words in ("Boil the water.", "boiled at 96", "It has boiled.", "How hot was it?")]
    assert places == sorted(places)

    async def turns(session):
        model = ScriptedModel([[assistant_message("It has boiled.")], [assistant_message("96 degrees.")]])
        for said in ("Boil the water.", "How hot was it?"):
            await Runner.run(Agent(name="tea", model=model), said, session=session, run_config=RunConfig(tracing_disabled=True))
        return await session.get_items(), model.last_call.input

    assert run(turns, make_session("in one")) == run(turns, SQLiteSession("in one"))
    kept = run(make_session("shop").get_items)
    assert [item.get("role") or item["type"] for item in kept] == [
        "user", "function_call", "function_call_output", "assistant", "user", "assistant",
    ]


def test_the_book_of_this_machine_is_closed_and_a_given_one_is_not(make_session, commonbook_server, monkeypatch):
    monkeypatch.setenv("COMMONBOOK_URL", commonbook_server.url)
    session = CommonbookSession("own")
    run(session.add_items, items(1))
    assert session.book.agent == "openai"
    session.close()
    with pytest.raises(RuntimeError):
        run(session.get_items)
    given = make_session()
    given.close()
    assert run(given.get_items) == []
