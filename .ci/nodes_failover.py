"""The primary killed and its synchronous standby promoted, and the primary restarted, under the writes of .ci/nodes."""

import os
import random
import signal
import time

from nodes_cluster import PAUSE, SEED, Team, expect, milliseconds, report

# Each kind of kill at least once.
FAILOVERS = max(3, int(os.environ.get("NODE_FAILOVERS", "4")))
RESTARTS = 3


def hold_sender(primary, _standby):
    """From now on the standby receives nothing: a commit that waits for it is lost with the primary, and has no answer."""
    return primary.sender()


def hold_receiver(_primary, standby):
    """From now on the standby says nothing: a commit that waits for it is there after the failover, and has no answer."""
    return standby.receiver()


def hold_nothing(_primary, _standby):
    """The moment is left to chance."""
    return None


HOLDS = (hold_sender, hold_receiver, hold_nothing)


def kill_primary(primary, standby, hold, chance):
    """kill -9 of all processes of the primary, in a moment of this kind."""
    held = hold(primary, standby)
    if not held:
        time.sleep(chance.uniform(0, PAUSE))
        primary.kill(whole=True)
        return
    os.kill(held, signal.SIGSTOP)
    primary.await_commit_that_waits()
    end = primary.written()
    primary.kill(whole=True)
    if hold is hold_receiver:
        os.kill(held, signal.SIGCONT)
    standby.await_end_of_receiver()
    has = standby.received() >= end
    expect(has == (hold is hold_receiver), f"the standby {'has' if has else 'has not'} the commit that waited for it")


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
            kill_primary(primary, standby, HOLDS[turn % len(HOLDS)], chance)
            goals, at = team.goals(), time.monotonic()
            promotions.append(standby.promote())
            cluster.postgres = standby
            returns += [moment - at for moment in team.await_everyone(goals)]
            cluster.await_tails()
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
