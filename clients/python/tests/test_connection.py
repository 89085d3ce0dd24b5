"""What the client does when a connection breaks, a server is busy, starts again, or is not there."""

import http.server
import json
import os
import subprocess
import sys
import threading

import pytest
from wires import ScriptedServer, Wire

import commonbook
from commonbook import _request, _server, _wait
from commonbook.testing import temporary_server

BUSY = (503, {}, {"error": {"kind": "unavailable", "message": "the store is busy", "hint": "Try again."}})
BROKEN = (500, {}, {"error": {"kind": "internal", "message": "a bug"}})
SAVED = (201, {}, {"memory": {"id": "mem_1"}, "outcome": "created"})


@pytest.fixture
def wire(commonbook_server):
    wire = Wire(commonbook_server.url)
    yield wire
    wire.close()


@pytest.fixture
def pauses(monkeypatch):
    """The seconds that the client would have waited."""
    waited = []

    async def async_pause(seconds):
        waited.append(seconds)

    from commonbook._async import connection as awaiting
    from commonbook._sync import connection as blocking

    monkeypatch.setattr(awaiting, "async_pause", async_pause)
    monkeypatch.setattr(blocking, "pause", waited.append)
    return waited


@pytest.fixture
def scripted():
    """Makes a server that answers as a test says."""
    servers = []

    def make(*answers):
        servers.append(ScriptedServer(answers))
        return servers[-1]

    yield make
    for server in servers:
        server.close()


def test_a_write_whose_answer_is_lost_is_written_once(make, wire, workspace, pauses):
    book = make(wire.url, agent="ann", workspace=workspace)
    memory = book.save("The kettle is new.")["memory"]
    for write in (
        lambda: book.save("The kettle whistles at 96 degrees."),
        lambda: book.update(memory["id"], text="The kettle is old."),
        lambda: book.case("kettle", "The kettle").append("We clean it"),
        lambda: book.handoff("eve", "Clean the kettle"),
    ):
        wire.lose_answers = 2
        write()
    assert len(list(book.list_all(memory_type="semantic"))) == 2
    assert book.get(memory["id"])["revision"] == 2
    assert len(book.case("kettle").read(after=0)["entries"]) == 1
    assert len(book.handoffs(side="sent")["items"]) == 1
    assert wire.accepted >= 8 and len(pauses) == 8


def test_what_may_not_be_repeated_is_not(make, wire, workspace, pauses):
    book = make(wire.url, agent="ann", workspace=workspace)
    wire.lose_answers = 1
    with pytest.raises(commonbook.Unavailable):
        book.brief("What is new?")
    wire.lose_answers = 1
    with pytest.raises(commonbook.Unavailable):
        book.request("POST", "/v1/changes/mark", {})
    assert pauses == []


def test_a_repetition_has_the_key_of_the_first_attempt(make, scripted, pauses):
    server = scripted(BUSY, BROKEN, (502, {}, b"<html>"), SAVED)
    assert make(server.url, workspace="w").save("Tea")["outcome"] == "created"
    keys = {request["headers"]["Idempotency-Key"] for request in server.requests}
    assert len(server.requests) == 4 and len(keys) == 1 and "" not in keys
    server = scripted(BUSY, SAVED)
    make(server.url, workspace="w").save("Tea", idempotency_key="mine")
    assert [request["headers"]["Idempotency-Key"] for request in server.requests] == ["mine", "mine"]


def test_two_writes_have_two_keys(make, scripted):
    server = scripted(SAVED, SAVED)
    book = make(server.url, workspace="w")
    book.save("Tea")
    book.save("Tea")
    assert len({request["headers"]["Idempotency-Key"] for request in server.requests}) == 2


def test_a_busy_server_is_waited_for_as_it_asks(make, scripted, pauses):
    limited = {"error": {"kind": "rate_limited", "message": "too many calls", "retry_after": 7}}
    server = scripted((429, {"Retry-After": "7"}, limited), (200, {}, {"items": [], "next": None}))
    assert make(server.url, workspace="w").list()["items"] == []
    assert pauses == [7.0]
    server = scripted((429, {"Retry-After": "3600"}, limited))
    with pytest.raises(commonbook.RateLimited) as failed:
        make(server.url, workspace="w").list()
    assert failed.value.retry_after == 7 and pauses == [7.0]


