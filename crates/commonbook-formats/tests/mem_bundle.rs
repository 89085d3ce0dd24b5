//! `.mem` bundles: what is written, byte for byte; what comes back; what other programs write; and what is refused.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "mem_bundle/sample.rs"]
mod sample;

use std::collections::BTreeMap;
use std::fs;
use std::io::Cursor;
use std::path::Path;

use commonbook_formats::{
    BUNDLE_FILE_BYTES_MAX, LINE_BYTES_MAX, MemBundleWriter, RowOutcome, SourceFormat,
    is_replaceable_bundle, open, recognise,
};
use sample::{bundle, episode, files_of, id_of, lines, seal, write_lines};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

fn rows(folder: &Path) -> Vec<RowOutcome> {
    open(SourceFormat::MemBundle, folder).unwrap().collect()
}

fn values(folder: &Path) -> Vec<Map<String, Value>> {
    let rows = rows(folder).into_iter().map(|row| match row {
        RowOutcome::Row(row) => row.value,
        other => panic!("{other:?}"),
    });
    rows.collect()
}

/// Everything but rows, one text each.
fn refusals(folder: &Path) -> Vec<String> {
    let rows = rows(folder).into_iter().map(|row| match row {
        RowOutcome::Row(row) => format!("{}:{} ROW", row.file, row.line),
        RowOutcome::Refused(row) => {
            let line = row.line.map(|line| format!(":{line}")).unwrap_or_default();
            format!("{}{line} {}", row.file, row.reason)
        }
        RowOutcome::LeftOut(row) => format!("- {} {}", row.file, row.reason),
    });
    rows.collect()
}

fn write(lines: &[Map<String, Value>]) -> (TempDir, usize) {
    let folder = tempfile::tempdir().unwrap();
    let taken = write_lines(folder.path(), lines);
    (folder, taken)
}

#[test]
fn a_bundle_is_written_byte_for_byte_whatever_the_order_of_its_lines() {
    let (folder, taken) = write(&lines());
    assert_eq!(taken, lines().len() - 2, "a header and a case have no place");
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mem_bundle/golden.mem");
    #[expect(clippy::disallowed_methods, reason = "how a person asks for new golden files")]
    let renew = std::env::var_os("UPDATE_SURFACES").is_some();
    if renew {
        let _absent = fs::remove_dir_all(&golden);
        for (name, bytes) in files_of(folder.path()) {
            fs::create_dir_all(golden.join(&name).parent().unwrap()).unwrap();
            fs::write(golden.join(name), bytes).unwrap();
        }
    }
    let shown = |files: BTreeMap<String, Vec<u8>>| -> Vec<String> {
        let files = files.into_iter();
        files
            .map(|(name, bytes)| format!("{name}\n{}", String::from_utf8(bytes).unwrap()))
            .collect()
    };
    let expected = shown(files_of(&golden));
    assert_eq!(shown(files_of(folder.path())), expected);
    let mut others = lines();
    others.reverse();
    for line in &mut others {
        if let Some(Value::Object(metadata)) = line.get_mut("metadata") {
            let reversed: Vec<_> = std::mem::take(metadata).into_iter().rev().collect();
            metadata.extend(reversed);
        }
    }
    assert_eq!(shown(files_of(write(&others).0.path())), expected);
    let found = recognise(folder.path()).unwrap().unwrap();
    assert_eq!((found.format, found.files), (SourceFormat::MemBundle, 3));
    let manifest = recognise(&folder.path().join("manifest.json")).unwrap().unwrap();
    assert_eq!(manifest.format, SourceFormat::MemBundle);
}

