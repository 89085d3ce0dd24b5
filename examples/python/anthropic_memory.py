"""Claude's memory tool in Commonbook: what one agent writes into a file, another one finds and reads.

    python anthropic_memory.py    with anthropic and Commonbook installed; no model is needed

A model has the same with `client.beta.messages.tool_runner(…, tools=[memory])`: these are the commands that it sends."""

from commonbook import Commonbook
from commonbook.anthropic import CommonbookMemoryTool

with Commonbook(agent="anthropic") as book:
    memory = CommonbookMemoryTool(book, agent="tea")
    memory.call({"command": "create", "path": "/memories/kettle.md", "file_text": "The kettle whistles at 96 degrees.\n"})
    memory.call({"command": "insert", "path": "/memories/kettle.md", "insert_line": 1, "insert_text": "Its lid is loose."})
    print(memory.call({"command": "view", "path": "/memories/kettle.md"}))

    # Another agent finds the file by its words, and views the folder of its owner.
    found = book.acting(agent="claude-code").search("When does the kettle whistle?")["hits"][0]["memory"]
    print(found["owner"], found["path"])
    reader = CommonbookMemoryTool(book, agent="reader", owner=found["owner"])
    print(reader.call({"command": "view", "path": "/memories"}))
