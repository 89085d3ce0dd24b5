"""The toolset of Pydantic AI, with its own agent and its scripted model."""

import json
import pathlib

import pytest

pytest.importorskip("pydantic_ai", reason="pydantic-ai-slim is installed by .ci/python")

from pydantic_ai import Agent  # noqa: E402
from pydantic_ai.messages import ModelResponse, RetryPromptPart, TextPart, ToolCallPart, ToolReturnPart  # noqa: E402
from pydantic_ai.models.function import FunctionModel  # noqa: E402

import commonbook  # noqa: E402
from commonbook.pydantic_ai import toolset  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
KETTLE = "The kettle of the tea shop whistles at 96 degrees."
TOOLS = {
    "get_context", "search_memory", "get_memory", "save_memory", "create_handoff", "list_handoffs", "accept_handoff",
    "complete_handoff",
}


@pytest.fixture
def run(commonbook_server, workspace, loop):
    """Runs an agent whose model makes these calls, one a turn; returns what each of them returned."""
    book = commonbook_server.async_book("pydantic-ai", workspace=workspace)

    def run(*calls, name="tea", call_id=None, **options):
        steps = [ToolCallPart(tool, given, **({"tool_call_id": call_id} if call_id else {})) for tool, given in calls]

        def model(messages, info):
            run.info = info
            return ModelResponse(parts=[steps.pop(0) if steps else TextPart("Done.")])

        agent = Agent(FunctionModel(model), name=name, toolsets=[toolset(book)])
        ran = loop.run_until_complete(agent.run("Make tea", **options))
        parts = [part for message in ran.all_messages() for part in message.parts]
        return [part.content for part in parts if isinstance(part, (ToolReturnPart, RetryPromptPart))]

    yield run
    loop.run_until_complete(book.close())


@pytest.fixture
def coder(commonbook_server, workspace):
    """An agent of another program."""
    with commonbook_server.book("claude-code", workspace=workspace) as book:
        yield book


def test_a_model_reads_what_the_tools_are_for(run):
    run()
    described = {tool.name: tool for tool in run.info.function_tools}
    assert set(described) == TOOLS
    for tool in described.values():
        assert tool.description and "ctx" not in tool.parameters_json_schema["properties"]
        assert all(field.get("description") for field in tool.parameters_json_schema["properties"].values()), tool.name
    assert "not instructions" in run.info.instructions


def test_a_tool_is_one_of_the_servers():
    served = json.loads((ROOT / "crates/commonbook-server/tests/surface/tools.json").read_text())
    assert TOOLS <= {tool["name"] for tool in served}


def test_an_agent_saves_under_its_name_and_reads_whose_words_it_finds(run, coder):
    coder.save(KETTLE)
    saved, found, context = run(
        ("save_memory", {"text": "Vinegar removes the lime.", "topics": ["lime"]}), ("search_memory", {"query": "kettle whistle"}),
        ("get_context", {"task": "Say when the kettle of the tea shop whistles"}),
    )
    assert saved["outcome"] == "created"
    assert {(hit["author"], hit["text"]) for hit in found} >= {("claude-code", KETTLE)}
    assert context.startswith("<commonbook-") and KETTLE in context and "claude-code" in context
    [memory] = coder.list_all(topic="lime")
    assert (memory["id"], memory["owner"]) == (saved["id"], "pydantic-ai/tea")


def test_an_agent_that_blocks_keeps_its_connections(commonbook_server, workspace, coder):
    coder.save(KETTLE)

    def model(messages, info):
        last = messages[-1].parts[-1]
        call = ToolCallPart("search_memory", {"query": "kettle"})
        return ModelResponse(parts=[TextPart(str(last.content)) if isinstance(last, ToolReturnPart) else call])

    book = commonbook_server.async_book("pydantic-ai", workspace=workspace)
    agent = Agent(FunctionModel(model), name="tea", toolsets=[toolset(book)])
    for _ in range(2):
        assert KETTLE in agent.run_sync("When does the kettle whistle?").output


def test_what_is_saved_belongs_to_the_conversation(run, coder):
    run(("save_memory", {"text": KETTLE}), conversation_id="shop 7")
    assert [memory["text"] for memory in coder.list_all(session="shop-7")] == [KETTLE]


def test_an_agent_without_a_name_has_that_of_the_client(run, coder):
    run(("save_memory", {"text": KETTLE}), name=None)
    [memory] = coder.list_all()
    assert memory["owner"] == "pydantic-ai"


def test_handles_of_a_context_can_be_opened(run, coder):
    ids = [coder.save(text)["memory"]["id"] for text in (KETTLE, "Vinegar removes the lime.")]
    [opened] = run(("get_memory", {"ids": [f"#{ids[0][-8:]}", ids[1]]}))
    assert [(entry["author"], entry["text"]) for entry in opened] == [("claude-code", KETTLE), ("claude-code", "Vinegar removes the lime.")]
    [refused] = run(("get_memory", {"ids": []}))
    assert "at least one" in str(refused)


def test_nothing_that_fits_is_said_so(run):
    assert run(("get_context", {"task": "Mend the zebra"})) == ["The memory has nothing for this task."]


def test_a_call_that_runs_again_saves_nothing_twice(run, coder):
    handed = [run(("create_handoff", {"to": "claude-code", "task": "Mend the kettle"}), call_id="c1", run_id="r1")[0] for _ in range(2)]
    assert handed[0] == handed[1] and len(coder.handoffs()["items"]) == 1


def test_what_the_model_can_mend_comes_back_with_the_next_step(run):
    [refused] = run(("accept_handoff", {"handoff": "hnd_00000000000000000000000000"}))
    assert "no handoff" in str(refused) or "(" in str(refused)


def test_a_memory_that_does_not_answer_ends_the_run(loop):
    book = commonbook.AsyncCommonbook("http://127.0.0.1:9", agent="pydantic-ai", workspace="none", retries=0)
    model = FunctionModel(lambda messages, info: ModelResponse(parts=[ToolCallPart("search_memory", {"query": "kettle"})]))
    with pytest.raises(commonbook.Unavailable):
        loop.run_until_complete(Agent(model, toolsets=[toolset(book)]).run("Make tea"))
    loop.run_until_complete(book.close())


def test_a_handoff_goes_to_another_agent_and_back(run, coder):
    coder.save(KETTLE)
    coder.handoff("pydantic-ai/tea", "Lower the temperature of the kettle")
    [[waiting]] = run(("list_handoffs", {}))
    assert (waiting["from"], waiting["task"]) == ("claude-code", "Lower the temperature of the kettle")
    text, done = run(
        ("accept_handoff", {"handoff": waiting["id"]}), ("complete_handoff", {"handoff": waiting["id"], "result": "It is at 80."}),
    )
    assert KETTLE in text and text.startswith("<commonbook-") and done == "completed"
    assert coder.get_handoff(waiting["id"])["handoff"]["status"] == "completed"
