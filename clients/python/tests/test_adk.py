"""Google ADK's memory service, with ADK's own classes; what its own service does, ours does."""

import uuid

import pytest

pytest.importorskip("google.adk", reason="google-adk is installed by .ci/python")

from google.adk.events.event import Event  # noqa: E402
from google.adk.memory.base_memory_service import BaseMemoryService  # noqa: E402
from google.adk.memory.in_memory_memory_service import InMemoryMemoryService  # noqa: E402
from google.adk.memory.memory_entry import MemoryEntry  # noqa: E402
from google.adk.sessions.session import Session  # noqa: E402
from google.genai import types  # noqa: E402

import commonbook  # noqa: E402
from commonbook.adk import CommonbookMemoryService  # noqa: E402

SHOP = {"app_name": "shop", "user_id": "alex"}


def event(author, text, **more):
    parts = [types.Part(text=text)] if text else [types.Part(function_call=types.FunctionCall(name="boil"))]
    content = types.Content(role="user" if author == "user" else "model", parts=parts)
    return Event(id=uuid.uuid4().hex, author=author, content=content, timestamp=1764400000.0, **more)


@pytest.fixture
def service(commonbook_server, workspace, loop):
    """The service; `do` runs a coroutine."""
    book = commonbook_server.async_book("google-adk", workspace=workspace)
    service = CommonbookMemoryService(book)
    service.do = loop.run_until_complete
    yield service
    loop.run_until_complete(book.close())


def texts(response):
    return [memory.content.parts[0].text for memory in response.memories]


def test_a_session_is_kept_once_and_found(service):
    events = [event("user", "I prefer green tea"), event("tea_agent", "Green tea is at 80 degrees"), event("tea_agent", "")]
    session = Session(id="s 1", events=events, **SHOP)
    reference = InMemoryMemoryService()
    for kept in (service, reference):
        for _ in range(2):
            service.do(kept.add_session_to_memory(session))
        found = service.do(kept.search_memory(query="green tea", **SHOP)).memories
        assert {(memory.author, memory.content.parts[0].text, memory.content.role, memory.timestamp[:19]) for memory in found} == {
            ("user", "I prefer green tea", "user", found[0].timestamp[:19]),
            ("tea_agent", "Green tea is at 80 degrees", "model", found[0].timestamp[:19]),
        }
        assert service.do(kept.search_memory(query="green tea", app_name="shop", user_id="bert")).memories == []


def test_whose_words_they_are_is_known_to_others(service, commonbook_server, workspace):
    session = Session(id="s1", events=[event("user", "I prefer green tea"), event("tea_agent", "Green tea it is")], **SHOP)
    service.do(service.add_session_to_memory(session))
    with commonbook_server.book("claude-code", workspace=workspace, user="alex") as coder:
        assert {memory["owner"]: memory["text"] for memory in coder.list_all()} == {
            "google-adk": "I prefer green tea", "google-adk/tea": "Green tea it is",
        }
        coder.save("The kettle for green tea is broken", about="project")
    found = service.do(service.search_memory(query="kettle", **SHOP)).memories
    assert (found[0].author, found[0].content.parts[0].text) == ("claude-code", "The kettle for green tea is broken")


def test_events_come_one_turn_at_a_time(service):
    first, second = event("user", "I prefer green tea"), event("user", "Without sugar, in green cups")
    service.do(service.add_events_to_memory(events=[first], session_id="s1", custom_metadata={"shop": 7}, **SHOP))
    service.do(service.add_events_to_memory(events=[first, second], session_id="s1", **SHOP))
    service.do(service.add_events_to_memory(events=[event("user", "No session has this green")], **SHOP))
    found = service.do(service.search_memory(query="green", **SHOP)).memories
    assert len(found) == 3
    assert [memory.custom_metadata for memory in found if "prefer" in memory.content.parts[0].text] == [{"shop": 7}]


def test_memories_are_kept_as_they_come(service):
    memory = MemoryEntry(
        content=types.Content(parts=[types.Part(text="Alex likes green tea")]), author="clerk", custom_metadata={"sure": True},
        timestamp="2026-01-02T03:04:05+00:00",
    )
    service.do(service.add_memory(memories=[memory], **SHOP))
    [found] = service.do(service.search_memory(query="green tea", **SHOP)).memories
    assert (found.author, found.custom_metadata, found.timestamp) == ("clerk", {"sure": True}, memory.timestamp)


def test_a_deleted_memory_stays_deleted(service, commonbook_server, workspace):
    session = Session(id="s1", events=[event("tea_agent", "Green tea is at 80 degrees")], **SHOP)
    service.do(service.add_session_to_memory(session))
    [found] = service.do(service.search_memory(query="green tea", **SHOP)).memories
    service.do(service.delete_memory(memory_id=found.id, **SHOP))
    service.do(service.add_session_to_memory(session))
    assert service.do(service.search_memory(query="green tea", **SHOP)).memories == []
    service.do(service.delete_memory(memory_id=found.id, **SHOP))
    service.do(service.delete_memory(**SHOP))
    assert service.do(service.search_memory(query=" ", **SHOP)).memories == []
    with commonbook_server.book("claude-code", workspace=workspace) as coder:
        theirs = coder.save("The kettle is broken")["memory"]["id"]
    with pytest.raises(commonbook.Forbidden):
        service.do(service.delete_memory(memory_id=theirs, **SHOP))


def test_the_service_has_every_method_of_its_base():
    for name in vars(BaseMemoryService):
        if not name.startswith("_"):
            assert getattr(CommonbookMemoryService, name) is not getattr(BaseMemoryService, name), name
