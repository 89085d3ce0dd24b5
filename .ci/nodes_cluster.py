"""The cluster of .ci/nodes: PostgreSQL servers, nodes on them, writers, readers of the stream, and what was answered."""

import collections
import contextlib
import glob
import http.client
import json
import os
import random
import re
import select
import shutil
import signal
import socket
import statistics
import subprocess
import threading
import time
import urllib.parse

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAM = os.environ.get("COMMONBOOK_PROGRAM", ROOT + "/target/debug/commonbook")
SEED = int(os.environ.get("NODE_SEED", "33"))
WRITERS = 6
WORKSPACE = "harbour"
# The agent above all others: it sees what they received, and therefore every event.
READER = "crew"
DATABASE = "harbour"
# PostgreSQL refuses to run as root; then it runs as `nobody`.
SERVER_USER = 65534
# A stream says something every 15 seconds at least.
SILENCE_SECONDS = 40
WAIT_SECONDS = 60
# The delay of each commit while a kill waits for one.
COMMIT_MICROSECONDS = 30_000
# A listener asks nothing but whether its connection is alive, and that with an empty statement.
LISTENERS = "FROM pg_stat_activity WHERE usename = 'book' AND (query LIKE 'LISTEN%' OR query = '')"
# The pause before something is looked for again, or a call is sent to another node.
PAUSE = 0.02
# The pause of a writer that no node can serve.
OUTAGE_PAUSE = 0.1
# What a node says after ten seconds without the lock of a workspace.
ROWS_BUSY = "other writes keep the same rows of PostgreSQL busy"


class Wrong(Exception):
    """Something that must not be."""


class ConnectionLoss(Exception):
    """The connection ended before the answer."""


class Refusal(Exception):
    """An answer that is an error."""

    def __init__(self, call, status, answer):
        try:
            self.error = json.loads(answer)["error"]
        except (ValueError, KeyError, TypeError):
            self.error = {"kind": "unreadable"}
        self.kind, self.status = self.error.get("kind"), status
        super().__init__(f"{call}: {status} {answer[:600]!r}")


def expect(condition, what):
    if not condition:
        raise Wrong(what)


