"""What `commonbook setup claude-code` gives Claude Code, in the process of the Claude Agent SDK:

    from claude_agent_sdk import ClaudeAgentOptions
    from commonbook import claude

    options = ClaudeAgentOptions(hooks=claude.hooks(), mcp_servers={"commonbook": claude.server()}, allowed_tools=[claude.TOOLS])

The agent is told what fits a prompt, its sub-agents what fits their task; what either says to remember is kept.
The SDK has no hook for the begin of a session: its briefing comes with the first prompt."""

from __future__ import annotations

import asyncio
import json
import os
from typing import Any, cast

from claude_agent_sdk import HookCallback, HookContext, HookMatcher
from claude_agent_sdk.types import HookEvent, HookInput, HookJSONOutput

from ._server import installed_program

# The tools of the server, for `allowed_tools`.
TOOLS = "mcp__commonbook__*"
# The program answers within two.
HOOK_SECONDS = 5.0
# The tools before which a hook is asked: those that delegate, and our own.
_BEFORE = "Agent|Task|mcp__commonbook__.*"
_EVENTS: dict[HookEvent, str | None] = {
    "UserPromptSubmit": None, "PreToolUse": _BEFORE, "SubagentStop": None, "PreCompact": None, "Stop": None,
}


def hooks(
    *,
    agent: str | None = None,
    workspace: str | None = None,
    home: str | os.PathLike[str] | None = None,
    program: str | os.PathLike[str] | None = None,
) -> dict[HookEvent, list[HookMatcher]]:
    """The hooks for `ClaudeAgentOptions(hooks=…)`.

    `agent` is the name in the memory, `claude-code` by default; the workspace is that of the project in the session's folder.
    A hook that fails says nothing, and lets the agent go on; `hook.log` in the home has the reason."""
    options = _options(agent, workspace, home)
    command = [os.fspath(program) if program is not None else installed_program(), "hook", "claude-code"]
    return {
        event: [HookMatcher(matcher=matcher, hooks=[_callback([*command, event, *options])], timeout=HOOK_SECONDS)]
        for event, matcher in _EVENTS.items()
    }


def server(
    *,
    agent: str | None = None,
    workspace: str | None = None,
    home: str | os.PathLike[str] | None = None,
    program: str | os.PathLike[str] | None = None,
    tools: str | None = None,
) -> Any:
    """The MCP server for `mcp_servers={"commonbook": …}`; `tools` is `core` (the default), `team`, `full` or names."""
    return {
        "type": "stdio",
        "command": os.fspath(program) if program is not None else installed_program(),
        "args": [
            "mcp", "--client", "claude-code", *_options(agent, workspace, home), *(["--tools", tools] if tools else []),
        ],
        # Else the client hides the tools behind its search.
        "alwaysLoad": True,
    }


def _options(agent: str | None, workspace: str | None, home: str | os.PathLike[str] | None) -> list[str]:
    given = {"--agent": agent, "--workspace": workspace, "--home": os.fspath(home) if home is not None else None}
    return [part for flag, value in given.items() if value is not None for part in (flag, value)]


def _callback(command: list[str]) -> HookCallback:
    async def ask(data: HookInput, _tool_use_id: str | None, _context: HookContext) -> HookJSONOutput:
        pipe = asyncio.subprocess.PIPE
        folder = data["cwd"] if os.path.isdir(data["cwd"]) else None
        try:
            process = await asyncio.create_subprocess_exec(
                *command, stdin=pipe, stdout=pipe, stderr=asyncio.subprocess.DEVNULL, cwd=folder,
            )
            output, _ = await process.communicate(json.dumps(data).encode())
            answer: Any = json.loads(output)
        except (OSError, ValueError):
            return {}
        return cast(HookJSONOutput, answer) if isinstance(answer, dict) else {}

    return ask
