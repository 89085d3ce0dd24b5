//! Each format by samples as its program writes them: recognised, read in order, and the same twice.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::Path;

use commonbook_formats::{RowOutcome, SESSION_ROWS_MAX, SourceFormat, open, recognise};
use serde_json::Value;
use tempfile::TempDir;

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn rows(format: SourceFormat, path: &Path) -> Vec<RowOutcome> {
    let rows: Vec<RowOutcome> = open(format, path).unwrap().collect();
    let again: Vec<RowOutcome> = open(format, path).unwrap().collect();
    assert_eq!(rows, again, "a second reading yields the same");
    for row in &rows {
        if let RowOutcome::Row(row) = row {
            let origin = &row.value["metadata"]["imported_from"];
            assert_eq!(origin["format"], format.name());
            assert_eq!(origin["file"], row.file.as_str());
            let text = serde_json::to_string(&row.value).unwrap();
            assert!(!text.contains(&*path.to_string_lossy()), "no path of the machine: {text}");
        }
    }
    rows
}

/// Each row in a line: `file:line text | field=value …`, with the fields asked for.
fn shown(rows: &[RowOutcome], fields: &[&str]) -> Vec<String> {
    let show = |value: &Value| match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    let field = |row: &commonbook_formats::SourceRow, name: &str| {
        let value = row.value.get(name).or_else(|| row.value["metadata"].get(name));
        value.map(|value| format!(" {name}={}", show(value))).unwrap_or_default()
    };
    rows.iter()
        .map(|row| match row {
            RowOutcome::Row(row) => {
                let fields: String = fields.iter().map(|name| field(row, name)).collect();
                format!("{}:{} {} |{fields}", row.file, row.line, show(&row.value["text"]))
            }
            RowOutcome::Refused(row) => {
                let line = row.line.map(|line| line.to_string()).unwrap_or_default();
                format!("! {}:{line} {}", row.file, row.reason)
            }
            RowOutcome::LeftOut(row) => format!("- {} {}", row.file, row.reason),
        })
        .collect()
}

fn recognised(path: &Path) -> Option<SourceFormat> {
    recognise(path).unwrap().map(|recognised| recognised.format)
}

#[test]
fn the_file_of_the_mcp_memory_server() {
    let folder = folder(&[(
        "memory.json",
        "{\"type\":\"entity\",\"name\":\"Ann\",\"entityType\":\"person\",\"observations\":[\"Speaks Dutch\",\"Ann likes tea\"]}\n\
         {\"type\":\"entity\",\"name\":\"Empty\",\"entityType\":\"thing\",\"observations\":[]}\n\
         {\"type\":\"relation\",\"from\":\"Ann\",\"to\":\"Acme\",\"relationType\":\"works_at\"}\n\
         {\"type\":\"entity\",\"name\":\"Broken\"}\n{\"type\":\"enti\n{\"type\":\"note\"}\n",
    )]);
    let file = folder.path().join("memory.json");
    assert_eq!(
        (recognised(&file), recognised(folder.path())),
        (Some(SourceFormat::McpMemory), Some(SourceFormat::McpMemory))
    );
    let found =
        shown(&rows(SourceFormat::McpMemory, &file), &["entities", "entity_type", "relation"]);
    assert_eq!(
        found,
        [
            "memory.json:1 Ann: Speaks Dutch | entities=[{\"type\":\"person\",\"value\":\"Ann\"}] entity_type=person",
            "memory.json:1 Ann likes tea | entities=[{\"type\":\"person\",\"value\":\"Ann\"}] entity_type=person",
            "memory.json:2 Empty (thing) | entities=[{\"type\":\"concept\",\"value\":\"Empty\"}] entity_type=thing",
            "memory.json:3 Ann works at Acme | entities=[{\"type\":\"concept\",\"value\":\"Ann\"},{\"type\":\"concept\",\"value\":\"Acme\"}] relation={\"from\":\"Ann\",\"type\":\"works_at\",\"to\":\"Acme\"}",
            "! memory.json:4 expected an entity with `name` and `observations`",
            "! memory.json:5 the line is not JSON",
            "! memory.json:6 expected `type` entity or relation",
        ]
    );
}

#[test]
fn a_folder_of_basic_memory() {
    let folder = folder(&[
        (
            "notes/search.md",
            "---\ntitle: Search Design\ntype: note\npermalink: notes/search-design\ntags:\n- search\ncreated: 2026-04-06T14:30:00+00:00\n---\n\n\
             # Search Design\n\nWe rank by words first.\n\n## Observations\n- [decision] Words before vectors #ranking (benchmarked)\n\
             - [ ] an open task\n- A plain point #idea\n\n## Relations\n- part_of [[Commonbook]]\n- \"depends on\" [[SQLite]] (for storage)\n",
        ),
        (".git/x.md", "---\npermalink: x\n---\nhidden"),
        ("broken.md", "---\npermalink: [a\n---\ntext"),
    ]);
    assert_eq!(recognised(folder.path()), Some(SourceFormat::BasicMemory));
    let found = shown(
        &rows(SourceFormat::BasicMemory, folder.path()),
        &["memory_type", "topics", "title", "created_at"],
    );
    let at = "created_at=2026-04-06T14:30:00+00:00";
    assert_eq!(found[0], "broken.md:4 text | memory_type=semantic title=broken");
    assert_eq!(
        found[1..],
        [
            format!(
                "notes/search.md:9 We rank by words first.\n\n## Observations\n- [ ] an open task | memory_type=semantic topics=[\"search\"] title=Search Design {at}"
            ),
            format!(
                "notes/search.md:15 Search Design: Words before vectors #ranking (benchmarked) | memory_type=decision topics=[\"ranking\",\"search\"] title=Search Design {at}"
            ),
            format!(
                "notes/search.md:17 Search Design: A plain point #idea | memory_type=semantic topics=[\"idea\",\"search\"] title=Search Design {at}"
            ),
            format!(
                "notes/search.md:20 Search Design part of Commonbook | memory_type=semantic topics=[\"search\"] title=Search Design {at}"
            ),
            format!(
                "notes/search.md:21 Search Design depends on SQLite (for storage) | memory_type=semantic topics=[\"search\"] title=Search Design {at}"
            ),
        ]
    );
}

