"""An agent of Microsoft Agent Framework that remembers: it reads what other agents saved, and what it says to remember is kept.

    python agent_framework_agent.py     with agent-framework-core and Commonbook installed; no model is needed

The client below answers without a model: yours is `OpenAIChatClient()`, or that of another provider."""

import asyncio

from agent_framework import Agent, BaseChatClient, ChatResponse, Message

from commonbook import AsyncCommonbook
from commonbook.agent_framework import CommonbookContextProvider


class EchoClient(BaseChatClient):
    """Answers with what it read."""

    async def _inner_get_response(self, *, messages, stream, options, **named):
        read = "\n".join(message.text for message in messages)
        return ChatResponse(messages=[Message(role="assistant", contents=[f"{read}\n\nRemember: green tea wants 80 degrees."])])


async def main():
    async with AsyncCommonbook(agent="agent-framework") as book:
        coder = book.acting(agent="claude-code")
        await coder.save("The kettle of the tea shop whistles at 96 degrees.")

        agent = Agent(client=EchoClient(), name="tea", context_providers=[CommonbookContextProvider(book)])
        print((await agent.run("When does the kettle of the tea shop whistle?")).text)

        for hit in (await coder.search("How many degrees does green tea want?"))["hits"]:
            print(f"{hit['memory']['owner']}: {hit['memory']['text']}")


asyncio.run(main())
