#!/usr/bin/env python3
"""What the program makes of strangers' notes: `measure.py PROGRAM` saves them in homes of their own and counts; see README.md."""

import collections
import contextlib
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

# Seconds until all notes are embedded, also in a build for tests.
EMBEDDED_WITHIN = 120


class Book:
    """A home of its own with a server, in a repository of its own."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith("COMMONBOOK")}
        self.environment["COMMONBOOK_HOME"] = f"{folder}/home"
        subprocess.run(["git", "init", "--quiet", folder], check=True)

    def run(self, *arguments, text=None):
        command = [self.program, *arguments]
        done = subprocess.run(command, cwd=self.folder, env=self.environment, input=text, capture_output=True, text=True)
        if done.returncode != 0:
            raise AssertionError(f"{arguments}: {done.stderr}")
        return done.stdout

    def ask(self, agent, *arguments, text=None):
        return json.loads(self.run("--agent", agent, "--json", *arguments, text=text))

    def save(self, agent, text):
        return self.ask(agent, "save", "-", text=text)

    @contextlib.contextmanager
    def served(self):
        """Commands meet a server, which has its model in memory."""
        command = [self.program, "serve", "--port", "0"]
        server = subprocess.Popen(command, cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            next(line for line in server.stdout if "http://" in line)
            yield self
        finally:
            server.kill()
            server.wait()

    def wait_for_vectors(self):
        end = time.monotonic() + EMBEDDED_WITHIN
        while self.ask("reader", "search", "the first of all notes").get("notice"):
            if time.monotonic() > end:
                raise AssertionError(f"not all notes are embedded after {EMBEDDED_WITHIN} s")
            time.sleep(0.2)


def words(text):
    return [word for word in re.findall(r"\w+", text.lower()) if len(word) > 1]


def best_of_bm25(notes, question, most):
    """The keys of the best notes, by the usual constants."""
    counts = {key: collections.Counter(words(text)) for key, text in notes.items()}
    mean = sum(sum(count.values()) for count in counts.values()) / len(counts)
    score = collections.Counter()
    for word in set(words(question)):
        holders = sum(word in count for count in counts.values())
        rarity = math.log(1 + (len(counts) - holders + 0.5) / (holders + 0.5))
        for key, count in counts.items():
            if word in count:
                length = 0.25 + 0.75 * sum(count.values()) / mean
                score[key] += rarity * count[word] * 2.2 / (count[word] + 1.2 * length)
    return {key for key, _ in score.most_common(most)}


def count_tasks(book, project, total):
    with book.served():
        ids = {book.save("claude-code", text)["memory"]["id"]: key for key, text in project["memories"].items()}
        book.wait_for_vectors()
        for task in project["tasks"]:
            context = book.ask("worker", "context", task["task"])
            in_full = {ids.get(item["id"]) for item in context["items"]}
            told = {key for id, key in ids.items() if id[-8:] in json.dumps(context)}
            needed = set(task["relevant"])
            if needed:
                total["tasks with a needed note told"] += [bool(needed & told)]
                total["the three best of BM25 have one"] += [bool(needed & best_of_bm25(project["memories"], task["task"], 3))]
            else:
                total["tasks that need none with a note in full"] += [bool(in_full)]


def count_pairs(book, project, pairs, name, total):
    """Pairs of which the answer of the second save names the first."""
    with book.served():
        firsts = [book.save("claude-code", pair["a"])["memory"]["id"] for pair in pairs]
        for text in project["memories"].values():
            book.save("gemini-cli", text)
        book.wait_for_vectors()
        for first, pair in zip(firsts, pairs):
            answer = json.dumps(book.save("codex", pair["b"]))
            if pair.get("contradiction", pair.get("same")):
                total[name] += [first[-8:] in answer]


def plain(text):
    return re.sub(r"\W+", " ", text).strip()


def count_lessons(book, message, number, total):
    event = {
        "session_id": f"s{number}", "cwd": book.folder, "hook_event_name": "SubagentStop", "agent_id": f"a{number}",
        "agent_type": "engineer", "last_assistant_message": message["message"],
    }
    book.run("hook", "claude-code", "SubagentStop", text=json.dumps(event))
    kept = plain(" ".join(item["text"] for item in book.ask("claude-code/engineer", "list")["items"]))
    total["lessons found without a question"] += [plain(part)[:60] in kept for part in message["want"]]
    total["parts kept that should not be"] += [plain(part)[:60] in kept for part in message["unwanted"]]


def interval(hits, count):
    """Wilson's, 95 %."""
    share, square = hits / count, 1.96**2
    middle, root = share + square / (2 * count), 1.96 * math.sqrt(share * (1 - share) / count + square / (4 * count**2))
    return [(middle + sign * root) / (1 + square / count) for sign in (-1, 1)]


def main():
    program = os.path.abspath(sys.argv[1])
    total = collections.defaultdict(list)
    folder = pathlib.Path(__file__).parent
    # Of the hands that wrote last messages alone, three fitted the rule that finds lessons.
    for path in [*sorted(folder.glob("*.json")), folder.parent / "lessons/hotel.json"]:
        story = json.loads(path.read_text())
        steps = [lambda book, n=n, m=m: count_lessons(book, m, n, total) for n, m in enumerate(story["learnings"])]
        for project in story.get("projects", {}).values():
            steps += [
                lambda book: count_tasks(book, project, total),
                lambda book: count_pairs(book, project, story["contradictions"], "contrary notes named", total),
                lambda book: count_pairs(book, project, story["duplicates"], "repeated notes named", total),
            ]
        for step in steps:
            with tempfile.TemporaryDirectory() as folder:
                step(Book(program, folder))
    for name, tries in total.items():
        low, high = interval(sum(tries), len(tries))
        print(f"{name}: {sum(tries)} of {len(tries)} ({low:.2f} to {high:.2f})")


if __name__ == "__main__":
    main()
