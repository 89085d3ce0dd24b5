"""Two agents in one memory: a graph of LangGraph reads what a coding agent saved, asks a person, and goes on in another process.
What the graph knows of its thread belongs to it alone.

    python langgraph_checkpointer.py    with langgraph and Commonbook installed; no model is needed

A graph has the same with `builder.compile(checkpointer=CommonbookSaver(agent="tea"))`."""

from typing import TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

from commonbook import Commonbook
from commonbook.langgraph import CommonbookSaver

THREAD = {"configurable": {"thread_id": "kettle"}}


class State(TypedDict):
    task: str
    known: str
    answer: str


def graph(book):
    """Searches, asks, and acts."""
    tea = book.acting(agent="langgraph/tea")

    def search(state):
        memory = tea.search(state["task"])["hits"][0]["memory"]
        return {"known": f"{memory['owner']} says: {memory['text']}"}

    def ask(state):
        return {"answer": interrupt(f"Lower it, although {state['known']}?")}

    def act(state):
        tea.save(f"Done, after the answer {state['answer']}.")

    builder = StateGraph(State).add_sequence([search, ask, act]).add_edge(START, "search").add_edge("act", END)
    return builder.compile(checkpointer=CommonbookSaver(book, agent="tea"))


with Commonbook(agent="langgraph") as book:
    book.acting(agent="claude-code").save("The kettle of the tea shop whistles at 96 degrees.")
    asked = graph(book).invoke({"task": "When does the kettle whistle?"}, THREAD)
    print(asked["__interrupt__"][0].value)

# Another process has the thread, and goes on with it.
with Commonbook(agent="langgraph") as book:
    graph(book).invoke(Command(resume="yes"), THREAD)
    coder = book.acting(agent="claude-code")
    for memory in coder.list(owner="langgraph/tea")["items"]:
        print(f"{memory['owner']}: {memory['text']}")
    documents = book.acting(agent="langgraph/tea").list(path="/checkpoints/kettle/")["items"]
    seen = len(coder.list(path="/checkpoints/")["items"])
    print(f"{documents[0]['owner']} has documents of its thread, and claude-code sees {seen} of them.")
