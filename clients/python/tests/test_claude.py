"""The hooks for the Claude Agent SDK, called as the SDK calls them."""

import os

import pytest

pytest.importorskip("claude_agent_sdk", reason="claude-agent-sdk is installed by .ci/python")

from commonbook import claude  # noqa: E402

KETTLE = "The kettle of the tea shop whistles at 96 degrees."


@pytest.fixture
def ask(commonbook_server, workspace, loop, tmp_path):
    """Calls the hooks of an event; returns their one answer."""
    hooks = claude.hooks(home=commonbook_server.home, workspace=workspace, agent="keeper")

    def ask(event, **fields):
        [matcher] = hooks[event]
        data = {"hook_event_name": event, "session_id": "s1", "transcript_path": "", "cwd": str(tmp_path), **fields}
        return loop.run_until_complete(matcher.hooks[0](data, None, {"signal": None}))

    return ask


def test_a_prompt_is_told_what_fits_once(ask, eve):
    eve.save(KETTLE)
    told = ask("UserPromptSubmit", prompt="When does the kettle of the tea shop whistle?")
    assert KETTLE in told["hookSpecificOutput"]["additionalContext"]
    assert KETTLE not in str(ask("UserPromptSubmit", prompt="When does the kettle of the tea shop whistle?"))


def test_a_delegated_task_has_its_context(ask, eve):
    eve.save(KETTLE)
    task = {"subagent_type": "engineer", "prompt": "Mend the kettle of the tea shop, which whistles"}
    answer = ask("PreToolUse", tool_name="Task", tool_input=task, tool_use_id="t1")
    assert KETTLE in answer["hookSpecificOutput"]["updatedInput"]["prompt"]


def test_what_is_to_be_remembered_is_kept(ask, eve):
    ask("Stop", stop_hook_active=False, last_assistant_message="Done.\n\nRemember: the shop takes no cards.")
    ask("SubagentStop", stop_hook_active=False, agent_id="a1", agent_type="engineer", agent_transcript_path="",
        last_assistant_message="Remember: the hinge is made of brass.")
    kept = {memory["text"]: memory["owner"] for memory in eve.list_all(memory_type="learning")}
    assert kept["the shop takes no cards."] == "keeper" and kept["the hinge is made of brass."].startswith("keeper/")
    assert ask("PreCompact", trigger="auto", custom_instructions=None) == {}


def test_a_hook_that_fails_lets_the_agent_go_on(loop, tmp_path):
    [matcher] = claude.hooks(program=tmp_path / "absent")["Stop"]
    data = {"hook_event_name": "Stop", "session_id": "s1", "transcript_path": "", "cwd": "/nowhere", "stop_hook_active": False}
    assert loop.run_until_complete(matcher.hooks[0](data, None, {"signal": None})) == {}


def test_the_server_is_the_program(tmp_path):
    server = claude.server(home=tmp_path, agent="keeper", tools="team")
    assert server["command"] == os.environ["COMMONBOOK_PROGRAM"] and server["alwaysLoad"]
    assert server["args"] == ["mcp", "--client", "claude-code", "--agent", "keeper", "--home", str(tmp_path), "--tools", "team"]
