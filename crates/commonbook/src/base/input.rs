//! Input: parsing of requests from JSON and from pairs of text, and rules for every text.

mod form;
mod other_names;
mod wrong_part;

use commonbook_text::json_text::json_text;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::RangeInclusive;

use commonbook_text::sanitize::is_hidden;
use schemars::JsonSchema;
use schemars::generate::Contract;
use schemars::transform::RestrictFormats;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::base::clock::Timestamp;
use crate::base::error::{Error, ErrorCode, ErrorKind, REQUEST_SHAPE_HINT, Result};
use crate::base::id::{
    DELETION_HANDLE_CHARS_MIN, DELETION_HANDLE_PATTERN, HANDLE_CHARS_MIN, HANDLE_PATTERN,
    parse_handle,
};
use crate::base::limits;

use wrong_part::{Refusal, WrongPart};

pub use form::{EmptyText, RequestForm, means_end};
pub use other_names::plain_name;

/// Parses a request from JSON bytes.
///
/// # Errors
/// `invalid` for bytes that are not JSON, and for JSON that does not match the request, with the wrong
/// field.
pub fn from_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    from_value(json(bytes)?)
}

/// Parses JSON bytes: a byte order mark is skipped, and bytes that are not UTF-8 and lone halves of letters
/// become U+FFFD.
///
/// # Errors
/// `invalid` for bytes that are not JSON; as [`check_value_count`].
pub fn json(bytes: &[u8]) -> Result<Value> {
    check_value_count(bytes)?;
    serde_json::from_str(&json_text(bytes)).map_err(|error| {
        Error::new(ErrorKind::Invalid, format!("the request is not JSON: {error}"))
            .hint("Send one complete JSON value.")
    })
}

/// Refuses JSON with very many values before parsing it: a parsed value needs many times its bytes
/// in JSON.
///
/// # Errors
/// `too_large` for more than [`limits::JSON_VALUES`] values.
pub fn check_value_count(bytes: &[u8]) -> Result<()> {
    let (mut values, mut in_text, mut escaped) = (1_usize, false, false);
    for byte in bytes {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            // Each of these precedes at most one value.
            b'[' | b'{' | b',' if !in_text => values += 1,
            _ => {}
        }
    }
    if values <= limits::JSON_VALUES {
        return Ok(());
    }
    let message = format!("the request has more than {} values", limits::JSON_VALUES);
    Err(Error::new(ErrorKind::TooLarge, message).hint("Send it in several requests."))
}

/// Parses a request from a JSON value.
///
/// # Errors
/// `invalid` with the field that is unknown, missing, or has the wrong type or value.
#[expect(
    clippy::needless_pass_by_value,
    reason = "a parsed request is used up: callers keep no copy"
)]
pub fn from_value<T: DeserializeOwned>(value: Value) -> Result<T> {
    refuse_huge_numbers(&value)?;
    // All but this line is compiled once, not once for each type.
    T::deserialize(&value).map_err(|error| wrong_request(&value, &error, refusal::<T>))
}

/// The reason why a value is none of this type.
fn refusal<T: DeserializeOwned>(value: &Value) -> Option<String> {
    T::deserialize(value).err().map(|error| error.to_string())
}