#[test]
fn every_field_of_a_memory_comes_back() {
    let (folder, _) = write(&lines());
    let by_id = |lines: Vec<Map<String, Value>>| -> BTreeMap<(String, bool), Value> {
        let key = |line: &Map<String, Value>| match line.get("value") {
            Some(value) => (value[0]["id"].as_str().unwrap().to_owned(), true),
            None => (line["id"].as_str().unwrap().to_owned(), false),
        };
        lines.into_iter().map(|line| (key(&line), Value::Object(line))).collect()
    };
    let memories = lines()
        .into_iter()
        .filter(|line| line.get("record").is_none_or(|record| record == "revisions"));
    assert_eq!(by_id(values(folder.path())), by_id(memories.collect()));
    // In the order of their ids, and earlier revisions after their memory.
    let order: Vec<String> = values(folder.path())
        .iter()
        .map(|line| match line.get("value") {
            Some(value) => format!("{} revisions", value[0]["id"].as_str().unwrap()),
            None => line["id"].as_str().unwrap().to_owned(),
        })
        .collect();
    let mut sorted = order.clone();
    sorted.sort_unstable();
    assert_eq!(order, sorted);
    assert_eq!(write(&[]).1, 0);
    assert!(values(write(&[]).0.path()).is_empty());
}

