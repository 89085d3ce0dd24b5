//! Client files with our entries written into them and removed again.

use serde_json::json;

use super::clients::{SetupClient, SetupOptions, SetupScope, setup_plan};
use super::*;
use commonbook::base::error::ErrorKind;

fn owned(path: &[&str]) -> Vec<String> {
    path.iter().map(|key| (*key).to_owned()).collect()
}

fn set(path: &[&str], value: Value) -> JsonEntry {
    JsonEntry::Set { path: owned(path), value }
}

fn push(path: &[&str], value: Value) -> JsonEntry {
    JsonEntry::Push { path: owned(path), value, mark: owned(&["commonbook", " hook "]) }
}

/// A server and a hook, like most clients have them.
fn both() -> FileContent {
    FileContent::Json(vec![
        set(&["mcpServers", "commonbook"], json!({"command": "commonbook"})),
        push(&["hooks", "Stop"], json!({"hooks": [{"command": "commonbook hook x"}]})),
    ])
}

fn table() -> FileContent {
    let keys = json!({"command": "commonbook", "args": ["mcp"], "env": {"A": "b"}});
    FileContent::Toml(
        owned(&["mcp_servers", "commonbook"]),
        keys.as_object().cloned().unwrap_or_default(),
    )
}

/// Applies, applies again, and undoes; returns the text in between.
fn there_and_back(content: &FileContent, text: Option<&str>) -> String {
    let applied = content.apply(text, None).expect("the entry can be written");
    assert!(applied.changed);
    let kept = serde_json::to_string(&applied.record).expect("JSON");
    let record: UndoRecord = serde_json::from_str(&kept).expect("a record");
    assert_eq!(record, applied.record);
    let again = content.apply(Some(&applied.text), Some(&record)).expect("it is there");
    assert_eq!(
        (again.text.as_str(), again.changed, &again.record),
        (applied.text.as_str(), false, &record)
    );
    let undone = record.undo(&applied.text).expect("the edit can be undone");
    assert_eq!(undone.as_deref(), text, "{}", applied.text);
    applied.text
}

fn value(text: &str) -> Value {
    let parsed: Value = jsonc_parser::parse_to_ast(
        without_byte_order_mark(text),
        &Default::default(),
        &Default::default(),
    )
    .expect("JSON")
    .value
    .expect("a value")
    .into();
    parsed
}

#[test]
fn entries_follow_the_formatting_of_the_file() {
    let content = FileContent::Json(vec![set(&["mcpServers", "commonbook"], json!({"url": "u"}))]);
    let table = [
        (
            None,
            "{\n  \"mcpServers\": {\n    \"commonbook\": {\n      \"url\": \"u\"\n    }\n  }\n}\n",
        ),
        (
            Some("{}"),
            "{\n  \"mcpServers\": {\n    \"commonbook\": {\n      \"url\": \"u\"\n    }\n  }\n}",
        ),
        (
            Some("{\n\t\"a\": 1\n}\n"),
            "{\n\t\"a\": 1,\n\t\"mcpServers\": {\n\t\t\"commonbook\": {\n\t\t\t\"url\": \"u\"\n\t\t}\n\t}\n}\n",
        ),
        (
            Some("{\n    \"mcpServers\": {\n        \"x\": {} // mine\n    }\n}"),
            "{\n    \"mcpServers\": {\n        \"x\": {}, // mine\n        \"commonbook\": {\n            \"url\": \"u\"\n        }\n    }\n}",
        ),
        (
            Some("{\n  \"mcpServers\": {\n    \"x\": {}, // mine\n    // the end\n  },\n}"),
            "{\n  \"mcpServers\": {\n    \"x\": {}, // mine\n    \"commonbook\": {\n      \"url\": \"u\"\n    },\n    // the end\n  },\n}",
        ),
        (Some("{\"a\":1}"), "{\"a\":1, \"mcpServers\": {\"commonbook\":{\"url\":\"u\"}}}"),
        (Some("{\"mcpServers\":{}}"), "{\"mcpServers\":{\"commonbook\": {\"url\":\"u\"}}}"),
        (
            Some("{\"mcpServers\":{\"x\":1 // c\n}}"),
            "{\"mcpServers\":{\"x\":1, // c\n  \"commonbook\": {\n    \"url\": \"u\"\n  }\n}}",
        ),
        (
            Some("{\r\n  \"a\": 1\r\n}\r\n"),
            "{\r\n  \"a\": 1,\r\n  \"mcpServers\": {\r\n    \"commonbook\": {\r\n      \"url\": \"u\"\r\n    }\r\n  }\r\n}\r\n",
        ),
        (
            Some("\u{feff}// all of it\n{\n  // nothing\n}"),
            "\u{feff}// all of it\n{\n  \"mcpServers\": {\n    \"commonbook\": {\n      \"url\": \"u\"\n    }\n  }\n  // nothing\n}",
        ),
    ];
    for (text, expected) in table {
        assert_eq!(there_and_back(&content, text), expected, "{text:?}");
    }
}

