//! What is read how, as a table.

use schemars::JsonSchema;
use serde_json::json;

use super::*;
use crate::base::id::MemoryId;
use crate::base::input;
use crate::model::handoff::CreateHandoff;
use crate::model::memory::{GetMemories, ListMemories, SaveMemories, SaveMemory, UpdateMemory};
use crate::model::search::SearchMemory;
use crate::prompt::context::GetContext;

/// A request as it is sent, and as its type reads it.
type Reading = (Value, Value);

fn check<T: JsonSchema>(table: impl IntoIterator<Item = Reading>) {
    let form = RequestForm::of(&input::schema::<T>());
    for (sent, read) in table {
        let found = form.read(sent.clone(), EmptyText::Absent);
        assert_eq!(found, read, "{sent}");
        assert_eq!(form.read(found, EmptyText::Absent), read, "{sent}: read again");
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn what_is_plain_is_read() {
    let saved = |more: Value| {
        let mut fields = json!({"text": "x"});
        let more = more.as_object().cloned().unwrap_or_default();
        fields.as_object_mut().unwrap().extend(more);
        fields
    };
    let save = |sent: Value, read: Value| (saved(sent), saved(read));
    check::<SaveMemory>([
        save(json!({"title": null, "topics": null, "metadata": null}), json!({})),
        save(json!({"title": "", "topics": "", "importance": ""}), json!({})),
        save(json!({"title": "null", "summary": "None"}), json!({})),
        save(json!({"title": "Null pointers"}), json!({"title": "Null pointers"})),
        save(json!({"topics": "a, b"}), json!({"topics": ["a", "b"]})),
        save(json!({"topics": "[\"a\"]"}), json!({"topics": ["a"]})),
        save(json!({"tags": ["a"]}), json!({"topics": ["a"]})),
        save(json!({"importance": " High"}), json!({"importance": "high"})),
        save(json!({"importance": "medium"}), json!({"importance": "normal"})),
        save(
            json!({"valid_from": "2026-12-01", "valid_until": "2026-12-01"}),
            json!({"valid_from": "2026-12-01T00:00:00Z", "valid_until": "2026-12-01T23:59:59.999999999Z"}),
        ),
        save(json!({"metadata": "{}"}), json!({"metadata": {}})),
        save(json!({"metadata": {"a": null, "b": ""}}), json!({"metadata": {"a": null, "b": ""}})),
        save(json!({"supersedes": ["#abcdef"]}), json!({"supersedes": "#abcdef"})),
        save(json!({"contradicts": {"id": "#abcdef"}}), json!({"contradicts": ["#abcdef"]})),
        save(json!({"memoryType": "decision"}), json!({"memory_type": "decision"})),
        save(json!({"require_current": "True"}), json!({"require_current": true})),
        save(json!({"memory_type": "Null", "title": "NULL"}), json!({})),
        save(json!({"topics": "a; b, c\nd"}), json!({"topics": ["a", "b", "c", "d"]})),
        save(json!({"topics": [""]}), json!({})),
        save(json!({"topics": ["a", "", null]}), json!({"topics": ["a"]})),
        save(json!({"topics": [{"name": "a"}]}), json!({"topics": ["a"]})),
        save(
            json!({"contradicts": "#abcdef `#abcdeg`"}),
            json!({"contradicts": ["#abcdef", "#abcdeg"]}),
        ),
        save(
            json!({"contradicts": ["[#abcdef]", "#abcdeg,#abcdeh"]}),
            json!({"contradicts": ["#abcdef", "#abcdeg", "#abcdeh"]}),
        ),
        save(json!({"supersedes": "[#abcdef]"}), json!({"supersedes": "#abcdef"})),
        save(
            json!({"entities": [{"name": "Redis", "type": "tool"}, "tool:Kafka"]}),
            json!({"entities": [{"value": "Redis", "type": "tool"}, "tool:Kafka"]}),
        ),
        save(json!({"private": true}), json!({"sharing": "private"})),
        save(json!({"is_private": "false"}), json!({"sharing": "shared"})),
        save(
            json!({"private": true, "sharing": "shared"}),
            json!({"private": true, "sharing": "shared"}),
        ),
        (json!({"observations": ["x"]}), json!({"text": "x"})),
        (json!({"text": "null"}), json!({"text": "null"})),
        (json!({"text": "3"}), json!({"text": "3"})),
        (json!({"content": "x"}), json!({"text": "x"})),
        (json!({"input": {"text": "x"}}), json!({"text": "x"})),
        (json!({"params": "{\"memory\": {\"text\": \"x\"}}"}), json!({"text": "x"})),
    ]);
    check::<SearchMemory>([
        (json!({"q": "x", "limit": "3"}), json!({"query": "x", "k": 3})),
        (json!({"query": ["x", "y"], "k": 3.0}), json!({"query": "x y", "k": 3})),
        (
            json!({"query": "x", "include": "Private, closed"}),
            json!({"query": "x", "include": ["private", "closed"]}),
        ),
        (json!({"query": "x", "topics": ["a"]}), json!({"query": "x", "topic": "a"})),
    ]);
    check::<SaveMemories>([(
        json!({"memories": [{"content": "x", "topics": "a", "title": null}]}),
        json!({"memories": [{"text": "x", "topics": ["a"]}]}),
    )]);
    check::<GetContext>([(
        json!({"query": "x", "max_tokens": "500"}),
        json!({"task": "x", "budget": 500}),
    )]);
    check::<CreateHandoff>([(
        json!({"to": "b", "task": ["x", "y"], "next_steps": [{"step": "x"}, {"step": "y", "owner": "c"}],
                "files_modified": [{"path": "a.rs"}, "b.rs"]}),
        json!({"to": "b", "task": "x\ny", "next_steps": ["x", "y (owner: c)"], "active_files": ["a.rs", "b.rs"]}),
    )]);
    check::<SearchMemory>([(
        json!({"query": "x", "until": "now", "since": "2026-12-01"}),
        json!({"query": "x", "since": "2026-12-01"}),
    )]);
    let filter = RequestForm::of(&input::schema::<ListMemories>());
    let read = |sent: Value| filter.read(sent, EmptyText::Kept);
    assert_eq!(read(json!({"importance": "null"})), json!({}), "a choice has no such word");
    assert_eq!(read(json!({"topic": "null"})), json!({"topic": "null"}));
}

#[test]
fn what_is_not_plain_stays() {
    check::<SaveMemory>(
        [
            json!({"text": ""}),
            json!({"text": ["x", "y"]}),
            json!({"text": "x", "content": "y"}),
            json!({"text": "x", "topics": 5}),
            json!({"text": "x", "importance": "enormous"}),
            json!({"text": "x", "metadata": "{broken"}),
            json!({"text": "x", "supersedes": ["#abcdef", "#abcdeg"]}),
            json!({"text": "x", "agent": "another"}),
            json!({"x": {"y": "z"}}),
            json!(["text"]),
        ]
        .map(|sent| (sent.clone(), sent)),
    );
    check::<SearchMemory>(
        [
            json!({"query": "x", "k": 2.5}),
            json!({"query": "x", "k": "many"}),
            json!({"query": "x", "topic": ["a", "b"]}),
            json!({"query": "x", "topics": ["a", "b"]}),
            json!({"query": "x", "tags": "a, b"}),
        ]
        .map(|sent| (sent.clone(), sent)),
    );
}

#[test]
fn an_update_removes_with_an_empty_text_and_leaves_with_null() {
    check::<UpdateMemory>([
        (json!({"id": "#abcdef", "memory": {"text": "x"}}), json!({"id": "#abcdef", "text": "x"})),
        (
            json!({"memory_id": "`#abcdef`", "updates": {"content": "x", "tags": ["a"]}}),
            json!({"id": "#abcdef", "text": "x", "topics": ["a"]}),
        ),
        (json!({"id": "#abcdef", "topics": [""]}), json!({"id": "#abcdef"})),
        (
            json!({"id": "#abcdef", "title": "", "summary": "", "valid_until": "", "text": ""}),
            json!({"id": "#abcdef", "title": "", "summary": "", "valid_until": ""}),
        ),
        (json!({"id": "#abcdef", "title": null, "valid_until": null}), json!({"id": "#abcdef"})),
        (
            json!({"memory_id": "#abcdef", "content": "x y"}),
            json!({"text": "x y", "id": "#abcdef"}),
        ),
        // A note may be meant beside the text.
        (json!({"id": "#abcdef", "note": "x"}), json!({"id": "#abcdef", "note": "x"})),
    ]);
}

#[test]
fn a_client_that_fills_every_field_removes_nothing() {
    let form = RequestForm::of(&input::schema::<UpdateMemory>());
    let sent = json!({"id": "#abcdef", "text": "x", "title": "", "valid_until": "", "topics": []});
    let read = json!({"id": "#abcdef", "text": "x"});
    assert_eq!(form.read(sent, EmptyText::Filler), read);
    assert!(form.is_choice("sharing") && !form.is_choice("title"));
}

#[test]
fn an_empty_filter_is_kept_where_it_selects_what_is_lost() {
    let form = RequestForm::of(&input::schema::<SearchMemory>());
    let sent = json!({"query": "x", "topic": "", "owner": "null"});
    assert_eq!(form.read(sent.clone(), EmptyText::Kept), sent);
}

#[test]
fn an_unknown_field_names_what_was_meant() {
    let refused = |value: Value| input::from_value::<SaveMemory>(value).unwrap_err().message;
    let table = [
        (
            json!({"text": "x", "txet": "y"}),
            "txet: unknown field `txet`: did you mean `text`? Expected one of `text`, ",
        ),
        (
            json!({"text": "x", "content": "y"}),
            "content: unknown field `content`: did you mean `text`? Expected one of ",
        ),
        (
            json!({"text": "x", "agent_id": "y"}),
            "agent_id: unknown field `agent_id`: leave it out: the server knows who calls, and where. Expected ",
        ),
        (json!({"text": "x", "colour": "y"}), "colour: unknown field `colour`, expected one of "),
    ];
    for (sent, message) in table {
        let found = refused(sent.clone());
        assert!(found.starts_with(message), "{sent}: {found}");
    }
}

#[test]
fn an_id_under_another_name_looks_like_one() {
    let id = MemoryId::parse("mem_0000000000000000000000000a").unwrap().to_string();
    check::<UpdateMemory>([
        (json!({"memory": id}), json!({"id": id})),
        (json!({"id": format!("#{id}")}), json!({"id": id})),
        (json!({"memory": "two words"}), json!({"text": "two words"})),
    ]);
}

#[test]
fn an_object_without_an_id_where_one_belongs_stays_as_it_is() {
    check::<UpdateMemory>([(json!({"id": {}, "text": "x"}), json!({"id": {}, "text": "x"}))]);
}

#[test]
fn a_path_in_the_place_of_an_id_stays_as_it_is() {
    for path in ["/notes/(draft)", "/a b, c", "ann:/x [1]"] {
        check::<GetMemories>([
            (json!({"id": path}), json!({"id": path})),
            (json!({"path": path}), json!({"id": path})),
            (json!({"ids": [path]}), json!({"ids": [path]})),
        ]);
        let moved = json!({"id": path, "new_path": path});
        check::<UpdateMemory>([(moved.clone(), moved)]);
    }
}