def wait_until(condition, what, seconds=WAIT_SECONDS):
    """Asks again and again until the condition holds; returns what it returned."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        expect(time.monotonic() < deadline, f"after {seconds} s: {what}")
        time.sleep(PAUSE)
    return value


def report(what, text):
    print(f"{what}: {text}", flush=True)


def milliseconds(seconds):
    """Median, 95th percentile and maximum of times."""
    times = sorted(1000 * second for second in seconds)
    high = times[round(0.95 * (len(times) - 1))]
    return f"median {statistics.median(times):.0f} ms, p95 {high:.0f} ms, at most {times[-1]:.0f} ms"


class Postgres:
    """A PostgreSQL server in a folder of its own, reached through a socket there."""

    def __init__(self, folder, name, port=5432, settings=()):
        self.name, self.folder, self.port, self.process = name, f"{folder}/{name}", port, None
        self.data = self.folder + "/data"
        self.programs = self.find_programs()
        self.identity = {"user": SERVER_USER, "group": SERVER_USER, "extra_groups": []} if os.geteuid() == 0 else {}
        # A standby looks for its primary each tenth of a second, and says its name, by which the primary waits for it.
        always = [f"port={port}", "listen_addresses=", "dynamic_shared_memory_type=mmap", "wal_retrieve_retry_interval=100ms", f"cluster_name={name}"]
        self.options = [word for setting in [*always, *settings] for word in ("-c", setting)]
        os.mkdir(self.folder, 0o700)
        self.give(self.folder)

    @staticmethod
    def find_programs():
        folder = os.environ.get("COMMONBOOK_TEST_POSTGRES")
        if folder:
            return folder
        paths = glob.glob("/usr/lib/postgresql/*/bin/initdb")
        expect(paths, "no PostgreSQL server is installed: `apt-get install postgresql`, or name its folder of programs in COMMONBOOK_TEST_POSTGRES")
        return os.path.dirname(max(paths, key=lambda path: int(re.sub(r"\D", "", path.split("/")[4]) or 0)))

    def give(self, path):
        """Makes the user of the server the owner of this path."""
        if self.identity:
            os.chown(path, SERVER_USER, SERVER_USER)

    def run(self, name, *arguments):
        command = [f"{self.programs}/{name}", *arguments]
        result = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=WAIT_SECONDS, **self.identity)
        expect(result.returncode == 0, f"{name}: exit {result.returncode}\n{result.stdout}\n{result.stderr}")
        return result.stdout

    def make(self, *options):
        """Makes an empty server, and starts it."""
        # Without --no-sync, and with fsync as it is by default: an answered write has to outlive the server.
        self.run("initdb", "--username=postgres", "--auth-local=trust", "--encoding=UTF8", "--locale=C", "--pgdata", self.data, *options)
        self.start()

    def start(self):
        """Starts the server, and waits until it accepts connections. Returns the seconds."""
        begin = time.monotonic()
        # After a kill, the memory of the server is free only when the last of its processes has noticed.
        wait_until(self.try_start, f"{self.name} does not start")
        return time.monotonic() - begin

    def try_start(self):
        if self.process is None or self.process.poll() is not None:
            with open(self.folder + "/log", "ab") as log:
                self.process = subprocess.Popen(
                    [f"{self.programs}/postgres", "-D", self.data, "-k", self.folder, *self.options],
                    cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log, **self.identity,
                )
        ready = [f"{self.programs}/pg_isready", "--quiet", "--host", self.folder, "--port", str(self.port), "--username", "postgres"]
        return subprocess.run(ready, cwd=self.folder).returncode == 0

    def kill(self, whole=False):
        """kill -9 of the first process of the server, or of all its processes at once, as when the machine stops."""
        if whole:
            # Stopped, it starts no further process and tells none that another one has ended.
            self.process.send_signal(signal.SIGSTOP)
            for process in self.children():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def children(self):
        """The processes that the first one has started."""
        for path in glob.glob("/proc/[0-9]*/stat"):
            with contextlib.suppress(OSError), open(path) as file:
                # The name stands in parentheses, and may have spaces; the parent is the second field after it.
                if int(file.read().rpartition(")")[2].split()[1]) == self.process.pid:
                    yield int(path.split("/")[2])

    def restart(self, *settings):
        """Stops the server as an administrator does, and starts it, with further settings. Returns the seconds of both."""
        begin = time.monotonic()
        self.options += [word for setting in settings for word in ("-c", setting)]
        self.run("pg_ctl", "stop", "--mode=fast", "--wait", "--pgdata", self.data)
        self.process.wait(WAIT_SECONDS)
        self.start()
        return time.monotonic() - begin

    def copy(self, source):
        """Becomes a standby of another server, with a copy of its data, and starts."""
        shutil.rmtree(self.data, ignore_errors=True)
        place = f"host={source.folder} port={source.port} user=postgres"
        # A standby outlives the kill of processes without this copy on the disk; what it receives later goes there all the same.
        copy = ["--pgdata", self.data, "--checkpoint=fast", "--no-sync", "--write-recovery-conf", "--create-slot", "--slot=standby"]
        self.run("pg_basebackup", "--dbname", place, *copy)
        self.start()

    def require(self, standby):
        """From now on a commit is answered when this standby has it on its disk too."""
        self.command(f"""ALTER SYSTEM SET synchronous_standby_names = '"{standby.name}"'""")
        self.command("SELECT pg_reload_conf()")
        state = f"SELECT sync_state FROM pg_stat_replication WHERE application_name = '{standby.name}'"
        wait_until(lambda: self.command(state).strip() == "sync", f"{self.name} has no synchronous standby")

    def sender(self):
        """The process that sends the write-ahead log to the standby."""
        return int(self.command("SELECT pid FROM pg_stat_replication WHERE state = 'streaming'"))

    def receiver(self):
        """The process of a standby that receives the write-ahead log."""
        return int(self.command("SELECT pid FROM pg_stat_wal_receiver"))

    def written(self):
        """How far the write-ahead log of a primary is on its disk."""
        return int(self.command("SELECT pg_current_wal_flush_lsn() - '0/0'"))

    def received(self):
        """How far a standby has the write-ahead log on its disk."""
        return int(self.command("SELECT pg_last_wal_receive_lsn() - '0/0'"))

    def await_end_of_receiver(self):
        """Waits until a standby has taken in all that its dead primary had sent."""
        wait_until(lambda: self.command("SELECT count(*) FROM pg_stat_wal_receiver").strip() == "0", f"{self.name} still receives")

    def sent(self):
        """How far a primary has sent the write-ahead log to its standby."""
        return int(self.command("SELECT sent_lsn - '0/0' FROM pg_stat_replication"))

    def clock(self):
        return float(self.command("SELECT extract(epoch FROM clock_timestamp())"))

    def await_commit_that_waits(self):
        """Waits until the commit of a node waits for the standby. Returns when it began, by the clock of the server."""
        waits = "usename = 'book' AND query = 'COMMIT' AND wait_event = 'SyncRep'"
        begin = f"SELECT extract(epoch FROM min(query_start)) FROM pg_stat_activity WHERE {waits}"
        return float(wait_until(lambda: self.command(begin).strip(), "no commit waits for the standby"))

    def promote(self):
        """Makes the standby the server that accepts writes. Returns the seconds."""
        begin = time.monotonic()
        self.run("pg_ctl", "promote", "--wait", "--pgdata", self.data)
        return time.monotonic() - begin

    def stop(self):
        """Ends the server at once, if it runs."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGQUIT)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.kill()

    def command(self, text, database="postgres"):
        """Runs SQL as the superuser; returns what it prints, without titles and lines."""
        return self.run("psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-h", self.folder, "-p", str(self.port), "-U", "postgres", "-d", database, "-c", text)

    def rows(self, query):
        """The rows of a query on the tables of the nodes."""
        return json.loads(self.command(f"SELECT coalesce(json_agg(item), '[]') FROM ({query}) AS item", DATABASE))

    def create(self, password=""):
        """Creates the database and the role of the nodes, which is no superuser."""
        self.command(f"CREATE ROLE book LOGIN PASSWORD '{password}'")
        self.command(f"CREATE DATABASE {DATABASE} OWNER book")

    @contextlib.contextmanager
    def slow_commits(self):
        """Within it each commit takes some milliseconds longer, as on a slow disk."""
        for setting in (f"commit_delay = {COMMIT_MICROSECONDS}", "commit_siblings = 0"):
            self.command(f"ALTER SYSTEM SET {setting}")
        self.command("SELECT pg_reload_conf()")
        yield
        self.command("ALTER SYSTEM RESET ALL")
        self.command("SELECT pg_reload_conf()")

    def await_commit(self, name):
        """Waits until a write of this node is in the middle of its commit."""
        self.command(
            "DO $$ BEGIN FOR turn IN 1..20000 LOOP PERFORM pg_stat_clear_snapshot(); "
            f"IF EXISTS (SELECT FROM pg_stat_activity WHERE application_name = '{name}' AND state = 'active' AND query = 'COMMIT' "
            f"AND clock_timestamp() > query_start + interval '3 ms') THEN RETURN; END IF; "
            f"PERFORM pg_sleep(0.001); END LOOP; RAISE '{name} commits nothing'; END $$"
        )

    def journal_end(self, workspace=WORKSPACE):
        return self.rows(f"SELECT sequence FROM workspace WHERE name = '{workspace}'")[0]["sequence"]