#[test]
fn undoing_restores_every_file_byte_for_byte() {
    let texts = [
        "",
        " \n",
        "\u{feff}",
        "{}",
        "{ }\n",
        "{\n}",
        "{\"mcpServers\": {}, \"hooks\": {\"Stop\": []}}",
        "{\"hooks\": {\"Stop\": [ ]\n, \"Start\": [{}]}}",
        "{\n  \"hooks\": {\n    \"Stop\": [\n      {\"hooks\": [{\"command\": \"mine\"}]}, // first\n    ]\n  }\n}\n",
        "{\n  \"hooks\": {\n    \"Stop\": [{\"hooks\": []}]\n  },\n\n  // my servers\n  \"mcpServers\": {\n    \"a\": {\"b\": \"}\"} /* c */\n    , \"d\": 1\n  }\n}\n// end",
        "{\"a\": \"\\u00e9 // no comment\", \"mcpServers\": {\"b\":null}}",
        "// top\n/* and */ { \"x\": [1, 2,], }\n\n",
        "{\"x\": 1e400, \"y\": 12345678901234567890123, \"x\": 2}",
    ];
    for text in texts {
        let now = there_and_back(&both(), Some(text));
        let now = value(&now);
        assert_eq!(now["mcpServers"]["commonbook"], json!({"command": "commonbook"}), "{text}");
        let stops = now["hooks"]["Stop"].as_array().expect("a list");
        assert_eq!(
            stops.last().expect("ours"),
            &json!({"hooks": [{"command": "commonbook hook x"}]}),
            "{text}"
        );
    }
    there_and_back(&both(), None);
}

#[test]
fn undoing_restores_replaced_entries_and_keeps_later_edits() {
    let own = "{\"mcpServers\": {\"commonbook\": {\"command\": \"my own\"}}}";
    there_and_back(&both(), Some(own));
    // The client has written the whole file anew, and the user has added a server.
    let before = "{\n  \"theme\": \"dark\", // mine\n  \"mcpServers\": {\"a\": {}}\n}\n";
    let applied = both().apply(Some(before), None).expect("the entry can be written");
    let mut since = value(&applied.text);
    since["mcpServers"]["b"] = json!({});
    since["count"] = json!(3);
    let undone = applied
        .record
        .undo(&format!("{since:#}"))
        .expect("the edit can be undone")
        .expect("a file");
    assert_eq!(
        value(&undone),
        json!({"theme": "dark", "mcpServers": {"a": {}, "b": {}}, "count": 3})
    );
    // The undo restores a replaced value of the user all the same.
    let applied = both().apply(Some(own), None).expect("the entry can be written");
    let since = format!("{:#}", value(&applied.text));
    let undone = applied.record.undo(&since).expect("the edit can be undone").expect("a file");
    assert_eq!(value(&undone), value(own));
    // The undo removes objects made for our entries only if they contain nothing else.
    let applied = both().apply(None, None).expect("the entry can be written");
    let mut since = value(&applied.text);
    since["hooks"]["Start"] = json!([1]);
    let undone = applied
        .record
        .undo(&format!("{since:#}"))
        .expect("the edit can be undone")
        .expect("a file");
    assert_eq!(value(&undone), json!({"hooks": {"Start": [1]}}));
    let since = format!("{:#}", value(&applied.text));
    assert_eq!(applied.record.undo(&since).expect("the edit can be undone"), None);
    // Removing the user's entry behind ours must not leave a comma.
    let applied =
        both().apply(Some("{\"mcpServers\": {\n}}"), None).expect("the entry can be written");
    let since =
        applied.text.replacen("\"commonbook\"\n  }\n}", "\"commonbook\"\n  },\n  \"z\": 1\n}", 1);
    assert_ne!(since, applied.text);
    let undone = applied.record.undo(&since).expect("the edit can be undone").expect("a file");
    assert_eq!(value(&undone), json!({"mcpServers": {"z": 1}}));
}

