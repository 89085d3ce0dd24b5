"""Two agents of two frameworks in one memory: what an agent of Microsoft Agent Framework learned and handed over, an agent of
Pydantic AI finds, with its author.

    python pydantic_ai_two_frameworks.py    with pydantic-ai-slim, agent-framework-core and Commonbook installed; no model is needed

The two models below are scripts: yours are `Agent("openai:…", toolsets=[toolset()])`, and the chat client of a provider."""

import asyncio

import agent_framework as framework
from pydantic_ai import Agent, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel

from commonbook import AsyncCommonbook
from commonbook.agent_framework import CommonbookContextProvider
from commonbook.pydantic_ai import toolset


class ScriptedClient(framework.BaseChatClient):
    """Has learned something."""

    async def _inner_get_response(self, *, messages, stream, options, **named):
        answer = "The shop is closed.\n\nRemember: the kettle of the tea shop whistles at 96 degrees."
        return framework.ChatResponse(messages=[framework.Message(role="assistant", contents=[answer])])


def model(messages, info):
    """Lists the work that waits, accepts it, searches, and says what the tools returned."""
    returned = [part.content for message in messages for part in message.parts if isinstance(part, ToolReturnPart)]
    calls = [
        lambda: ToolCallPart("list_handoffs", {}),
        lambda: ToolCallPart("accept_handoff", {"handoff": returned[0][0]["id"]}),
        lambda: ToolCallPart("search_memory", {"query": "When does the kettle whistle?"}),
        lambda: TextPart("\n".join([returned[1], *(f"{hit['author']}: {hit['text']}" for hit in returned[2])])),
    ]
    return ModelResponse(parts=[calls[len(returned)]()])


async def main():
    async with AsyncCommonbook(agent="agent-framework") as book:
        provider = CommonbookContextProvider(book)
        await framework.Agent(client=ScriptedClient(), name="keeper", context_providers=[provider]).run("Close the tea shop")
        await book.acting(agent="agent-framework/keeper").handoff("pydantic-ai/tea", "Lower the temperature of the kettle")

    async with AsyncCommonbook(agent="pydantic-ai") as book:
        tea = Agent(FunctionModel(model), name="tea", toolsets=[toolset(book)])
        print((await tea.run("Do what waits for you")).output)


asyncio.run(main())
