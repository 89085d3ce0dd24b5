//! The descriptions of the OpenAPI document: each in one line, and nothing said twice.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Map, Value};

/// New words in the description of an answer's field or value up to which it is left out: the document
/// stays below 200 KB, and a longer description says what a name cannot.
const NEW_WORDS_MAX: usize = 6;

/// Shortens the descriptions of a document. Those of requests keep every word that says something;
/// in answers, a few new words beside a name and its type are left out.
pub(super) fn shorten(document: &mut Value) {
    let requests = request_types(document);
    let schemas = &mut document["components"]["schemas"];
    let words = words_of_types(schemas);
    for (name, schema) in schemas.as_object_mut().into_iter().flatten() {
        if name.ends_with("Page") {
            omit_description(schema);
        }
        let is_request = requests.contains(name);
        omit_known_descriptions(schema, &words, if is_request { 0 } else { NEW_WORDS_MAX });
        omit_known_lines(schema, if is_request { 1 } else { NEW_WORDS_MAX });
    }
    let described = described_types(document);
    for (name, schema) in document["components"]["schemas"].as_object_mut().into_iter().flatten() {
        if described.contains(name) {
            omit_heading(schema);
        }
    }
    join_descriptions(document);
}

fn omit_description(schema: &mut Value) {
    schema.as_object_mut().map(|schema| schema.remove("description"));
}

/// The types that requests have.
fn request_types(document: &Value) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let operations = document["paths"].as_object().into_iter().flatten();
    for operation in operations.flat_map(|(_, path)| path.as_object()).flat_map(Map::values) {
        for part in ["requestBody", "parameters"] {
            each_reference(&operation[part], &mut |name| names.extend([name.to_owned()]));
        }
    }
    // Those inside of others come with them.
    let schemas = &document["components"]["schemas"];
    let mut open: Vec<String> = names.iter().cloned().collect();
    while let Some(name) = open.pop() {
        each_reference(&schemas[&name], &mut |inner| {
            if names.insert(inner.to_owned()) {
                open.push(inner.to_owned());
            }
        });
    }
    names
}

/// Calls this with the name of each type that a value refers to.
fn each_reference(value: &Value, found: &mut impl FnMut(&str)) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| each_reference(item, found)),
        Value::Object(fields) => {
            if let Some(name) = type_name(value) {
                found(name);
            }
            fields.values().for_each(|field| each_reference(field, found));
        }
        _ => {}
    }
}

/// The name of the type that a schema refers to.
fn type_name(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.strip_prefix("#/components/schemas/")
}

/// The words of each type: those of its name, and of the first line that describes it.
fn words_of_types(schemas: &Value) -> HashMap<String, String> {
    let types = schemas.as_object().into_iter().flatten();
    let words = types.map(|(name, schema)| {
        let about = schema["description"].as_str().unwrap_or_default();
        let mut words = about.lines().next().unwrap_or_default().to_owned();
        for letter in name.chars() {
            words.extend(letter.is_uppercase().then_some(' '));
            words.push(letter);
        }
        (name.clone(), words)
    });
    words.collect()
}

/// Removes the descriptions of fields with at most this number of words that neither the field's name
/// nor its type has: "How much it matters" of an `Importance`.
fn omit_known_descriptions(
    schema: &mut Value,
    words: &HashMap<String, String>,
    new_words_max: usize,
) {
    let fields = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (name, field) in fields.into_iter().flatten() {
        let known = type_name(field).or_else(|| type_name(&field["items"]));
        let known = known.and_then(|name| words.get(name)).map_or("", String::as_str);
        let about = field["description"].as_str().unwrap_or_default();
        let is_known = count_new_words(&format!("{name} {known}"), about) == 0;
        if is_known || count_new_words(name, about) <= new_words_max {
            omit_description(field);
        }
    }
}