/// The error of a request that was refused, with the field that is wrong.
fn wrong_request(value: &Value, error: &serde_json::Error, refusal: Refusal) -> Error {
    let reason = error.to_string();
    let path = WrongPart { refusal, reason: &reason }.path(value.clone());
    let plain = match value.get(&path) {
        Some(Value::String(text)) if is_time_error(text, &reason) => EXPECTED_TIME,
        _ => reason.strip_prefix(&format!("{path}: ")).unwrap_or(&reason),
    };
    let near = form::with_near_field(plain);
    let plain = in_plain_types(near.as_deref().unwrap_or(plain));
    let missing = plain.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`'));
    let wrong = match (path.as_str(), missing) {
        ("", Some(field)) => Error::new(ErrorKind::Invalid, plain.as_str())
            .with_field(field)
            .with_code(ErrorCode::MissingField),
        ("", None) => Error::new(ErrorKind::Invalid, plain),
        (path, _) if plain.ends_with(EXPECTED_OBJECT) => {
            Error::invalid(path, plain).with_code(ErrorCode::NoObject)
        }
        (path, _) => Error::invalid(path, plain),
    };
    wrong.hint(REQUEST_SHAPE_HINT)
}

/// The end of the reason where a field has to be an object.
const EXPECTED_OBJECT: &str = "expected an object";

/// The words of JSON for the types that serde names in the words of Rust.
const PLAIN_TYPES: [(&str, &str); 10] = [
    ("expected u8", "expected a whole number from 0 to 255"),
    ("expected u32", "expected a whole number from 0"),
    ("expected u64", "expected a whole number from 0"),
    ("expected usize", "expected a whole number from 0"),
    ("expected i64", "expected a whole number"),
    ("expected f64", "expected a number"),
    ("expected a map", EXPECTED_OBJECT),
    ("expected a sequence", "expected a list"),
    ("invalid type: map,", "invalid type: an object,"),
    ("invalid type: sequence,", "invalid type: a list,"),
];

/// A reason of serde with the types as JSON names them.
fn in_plain_types(reason: &str) -> String {
    let known = PLAIN_TYPES.iter().filter(|(rust, _)| reason.contains(rust));
    known.fold(reason.to_owned(), |reason, (rust, json)| reason.replace(rust, json))
}

/// The error of a text that is no time. Its parser would name a part of its grammar.
const EXPECTED_TIME: &str = "expected a time such as 2025-09-01T00:00:00Z";

/// Whether this is the error of parsing a text as a time.
fn is_time_error(text: &str, reason: &str) -> bool {
    text.parse::<Timestamp>().is_err_and(|error| error.to_string() == reason)
}

/// Refuses a field with a number beyond a signed 64-bit integer: no store has a place for it.
fn refuse_huge_numbers(request: &Value) -> Result<()> {
    let largest = i64::MAX.unsigned_abs();
    let is_huge = |value: &Value| value.as_u64().is_some_and(|number| number > largest);
    let fields = request.as_object().into_iter().flatten();
    match fields.into_iter().find(|(_, value)| is_huge(value)) {
        None => Ok(()),
        Some((field, _)) => Err(Error::invalid(field, format!("must be at most {largest}"))),
    }
}

/// Parses a request from pairs of text, as in a query string or a command line.
///
/// The schema of the request decides how a text is parsed: as a number, a flag, a list (items
/// separated by commas, or one per pair) or a JSON object. A text that does not parse stays a
/// string, so that the error is the same as for JSON of the wrong type.
///
/// # Errors
/// As [`from_value`].
pub fn from_pairs<T: DeserializeOwned + JsonSchema>(
    pairs: impl IntoIterator<Item = (String, String)>,
) -> Result<T> {
    let fields = FieldTypes::of::<T>().to_typed_values(pairs);
    let form = RequestForm::of(&schema::<T>());
    from_value(form.read(fields.into(), EmptyText::Kept))
}

/// The JSON type of each field of a request, from its schema.
#[derive(Debug, Clone)]
pub struct FieldTypes(BTreeMap<String, String>);

impl FieldTypes {
    /// The types of the fields of `T`.
    #[must_use]
    pub fn of<T: JsonSchema>() -> Self {
        Self(property_types(&schema::<T>()))
    }

    /// Converts pairs of text to JSON of these types.
    pub fn to_typed_values(
        &self,
        pairs: impl IntoIterator<Item = (String, String)>,
    ) -> Map<String, Value> {
        let mut object = Map::new();
        for (name, text) in pairs {
            let kind = self.0.get(&name).map_or("string", String::as_str);
            match (kind, object.get_mut(&name)) {
                ("array", Some(Value::Array(items))) => items.extend(list(&text)),
                _ => {
                    object.insert(name, typed_value(kind, text));
                }
            }
        }
        object
    }
}

fn typed_value(kind: &str, text: String) -> Value {
    match kind {
        "array" => match serde_json::from_str(&text) {
            Ok(Value::Array(items)) => Value::Array(items),
            _ => Value::Array(list(&text).collect()),
        },
        "integer" | "number" | "boolean" | "object" => {
            // A missing field differs from `null`.
            let value = serde_json::from_str(&text).ok().filter(|value: &Value| !value.is_null());
            value.unwrap_or(Value::String(text))
        }
        _ => Value::String(text),
    }
}

fn list(text: &str) -> impl Iterator<Item = Value> + '_ {
    text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(Value::from)
}

/// The formats of strings in schemas; each is one of JSON Schema.
const KNOWN_FORMATS: [&str; 2] = ["date", "date-time"];

/// The JSON Schema of the request `T`, without references.
#[must_use]
pub fn schema<T: JsonSchema>() -> Value {
    let settings = schemars::generate::SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
        settings.contract = Contract::Deserialize;
    });
    settings.with_transform(known_formats()).into_generator().into_root_schema_for::<T>().to_value()
}

/// Removes formats that JSON Schema does not know, such as `uint64`: clients warn of each.
fn known_formats() -> RestrictFormats {
    let mut restriction = RestrictFormats::default();
    restriction.infer_from_meta_schema = false;
    restriction.allowed_formats = KNOWN_FORMATS.into_iter().map(Cow::Borrowed).collect();
    restriction
}

/// A handle in a request, where the schema expects an id.
#[derive(Debug)]
pub struct HandleField<'r> {
    /// The field: `id`, `entries[0].supersedes[1]`.
    pub field: String,
    /// How ids of this kind begin: `mem_`.
    pub prefix: String,
    /// Letters that a handle has here, at least.
    pub letters_min: usize,
    /// The letters, without `#`.
    pub ending: String,
    /// The value to put the id into.
    pub value: &'r mut Value,
}

