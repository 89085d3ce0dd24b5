"""The memory of Pydantic AI's harness in Commonbook: what one agent writes into its notebook, others find, with its name.

    python pydantic_ai_harness_memory.py    with pydantic-ai-harness and Commonbook installed; a script stands for the model"""

from pydantic_ai import Agent, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai_harness.memory import Memory

from commonbook import Commonbook
from commonbook.pydantic_ai_harness import CommonbookMemoryStore


def writer(messages, info):
    """Writes into its notebook once."""
    if len(messages) > 1:
        return ModelResponse(parts=[TextPart("Noted.")])
    return ModelResponse(parts=[ToolCallPart("write_memory", {"content": "The kettle of the tea shop whistles at 96 degrees."})])


def reader(messages, info):
    """Says what it was told before its first word."""
    told = [part.content for part in messages[0].parts if not isinstance(part.content, str)]
    return ModelResponse(parts=[TextPart(told[0][0].content)])


with Commonbook(agent="pydantic-ai") as book:
    tea = Agent(FunctionModel(writer), capabilities=[Memory(store=CommonbookMemoryStore(book, agent="tea"))])
    print(tea.run_sync("Our kettle whistles at 96 degrees.").output)

    # An agent of another program finds the notebook by its words.
    found = book.acting(agent="claude-code").search("When does the kettle whistle?")["hits"][0]["memory"]
    print(f"{found['owner']} {found['path']}: {found['text']}", end="")

    # A further one has it from the beginning of its run, and cannot change it.
    notebook = CommonbookMemoryStore(book, agent="guest", owner=found["owner"])
    guest = Agent(FunctionModel(reader), capabilities=[Memory(store=notebook, heading=f"Notes of {found['owner']}")])
    print(guest.run_sync("When does the kettle whistle?").output)
