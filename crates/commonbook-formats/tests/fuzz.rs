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
#[path = "mem_bundle/sample.rs"]
#[expect(dead_code, reason = "each test binary uses its own part of the samples")]
mod sample;

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
    let lines = bytes.iter().filter(|byte| **byte == b'\n').count() + 1;
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

/// A file of a bundle with these bytes, listed as it is; or its manifest.
#[test]
fn bundles() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::create_dir(path.join("items")).unwrap();
    let own = sample::lines();
    let (_, written) = own_episodes(&own);
    let corpus = format!(
        "{}\n{}\n{written}\n{}\n{}",
        sample::episode(serde_json::json!({})),
        sample::episode(serde_json::json!({"deletedAt": "2026-01-01", "commonbook": 7})),
        r#"{"id":"f1","episodeID":"e1","subject":"a","predicate":"b","object":"c","text":"","tValidFrom":"2026-01-01","confidence":0,"importance":0,"createdAt":"2026-01-01"}"#,
        r#"{"format":"1.0.0","generator":"a","conformanceLevel":"L0","createdAt":"2026-01-01","exportMode":"full","schemaVersion":0,"embeddingModel":"","embeddingDim":0,"embeddingsIncluded":false,"capabilities":[],"counts":{},"files":[{"path":"items/fact.jsonl","sha256":"0","bytes":1}]}"#,
    );
    let names = [
        "items/episode.jsonl",
        "items/commonbookMemory.jsonl",
        "items/fact.jsonl",
        "manifest.json",
    ];
    fuzz(&corpus, |bytes| {
        // Each input is one of the files, always the same.
        let name = names[bytes.len() % names.len()];
        fs::write(path.join(name), bytes).unwrap();
        if name != "manifest.json" {
            sample::seal(path);
        }
        read_bundle(path, bytes);
        fs::remove_file(path.join(name)).unwrap();
    });
}

/// The episodes that are written of these lines.
fn own_episodes(
    lines: &[serde_json::Map<String, serde_json::Value>],
) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    sample::write_lines(folder.path(), lines);
    let episodes = fs::read_to_string(folder.path().join("items/episode.jsonl")).unwrap();
    (folder, episodes.trim_end().to_owned())
}

/// Either a bundle has rows, or it says what is wrong with it; never both.
fn read_bundle(path: &Path, bytes: &[u8]) {
    recognise(path).unwrap();
    let rows: Vec<RowOutcome> = open(SourceFormat::MemBundle, path).unwrap().collect();
    let again: Vec<RowOutcome> = open(SourceFormat::MemBundle, path).unwrap().collect();
    assert_eq!(rows, again);
    let refused = rows.iter().filter(|row| matches!(row, RowOutcome::Refused(_))).count();
    assert!(refused == 0 || refused == rows.len(), "{rows:?}");
    let lines = bytes.iter().filter(|byte| **byte == b'\n').count() + 1;
    for row in rows {
        if let RowOutcome::Row(row) = row {
            assert!((1..=lines).contains(&row.line), "{row:?}");
            let is_own = row.file.contains("commonbook") || row.value.contains_key("owner");
            assert!(is_own || row.value["trust"] == "untrusted", "{row:?}");
        }
    }
}