class Node:
    """A server of Commonbook on the database, with a home and a log of its own, at a port of its own."""

    def __init__(self, name, folder, database):
        self.name, self.home, self.log = name, f"{folder}/{name}", f"{folder}/{name}.log"
        os.mkdir(self.home, 0o700)
        environment = {key: value for key, value in os.environ.items() if not key.startswith("COMMONBOOK")}
        self.environment = {
            **environment, "COMMONBOOK_PERSON": "1", "HOME": folder, "COMMONBOOK_HOME": self.home,
            "COMMONBOOK_DATABASE": f"{database} application_name={name}", "COMMONBOOK_EMBEDDER": "off", "COMMONBOOK_RATE": "off",
        }
        self.process = self.port = None

    def begin(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [PROGRAM, "serve", "--port", "0"], cwd=self.home, env=self.environment,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True,
            )

    def await_port(self):
        ready, _, _ = select.select([self.process.stdout], [], [], WAIT_SECONDS)
        line = self.process.stdout.readline() if ready else ""
        match = re.search(r"http://127\.0\.0\.1:(\d+)", line)
        expect(match, f"{self.name} did not start, and said {line!r}")
        self.port = int(match[1])

    def start(self):
        """Starts the server, and waits until it listens. Returns the seconds."""
        begin = time.monotonic()
        self.begin()
        self.await_port()
        return time.monotonic() - begin

    def kill(self):
        self.port = None
        if self.process:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            self.process.stdout.close()

    def doctor(self):
        result = subprocess.run(
            [PROGRAM, "doctor", "--deep"], cwd=self.home, env=self.environment, capture_output=True, text=True, timeout=WAIT_SECONDS
        )
        expect(result.returncode == 0, f"doctor --deep on {self.name}: exit {result.returncode}\n{result.stdout}\n{result.stderr}")