#[test]
fn an_obsidian_vault() {
    let long = format!("# One\n{}\n# Two\n{}\n", "word ".repeat(2_500), "word ".repeat(2_500));
    let folder = folder(&[
        (".obsidian/app.json", "{}"),
        (
            "Daily/2026-04-06.md",
            "---\ntags: [daily, work]\ndate: 2026-04-06\naliases: [Monday]\nmood: good\n---\nMet [[Ann|A.]] about #boats.\n",
        ),
        ("Empty.md", "---\ntags: x\n---\n"),
        ("Long.md", &long),
        ("picture.png", "not a note"),
        ("latin.md", "x"),
    ]);
    fs::write(folder.path().join("latin.md"), b"one\nt\xe9te").unwrap();
    assert_eq!(recognised(folder.path()), Some(SourceFormat::Obsidian));
    let found = shown(
        &rows(SourceFormat::Obsidian, folder.path()),
        &["title", "topics", "created_at", "links", "mood", "aliases", "part"],
    );
    let short: Vec<String> = found.iter().map(|row| row.replace("word ", "")).collect();
    assert_eq!(
        short,
        [
            "Daily/2026-04-06.md:7 Met [[Ann|A.]] about #boats. | title=2026-04-06 topics=[\"daily\",\"work\",\"boats\"] created_at=2026-04-06 links=[\"Ann\"] mood=good aliases=[\"Monday\"]",
            "- Empty.md the note has no text",
            "Long.md:1 # One\n| title=Long › One part={\"number\":1,\"of\":2}",
            "Long.md:3 # Two\n| title=Long › Two part={\"number\":2,\"of\":2}",
            "latin.md:1 one\nt\u{fffd}te | title=latin",
        ]
    );
    let mut read = open(SourceFormat::Obsidian, folder.path()).unwrap();
    read.by_ref().for_each(drop);
    assert_eq!(read.replaced().into_iter().collect::<Vec<_>>(), [("latin.md".to_owned(), 1)]);
}

#[test]
fn memory_files_of_claude_mpm_under_all_their_names() {
    let text = "# Engineer Agent Memory\n\n<!-- Last Updated: 2025-08-06 13:38:32 -->\n\n## Project Architecture\n- Follow the service layer\n  with care\n\n## Effective Strategies\n<!-- empty -->\n";
    let folder = folder(&[
        (".claude-mpm/memories/PM_memories.md", "# PM\n\n- Delegate\n"),
        (".claude-mpm/memories/data_engineer_agent.md", text),
        (".claude-mpm/memories/research.md", "- Grep first\n"),
        (".claude-mpm/memories/README.md", "- not a memory\n"),
        (".claude-mpm/memories/qa_agent_backup_20250805_210244.md", "- old\n"),
        ("src/main.py", ""),
    ]);
    assert_eq!(recognised(folder.path()), Some(SourceFormat::ClaudeMpm));
    let memories = folder.path().join(".claude-mpm/memories");
    assert_eq!(recognised(&memories), Some(SourceFormat::ClaudeMpm));
    let found = shown(&rows(SourceFormat::ClaudeMpm, &memories), &["owner", "topics", "title"]);
    assert_eq!(
        found,
        [
            "PM_memories.md:3 Delegate | owner=claude-code/pm title=PM",
            "data_engineer_agent.md:6 Follow the service layer\nwith care | owner=claude-code/data-engineer topics=[\"Project Architecture\"] title=Engineer Agent Memory › Project Architecture",
            "- data_engineer_agent.md comments <!-- --> at line 3, 10",
            "research.md:1 Grep first | owner=claude-code/research",
        ]
    );
}

#[test]
fn files_of_instructions_rule_by_rule() {
    let folder = folder(&[
        (
            "CLAUDE.md",
            "# CLAUDE.md\n\nThis file provides guidance to Claude Code (claude.ai/code).\n\n## Commands\n\nRun the tests:\n\n```sh\nmake test\n```\n\n- Use tabs\n- Never push\n\n@docs/more.md\n",
        ),
        ("sub/AGENTS.md", "- One rule\n"),
        (
            ".cursor/rules/api.mdc",
            "---\ndescription: API rules\nglobs: src/**\nalwaysApply: false\n---\n- Use zod\n",
        ),
        (".cursorrules", "Be brief.\n"),
        ("README.md", "- no instruction\n"),
        ("node_modules/x/CLAUDE.md", "- of others\n"),
    ]);
    assert_eq!(recognised(folder.path()), Some(SourceFormat::Instructions));
    assert_eq!(recognised(&folder.path().join("CLAUDE.md")), Some(SourceFormat::Instructions));
    let found = shown(
        &rows(SourceFormat::Instructions, folder.path()),
        &["memory_type", "title", "description", "globs"],
    );
    assert_eq!(
        found,
        [
            ".cursor/rules/api.mdc:6 Use zod | memory_type=procedural description=API rules globs=src/**",
            ".cursorrules:1 Be brief. | memory_type=procedural",
            "- CLAUDE.md line 3: the sentence that Claude Code writes into each file",
            "CLAUDE.md:7 Run the tests:\n```sh\nmake test\n``` | memory_type=procedural title=CLAUDE.md › Commands",
            "CLAUDE.md:13 Use tabs | memory_type=procedural title=CLAUDE.md › Commands",
            "CLAUDE.md:14 Never push | memory_type=procedural title=CLAUDE.md › Commands",
            "- CLAUDE.md line 16: the import @docs/more.md is not followed",
            "sub/AGENTS.md:1 One rule | memory_type=procedural",
        ]
    );
}