#[test]
fn another_setup_replaces_the_last_one() {
    let before = "{\n  \"mcpServers\": {\"commonbook\": 1}\n}\n";
    let first = both().apply(Some(before), None).expect("the entry can be written");
    let other = FileContent::Json(vec![
        set(&["mcpServers", "commonbook"], json!({"url": "u"})),
        push(&["hooks", "Stop"], json!({"hooks": [{"command": "/bin/commonbook hook x"}]})),
    ]);
    let second =
        other.apply(Some(&first.text), Some(&first.record)).expect("the entry can be written");
    assert_eq!(value(&second.text)["hooks"]["Stop"].as_array().map(Vec::len), Some(1));
    assert_eq!(
        second.record.undo(&second.text).expect("the edit can be undone").as_deref(),
        Some(before)
    );
    // Without a record, entries that look like ours are replaced too.
    let third = other.apply(Some(&first.text), None).expect("the entry can be written");
    assert_eq!(value(&third.text), value(&second.text));
}

#[test]
fn without_a_record_entries_that_look_like_ours_are_removed() {
    let texts = [
        "{}",
        "{\"a\": 1}",
        "{\n  \"mcpServers\": {\n    \"x\": {} // c\n  },\n  \"hooks\": {\"Stop\": [1]}\n}\n",
    ];
    for text in texts {
        let applied = both().apply(Some(text), None).expect("the entry can be written");
        let left = both().remove(&applied.text).expect("our entry can be removed");
        assert_eq!(left.as_deref().map_or(json!({}), value), value(text));
    }
    let kept = "{\"mcpServers\": {\"x\": {}}, \"hooks\": {}, \"a\": [\"commonbook hook \"]}";
    assert_eq!(both().remove(kept).expect("it can be read").as_deref(), Some(kept));
}

#[test]
fn unsupported_files_are_refused_with_the_reason() {
    let table = [
        (both(), "{", "not JSON"),
        (both(), "[]", "the file is not an object"),
        (both(), "{a: 1}", "not JSON"),
        (both(), "{\"a\": 1} {}", "not JSON"),
        (both(), "{\"mcpServers\": []}", "mcpServers is not an object"),
        (both(), "{\"mcpServers\": null}", "mcpServers is not an object"),
        (both(), "{\"hooks\": {\"Stop\": {}}}", "hooks.Stop is not a list"),
        (table(), "a = ", "not TOML"),
        (table(), "mcp_servers = 1", "mcp_servers is not a table"),
        (FileContent::Whole("// commonbook\n".into()), "mine", "did not write it"),
    ];
    for (content, text, reason) in table {
        let error = content.apply(Some(text), None).expect_err(text);
        assert_eq!(error.kind, ErrorKind::Conflict, "{text}");
        assert!(
            error.message.contains(reason) && error.hint.is_some(),
            "{text}: {}",
            error.message
        );
    }
}

