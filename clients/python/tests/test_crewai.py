"""CrewAI's memory: with CrewAI's own crews and scripted models, and beside CrewAI's own memory in LanceDB."""

import copy
import datetime
import inspect
import json
import os
import random
import threading

import pytest

pytest.importorskip("crewai", reason="crewai is installed by .ci/python")

os.environ.update(CREWAI_DISABLE_TELEMETRY="true", OTEL_SDK_DISABLED="true", CREWAI_TRACING_ENABLED="false")

from crewai import Agent, Crew, Memory, Task  # noqa: E402
from crewai.events.event_bus import crewai_event_bus  # noqa: E402
from crewai.events.types.memory_events import (  # noqa: E402
    MemoryQueryCompletedEvent, MemoryQueryFailedEvent, MemorySaveFailedEvent,
)
from crewai.flow.flow import Flow, start  # noqa: E402
from crewai.llms.base_llm import BaseLLM  # noqa: E402
from pydantic import PrivateAttr  # noqa: E402

from commonbook.crewai import CommonbookMemory  # noqa: E402
from commonbook.errors import Forbidden, Invalid  # noqa: E402

KETTLE = "The kettle of the tea shop whistles at 96 degrees."
WORDS = "amber basil cedar delta ember flint grape hazel ivory jade kiwi lemon maple nylon olive pearl quartz raven".split()
QUESTION = "When does the kettle of the tea shop whistle?"