class Http:
    """A connection of one agent to one node."""

    def __init__(self, node, agent, workspace=WORKSPACE):
        self.name, self.port = node.name, node.port
        if self.port is None:
            raise ConnectionLoss(f"{node.name} does not run")
        self.headers = {"Content-Type": "application/json", "X-Commonbook-Agent": agent, "X-Commonbook-Workspace": workspace}
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT_SECONDS + 10)

    def connect(self):
        try:
            self.connection.connect()
        except OSError as error:
            raise ConnectionLoss(str(error)) from error
        return self

    def send(self, method, path, body=None, key=None):
        """The answer of a call, and nothing else: an error is raised. Where other writes kept the rows busy nothing was written,
        and the call is sent again: on a busy machine a node may stop for seconds in the middle of a transaction."""
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            try:
                return self.send_once(method, path, body, key)
            except Refusal as refusal:
                if refusal.error.get("message") != ROWS_BUSY or time.monotonic() > deadline:
                    raise
            time.sleep(OUTAGE_PAUSE)

    def send_once(self, method, path, body, key):
        call = f"{method} {path} on {self.name}"
        headers = self.headers if key is None else {**self.headers, "Idempotency-Key": key}
        try:
            self.connection.request(method, path, None if body is None else json.dumps(body), headers)
            response = self.connection.getresponse()
            answer = response.read()
        except TimeoutError as error:
            raise Wrong(f"{call}: no answer in {WAIT_SECONDS + 10} s") from error
        except (OSError, http.client.HTTPException) as error:
            raise ConnectionLoss(f"{call}: {error!r}") from error
        if response.status >= 300:
            raise Refusal(call, response.status, answer)
        return json.loads(answer)

    def close(self):
        self.connection.close()

    def pages(self, path, **query):
        """Every item of a list."""
        while True:
            page = self.send("GET", path + "?" + urllib.parse.urlencode(query))
            yield from page.get("items") or page.get("entries") or []
            if not page.get("next"):
                return
            query["cursor" if path == "/v1/memories" else "after"] = page["next"]


class Ledger:
    """What the nodes have answered, and what therefore has to be there."""

    def __init__(self):
        self.lock = threading.Lock()
        self.texts = {}                                 # each memory and its text
        self.updates = collections.Counter()            # the updates of each memory
        self.cases = collections.defaultdict(dict)      # of each case, the text at each position
        self.handoffs = {}                              # each handoff and its task

    def save(self, answer):
        with self.lock:
            self.texts[answer["memory"]["id"]] = answer["memory"]["text"]

    def update(self, answer):
        with self.lock:
            self.texts[answer["id"]] = answer["text"]
            self.updates[answer["id"]] += 1

    def append(self, case, texts, answer):
        positions = [entry["position"] for entry in answer["entries"]]
        expect(positions == list(range(positions[0], positions[0] + len(texts))), f"case {case}: {len(texts)} entries at {positions}")
        with self.lock:
            for entry, text in zip(answer["entries"], texts):
                other = self.cases[case].setdefault(entry["position"], text)
                expect(other == text, f"case {case}: position {entry['position']} was given to {other!r} and to {text!r}")
                self.texts[entry["entry_id"]] = text

    def hand_over(self, answer):
        with self.lock:
            self.handoffs[answer["handoff"]["id"]] = answer["handoff"]["task"]


