"""A plugin of pytest that runs the tests of Anthropic's SDK against memory stores of ours. They are written for a mock that takes
any id; here each request is about a store, a memory and a version that are made for it."""

import functools
import hashlib
import json
import os

import httpx2
import pytest
from anthropic import Anthropic, AsyncAnthropic

from commonbook import AsyncCommonbook, Commonbook
from commonbook.anthropic_stores import AsyncMemoryStoresTransport, MemoryStoresTransport

# The ids of the tests, and what else only a mock takes.
STORE, MEMORY, VERSION = "memory_store_id", "memory_id", "memory_version_id"
EXPECTED, PREFIX = "expected_content_sha256", "path_prefix"
DIGEST = "210b9798eb53baa4e69d31c1071cf03d212b8ad0ca30cf321e0ea82e120aac26"
HEADER = "anthropic-workspace-id"


@functools.cache
def plain():
    """A client for the whole run."""
    return Commonbook(**where())


def made(request):
    """A store, a memory of it and the first of its two versions, in place of the ids of a request."""
    if STORE not in request.url.path:
        return {}
    workspace = request.headers.get(HEADER)
    headers = {HEADER: workspace} if workspace else {}
    creation = httpx2.Request("POST", "https://mock/v1/memory_stores", json={"name": "mock"}, headers=headers)
    store = json.loads(MemoryStoresTransport(plain()).handle_request(creation).read())["id"]
    book = plain().acting(workspace=store)
    memory = book.save("first", path="/first")["memory"]
    book.update(memory["id"], text="second")
    digest = hashlib.sha256(b"second").hexdigest()
    version = f"memver_{memory['id'].removeprefix('mem_')}_1"
    return {STORE: store, MEMORY: memory["id"], VERSION: version, DIGEST: digest, EXPECTED: digest, PREFIX: "/"}


def real(request, values, content):
    """A request of a test about what was made for it."""
    path = "/".join(values.get(part, part) for part in request.url.path.split("/"))
    query = {name: values.get(value, value) for name, value in request.url.params.items()}
    if query.get("page") == "page":
        del query["page"]
    if query.get("limit") == "0":
        query["limit"] = "1"
    body = json.loads(content) if content else {}
    if "precondition" in body:
        body["precondition"]["content_sha256"] = values[body["precondition"]["content_sha256"]]
    url = request.url.copy_with(path=path, query=None)
    headers = {name: value for name, value in request.headers.items() if name != "content-length"}
    return httpx2.Request(request.method, url, params=query, headers=headers, json=body if content else None)


class Mock(MemoryStoresTransport):
    """The transport of ours, which makes what a request is about."""

    def handle_request(self, request):
        return super().handle_request(real(request, made(request), request.read()))


class AsyncMock(AsyncMemoryStoresTransport):
    """The same for a client that awaits."""

    async def handle_async_request(self, request):
        return await super().handle_async_request(real(request, made(request), await request.aread()))


def options(param):
    """The options of a client: the tests ask for strict and for loose validation."""
    return {"api_key": "mock", "_strict_response_validation": param}


def where():
    """The server, and a workspace that nothing else has."""
    return {"url": os.environ["STORES_URL"], "agent": "mock", "workspace": os.environ["STORES_WORKSPACE"]}


@pytest.fixture
def client(request):
    with httpx2.Client(transport=Mock(plain())) as http:
        yield Anthropic(http_client=http, **options(request.param))


@pytest.fixture
async def async_client(request, anyio_backend):
    async with AsyncCommonbook(**where()) as book, httpx2.AsyncClient(transport=AsyncMock(book)) as http:
        yield AsyncAnthropic(http_client=http, **options(request.param))


@pytest.fixture
def anyio_backend():
    return "asyncio"


def pytest_sessionfinish():
    plain().close()


def pytest_collection_modifyitems(items):
    for item in items:
        if "async_client" in item.fixturenames:
            item.add_marker(pytest.mark.anyio)