/// Every handle in a request, by the schema of the request.
pub fn handle_fields<'r>(schema: &Value, request: &'r mut Value) -> Vec<HandleField<'r>> {
    let mut found = Vec::new();
    collect_handles(schema, String::new(), request, &mut found);
    found
}

fn collect_handles<'r>(
    schema: &Value,
    field: String,
    value: &'r mut Value,
    found: &mut Vec<HandleField<'r>>,
) {
    // An optional field has its schema among the alternatives.
    let schema = schema["anyOf"].as_array().and_then(|forms| forms.first()).unwrap_or(schema);
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let path = if field.is_empty() { name.clone() } else { format!("{field}.{name}") };
                collect_handles(field_schema(schema, name), path, value, found);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter_mut().enumerate() {
                collect_handles(&schema["items"], format!("{field}[{index}]"), value, found);
            }
        }
        Value::String(text) => {
            if let (Some((kind, letters_min)), Some(ending)) = (id_kind(schema), parse_handle(text))
            {
                let least = schema["minLength"].as_u64().and_then(|least| least.try_into().ok());
                let letters_min = least.unwrap_or(letters_min);
                found.push(HandleField {
                    field,
                    prefix: format!("{kind}_"),
                    letters_min,
                    ending,
                    value,
                });
            }
        }
        _ => {}
    }
}

/// The schema of a field. Requests also accept `id` and `handoff_id` for the one id that they require,
/// which schemas do not list.
fn field_schema<'s>(schema: &'s Value, name: &str) -> &'s Value {
    let properties = &schema["properties"];
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut ids = required.filter(|field| id_kind(&properties[*field]).is_some());
    match (properties[name].is_null(), ids.next(), ids.next()) {
        (true, Some(id), None) if name == "id" || name.strip_suffix("_id") == Some(id) => {
            &properties[id]
        }
        _ => &properties[name],
    }
}

/// The handle of a memory to delete, where a field takes more than ids: as a pattern, and its letters at least.
const DELETION_HANDLE: (&str, usize) = (DELETION_HANDLE_PATTERN, DELETION_HANDLE_CHARS_MIN);

/// The kind of ids that a field takes, of those for which a handle can stand: `mem`; and the letters of a
/// handle there, at least.
fn id_kind(schema: &Value) -> Option<(&str, usize)> {
    let pattern = schema["pattern"].as_str()?;
    let letters_min = [(HANDLE_PATTERN, HANDLE_CHARS_MIN), DELETION_HANDLE]
        .into_iter()
        .find_map(|(handle, letters_min)| pattern.contains(handle).then_some(letters_min))?;
    Some((pattern.strip_prefix("^(")?.split_once("_[")?.0, letters_min))
}

/// The JSON type of each property of an object's schema, without `null`.
fn property_types(schema: &Value) -> BTreeMap<String, String> {
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    let name_of = |property: &Value| -> Option<String> {
        let own = match &property["type"] {
            Value::String(kind) => Some(kind.as_str()),
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).find(|k| *k != "null"),
            _ => None,
        };
        own.map(str::to_owned)
    };
    properties
        .iter()
        .filter_map(|(name, property)| {
            let any_of = property["anyOf"].as_array().and_then(|forms| forms.first());
            let kind = name_of(property).or_else(|| any_of.and_then(name_of))?;
            Some((name.clone(), kind))
        })
        .collect()
}

/// What [`refuse_control_characters`] accepts, as a JSON Schema pattern.
pub const TEXT_PATTERN: &str = r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*$";

/// What [`line()`] accepts unchanged, except for its length, as a JSON Schema pattern.
pub const LINE_PATTERN: &str = concat!(
    r"^[^\s\x00-\x1f\x7f-\x9f]",
    r"([^\x00-\x08\x0a-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f])?$"
);

/// What [`slug`] accepts, after trimming and except for its length, as a JSON Schema pattern.
/// Outside ASCII it accepts letters and digits of every script.
pub const SLUG_PATTERN: &str = r"^[^\x00-/:-@\[-`{-\x7f][^\x00-,/:-@\[-^`{-\x7f]*$";