class Cluster:
    """The database, the nodes on it, and what they have answered."""

    def __init__(self, folder):
        self.folder, self.nodes, self.tails, self.ledger = folder, [], [], Ledger()
        # The nodes know both from the beginning; the second one comes as a standby of the first one.
        self.servers = [Postgres(folder, "postgres-1"), Postgres(folder, "postgres-2")]
        self.database = f"host={','.join(server.folder for server in self.servers)} user=book dbname={DATABASE}"
        self.postgres = self.servers[0]     # the one that accepts writes

    def add_node(self):
        node = Node(f"node-{len(self.nodes) + 1}", self.folder, self.database)
        self.nodes.append(node)
        return node

    def follow(self, first):
        """A reader of the whole journal, on this node first."""
        tail = Tail(self, self.nodes.index(first))
        self.tails.append(tail)
        tail.start()
        return tail

    def await_tails(self):
        """Waits until each reader has the journal as it is now."""
        end = self.postgres.journal_end()
        for tail in self.tails:
            tail.await_sequence(end)
        return end

    def stop(self):
        for tail in self.tails:
            tail.stop()
        for node in self.nodes:
            node.kill()
        for server in self.servers:
            server.stop()

    def await_listeners(self):
        """Waits until each node has a connection on which it listens."""
        count = f"SELECT count(*) {LISTENERS}"
        wait_until(lambda: int(self.postgres.command(count)) >= len(self.nodes), "not every node listens")

    def logs(self):
        """The last lines of each log."""
        paths = [node.log for node in self.nodes] + [server.folder + "/log" for server in self.servers]
        lasts = []
        for path in filter(os.path.exists, paths):
            with open(path, errors="replace") as log:
                lasts += [f"--- {os.path.relpath(path, self.folder)}", *(line[:300].rstrip() for line in collections.deque(log, 5))]
        return "\n".join(lasts)