#[test]
fn a_table_is_appended_to_a_toml_file() {
    let ours = "[mcp_servers.commonbook]\ncommand = \"commonbook\"\nargs = [\"mcp\"]\nenv = { A = \"b\" }\n";
    let cases = [
        (None, ours.to_owned()),
        (Some(""), ours.to_owned()),
        (Some("# mine\nmodel = \"x\"\n"), format!("# mine\nmodel = \"x\"\n\n{ours}")),
        (Some("model = \"x\""), format!("model = \"x\"\n\n{ours}")),
        (
            Some("[mcp_servers.a]\nurl = \"u\" # c\n"),
            format!("[mcp_servers.a]\nurl = \"u\" # c\n\n{ours}"),
        ),
        (Some("a = 1\r\n"), format!("a = 1\r\n\r\n{}", ours.replace('\n', "\r\n"))),
        (Some("mcp_servers.a.url = \"u\"\n"), format!("mcp_servers.a.url = \"u\"\n\n{ours}")),
    ];
    for (text, expected) in cases {
        assert_eq!(there_and_back(&table(), text), expected, "{text:?}");
    }
    // Where a table cannot be appended, it is inserted beside the others.
    let inline = there_and_back(&table(), Some("mcp_servers = { a = { url = \"u\" } } # mine\n"));
    assert!(inline.ends_with("# mine\n") && inline.contains("commonbook = {"), "{inline}");
    let own =
        there_and_back(&table(), Some("# mine\n[mcp_servers.commonbook]\nurl = \"u\"\n\n[x]\n"));
    assert!(
        own.starts_with("# mine\n[mcp_servers.commonbook]\n") && own.ends_with("\n[x]\n"),
        "{own}"
    );
    // Others have written to the file since.
    let applied = table().apply(Some("a = 1\n"), None).expect("the entry can be written");
    let since = applied
        .text
        .replace("args = [\"mcp\"]", "args = [\"mcp\", \"-v\"]")
        .replace("a = 1", "a = 2");
    assert_eq!(
        applied.record.undo(&since).expect("the edit can be undone").as_deref(),
        Some("a = 2\n")
    );
    assert_eq!(
        table().remove(&applied.text).expect("our entry can be removed").as_deref(),
        Some("a = 1\n")
    );
}

#[test]
fn a_block_stands_between_its_marks() {
    let block = FileContent::Block("Look there.\nSave there.\n".into());
    let ours = "<!-- commonbook: begin -->\nLook there.\nSave there.\n<!-- commonbook: end -->\n";
    let table = [
        (None, ours.to_owned()),
        (Some("# Rules"), format!("# Rules\n\n{ours}")),
        (Some("# Rules\n"), format!("# Rules\n\n{ours}")),
        (Some("# Rules\r\n"), format!("# Rules\r\n\r\n{}", ours.replace('\n', "\r\n"))),
    ];
    for (text, expected) in table {
        assert_eq!(there_and_back(&block, text), expected, "{text:?}");
        // Others may have written below and above.
        let since = format!("More.\n{expected}Below.\n");
        let left = block.remove(&since).expect("our entry can be removed").expect("a file");
        assert!(
            !left.contains("commonbook")
                && left.starts_with("More.\n")
                && left.ends_with("Below.\n"),
            "{left:?}"
        );
    }
    let first = block.apply(Some("a\n"), None).expect("the entry can be written");
    let second = FileContent::Block("Other.".into())
        .apply(Some(&first.text), Some(&first.record))
        .expect("the entry can be written");
    assert_eq!(second.text.matches("begin").count(), 1);
    assert_eq!(
        second.record.undo(&second.text).expect("the edit can be undone").as_deref(),
        Some("a\n")
    );
}

#[test]
fn a_file_of_ours_is_removed_completely() {
    let whole = FileContent::Whole("// commonbook 1\n".into());
    there_and_back(&whole, None);
    let first = whole.apply(None, None).expect("the entry can be written");
    let second = FileContent::Whole("// commonbook 2\n".into())
        .apply(Some(&first.text), Some(&first.record))
        .expect("ours");
    assert_eq!(second.record.undo(&second.text).expect("the edit can be undone"), None);
    assert_eq!(
        first.record.undo("// commonbook, changed\n").expect("the edit can be undone"),
        None
    );
    assert_eq!(
        first.record.undo("mine now").expect("the edit can be undone").as_deref(),
        Some("mine now")
    );
}