/// Whether a character is a control character other than a tab and a line end: it can drive a terminal.
fn is_control_character(letter: char) -> bool {
    letter.is_control() && !matches!(letter, '\n' | '\r' | '\t')
}

/// A text without control characters: terminal escapes are not part of what was said.
#[must_use]
pub fn without_control_characters(text: &str) -> Cow<'_, str> {
    match text.contains(is_control_character) {
        true => text.chars().filter(|letter| !is_control_character(*letter)).collect(),
        false => Cow::Borrowed(text),
    }
}

/// The memory type of a text that is kept as it comes, byte for byte.
pub const OPAQUE_TYPE: &str = "opaque";

/// Whether an object is a memory whose text is kept as it comes.
#[must_use]
pub fn is_opaque_memory(fields: &Map<String, Value>) -> bool {
    fields.get("memory_type").is_some_and(|name| name == OPAQUE_TYPE)
}

/// A value whose texts and names have no control characters, but for the text of an opaque memory.
#[must_use]
pub fn without_controls(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(without_control_characters(&text).into_owned()),
        Value::Array(items) => items.into_iter().map(without_controls).collect(),
        Value::Object(fields) => {
            let is_opaque = is_opaque_memory(&fields);
            let plain = |(name, value): (String, Value)| match is_opaque && name == "text" {
                true => (name, value),
                false => (without_control_characters(&name).into_owned(), without_controls(value)),
            };
            Value::Object(fields.into_iter().map(plain).collect())
        }
        other => other,
    }
}

/// Refuses control characters other than tab and line breaks. A door has removed them.
///
/// # Errors
/// `invalid` with the character and its position.
pub fn refuse_control_characters(field: &str, text: &str) -> Result<()> {
    match text.chars().enumerate().find(|(_, letter)| is_control_character(*letter)) {
        None => Ok(()),
        Some((place, found)) => Err(Error::invalid(
            field,
            format!(
                "contains the control character U+{:04X} at character {}",
                u32::from(found),
                place + 1
            ),
        )
        .hint("Remove it; tabs and line breaks are allowed.")),
    }
}

/// Whether a text has nothing that a reader sees.
#[must_use]
pub fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || is_hidden(c))
}

/// A trimmed line of at most `limit` characters.
///
/// # Errors
/// `invalid` for an empty text or one with control characters or line breaks, `too_large` for a
/// longer one.
pub fn line(field: &str, text: &str, limit: usize) -> Result<String> {
    let text = text.trim();
    if is_blank(text) {
        return Err(Error::empty(field));
    }
    refuse_control_characters(field, text)?;
    if text.contains(['\n', '\r']) {
        return Err(Error::invalid(field, "must be one line"));
    }
    let chars = text.chars().count();
    if chars > limit {
        return Err(Error::too_large(field, chars, limit, "characters"));
    }
    Ok(text.to_owned())
}

/// Checks that a number is within a range.
///
/// # Errors
/// `invalid` with the number and the range.
pub fn in_range<N: PartialOrd + Display>(
    field: &str,
    number: N,
    range: RangeInclusive<N>,
) -> Result<N> {
    if range.contains(&number) {
        return Ok(number);
    }
    let (min, max) = range.into_inner();
    Err(Error::invalid(field, format!("{number} is out of range; expected {min} to {max}")))
}

