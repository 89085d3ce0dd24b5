"""From `pip install` of a wheel to a memory that LangGraph saved and Claude Code found, in a home that has neither: pip installs
the wheel and LangGraph, a program puts an item into LangGraph's store, `commonbook setup` connects Claude Code, and a person asks
it. Claude Code is the real one, offline, with the scripted model; .ci/agents has installed it before.

  python3 first_langgraph.py WHEEL REQUIREMENT     REQUIREMENT is langgraph==VERSION; fails if it takes a minute or more"""

import json
import pathlib
import subprocess
import sys
import tempfile
import time

from agents_script import agents

SECONDS_MAX = 60
PROMPT = "Which colour is the harbour gate?"
TEXT = "The harbour gate is blue"
# With an author that Claude Code is not.
LANGGRAPH_PROGRAM = f"""
from langgraph.func import entrypoint
from commonbook.langgraph import CommonbookStore

@entrypoint(store=CommonbookStore(agent="keeper"))
def note(text, *, store):
    store.put(("notes", "harbour"), "gate", {{"text": text}})

note.invoke("{TEXT}")
"""
AUTHOR = "langgraph/keeper"


def main(wheel, requirement):
    agents.install()
    client = next(client for client in agents.CLIENTS if client.name == "claude-code")
    # Its files come from `setup` alone.
    client.files = lambda url: {}
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        home = agents.ClientHome(work, client)
        del home.environment["COMMONBOOK_EMBEDDER"]
        home.script.write_text(json.dumps([{"when": PROMPT, "steps": [["search_memory", {"query": PROMPT}]], "say": "Blue."}]))
        subprocess.run([sys.executable, "-m", "venv", work / "venv"], check=True)
        marks = [time.monotonic()]

        def run(program, *arguments):
            command = [work / "venv/bin" / program, *arguments]
            ran = subprocess.run(command, cwd=home.project, env=home.environment, capture_output=True, text=True)
            if ran.returncode:
                sys.exit(f"{program} {' '.join(arguments)}: exit code {ran.returncode}\n{ran.stdout}{ran.stderr}")
            marks.append(time.monotonic())

        with home.model():
            run("pip", "install", "--quiet", "--disable-pip-version-check", wheel, requirement)
            run("python", "-c", LANGGRAPH_PROGRAM)
            run("commonbook", "setup", client.name)
            home.says(PROMPT)
            marks.append(time.monotonic())
        results = [result for request in home.requests(PROMPT) for result in request["results"]]
        if not any(TEXT in result and AUTHOR in result for result in results):
            sys.exit(f"Claude Code does not find what LangGraph saved: {results}\n{(home.home / 'err').read_text()}")
        is_told = TEXT in home.seen(PROMPT)
    installed, saved, connected, found = (f"{end - begin:.0f}" for begin, end in zip(marks, marks[1:]))
    print(
        f"wheel and {requirement}: installed in {installed} s, a memory saved by LangGraph in {saved} s, Claude Code connected in "
        f"{connected} s, and it found the memory in {found} s{', and heard of it with the prompt' if is_told else ''}: "
        f"{marks[-1] - marks[0]:.0f} s"
    )
    return marks[-1] - marks[0] < SECONDS_MAX


if __name__ == "__main__":
    sys.exit(0 if main(*sys.argv[1:]) else "it took a minute or more")