class Tail(threading.Thread):
    """A reader of the event stream. It goes on with Last-Event-ID on the next node whenever the stream breaks."""

    def __init__(self, cluster, first, only=False, after=0):
        super().__init__(daemon=True)
        self.cluster, self.place, self.only = cluster, first, only
        self.last, self.breaks, self.lags, self.failure = after, 0, 0, None
        # The id of the last event, which names the history; and where the stream went on each time that events could be lost.
        self.token, self.resyncs = str(after), []
        self.arrivals = {}      # when the event of each subject came
        self.news, self.over, self.socket = threading.Condition(), threading.Event(), None

    def run(self):
        while not self.over.is_set():
            node = self.cluster.nodes[self.place % len(self.cluster.nodes)]
            try:
                self.read(node)
            except ConnectionLoss:
                pass
            except Refusal as refusal:
                if refusal.kind != "unavailable":
                    self.fail(str(refusal))
            except Exception as error:
                self.fail(f"{error!r}")
            if not self.only:
                self.place += 1
            self.over.wait(PAUSE)

    def fail(self, what):
        with self.news:
            self.failure = self.failure or f"the reader of the stream, after event {self.last}: {what}"
            self.over.set()
            self.news.notify_all()

    def read(self, node):
        """Reads the stream of one node to its end."""
        stream = Http(node, READER)
        stream.connection.timeout = SILENCE_SECONDS
        stream.headers["Last-Event-ID"] = self.token
        stream.connect()
        self.socket = stream.connection.sock
        try:
            stream.connection.request("GET", "/events/stream", headers=stream.headers)
            response = stream.connection.getresponse()
            if response.status != 200:
                raise Refusal(f"GET /events/stream on {node.name}", response.status, response.read())
            frame = {}
            while not self.over.is_set():
                line = response.readline()
                if not line.endswith(b"\n"):
                    raise ConnectionLoss("the stream ended")
                name, colon, value = line.decode().rstrip("\n").partition(": ")
                if colon and name:
                    frame[name] = value
                elif not line.strip() and frame:
                    self.take(frame, node)
                    frame = {}
        except TimeoutError as error:
            raise Wrong(f"the stream of {node.name} said nothing for {SILENCE_SECONDS} s") from error
        except (OSError, http.client.HTTPException) as error:
            raise ConnectionLoss(str(error)) from error
        finally:
            self.breaks += 1
            stream.close()

    def take(self, frame, node):
        at = time.monotonic()
        if frame.get("event") == "lagged":
            self.lags += 1
            return
        sequence, event = int(frame["id"].split(".")[0]), json.loads(frame["data"])
        self.token = frame["id"]
        if frame["event"] == "resync":
            expect(event == {"after": sequence} and sequence <= self.last, f"{node.name} sent {frame} after event {self.last}")
            with self.news:
                self.resyncs.append(self.last - sequence)
                self.last = sequence
                self.news.notify_all()
            return
        expect(sequence == self.last + 1, f"{node.name} sent event {sequence} after event {self.last}")
        expect(event["sequence"] == sequence and event["kind"] == frame["event"], f"{node.name} sent {frame}")
        with self.news:
            self.last = sequence
            self.arrivals.setdefault(event["subject"], at)
            self.news.notify_all()

    def wait_for(self, condition, what, seconds=WAIT_SECONDS):
        with self.news:
            is_there = self.news.wait_for(lambda: self.failure or condition(), seconds)
        expect(not self.failure, self.failure)
        expect(is_there, f"{what} did not come in {seconds} s; the last event was {self.last}")

    def await_sequence(self, sequence):
        self.wait_for(lambda: self.last >= sequence, f"event {sequence} of the stream")

    def stop(self):
        self.over.set()
        # A reader that waits for the next event wakes.
        with contextlib.suppress(OSError, AttributeError):
            self.socket.shutdown(socket.SHUT_RDWR)


class Writer(threading.Thread):
    """An agent that calls one node after the other, and sends a call without an answer again, unchanged, to another node."""

    def __init__(self, team, number):
        super().__init__(daemon=True)
        self.team, self.cluster = team, team.cluster
        self.agent = f"{READER}/{team.name}-{number}"
        self.random = random.Random(f"{SEED} {self.agent}")
        self.number = self.retries = 0
        self.connections, self.memories = {}, []
        self.cuts = {}      # each key whose first call had no answer, and when
        self.moments = []   # when each answer came

    def next_call(self):
        """The next call: method, path and body, and what its answer means."""
        ledger, stamp, chance = self.cluster.ledger, f"{self.agent} {self.number}", self.random.random()
        if chance < 0.25:
            case = f"{self.team.name}-{self.random.randrange(3)}"
            texts = [f"Part {part} of step {stamp} is done" for part in range(self.random.randint(1, 3))]
            body = {"title": f"The refit {case}", "entries": [{"summary": text, "text": text} for text in texts]}
            return "POST", f"/v1/cases/{case}/entries", body, lambda answer: ledger.append(case, texts, answer)
        if chance < 0.4 and self.memories:
            memory = self.random.choice(self.memories)
            return "PATCH", f"/v1/memories/{memory}", {"text": f"The berth plan of {stamp} holds"}, ledger.update
        if chance < 0.45:
            body = {"to": f"{READER}/keeper", "task": f"Look at the mooring lines of {stamp}", "max_memories": 1, "include_entities": False}
            return "POST", "/v1/handoffs", body, ledger.hand_over
        return "POST", "/v1/memories", {"text": f"The pilot boat left at dawn, {stamp}"}, self.save

    def save(self, answer):
        self.memories.append(answer["memory"]["id"])
        self.cluster.ledger.save(answer)

    def run(self):
        try:
            while not self.team.over.is_set():
                self.number += 1
                method, path, body, take = self.next_call()
                take(self.send(method, path, body, f"{self.agent} {self.number}"))
                self.team.note(self)
        except Exception as error:
            self.team.fail(f"{self.agent}, call {self.number}: {error!r}")

    def send(self, method, path, body, key):
        deadline, last = time.monotonic() + WAIT_SECONDS, None
        while True:
            nodes = [node for node in self.cluster.nodes if node.port]
            node = self.random.choice([node for node in nodes if node is not last] or nodes or self.cluster.nodes)
            last = node
            try:
                return self.connection(node).send(method, path, body, key)
            except ConnectionLoss as error:
                self.connections.pop(node.name, None)
                reason, pause = error, PAUSE
            except Refusal as refusal:
                if refusal.kind != "unavailable":
                    raise
                reason, pause = refusal, OUTAGE_PAUSE
            self.retries += 1
            self.cuts.setdefault(key, time.time())
            expect(time.monotonic() < deadline, f"no answer for {WAIT_SECONDS} s; the last reason: {reason}")
            time.sleep(pause)

    def connection(self, node):
        line = self.connections.get(node.name)
        if line is None or line.port != node.port:
            line = self.connections[node.name] = Http(node, self.agent).connect()
        return line


