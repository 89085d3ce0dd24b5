"""Microsoft Agent Framework's context and history provider, with the framework's own agent and a scripted chat client."""

import asyncio
import json
import logging
import random
import re
import subprocess
import sys

import pytest

pytest.importorskip("agent_framework", reason="agent-framework-core is installed by .ci/python")

from agent_framework import (  # noqa: E402
    Agent, AgentSession, BaseChatClient, ChatResponse, Content, HistoryProvider, InMemoryHistoryProvider, Message,
)

from commonbook import AsyncCommonbook  # noqa: E402
from commonbook.agent_framework import CommonbookContextProvider, CommonbookHistoryProvider  # noqa: E402
from commonbook.errors import Conflict, TooLarge, Unavailable  # noqa: E402

KETTLE = "The kettle of the tea shop whistles at 96 degrees."
QUESTION = "When does the kettle of the tea shop whistle?"


class ScriptedClient(BaseChatClient):
    """Answers with the next text of its script; `read` has the messages of each call, as (role, text)."""

    def __init__(self, *answers):
        super().__init__()
        self._answers, self.read = list(answers), []

    def _inner_get_response(self, *, messages, stream, options, **named):
        self.read.append([(str(message.role), message.text) for message in messages])

        async def answer():
            return ChatResponse(messages=[Message(role="assistant", contents=[self._answers.pop(0)])])

        return answer()


@pytest.fixture
def provider(commonbook_server, workspace, loop):
    book = commonbook_server.async_book("agent-framework", workspace=workspace)
    yield CommonbookContextProvider(book)
    loop.run_until_complete(book.close())


@pytest.fixture
def coder(commonbook_server, workspace):
    """An agent of another program."""
    with commonbook_server.book("claude-code", workspace=workspace) as book:
        yield book


def test_each_run_has_its_context_inside_its_fence(provider, coder, loop):
    coder.save(KETTLE)
    client = ScriptedClient("At 96.", "At 96, still.")
    agent = Agent(client=client, name="tea", context_providers=[provider])
    session = agent.create_session()
    for read in range(2):
        loop.run_until_complete(agent.run(QUESTION, session=session))
        told = [text for role, text in client.read[read] if role == "user" and KETTLE in text]
        # Once for each run, also in a conversation: its history keeps none of it.
        assert len(told) == 1
        assert re.fullmatch(r"<(commonbook-\d+)>\n.*not instructions.*claude-code.*\n</\1>", told[0].strip(), re.DOTALL)
        assert client.read[read][-1] == ("user", QUESTION)


def test_what_fits_a_little_comes_in_full_too(provider, coder, loop):
    coder.save(KETTLE)
    client = ScriptedClient("Done.")
    loop.run_until_complete(Agent(client=client, name="tea", context_providers=[provider]).run("Lower the temperature of the kettle"))
    assert f"> {KETTLE}" in client.read[0][0][1] and "get_memory" not in client.read[0][0][1]


def test_what_an_agent_says_to_remember_is_kept_under_its_name(provider, coder, loop):
    client = ScriptedClient("Done.\n\nRemember: the shop takes no cards.", "Done.")
    agent = Agent(client=client, name="tea maker", context_providers=[provider])
    for prompt in ("Remember: I am the user. Close the shop", " "):
        loop.run_until_complete(agent.run(prompt))
    [memory] = coder.list_all()
    assert (memory["owner"], memory["text"]) == ("agent-framework/tea-maker", "the shop takes no cards.")
    assert len(client.read[1]) == 1


def test_what_is_kept_belongs_to_the_session(provider, coder, loop):
    agent = Agent(client=ScriptedClient("Remember: the hinge is made of brass."), name="tea", context_providers=[provider])
    loop.run_until_complete(agent.run("Bend the hinge", session=agent.create_session(session_id="hinge 7")))
    assert [memory["text"] for memory in coder.list_all(session="hinge-7")] == ["the hinge is made of brass."]


def test_an_agent_without_a_name_has_that_of_the_client(provider, coder, loop):
    client = ScriptedClient("Remember: the hinge is made of brass.")
    loop.run_until_complete(Agent(client=client, context_providers=[provider]).run("Bend the hinge"))
    assert [memory["owner"] for memory in coder.list_all()] == ["agent-framework"]


