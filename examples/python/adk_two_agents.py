"""Two agents of two programs in one memory: what a coding agent saved, an agent of Google ADK finds, and knows whose it is.

    python adk_two_agents.py      with google-adk and Commonbook installed; no model is needed"""

import asyncio

from google.adk.events.event import Event
from google.adk.sessions import InMemorySessionService
from google.genai import types

from commonbook import AsyncCommonbook
from commonbook.adk import CommonbookMemoryService


async def main():
    async with AsyncCommonbook(agent="google-adk") as book:
        coder = book.acting(agent="claude-code")
        await coder.save("The kettle of the tea shop whistles at 96 degrees.", about="project")

        service, sessions = CommonbookMemoryService(book), InMemorySessionService()
        session = await sessions.create_session(app_name="shop", user_id="alex")
        said = types.Content(role="user", parts=[types.Part(text="I prefer my tea at 80 degrees.")])
        await sessions.append_event(session, Event(author="user", content=said))
        await service.add_session_to_memory(session)

        found = await service.search_memory(app_name="shop", user_id="alex", query="How hot is the tea of the shop?")
        for memory in found.memories:
            print(f"{memory.author}: {memory.content.parts[0].text}")

        # The work goes on elsewhere, with what belongs to it.
        handed = await book.handoff("claude-code", "Lower the temperature of the kettle", memories=[found.memories[0].id])
        print((await coder.accept_handoff(handed["handoff"]["id"]))["text"])


asyncio.run(main())