fn chosen(scope: SetupScope) -> SetupOptions {
    SetupOptions { scope, program: "commonbook".into(), home: None, tools: None }
}

#[test]
fn every_client_has_its_files() {
    let table: [(SetupClient, &[&str], &[&str]); 10] = [
        (
            SetupClient::ClaudeCode,
            &[".claude.json", ".claude/settings.json"],
            &[".mcp.json", ".claude/settings.json"],
        ),
        (
            SetupClient::Codex,
            &[".codex/config.toml", ".codex/hooks.json", ".codex/AGENTS.md"],
            &[".codex/config.toml", ".codex/hooks.json", "AGENTS.md"],
        ),
        (
            SetupClient::Gemini,
            &[".gemini/settings.json", ".gemini/GEMINI.md"],
            &[".gemini/settings.json", "GEMINI.md"],
        ),
        (
            SetupClient::Copilot,
            &[
                ".copilot/mcp-config.json",
                ".copilot/hooks/commonbook.json",
                ".copilot/copilot-instructions.md",
            ],
            &[],
        ),
        (
            SetupClient::Opencode,
            &[".config/opencode/opencode.json", ".config/opencode/plugins/commonbook.js"],
            &["opencode.json", ".opencode/plugins/commonbook.js"],
        ),
        (
            SetupClient::Cursor,
            &[".cursor/mcp.json", ".cursor/hooks.json"],
            &[".cursor/mcp.json", ".cursor/hooks.json", ".cursor/rules/commonbook.mdc"],
        ),
        (SetupClient::VsCode, &[SetupClient::VsCode.settings_file()], &[".vscode/mcp.json"]),
        (SetupClient::Windsurf, &[".codeium/windsurf/mcp_config.json"], &[]),
        (SetupClient::Zed, &[SetupClient::Zed.settings_file()], &[".zed/settings.json"]),
        (SetupClient::Cline, &[SetupClient::Cline.settings_file()], &[]),
    ];
    for (client, user, project) in table {
        for (scope, expected) in [(SetupScope::User, user), (SetupScope::Project, project)] {
            let planned = setup_plan(client, &chosen(scope));
            if expected.is_empty() {
                assert!(planned.is_err(), "{client}");
                continue;
            }
            let planned = planned.expect("the client can be set up");
            let paths: Vec<&str> = planned.files.iter().map(|file| file.path).collect();
            assert_eq!(paths, expected, "{client} {scope}");
            for file in &planned.files {
                let text = there_and_back(&file.content, None);
                assert!(text.contains("commonbook"), "{client} {}", file.path);
            }
        }
    }
}

