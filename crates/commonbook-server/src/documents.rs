//! The JSON of the documents, parsed as what it says it is: people paste it.

use std::fs;
use std::path::{Path, PathBuf};

use commonbook::base::error::ErrorBody;
use commonbook::base::input;
use commonbook::model::import::ImportLine;
use commonbook::model::origin::TextOrigin;
use serde_json::Value;

use crate::doors::hook::commands as user_commands;
use crate::settings::config::{Config, SETTINGS_FILE};

/// Inline examples that are no settings of a home: what stands in a project's file, and what a command of
/// hooks prints.
const OTHER_OBJECTS: [&str; 3] = [r#"{"off": true}"#, r#"{"task": "…"}"#, r#"{"context": "…"}"#];

/// The documents at the root and in `docs`.
fn documents() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let files = [root.clone(), root.join("docs")].map(|folder| fs::read_dir(folder).unwrap());
    let paths = files.into_iter().flatten().map(|file| file.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|ending| ending == "md")).collect()
}

/// Fails unless this text is a `config.json` with which every command works.
fn check_settings(text: &str) {
    let home = tempfile::tempdir().unwrap();
    let config = Config { home: Some(home.path().to_owned()), ..Config::default() };
    fs::write(home.path().join(SETTINGS_FILE), text).unwrap();
    config.check_settings().unwrap_or_else(|error| panic!("{text}: {error}"));
}

/// Checks a block with this label.
fn check_block(label: &str, text: &str) {
    let values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    for value in values {
        let value = value.unwrap_or_else(|error| panic!("{text}: {error}"));
        match label {
            "config.json" => check_settings(&value.to_string()),
            "hooks.json" => {
                let home = tempfile::tempdir().unwrap();
                fs::write(home.path().join("hooks.json"), value.to_string()).unwrap();
                assert!(!user_commands(home.path()).unwrap().is_empty(), "{text}");
            }
            "mcp.json" => {
                let server = &value["mcpServers"]["commonbook"];
                assert_eq!(server["command"], "commonbook", "{text}");
                assert_eq!(server["args"][0], "mcp", "{text}");
            }
            "error" => drop(input::from_value::<ErrorBody>(value).unwrap()),
            "import" => drop(ImportLine::from_json(value, TextOrigin::File).unwrap()),
            other => panic!("a block says that it is {other:?}: {text}"),
        }
    }
}

#[test]
fn every_json_in_the_documents_is_what_it_says() {
    let (mut blocks, mut inline) = (0, 0);
    for path in documents() {
        let text = fs::read_to_string(&path).unwrap();
        for (index, part) in text.split("```").enumerate() {
            if index % 2 == 1 {
                let (label, block) = part.split_once('\n').unwrap_or((part, ""));
                let Some(label) = label.strip_prefix("json") else { continue };
                check_block(label.trim(), block);
                blocks += 1;
                continue;
            }
            let codes = part.split('`').skip(1).step_by(2);
            let objects = codes.filter(|code| code.starts_with("{\"") && !code.contains("\":\"…"));
            for code in objects.filter(|code| serde_json::from_str::<Value>(code).is_ok()) {
                if !OTHER_OBJECTS.contains(&code) && path.ends_with("operating.md") {
                    check_settings(code);
                    inline += 1;
                }
            }
        }
    }
    assert!(blocks >= 15 && inline >= 2, "{blocks} blocks, {inline} in lines");
}
