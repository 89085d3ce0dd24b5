"""The client has every field of the requests that it makes, and both clients have the same methods."""

import inspect
import json
import pathlib

import pytest

import commonbook
from commonbook import models

ROOT = pathlib.Path(__file__).resolve().parents[3]
# The methods that carry a request of the OpenAPI document.
REQUESTS = {
    "save": "SaveMemory", "update": "UpdateMemory", "restore": "RestoreMemory", "context": "GetContext", "brief": "GetBriefing",
    "learn": "LearnRequest", "mark_read": "MarkRead", "handoff": "CreateHandoff", "complete_handoff": "CompleteHandoff",
    "reject_handoff": "RejectHandoff", "withdraw_handoff": "WithdrawHandoff", "open_case": "OpenCase", "session": "StartSession",
    "resume": "ResumeSession", "checkpoint": "CreateCheckpoint", "checkpoint_and_summarise": "CheckpointAndSummarise",
}
OF_CASES = {"append": "NewEntry", "append_all": "AppendEntries", "update": "UpdateCase"}
OF_SESSIONS = {"touch": "TouchSession", "end": "EndSession"}
QUERIES = {
    "search": ("/v1/memories/search", "get"), "list": ("/v1/memories", "get"), "get": ("/v1/memories/{id}", "get"),
    "delete": ("/v1/memories/{id}", "delete"), "handoffs": ("/v1/handoffs", "get"), "cases": ("/v1/cases", "get"),
    "sessions": ("/v1/sessions", "get"), "checkpoints": ("/v1/checkpoints", "get"), "changes": ("/v1/changes", "get"),
    "events": ("/events/stream", "get"),
}


def parameters(method):
    return {name.rstrip("_") for name in inspect.signature(method).parameters}


@pytest.mark.parametrize(
    ("face", "methods"),
    [(commonbook.Commonbook, REQUESTS), (commonbook.Case, OF_CASES), (commonbook.Session, OF_SESSIONS)],
)
def test_a_method_has_every_field_of_its_request(face, methods):
    for name, model in methods.items():
        fields = getattr(models, model).__annotations__
        assert set(fields) - parameters(getattr(face, name)) == set(), f"{name} lacks fields of {model}"


def test_a_method_has_every_parameter_of_its_query():
    document = json.loads((ROOT / "crates/commonbook-server/tests/surface/openapi.json").read_text())
    for name, (path, verb) in QUERIES.items():
        named = set()
        for parameter in document["paths"][path][verb]["parameters"]:
            if "$ref" in parameter:
                parameter = document["components"]["parameters"][parameter["$ref"].split("/")[-1]]
            if parameter["in"] == "query":
                named.add(parameter["name"])
        assert named - parameters(getattr(commonbook.Commonbook, name)) == set(), name


def test_both_clients_have_the_same_methods():
    pairs = [
        (commonbook.Commonbook, commonbook.AsyncCommonbook), (commonbook.Case, commonbook.AsyncCase),
        (commonbook.Session, commonbook.AsyncSession),
    ]
    for blocking, awaiting in pairs:
        names = [name for name in vars(blocking) if not name.startswith("_")]
        assert names == [name for name in vars(awaiting) if not name.startswith("_")]
        for name in names:
            if callable(vars(blocking)[name]):
                assert parameters(vars(blocking)[name]) == parameters(vars(awaiting)[name]), name


def test_the_server_has_the_document_of_which_the_models_were_made(commonbook_server):
    import httpx

    document = json.loads((ROOT / "crates/commonbook-server/tests/surface/openapi.json").read_text())
    assert httpx.get(f"{commonbook_server.url}/openapi.json").json() == document


def test_the_documents_name_the_versions_that_are_tested():
    pinned = dict(word.split("==") for word in (ROOT / ".ci/python").read_text().split() if "==" in word)
    page = (ROOT / "docs/clients.md").read_text()
    for package in ("mem0ai", "google-adk", "claude-agent-sdk"):
        assert f"{package} {pinned[package]} |" in page


def test_every_method_is_in_the_documents():
    page = (ROOT / "docs/python.md").read_text()
    for face in (commonbook.Commonbook, commonbook.Case):
        names = [name for cls in face.__mro__ for name in vars(cls) if not name.startswith("_")]
        missing = {name for name in names if f"`{name}" not in page and f"book.{name}" not in page} - {"send", "key", "url", "agent"}
        assert missing - {name for name in dir(object)} <= {"close"}, missing
