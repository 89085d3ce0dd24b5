"""Two agents of two frameworks in one memory: what a graph of LangGraph puts into its store, an agent of Pydantic AI finds, with
its author, and another graph reads.

    python langgraph_two_frameworks.py    with langgraph, pydantic-ai-slim and Commonbook installed; no model is needed

The model below is a script: yours is `Agent("openai:…", toolsets=[toolset()])`."""

import asyncio
from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime
from pydantic_ai import Agent, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel

from commonbook import AsyncCommonbook
from commonbook.langgraph import CommonbookStore
from commonbook.pydantic_ai import toolset


class State(TypedDict):
    heard: str


async def note(state: State, runtime: Runtime):
    """Keeps what the graph heard, and reads what fits it."""
    await runtime.store.aput(("notes", "kettle"), "whistle", {"text": state["heard"]})
    found = await runtime.store.asearch(("notes",), query="When does the kettle whistle?")
    print("\n".join(f"{'/'.join(item.namespace)}/{item.key}: {item.value['text']}" for item in found))


def model(messages, info):
    """Searches, and says what it found."""
    returned = [part.content for message in messages for part in message.parts if isinstance(part, ToolReturnPart)]
    if not returned:
        return ModelResponse(parts=[ToolCallPart("search_memory", {"query": "When does the kettle whistle?"})])
    return ModelResponse(parts=[TextPart("\n".join(f"{hit['author']}: {hit['text']}" for hit in returned[0]))])


async def main():
    graph = StateGraph(State).add_node(note).add_edge(START, "note")
    store = CommonbookStore(agent="keeper")
    await graph.compile(store=store).ainvoke({"heard": "The kettle of the tea shop whistles at 96 degrees."})

    async with AsyncCommonbook(agent="pydantic-ai") as book:
        tea = Agent(FunctionModel(model), name="tea", toolsets=[toolset(book)])
        print((await tea.run("Make tea")).output)

    # Another graph reads the items of the first one, and cannot change them.
    reader = CommonbookStore(store.book, agent="reader", owner="langgraph/keeper")
    print((await reader.aget(("notes", "kettle"), "whistle")).value)
    store.close()


asyncio.run(main())
