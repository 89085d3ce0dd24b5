"""Two agents of two programs in one memory: what a coding agent saved, an agent of Strands finds, and reads who saved it.

    python strands_two_agents.py  with strands-agents and Commonbook installed; no model is needed

An agent has the same with `Agent(model=…, memory_manager=manager)`: the context before each turn, and the tools."""

import asyncio

from strands.memory import MemoryManager

from commonbook import Commonbook
from commonbook.strands import INJECTION, CommonbookMemoryStore


async def main(book):
    coder = book.acting(agent="claude-code")
    coder.save("The kettle of the tea shop whistles at 96 degrees.")

    manager = MemoryManager([CommonbookMemoryStore(book, agent="tea")], add_tool_config=True, injection=INJECTION)
    await manager.add("Green tea wants 80 degrees.")
    found = await manager.search("How many degrees has the kettle, and how many has the tea?")
    for entry in found:
        print(f"{entry.metadata['author']}: {entry.content}")

    # The work goes on elsewhere, with what belongs to it.
    memories = [entry.metadata["id"] for entry in found]
    handed = book.acting(agent="strands/tea").handoff("claude-code", "Lower the temperature of the kettle", memories=memories)
    print(coder.accept_handoff(handed["handoff"]["id"])["text"])


with Commonbook(agent="strands") as book:
    asyncio.run(main(book))