#[test]
fn every_client_gets_an_entry_in_its_own_format() {
    let table = [
        (
            SetupClient::ClaudeCode,
            "mcpServers",
            json!({"type": "stdio", "command": "commonbook", "args": ["mcp", "--client", "claude-code"], "alwaysLoad": true}),
        ),
        (
            SetupClient::Gemini,
            "mcpServers",
            json!({"command": "commonbook", "args": ["mcp", "--client", "gemini"]}),
        ),
        (
            SetupClient::Copilot,
            "mcpServers",
            json!({"type": "local", "command": "commonbook", "args": ["mcp", "--client", "copilot"], "tools": ["*"]}),
        ),
        (
            SetupClient::Opencode,
            "mcp",
            json!({"type": "local", "command": ["commonbook", "mcp", "--client", "opencode"], "enabled": true}),
        ),
        (
            SetupClient::Cursor,
            "mcpServers",
            json!({"command": "commonbook", "args": ["mcp", "--client", "cursor"]}),
        ),
        (
            SetupClient::VsCode,
            "servers",
            json!({"type": "stdio", "command": "commonbook", "args": ["mcp", "--client", "vscode"]}),
        ),
        (
            SetupClient::Windsurf,
            "mcpServers",
            json!({"command": "commonbook", "args": ["mcp", "--client", "windsurf"]}),
        ),
        (
            SetupClient::Zed,
            "context_servers",
            json!({"command": "commonbook", "args": ["mcp", "--client", "zed"], "env": {}}),
        ),
        (
            SetupClient::Cline,
            "mcpServers",
            json!({"command": "commonbook", "args": ["mcp", "--client", "cline"]}),
        ),
    ];
    let written = |client| {
        let planned = setup_plan(client, &chosen(SetupScope::User)).expect("the client is known");
        there_and_back(&planned.files[0].content, None)
    };
    for (client, key, entry) in table {
        assert_eq!(value(&written(client))[key]["commonbook"], entry, "{client}");
    }
    assert_eq!(
        written(SetupClient::Codex),
        "[mcp_servers.commonbook]\ncommand = \"commonbook\"\nargs = [\"mcp\", \"--client\", \"codex\"]\n\
         env_vars = [\"COMMONBOOK\", \"COMMONBOOK_DATABASE\", \"COMMONBOOK_HOME\", \"COMMONBOOK_URL\", \"COMMONBOOK_TOKEN\", \
         \"COMMONBOOK_WORKSPACE\", \"COMMONBOOK_AGENT_ID\", \"COMMONBOOK_USER_ID\"]\n"
    );
}

#[test]
fn the_chosen_tools_stand_in_the_clients_configuration() {
    let options =
        SetupOptions { tools: Some("team,memory_history".to_owned()), ..chosen(SetupScope::User) };
    let planned = setup_plan(SetupClient::Gemini, &options).expect("the client can be set up");
    let settings = value(&there_and_back(&planned.files[0].content, None));
    let expected = ["mcp", "--client", "gemini", "--tools", "team,memory_history"];
    assert_eq!(settings["mcpServers"]["commonbook"]["args"], json!(expected));
}

#[test]
fn hooks_stand_beside_those_of_the_user() {
    let own = "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"./check.sh\"}]}\n    ]\n  }\n}\n";
    let planned = setup_plan(
        SetupClient::ClaudeCode,
        &SetupOptions { program: "/opt/my tools/commonbook".into(), ..chosen(SetupScope::User) },
    )
    .expect("the client can be set up");
    let hooks = value(&there_and_back(&planned.files[1].content, Some(own)))["hooks"].clone();
    assert_eq!(hooks["PreToolUse"][0]["matcher"], "Bash");
    assert_eq!(
        hooks["PreToolUse"][1],
        json!({"matcher": "Agent|Task|mcp__commonbook__.*", "hooks": [{"type": "command", "command": "\"/opt/my tools/commonbook\" hook claude-code PreToolUse", "timeout": 5}]})
    );
    assert_eq!(hooks.as_object().map(Map::len), Some(7));
    let gemini = setup_plan(SetupClient::Gemini, &chosen(SetupScope::User))
        .expect("the client can be set up");
    let hooks = value(&there_and_back(&gemini.files[0].content, None))["hooks"].clone();
    assert_eq!(
        hooks["AfterTool"],
        json!([{"matcher": "invoke_agent", "hooks": [{"type": "command", "command": "commonbook hook gemini AfterTool", "timeout": 5000}]}])
    );
    let copilot = setup_plan(SetupClient::Copilot, &chosen(SetupScope::User))
        .expect("the client can be set up");
    let own = value(&there_and_back(&copilot.files[1].content, None));
    assert_eq!(own["version"], 1);
    assert_eq!(
        own["hooks"]["preToolUse"],
        json!([{
            "type": "command", "bash": "commonbook hook copilot preToolUse",
            "powershell": "commonbook hook copilot preToolUse", "timeoutSec": 5,
        }])
    );
    for bad in ["", "a\"b", "$HOME/x", "a`b`", "a\nb"] {
        assert!(
            setup_plan(
                SetupClient::Cursor,
                &SetupOptions { program: bad.into(), ..chosen(SetupScope::User) }
            )
            .is_err(),
            "{bad:?}"
        );
    }
    let plugin = setup_plan(
        SetupClient::Opencode,
        &SetupOptions { program: "C:\\x y\\commonbook.exe".into(), ..chosen(SetupScope::User) },
    )
    .expect("the client can be set up");
    assert!(
        there_and_back(&plugin.files[1].content, None)
            .contains("const program = \"C:\\\\x y\\\\commonbook.exe\";")
    );
}