#[test]
fn the_memory_folder_of_claude_code() {
    let folder = folder(&[
        (
            "-home-ann-app/memory/MEMORY.md",
            "# Memory\n\n- [Testing](testing.md) — how tests run\n- The user works at night\n",
        ),
        (
            "-home-ann-app/memory/testing.md",
            "---\nname: Testing\ndescription: how tests run\ntype: feedback\n---\nRun single tests.\n",
        ),
        ("-home-ann-app/memory/debugging.md", "# Debugging\n- Look at the log\n"),
        (
            "-home-ann-app/memory/unquoted.md",
            "---\nname: Ports: which\ndescription: server: 7077 [local]\nmetadata:\n  type: reference\n---\nThe port is 7077.\n",
        ),
        ("-home-ann-app/memory/zbroken.md", "---\nname: [x\n- y\n---\nz\n"),
        ("-home-ann-app/notes.md", "- not a memory\n"),
    ]);
    assert_eq!(recognised(folder.path()), Some(SourceFormat::ClaudeMemory));
    assert_eq!(
        recognised(&folder.path().join("-home-ann-app/memory")),
        Some(SourceFormat::ClaudeMemory)
    );
    let found = shown(
        &rows(SourceFormat::ClaudeMemory, folder.path()),
        &["owner", "memory_type", "title", "summary", "kind"],
    );
    assert_eq!(
        found,
        [
            "-home-ann-app/memory/MEMORY.md:4 The user works at night | owner=claude-code memory_type=learning title=Memory",
            "- -home-ann-app/memory/MEMORY.md 1 links to other files, which are read themselves",
            "-home-ann-app/memory/debugging.md:2 Look at the log | owner=claude-code memory_type=learning title=Debugging",
            "-home-ann-app/memory/testing.md:6 Run single tests. | owner=claude-code memory_type=learning title=Testing summary=how tests run kind=feedback",
            "-home-ann-app/memory/unquoted.md:7 The port is 7077. | owner=claude-code memory_type=semantic title=Ports: which summary=server: 7077 [local] kind=reference",
            "-home-ann-app/memory/zbroken.md:5 z | owner=claude-code memory_type=semantic title=[x - y",
        ]
    );
}

#[test]
fn exports_of_mem0_in_their_three_forms() {
    let memory = r#"{"id":"m1","memory":"Likes tea","hash":"h","metadata":{"kind":"taste"},"score":0.4,"categories":["food"],
        "created_at":"2026-03-01T10:00:00-07:00","updated_at":null,"user_id":"ann","agent_id":"planner","run_id":"r1"}"#;
    let forms = [
        format!("[{memory}, {{\"id\": 7}}]"),
        format!(
            "{{\"results\": [{memory}, {{\"id\": 7}}], \"relations\": [{{\"source\":\"ann\",\"relationship\":\"works_at\",\"target\":\"acme\"}}]}}"
        ),
        format!("{{\"count\": 2, \"next\": null, \"memories\": [{memory}, {{\"id\": 7}}]}}"),
    ];
    for form in forms {
        let folder = folder(&[("export.json", &form)]);
        let file = folder.path().join("export.json");
        assert_eq!(recognised(&file), Some(SourceFormat::Mem0), "{form}");
        let found = shown(
            &rows(SourceFormat::Mem0, &file),
            &["owner", "user_id", "session", "trust", "topics", "kind", "created_at"],
        );
        assert_eq!(
            found[0],
            "export.json:1 Likes tea | owner=planner user_id=ann session=r1 trust=untrusted topics=[\"food\"] kind=taste created_at=2026-03-01T10:00:00-07:00"
        );
        assert_eq!(found[1], "! export.json:2 expected an object with the text as `memory`");
        if form.contains("relations") {
            assert_eq!(found[2], "export.json:2 ann works at acme | trust=untrusted");
        }
    }
}

#[test]
fn exports_of_zep() {
    let folder = folder(&[(
        "zep.json",
        r#"{"user_id": "ann",
"edges": [{"uuid":"e1","name":"WORKS_AT","fact":"Ann works at Acme","valid_at":"2026-01-01T00:00:00Z","invalid_at":"2026-02-01T00:00:00Z","created_at":"2026-01-02T00:00:00Z"}],
"nodes": [{"uuid":"n1","name":"Acme","summary":"A shipyard","labels":["Entity"]}, {"uuid":"n2","name":"Bare","summary":""}],
"facts": ["Ann is tall", {"fact":"Ann sails","rating":0.8}],
"sessions": [{"session_id":"s1","messages":[{"uuid":"m1","role":"Ann","role_type":"user","content":"I moved","created_at":"2026-01-03T00:00:00Z"}]}],
"episodes": [{"uuid":"p1","x":1}]}"#,
    )]);
    let file = folder.path().join("zep.json");
    assert_eq!(recognised(&file), Some(SourceFormat::Zep));
    let found = shown(
        &rows(SourceFormat::Zep, &file),
        &["speaker", "session", "valid_from", "valid_until", "relation", "rating", "trust"],
    );
    assert_eq!(
        found,
        [
            "zep.json:2 Ann works at Acme | valid_from=2026-01-01T00:00:00Z valid_until=2026-02-01T00:00:00Z relation=WORKS_AT trust=untrusted",
            "zep.json:3 Acme: A shipyard | trust=untrusted",
            "- zep.json line 3: the node \"Bare\" has no summary",
            "zep.json:4 Ann is tall | trust=untrusted",
            "zep.json:4 Ann sails | rating=0.8 trust=untrusted",
            "zep.json:5 I moved | speaker=Ann session=s1 trust=untrusted",
            "! zep.json:6 expected a fact, a node with `name`, or a message with `content`",
        ]
    );
}

