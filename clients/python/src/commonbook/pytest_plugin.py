"""The fixtures that pytest finds by itself where this package is installed."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from ._sync.book import Commonbook
from .testing import TemporaryServer, temporary_server


@pytest.fixture(scope="session")
def commonbook_server() -> Iterator[TemporaryServer]:
    """A server in a temporary home, for the whole run."""
    with temporary_server() as server:
        yield server


@pytest.fixture
def commonbook(commonbook_server: TemporaryServer) -> Iterator[Commonbook]:
    """A client named `tester`, in a workspace that no other test has."""
    with commonbook_server.book(workspace=f"test-{uuid.uuid4().hex[:12]}") as book:
        yield book
