"""The two faces of a store, the methods that block and those that await, behind one set of names."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from langgraph.store.base import BaseStore

# Returns a new, empty store, or a context manager of one, which may be one that awaits.
Factory = Callable[[], Any]
Answer = TypeVar("Answer")
WORKERS = 8


class Face:
    """A store, called by its methods that block (`sync`) or by those that await (`async`).

    A check awaits either; with `sync` nothing is awaited in truth, and no event loop runs."""

    def __init__(self, store: BaseStore, kind: str) -> None:
        self.store, self.kind = store, kind

    async def get(self, *arguments: Any, **named: Any) -> Any:
        """`get` or `aget`."""
        return await self._called("get", arguments, named)

    async def put(self, *arguments: Any, **named: Any) -> Any:
        """`put` or `aput`."""
        return await self._called("put", arguments, named)

    async def delete(self, *arguments: Any, **named: Any) -> Any:
        """`delete` or `adelete`."""
        return await self._called("delete", arguments, named)

    async def search(self, *arguments: Any, **named: Any) -> Any:
        """`search` or `asearch`."""
        return await self._called("search", arguments, named)

    async def list_namespaces(self, **named: Any) -> Any:
        """`list_namespaces` or `alist_namespaces`."""
        return await self._called("list_namespaces", (), named)

    async def batch(self, ops: Any) -> Any:
        """`batch` or `abatch`."""
        return await self._called("batch", (ops,), {})

    async def together(self, works: list[Callable[[], Coroutine[Any, Any, Answer]]]) -> list[Answer]:
        """Does all works at once, in threads or in tasks."""
        if self.kind == "async":
            return [*await asyncio.gather(*(work() for work in works))]
        with ThreadPoolExecutor(WORKERS) as pool:
            return [*pool.map(lambda work: finished(work()), works)]

    async def _called(self, name: str, arguments: Any, named: Any) -> Any:
        answer = getattr(self.store, f"a{name}" if self.kind == "async" else name)(*arguments, **named)
        return await answer if inspect.isawaitable(answer) else answer


def finished(work: Coroutine[Any, Any, Answer]) -> Answer:
    """The result of a coroutine that awaits nothing in truth."""
    try:
        work.send(None)
    except StopIteration as end:
        result: Answer = end.value
        return result
    work.close()
    raise TypeError("a method that blocks has returned something to await")


@contextlib.asynccontextmanager
async def opened(factory: Factory) -> AsyncIterator[BaseStore]:
    """A store of a factory, until the end of the block."""
    made = factory()
    if isinstance(made, Awaitable):
        made = await made
    if hasattr(made, "__aenter__") and not isinstance(made, BaseStore):
        async with made as store:
            yield store
    elif hasattr(made, "__enter__") and not isinstance(made, BaseStore):
        with made as store:
            yield store
    else:
        yield made


async def _checked(check: Callable[[Face], Awaitable[None]], factory: Factory, kind: str) -> None:
    async with opened(factory) as store:
        await check(Face(store, kind))


def check_face(check: Callable[[Face], Awaitable[None]], factory: Factory, kind: str) -> None:
    """Does one check with one face of a new store. What the store does wrong is raised."""
    work = _checked(check, factory, kind)
    if kind == "async":
        asyncio.run(work)
    else:
        finished(work)
