"""Two agents of two frameworks in one memory: what a program keeps in a memory store of Anthropic's SDK, an agent of LangGraph
finds, and what that agent keeps is in the store, with its author.

    python anthropic_memory_stores.py    with anthropic, langgraph and Commonbook installed; no model and no key is needed"""

from commonbook import Commonbook
from commonbook.anthropic_stores import memory_stores_client
from commonbook.langgraph import CommonbookStore

client = memory_stores_client(agent="tea")
store = client.beta.memory_stores.create(name="Tea shop", description="What the shop knows of its kettle.")
client.beta.memory_stores.memories.create(store.id, path="/kettle.md", content="The kettle whistles at 96 degrees.")
book = Commonbook(agent="langgraph", workspace=store.id)
print(book.search("When does the kettle whistle?")["hits"][0]["memory"]["text"])

# Anybody in the project finds the store, whose path ends in the name of its workspace.
with Commonbook(agent="claude-code") as project:
    print(project.search("What does the tea shop know?")["hits"][0]["memory"]["path"] == f"/memory-stores/{store.id}")

# What an agent of LangGraph puts there is a memory of the store, and each version has its author.
CommonbookStore(book, agent="keeper").put(("notes",), "lid", {"text": "Its lid is loose."})
for version in client.beta.memory_stores.memory_versions.list(store.id, view="full"):
    print(f"{version.created_by.api_key_id} {version.path}: {version.content}")
book.close()
client.close()