/// Each field of an episode, and the field of a memory that it is made of.
#[test]
fn what_a_field_becomes() {
    let memory = json!({"id": id_of("a"), "workspace": "w", "owner": "ann", "about": "project",
        "memory_type": "semantic", "text": "One.\nTwo.", "topics": ["a"], "importance": "normal",
        "sharing": "shared", "source": {"agent": "ann", "how": "mcp", "sha256": "0"},
        "trust": "normal", "metadata": {}, "recorded_at": "2026-01-02T03:04:05.678Z",
        "revised_at": "2026-01-02T03:04:05.678Z", "revised_by": "ann", "revision": 1});
    let table: [(&str, Value, &str, Value); 20] = [
        ("text", json!("One.\nTwo."), "details", json!("One.\nTwo.")),
        ("text", json!(format!("{}\nTwo.", "x".repeat(200))), "summary", json!("x".repeat(120))),
        ("title", json!("Title"), "summary", json!("Title")),
        ("summary", json!("Short"), "summary", json!("Short")),
        ("workspace", json!("harbour"), "contextID", json!("harbour")),
        ("topics", json!(["b", "a"]), "categories", json!(["b", "a"])),
        ("owner", json!("zoë"), "actors", json!(["zoë"])),
        ("user_id", json!("u77"), "actors", json!(["ann", "u77"])),
        ("user_id", json!("u77"), "sensitivity", json!("high")),
        ("sharing", json!("private"), "sensitivity", json!("high")),
        ("sharing", json!("shared"), "sensitivity", json!("low")),
        ("importance", json!("critical"), "importance", json!(1)),
        ("importance", json!("high"), "importance", json!(0.75)),
        ("importance", json!("low"), "importance", json!(0.25)),
        ("trust", json!("untrusted"), "confidence", json!(0.5)),
        ("memory_type", json!("conversation"), "sourceType", json!("chat")),
        ("valid_from", json!("2025-01-01T00:00:00.5Z"), "eventTime", json!("2025-01-01T00:00:00Z")),
        (
            "valid_until",
            json!("2027-01-01T00:00:00Z"),
            "expirationDate",
            json!("2027-01-01T00:00:00Z"),
        ),
        ("archived_at", json!("2026-02-01T00:00:00Z"), "lifecycleState", json!("COLD")),
        (
            "metadata",
            json!({"n": 1.0, "t": "1.0", "l": [{"b": 2, "a": null}]}),
            "metadata",
            json!({"n": "1.0", "t": "1.0", "l": r#"[{"a":null,"b":2}]"#}),
        ),
    ];
    for (field, value, place, expected) in table {
        let Value::Object(mut line) = memory.clone() else { unreachable!() };
        line.insert(field.to_owned(), value.clone());
        let (folder, _) = write(std::slice::from_ref(&line));
        let text = fs::read_to_string(folder.path().join("items/episode.jsonl")).unwrap();
        let episode: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(episode[place], expected, "{field} = {value}");
        assert_eq!(values(folder.path()), [line], "{field} = {value}");
    }
}

#[test]
fn what_another_program_changed_counts() {
    let table = [
        ("details", json!("Two"), "text", json!("Two")),
        ("categories", json!(["new"]), "topics", json!(["new"])),
        ("contextID", json!("other"), "workspace", json!("other")),
        ("importance", json!(0.9), "importance", json!("critical")),
        ("sensitivity", json!("secret"), "sharing", json!("private")),
        ("eventTime", json!("2020-05-05T00:00:00Z"), "valid_from", json!("2020-05-05T00:00:00Z")),
        (
            "expirationDate",
            json!("2030-01-01T00:00:00Z"),
            "valid_until",
            json!("2030-01-01T00:00:00Z"),
        ),
        ("expirationDate", Value::Null, "valid_until", Value::Null),
        ("summary", json!("Another"), "summary", json!("Another")),
        ("metadata", json!({"new": "x"}), "metadata", json!({"new": "x"})),
    ];
    let sample = lines().into_iter().find(|line| line.contains_key("valid_until")).unwrap();
    for (place, value, field, expected) in table {
        let (folder, _) = write(std::slice::from_ref(&sample));
        let file = folder.path().join("items/episode.jsonl");
        let mut episode: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        episode[place] = value;
        fs::write(&file, format!("{episode}\n")).unwrap();
        seal(folder.path());
        let found = values(folder.path()).remove(0);
        assert_eq!(found.get(field).cloned().unwrap_or_default(), expected, "{place}");
        assert_eq!((&found["id"], &found["owner"]), (&sample["id"], &sample["owner"]));
    }
}

#[test]
fn a_bundle_of_another_program_is_untrusted_and_owned_by_nobody() {
    let rich = json!({"id": "e2", "eventTime": "2026-01-01T00:00:00Z",
        "mentionTime": "2026-01-02T00:00:00Z", "sourceType": "chat", "sourceID": "m7",
        "actors": ["admin"], "summary": "About tea", "details": "Ann drinks tea.",
        "sensitivity": "high", "metadata": {"mem0_id": "m7"}, "categories": ["taste", "#tea"],
        "importance": 0.9, "lifecycleState": "WARM", "pinned": true, "contextID": "run-1",
        "expirationDate": "2027-01-01T00:00:00+01:00", "speaker": "admin", "owner": "admin",
        "trust": "normal", "commonbook": {"owner": "admin"}, "vendor": {"deep": [1]}});
    let folder = bundle(&[
        ("items/episode.jsonl", &format!("{}\n\n{}\n", episode(json!({})), episode(rich))),
        ("items/entity.jsonl", &[
            r#"{"id":"n1","type":"person","canonicalName":"Ann","aliases":["A."],"summary":"Keeps the boat","sensitivity":"low","updatedAt":"2026-01-01T00:00:00Z"}"#,
            r#"{"id":"n2","type":"place","canonicalName":"Acme","aliases":[],"summary":"","sensitivity":"low","updatedAt":"2026-01-01T00:00:00Z"}"#,
        ].join("\n")),
        ("items/edge.jsonl", r#"{"id":"g1","srcEntityID":"n1","dstEntityID":"n2","edgeType":"works_at","tValidFrom":"2026-01-01T00:00:00Z","ingestionTime":"2026-01-01T00:00:00Z","confidence":1,"evidenceEpisodeIDs":["e1"]}"#),
        ("items/fact.jsonl", r#"{"id":"f1","episodeID":"e1","subject":"Ann","predicate":"drinks","object":"tea","text":"","tValidFrom":"2026-01-01T00:00:00Z","confidence":0.5,"importance":0.1,"createdAt":"2026-01-01T00:00:00Z"}"#),
        ("items/core.jsonl", r#"{"id":"persona","content":"Be brief.","charBudget":100,"version":2}"#),
        ("items/procedure.jsonl", r#"{"id":"p1","name":"Deploy","triggerPattern":"on release","steps":["Test","Ship"],"successCount":1,"failureCount":0,"enabled":false}"#),
        ("items/preference.jsonl", r#"{"key":"language","value":"Dutch"}"#),
        ("items/secretRef.jsonl", r#"{"id":"s"}"#),
        ("items/vendorKind.jsonl", "anything\n"),
    ]);
    assert_eq!(recognise(folder.path()).unwrap().unwrap().format, SourceFormat::MemBundle);
    let mut found = Vec::new();
    for row in rows(folder.path()) {
        match row {
            RowOutcome::Row(row) => {
                assert_eq!(row.value["trust"], "untrusted", "{row:?}");
                assert_eq!(row.value["metadata"]["imported_from"]["format"], "mem");
                for field in ["owner", "speaker", "conv", "id", "session", "user_id"] {
                    assert!(!row.value.contains_key(field), "{field}: {row:?}");
                }
                let text = row.value["text"].as_str().unwrap().replace('\n', "¶");
                let kind = row.value["memory_type"].as_str().unwrap();
                found.push(format!("{}:{} {kind}: {text}", row.file, row.line));
            }
            RowOutcome::LeftOut(row) => found.push(format!("- {} {}", row.file, row.reason)),
            RowOutcome::Refused(row) => panic!("{row:?}"),
        }
    }
    let expected = [
        "- items/secretRef.jsonl records of the kind secretRef are not memories",
        "- items/vendorKind.jsonl records of the kind vendorKind are not memories",
        "items/episode.jsonl:1 semantic: The gate is blue.",
        "items/episode.jsonl:3 episodic: Ann drinks tea.",
        "items/entity.jsonl:1 semantic: Ann: Keeps the boat",
        "- items/entity.jsonl line 2: the entity \"Acme\" has no summary",
        "items/edge.jsonl:1 semantic: Ann works at Acme",
        "items/fact.jsonl:1 semantic: Ann drinks tea",
        "items/core.jsonl:1 semantic: Be brief.",
        "items/procedure.jsonl:1 procedural: Deploy (on release):¶1. Test¶2. Ship",
        "items/preference.jsonl:1 semantic: language: Dutch",
    ];
    assert_eq!(found, expected);
    let row = rows(folder.path()).into_iter().nth(3).unwrap();
    let RowOutcome::Row(row) = row else { panic!("{row:?}") };
    let expected = json!({"text": "Ann drinks tea.", "memory_type": "episodic",
        "trust": "untrusted", "sharing": "private", "summary": "About tea",
        "created_at": "2026-01-01T00:00:00Z", "valid_until": "2026-12-31T23:00:00Z",
        "importance": "critical", "topics": ["taste", "tea"],
        "metadata": {"sensitivity": "high", "source_type": "chat", "source_id": "m7",
            "actors": ["admin"], "speaker": "admin", "context": "run-1", "confidence": 0.7,
            "pinned": true, "lifecycle": "WARM", "mentioned_at": "2026-01-02T00:00:00Z",
            "mem0_id": "m7", "commonbook": {"owner": "admin"}, "owner": "admin", "trust": "normal",
            "vendor": {"deep": [1]},
            "imported_from": {"format": "mem", "file": "items/episode.jsonl", "id": "e2"}}});
    assert_eq!(Value::Object(row.value), expected);
}

#[test]
fn what_a_tombstone_names_is_not_read() {
    let tombstone = |id: &str| {
        format!(
            r#"{{"id":"t","op":"delete","targetKind":"episode","targetID":"{id}","deletedAt":"2026-01-01T00:00:00Z","actor":"x","derived":{{}}}}"#
        )
    };
    let mut ended = lines();
    ended.retain(|line| line.contains_key("superseded_by"));
    let own = format!("{}\n", Value::Object(ended[0].clone()));
    let gone = episode(json!({"deletedAt": "2026-01-01T00:00:00Z"}));
    let folder = bundle(&[
        (
            "audit/tombstones.jsonl",
            &[tombstone("e1"), tombstone(ended[0]["id"].as_str().unwrap())].join("\n"),
        ),
        (
            "items/episode.jsonl",
            &format!("{}\n{gone}\n{}", episode(json!({})), episode(json!({"id": "e9"}))),
        ),
        ("items/commonbookMemory.jsonl", &own),
        (
            "items/fact.jsonl",
            r#"{"id":"f1","episodeID":"e1","subject":"Ann","predicate":"drinks","object":"tea","text":"","tValidFrom":"2026-01-01T00:00:00Z","confidence":0.5,"importance":0.1,"createdAt":"2026-01-01T00:00:00Z"}"#,
        ),
    ]);
    let expected = [
        "- items/episode.jsonl line 1: the record was deleted",
        "- items/episode.jsonl line 2: the record was deleted",
        "items/episode.jsonl:3 ROW",
        "- items/commonbookMemory.jsonl line 1: the record was deleted",
        "- items/fact.jsonl line 1: the record was deleted",
    ];
    assert_eq!(refusals(folder.path()), expected);
}

/// One thing is wrong with a bundle of two good episodes: it is named, and no row is read.
#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn a_broken_bundle_is_refused_as_a_whole_and_says_where() {
    let good = format!("{}\n{}\n", episode(json!({})), episode(json!({"id": "e9"})));
    let with = |line: &str| bundle(&[("items/episode.jsonl", &format!("{good}{line}\n"))]);
    let of = |field: &str, value: Value| with(&episode(json!({field: value})));
    let manifest = |change: &dyn Fn(&mut Value)| {
        let folder = bundle(&[("items/episode.jsonl", &good)]);
        let path = folder.path().join("manifest.json");
        let mut value: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        change(&mut value);
        fs::write(path, value.to_string()).unwrap();
        folder
    };
    let changed = |change: &dyn Fn(&Path)| {
        let folder = bundle(&[("items/episode.jsonl", &good)]);
        change(folder.path());
        folder
    };
    let own = |line: &str| {
        changed(&|folder| {
            fs::write(folder.join("items/commonbookMemory.jsonl"), format!("{line}\n")).unwrap();
            seal(folder);
        })
    };
    let no_field = {
        let mut value: Value = serde_json::from_str(&episode(json!({}))).unwrap();
        value.as_object_mut().unwrap().shift_remove("details");
        with(&value.to_string())
    };
    let deep = format!("{{\"a\":{}1{}}}", "[".repeat(5_000), "]".repeat(5_000));
    let table = [
        (no_field, "items/episode.jsonl:3 missing field `details`"),
        (
            of("details", json!(7)),
            "items/episode.jsonl:3 details: invalid type: integer `7`, expected a string",
        ),
        (
            of("categories", json!(["a", null])),
            "items/episode.jsonl:3 categories[1]: invalid type: null, expected a string",
        ),
        (
            of("metadata", json!({"a": 1})),
            "items/episode.jsonl:3 metadata.a: invalid type: integer `1`, expected a string",
        ),
        (
            of("importance", json!("high")),
            "items/episode.jsonl:3 importance: invalid type: string \"high\", expected f64",
        ),
        (
            of("pinned", json!(1)),
            "items/episode.jsonl:3 pinned: invalid type: integer `1`, expected a boolean",
        ),
        (
            of("eventTime", json!("soon")),
            "items/episode.jsonl:3 eventTime: \"soon\" is not a time; expected one like 2026-01-31T08:00:00Z",
        ),
        (
            of("eventTime", json!("2026-02-30T00:00:00Z")),
            "items/episode.jsonl:3 eventTime: \"2026-02-30T00:00:00Z\" is not a time; expected one like 2026-01-31T08:00:00Z",
        ),
        (
            of("expirationDate", json!(7)),
            "items/episode.jsonl:3 expirationDate: invalid type: integer `7`, expected a string",
        ),
        (with("[]"), "items/episode.jsonl:3 expected a JSON object"),
        (with("{\"id\":"), "items/episode.jsonl:3 the line is not JSON"),
        (with(&deep), "items/episode.jsonl:3 the line is not JSON"),
        // What is no letter stops no line.
        (with("{\"id\":\"a\u{1}\"}"), "items/episode.jsonl:3 missing field `eventTime`"),
        (
            with(&format!("{{\"id\":\"{}\"}}", "x".repeat(LINE_BYTES_MAX))),
            "items/episode.jsonl:3 the line has more than 16777216 bytes",
        ),
        (
            changed(&|folder| {
                fs::write(folder.join("items/episode.jsonl"), b"{\"id\":\"\xff\xfe\"}").unwrap();
                seal(folder);
            }),
            "items/episode.jsonl:1 missing field `eventTime`",
        ),
        (own("7"), "items/commonbookMemory.jsonl:1 expected a JSON object"),
        (
            own(r#"{"text":"x","owner":"bob"}"#),
            "items/commonbookMemory.jsonl:1 expected a memory of Commonbook, or earlier revisions of one",
        ),
        (
            own(r#"{"record":"standing","value":{"role":"dev","text":"x"}}"#),
            "items/commonbookMemory.jsonl:1 expected a memory of Commonbook, or earlier revisions of one",
        ),
        (
            changed(&|folder| {
                fs::write(folder.join("items/core.jsonl"), "{\"id\":\"a\"}\n").unwrap();
                seal(folder);
            }),
            "items/core.jsonl:1 missing field `content`",
        ),
        (
            manifest(&|value| value["format"] = json!("2.0.0")),
            "manifest.json format: the bundle has version \"2.0.0\"; expected 1",
        ),
        (
            manifest(&|value| value["format"] = json!(1)),
            "manifest.json format: invalid type: integer `1`, expected a string",
        ),
        (
            manifest(&|value| value["files"] = json!({})),
            "manifest.json files: invalid type: map, expected a sequence",
        ),
        (
            manifest(&|value| value["conformanceLevel"] = json!("L9")),
            "manifest.json conformanceLevel: unknown variant `L9`, expected one of `L0`, `L1`, `L2`, `L3`",
        ),
        (
            manifest(&|value| value["files"][0]["path"] = json!("../../etc/passwd")),
            "manifest.json files[0].path: the path leads out of the bundle",
        ),
        (
            manifest(&|value| value["files"][0]["bytes"] = json!(-1)),
            "manifest.json files[0].bytes: invalid value: integer `-1`, expected u64",
        ),
        (manifest(&|value| value["files"][0]["bytes"] = json!(1)), "items/episode.jsonl it has "),
        (
            manifest(&|value| value["files"][0]["path"] = json!("items")),
            "items the manifest lists this file, and it is missing",
        ),
        (
            manifest(&|value| value["bundleDigest"] = json!("0")),
            "CHECKSUMS its checksum is not the manifest's bundleDigest",
        ),
        (
            changed(&|folder| fs::write(folder.join("manifest.json"), "{").unwrap()),
            "manifest.json the manifest is not JSON: EOF",
        ),
        (
            changed(&|folder| fs::remove_file(folder.join("CHECKSUMS")).unwrap()),
            "CHECKSUMS the file is missing",
        ),
        (
            changed(&|folder| {
                fs::remove_file(folder.join("manifest.json")).unwrap();
                fs::create_dir(folder.join("manifest.json")).unwrap();
            }),
            "manifest.json the manifest is no file",
        ),
        (
            changed(&|folder| fs::remove_file(folder.join("manifest.json")).unwrap()),
            "manifest.json the manifest cannot be read: ",
        ),
        (
            changed(&|folder| fs::remove_file(folder.join("items/episode.jsonl")).unwrap()),
            "items/episode.jsonl the manifest lists this file, and it is missing",
        ),
        (
            changed(&|folder| {
                fs::write(folder.join("items/episode.jsonl"), good.replace("blue", "pink"))
                    .unwrap();
            }),
            "items/episode.jsonl its checksum is not that of the manifest: the file was changed",
        ),
        (
            changed(&|folder| fs::write(folder.join("items/fact.jsonl"), "").unwrap()),
            "items/fact.jsonl the manifest does not list this file",
        ),
        (
            changed(&|folder| {
                let file = fs::File::create(folder.join("items/episode.jsonl")).unwrap();
                file.set_len(BUNDLE_FILE_BYTES_MAX + 1).unwrap();
            }),
            "items/episode.jsonl it has 268435457 bytes; expected at most 268435456",
        ),
    ];
    for (folder, expected) in table {
        let found = refusals(folder.path());
        assert!(found[0].starts_with(expected), "{found:?}; expected {expected}");
        assert!(found.iter().all(|row| !row.ends_with("ROW")), "{expected}: {found:?}");
    }
    let many = bundle(&[("items/episode.jsonl", &"x\n".repeat(1_000))]);
    assert_eq!(refusals(many.path()).len(), 20, "not every line of a file that is no bundle's");
}

#[cfg(unix)]
#[test]
fn no_link_leads_out_of_a_bundle() {
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("episode.jsonl");
    fs::write(&secret, format!("{}\n", episode(json!({})))).unwrap();
    let of_file = bundle(&[("items/episode.jsonl", "")]);
    fs::remove_file(of_file.path().join("items/episode.jsonl")).unwrap();
    std::os::unix::fs::symlink(&secret, of_file.path().join("items/episode.jsonl")).unwrap();
    seal(of_file.path());
    let of_folder = bundle(&[]);
    std::os::unix::fs::symlink(outside.path(), of_folder.path().join("items")).unwrap();
    seal(of_folder.path());
    for folder in [of_file, of_folder] {
        let expected = ["manifest.json files[0].path: the path leads out of the bundle"];
        assert_eq!(refusals(folder.path()), expected);
    }
}

#[test]
fn only_a_bundle_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    assert!(is_replaceable_bundle(folder.path()), "an empty folder");
    let bundle = bundle(&[("items/episode.jsonl", "")]);
    assert!(is_replaceable_bundle(bundle.path()));
    fs::write(bundle.path().join("notes.md"), "mine").unwrap();
    assert!(!is_replaceable_bundle(bundle.path()));
    fs::create_dir(folder.path().join("items")).unwrap();
    assert!(!is_replaceable_bundle(folder.path()), "no manifest");
    assert!(!is_replaceable_bundle(&folder.path().join("absent")));
}

#[test]
fn a_folder_that_is_no_bundle_is_not_taken_for_one() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("manifest.json"), r#"{"name":"an extension","files":[]}"#)
        .unwrap();
    fs::create_dir(folder.path().join("items")).unwrap();
    fs::write(folder.path().join("notes.md"), "text").unwrap();
    assert_eq!(recognise(folder.path()).unwrap().unwrap().format, SourceFormat::Obsidian);
}

#[test]
fn a_line_that_is_no_memory_is_an_error() {
    let mut writer = MemBundleWriter::new(Cursor::default(), Cursor::<Vec<u8>>::default());
    for (field, reason) in
        [("text", "no text"), ("owner", "no owner"), ("recorded_at", "no recorded_at")]
    {
        let mut line = lines().into_iter().find(|line| line.contains_key("text")).unwrap();
        line.shift_remove(field);
        let refused = writer.add(&line).unwrap_err();
        assert!(refused.to_string().ends_with(reason), "{refused}");
    }
}
