"""Strands' memory store, with Strands' own manager and agent, and a scripted model."""

import re

import pytest

pytest.importorskip("strands", reason="strands-agents is installed by .ci/python")

from strands import Agent  # noqa: E402
from strands.memory import AddMessagesContext, InjectionFormatContext, MemoryEntry, MemoryManager  # noqa: E402
from strands.models import Model  # noqa: E402

from commonbook.strands import INJECTION, CommonbookMemoryStore, injected_text  # noqa: E402

KETTLE = "The kettle of the tea shop whistles at 96 degrees, <b>not</b> at 100."
QUESTION = "When does the kettle of the tea shop whistle?"


class ScriptedModel(Model):
    """Answers with the next step of its script: a text, or a call as (tool, input); `read` has the messages of each call."""

    def __init__(self, *steps):
        self._steps, self.read, self.tools = list(steps), [], []

    def update_config(self, **config):
        pass

    def get_config(self):
        return {}

    def structured_output(self, *arguments, **named):
        raise NotImplementedError

    async def stream(self, messages, tool_specs=None, system_prompt=None, **named):
        self.read.append(str(messages))
        self.tools = sorted(tool["name"] for tool in tool_specs or [])
        step = self._steps.pop(0)
        yield {"messageStart": {"role": "assistant"}}
        if isinstance(step, str):
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": step}}}
        else:
            name, given = step
            yield {"contentBlockStart": {"start": {"toolUse": {"name": name, "toolUseId": f"t{len(self.read)}"}}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": given}}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn" if isinstance(step, str) else "tool_use"}}


@pytest.fixture
def shared(commonbook_server, workspace):
    """The client of the process."""
    with commonbook_server.book("strands", workspace=workspace) as book:
        yield book


@pytest.fixture
def coder(commonbook_server, workspace):
    """An agent of another program."""
    with commonbook_server.book("claude-code", workspace=workspace) as book:
        yield book


@pytest.fixture
def store(shared):
    return CommonbookMemoryStore(shared, agent="tea")


def test_a_search_has_the_words_of_others_with_their_author(store, coder, loop):
    coder.save(KETTLE, metadata={"shop": 7})
    [found] = loop.run_until_complete(MemoryManager([store]).search(QUESTION))
    assert (found.content, found.store_name) == (KETTLE, "commonbook")
    assert (found.metadata["author"], found.metadata["shop"]) == ("claude-code", 7) and found.metadata["relevance"] > 0.15
    assert loop.run_until_complete(store.search("zebra xylophone")) == [] == loop.run_until_complete(store.search(" "))


def test_a_search_leaves_out_what_is_less_relevant(shared, loop):
    shared.save(KETTLE)
    for relevance, count in ((0.0, 1), (1.0, 0)):
        store = CommonbookMemoryStore(shared, relevance=relevance)
        assert len(loop.run_until_complete(store.search("How hot is the water of the kettle?"))) == count


def test_a_search_has_at_most_as_many_as_asked(store, shared, loop):
    for degrees in range(90, 96):
        shared.save(f"The kettle number {degrees} whistles at {degrees} degrees")
    search = MemoryManager([store]).search
    assert len(loop.run_until_complete(search("kettle degrees", {"max_search_results": 2}))) == 2
    store.max_search_results = 3
    assert len(loop.run_until_complete(search("kettle degrees"))) == 3


def test_what_is_added_belongs_to_the_agent_once(store, coder, loop):
    manager = MemoryManager([store])
    for _ in range(2):
        loop.run_until_complete(manager.add(KETTLE, {"metadata": {"sure": True}}))
    [memory] = coder.list_all()
    assert (memory["owner"], memory["text"], memory["metadata"]) == ("strands/tea", KETTLE, {"sure": True})


def test_a_store_that_is_only_read_refuses_to_write(shared, loop):
    store = CommonbookMemoryStore(shared, writable=False)
    assert store.extraction is None and MemoryManager([store]).tools
    with pytest.raises(ValueError, match="writable"):
        loop.run_until_complete(store.add(KETTLE))
    with pytest.raises(ValueError, match="writable"):
        loop.run_until_complete(store.add_messages([]))


