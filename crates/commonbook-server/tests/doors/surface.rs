//! Every surface is a golden file: a change of it shows in review.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::world::Home;

fn printed(surface: &str) -> String {
    let output = Home::new().run(&["surface", surface]);
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

fn golden(surface: &str, file: &str) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/surface");
    let path = std::path::Path::new(folder).join(file);
    let printed = printed(surface);
    #[expect(clippy::disallowed_methods, reason = "how a person asks for new golden files")]
    let renew = std::env::var_os("UPDATE_SURFACES").is_some();
    if renew {
        std::fs::write(&path, &printed).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    let (now, then) = (printed.lines(), kept.lines());
    let differs = now.zip(then).position(|(now, then)| now != then);
    assert!(
        printed == kept,
        "{file} is not what the program prints (line {differs:?}): \
         if the change is intended, run the tests once with UPDATE_SURFACES=1 and commit the file"
    );
}

#[test]
fn openapi_is_the_golden_file() {
    golden("openapi", "openapi.json");
}

/// Collects every object in a value, with its path.
fn objects(value: &Value, path: &str, found: &mut Vec<(String, Map<String, Value>)>) {
    match value {
        Value::Object(fields) => {
            found.push((path.to_owned(), fields.clone()));
            for (name, field) in fields {
                objects(field, &format!("{path}/{}", name.replace('/', "~1")), found);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                objects(item, &format!("{path}/{index}"), found);
            }
        }
        _ => {}
    }
}

/// Holds what validators and generators of clients need; `.ci/openapi` runs them.
#[test]
fn openapi_is_small_and_valid() {
    let document: Value = serde_json::from_str(&printed("openapi")).unwrap();
    let bytes = document.to_string().len();
    assert!(bytes <= 300_000, "{bytes}");
    assert!(!document["servers"].as_array().unwrap().is_empty());
    let mut found = Vec::new();
    objects(&document, "", &mut found);
    let (mut references, mut operations) = (BTreeSet::new(), BTreeSet::new());
    for (path, object) in &found {
        if path.ends_with("/properties") || path.contains("/example") {
            continue;
        }
        if let Some(name) = object.get("$ref").and_then(Value::as_str) {
            assert!(document.pointer(&name[1..]).is_some(), "{path}: {name}");
            references.insert(name.trim_start_matches('#').to_owned());
        }
        if object.get("in").is_some_and(|place| place == "path") {
            assert_eq!(object.get("required"), Some(&Value::Bool(true)), "{path}");
        }
        if let Some(required) = object.get("required") {
            assert!(required.is_boolean() || required.is_array(), "{path}: {required}");
        }
        // Generators know no other format of ours.
        assert!(object.get("format").is_none_or(|format| format == "date-time"), "{path}");
        if let Some(name) = object.get("operationId") {
            assert!(operations.insert(name.to_string()), "{name}");
            assert_eq!(object["tags"].as_array().unwrap().len(), 1, "{path}");
        }
    }
    for kind in ["schemas", "parameters", "headers", "responses"] {
        for name in document["components"][kind].as_object().unwrap().keys() {
            let path = format!("/components/{kind}/{name}");
            assert!(references.contains(&path), "nothing refers to {path}");
        }
    }
}

/// If a value must match exactly one of several schemas, no value can match a schema that is there
/// twice.
#[test]
fn no_one_of_contains_a_schema_twice() {
    fn forms(value: &Value, found: &mut Vec<Vec<Value>>) {
        match value {
            Value::Object(fields) => {
                found.extend(fields.get("oneOf").and_then(Value::as_array).cloned());
                fields.values().for_each(|field| forms(field, found));
            }
            Value::Array(items) => items.iter().for_each(|item| forms(item, found)),
            _ => {}
        }
    }
    for surface in ["openapi", "events"] {
        let mut found = Vec::new();
        forms(&serde_json::from_str(&printed(surface)).unwrap(), &mut found);
        assert!(!found.is_empty(), "{surface}");
        for forms in found {
            for (at, form) in forms.iter().enumerate() {
                assert!(!forms[..at].contains(form), "{surface}: {form}");
            }
        }
    }
}

/// The values of this keyword in a schema and all below it, whatever they are.
fn keyword(schema: &Value, name: &str, found: &mut Vec<Value>) {
    match schema {
        Value::Object(fields) => {
            found.extend(fields.get(name).cloned());
            fields.values().for_each(|field| keyword(field, name, found));
        }
        Value::Array(items) => items.iter().for_each(|item| keyword(item, name, found)),
        _ => {}
    }
}

/// A client's validator warns of each format that it does not know.
#[test]
fn schemas_have_only_formats_that_json_schema_knows() {
    for surface in ["openapi", "tools", "events"] {
        let mut formats = Vec::new();
        keyword(&serde_json::from_str(&printed(surface)).unwrap(), "format", &mut formats);
        // Fields of requests are called so too; their schemas are no texts.
        let own = |format: &&Value| {
            format.is_string() && !["text", "dot"].iter().any(|name| *format == name)
        };
        for format in formats.iter().filter(own) {
            let known = ["date", "date-time", "uri", "uuid"];
            assert!(known.iter().any(|known| format == known), "{surface}: {format}");
        }
    }
}

/// Every client's function declarations can express the arguments of every tool.
#[test]
fn tools_take_plain_arguments() {
    let tools: Value = serde_json::from_str(&printed("tools")).unwrap();
    for name in
        ["anyOf", "oneOf", "pattern", "format", "$ref", "additionalProperties", "outputSchema"]
    {
        let mut found = Vec::new();
        keyword(&tools, name, &mut found);
        found.retain(|value| !(name == "format" && value.is_object()));
        assert_eq!(found, Vec::<Value>::new(), "{name}");
    }
    for tool in tools.as_array().unwrap() {
        let schema = &tool["inputSchema"];
        let required = schema["required"].as_array().into_iter().flatten();
        for field in required.filter_map(Value::as_str) {
            assert!(schema["properties"].get(field).is_some(), "{}: {field}", tool["name"]);
        }
    }
    let mut types = Vec::new();
    keyword(&tools, "type", &mut types);
    assert!(types.iter().all(|kind| kind.is_string() || kind.get("type").is_some()), "{types:?}");
}

#[test]
fn tools_are_the_golden_file() {
    golden("tools", "tools.json");
}

#[test]
fn events_are_the_golden_file() {
    golden("events", "events.json");
}

#[test]
fn the_help_is_the_golden_file() {
    golden("cli-help", "cli-help.md");
}