#[test]
fn data_of_chatgpt() {
    let message = |id: &str, role: &str, recipient: &str, text: &str| {
        format!(
            "{{\"id\":\"{id}\",\"author\":{{\"role\":\"{role}\"}},\"recipient\":\"{recipient}\",\"create_time\":1767225600.5,\
             \"content\":{{\"content_type\":\"text\",\"parts\":[\"{text}\"]}}}}"
        )
    };
    let node = |id: &str, parent: &str, message: &str| {
        format!(
            "\"{id}\":{{\"id\":\"{id}\",\"parent\":{parent},\"children\":[],\"message\":{message}}}"
        )
    };
    let nodes = [
        node("a", "null", "null"),
        node(
            "b",
            "\"a\"",
            &message("b", "user", "all", "Please remember that I sail on Sundays. What now?"),
        ),
        node("c", "\"b\"", &message("c", "assistant", "bio", "User sails on Sundays.")),
        node("d", "\"c\"", &message("d", "tool", "all", "Remember: tool output")),
        node("x", "\"c\"", &message("x", "user", "all", "Remember: another branch")),
        node("e", "\"d\"", &message("e", "user", "all", "No. The boat is blue.")),
    ];
    let export = format!(
        "[{{\"title\":\"Boats\",\"conversation_id\":\"c1\",\"current_node\":\"e\",\"mapping\":{{{}}}}}]",
        nodes.join(",")
    );
    let folder = folder(&[
        ("conversations.json", &export),
        ("user.json", "{}"),
        (
            "memories.json",
            "{\"memories\":[{\"id\":\"m\",\"content\":\"Likes tea\",\"created_timestamp\":1767225600}],\"memory_max_tokens\":5}",
        ),
    ]);
    assert_eq!(recognised(folder.path()), Some(SourceFormat::ChatGpt));
    let found = shown(
        &rows(SourceFormat::ChatGpt, folder.path()),
        &["sharing", "session", "kind", "said_by", "owner", "created_at"],
    );
    assert_eq!(
        found,
        [
            "conversations.json:1 User sails on Sundays. | created_at=1767225600.5",
            "conversations.json:1 I sail on Sundays. | sharing=private session=c1 kind=remember said_by=user created_at=1767225600.5",
            "conversations.json:1 No. The boat is blue. | sharing=private session=c1 kind=correction said_by=user created_at=1767225600.5",
            "memories.json:1 Likes tea | created_at=1767225600",
        ]
    );
}

#[test]
fn data_of_the_claude_app() {
    let folder = folder(&[
        (
            "conversations.json",
            r#"[{"uuid":"c1","name":"Boats","chat_messages":[
                {"uuid":"1","sender":"human","text":"","content":[{"type":"text","text":"We decided to paint it blue."}],"created_at":"2026-01-01T00:00:00Z"},
                {"uuid":"2","sender":"assistant","text":"Remember: blue paint dries slowly.","content":[{"type":"tool_result","text":"Remember: no tools"}]}]}]"#,
        ),
        (
            "memories.json",
            "[{\"conversations_memory\":\"**Work context**\\n\\nAnn builds boats.\\n\\n- Sails on Sundays\",\"project_memories\":{\"p1\":\"Uses oak.\"},\"account_uuid\":\"a\"}]",
        ),
        ("users.json", "[]"),
    ]);
    assert_eq!(recognised(folder.path()), Some(SourceFormat::ClaudeAi));
    let found = shown(
        &rows(SourceFormat::ClaudeAi, folder.path()),
        &["title", "sharing", "kind", "project"],
    );
    assert_eq!(
        found,
        [
            "conversations.json:1 We decided to paint it blue. | sharing=private kind=decision",
            "conversations.json:1 blue paint dries slowly. | sharing=private kind=remember",
            "memories.json:1 Ann builds boats. | title=Work context",
            "memories.json:1 Sails on Sundays | title=Work context",
            "memories.json:1 Uses oak. | project=p1",
        ]
    );
}

#[test]
fn an_engram_vault() {
    let folder = folder(&[
        (
            "entities/20260406_deploy_a1b2.md",
            "---\ntopics: [deploy, ops]\nimportance: high\nmemory_type: semantic\ncreated_at: 2026-04-06T14:30:00+00:00\naccess_count: 3\n---\nDeploys run on Friday.\n",
        ),
        (
            "entities/20260407_rook_x_c3d4.md",
            "---\ntopics: [x]\nimportance: medium\nmemory_type: episodic\nowner_agent: rook\ncreated_at: 2026-04-07\n---\n# Arm\n\nThe arm was calibrated.\n",
        ),
        ("entities/broken.md", "---\ntopics: [x\n---\ny\n"),
        ("archive/old.md", "---\nmemory_type: semantic\ntopics: []\n---\nold\n"),
    ]);
    assert_eq!(recognised(folder.path()), Some(SourceFormat::Engram));
    assert_eq!(SourceFormat::Engram.default_owner(), Some("legacy"));
    let found = shown(
        &rows(SourceFormat::Engram, folder.path()),
        &[
            "owner",
            "trust",
            "importance",
            "memory_type",
            "topics",
            "title",
            "access_count",
            "created_at",
        ],
    );
    assert_eq!(
        found[..2],
        [
            "entities/20260406_deploy_a1b2.md:8 Deploys run on Friday. | trust=untrusted importance=high memory_type=semantic topics=[\"deploy\",\"ops\"] access_count=3 created_at=2026-04-06T14:30:00+00:00",
            "entities/20260407_rook_x_c3d4.md:8 # Arm\n\nThe arm was calibrated. | owner=rook trust=untrusted importance=medium memory_type=episodic topics=[\"x\"] title=Arm created_at=2026-04-07",
        ]
    );
    let broken = "entities/broken.md:4 y | trust=untrusted memory_type=semantic topics=[\"[x\"]";
    assert_eq!(found[2..], [broken]);
}