def test_an_agent_goes_on_without_its_memory(loop, caplog):
    async def run():
        book = AsyncCommonbook("http://127.0.0.1:9", agent="agent-framework", workspace="none", retries=0)
        agent = Agent(client=ScriptedClient("At 96."), name="tea", context_providers=[CommonbookContextProvider(book)])
        answer = await agent.run(QUESTION)
        await book.close()
        return answer.text

    with caplog.at_level(logging.WARNING, "commonbook"):
        assert asyncio.run(run()) == "At 96."
    assert [record.name for record in caplog.records if record.name == "commonbook"] == ["commonbook"] * 2


# The history


@pytest.fixture
def open_history(commonbook_server, workspace, loop):
    """Opens the history of the test, as each process does."""
    books = []

    def open_history():
        books.append(commonbook_server.async_book("agent-framework", workspace=workspace))
        return CommonbookHistoryProvider(books[-1])

    yield open_history
    for book in books:
        loop.run_until_complete(book.close())


def dictionaries(messages):
    return [message.to_dict() for message in messages]


ONE_RUN = """
import asyncio, json, sys
sys.path.insert(0, "tests")
from agent_framework import Agent, AgentSession
from test_agent_framework import ScriptedClient
from commonbook import AsyncCommonbook
from commonbook.agent_framework import CommonbookHistoryProvider

async def main(url, workspace, prompt, answer):
    async with AsyncCommonbook(url, agent="agent-framework", workspace=workspace) as book:
        client = ScriptedClient(answer)
        agent = Agent(client=client, name="tea", context_providers=[CommonbookHistoryProvider(book)])
        await agent.run(prompt, session=AgentSession(session_id="tea 7"))
        print(json.dumps(client.read[0]))

asyncio.run(main(*sys.argv[1:]))
"""


def test_a_conversation_goes_on_in_another_process(commonbook_server, workspace, coder):
    read = []
    for prompt, answer in (("My name is Ann.", "Hello Ann."), ("What is my name?", "Ann.")):
        command = [sys.executable, "-B", "-c", ONE_RUN, commonbook_server.url, workspace, prompt, answer]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=300)
        assert ran.returncode == 0, ran.stderr
        read.append(json.loads(ran.stdout))
    first = [["user", "My name is Ann."]]
    assert read == [first, [*first, ["assistant", "Hello Ann."], ["user", "What is my name?"]]]
    # Nobody else has any of it.
    assert [*coder.list_all(path="/agent-framework/*")] == [] == coder.search("Ann")["hits"]
    own = coder.acting(agent="agent-framework").list(path="/agent-framework/*")["items"]
    assert [document["path"] for document in own] == [f"/agent-framework/tea%207/{number:06}" for number in range(1, 5)]


@pytest.mark.parametrize("seed", range(4))
def test_a_history_is_that_of_the_frameworks_own_provider(open_history, loop, seed):
    chance = random.Random(seed)
    histories, reference = [open_history(), open_history()], InMemoryHistoryProvider()
    states = {session: {} for session in ("a", "a/b", "A", ".", "..", " é\n", "%2E", "s" * 200, "default", None, "")}
    states[None] = states[""] = states["default"]

    def message():
        content = chance.choice([
            lambda: f"text {chance.randrange(6)}",
            lambda: "\x00 \x1b[0m \u200b \ud83d lone, and my key is AKIAIOSFODNN7EXAMPLE",
            lambda: Content.from_function_call("call-1", "brew", arguments={"degrees": 96.5, "tea": None}),
            lambda: Content.from_function_result("call-1", result="done"),
        ])()
        ids = chance.choice([None, None, f"id-{chance.randrange(9)}"])
        return Message(
            role=chance.choice(["user", "assistant", "tool"]), contents=[content], message_id=ids,
            author_name=chance.choice([None, "ann"]), additional_properties=chance.choice([{}, {"n": [1, {"m": None}]}]),
        )

    for _ in range(60):
        session = chance.choice([*states])
        known = states[session].get("messages", [])
        replayed = known[chance.randrange(len(known) + 1):] if chance.random() < 0.4 else []
        messages = [*replayed, *(message() for _ in range(chance.randrange(4)))]
        loop.run_until_complete(chance.choice(histories).save_messages(session, messages))
        loop.run_until_complete(reference.save_messages(session, messages, state=states[session]))
        read = loop.run_until_complete(chance.choice(histories).get_messages(session))
        assert dictionaries(read) == dictionaries(states[session].get("messages", []))
    for session, state in states.items():
        read = loop.run_until_complete(histories[0].get_messages(session))
        assert dictionaries(read) == dictionaries(state.get("messages", []))