class Team:
    """Writers at work until the end of the block; then each has the answer of its last call."""

    def __init__(self, cluster, name):
        self.cluster, self.name, self.news, self.over, self.failures = cluster, name, threading.Condition(), threading.Event(), []
        self.answers = 0
        self.writers = [Writer(self, number) for number in range(WRITERS)]

    def __enter__(self):
        for writer in self.writers:
            writer.start()
        return self

    def __exit__(self, kind, error, trace):
        self.over.set()
        if kind is None:
            for writer in self.writers:
                writer.join(2 * WAIT_SECONDS)
                expect(not writer.is_alive(), f"{writer.agent} does not end")
            expect(not self.failures, "; ".join(self.failures))

    def note(self, writer):
        with self.news:
            writer.moments.append(time.monotonic())
            self.answers += 1
            self.news.notify_all()

    def fail(self, what):
        with self.news:
            self.failures.append(what)
            self.news.notify_all()

    def wait_for(self, condition, what):
        with self.news:
            is_there = self.news.wait_for(lambda: self.failures or condition(), WAIT_SECONDS)
        expect(not self.failures, "; ".join(self.failures))
        expect(is_there, f"after {WAIT_SECONDS} s: {what}")

    def await_answers(self, count):
        """Waits for this many further answers of all writers together."""
        goal = self.answers + count
        self.wait_for(lambda: self.answers >= goal, f"less than {count} answers came")

    def goals(self):
        """For each writer the number of answers with two further ones: the second one is of a call that begins after this."""
        return {writer: len(writer.moments) + 2 for writer in self.writers}

    def await_everyone(self, goals=None):
        """Waits until each writer has its goal, two further answers if none is given; returns when each one had it."""
        goals = goals or self.goals()
        self.wait_for(lambda: all(len(writer.moments) >= goal for writer, goal in goals.items()), "a writer has no answer")
        return [writer.moments[goal - 1] for writer, goal in goals.items()]

    def early(self):
        """The calls without an answer that had written all the same."""
        cuts = self.cuts()
        rows = self.cluster.postgres.rows(f"SELECT agent, key, at FROM answer WHERE agent LIKE '{READER}/{self.name}-%'")
        # A write has the time at which its call came in: before the cut, if the call without an answer wrote it.
        return sum(row["at"] < 1000 * cuts.get((row["agent"], row["key"]), 0) for row in rows)

    def cuts(self):
        return {(writer.agent, key): at for writer in self.writers for key, at in writer.cuts.items()}

    def figures(self):
        retries = sum(writer.retries for writer in self.writers)
        return (f"{self.answers} writes answered, {len(self.cuts())} of them without an answer at first, {self.early()} of these written "
                f"all the same, {retries} retries")