#[test]
fn sessions_of_claude_code_without_tools_and_echoes() {
    let fence =
        "<commonbook-123456789012>\\nRemember: what Commonbook told\\n</commonbook-123456789012>";
    let user = |content: &str, more: &str| {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"u\",\"sessionId\":\"s1\",\"cwd\":\"/home/ann/app\",\"timestamp\":\"2026-01-01T00:00:00Z\",\"message\":{{\"role\":\"user\",\"content\":{content}}}{more}}}"
        )
    };
    let lines = [
        "{\"type\":\"summary\",\"summary\":\"x\",\"leafUuid\":\"l\"}".to_owned(),
        user("\"No, use tabs in this file. What else?\"", ""),
        user("[{\"type\":\"tool_result\",\"content\":\"Remember: tool output\"}]", ""),
        user("\"Remember: of the client\"", ",\"isMeta\":true"),
        user("\"Remember: of the parent\"", ",\"isSidechain\":true"),
        user(&format!("\"{fence}\\nPlease remember that the port is 7077.\""), ""),
        user("\"<system-reminder>Never do this at all.</system-reminder>We decided to ship on Friday.\"", ""),
        "{\"type\":\"assistant\",\"sessionId\":\"s1\",\"message\":{\"content\":[{\"type\":\"thinking\",\"thinking\":\"Remember: thought\"},{\"type\":\"text\",\"text\":\"Done.\\n\\n**Remember:** the crane is serviced on Fridays\\n\\n```\\nRemember: code\\n```\\n> Remember: quoted\"},{\"type\":\"tool_use\",\"input\":{\"text\":\"Remember: input\"}}]}}".to_owned(),
        "{\"type\":\"user\",".to_owned(),
    ];
    let folder = folder(&[("-home-ann-app/s1.jsonl", &lines.join("\n"))]);
    assert_eq!(recognised(folder.path()), Some(SourceFormat::ClaudeCode));
    let found = shown(
        &rows(SourceFormat::ClaudeCode, folder.path()),
        &["owner", "sharing", "session", "kind", "project", "said_by"],
    );
    let file = "-home-ann-app/s1.jsonl";
    let rest = "owner=claude-code sharing=private session=s1";
    assert_eq!(
        found,
        [
            format!(
                "{file}:2 No, use tabs in this file. | {rest} kind=correction project=app said_by=user"
            ),
            format!("{file}:6 the port is 7077. | {rest} kind=remember project=app said_by=user"),
            format!(
                "{file}:7 We decided to ship on Friday. | {rest} kind=decision project=app said_by=user"
            ),
            format!(
                "{file}:8 the crane is serviced on Fridays | {rest} kind=remember project=app said_by=agent"
            ),
            format!("! {file}:9 the line is not JSON"),
        ]
    );
}

#[test]
fn a_session_has_a_bounded_number_of_rows_the_marked_first() {
    let mut lines: Vec<String> = (0..SESSION_ROWS_MAX + 5)
        .map(|n| format!("{{\"type\":\"user\",\"uuid\":\"{n}\",\"sessionId\":\"s\",\"message\":{{\"content\":\"We decided to use part {n}.\"}}}}"))
        .collect();
    lines.push("{\"type\":\"user\",\"sessionId\":\"s\",\"message\":{\"content\":\"Remember: the last one counts\"}}".to_owned());
    let folder = folder(&[("s.jsonl", &lines.join("\n"))]);
    let found = shown(&rows(SourceFormat::ClaudeCode, folder.path()), &[]);
    assert_eq!(found.len(), SESSION_ROWS_MAX + 1);
    assert!(found[SESSION_ROWS_MAX - 1].contains("the last one counts"), "{found:?}");
    assert_eq!(
        found[SESSION_ROWS_MAX],
        "- s.jsonl 6 more sentences; at most 20 of a session are imported"
    );
}

