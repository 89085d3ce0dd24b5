"""Every verb of the client against a real server."""

import pytest

from commonbook import Conflict, Forbidden, Invalid, NotFound

KETTLE = "The kettle of the tea shop whistles at 96 degrees."


def test_a_memory_is_saved_found_read_and_listed(book, eve):
    saved = book.save(KETTLE, topics=["kettle"], importance="high", title="Kettle")
    memory = saved["memory"]
    assert saved["outcome"] == "created" and memory["owner"] == "ann" and memory["topics"] == ["kettle"]
    assert book.save(KETTLE, topics=["kettle"], importance="high", title="Kettle")["outcome"] == "repeated"
    found = eve.search("When does the kettle whistle?", importance="high", include=["closed", "superseded"])
    assert [hit["memory"]["text"] for hit in found["hits"]] == [KETTLE]
    assert eve.get(memory["id"])["title"] == "Kettle"
    assert [item["id"] for item in eve.list(topic="kettle")["items"]] == [memory["id"]]
    assert eve.list(topic="teapot")["items"] == []


def test_an_agent_has_a_name_in_any_script(make, commonbook_server, workspace):
    book = make(commonbook_server.url, agent="crewai/研究员", workspace=workspace)
    assert book.save("The kettle whistles at 96 degrees.")["memory"]["owner"] == "crewai/研究员"
    assert next(iter(book.events(after="0")))["actor"] == "crewai/研究员"


def test_several_are_saved_or_none(book):
    saved = book.save_all([{"text": "The shop has six tables."}, {"text": "It opens at nine.", "topics": ["hours"]}])
    assert [item["outcome"] for item in saved["items"]] == ["created", "created"]
    with pytest.raises(Invalid) as refused:
        book.save_all([{"text": "It closes at six."}, {"text": ""}])
    assert refused.value.field == "memories[1].text"
    first, second = (item["memory"]["id"] for item in saved["items"])
    assert [memory["id"] for memory in book.get(first, ids=[second])["further"]] == [second]
    assert len(list(book.list_all())) == 2


def test_all_pages_are_read(book):
    for begin in range(0, 120, 60):
        book.save_all([{"text": f"Shelf {number} holds tea number {number * 7}."} for number in range(begin, begin + 60)])
    assert len({memory["id"] for memory in book.list_all()}) == 120
    assert len(list(book.list_all(limit=7, order="oldest"))) == 120
    page = book.search("shelf tea", k=5)
    assert page["total"] == 120 and len(book.search("shelf tea", k=5, cursor=page["next"])["hits"]) == 5


def test_a_memory_changes_and_comes_back(book):
    memory = book.save(KETTLE)["memory"]
    changed = book.update(memory["id"], text="It whistles at 95 degrees.", expected_revision=1, title="Kettle")
    assert changed["revision"] == 2 and changed["title"] == "Kettle"
    with pytest.raises(Conflict):
        book.update(memory["id"], text="It whistles at 94 degrees.", expected_revision=1)
    assert "title" not in book.update(memory["id"], title="")
    assert book.delete(memory["id"], expected_revision=3)["deleted_at"]
    with pytest.raises(NotFound):
        book.get(memory["id"])
    assert [item["id"] for item in book.list(deleted=True)["items"]] == [memory["id"]]
    assert "deleted_at" not in book.restore(memory["id"])
    assert book.restore(memory["id"], revision=1)["text"] == KETTLE
    revisions = book.history(memory["id"])["items"]
    assert [revision["memory"]["text"] for revision in revisions[:2]] == [KETTLE, "It whistles at 95 degrees."]


def test_a_document_stays_at_its_path(book, eve):
    path = "/plans/two tables?.md"
    first = book.save("Herons first", path=path, expected_revision=0)["memory"]
    with pytest.raises(Conflict):
        book.save("Herons last", path=path)
    replaced = book.save("Herons last", path=path, expected_revision=1)
    assert replaced["outcome"] == "replaced" and replaced["memory"]["id"] == first["id"]
    assert book.get(path)["text"] == "Herons last" == eve.get(f"ann:{path}")["text"]
    with pytest.raises(NotFound):
        eve.get(path)
    with pytest.raises(Forbidden):
        eve.update(f"ann:{path}", text="Herons never")
    assert [item["path"] for item in eve.list(path="/plans/")["items"]] == [path]
    assert book.update(path, new_path="/done")["path"] == "/done"
    assert book.delete("/done")["deleted_at"]


def test_what_an_agent_needs_to_know_is_told(book, eve):
    book.save(KETTLE, memory_type="decision")
    context = eve.context("Describe when the kettle of the tea shop whistles", budget=800, threshold=0.1)
    assert KETTLE in context["text"] and context["tokens"] <= 800
    briefing = eve.brief("When does the kettle of the tea shop whistle?", client_session="morning")
    assert KETTLE in briefing["text"]
    assert KETTLE not in eve.brief("And when does the kettle of the tea shop whistle?", client_session="morning")["text"]


def test_a_message_is_learned_from(book):
    learned = book.learn("Done.\n\nRemember: the tea shop takes no cards.", prompt="Pay for the tea")
    assert [memory["text"] for memory in learned["learnings"]] == ["the tea shop takes no cards."]


