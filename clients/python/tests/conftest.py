"""What all tests of the client share: each runs with the client that blocks and with the one that awaits."""

import asyncio
import inspect
import uuid

import pytest

from commonbook import AsyncCommonbook, Commonbook


class Awaited:
    """An object whose methods await nothing: what a coroutine returns is returned, an async iterator is an iterator."""

    def __init__(self, target, loop):
        self._target, self._loop = target, loop

    def __getattr__(self, name):
        found = getattr(self._target, name)
        return self._method(found) if callable(found) else found

    def _method(self, method):
        def call(*arguments, **named):
            return self._given(method(*arguments, **named))

        return call

    def _given(self, value):
        if inspect.isawaitable(value):
            return self._given(self._loop.run_until_complete(value))
        if inspect.isasyncgen(value):
            return self._iterate(value)
        if type(value).__module__.startswith("commonbook._async"):
            return Awaited(value, self._loop)
        return value

    def _iterate(self, generator):
        try:
            while True:
                try:
                    yield self._loop.run_until_complete(generator.__anext__())
                except StopAsyncIteration:
                    return
        finally:
            self._loop.run_until_complete(generator.aclose())

    def __enter__(self):
        return self._given(self._target.__aenter__())

    def __exit__(self, *error):
        self._loop.run_until_complete(self._target.__aexit__(*error))


@pytest.fixture(scope="session")
def loop():
    """The event loop of all tests."""
    loop = asyncio.new_event_loop()
    yield loop
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()


@pytest.fixture(params=["sync", "async"])
def make(request, loop):
    """Makes a client as its arguments say: `Commonbook`, then `AsyncCommonbook`."""
    made = []

    def make(*arguments, **named):
        book = Commonbook(*arguments, **named) if request.param == "sync" else Awaited(AsyncCommonbook(*arguments, **named), loop)
        made.append(book)
        return book

    yield make
    for book in made:
        book.close()


@pytest.fixture
def workspace():
    """A workspace that no other test has."""
    return f"test-{uuid.uuid4().hex[:12]}"


@pytest.fixture
def book(make, commonbook_server, workspace):
    """The agent ann."""
    return make(commonbook_server.url, agent="ann", workspace=workspace)


@pytest.fixture
def eve(make, commonbook_server, workspace):
    """Another agent in the same workspace."""
    return make(commonbook_server.url, agent="eve", workspace=workspace)