def test_retries_end(make, scripted, pauses):
    server = scripted(*[BUSY] * 3)
    with pytest.raises(commonbook.Unavailable) as failed:
        make(server.url, workspace="w", retries=2).stats()
    assert failed.value.hint == "Try again." and len(server.requests) == 3
    assert pauses[0] <= _request.DELAY_SECONDS < 2 * pauses[1]
    server = scripted(BUSY)
    with pytest.raises(commonbook.Unavailable):
        make(server.url, workspace="w", retries=0).stats()
    with pytest.raises(commonbook.Unavailable) as failed:
        make("http://127.0.0.1:9", workspace="w", retries=0).stats()
    assert failed.value.status == 0 and failed.value.hint


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (401, {"error": {"kind": "unauthenticated", "message": "no token"}}, commonbook.Unauthenticated),
        (404, b"", commonbook.NotFound),
        (414, b"", commonbook.TooLarge),
        (418, b"{}", commonbook.Invalid),
        (409, {"error": {"kind": "conflict", "message": "changed"}}, commonbook.Conflict),
        (400, {"error": {"kind": "newer_kind", "message": "what is new"}}, commonbook.CommonbookError),
    ],
)
def test_every_answer_that_is_no_success_is_an_error(make, scripted, status, body, error):
    server = scripted((status, {}, body))
    with pytest.raises(commonbook.CommonbookError) as failed:
        make(server.url, workspace="w").get("mem_1")
    assert type(failed.value) is error and failed.value.status == status


def test_a_token_and_names_are_sent(make, scripted, monkeypatch):
    monkeypatch.setenv("COMMONBOOK_USER_ID", "alex")
    server = scripted((200, {}, {}), (200, {}, {}))
    book = make(server.url, "cbk_secret", agent="ann", workspace="shop")
    book.stats()
    monkeypatch.setenv("COMMONBOOK_URL", server.url + "/")
    monkeypatch.setenv("COMMONBOOK_TOKEN", "cbk_other")
    make().stats()
    sent = [{name.lower(): value for name, value in request["headers"].items()} for request in server.requests]
    assert sent[0]["authorization"] == "Bearer cbk_secret" and sent[0]["x-commonbook-agent"] == "ann"
    assert sent[0]["x-commonbook-workspace"] == "shop" and sent[0]["x-commonbook-user"] == "alex"
    assert sent[1]["authorization"] == "Bearer cbk_other" and server.requests[1]["path"] == "/v1/stats"
    assert "cbk_secret" not in repr(vars(book) if isinstance(book, commonbook.Commonbook) else book._target._caller)


def test_a_token_is_asked_for(make, tmp_path):
    with temporary_server() as server:
        created = subprocess.run(
            [server._program, "token", "create", "ann", "--home", str(server.home)], capture_output=True, text=True, check=True,
            env={**os.environ, "COMMONBOOK_EMBEDDER": "off", "COMMONBOOK_PERSON": "1"}, stdin=subprocess.DEVNULL,
        )
        token = next(word for word in created.stdout.split() if word.startswith("cbk_"))
        with pytest.raises(commonbook.Unauthenticated):
            make(server.url, workspace="w").stats()
        assert make(server.url, token, workspace="w").save("Tea")["memory"]["owner"] == "ann"


def test_events_go_on_after_a_cut(make, wire, eve, workspace, pauses):
    book = make(wire.url, agent="ann", workspace=workspace)
    eve.save("Cup 0 is blue.")
    stream = book.events(events=["memory.saved"], after=0)
    seen = [next(stream)["sequence"]]
    for cup in range(1, 6):
        wire.cut()
        # While nobody follows.
        eve.save(f"Cup {cup} is green, and number {cup * 7}.")
        seen.append(next(stream)["sequence"])
    stream.close()
    assert seen == [event["sequence"] for event in eve.request("GET", "/v1/events", query={"events": "memory.saved"})["items"]]
    assert len(pauses) == 5


def test_events_begin_now_and_lose_none_before_the_first(make, wire, commonbook_server, workspace, pauses, monkeypatch):
    book = make(wire.url, agent="ann", workspace=workspace)
    eve = commonbook_server.book("eve", workspace=workspace)
    eve.save("This was before.")
    meanwhile = []

    def happen():
        # The stream's first connection breaks, and something happens before the second one.
        wire.lose_answers = 1
        meanwhile.append(eve.save("This came meanwhile.")["memory"]["id"])

    from commonbook._async.connection import AsyncConnection
    from commonbook._sync.connection import Connection

    async_end, end = AsyncConnection.end, Connection.end

    async def async_end_and_more(self, caller):
        position = await async_end(self, caller)
        happen()
        return position

    def end_and_more(self, caller):
        position = end(self, caller)
        happen()
        return position

    monkeypatch.setattr(AsyncConnection, "end", async_end_and_more)
    monkeypatch.setattr(Connection, "end", end_and_more)
    stream = book.events(exclude_self=True, events=["memory.*"])
    assert next(stream)["subject"] == meanwhile[0]
    stream.close()
    eve.close()
    assert len(pauses) == 1


def test_events_go_on_after_the_server_started_again(make, workspace):
    with temporary_server() as server:
        book = make(server.url, agent="ann", workspace=workspace)
        eve = make(server.url, agent="eve", workspace=workspace)
        eve.save("Cup 1 is blue.")
        stream = book.events(events=["memory.saved"], after=0)
        first = next(stream)
        server.stop()
        server.start()
        second = eve.save("Saucer 2 is green.")["memory"]["id"]
        assert next(stream)["subject"] == second != first["subject"]
        server.stop()
        with pytest.raises(commonbook.Unavailable):
            next(book.events(after=0, patience=0.0))
        stream.close()