#[test]
fn the_hooks_of_cursor_have_a_version_which_stays_while_other_hooks_need_it() {
    let planned = setup_plan(SetupClient::Cursor, &chosen(SetupScope::User))
        .expect("the client can be set up");
    let content = &planned.files[1].content;
    let text = there_and_back(content, None);
    let file = value(&text);
    assert_eq!(file["version"], 1);
    assert_eq!(
        file["hooks"]["afterAgentResponse"],
        json!([{"type": "command", "command": "commonbook hook cursor afterAgentResponse", "timeout": 5}])
    );
    assert_eq!(file["hooks"].as_object().map(Map::len), Some(5));
    let own = r#"{"version": 1, "hooks": {"stop": [{"command": "./notify.sh"}], "sessionEnd": [{"command": "./bye.sh"}]}}"#;
    let both = value(&there_and_back(content, Some(own)));
    assert_eq!(both["hooks"]["stop"], json!([{"command": "./notify.sh"}]));
    assert_eq!(both["hooks"]["sessionEnd"].as_array().map(Vec::len), Some(2));
    // A hook of the user's that came afterwards keeps the version that it needs.
    let applied = content.apply(None, None).expect("the entries can be written");
    let with_own = applied
        .text
        .replace("\"hooks\": {", "\"hooks\": {\n    \"stop\": [{\"command\": \"./notify.sh\"}],");
    assert_ne!(with_own, applied.text);
    let left = applied.record.undo(&with_own).expect("the entries can be removed");
    let left = value(&left.expect("the file stays"));
    assert_eq!(left, json!({"version": 1, "hooks": {"stop": [{"command": "./notify.sh"}]}}));
}

#[test]
fn a_path_of_windows_is_quoted_for_the_shell_that_runs_it() {
    let table = [
        (r"C:\Program Files\commonbook.exe", true),
        (r"C:\tools\commonbook.exe", true),
        ("D:/tools/commonbook.exe", false),
        ("/opt/my tools/commonbook", true),
        ("commonbook", false),
    ];
    for (program, quoted) in table {
        let options = SetupOptions { program: program.into(), ..chosen(SetupScope::User) };
        let written = |client: SetupClient, file: usize| {
            let planned = setup_plan(client, &options).expect("it can be set up");
            value(&there_and_back(&planned.files[file].content, None))["hooks"].clone()
        };
        let path = if quoted { format!("\"{program}\"") } else { program.to_owned() };
        let call = if quoted { "& " } else { "" };
        let copilot = &written(SetupClient::Copilot, 1)["agentStop"][0];
        assert_eq!(copilot["bash"], format!("{path} hook copilot agentStop"));
        assert_eq!(copilot["powershell"], format!("{call}{path} hook copilot agentStop"));
        let gemini = &written(SetupClient::Gemini, 0)["AfterAgent"][0]["hooks"][0]["command"];
        let call = if program.starts_with("C:") { "& " } else { "" };
        assert_eq!(gemini, &json!(format!("{call}{path} hook gemini AfterAgent")));
    }
}

