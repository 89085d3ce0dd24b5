"""Anthropic's memory stores over Commonbook:

    from commonbook.anthropic_stores import memory_stores_client

    client = memory_stores_client(agent="weather")
    store = client.beta.memory_stores.create(name="Tea shop")
    client.beta.memory_stores.memories.create(store.id, path="/kettle.md", content="The kettle whistles at 96 degrees.")

Every call of `client.beta.memory_stores` of anthropic 2.14.0 works. One client for both, with messages and everything else at
Anthropic's service:

    from anthropic import Anthropic, DefaultHttpxClient
    from httpx2 import HTTPTransport
    from commonbook.anthropic_stores import MemoryStoresTransport

    transport = MemoryStoresTransport(agent="weather", others=HTTPTransport())
    client = Anthropic(http_client=DefaultHttpxClient(transport=transport))"""

from ._async.memory_stores import AsyncMemoryStoresTransport, async_memory_stores_client
from ._sync.memory_stores import MemoryStoresTransport, memory_stores_client

__all__ = ["AsyncMemoryStoresTransport", "MemoryStoresTransport", "async_memory_stores_client", "memory_stores_client"]
