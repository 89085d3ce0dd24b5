"""The primary killed and its standby promoted, and the primary restarted, under the writes of .ci/nodes; also a standby that lacks commits."""

import concurrent.futures
import os
import random
import signal
import time
import urllib.parse

from nodes_cluster import PAUSE, READER, SEED, WAIT_SECONDS, ConnectionLoss, Http, Refusal, Team, expect, milliseconds, report, wait_until

# Each kind of kill at least once.
FAILOVERS = max(3, int(os.environ.get("NODE_FAILOVERS", "6")))
RESTARTS = 3
# Commits that a failover loses, and writes after it: as many, more, and fewer, so that the journal ends where it ended, beyond and before.
LOSSES = ((5, 5), (3, 8), (6, 2))


def kill_by_chance(primary, _standby, chance):
    """The moment is left to chance."""
    time.sleep(chance.uniform(0, PAUSE))
    primary.kill(whole=True)


def kill_before_receipt(primary, standby, _chance):
    """A commit waits for a standby that does not have it: it is lost with the primary, and has no answer."""
    sender = primary.sender()
    while True:
        os.kill(sender, signal.SIGSTOP)
        stop = primary.clock()
        if primary.await_commit_that_waits() > stop:
            break
        # This one was sent before, and would end with the receipt.
        os.kill(sender, signal.SIGCONT)
        time.sleep(PAUSE)
    end = primary.written()
    primary.kill(whole=True)
    standby.await_end_of_receiver()
    expect(standby.received() < end, "the standby has a commit that was not sent")


def kill_before_acknowledgement(primary, standby, _chance):
    """A commit waits for a standby that has it and does not say so: it is there after the failover, and has no answer."""
    receiver = standby.receiver()
    os.kill(receiver, signal.SIGSTOP)
    primary.await_commit_that_waits()
    end = primary.written()
    wait_until(lambda: primary.sent() >= end, "a commit is not sent to the standby")
    primary.kill(whole=True)
    os.kill(receiver, signal.SIGCONT)
    standby.await_end_of_receiver()
    expect(standby.received() >= end, "the standby has not got a commit that was sent")


KILLS = (kill_before_receipt, kill_before_acknowledgement, kill_by_chance)


def fail_over(cluster):
    """kill -9 of the primary in the middle of writes; its synchronous standby takes its place, and it becomes the standby."""
    chance, begin, promotions, returns = random.Random(SEED + 2), time.monotonic(), [], []
    primary, standby = cluster.servers
    with Team(cluster, "failover") as team:
        for turn in range(FAILOVERS):
            standby.copy(primary)
            primary.require(standby)
            team.await_everyone()
            team.await_answers(chance.randint(10, 40))
            KILLS[turn % len(KILLS)](primary, standby, chance)
            goals, at = team.goals(), time.monotonic()
            promotions.append(standby.promote())
            cluster.postgres = standby
            returns += [moment - at for moment in team.await_everyone(goals)]
            cluster.await_tails()
            # Each reader was told once of each failover, and went on where it was.
            losses = [tail.resyncs for tail in cluster.tails]
            expect(losses == [[0] * (turn + 1)] * len(losses), f"LOST: after failover {turn + 1} the readers of the stream had lost {losses}")
            cluster.await_listeners()
            primary, standby = standby, primary
        # The rest of the scenarios has a standby again.
        standby.copy(primary)
        primary.require(standby)
        team.await_everyone()
    expect(team.early(), "no commit without an answer was there after a failover: this proves nothing")
    report("failover to a synchronous standby", f"{FAILOVERS} times kill -9 of the primary; {team.figures()}; the standby accepted writes "
           f"{milliseconds(promotions)} after its promotion began, and each writer had two answers after {milliseconds(returns)} "
           f"({time.monotonic() - begin:.1f} s)")


def restart_database(cluster):
    """The primary is stopped as an administrator does and started again, with a synchronous standby, in the middle of writes."""
    chance, begin, outages, returns = random.Random(SEED + 3), time.monotonic(), [], []
    with Team(cluster, "restart") as team:
        for _ in range(RESTARTS):
            team.await_answers(chance.randint(10, 40))
            outages.append(cluster.postgres.restart())
            ready = time.monotonic()
            returns += [moment - ready for moment in team.await_everyone()]
            cluster.await_tails()
    expect(all(node.process.poll() is None for node in cluster.nodes), "a node ended with the database server")
    report("database restarted", f"{RESTARTS} times stopped and started; {team.figures()}; the server was back after "
           f"{milliseconds(outages)}; then each writer had two answers after {milliseconds(returns)} ({time.monotonic() - begin:.1f} s)")


def cancel_commits(cluster):
    """An administrator cancels commits that wait for the standby: none of them is answered as written, and each is there once."""
    begin, primary = time.monotonic(), cluster.postgres
    waiting = "FROM pg_stat_activity WHERE usename = 'book' AND query = 'COMMIT' AND wait_event = 'SyncRep'"
    for turn, node in enumerate(cluster.nodes):
        text, held = f"The lantern of turn {turn} is lit", primary.sender()
        os.kill(held, signal.SIGSTOP)
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            try:
                call = pool.submit(Http(node, f"{READER}/bosun").send, "POST", "/v1/memories", {"text": text}, text)
                while not call.done():
                    primary.command(f"SELECT pg_cancel_backend(pid) {waiting}")
                    time.sleep(PAUSE)
            finally:
                os.kill(held, signal.SIGCONT)
        failure = call.exception()
        expect(isinstance(failure, Refusal) and failure.kind == "unavailable", f"{node.name} answered a commit that was cancelled: {failure or call.result()}")
        cluster.ledger.save(save(cluster, text, turn))
    report("commits cancelled", f"{len(cluster.nodes)} that waited for the standby: none was answered as written, and each was there once when it was "
           f"sent again ({time.monotonic() - begin:.1f} s)")