#[test]
fn sessions_of_codex() {
    let item = |role: &str, kind: &str, text: &str| {
        format!(
            "{{\"timestamp\":\"2026-01-01T00:00:00Z\",\"type\":\"response_item\",\"payload\":{{\"type\":\"message\",\"role\":\"{role}\",\"content\":[{{\"type\":\"{kind}\",\"text\":\"{text}\"}}]}}}}"
        )
    };
    let lines = [
        "{\"timestamp\":\"2026-01-01T00:00:00Z\",\"type\":\"session_meta\",\"payload\":{\"id\":\"s2\",\"cwd\":\"/home/ann/app\"}}".to_owned(),
        item("user", "input_text", "<environment_context>Never read this.</environment_context>"),
        item("developer", "input_text", "Never read the developer either."),
        item("user", "input_text", "Never commit to the main branch."),
        "{\"timestamp\":\"2026-01-01T00:00:00Z\",\"type\":\"event_msg\",\"payload\":{\"type\":\"user_message\",\"message\":\"Never commit to the main branch.\"}}".to_owned(),
        "{\"timestamp\":\"2026-01-01T00:00:00Z\",\"type\":\"response_item\",\"payload\":{\"type\":\"function_call_output\",\"output\":\"Remember: output\"}}".to_owned(),
        item("assistant", "output_text", "Decision: we keep one branch."),
    ];
    let name = "2026/01/01/rollout-2026-01-01T00-00-00-s2.jsonl";
    let folder = folder(&[(name, &lines.join("\n"))]);
    assert_eq!(recognised(folder.path()), Some(SourceFormat::Codex));
    assert_eq!(recognised(&folder.path().join(name)), Some(SourceFormat::Codex));
    let found =
        shown(&rows(SourceFormat::Codex, folder.path()), &["owner", "session", "kind", "project"]);
    assert_eq!(
        found,
        [
            format!(
                "{name}:4 Never commit to the main branch. | owner=codex session=s2 kind=correction project=app"
            ),
            format!(
                "{name}:7 Decision: we keep one branch. | owner=codex session=s2 kind=decision project=app"
            ),
        ]
    );
}

#[test]
fn sessions_of_gemini_old_and_new() {
    let folder = folder(&[
        (
            "h1/chats/session-2026-01-01T00-00-aaaa.json",
            "{\n\"sessionId\": \"g1\", \"projectHash\": \"h1\", \"messages\": [\n{\"id\":\"1\",\"timestamp\":\"2026-01-01T00:00:00Z\",\"type\":\"user\",\"content\":\"Remember: the lock is on the left\"},\n{\"id\":\"2\",\"type\":\"gemini\",\"content\":\"Noted.\",\"toolCalls\":[{\"result\":\"Remember: output\"}]}]}",
        ),
        (
            "h1/chats/session-2026-01-02T00-00-bbbb.jsonl",
            "{\"sessionId\":\"g2\",\"projectHash\":\"h1\",\"startTime\":\"2026-01-02T00:00:00Z\"}\n{\"id\":\"1\",\"type\":\"user\",\"content\":[{\"text\":\"We decided to moor at the quay.\"}]}\n{\"id\":\"2\",\"type\":\"user\",\"content\":\"Remember: this was taken back\"}\n{\"$rewindTo\":\"2\"}\n{\"id\":\"1\",\"type\":\"user\",\"content\":[{\"text\":\"We decided to moor at the quay.\"}]}\n{\"$set\":{\"summary\":\"x\"}}\n",
        ),
        ("h1/logs.json", "[]"),
    ]);
    assert_eq!(recognised(folder.path()), Some(SourceFormat::Gemini));
    let found = shown(&rows(SourceFormat::Gemini, folder.path()), &["owner", "session", "kind"]);
    assert_eq!(
        found,
        [
            "h1/chats/session-2026-01-01T00-00-aaaa.json:3 the lock is on the left | owner=gemini-cli session=g1 kind=remember",
            "h1/chats/session-2026-01-02T00-00-bbbb.jsonl:5 We decided to moor at the quay. | owner=gemini-cli session=g2 kind=decision",
        ]
    );
}

#[test]
fn sessions_of_opencode_stored_and_exported() {
    let folder = folder(&[
        (
            "session/p1/ses_1.json",
            "{\"id\":\"ses_1\",\"title\":\"Harbour\",\"directory\":\"/home/ann/app\"}",
        ),
        (
            "message/ses_1/msg_1.json",
            "{\"id\":\"msg_1\",\"role\":\"user\",\"time\":{\"created\":1767225600000}}",
        ),
        (
            "part/msg_1/prt_1.json",
            "{\"type\":\"text\",\"text\":\"Remember: the quay floods in March\"}",
        ),
        (
            "part/msg_1/prt_2.json",
            "{\"type\":\"text\",\"synthetic\":true,\"text\":\"Remember: synthetic\"}",
        ),
        ("part/msg_1/prt_3.json", "{\"type\":\"tool\",\"text\":\"Remember: tool\"}"),
        ("message/ses_1/msg_2.json", "{broken"),
    ]);
    assert_eq!(recognised(folder.path()), Some(SourceFormat::Opencode));
    let found = shown(
        &rows(SourceFormat::Opencode, folder.path()),
        &["owner", "session", "conversation", "project", "created_at"],
    );
    assert_eq!(
        found[0],
        "session/p1/ses_1.json:1 the quay floods in March | owner=opencode session=ses_1 conversation=Harbour project=app created_at=1767225600000"
    );
    assert!(
        found[1].starts_with("! session/p1/ses_1.json: message msg_2.json: the file is not JSON"),
        "{}",
        found[1]
    );
    let export = self::folder(&[(
        "export.json",
        "{\"info\":{\"id\":\"ses_2\",\"title\":\"Quay\",\"directory\":\"/x/app\"},\"messages\":[{\"info\":{\"id\":\"m\",\"role\":\"assistant\"},\"parts\":[{\"type\":\"text\",\"text\":\"We decided to close at six.\"}]}]}",
    )]);
    let file = export.path().join("export.json");
    assert_eq!(recognised(&file), Some(SourceFormat::Opencode));
    let found = shown(&rows(SourceFormat::Opencode, &file), &["session", "kind"]);
    assert_eq!(found, ["export.json:1 We decided to close at six. | session=ses_2 kind=decision"]);
}

