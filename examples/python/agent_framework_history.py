"""A conversation that goes on in another process: what a user said to one agent of Microsoft Agent Framework, the next one knows.
Run it twice.

    python agent_framework_history.py "My name is Ann."    with agent-framework-core and Commonbook installed; no model is needed

The chat client below is a script: yours is that of a provider."""

import asyncio
import sys

import agent_framework as framework

from commonbook.agent_framework import CommonbookHistoryProvider


class ScriptedClient(framework.BaseChatClient):
    """Says what it has read."""

    async def _inner_get_response(self, *, messages, stream, options, **named):
        read = ", ".join(f"{message.role}: {message.text}" for message in messages)
        answer = f"I have read {len(messages)}: {read}"
        return framework.ChatResponse(messages=[framework.Message(role="assistant", contents=[answer])])


async def main(prompt):
    history = CommonbookHistoryProvider()
    agent = framework.Agent(client=ScriptedClient(), name="tea", context_providers=[history])
    print(await agent.run(prompt, session=framework.AgentSession(session_id="ann")))
    await history.close()


asyncio.run(main(sys.argv[1]))
