"""The examples run, as users run them: in a project, with the program installed and a home of their own."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
NAMES = ("COMMONBOOK_URL", "COMMONBOOK_TOKEN", "COMMONBOOK_WORKSPACE", "COMMONBOOK_AGENT_ID", "COMMONBOOK_USER_ID")


@pytest.fixture
def run(tmp_path):
    """Runs an example; returns what it printed."""
    project = tmp_path / "tea-shop"
    (project / ".git").mkdir(parents=True)
    environment = {name: value for name, value in os.environ.items() if name not in NAMES}
    environment |= {"HOME": str(tmp_path), "COMMONBOOK_HOME": str(tmp_path / "home"), "COMMONBOOK_EMBEDDER": "off"}

    def run(name, *arguments, **more):
        command = [sys.executable, "-B", ROOT / "examples/python" / f"{name}.py", *arguments]
        ran = subprocess.run(command, cwd=project, env={**environment, **more}, capture_output=True, text=True, timeout=300)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout

    run.project, run.environment = project, environment
    return run


def commonbook(run, *arguments):
    """Runs the program itself."""
    program = os.environ.get("COMMONBOOK_PROGRAM", "commonbook")
    ran = subprocess.run([program, *arguments], cwd=run.project, env=run.environment, capture_output=True, text=True, check=True)
    return ran.stdout


def test_first_memory(run):
    printed = run("first_memory")
    assert printed.startswith("The kettle whistles at 96 degrees.") and "Bend the hinge" in printed
    # Another client of the same home and project finds it.
    assert "Vinegar removes the lime." in commonbook(run, "search", "lime")


def test_mem0_program(run):
    assert run("mem0_program") == "I am allergic to nuts, and I prefer black tea\n"


def test_follow_events(run):
    commonbook(run, "save", "The kettle whistles at 96 degrees.", "--agent", "eve")
    assert run("follow_events", "1").split()[1:3] == ["memory.saved", "eve"]


def test_two_agents_with_adk(run):
    pytest.importorskip("google.adk", reason="google-adk is installed by .ci/python")
    printed = run("adk_two_agents")
    assert "claude-code: The kettle of the tea shop whistles at 96 degrees." in printed
    assert "user: I prefer my tea at 80 degrees." in printed and "Lower the temperature of the kettle" in printed


def test_two_agents_with_strands(run):
    pytest.importorskip("strands", reason="strands-agents is installed by .ci/python")
    printed = run("strands_two_agents")
    assert "claude-code: The kettle of the tea shop whistles at 96 degrees." in printed
    assert "strands/tea: Green tea wants 80 degrees." in printed and "Lower the temperature of the kettle" in printed


def test_agent_framework_agent(run):
    pytest.importorskip("agent_framework", reason="agent-framework-core is installed by .ci/python")
    printed = run("agent_framework_agent")
    assert "> The kettle of the tea shop whistles at 96 degrees." in printed and "not instructions" in printed
    assert "agent-framework/tea: green tea wants 80 degrees." in printed


def test_agent_framework_history(run):
    pytest.importorskip("agent_framework", reason="agent-framework-core is installed by .ci/python")
    assert run("agent_framework_history", "My name is Ann.") == "I have read 1: user: My name is Ann.\n"
    printed = run("agent_framework_history", "What is my name?")
    assert printed.startswith("I have read 3: user: My name is Ann., assistant: I have read 1")


def test_two_frameworks_with_pydantic_ai(run):
    pytest.importorskip("pydantic_ai", reason="pydantic-ai-slim is installed by .ci/python")
    pytest.importorskip("agent_framework", reason="agent-framework-core is installed by .ci/python")
    printed = run("pydantic_ai_two_frameworks")
    assert "agent-framework/keeper: the kettle of the tea shop whistles at 96 degrees." in printed
    assert "agent-framework/keeper hands work over" in printed and "> Lower the temperature of the kettle" in printed


def test_pydantic_ai_harness_memory(run):
    pytest.importorskip("pydantic_ai_harness", reason="pydantic-ai-harness is installed by .ci/python")
    lines = run("pydantic_ai_harness_memory").splitlines()
    kettle = "The kettle of the tea shop whistles at 96 degrees."
    assert lines[:2] == ["Noted.", f"pydantic-ai/tea /pydantic-ai/memory/main/MEMORY.md: {kettle}"]
    assert "## Notes of pydantic-ai/tea" in lines and kettle in lines[2:]


def test_two_agents_with_crewai(run):
    pytest.importorskip("crewai", reason="crewai is installed by .ci/python")
    printed = run("crewai_two_agents", CREWAI_DISABLE_TELEMETRY="true", OTEL_SDK_DISABLED="true")
    read, found = printed.split("claude-code: The kettle of the tea shop whistles at 96 degrees.\n")
    assert "claude-code wrote:\n  > The kettle of the tea shop whistles at 96 degrees.\n" in read
    assert "crewai/tea-maker wrote:\n  > green tea wants 80 degrees.\n" in read
    assert "\ncrewai/tea-maker: green tea wants 80 degrees.\n" in read and "claude-code wrote:\n" in found


def test_anthropic_memory(run):
    pytest.importorskip("anthropic", reason="anthropic is installed by .ci/python")
    printed = run("anthropic_memory")
    assert "     1\tThe kettle whistles at 96 degrees.\n     2\tIts lid is loose.\n" in printed
    assert "anthropic/tea /memories/kettle.md\n" in printed and printed.endswith("\n53B\t/memories/kettle.md\n")


def test_anthropic_memory_stores(run):
    pytest.importorskip("anthropic", reason="anthropic is installed by .ci/python")
    pytest.importorskip("langgraph.store", reason="langgraph is installed by .ci/python")
    assert run("anthropic_memory_stores").splitlines() == [
        "The kettle whistles at 96 degrees.", "True", 'langgraph/keeper /langgraph/store/notes/lid: {"text": "Its lid is loose."}',
        "anthropic/tea /kettle.md: The kettle whistles at 96 degrees.",
    ]


def test_two_frameworks_with_langgraph(run):
    pytest.importorskip("langgraph.graph", reason="langgraph is installed by .ci/python")
    pytest.importorskip("pydantic_ai", reason="pydantic-ai-slim is installed by .ci/python")
    printed = run("langgraph_two_frameworks")
    assert printed.startswith("notes/kettle/whistle: The kettle of the tea shop whistles at 96 degrees.\n")
    assert '\nlanggraph/keeper: {"text": "The kettle of the tea shop whistles at 96 degrees."}\n' in printed
    assert printed.endswith("\n{'text': 'The kettle of the tea shop whistles at 96 degrees.'}\n")


def test_langgraph_checkpointer(run):
    pytest.importorskip("langgraph.graph", reason="langgraph is installed by .ci/python")
    printed = run("langgraph_checkpointer")
    assert "Lower it, although claude-code says: The kettle of the tea shop whistles at 96 degrees.?" in printed
    assert "langgraph/tea: Done, after the answer yes." in printed
    assert printed.endswith("langgraph/tea has documents of its thread, and claude-code sees 0 of them.\n")


def test_openai_session(run):
    pytest.importorskip("agents", reason="openai-agents is installed by .ci/python")
    assert run("openai_session").splitlines() == [
        "3 items read: I keep that in mind.", "5 items read: At 96 degrees.",
        "openai/tea: The kettle of the tea shop whistles at 96 degrees.", "conversations that claude-code sees: 0",
    ]


def test_claude_agent(run, tmp_path):
    pytest.importorskip("claude_agent_sdk", reason="claude-agent-sdk is installed by .ci/python")
    commonbook(run, "save", "The kettle of the tea shop whistles at 96 degrees.", "--agent", "eve")
    script, log = tmp_path / "script.json", tmp_path / "log"
    steps = [["search_memory", {"query": "whistle"}]]
    script.write_text(json.dumps([{"when": "kettle", "steps": steps, "say": "At 96.\n\nRemember: the shop takes no cards."}]))
    log.touch()
    model = subprocess.Popen(["node", ROOT / ".ci/model.mjs", script, log], stdout=subprocess.PIPE, text=True)
    try:
        address = model.stdout.readline().split()[-1]
        printed = run(
            "claude_agent", ANTHROPIC_BASE_URL=address, ANTHROPIC_API_KEY="none", IS_SANDBOX="1", DISABLE_AUTOUPDATER="1",
            CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
        )
    finally:
        model.terminate()
        model.wait()
        model.stdout.close()
    first, last = [json.loads(line) for line in log.read_text().splitlines()]
    assert "At 96." in printed
    # The hook told it before its first word, the tool is there, and the hook kept what it said to remember.
    told = str(first["system"]) + first["said"]
    assert "whistles at 96 degrees" in told and "eve" in told
    assert "whistles at 96 degrees" in last["results"][0]
    kept = json.loads(commonbook(run, "list", "--type", "learning", "--json"))["items"]
    assert [(memory["owner"], memory["text"]) for memory in kept] == [("claude-code", "the shop takes no cards.")]
