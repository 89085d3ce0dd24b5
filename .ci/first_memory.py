"""The first memory of a fresh machine: `commonbook setup` connects two clients, one saves a memory through
the MCP server that setup wrote into its file, and the other finds it through its own.

  python3 first_memory.py PROGRAM     in a project, with a HOME of its own"""

import json
import os
import pathlib
import subprocess
import sys
import tomllib

PROGRAM, HOME = sys.argv[1], pathlib.Path(os.environ["HOME"])
TEXT = "The harbour gate is blue"


def call(server, tool, arguments):
    """The answer of a tool of an MCP server, which is started as the client starts it."""
    start = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "ci", "version": "1"}}
    messages = [
        {"id": 1, "method": "initialize", "params": start},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": tool, "arguments": arguments}},
    ]
    lines = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages)
    command = [server["command"], *server["args"]]
    ran = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    answers = [json.loads(line) for line in ran.stdout.splitlines()]
    return next(answer for answer in answers if answer.get("id") == 2)["result"]["content"][0]["text"]


for client in ("claude-code", "codex"):
    subprocess.run([PROGRAM, "setup", client], stdout=subprocess.DEVNULL, check=True)
claude_code = json.loads((HOME / ".claude.json").read_text())["mcpServers"]["commonbook"]
codex = tomllib.loads((HOME / ".codex/config.toml").read_text())["mcp_servers"]["commonbook"]
call(claude_code, "save_memory", {"text": TEXT})
found = call(codex, "search_memory", {"query": "which colour is the harbour gate"})
if TEXT not in found or "claude-code" not in found:
    sys.exit(f"the second client does not find the memory: {found}")
