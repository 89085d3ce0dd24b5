"""Microsoft Agent Framework's context provider, with the framework's own agent and a scripted chat client."""

import asyncio
import logging
import re

import pytest

pytest.importorskip("agent_framework", reason="agent-framework-core is installed by .ci/python")

from agent_framework import Agent, BaseChatClient, ChatResponse, Message  # noqa: E402

from commonbook import AsyncCommonbook  # noqa: E402
from commonbook.agent_framework import CommonbookContextProvider  # noqa: E402

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
