//! Fuzzing: laws that hold for every file, whatever its format says it is.
//!
//! In a line of the corpus `¶` stands for a line end. Each target tries the lines and a few thousand mutations
//! of them, the same every time; or new ones for some seconds:
//! `FUZZ_SECONDS=60 cargo test --release -p commonbook-formats --test fuzz notes -- --nocapture`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "../../commonbook-text/tests/fuzz/harness.rs"]
mod harness;
#[path = "../../commonbook-text/tests/fuzz/inputs.rs"]
mod inputs;

use std::fs;
use std::path::Path;

use commonbook_formats::{RowOutcome, SourceFormat, frontmatter, open, recognise};
use harness::fuzz;

/// Reads the bytes as a file of this name in each format.
fn read_as(folder: &Path, name: &str, bytes: &[u8], formats: &[SourceFormat]) {
    let text = String::from_utf8_lossy(bytes).replace('¶', "\n");
    let bytes = if text.contains('\u{fffd}') { bytes } else { text.as_bytes() };
    let file = folder.join(name);
    fs::write(&file, bytes).unwrap();
    recognise(&file).unwrap();
    // Lines may end with a carriage return alone.
    let lines = bytes.iter().filter(|byte| [b'\n', b'\r'].contains(byte)).count() + 1;
    for format in formats {
        let rows: Vec<RowOutcome> = open(*format, &file).unwrap().collect();
        for row in rows {
            match row {
                RowOutcome::Row(row) => {
                    assert!((1..=lines).contains(&row.line), "{format:?} {}", row.line);
                    assert!(!row.value["text"].as_str().unwrap().is_empty(), "{format:?}");
                    assert_eq!(row.value["metadata"]["imported_from"]["file"], name);
                }
                RowOutcome::Refused(row) => {
                    assert!(row.line.is_none_or(|line| line <= lines + 1), "{format:?} {row:?}");
                }
                RowOutcome::LeftOut(_) => {}
            }
        }
    }
}

#[test]
fn notes() {
    use SourceFormat::{BasicMemory, ClaudeMemory, ClaudeMpm, Engram, Instructions, Obsidian};
    let folder = tempfile::tempdir().unwrap();
    fuzz(
        "---¶title: T¶tags: [a, b]¶created: 2026-04-06¶---¶# T¶- [fact] x #y (z)¶- part_of [[B|b]]¶text¶```¶code¶```¶> quote\n\
         # One¶Run:¶- a¶  - b¶1. c¶¶<!-- x -->¶| a | b |¶|---|---|¶| 1 | 2 |¶@import.md¶**Always:**¶- d\n\
         ---¶name: n¶description: &a [x]¶type: *a¶---¶body¶\n---¶: {¶---¶x\n- [x](y.md)¶-¶* * *¶***¶[[",
        |bytes| {
            let formats = [BasicMemory, ClaudeMemory, ClaudeMpm, Engram, Instructions, Obsidian];
            read_as(folder.path(), "note.md", bytes, &formats);
            let text = String::from_utf8_lossy(bytes).replace('¶', "\n");
            if let Some(block) = frontmatter::split(&text) {
                assert!(text.ends_with(block.body) && text.contains(block.yaml));
                let _parsed = frontmatter::parse(block.yaml);
            }
        },
    );
}

#[test]
fn documents() {
    use SourceFormat::{ChatGpt, ClaudeAi, Gemini, Mem0, Opencode, Zep};
    let folder = tempfile::tempdir().unwrap();
    fuzz(
        r#"[{"id":"1","memory":"tea","user_id":"a","metadata":{"k":[1]},"categories":["x"]},¶{"memory":7}]
{"results":[{"memory":"a","hash":"h"}],"relations":[{"source":"a","relationship":"b","target":"c"}],"count":1}
{"edges":[{"uuid":"1","fact":"a","valid_at":"2026-01-01"}],"sessions":[{"session_id":"s","messages":[{"role":"a","role_type":"user","content":"b"}]}]}
[{"mapping":{"a":{"parent":"b","message":{"author":{"role":"user"},"content":{"parts":["Remember: a long thing"]}}},"b":{"parent":"a"}},"current_node":"a"}]
[{"chat_messages":[{"sender":"human","text":"We decided to go on."}],"conversations_memory":"**A**¶- b"}]
{"sessionId":"s","projectHash":"p","messages":[{"type":"user","content":"Never do this at home."}]}
{"info":{"id":"ses_1"},"messages":[{"info":{"role":"user"},"parts":[{"type":"text","text":"Remember: a long thing"}]}]}"#,
        |bytes| {
            let formats = [ChatGpt, ClaudeAi, Gemini, Mem0, Opencode, Zep];
            read_as(folder.path(), "export.json", bytes, &formats);
        },
    );
}

#[test]
fn sessions() {
    use SourceFormat::{ClaudeCode, Codex, Gemini, McpMemory};
    let folder = tempfile::tempdir().unwrap();
    fuzz(
        r#"{"type":"user","sessionId":"s","message":{"content":"No. It is the other one.¶Remember: the gate is blue"}}¶{"type":"assistant"}
{"type":"session_meta","payload":{"id":"s","cwd":"/a/b"}}¶{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Never do this at home."}]}}
{"sessionId":"s","projectHash":"p"}¶{"id":"1","type":"user","content":"We decided to go."}¶{"$rewindTo":"1"}¶{"$set":{}}
{"type":"entity","name":"A","entityType":"t","observations":["a",7,""]}¶{"type":"relation","from":"A","to":"B","relationType":"r"}¶¶x"#,
        |bytes| {
            let formats = [ClaudeCode, Codex, Gemini, McpMemory];
            read_as(folder.path(), "session.jsonl", bytes, &formats);
        },
    );
}