/// A JSON file as people write it: blanks, comments, and trailing commas.
fn any_file() -> impl proptest::strategy::Strategy<Value = String> {
    use proptest::prelude::*;
    let gap = || {
        proptest::sample::select(vec!["", " ", "\n", "\n  ", "\t", " // c\n", "/* , } */", "\r\n"])
    };
    let leaf = proptest::sample::select(vec![
        "1",
        "null",
        "\"}\"",
        "\"a, // b\"",
        "true",
        "{}",
        "[]",
        "[ ]",
        "-1.5e3",
    ]);
    let key =
        proptest::sample::select(vec!["mcpServers", "hooks", "Stop", "commonbook", "a", "b\\\"c"]);
    let value = leaf.prop_map(str::to_owned).prop_recursive(3, 16, 3, move |inner| {
        let pair = (gap(), key.clone(), gap(), inner.clone(), gap());
        let object = (proptest::collection::vec(pair, 0..4), proptest::bool::ANY, gap()).prop_map(
            |(pairs, comma, gap)| {
                let pairs: Vec<String> = pairs
                    .iter()
                    .map(|(a, key, b, value, c)| format!("{a}\"{key}\"{b}:{value}{c}"))
                    .collect();
                let comma = if comma && !pairs.is_empty() { "," } else { "" };
                format!("{{{}{comma}{gap}}}", pairs.join(","))
            },
        );
        let list = (proptest::collection::vec((gap(), inner, gap()), 0..3), gap()).prop_map(
            |(items, gap)| {
                let items: Vec<String> =
                    items.iter().map(|(a, value, b)| format!("{a}{value}{b}")).collect();
                format!("[{}{gap}]", items.join(","))
            },
        );
        prop_oneof![3 => object, 1 => list]
    });
    (gap(), value, gap()).prop_map(|(before, value, behind)| format!("{before}{value}{behind}"))
}

proptest::proptest! {
    #[test]
    fn undoing_restores_any_json_byte_for_byte(text in any_file()) {
        let Ok(applied) = both().apply(Some(&text), None) else { return Ok(()) };
        let now = value(&applied.text);
        assert_eq!(&now["mcpServers"]["commonbook"], &json!({"command": "commonbook"}));
        let again = both().apply(Some(&applied.text), Some(&applied.record)).expect("it is there");
        assert!(!again.changed);
        let undone = again.record.undo(&applied.text).expect("the edit can be undone");
        assert_eq!(undone.as_deref(), Some(text.as_str()), "{}", applied.text);
    }

    #[test]
    fn undoing_keeps_edits_made_since(text in any_file(), added in "[a-z]{1,6}") {
        let Ok(applied) = both().apply(Some(&text), None) else { return Ok(()) };
        // The client rewrites the file in its own format, with an additional entry.
        let before = if text.trim().is_empty() { json!({}) } else { value(&text) };
        let mut since = value(&applied.text);
        since["mcpServers"][&added] = json!([1]);
        let undone = applied.record.undo(&format!("{since:#}")).expect("the edit can be undone").expect("a file");
        let mut expected = before;
        if expected["mcpServers"].is_null() {
            expected["mcpServers"] = json!({});
        }
        expected["mcpServers"][&added] = json!([1]);
        assert_eq!(value(&undone), expected);
    }

    #[test]
    fn undoing_restores_any_markdown_byte_for_byte(text in "(\\PC|\n|\r\n){0,40}") {
        let block = FileContent::Block("Look there.".into());
        let applied = block.apply(Some(&text), None).expect("the entry can be written");
        assert_eq!(applied.record.undo(&applied.text).expect("the edit can be undone").as_deref(), Some(text.as_str()));
    }

    #[test]
    fn undoing_restores_any_toml_byte_for_byte(
        lines in proptest::collection::vec(proptest::sample::select(vec![
            "a = 1", "# c", "", "[mcp_servers.x]", "[mcp_servers]", "[y]", "u.v = \"'\" # d", "  z = [1, # e", " 2]", "[[w]]",
            "[mcp_servers.commonbook]", "\"mcp_servers\" = {}",
        ]), 0..7),
        end in proptest::sample::select(vec!["\n", "\r\n"]),
        closed in proptest::bool::ANY,
    ) {
        let text = lines.join(end) + if closed { end } else { "" };
        let Ok(applied) = table().apply(Some(&text), None) else { return Ok(()) };
        assert_eq!(applied.record.undo(&applied.text).expect("the edit can be undone").as_deref(), Some(text.as_str()));
        assert!(!table().apply(Some(&applied.text), Some(&applied.record)).expect("it is there").changed);
    }
}
