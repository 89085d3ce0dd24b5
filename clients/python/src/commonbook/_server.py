"""Where the server is: at an address, or on this machine, where it is found or started."""

from __future__ import annotations

import atexit
import json
import os
import re
import shutil
import subprocess
import sysconfig
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import httpx

from .errors import Unavailable

HEALTH_SECONDS = 2.0
START_SECONDS = 60.0
STOP_SECONDS = 30.0


@dataclass
class RemoteServer:
    """A server at an address."""

    url: str

    def address(self) -> str:
        """The address, without `/` at its end."""
        return self.url.rstrip("/")

    def forget(self) -> None:
        """An address stays."""

    def workspace(self) -> str | None:
        """The server's own choice."""
        return None


@dataclass
class LocalServer:
    """The server of a home on this machine. `home` is None for the program's own choice."""

    home: str | None
    program: str | None
    _found: str | None = None
    _workspace: str | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def address(self) -> str:
        """The address of the server that runs; starts one if none does. It ends with this process."""
        with self._lock:
            if self._found is None:
                home = home_folder(self.home)
                self._found = running(home) or start(self._program(), self.home, home)
            return self._found

    def forget(self) -> None:
        """Looks for the server again before the next call."""
        with self._lock:
            self._found = None

    def workspace(self) -> str | None:
        """The workspace of the project around this folder, as the commands choose it; None without a program to ask."""
        if self._workspace is None:
            try:
                program = self._program()
            except Unavailable:
                return None
            command = [program, "stats", "--json", *(["--home", self.home] if self.home else [])]
            # A project may have its memories on a server, which is not this one.
            environment = {name: value for name, value in os.environ.items() if name not in ("COMMONBOOK_URL", "COMMONBOOK_TOKEN")}
            ran = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
            try:
                self._workspace = str(json.loads(ran.stdout)["workspace"])
            except (ValueError, KeyError, TypeError):
                return None
        return self._workspace

    def _program(self) -> str:
        return self.program or installed_program()


def home_folder(home: str | None) -> Path:
    """The folder of all data, as the program chooses it."""
    chosen = home or os.environ.get("COMMONBOOK_HOME") or "~/.commonbook"
    return Path(chosen).expanduser()


def installed_program() -> str:
    """The path of the program: `COMMONBOOK_PROGRAM`, else beside this Python, else on the `PATH`."""
    name = "commonbook.exe" if os.name == "nt" else "commonbook"
    beside = Path(sysconfig.get_path("scripts")) / name
    found = os.environ.get("COMMONBOOK_PROGRAM") or (str(beside) if beside.is_file() else None) or shutil.which("commonbook")
    if found is None:
        details = {"kind": "unavailable", "hint": "Install the program, or give `url` or `COMMONBOOK_URL`."}
        raise Unavailable("no server runs on this machine, and the program `commonbook` is not installed.", details=details)
    return found


def running(home: Path) -> str | None:
    """The address of a running server of a home; None if none answers."""
    try:
        newest = json.loads((home / "server.json").read_text())
        servers = [newest, *newest.get("others", [])]
    except (OSError, ValueError, AttributeError, TypeError):
        return None
    return next(filter(None, map(_answering, servers)), None)


def _answering(server: dict[str, str]) -> str | None:
    """The URL of a server of `server.json`, if it answers as the one that wrote that."""
    try:
        host, _, port = server["address"].rpartition(":")
        # A server that listens on every address has none of its own.
        host = {"0.0.0.0": "127.0.0.1", "[::]": "[::1]"}.get(host, host)
        url = f"http://{host}:{port}"
        response = httpx.get(f"{url}/health", timeout=HEALTH_SECONDS, trust_env=False)
        health = response.json()
    except (ValueError, KeyError, TypeError, AttributeError, httpx.HTTPError):
        return None
    # A server of another home may have the port of one that was killed.
    same = server.get("id") in (None, response.headers.get("x-commonbook-server"))
    return url if same and isinstance(health, dict) and "version" in health else None


_started: dict[Path, subprocess.Popen[str]] = {}
_starting = threading.Lock()


def start(program: str, home: str | None, folder: Path) -> str:
    """Starts a server of a home on a free port; it ends with this process. Returns its address."""
    with _starting:
        found = running(folder)
        if found is not None:
            return found
        with tempfile.TemporaryFile("w+") as log:
            process, url = launch([program, "serve", "--port", "0", *(["--home", home] if home else [])], log)
        if not _started:
            atexit.register(stop_all, os.getpid())
        _started[folder] = process
        return url


def launch(command: list[str], log: IO[str]) -> tuple[subprocess.Popen[str], str]:
    """Runs a server and reads the address that it prints.

    Fails with `Unavailable`, and what it logged, if it ends without one."""
    # It gets no Ctrl-C of the terminal, which it would obey before this process has ended its work.
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True, start_new_session=True,
    )
    assert process.stdout is not None
    late = threading.Timer(START_SECONDS, process.kill)
    late.start()
    try:
        for line in process.stdout:
            address = re.search(r"http://\S+", line)
            if address:
                return process, address[0]
    finally:
        late.cancel()
    process.wait()
    log.seek(0)
    raise Unavailable(f"the server did not start: {log.read()[-2000:].strip() or 'it printed nothing'}.")


def stop(process: subprocess.Popen[str]) -> None:
    """Ends a server that this process has started."""
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()


def stop_all(owner: int) -> None:
    """Ends what this process has started; a fork of it ends nothing."""
    if os.getpid() == owner:
        while _started:
            stop(_started.popitem()[1])