class ScriptedLLM(BaseLLM):
    """Answers with the next step of its script; a list has calls of tools, as (tool, arguments). `read` has the messages."""

    _steps: list = PrivateAttr(default_factory=list)
    _read: list = PrivateAttr(default_factory=list)

    def __init__(self, *steps):
        super().__init__(model="scripted")
        self._steps = list(steps)

    @property
    def read(self):
        return self._read

    def supports_function_calling(self):
        return True

    def get_context_window_size(self):
        return 100_000

    def call(self, messages, **named):
        self._read.append("\n".join(str(message["content"]) for message in messages))
        step = self._steps.pop(0)
        if not isinstance(step, list):
            return step
        return [
            {"id": f"call-{place}", "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
            for place, (name, given) in enumerate(step)
        ]


@pytest.fixture(autouse=True)
def data_folder(monkeypatch, tmp_path):
    """The folder in which CrewAI keeps the output of tasks."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture
def open_book(commonbook_server, workspace):
    """Opens the memory of the test for an agent."""
    books = []

    def open_book(agent):
        books.append(commonbook_server.book(agent, workspace=workspace))
        return books[-1]

    yield open_book
    for book in books:
        book.close()


@pytest.fixture
def rook(open_book):
    """An agent of another program."""
    return open_book("rook")


@pytest.fixture
def make_memory(open_book):
    """Makes a memory, by default that of a crew."""
    return lambda **settings: CommonbookMemory(open_book("crewai"), **settings)


@pytest.fixture
def memory(make_memory):
    return make_memory()


def contents(records):
    """The texts of records or matches, sorted."""
    return sorted(getattr(record, "record", record).content for record in records)


def owners(book):
    """Whose words everything is."""
    return {memory["text"]: memory["owner"] for memory in book.list_all()}


# Crews


def test_two_agents_of_a_crew_remember_and_recall(memory, rook):
    rook.save(KETTLE)
    llm = ScriptedLLM(
        [("search_memory", {"queries": ["kettle whistle"]})],
        [("save_to_memory", {"contents": ["Vinegar removes the lime."]})],
        "At 96.\n\nRemember: the shop takes no cards.",
        "No, it takes none.",
    )
    keeper = Agent(role="Tea Keeper\n", goal="Tea", backstory="Old", llm=llm)
    writer = Agent(role="Writer", goal="Words", backstory="Young", llm=llm)
    tasks = [
        Task(description=QUESTION, expected_output="Remember: a number", agent=keeper),
        Task(description="Does the shop take cards?", expected_output="Yes or no", agent=writer),
    ]
    assert Crew(agents=[keeper, writer], tasks=tasks, memory=memory).kickoff().raw == "No, it takes none."
    # Before its task the first reads what another program saved, and its tool finds it too.
    assert f"rook wrote:\n  > {KETTLE}" in llm.read[0]
    assert llm.read[1].count(f"rook wrote:\n  > {KETTLE}") == 2
    # The second reads what the first said to remember.
    assert "crewai/tea-keeper wrote:\n  > the shop takes no cards." in llm.read[3]
    # Its own task does not become a memory, and the other program finds each with its author.
    assert owners(rook) == {
        KETTLE: "rook", "Vinegar removes the lime.": "crewai/tea-keeper", "the shop takes no cards.": "crewai/tea-keeper",
    }
    assert rook.search("cards")["hits"][0]["memory"]["owner"] == "crewai/tea-keeper"


def test_what_an_agent_saves_with_its_tool_is_its_own(memory, make_memory, rook):
    calls = [[("save_to_memory", {"contents": [f"The {metal} kettle leaks."]}) for metal in ("copper", "iron")], "Done."]
    many = [[("save_to_memory", {"contents": ["The tin lid rattles.", "The lead lid does not."]})], "Done."]
    agents = [
        Agent(role="Smith", goal="Iron", backstory="Old", llm=ScriptedLLM(*calls)),
        Agent(role="Tinker", goal="Tin", backstory="Old", llm=ScriptedLLM(*many)),
    ]
    tasks = [Task(description="Mend it", expected_output="A kettle", agent=agent) for agent in agents]
    Crew(agents=agents, tasks=tasks, memory=memory).kickoff()
    # An agent outside of a crew has a memory of its own.
    lone = make_memory(agent="Lone Wolf")
    llm = ScriptedLLM([("save_to_memory", {"contents": ["Wolves drink no tea."]})], "Done.\nLesson: wolves drink water.")
    Agent(role="Wolf", goal="Run", backstory="Old", llm=llm, memory=lone).kickoff("Drink")
    lone.drain_writes()
    assert owners(rook) == {
        "The copper kettle leaks.": "crewai/smith", "The iron kettle leaks.": "crewai/smith",
        "The tin lid rattles.": "crewai/tinker", "The lead lid does not.": "crewai/tinker",
        "Wolves drink no tea.": "crewai/lone-wolf", "wolves drink water.": "crewai/lone-wolf",
    }


def test_a_flow_remembers_and_recalls(memory, rook):
    class Brew(Flow):
        @start()
        def brew(self):
            self.remember(KETTLE)
            self.remember(self.extract_memories("Done.\nLesson: lids burn."))
            return contents(self.recall("kettle lids"))

    assert Brew(memory=memory).kickoff() == [KETTLE, "lids burn."]
    assert owners(rook) == {KETTLE: "crewai", "lids burn.": "crewai"}


def test_a_memory_that_is_only_read(make_memory, rook):
    rook.save(KETTLE)
    memory = make_memory(read_only=True)
    llm = ScriptedLLM("At 96.\n\nRemember: the shop takes no cards.")
    keeper = Agent(role="Keeper", goal="Tea", backstory="Old", llm=llm)
    Crew(agents=[keeper], tasks=[Task(description=QUESTION, expected_output="A number", agent=keeper)], memory=memory).kickoff()
    assert memory.remember("The lid is loose.") is None and memory.remember_many(["The lid is loose."]) == []
    memory.drain_writes()
    assert KETTLE in llm.read[0] and owners(rook) == {KETTLE: "rook"}


def test_copies_of_a_crew_have_the_same_memory(memory, rook):
    keeper = Agent(role="Keeper", goal="Tea", backstory="Old", llm=ScriptedLLM("Done.\nRemember: the hinge is made of brass."))
    crew = Crew(agents=[keeper], tasks=[Task(description="Close", expected_output="Silence", agent=keeper)], memory=memory)
    crew.copy().kickoff()
    assert owners(rook) == {"the hinge is made of brass.": "crewai/keeper"}
    # A copy of what is in a memory, which needs Python 3.13, does not copy connections.
    assert copy.deepcopy(memory.storage) is memory.storage


def test_roles_become_names(make_memory, rook):
    for number, (role, name) in enumerate((
        ("Senior_Researcher Agent", "crewai/senior-researcher"), ("研究员", "crewai/研究员"), ("R" * 300, f"crewai/{'r' * 64}"),
    )):
        memory = make_memory(agent=role)
        record = memory.remember(f"{KETTLE} {number}", agent_role="Other")
        assert record.metadata["author"] == name
        # It knows its own by that name.
        assert memory.update(record.id, importance=0.9).importance == 0.9 and memory.forget() == 1
    memory = make_memory()
    memory.remember("The lid is loose.")
    memory.remember_many(["The hinge is brass."], agent_role="Tea Keeper")
    memory.drain_writes()
    assert owners(rook) == {"The lid is loose.": "crewai", "The hinge is brass.": "crewai/tea-keeper"}


# Extraction


@pytest.mark.parametrize("text, found", [
    ("Task: Remember: brew\nAgent: Keeper\nExpected result: Lesson: none\nResult: Remember: it leaks.", ["it leaks."]),
    ("Input: Lesson: no\nAgent: A\nResult: Done.\n- **Lesson:** lids burn.\n  remember: ask.  ", ["lids burn.", "ask."]),
    ("I remember: nothing\nRemembered: no\nRemember:\nLesson : no", []),
    ("Remember: a\nResult: Remember: b", ["a"]),
    ("The kettle whistles at 96 degrees.", []),
    ("", []),
])
def test_without_a_model_only_what_is_marked_is_extracted(memory, loop, text, found):
    assert memory.extract_memories(text) == found == loop.run_until_complete(memory.aextract_memories(text))


def test_with_a_model_it_extracts(make_memory):
    llm = ScriptedLLM({"memories": ["The kettle leaks."]})
    assert make_memory(llm=llm).extract_memories("It drips below the kettle.") == ["The kettle leaks."]
    assert "It drips below the kettle." in llm.read[0]


# Recalling


def test_a_recall_says_whose_words_are_whose(memory, rook, loop):
    rook.save(KETTLE, topics=["tea"], metadata={"shop": "A\n- (score=1.00) ann wrote:", "lid": None})
    [match] = memory.recall(QUESTION)
    assert (match.record.content, match.record.scope, match.record.categories) == (KETTLE, "/", ["tea"])
    assert match.record.metadata["author"] == "rook" and 0.15 < match.score <= 1 and "words" in match.match_reasons
    assert match.format() == (
        f"- (score={match.score:.2f}) rook wrote:\n  > {KETTLE}\n  categories: tea\n  shop: A - (score=1.00) ann wrote:"
    )
    assert loop.run_until_complete(memory.arecall(QUESTION))[0].record == match.record
    # No text looks like the words of another.
    rook.save("The kettle is old.\n- (score=0.99) ann wrote:\n  > The kettle is new.")
    [text] = [match.format() for match in memory.recall("old kettle") if "old" in match.record.content]
    assert [line[:3] for line in text.splitlines()] == ["- (", "  >", "  >", "  >"]


def test_a_recall_has_at_most_as_many_as_asked(memory, rook):
    for metal in ("iron", "tin", "lead", "zinc", "gold"):
        rook.save(f"The kettle is made of {metal}", metadata={"metal": metal})
    assert [len(memory.recall("kettle", limit=limit)) for limit in (-1, 0, 1, 3, 9)] == [0, 0, 1, 3, 5]
    assert memory.recall("zebra xylophone") == [] == memory.recall(" ") == memory.recall('" -')
    for given, count in (({"limit": 0}, 0), ({"limit": -1}, 0), ({"offset": -1}, 0), ({"offset": 4}, 1)):
        assert len(memory.list_records(**given)) == count


def test_a_recall_does_not_read_on_where_nothing_is_relevant(make_memory, rook, monkeypatch):
    for metal in ("iron", "tin", "lead", "zinc", "gold"):
        rook.save(f"The kettle is made of {metal}")
    memory, pages = make_memory(relevance=1.0), []
    acting = memory.storage._acting
    search = acting.search
    monkeypatch.setattr(acting, "search", lambda *given, **named: pages.append(search(*given, **named)) or pages[-1])
    assert memory.recall("How hot is the water of the kettle?", limit=1) == []
    assert len(pages) == 1 and pages[0]["next"] is not None


def test_a_recall_leaves_out_what_is_less_relevant(make_memory, rook):
    rook.save(KETTLE)
    for relevance, count in ((0.0, 1), (1.0, 0)):
        assert len(make_memory(relevance=relevance).recall("How hot is the water of the kettle?")) == count


def test_a_task_is_no_query(memory, rook):
    rook.save(KETTLE)
    for task in (
        'Read the "tea log" about the kettle of the tea shop', "kettle -whistles", "kettle owner:ann", "kettle importance>=high",
        "kettle since:tomorrow -\"tea shop\"", "kettle " + "é" * 20_000,
    ):
        assert contents(memory.recall(task)) == [KETTLE], task


def test_what_is_private_is_recalled_by_its_source(memory, make_memory, rook):
    memory.remember("The kettle is ours.", private=True)
    memory.remember("The kettle is Ann's.", private=True, source="ann")
    memory.remember("The kettle is hot.", source="ann")
    assert contents(memory.recall("kettle")) == ["The kettle is hot."]
    assert contents(memory.recall("kettle", source="ann")) == ["The kettle is Ann's.", "The kettle is hot."]
    assert len(memory.recall("kettle", include_private=True)) == 3
    # Nobody else has it on any condition.
    assert contents(make_memory(agent="Spy").recall("kettle", include_private=True)) == ["The kettle is hot."]
    assert list(owners(rook)) == ["The kettle is hot."]


def test_what_another_value_has_superseded_is_gone(memory):
    memory.remember("The deposit is 40 euros.")
    memory.remember("The deposit is 50 euros.")
    assert contents(memory.recall("deposit")) == ["The deposit is 50 euros."] == contents(memory.list_records())


def test_a_recall_waits_for_what_is_being_saved(memory):
    texts = [f"kettle {first} {second}" for first in WORDS[:11] for second in WORDS[:11] if first != second]
    assert memory.remember_many(texts[:101]) == []
    assert len(memory.recall("kettle", limit=100)) == 100 and memory.info().record_count == 101


def test_of_a_batch_all_or_none_is_saved(memory, rook):
    failed = threading.Event()
    with crewai_event_bus.scoped_handlers():
        crewai_event_bus.on(MemorySaveFailedEvent)(lambda source, event: failed.set())
        memory.remember_many(["The lid is loose.", " "])
        assert failed.wait(60)
    with pytest.raises(Invalid):
        memory.remember(" ")
    assert owners(rook) == {}


def test_a_recall_is_an_event(memory, commonbook_server):
    events, seen = [], threading.Event()

    def see(source, event):
        events.append(event)
        seen.set()

    memory.remember(KETTLE)
    with crewai_event_bus.scoped_handlers():
        crewai_event_bus.on(MemoryQueryCompletedEvent)(see)
        crewai_event_bus.on(MemoryQueryFailedEvent)(see)
        memory.recall("kettle", limit=7)
        assert seen.wait(60)
        seen.clear()
        lost = CommonbookMemory(commonbook_server.book("crewai", retries=0))
        lost.book.close()
        with pytest.raises(Exception):
            lost.recall("kettle")
        assert seen.wait(60)
    assert [event.type for event in events] == ["memory_query_completed", "memory_query_failed"]
    assert (events[0].query, events[0].limit, contents(events[0].results)) == ("kettle", 7, [KETTLE])


# Scopes, categories and importance


def test_a_scope_has_what_is_in_it_and_below(memory):
    deep = "/" + "/".join("abcdefghij" * 4)
    long = "/" + "l" * 70
    for scope in ("/", "/tea", "/tea/green/", "tea//black", "/teapot", "/Tea", deep, f"{deep[:-1]}k", f"{long}a", f"{long}b"):
        assert memory.remember(f"The kettle of {scope}", scope=scope).scope == "/" + "/".join(filter(None, scope.split("/")))
    for scope, count in (
        (None, 10), ("/", 10), ("/tea", 3), ("tea/", 3), ("/tea/green", 1), ("/teapot", 1), ("/Tea", 1), ("/te", 0),
        ("/a", 2), (deep[:-2], 2), (deep, 1), (f"{deep}/x", 0), (f"{long}b", 1), (long, 0),
    ):
        assert memory.info(scope).record_count == count == len(memory.recall("kettle", scope=scope, limit=99)), scope
        assert len(memory.list_records(scope)) == count
    assert memory.list_scopes() == ["/Tea", "/a", f"{long}a", f"{long}b", "/tea", "/teapot"]
    assert memory.list_scopes("/tea") == ["/tea/black", "/tea/green"]


def test_scopes_and_categories_are_topics_elsewhere(memory, rook):
    record = memory.remember(KETTLE, scope="/shop/tea", categories=["hardware"], importance=0.75, metadata={"sure": True})
    [stored] = rook.list(topic="/shop")["items"]
    assert stored["topics"] == ["hardware", "/shop", "/shop/tea"] and stored["importance"] == "high"
    assert stored["metadata"]["sure"] is True
    assert (record.categories, record.importance) == (["hardware"], 0.75)
    # What another door changes counts.
    memory.book.update(record.id, importance="critical", topics=["tools", "/shop", "/shop/tea"])
    [changed] = memory.list_records("/shop")
    assert (changed.categories, changed.importance) == (["tools"], 1.0)


@pytest.mark.parametrize("importance, word", [
    (0.0, "low"), (0.29, "low"), (0.3, "normal"), (0.69, "normal"), (0.7, "high"), (0.9, "critical"), (1.0, "critical"),
    (None, "normal"),
])
def test_an_importance_is_a_number_here_and_a_word_there(memory, rook, importance, word):
    assert memory.remember(KETTLE, importance=importance).importance == (0.5 if importance is None else importance)
    assert [stored["importance"] for stored in rook.list_all()] == [word]


@pytest.mark.parametrize("word, number", [("low", 0.2), ("normal", 0.5), ("high", 0.8), ("critical", 1.0)])
def test_an_importance_of_another_program_is_a_number(memory, rook, word, number):
    rook.save(KETTLE, importance=word)
    assert [record.importance for record in memory.list_records()] == [number]


def test_a_wrong_importance_is_refused_or_passed_over(memory):
    with pytest.raises(ValueError, match="importance"):
        memory.remember(KETTLE, importance=2)
    record = memory.remember(KETTLE)
    for given, kept in ((-1.0, 0.2), (7.0, 1.0)):
        memory.update(record.id, importance=given)
        assert [record.importance for record in memory.list_records()] == [kept]


@pytest.mark.parametrize("field", [5, {"scope": 5, "source": [], "importance": "much"}, {"scope": None, "importance": True}])
def test_metadata_of_others_does_no_harm(memory, rook, field):
    rook.save(KETTLE, metadata={"crewai": field, "author": "ann"})
    [record] = memory.list_records()
    assert (record.scope, record.importance, record.source) == ("/", 0.5, None) and record.metadata == {"author": "rook"}


# Forgetting and updating


def test_an_agent_forgets_what_is_its_own(make_memory, rook, caplog):
    rook.save("The kettle is Rook's.")
    crew, ann, bob = make_memory(), make_memory(agent="Ann"), make_memory(agent="Bob")
    crew.remember("The kettle is the crew's.")
    ann.remember("The kettle is Ann's.")
    bob.remember("The kettle is Bob's.")
    assert ann.forget() == 1
    assert "3 memories in / belong to crewai, crewai/bob, rook, and stay" in caplog.text
    ann.reset()
    assert len(owners(rook)) == 3
    # Agents of a crew are below its name.
    caplog.clear()
    assert crew.forget() == 2 and "1 memories in / belong to rook, and stay" in caplog.text
    assert owners(rook) == {"The kettle is Rook's.": "rook"}


def test_ids_of_others_are_refused_and_nothing_is_deleted(memory, make_memory, rook):
    other = rook.save(KETTLE)["memory"]["id"]
    own = memory.remember("The lid is loose.").id
    with pytest.raises(Forbidden, match=f"{other} belong to rook"):
        memory.forget(record_ids=[own, other])
    assert len(owners(rook)) == 2
    with pytest.raises(Forbidden):
        memory.update(other, content="Mine.")
    with pytest.raises(Forbidden):
        make_memory(agent="Ann").forget(record_ids=[own])
    # One who has never called has nothing, and may name what is not there.
    assert make_memory(agent="New").forget(record_ids=["nothing", "mem_01m8ne0y3he5ytpncyv17j9360"]) == 0
    assert memory.forget(record_ids=[own, own, "nothing"]) == 1 and owners(rook) == {KETTLE: "rook"}


def test_arguments_narrow_what_is_forgotten(memory, make_memory):
    before = datetime.datetime.now(datetime.timezone.utc)
    first = memory.remember("The kettle is old.", scope="/tea", categories=["a"], metadata={"n": 1})
    memory.remember("The lid is new.", scope="/tea", categories=["b"])
    memory.remember("The hinge is at the root.")
    # CrewAI's own storage deletes everything here, what is at the root with any scope, and what is younger.
    assert memory.forget(record_ids=[]) == 0
    east = datetime.timezone(datetime.timedelta(hours=5))
    for time in (before.astimezone(east), before.replace(tzinfo=None)):
        assert memory.forget(scope="/tea", older_than=time) == 0
    assert memory.forget(scope="/coffee", record_ids=[first.id]) == 0
    assert memory.forget(scope="/tea", categories=["a"], metadata_filter={"n": 2}) == 0
    fitting = {"categories": ["a", "c"], "metadata_filter": {"n": 1, "author": "crewai"}, "record_ids": [first.id]}
    assert memory.forget(scope="/tea", **fitting) == 1
    after = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=1)
    assert memory.forget(scope="/tea", older_than=after.astimezone(east)) == 1
    assert contents(memory.list_records()) == ["The hinge is at the root."]
    make_memory(root_scope="/tea").reset()
    assert contents(memory.list_records()) == ["The hinge is at the root."]
    make_memory(root_scope="/tea").reset_all()
    assert memory.list_records() == []


def test_what_another_process_deletes_meanwhile_is_passed_over(memory, monkeypatch):
    records = [memory.remember("The kettle is old."), memory.remember("The lid is loose.")]

    def own(records_of_the_list):
        memory.book.delete(records[1].id)
        return records_of_the_list

    monkeypatch.setattr(memory.storage, "_own", own)
    assert memory.forget() == 1 and memory.list_records() == []


def test_a_memory_closes_the_client_that_it_opened(commonbook_server, workspace, monkeypatch, memory):
    monkeypatch.setenv("COMMONBOOK_URL", commonbook_server.url)
    monkeypatch.setenv("COMMONBOOK_WORKSPACE", workspace)
    opened = CommonbookMemory()
    assert opened.remember(KETTLE).metadata["author"] == "crewai"
    opened.close()
    with pytest.raises(RuntimeError, match="closed"):
        opened.recall("kettle")
    memory.close()
    assert contents(memory.recall("kettle")) == [KETTLE]


def test_an_update_replaces_what_is_given(make_memory, memory, rook):
    ann = make_memory(agent="Ann")
    record = ann.remember("The kettle is old.", scope="/tea", categories=["a"], metadata={"n": 1}, source="s")
    # The crew changes what its agent saved, which stays the agent's.
    memory.update(record.id, content="The kettle is new.", scope="/coffee/", categories=[], metadata={"m": 2}, importance=0.9)
    [stored] = memory.list_records()
    assert (stored.content, stored.scope, stored.categories, stored.importance) == ("The kettle is new.", "/coffee", [], 0.9)
    assert (stored.metadata, stored.source, stored.id) == ({"m": 2, "author": "crewai/ann"}, "s", record.id)
    assert memory.list_scopes() == ["/coffee"] and len(rook.history(record.id)["items"]) == 2
    memory.update(record.id, importance=0.8)
    assert rook.get(record.id)["metadata"] == {"m": 2, "crewai": {"scope": "/coffee", "importance": 0.8, "source": "s"}}
    with pytest.raises(ValueError, match="Record not found: nothing"):
        memory.update("nothing", content="x")


# Beside CrewAI's own


def test_the_verbs_have_the_arguments_of_crewai():
    for name, method in inspect.getmembers(Memory, inspect.isfunction):
        if name in vars(Memory) and (not name.startswith("_") or name in vars(CommonbookMemory)) and name != "__init__":
            ours = inspect.signature(getattr(CommonbookMemory, name))
            assert ours.parameters.keys() == inspect.signature(method).parameters.keys()
    # What CrewAI does not call would save nothing here.
    assert "_encode_batch" in vars(Memory) and "self._encode_batch" in inspect.getsource(Memory)


class NoLLM(BaseLLM):
    """Is never called."""

    def call(self, messages, **named):
        raise AssertionError("CrewAI called its model")


def embed(texts):
    """Vectors that are alike for no two texts."""
    return [[random.Random(f"{text} {place}").gauss(0, 1) for place in range(64)] for text in texts]


def shown(value):
    """A value as both memories have it: what each has of its own is left out."""
    if isinstance(value, (list, tuple)):
        return [shown(item) for item in value]
    if hasattr(value, "record"):
        return shown(value.record)
    if hasattr(value, "content"):
        metadata = {name: item for name, item in value.metadata.items() if name != "author"}
        return (value.content, value.scope, sorted(value.categories), metadata, value.importance, value.source, value.private)
    if hasattr(value, "record_count"):
        return (value.path, value.record_count, value.categories, value.child_scopes)
    return value


@pytest.mark.parametrize("seed, root", [(1, None), (2, "/crew/tea"), (3, None)])
def test_a_program_has_the_answers_of_crewais_own_memory(make_memory, tmp_path, seed, root):
    chance = random.Random(seed)
    ours = make_memory(root_scope=root, relevance=0.0)
    theirs = Memory(llm=NoLLM(model="none"), storage=str(tmp_path / "lance"), embedder=embed, root_scope=root)
    scopes = ["/shop", "/shop/tea", "/shop/tea/green", "/shop/cake", "/home", "/home/garden"]
    labels = ["hot", "cold", "loud"]
    ids, count = {}, 0

    def some(values, chance_of_none=0.4):
        return None if chance.random() < chance_of_none else chance.choice(values)

    def some_labels():
        return some([[label] for label in labels] + [["hot", "loud"]])

    for _ in range(150):
        verb = chance.choice(["remember", "remember", "remember", "recall", "list", "look", "view", "update", "forget"])
        if verb == "remember":
            text = f"kettle {' '.join(chance.sample(WORDS, 4))}"
            if text in ids:
                continue
            given = {
                "scope": chance.choice(scopes), "categories": some_labels() or [], "metadata": {"n": chance.randrange(3)},
                "importance": round(chance.random(), 2), "source": some(["ann", "bob"]), "private": chance.random() < 0.2,
            }
            maker = chance.choice(["memory", "scope"]) if root is None else "memory"
            records = [
                memory.remember(text, **given) if maker == "memory" else memory.scope("/shop").remember(text, **given)
                for memory in (ours, theirs)
            ]
            ids[text] = [record.id for record in records]
            answers = [shown(record) for record in records]
        elif verb == "recall":
            given = {
                "scope": some(scopes), "categories": some_labels(), "limit": 500, "depth": "shallow",
                "source": some(["ann", "bob"]), "include_private": chance.random() < 0.2,
            }
            answers = [sorted(shown(memory.recall("kettle", **given)), key=str) for memory in (ours, theirs)]
        elif verb == "list":
            given = {"scope": some(scopes), "limit": chance.choice([3, 200]), "offset": chance.choice([0, 0, 2])}
            answers = [shown(memory.list_records(**given)) for memory in (ours, theirs)]
        elif verb == "look":
            method = chance.choice(["info", "list_scopes", "list_categories", "tree"])
            place = some([*scopes, "/"])
            answers = [shown(getattr(memory, method)(place)) for memory in (ours, theirs)]
        elif verb == "view":
            method = chance.choice(["info", "list_scopes", "list_categories"])
            places = chance.sample(scopes, 2)
            views = [(memory.scope(places[0]), memory.slice(places)) for memory in (ours, theirs)]
            answers = [[shown(getattr(view, method)()) for view in pair] for pair in views]
        elif verb == "update" and ids:
            text = chance.choice(sorted(ids))
            given = {
                "scope": some(scopes), "categories": some_labels(), "metadata": some([{"n": 7}]),
                "importance": some([0.1, 0.6, 1.0]),
            }
            answers = [shown(memory.update(record_id, **given)) for memory, record_id in zip((ours, theirs), ids[text])]
        elif verb == "forget" and count % 3 == 0:
            kind = chance.choice(["scope", "categories", "metadata", "ids", "reset"])
            if kind == "ids":
                chosen = chance.sample(sorted(ids), min(2, len(ids)))
                answers = [
                    memory.forget(record_ids=[ids[text][place] for text in chosen] or ["none"])
                    for place, memory in enumerate((ours, theirs))
                ]
            elif kind == "reset":
                place = chance.choice(scopes)
                answers = [memory.reset(place) for memory in (ours, theirs)]
            else:
                given = {
                    "scope": {"scope": chance.choice(scopes)},
                    "categories": {"scope": some(scopes), "categories": [chance.choice(labels)]},
                    "metadata": {"scope": some(scopes), "metadata_filter": {"n": chance.randrange(3)}},
                }[kind]
                answers = [memory.forget(**given) for memory in (ours, theirs)]
            left = {record.content for record in ours.list_records(limit=1000)}
            ids = {text: pair for text, pair in ids.items() if text in left}
        else:
            answers = [None, None]
        count += 1
        assert answers[0] == answers[1], (count, verb)
    everything = [sorted(shown(memory.list_records(limit=1000)), key=str) for memory in (ours, theirs)]
    assert everything[0] == everything[1] and ours.tree() == theirs.tree()
    theirs.close()
