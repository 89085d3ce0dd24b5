"""Waiting, and blocking work, for both clients."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


def pause(seconds: float) -> None:
    """Waits."""
    time.sleep(seconds)


async def async_pause(seconds: float) -> None:
    """Waits, and lets others run."""
    await asyncio.sleep(seconds)


def blocking(work: Callable[[], Result]) -> Result:
    """Does blocking work."""
    return work()


async def async_blocking(work: Callable[[], Result]) -> Result:
    """Does blocking work, and lets others run."""
    return await asyncio.to_thread(work)
