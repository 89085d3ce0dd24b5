"""A memory of its own for your tests: a temporary home and a server, which leave nothing behind.

    from commonbook.testing import temporary_server

    with temporary_server() as server:
        book = server.book("rook")
        book.save("The kettle whistles at 96 degrees.")

pytest has the same as the fixtures `commonbook_server` (one for the whole run) and `commonbook` (a client in a workspace that no
other test has)."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest import mock

from . import _server
from ._async.book import AsyncCommonbook
from ._sync.book import Commonbook

# What of a developer's own environment must not reach a test.
_OTHERS = ("COMMONBOOK_URL", "COMMONBOOK_TOKEN", "COMMONBOOK_DATABASE", "COMMONBOOK_AGENT_ID", "COMMONBOOK_WORKSPACE", "COMMONBOOK_USER_ID")


class TemporaryServer:
    """A server with a home of its own."""

    def __init__(self, home: Path, program: str, environment: Mapping[str, str]) -> None:
        self.home = home
        self._program = program
        self._environment = {name: value for name, value in os.environ.items() if name not in _OTHERS}
        self._environment.update(environment, COMMONBOOK_HOME=str(home))
        self._process: subprocess.Popen[str] | None = None
        self._port = 0
        self.url = ""
        self.start()

    def start(self) -> None:
        """Starts the server, after `stop` on the same port."""
        if self._process is None:
            command = [self._program, "serve", "--port", str(self._port)]
            with mock.patch.dict(os.environ, self._environment, clear=True), tempfile.TemporaryFile("w+") as log:
                self._process, self.url = _server.launch(command, log)
            self._port = int(self.url.rpartition(":")[2])

    def stop(self) -> None:
        """Ends the server; the home stays."""
        if self._process is not None:
            _server.stop(self._process)
            self._process = None

    def book(self, agent: str = "tester", **options: Any) -> Commonbook:
        """A client of this server; `options` are those of `Commonbook`."""
        return Commonbook(self.url, agent=agent, **{"workspace": "tests", **options})

    def async_book(self, agent: str = "tester", **options: Any) -> AsyncCommonbook:
        """An `AsyncCommonbook` of this server."""
        return AsyncCommonbook(self.url, agent=agent, **{"workspace": "tests", **options})


@contextlib.contextmanager
def temporary_server(
    *, program: str | os.PathLike[str] | None = None, environment: Mapping[str, str] | None = None,
) -> Iterator[TemporaryServer]:
    """A server in a temporary home. It searches by words alone unless `environment` names an embedder, and starts fast."""
    with tempfile.TemporaryDirectory(prefix="commonbook-") as folder:
        home = Path(folder) / "home"
        chosen = os.fspath(program) if program is not None else _server.installed_program()
        server = TemporaryServer(home, chosen, {"COMMONBOOK_EMBEDDER": "off", **(environment or {})})
        try:
            yield server
        finally:
            server.stop()