/// The types to which a single place refers that has a description: a response, whose operation has it,
/// or a field.
fn described_types(document: &Value) -> BTreeSet<String> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    each_reference(document, &mut |name| *counts.entry(name.to_owned()).or_default() += 1);
    let mut described = BTreeSet::new();
    for value in objects(document) {
        let field =
            value["description"].as_str().and(type_name(value).or(type_name(&value["items"])));
        let response = type_name(&value["content"]["application/json"]["schema"]);
        described.extend(field.or(response).map(str::to_owned));
    }
    described.retain(|name| counts.get(name) == Some(&1));
    described
}

/// Every object inside of a value.
fn objects(value: &Value) -> Vec<&Value> {
    let mut found = vec![value];
    let mut next = 0;
    while let Some(value) = found.get(next).copied() {
        next += 1;
        match value {
            Value::Array(items) => found.extend(items),
            Value::Object(fields) => found.extend(fields.values()),
            _ => {}
        }
    }
    found.retain(|value| value.is_object());
    found
}

/// Removes what a description says before its list, or the description if it has no list.
fn omit_heading(schema: &mut Value) {
    let about = schema["description"].as_str().unwrap_or_default();
    match about.split_once("\n\n- ") {
        Some((_, list)) => schema["description"] = format!("- {list}").into(),
        None => omit_description(schema),
    }
}

/// Writes the sentences of each description in one line; a list keeps its lines.
fn join_descriptions(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(join_descriptions),
        Value::Object(fields) => {
            for (name, field) in fields {
                match field {
                    Value::String(text) if name == "description" => *text = joined(text),
                    field => join_descriptions(field),
                }
            }
        }
        _ => {}
    }
}

/// Removes the lines of a list of values that say at most this number of words beyond the value's name:
/// "- `memory.saved`: A memory was saved.".
fn omit_known_lines(schema: &mut Value, new_words_max: usize) {
    let Some(about) = schema["description"].as_str() else { return };
    let is_known = |line: &&str| {
        let item = line.strip_prefix("- `").and_then(|line| line.split_once("`: "));
        item.is_some_and(|(name, about)| count_new_words(name, about) <= new_words_max)
    };
    let lines: Vec<&str> = about.lines().filter(|line| !is_known(line)).collect();
    schema["description"] = lines.join("\n").trim_end().into();
}

/// A description with its sentences in one line; a list keeps its lines.
pub(super) fn joined(text: &str) -> String {
    let mut lines = text.lines();
    let mut joined = lines.next().unwrap_or_default().to_owned();
    let mut is_after_text = !joined.is_empty();
    for line in lines {
        let continues = is_after_text && !line.is_empty() && !line.starts_with(['-', '`', '|']);
        joined.push(if continues { ' ' } else { '\n' });
        joined.push_str(line);
        is_after_text = !line.is_empty();
    }
    joined
}

/// Words that say nothing beside a name.
const EMPTY_WORDS: [&str; 27] = [
    "a", "an", "the", "its", "it", "of", "this", "that", "is", "was", "were", "to", "for", "in",
    "at", "by", "when", "belongs", "made", "number", "how", "what", "where", "why", "whether",
    "as", "and",
];

/// The number of words of a description that neither the name has nor are empty.
fn count_new_words(name: &str, description: &str) -> usize {
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(|word| word.to_lowercase().trim_end_matches('s').to_owned()).collect()
    };
    let known = words(name);
    let is_new = |word: &String| {
        let is_empty = EMPTY_WORDS.iter().any(|empty| empty.trim_end_matches('s') == word);
        !is_empty && !known.contains(word)
    };
    words(description).iter().filter(|word| is_new(word)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_counts_by_what_its_name_does_not_say() {
        let table = [
            ("session", "The session.", 0),
            ("at", "When it was stored.", 1),
            ("count", "Number of handoffs.", 1),
            ("rounds", "Number of those that closed a cycle again.", 4),
        ];
        for (name, about, words) in table {
            assert_eq!(count_new_words(name, about), words, "{name}: {about}");
        }
    }
}