#[test]
fn a_graph_of_the_memory_server_in_every_form_that_people_save() {
    let ann = r#"{"type":"entity","name":"Ann","entityType":"person","observations":["Speaks Dutch",{"content":"Sails"}]}"#;
    let works = r#"{"type":"relation","from":"Ann","to":"Acme","relationType":"works_at"}"#;
    let pretty = |text: &str| {
        serde_json::to_string_pretty(&serde_json::from_str::<Value>(text).unwrap()).unwrap()
    };
    let graph = format!("{{\"entities\":[{ann}],\"relations\":[{works}]}}");
    let answer = serde_json::json!({"content": [{"type": "text", "text": pretty(&graph)}]});
    let utf_16: Vec<u8> =
        format!("\u{feff}{}", pretty(&graph)).encode_utf16().flat_map(u16::to_le_bytes).collect();
    let forms: [(&str, Vec<u8>); 11] = [
        ("graph.json", graph.clone().into_bytes()),
        ("graph.json", pretty(&graph).into_bytes()),
        ("list.json", format!("[{ann},{works}]").into_bytes()),
        ("list.json", format!("[\n  {ann},\n  {works}\n]\n").into_bytes()),
        ("memory.jsonl", format!("{}\n{}\n", pretty(ann), pretty(works)).into_bytes()),
        ("memory.json", format!("{ann} {works}\n").into_bytes()),
        ("memory.jsonl", format!("{ann},\n{works}\n").into_bytes()),
        ("answer.json", format!("{{\"result\":{answer}}}").into_bytes()),
        ("answer.json", answer.to_string().into_bytes()),
        ("answer.json", pretty(&answer["content"].to_string()).into_bytes()),
        ("graph.json", utf_16),
    ];
    for (name, bytes) in forms {
        let folder = folder(&[]);
        let file = folder.path().join(name);
        fs::write(&file, &bytes).unwrap();
        let form = String::from_utf8_lossy(&bytes);
        assert_eq!(recognised(&file), Some(SourceFormat::McpMemory), "{form}");
        let texts: Vec<String> = shown(&rows(SourceFormat::McpMemory, &file), &[])
            .into_iter()
            .map(|row| row.split_once(' ').unwrap().1.to_owned())
            .collect();
        let expected = ["Ann: Speaks Dutch |", "Ann: Sails |", "Ann works at Acme |"];
        assert_eq!(texts, expected, "{form}");
    }
}

