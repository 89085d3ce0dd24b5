"""The primary killed and its synchronous standby promoted, and the primary restarted, under the writes of .ci/nodes."""

import os
import random
import signal
import time

from nodes_cluster import PAUSE, SEED, Team, expect, milliseconds, report, wait_until

# Each kind of kill at least once.
FAILOVERS = max(3, int(os.environ.get("NODE_FAILOVERS", "6")))
RESTARTS = 3


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
            resyncs = [tail.resyncs for tail in cluster.tails]
            expect(resyncs == [turn + 1] * len(resyncs), f"after failover {turn + 1} the readers of the stream were told {resyncs} times")
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