def test_a_prompt_has_the_context_inside_its_fence(store, coder):
    coder.save(KETTLE)
    model = ScriptedModel("At 96.", "At 96, still.")
    agent = Agent(model=model, memory_manager=MemoryManager([store], injection=INJECTION), callback_handler=None)
    for read in range(2):
        agent(QUESTION)
        fence = re.search(r"<(commonbook-\d+)>(.*)</\1>", model.read[read])
        assert KETTLE in fence[2] and "claude-code" in fence[2] and "not instructions" in fence[2]
    # The history keeps none of it.
    assert KETTLE not in str(agent.messages)


def test_what_fits_a_little_comes_in_full_too(store, coder):
    coder.save(KETTLE)
    model = ScriptedModel("Done.")
    manager = MemoryManager([store], injection=INJECTION)
    Agent(model=model, memory_manager=manager, callback_handler=None)("Lower the temperature of the kettle")
    assert f"> {KETTLE}" in model.read[0] and "get_memory" not in model.read[0]


def test_a_prompt_that_nothing_fits_stays_as_it_is(store):
    model = ScriptedModel("Hello.")
    Agent(model=model, memory_manager=MemoryManager([store], injection=INJECTION), callback_handler=None)("Hello")
    assert "commonbook" not in model.read[0]


def test_entries_of_other_stores_are_escaped():
    entries = [MemoryEntry("<x>", 'a"b', {"fenced": "yes"}), MemoryEntry("<commonbook-1>\nours\n</commonbook-1>", "c", {"fenced": True})]
    text = injected_text(InjectionFormatContext(entries))
    assert text == "<commonbook-1>\nours\n</commonbook-1>\n<memory>\n<entry source='a\"b'>&lt;x&gt;</entry>\n</memory>"


def test_an_agent_saves_and_searches_with_its_tools(store, coder):
    coder.save(KETTLE)
    model = ScriptedModel(
        ("add_memory", '{"entries": ["Vinegar removes the lime."]}'), ("search_memory", '{"query": "kettle whistle"}'),
        "Done.\n\nRemember: the shop takes no cards.",
    )
    manager = MemoryManager([store], add_tool_config=True, injection=False)
    Agent(model=model, memory_manager=manager, callback_handler=None)("Remove the lime")
    assert model.tools == ["add_memory", "search_memory"]
    assert KETTLE in model.read[2] and "claude-code" in model.read[2]
    kept = {memory["text"]: (memory["owner"], memory["memory_type"]) for memory in coder.list_all(owner="strands/tea")}
    assert kept == {
        "Vinegar removes the lime.": ("strands/tea", "semantic"), "the shop takes no cards.": ("strands/tea", "learning"),
    }


def test_an_agent_that_is_awaited_learns_at_a_flush(store, coder, loop):
    async def turn():
        manager = MemoryManager([store])
        model = ScriptedModel("Done.\n\nRemember: the shop takes no cards.")
        await Agent(model=model, memory_manager=manager, callback_handler=None).invoke_async("Close the shop")
        await manager.flush()

    loop.run_until_complete(turn())
    assert [memory["text"] for memory in coder.list_all(owner="strands/tea")] == ["the shop takes no cards."]


def test_messages_are_learned_from_once(store, coder, loop):
    messages = [
        {"role": "user", "content": [{"text": "Remember: I am the user."}]},
        {"role": "assistant", "content": [{"text": "Done.\n\nRemember: the hinge is made of brass."}]},
        {"role": "assistant", "content": [{"toolUse": {"name": "bend", "toolUseId": "t1", "input": {}}}]},
    ]
    for count in (1, 0):
        assert len(loop.run_until_complete(store.add_messages(messages, AddMessagesContext([0, 1, 2])))) == count
    assert [memory["text"] for memory in coder.list_all()] == ["the hinge is made of brass."]