def bring_back_primary(cluster):
    """A primary that was replaced runs again in the place of the new one: no node works with its old data."""
    begin, primary = time.monotonic(), cluster.postgres
    old = next(server for server in cluster.servers if server is not primary)
    primary.stop()
    old.start()
    for node in cluster.nodes:
        try:
            page(node, 0)
        except Refusal as refusal:
            expect(refusal.kind == "unavailable" and "replaced" in refusal.error["message"], str(refusal))
        else:
            expect(False, f"{node.name} works with a primary that was replaced")
    old.stop()
    primary.start()
    save(cluster, "The lead line is back", 0)
    report("old primary", f"{len(cluster.nodes)} nodes refused one that came back, and went on with the new one ({time.monotonic() - begin:.1f} s)")


def lose_commits(cluster):
    """A standby that commits do not wait for takes the place of the primary, and lacks the last ones. Every reader is told, and what is lost is found by none."""
    begin, delays = time.monotonic(), []
    for turn, (lost, further) in enumerate(LOSSES):
        primary = cluster.postgres
        standby = next(server for server in cluster.servers if server is not primary)
        primary.command("ALTER SYSTEM RESET synchronous_standby_names")
        primary.command("SELECT pg_reload_conf()")
        if turn:
            standby.stop()
            standby.copy(primary)
        end = primary.written()
        wait_until(lambda: standby.received() >= end, "the standby does not receive what is written")
        held = primary.sender()
        os.kill(held, signal.SIGSTOP)
        # Each node has a reader that stays, one that comes back with what it has, and an index with what will be lost.
        for number in range(lost):
            save(cluster, f"The anchor {number} of turn {turn} rusts", number)
        after = primary.journal_end()
        tails = [cluster.follow(node) for node in cluster.nodes]
        tokens = {tail: await_token(tail, after) for tail in tails}
        histories = {node: page(node, after)["history"] for node in cluster.nodes}
        for node in cluster.nodes:
            expect(count(node, f'"of turn {turn} rusts"') == lost, f"{node.name} does not find what will be lost")
        primary.kill(whole=True)
        standby.promote()
        cluster.postgres, at = standby, time.monotonic()
        kept = standby.journal_end()
        expect(kept < after, "the failover lost nothing: this proves nothing")
        for number in range(further):
            save(cluster, f"The chain {number} of turn {turn} holds", number)
        end = standby.journal_end()
        for tail, node in zip(tails, cluster.nodes):
            tail.wait_for(lambda: tail.resyncs, f"the word of {node.name} that events may be lost")
            delays.append(time.monotonic() - at)
            tail.await_sequence(end)
            tail.stop()
            expect(not tail.failure, tail.failure)
            expect(page(node, 0)["history"] != histories[node], f"{node.name} names the same history after the failover")
            first = first_frame(node, tokens[tail])
            expect("event: resync" in first, f"{node.name} goes on after {tokens[tail]} with {first}")
            expect(count(node, f'"of turn {turn} rusts"') == 0, f"{node.name} finds what is lost")
            expect(count(node, f'"of turn {turn} holds"') == further, f"{node.name} does not find what came after the failover")
            node.doctor()
        cluster.tails = [tail for tail in cluster.tails if tail not in tails]
    losses = ", ".join(f"{lost} lost and {further} later" for lost, further in LOSSES)
    report("failover that loses commits", f"{losses}: every reader of the stream was told within {milliseconds(delays)} of the promotion, also one that came "
           f"back later; the indexes of {len(cluster.nodes)} nodes have what the database has ({time.monotonic() - begin:.1f} s)")


def save(cluster, text, number):
    """Saves on one node after the other, until a node has an answer."""
    deadline, key = time.monotonic() + WAIT_SECONDS, text
    while True:
        node = cluster.nodes[number % len(cluster.nodes)]
        number += 1
        try:
            line = Http(node, f"{READER}/bosun").connect()
            return line.send("POST", "/v1/memories", {"text": text}, key)
        except (ConnectionLoss, Refusal) as error:
            expect(isinstance(error, ConnectionLoss) or error.kind == "unavailable", str(error))
            expect(time.monotonic() < deadline, f"no answer for {WAIT_SECONDS} s; the last reason: {error}")
            time.sleep(PAUSE)


def await_token(tail, sequence):
    """The id of the last event of a reader, once it has this one."""
    tail.await_sequence(sequence)
    return tail.token


def page(node, after):
    return Http(node, READER).send("GET", f"/v1/events?after={after}&limit=1")


def count(node, query):
    return Http(node, READER).send("GET", "/v1/memories/search?" + urllib.parse.urlencode({"q": query, "k": 1}))["total"]


def first_frame(node, token):
    """What the stream of a node begins with for a reader that has this event."""
    stream = Http(node, READER)
    stream.headers["Last-Event-ID"] = token
    stream.connection.request("GET", "/events/stream", headers=stream.headers)
    response = stream.connection.getresponse()
    lines = []
    while not lines or lines[-1].strip():
        lines.append(response.readline().decode())
    stream.close()
    return "".join(lines)