/// A name of lower-case letters, digits, `-`, `_` and `.`, of at most `limit` characters.
///
/// # Errors
/// `invalid` for other characters, `too_large` for a longer one.
pub fn slug(field: &str, text: &str, limit: usize) -> Result<String> {
    let text = line(field, text, limit)?.to_lowercase();
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    if text.chars().all(fits) && text.starts_with(char::is_alphanumeric) {
        return Ok(text);
    }
    Err(Error::invalid(field, format!("{text:?} is not a name"))
        .hint("Begin with a letter or digit, and use letters, digits, '-', '_' and '.'."))
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Wanted {
        name: String,
        #[serde(default)]
        size: Option<u32>,
        #[serde(default)]
        tags: Vec<String>,
        #[serde(default)]
        all: bool,
        #[serde(default)]
        extra: Map<String, Value>,
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
    }

    #[test]
    fn pairs_get_the_types_of_the_schema() {
        let pairs = pairs(&[
            ("name", "5"),
            ("size", "5"),
            ("tags", "a, b"),
            ("tags", "c"),
            ("all", "true"),
            ("extra", r#"{"x":1}"#),
        ]);
        let wanted: Wanted = from_pairs(pairs).expect("these fit");
        assert_eq!(wanted.name, "5");
        assert_eq!(wanted.size, Some(5));
        assert_eq!(wanted.tags, ["a", "b", "c"]);
        assert!(wanted.all);
        assert_eq!(wanted.extra["x"], 1);
    }

    #[test]
    fn a_number_beyond_64_signed_bits_is_refused() {
        #[derive(Debug, Deserialize)]
        struct Numbered {
            version: u64,
        }
        let number = |version: u64| from_value::<Numbered>(json!({ "version": version }));
        let largest = i64::MAX.unsigned_abs();
        assert_eq!(number(largest).expect("it fits").version, largest);
        let refused = number(largest + 1).expect_err("no store has a place for it");
        assert_eq!(refused.field.as_deref(), Some("version"));
    }

    #[test]
    fn a_wrong_field_is_named_alike_in_json_and_in_pairs() {
        let table = [
            (
                json!({"name": "x", "size": "many"}),
                pairs(&[("name", "x"), ("size", "many")]),
                "size",
            ),
            (
                json!({"name": "x", "size": "null"}),
                pairs(&[("name", "x"), ("size", "null")]),
                "size",
            ),
            (json!({"name": "x", "size": -1}), pairs(&[("name", "x"), ("size", "-1")]), "size"),
            (json!({"name": "x", "all": "all"}), pairs(&[("name", "x"), ("all", "all")]), "all"),
            (json!({"name": "x", "siez": "1"}), pairs(&[("name", "x"), ("siez", "1")]), "siez"),
        ];
        for (value, given, field) in table {
            let first = from_value::<Wanted>(value).expect_err("an invalid request");
            let second = from_pairs::<Wanted>(given).expect_err("an invalid request");
            assert_eq!(first.message, second.message);
            assert_eq!(first.field.as_deref(), Some(field));
            assert_eq!(first.kind, ErrorKind::Invalid);
        }
    }

    #[test]
    fn bytes_that_are_not_json_are_invalid() {
        for bytes in [&b"{\"name\": \"x"[..], b"", b"\xff\xfe", b"\xef\xbb\xbf", b"{} {}"] {
            let error = from_json::<Wanted>(bytes).expect_err("invalid JSON");
            assert_eq!(error.kind, ErrorKind::Invalid);
        }
    }

    #[test]
    fn many_values_are_refused_and_long_texts_are_not() {
        let list = |item: &str, count: usize| format!("[{}]", vec![item; count].join(","));
        let most = limits::JSON_VALUES - 2;
        assert!(json(list("0", most).as_bytes()).is_ok());
        // Brackets within a string are not values.
        let text = format!(r#"{{"text": "{}"}}"#, r#"[{,\"\\"#.repeat(most));
        assert!(json(text.as_bytes()).is_ok());
        for many in
            [list("0", most + 3), list("[]", most), list(r#"{"":0}"#, most), "[".repeat(most * 2)]
        {
            let error = json(many.as_bytes()).expect_err("too many");
            assert_eq!(error.kind, ErrorKind::TooLarge, "{}", error.message);
        }
    }

    #[test]
    fn control_characters_are_refused_and_line_ends_are_not() {
        assert!(refuse_control_characters("text", "a\tb\r\nc").is_ok());
        for bad in ["a\0b", "\u{1b}[31m", "\u{7f}", "\u{85}"] {
            assert_eq!(
                refuse_control_characters("text", bad).map_err(|e| e.kind),
                Err(ErrorKind::Invalid)
            );
        }
    }

    proptest::proptest! {
        #[test]
        fn the_patterns_match_what_is_accepted(text in "[ -~\\t\\n\\x00\\x1b\\x7fé]{0,6}") {
            let matches = |pattern| regex::Regex::new(pattern).is_ok_and(|pattern| pattern.is_match(&text));
            assert_eq!(matches(TEXT_PATTERN), refuse_control_characters("text", &text).is_ok());
            let trimmed = text.trim() == text;
            assert_eq!(matches(LINE_PATTERN), trimmed && line("line", &text, 9).is_ok());
            assert_eq!(matches(SLUG_PATTERN), trimmed && slug("slug", &text, 9).is_ok());
        }
    }

    #[test]
    fn slugs_are_lower_case_names() {
        assert_eq!(slug("type", " Decision ", 64).as_deref().ok(), Some("decision"));
        for bad in ["", " ", "a b", "-a", "a/b", "*", "a\nb"] {
            assert!(slug("type", bad, 64).is_err(), "{bad:?}");
        }
        assert_eq!(slug("type", "aaa", 2).map_err(|e| e.kind), Err(ErrorKind::TooLarge));
    }
}
