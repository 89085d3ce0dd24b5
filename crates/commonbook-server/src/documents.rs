//! The JSON of the documents, parsed as what it says it is: people paste it.

use std::fs;
use std::path::{Path, PathBuf};

use commonbook::base::error::ErrorBody;
use commonbook::base::input;
use commonbook::model::import::ImportLine;
use commonbook::model::origin::TextOrigin;
use serde_json::Value;

use crate::doors::hook::commands as user_commands;
use crate::settings::config::{Config, SETTINGS_FILE, settings_of, settings_schema};

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
    let value: Value = serde_json::from_str(text).unwrap();
    let wrong = schema_violation("", &settings_schema(), &value);
    assert_eq!(wrong, None, "{text}");
}

/// Where a value violates a schema of settings, if it does.
fn schema_violation(path: &str, schema: &Value, value: &Value) -> Option<String> {
    let has_type = match schema["type"].as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_u64(),
        Some("number") => value.is_number(),
        _ => schema["oneOf"]
            .as_array()
            .is_some_and(|all| all.iter().any(|choice| choice["const"] == *value)),
    };
    let bound = |name: &str| schema[name].as_f64();
    let number = value.as_f64();
    let is_less = number.zip(bound("minimum")).is_some_and(|(number, least)| number < least);
    let is_more = number.zip(bound("maximum")).is_some_and(|(number, most)| number > most);
    if !has_type || is_less || is_more {
        return Some(path.to_owned());
    }
    let fields = value.as_object().into_iter().flatten().find_map(|(name, field)| {
        let path = format!("{path}.{name}");
        let known = schema["properties"].get(name).unwrap_or(&schema["additionalProperties"]);
        if known.is_object() { schema_violation(&path, known, field) } else { Some(path) }
    });
    let mut items = value.as_array().into_iter().flatten();
    fields.or_else(|| items.find_map(|item| schema_violation(path, &schema["items"], item)))
}

/// The values below a value that are no objects, by their names.
fn leaves(path: &str, value: &Value) -> Vec<(String, Value)> {
    let Some(fields) = value.as_object() else { return vec![(path.to_owned(), value.clone())] };
    let named =
        |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    fields.iter().flat_map(|(name, field)| leaves(&named(name), field)).collect()
}

#[test]
fn the_settings_that_the_documents_call_defaults_are_those_of_the_schema() {
    let text =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/operating.md"));
    let text = text.unwrap();
    let schema = settings_schema();
    let settings = settings_of(&schema);
    let mut found = 0;
    for part in text.split("These are the defaults:").skip(1) {
        let block = part.split("```").nth(1).unwrap().strip_prefix("json config.json").unwrap();
        for (path, value) in leaves("", &serde_json::from_str(block).unwrap()) {
            let known = settings.iter().find(|(known, _)| *known == path);
            let default = known.map(|(_, setting)| &setting["default"]);
            let is_same = default.is_some_and(|default| {
                default == &value
                    || default.as_f64().is_some_and(|number| value.as_f64() == Some(number))
            });
            assert!(is_same, "{path}: the document says {value}, the schema {default:?}");
            found += 1;
        }
    }
    assert!(found > 20, "{found}");
}

#[test]
fn the_schema_refuses_what_is_no_setting() {
    for (text, expected) in [
        (r#"{"contxt": {}}"#, ".contxt"),
        (r#"{"backup": {"keep": 0}}"#, ".backup.keep"),
        (r#"{"backup": null}"#, ".backup"),
        (r#"{"collaboration": {"rules": {"cycle": "never"}}}"#, ".collaboration.rules.cycle"),
        (r#"{"folders": [3]}"#, ".folders"),
        (
            r#"{"entities": {"types": {"host": {"prefix": ["db-"]}}}}"#,
            ".entities.types.host.prefix",
        ),
    ] {
        let value = serde_json::from_str(text).unwrap();
        assert_eq!(schema_violation("", &settings_schema(), &value).as_deref(), Some(expected));
    }
    assert_eq!(schema_violation("", &settings_schema(), &serde_json::json!({})), None);
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

/// The name of each variable of the program that a text names.
fn variables(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !(c.is_ascii_uppercase() || c == '_'));
    words.filter(|word| word.starts_with("COMMONBOOK_"))
}

#[test]
fn the_files_of_services_name_commands_and_variables_that_the_program_has() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap();
    let [unit, plist, compose, image] = [
        "packaging/commonbook.service",
        "packaging/commonbook.plist",
        "packaging/compose.yaml",
        "Dockerfile",
    ]
    .map(read);
    let config = read("crates/commonbook-server/src/settings/config.rs");
    for text in [&unit, &plist, &compose, &image] {
        assert!(variables(text).count() > 0);
        // Compose puts the password into the connection string.
        for name in variables(text).filter(|name| *name != "COMMONBOOK_PASSWORD") {
            assert!(config.contains(&format!("(\"{name}\")")), "{name} is not read");
        }
    }
    let start = unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).unwrap();
    let (_, list) = plist.split_once("<array>").unwrap();
    let (list, _) = list.split_once("</array>").unwrap();
    let strings = list.split("<string>").skip(1).map(|part| part.split_once('<').unwrap().0);
    let shown = image.lines().find_map(|line| line.strip_prefix("CMD ")).unwrap();
    let shown: Vec<String> = serde_json::from_str(shown).unwrap();
    let commands = [
        start.split(' ').collect(),
        strings.collect(),
        [""].into_iter().chain(shown.iter().map(String::as_str)).collect::<Vec<_>>(),
    ];
    for command in commands {
        assert!(command.contains(&"serve"), "{command:?}");
        crate::clap_command().try_get_matches_from(&command).unwrap();
    }
    let compose: Value = serde_saphyr::from_str(&compose).unwrap();
    let server = &compose["services"]["commonbook"];
    let database = server["environment"]["COMMONBOOK_DATABASE"].as_str().unwrap();
    assert!(database.contains("@database/") && compose["services"]["database"].is_object());
    assert_eq!(server["ports"][0], "127.0.0.1:7077:7077", "the port that the image serves on");
}
