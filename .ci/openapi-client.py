"""Uses the client that openapi-python-client made: saves, searches, updates, and reads an error with its hint."""

import sys
from pathlib import Path

from commonbook_client import Client
from commonbook_client.api.contradictions import detect_contradictions
from commonbook_client.api.memories import (
    delete_memory, get_memory, list_memories, save_memory, search_memory, update_memory,
)
from commonbook_client.models import (
    ErrorBody, ErrorKind, Importance, Memory, MemoryPage, OpenedMemories, SaveMemory, SaveResult, SaveResultPage, UpdateMemory,
    UpdateResult,
)

[url] = sys.argv[1:]
ann = Client(base_url=url, headers={"X-Commonbook-Agent": "ann"})
eve = Client(base_url=url, headers={"X-Commonbook-Agent": "eve"})

text = "The kettle of the tea shop whistles at 96 degrees."
draft = SaveMemory(text=text, topics=["kettle"], importance=Importance.HIGH)
saved = save_memory.sync(client=ann, body=draft)
assert isinstance(saved, SaveResult), saved
memory = saved.memory
assert isinstance(memory, Memory) and memory.owner == "ann", memory
assert memory.workspace.startswith("tea-shop-"), memory

several = save_memory.sync(client=ann, body=[SaveMemory(text="The shop has six tables."), draft])
assert isinstance(several, SaveResultPage) and type(several.items[0].memory) is Memory, several

found = search_memory.sync(client=eve, query="When does the kettle whistle?")
assert [hit.memory.text for hit in found.hits][0] == text, found
assert type(found.hits[0].memory) is Memory
assert type(get_memory.sync(id=memory.id, client=eve)) is OpenedMemories
page = list_memories.sync(client=eve, limit=1)
assert isinstance(page, MemoryPage) and type(page.items[0]) is Memory and page.next_, page
assert detect_contradictions.sync(client=eve).items == []

refused = update_memory.sync(id=memory.id, client=eve, body=UpdateMemory(text="It whistles at 100."))
assert isinstance(refused, ErrorBody) and refused.error.kind is ErrorKind.FORBIDDEN, refused
assert (refused.error.code, refused.error.owner) == ("ownership_mismatch", "ann"), refused
assert refused.error.hint, refused
missing = get_memory.sync_detailed(id="mem_01m7zae187e8jr2amep8xnc3vw", client=eve)
assert missing.status_code == 404 and missing.parsed.error.kind is ErrorKind.NOT_FOUND, missing

changed = update_memory.sync(id=memory.id, client=ann, body=UpdateMemory(text="It whistles at 95."))
assert isinstance(changed, UpdateResult) and changed.revision == 2, changed
assert delete_memory.sync(id=memory.id, client=ann).deleted_at

models = Path(sys.modules["commonbook_client.models"].__file__).parent
doubles = [path.stem for path in models.glob("*.py") if path.stem.rstrip("0123456789") == "memory" != path.stem]
assert not doubles, doubles
print(f"openapi-python-client: works; the hint of an error: {refused.error.hint}")