def test_a_journal_that_lost_events_is_told(make, scripted, pauses):
    lines = b'event: resync\ndata: {"after":3}\n\n: keep-alive\n\nid: 4.2\nevent: memory.saved\ndata: {"sequence":4}\n\nevent: lagged\ndata: {"missed":1}\n\n'
    server = scripted((200, {}, lines), BUSY, (200, {}, b'id: 5.2\ndata: {"sequence":5}\n\n'))
    gaps = []
    stream = make(server.url, workspace="w").events(after="9.1", on_gap=gaps.append)
    assert [next(stream)["sequence"], next(stream)["sequence"]] == [4, 5]
    stream.close()
    positions = [request["headers"]["Last-Event-ID"] for request in server.requests]
    assert gaps == [3] and positions == ["9.1", "4.2", "4.2"]


def test_a_stream_that_is_refused_fails(make, scripted):
    server = scripted((400, {}, {"error": {"kind": "invalid", "message": "no such kind", "field": "events[0]"}}))
    with pytest.raises(commonbook.Invalid) as failed:
        next(make(server.url, workspace="w").events(after=0, events=["memory.eaten"]))
    assert failed.value.field == "events[0]"


def test_the_server_of_this_machine_is_found_started_and_ended(tmp_path):
    """In processes of their own, as programs of users have it."""
    home, project = tmp_path / "home", tmp_path / "tea-shop"
    (project / ".git").mkdir(parents=True)
    names = ("COMMONBOOK_URL", "COMMONBOOK_TOKEN", "COMMONBOOK_WORKSPACE")
    environment = {name: value for name, value in os.environ.items() if name not in names}
    environment |= {"COMMONBOOK_HOME": str(home), "COMMONBOOK_EMBEDDER": "off"}
    script = """
import asyncio, sys
from commonbook import AsyncCommonbook, Commonbook
book = Commonbook(agent="ann")
memory = book.save(sys.argv[1])["memory"]
url, again = book.url(), Commonbook().url()
async def other():
    async with AsyncCommonbook(agent="eve") as book:
        return await book.url(), len((await book.list())["items"])
print(memory["workspace"], url == again, *asyncio.run(other()), url)
"""

    def run(text):
        ran = subprocess.run([sys.executable, "-c", script, text], cwd=project, env=environment, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout.split()

    first, second = run("Cup 1 is blue."), run("Saucer 2 is green.")
    assert first[0].startswith("tea-shop-") and first[0] == second[0]
    assert [first[1], first[3], second[3]] == ["True", "1", "2"] and first[2] == first[4]
    # The server of a process ends with it, and takes its file along.
    assert not (home / "server.json").exists()


def test_a_server_that_runs_is_found_and_found_again(make, tmp_path):
    with temporary_server() as server:
        book = make(home=server.home, agent="ann", workspace="w")
        assert book.url() == server.url
        book.save("Cup 1 is blue.")
        server.stop()
        server._port = 0
        server.start()
        assert len(book.list()["items"]) == 1 and book.url() == server.url
        assert json.loads((server.home / "server.json").read_text())["address"] in server.url


class Health(http.server.BaseHTTPRequestHandler):
    """Answers as a server with the id `x`."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("x-commonbook-server", "x")
        self.end_headers()
        self.wfile.write(b'{"version": "0"}')

    def log_message(self, *_):
        pass


def test_the_server_that_runs_is_the_one_that_wrote_its_entry(tmp_path):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Health) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"127.0.0.1:{server.server_port}"

        def found(newest, *others):
            (tmp_path / "server.json").write_text(json.dumps({**newest, "others": others}))
            return _server.running(tmp_path)

        killed, own, foreign = {"address": "127.0.0.1:9", "id": "x"}, {"address": address, "id": "x"}, {"address": address, "id": "y"}
        assert found(own) == found(killed, own) == found({"address": address}) == f"http://{address}"
        assert found(killed) is None and found(foreign) is None
        server.shutdown()


def test_a_machine_without_a_program_says_so(tmp_path, monkeypatch):
    monkeypatch.delenv("COMMONBOOK_PROGRAM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(commonbook.Unavailable) as failed:
        commonbook.Commonbook(home=tmp_path / "home", workspace="w").stats()
    assert "not installed" in failed.value.message and failed.value.hint
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\necho no disk >&2\nexit 1\n")
    broken.chmod(0o755)
    with pytest.raises(commonbook.Unavailable) as failed:
        commonbook.Commonbook(home=tmp_path / "home", workspace="w", program=broken).stats()
    assert "no disk" in failed.value.message


def test_waiting_lets_others_run(loop):
    import asyncio

    async def both():
        order = []

        async def slow():
            await _wait.async_pause(0.01)
            order.append("slow")

        await asyncio.gather(slow(), asyncio.sleep(0, order.append("quick")))
        return order, await _wait.async_blocking(lambda: 3)

    assert loop.run_until_complete(both()) == (["quick", "slow"], 3)
    _wait.pause(0.0)