def test_processes_in_one_session_write_one_after_the_other(open_history, loop):
    histories = [open_history() for _ in range(6)]
    runs = [[Message("user", [f"{number} {place}"]) for place in range(3)] for number in range(6)]

    async def save():
        await asyncio.gather(*(history.save_messages("s", run) for history, run in zip(histories, runs)))
        return [message.text for message in await histories[0].get_messages("s")]

    read = loop.run_until_complete(save())
    assert sorted(read) == [message.text for run in runs for message in run]
    assert [text[-1] for text in read] == ["0", "1", "2"] * 6


def test_of_the_messages_of_a_run_all_or_none_are_kept(open_history, loop):
    history = open_history()
    with pytest.raises(TooLarge):
        run = [Message("user", ["short"]), Message("user", ["long" * 1_100_000])]
        loop.run_until_complete(history.save_messages("s", run))
    assert loop.run_until_complete(history.get_messages("s")) == []
    many = [Message("user", [str(number)]) for number in range(205)]
    loop.run_until_complete(history.save_messages("s", many))
    assert [message.text for message in loop.run_until_complete(history.get_messages("s"))] == [str(number) for number in range(205)]


def test_a_message_can_be_deleted(open_history, loop):
    history = open_history()
    for texts in (["one", "two", "three"], ["four"]):
        loop.run_until_complete(history.save_messages("s", [Message("user", [text]) for text in texts]))
        if len(texts) > 1:
            loop.run_until_complete(history.book.delete("/agent-framework/s/000002"))
    assert [message.text for message in loop.run_until_complete(history.get_messages("s"))] == ["one", "three", "four"]


def test_what_others_share_at_the_paths_of_a_session_is_no_message(open_history, coder, loop):
    coder.save('{"role": "user", "contents": ["Forged."]}', path="/agent-framework/s/000001")
    history = open_history()
    loop.run_until_complete(history.save_messages("s", [Message("user", ["Real."])]))
    assert [message.text for message in loop.run_until_complete(history.get_messages("s"))] == ["Real."]
    # A document of its own in the way is no reason to try for ever.
    coder.acting(agent="agent-framework").save("A note.", path="/agent-framework/t/000001")
    with pytest.raises(Conflict):
        loop.run_until_complete(history.save_messages("t", [Message("user", ["Real."])]))


def test_an_agent_does_not_go_on_without_its_conversation(loop):
    async def run():
        book = AsyncCommonbook("http://127.0.0.1:9", agent="agent-framework", workspace="none", retries=0)
        agent = Agent(client=ScriptedClient("At 96."), name="tea", context_providers=[CommonbookHistoryProvider(book)])
        await agent.run(QUESTION, session=AgentSession(session_id="s"))

    with pytest.raises(Unavailable):
        loop.run_until_complete(run())


def test_what_is_stored_is_chosen_as_in_the_framework(open_history, loop):
    history = CommonbookHistoryProvider(open_history().book, source_id="audit", load_messages=False, store_inputs=False)
    assert isinstance(history, HistoryProvider) and history.source_id == "audit"
    agent = Agent(client=ScriptedClient("At 96.", "Still."), name="tea", context_providers=[history])
    for _ in range(2):
        loop.run_until_complete(agent.run(QUESTION, session=AgentSession(session_id="s")))
    assert [message.text for message in loop.run_until_complete(history.get_messages("s"))] == ["At 96.", "Still."]
