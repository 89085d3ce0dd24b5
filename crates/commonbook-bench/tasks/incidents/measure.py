#!/usr/bin/env python3
"""What a colleague hears of an incident: `measure.py PROGRAM` saves each story as its agents would, and counts what is told.

For each text that a newcomer reads: key facts with all of their wording in it, of all; guesses that were refuted later; personal
data; tokens (characters by four). Of the digest: facts that no entry of an agent has, and its length by that of its notes.
"""

import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TEXTS = ("resume", "case read", "case context", "digest")


class Book:
    """A home of its own, in a repository of its own."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith("COMMONBOOK")}
        self.environment["COMMONBOOK_HOME"] = f"{folder}/home"
        subprocess.run(["git", "init", "--quiet", folder], check=True)

    def ask(self, agent, *arguments, text=None):
        command = [self.program, "--agent", agent, "--json", *arguments]
        done = subprocess.run(command, cwd=self.folder, env=self.environment, input=text, capture_output=True, text=True)
        if done.returncode != 0:
            raise AssertionError(f"{arguments}: {done.stderr}")
        return json.loads(done.stdout)


def plain(text):
    return re.sub(r"\s+", " ", text).lower()


def texts_of(book, story):
    """Saves a story, and returns what a newcomer reads of it."""
    sessions, key = {}, story["key"]
    book.ask(story["notes"][0]["author"], "case", "open", key, "--title", story["title"])
    for note in story["notes"]:
        author = note["author"]
        if author not in sessions:
            sessions[author] = book.ask(author, "session", "start", "--case", key)["session"]["id"]
        place = ["--case", key] if note["case"] else []
        book.ask(author, "save", "-", "--session", sessions[author], *place, text=note["text"])
    for author, session in sessions.items():
        book.ask(author, "session", "end", session)
    entries = book.ask("reader", "case", "read", key, "--limit", "100")["entries"]
    summary = [entry for entry in entries if entry.get("agent") == "system"]
    said = lambda entries: "\n".join(entry.get("summary") or "" for entry in entries)
    return {
        "resume": book.ask("newcomer", "resume")["text"],
        "case read": said(entries),
        "case context": book.ask("reader", "case", "context", key)["text"],
        "digest": said(summary),
    }


def holds(text, row):
    return all(any(plain(word) in text for word in needle.split("|")) for needle in row["needles"])


def main():
    program = os.path.abspath(sys.argv[1])
    total = collections.Counter()
    for path in sorted(pathlib.Path(__file__).parent.glob("*.json")):
        story = json.loads(path.read_text())
        with tempfile.TemporaryDirectory() as folder:
            texts = texts_of(Book(program, folder), story)
        of_case = {note["id"] for note in story["notes"] if note["case"]}
        apart = [row for row in story["key_facts"] if not of_case & set(row["ids"])]
        length = sum(len(note["text"]) for note in story["notes"] if not note["case"])
        for name in TEXTS:
            text = plain(texts[name])
            facts = apart if name == "digest" else story["key_facts"]
            total[name, "facts"] += len(facts)
            total[name, "told"] += sum(holds(text, row) for row in facts)
            total[name, "refuted"] += sum(holds(text, row) for row in story["refuted"])
            total[name, "personal"] += sum(plain(word) in text for word in story["personal"])
            total[name, "tokens"] += len(texts[name]) // 4
        total["digest", "length"] += len(texts["digest"])
        total["digest", "notes"] += length
    for name in TEXTS:
        of = {key[1]: count for key, count in total.items() if key[0] == name}
        print(f"{name}: {of['told']} of {of['facts']} facts, {of['refuted']} refuted guesses, {of['personal']} personal, {of['tokens']} tokens")
    print(f"digest: {total['digest', 'length'] / total['digest', 'notes']:.2f} of its notes")


if __name__ == "__main__":
    main()