#[test]
fn half_a_letter_and_a_bare_line_end_lose_no_record() {
    let table = [
        (
            "memory.jsonl",
            r#"{"type":"entity","name":"Gate","entityType":"x","observations":["Blue \ud83d"]}"#,
        ),
        (
            "memory.json",
            r#"{"entities":[{"name":"Gate","entityType":"x","observations":["Blue \ud83d"]}],"relations":[]}"#,
        ),
        ("mem0.json", r#"{"results":[{"id":"m1","memory":"Blue \ud83d","user_id":"ann"}]}"#),
        (
            "mem0.json",
            "{\"results\":[{\"id\":\"m1\",\"memory\":\"Blue \\ude00 and\ngreen\",\"user_id\":\"ann\"}]}",
        ),
    ];
    for (name, text) in table {
        let folder = folder(&[(name, text)]);
        let path = folder.path().join(name);
        let rows = rows(recognised(&path).unwrap(), &path);
        let shown = shown(&rows, &[]);
        assert!(shown.iter().any(|row| row.contains("Blue \u{fffd}")), "{name}: {shown:?}");
        assert!(!rows.iter().any(|row| matches!(row, RowOutcome::Refused(_))), "{shown:?}");
    }
}

#[test]
fn notes_as_editors_save_them() {
    let picture = format!("start\n\n![x](data:image/png;base64,{})\n\nend\n", "iVBO".repeat(9_000));
    let folder = folder(&[
        ("a.markdown", "marker a"),
        ("b.MD", "marker b"),
        ("c.mdx", "marker c"),
        ("d.Rmd", "---\ntags: {a: b, c: false}\n---\nmarker d"),
        ("colon.md", "---\ntitle: Foo: bar\nprivate:true\n---\nmarker"),
        ("mac.md", "---\rprivate: true\r---\rmarker\rmore"),
        ("open.md", "---\nprivate: true\n\nmarker"),
        ("picture.md", &picture),
        ("rule.mkd", "---\n\nmarker, a rule\n\n---\nmore"),
        ("toml.md", "+++\ntitle = \"T\"\n+++\nmarker"),
        ("data.csv", "x"),
        (".obsidian/app.json", "{}"),
    ]);
    assert_eq!(recognised(folder.path()), Some(SourceFormat::Obsidian));
    let found =
        shown(&rows(SourceFormat::Obsidian, folder.path()), &["title", "private", "topics"]);
    assert_eq!(
        found,
        [
            "a.markdown:1 marker a | title=a",
            "b.MD:1 marker b | title=b",
            "c.mdx:1 marker c | title=c",
            "colon.md:5 marker | title=Foo: bar private=true",
            "d.Rmd:4 marker d | title=d topics=[\"a\",\"b\"]",
            "mac.md:4 marker\nmore | title=mac private=true",
            "open.md:3 marker | title=open private=true",
            "picture.md:1 start\n\n![x](data:image/png (27000 bytes))\n\nend | title=picture",
            "rule.mkd:1 ---\n\nmarker, a rule\n\n---\nmore | title=rule",
            "toml.md:4 marker | title=T",
        ]
    );
    let opened = open(SourceFormat::Obsidian, folder.path()).unwrap();
    assert_eq!(opened.unread(), [".obsidian/", "data.csv"]);
}

#[test]
fn spoken_messages_and_projects_of_chats() {
    let part = r#"{"content_type":"audio_transcription","text":"Remember that the depot opens at six.","direction":"in"},
        {"content_type":"audio_asset_pointer","asset_pointer":"x"}, "Keep in mind that the gate is blue.",
        "I like Rust. Please remember that. Ann wrote: \\\"Hi. Please remember that it is raining.\\\" Bye.",
        "Remember that the logo data:image/png;base64,BYTES is red.""#;
    let part = part.replace("BYTES", &"iVBO".repeat(9_000));
    let export = format!(
        r#"[{{"mapping":{{"c":{{"parent":null,"message":{{"author":{{"role":"user"}},"content":{{"content_type":"user_editable_context","user_profile":"I am Ann."}}}}}},"m":{{"parent":"c","message":{{"author":{{"role":"user"}},"content":{{"content_type":"multimodal_text","parts":[{part}]}}}}}}}},"current_node":"m","title":"t"}}]"#
    );
    let chat = self::folder(&[("conversations-000.json", &export), ("user.json", "{}")]);
    assert_eq!(recognised(chat.path()), Some(SourceFormat::ChatGpt));
    let found = shown(&rows(SourceFormat::ChatGpt, chat.path()), &["kind"]);
    assert_eq!(
        found,
        [
            "- conversations-000.json line 1: your instructions for ChatGPT (user_editable_context), which each conversation repeats",
            "conversations-000.json:1 the depot opens at six. | kind=remember",
            "conversations-000.json:1 the gate is blue. | kind=remember",
            "conversations-000.json:1 I like Rust. | kind=remember",
            "conversations-000.json:1 the logo data:image/png (27000 bytes) is red. | kind=remember",
        ]
    );
    let mut reading = open(SourceFormat::ChatGpt, chat.path()).unwrap();
    while reading.next().is_some() {}
    assert_eq!((reading.messages_read(), reading.unread()), (1, &["user.json".to_owned()][..]));
    let projects = r##"[{"uuid":"p","name":"Ledger","description":"","is_private":true,"prompt_template":"Answer with Rust.",
        "docs":[{"uuid":"d","filename":"rules.md","content":"# Rules\n\n- Money is cents.\n"},{"filename":"x.png"}]}]"##;
    let claude = self::folder(&[("projects.json", projects)]);
    assert_eq!(recognised(claude.path()), Some(SourceFormat::ClaudeAi));
    let found = shown(
        &rows(SourceFormat::ClaudeAi, claude.path()),
        &["memory_type", "title", "kind", "is_private"],
    );
    assert_eq!(
        found,
        [
            "projects.json:1 Answer with Rust. | memory_type=procedural title=Ledger kind=instructions is_private=true",
            "projects.json:1 # Rules\n\n- Money is cents. | memory_type=semantic title=Ledger › rules.md kind=document is_private=true",
            "- projects.json line 1: the document \"x.png\" of \"Ledger\" has no text",
        ]
    );
    // The memory of a project is as private as the project, whichever file and folder says so.
    let one =
        r#"{"uuid":"q","name":"Boat","is_private":true,"archived_at":"2026-01-01","docs":[]}"#;
    let memories = r#"[{"project_memories":{"p":"Cents.","q":"Oak.","r":"Ash."}}]"#;
    let chats = r#"[{"chat_messages":[]}]"#;
    for name in ["memories.json", "memories/m.json"] {
        let files = [
            ("projects.json", projects),
            ("projects/q.json", one),
            (name, memories),
            ("conversations.json", chats),
        ];
        let (export, one_file) = (self::folder(&files), self::folder(&files));
        let of_folder = rows(SourceFormat::ClaudeAi, export.path());
        let of_file = rows(SourceFormat::ClaudeAi, &one_file.path().join(name));
        for found in [of_folder, of_file] {
            let found = shown(&found, &["project", "is_private", "archived_at"]).join("\n");
            for row in [
                "Cents. | project=p is_private=true",
                "Oak. | project=q is_private=true archived_at=2026-01-01",
                "Ash. | project=r",
            ] {
                assert!(found.lines().any(|line| line.ends_with(row)), "{name} {row}: {found}");
            }
        }
    }
}

#[test]
fn what_is_no_known_format_is_not_recognised() {
    let folder = folder(&[
        ("lines.jsonl", "{\"text\":\"tea\",\"speaker\":\"ann\"}\n"),
        ("other.json", "[1, 2]"),
        ("plain", "words\n"),
        ("empty", ""),
        ("export.jsonl", "{\"record\":\"export\",\"value\":{\"format\":2}}\n"),
        (
            "memories",
            "{\"memory\":\"tea\",\"user_id\":\"ann\"}\n{\"memory\":\"milk\",\"user_id\":\"ann\"}\n",
        ),
    ]);
    for name in ["lines.jsonl", "other.json", "plain", "empty", "export.jsonl", "memories"] {
        assert_eq!(recognised(&folder.path().join(name)), None, "{name}");
    }
    assert_eq!(recognised(folder.path()), None);
    assert!(recognise(&folder.path().join("absent")).is_err());
}

#[test]
fn a_huge_file_is_refused_and_the_others_are_read() {
    let huge = "x".repeat(usize::try_from(commonbook_formats::MARKDOWN_BYTES_MAX).unwrap() + 1);
    let folder = folder(&[("a.md", &huge), ("b.md", "small")]);
    let found = shown(&rows(SourceFormat::Obsidian, folder.path()), &[]);
    assert!(
        found[0].starts_with("! a.md: the file has 8388609 bytes; expected at most"),
        "{}",
        found[0]
    );
    assert_eq!(found[1], "b.md:1 small |");
    let mut reading = open(SourceFormat::Obsidian, folder.path()).unwrap();
    assert_eq!(reading.bytes_total(), huge.len() as u64 + 5);
    while reading.next().is_some() {}
    assert_eq!(reading.bytes_read(), reading.bytes_total());
}