def test_changes_are_read_and_marked(book, eve):
    book.save(KETTLE)
    changes = eve.changes()
    assert changes["changes"]
    eve.mark_read(changes["through"])
    assert eve.changes()["changes"] == []
    assert [item["agent"] for item in eve.agents()["items"]][0] in ("ann", "eve")
    assert eve.stats()["memories"] == 1


def test_work_is_handed_over(book, eve):
    memory = book.save(KETTLE)["memory"]
    given = book.handoff("eve", "Calibrate the kettle", next_steps=["Measure twice"], memories=[memory["id"]])["handoff"]
    assert [item["id"] for item in eve.handoffs(status=["pending"], with_="ann")["items"]] == [given["id"]]
    accepted = eve.accept_handoff(given["id"])
    assert KETTLE in accepted["text"] and "Measure twice" in accepted["text"]
    assert eve.complete_handoff(given["id"], "It is calibrated", still_open=["Polish it"])["handoff"]["status"] == "completed"
    assert book.get_handoff(given["id"])["handoff"]["status"] == "completed"
    refused = book.handoff("eve", "Calibrate the teapot", follows=[])["handoff"]
    assert eve.reject_handoff(refused["id"], "A teapot has no scale")["handoff"]["status"] == "rejected"
    withdrawn = book.handoff("eve", "Calibrate the tray of the shop")["handoff"]
    assert book.withdraw_handoff(withdrawn["id"], "There is no tray")["handoff"]["status"] == "withdrawn"
    dry = book.handoff("eve", "Calibrate the scale", dry_run=True)
    assert dry["handoff"]["to"] == "eve"


def test_a_case_has_what_all_append(book, eve):
    assert book.open_case("kettle", "The kettle")["case"]["key"] == "kettle"
    case, other = book.case("kettle"), eve.case("kettle")
    appended = case.append("It whistles too early", kind="question", text="At 93 degrees, measured twice.")
    other.append_all([{"summary": "We clean it", "kind": "decision"}, {"summary": "Vinegar works"}])
    read = other.read(after=0)
    assert [entry["summary"] for entry in read["entries"]] == ["It whistles too early", "We clean it", "Vinegar works"]
    moved = case.append("We replace it", expected_version=appended["context_version"])
    assert moved["entries"] == [] and moved["moved"]
    assert "We clean it" in case.context(budget=500)["text"]
    assert [entry["summary"] for entry in case.read(after=0, author="eve", kind="decision")["entries"]] == ["We clean it"]
    other.mark_read()
    assert other.read()["entries"] == []
    assert case.update(labels=["repair"], title="The old kettle")["labels"] == ["repair"]
    assert [found["key"] for found in eve.cases(label="repair")["items"]] == ["kettle"]
    assert case.close()["status"] == "closed"
    assert case.reopen()["status"] == "open"
    case.close()
    assert case.archive()["status"] == "archived" and case.get()["status"] == "archived"


def test_a_session_has_what_is_saved_in_it(book, eve):
    book.open_case("kettle", "The kettle")
    with book.session("run-7", case="kettle") as session:
        memory = session.save(KETTLE)["memory"]
        assert memory["session"] == session.id
        assert session.touch()["status"] == "active"
        assert session.checkpoint(kind="milestone", title="Measured")["kind"] == "milestone"
        summarised = session.checkpoint_and_summarise("The kettle was measured at 96 degrees")
        assert summarised["context_version"] == 1 and summarised["checkpoint"]["session"] == session.id
        assert len(session.checkpoints()["items"]) == 2
        known = session.id
    assert book.get_session(known)["session"]["status"] == "completed"
    assert [found["id"] for found in book.sessions(case="kettle")["items"]] == [known]
    assert [entry["summary"] for entry in eve.case("kettle").read(after=0)["entries"]] == ["The kettle was measured at 96 degrees"]
    resumed = eve.resume(known, budget=2000)
    assert KETTLE in resumed["text"] and resumed["session"]["id"] != known


def test_a_session_is_found_again_and_ends_with_a_summary(book):
    session = book.session("run-8")
    assert session.start()["outcome"] == "started"
    again = book.session("run-8")
    assert again.start()["session"]["id"] == session.id
    assert session.end("Nothing was done")["summary"]
    with pytest.raises(RuntimeError):
        session.touch()


def test_what_has_no_method_is_a_request(book):
    resolved = book.request("POST", "/v1/entities/resolve", {"type": "tool", "value": "Kettle"})
    assert resolved["entity"]["value"] == "Kettle"
    assert book.request("get", "/v1/entities", query={"type": "tool"})["items"]


def test_another_caller_uses_the_same_connections(book):
    other = book.acting(agent="rook", user="alex")
    memory = other.save("I prefer green tea", about="user")["memory"]
    assert memory["owner"] == "rook" and memory["user_id"] == "alex"
    with pytest.raises(Forbidden) as refused:
        other.update(book.save(KETTLE)["memory"]["id"], text="It whistles at 100 degrees.")
    assert refused.value.code == "ownership_mismatch" and refused.value.hint and refused.value.request_id


@pytest.mark.parametrize(
    ("text", "kind", "field"), [("", "invalid", "text"), ("x" * 70_000, "too_large", "text")],
)
def test_an_error_has_kind_field_and_hint(book, text, kind, field):
    with pytest.raises(Exception) as failed:
        book.save(text)
    assert (failed.value.kind, failed.value.field, bool(failed.value.message)) == (kind, field, True)
    assert failed.value.status == {"invalid": 400, "too_large": 413}[kind]
