"""A program written for mem0 uses Commonbook with one import changed:

    from commonbook.mem0 import Memory      # from mem0 import Memory

    memory = Memory()
    memory.add("I prefer green tea", user_id="alex")
    memory.search("What does Alex drink?", filters={"user_id": "alex"})

The signatures and answers are those of mem0ai 2.2.1."""

from ._async.mem0 import AsyncMemory
from ._mem0 import ValidationError
from ._sync.mem0 import Memory

__all__ = ["AsyncMemory", "Memory", "ValidationError"]
