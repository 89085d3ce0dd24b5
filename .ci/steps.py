"""Runs steps in lanes, prints the log of each when it has ended, and the seconds of all in a table.

A lane runs its steps one after the other, beside the other lanes; a step may wait for one of another lane. The first failure ends
all lanes, and its log is printed last. Seconds are of the clock and of the processors; the latter without processes that outlive
the step.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
LOGS = TARGET / "ci"
# The time between the request to end and the kill.
GRACE_SECONDS = 10
# Lines of the log of a step that did not end.
LINES_SHOWN = 40


@dataclass
class Step:
    """One command of the shell that has to succeed."""

    name: str
    command: str
    # The name of a step of another lane that has to be through before.
    after: str = ""
    # Whether cargo runs test executables in it, each of which gets a row in the table.
    timed: bool = False


@dataclass
class Running:
    """A step that has begun."""

    step: Step
    process: subprocess.Popen
    log: Path
    begun: float


class Lanes:
    """The lanes of one run."""

    def __init__(self, lanes):
        self.lanes = lanes
        self.through = {step.name: threading.Event() for steps in lanes.values() for step in steps}
        self.running = {}
        self.lock = threading.Lock()
        # The name of the step that failed, and its log.
        self.failure = None
        # Lane, name, seconds and seconds of processors of each step that has ended.
        self.rows = []
        self.begun = time.monotonic()

    def run(self):
        """Runs all steps; returns whether each succeeded."""
        shutil.rmtree(LOGS, ignore_errors=True)
        LOGS.mkdir(parents=True)
        threads = [threading.Thread(target=self.run_lane, args=(name, steps)) for name, steps in self.lanes.items()]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.print_table()
        if self.failure:
            name, log = self.failure
            print(f"\n== failed: {name}\n{log.read_text(errors='replace')}\n== failed: {name}", flush=True)
        # A lane that broke off ran fewer.
        return not self.failure and sum(1 for row in self.rows if row[0]) == len(self.through)

    def run_lane(self, lane, steps):
        for step in steps:
            if step.after:
                self.through[step.after].wait()
            with self.lock:
                if self.failure:
                    return
                running = self.start(step)
                self.running[lane] = running
            process = running.process
            _, status, usage = os.wait4(process.pid, 0)
            seconds = time.monotonic() - running.begun
            process.returncode = os.waitstatus_to_exitcode(status)
            self.end(lane, step, running.log, process.returncode, seconds, usage.ru_utime + usage.ru_stime)
            self.through[step.name].set()

    def start(self, step):
        log = LOGS / (re.sub(r"[^a-z0-9]+", "-", step.name.lower())[:48].strip("-") + ".log")
        print(f"== begins: {step.name}", flush=True)
        with open(log, "wb") as output:
            process = subprocess.Popen(
                ["bash", "-euo", "pipefail", "-c", step.command], cwd=ROOT, stdin=subprocess.DEVNULL,
                stdout=output, stderr=subprocess.STDOUT, start_new_session=True, env=timing(log) if step.timed else None,
            )
        return Running(step, process, log, time.monotonic())

    def end(self, lane, step, log, code, seconds, processor_seconds):
        with self.lock:
            del self.running[lane]
            if self.failure:
                return
            self.rows.append((lane, step.name, seconds, processor_seconds))
            if step.timed:
                self.rows += executables(log)
            if code == 0:
                print(f"\n== {step.name}\n{log.read_text(errors='replace')}", end="")
                print(f"== {step.name}: {seconds:.0f} s, {processor_seconds:.0f} s of processors", flush=True)
                return
            self.failure = (f"{step.name} (exit code {code})", log)
            self.end_sessions()
            for event in self.through.values():
                event.set()

    def end_sessions(self):
        # A lane removes its process as soon as it has ended.
        for running in list(self.running.values()):
            end_session(running.process)

    def print_running(self):
        """Prints the steps that have not ended, for who reads the log of a run that took too long."""
        for lane, running in list(self.running.items()):
            lines = running.log.read_text(errors="replace").splitlines()[-LINES_SHOWN:]
            print("\n".join([f"\n== {running.step.name}", *lines]))
            print(f"== interrupted after {time.monotonic() - running.begun:.0f} s, {lane}: {running.step.name}", flush=True)

    def print_table(self):
        print("\n== steps: lane, seconds, seconds of processors")
        for lane, name, seconds, processor_seconds in self.rows:
            print(f"{lane:8} {seconds:6.0f} {processor_seconds:6.0f}  {name}")
        whole = time.monotonic() - self.begun
        print(f"{'all':8} {whole:6.0f} {sum(row[3] for row in self.rows if row[0]):6.0f}", flush=True)


def timing(log):
    """The environment in which cargo runs test executables through .ci/timed, which writes a table beside the log."""
    told = subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True).stdout
    machine = re.search(r"^host: (.*)$", told, re.MULTILINE)[1].upper().replace("-", "_")
    return {**os.environ, f"CARGO_TARGET_{machine}_RUNNER": str(ROOT / ".ci/timed"), "TIMED_TABLE": str(log.with_suffix(".tsv"))}


def executables(log):
    """The rows of the test executables that ran, without a lane: their seconds are in those of the step."""
    table = log.with_suffix(".tsv")
    lines = [line.split("\t") for line in table.read_text().splitlines()] if table.exists() else []
    return [("", name, float(seconds), float(processor_seconds)) for seconds, processor_seconds, name in lines]


def end_session(process):
    """Ends a step with everything that it has started."""
    deadline = time.monotonic() + GRACE_SECONDS
    try:
        os.killpg(process.pid, signal.SIGTERM)
        while time.monotonic() < deadline:
            time.sleep(0.1)
            os.killpg(process.pid, 0)
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def main(lanes):
    run = Lanes(lanes)

    def interrupt(number, _frame):
        run.print_running()
        run.print_table()
        run.end_sessions()
        os._exit(128 + number)

    # The steps have sessions of their own, which a signal to this process does not reach.
    for number in [signal.SIGINT, signal.SIGTERM]:
        signal.signal(number, interrupt)
    succeeded = run.run()
    print("\n== everything passed" if succeeded else "\n== not everything passed", flush=True)
    sys.exit(0 if succeeded else 1)
