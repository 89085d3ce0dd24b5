//! Requests as models and clients write them, before the type of the request reads them.
//!
//! The schema of a request says what may be read how. What cannot be read stays as it is, so that the type
//! refuses it with its own error.

use std::collections::BTreeMap;

use commonbook_text::nearest::nearest_name;
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use serde_json::{Map, Value};

use super::other_names::{
    choice_of_word, fields_of_name, hinted_field, is_loose_name, is_nothing, names_caller,
    plain_name,
};
use super::{id_kind, is_opaque_memory, list, without_control_characters, without_controls};

/// Characters of a text that is more than a line: in a longer one, `null` may be what its author means.
const LINE_CHARS: u64 = 1_024;

/// Characters of an item that is a name, not a sentence: a comma ends it.
const WORD_CHARS: u64 = 256;

/// How many objects may stand around the fields.
const WRAPPERS_MAX: usize = 2;

/// What an empty text of an optional field means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmptyText {
    /// The field is absent: a model fills in every field.
    Absent,
    /// The field is absent, also where an empty text or list would remove what is there: a strict client has to send
    /// every field.
    Filler,
    /// The text is empty: a filter that is empty by mistake must not mean everything.
    Kept,
}

/// A request by its schema. Made once for each request.
#[derive(Debug, Clone)]
pub struct RequestForm(ObjectForm);

/// The form of a value.
#[derive(Debug, Clone)]
enum ValueForm {
    Text(TextForm),
    Whole,
    Number,
    Flag,
    List(Box<ValueForm>),
    Object(ObjectForm),
    /// One that is left as it is.
    Other,
}

/// The form of a text.
#[derive(Debug, Clone)]
enum TextForm {
    /// One of these.
    Choice(Vec<String>),
    /// An id or a handle.
    Id,
    /// A name.
    Word,
    /// The label of an entity: its type and name.
    Label,
    /// A line: a title.
    Line,
    /// A moment.
    Time,
    /// What its author wants to say.
    Free,
}

/// The fields of an object.
#[derive(Debug, Clone, Default)]
struct ObjectForm(BTreeMap<String, FieldForm>);

#[derive(Debug, Clone)]
struct FieldForm {
    value: ValueForm,
    is_required: bool,
    /// An empty text removes what is there.
    removes: bool,
}

impl RequestForm {
    /// The form of a request with this schema, which has no references.
    #[must_use]
    pub fn of(schema: &Value) -> Self {
        Self(ObjectForm::of(schema))
    }

    /// Reads a request: texts without control characters, other names of fields, `null` and empty texts for what is absent, numbers, lists
    /// and objects as text, choices in any case. To read it again changes nothing.
    #[must_use]
    pub fn read(&self, request: Value, empty: EmptyText) -> Value {
        match self.unwrapped(request) {
            Value::Object(fields) => Value::Object(self.0.read(fields, empty)),
            other => other,
        }
    }

    /// Whether a field is one of a few words.
    #[must_use]
    pub fn is_choice(&self, field: &str) -> bool {
        let form = self.0.0.get(field).map(|field| &field.value);
        matches!(form, Some(ValueForm::Text(TextForm::Choice(_))))
    }

    /// The fields of a request around which another object stands: `{"input": {…}}`.
    fn unwrapped(&self, mut request: Value) -> Value {
        for _ in 0..WRAPPERS_MAX {
            let Some(inner) = request.as_object().and_then(|fields| self.inner(fields)) else {
                break;
            };
            request = Value::Object(inner);
        }
        request
    }

    fn inner(&self, fields: &Map<String, Value>) -> Option<Map<String, Value>> {
        let mut set = fields.iter().filter(|(_, value)| !value.is_null());
        let ((name, value), None) = (set.next()?, set.next()) else { return None };
        if self.0.0.contains_key(name) {
            return None;
        }
        let inner = object_in(value)?;
        let is_known = |name: &String| self.0.declares(name) || self.0.has_field_of(name);
        inner.keys().any(is_known).then_some(inner)
    }
}

impl ObjectForm {
    fn of(schema: &Value) -> Self {
        let required = schema["required"].as_array();
        let is_required =
            |name: &String| required.is_some_and(|names| names.iter().any(|it| it == name));
        let fields = schema["properties"].as_object().into_iter().flatten();
        let fields = fields.map(|(name, schema)| {
            let about = schema["description"].as_str().unwrap_or_default();
            let field = FieldForm {
                value: ValueForm::of(schema),
                is_required: is_required(name),
                removes: about.contains("empty") && about.contains("removes it"),
            };
            (name.clone(), field)
        });
        Self(fields.collect())
    }

    /// Whether a field has this name, however it is written.
    fn declares(&self, name: &str) -> bool {
        self.0.contains_key(name) || self.0.contains_key(&plain_name(name))
    }

    /// Whether a name is another one of a field.
    fn has_field_of(&self, name: &str) -> bool {
        self.fields_of(&plain_name(name)).next().is_some()
    }

    /// The fields that a name in small letters may mean, the likeliest first.
    fn fields_of<'f>(&'f self, name: &'f str) -> impl Iterator<Item = &'f str> + 'f {
        let is_id = |field: &FieldForm| matches!(field.value, ValueForm::Text(TextForm::Id));
        let own = self.0.get_key_value(name).map(|(own, _)| own.as_str());
        let named = name.strip_suffix("_id").filter(|it| self.0.get(*it).is_some_and(is_id));
        let mut ids = self.0.iter().filter(|(_, field)| field.is_required && is_id(field));
        let the_id = match (ids.next(), ids.next()) {
            (Some((id, _)), None) if name == "id" => Some(id.as_str()),
            _ => None,
        };
        let others = fields_of_name(name).map(|field| -> &'f str { field });
        let others = others.filter(move |field| {
            self.0.get(*field).is_some_and(|form| form.is_required || !is_loose_name(name, field))
        });
        own.into_iter().chain(named).chain(the_id).chain(others)
    }

    fn read(&self, fields: Map<String, Value>, empty: EmptyText) -> Map<String, Value> {
        let mut fields = self.without_controls(fields);
        self.lift_fields(&mut fields);
        self.name_fields(&mut fields);
        self.read_private(&mut fields);
        self.move_lists(&mut fields);
        fields.retain(|name, value| match self.0.get(name) {
            // An open end: now is where it ends without one.
            Some(FieldForm { is_required: false, .. })
                if matches!(name.as_str(), "until" | "at") && says_now(value) =>
            {
                false
            }
            Some(field) => !field.is_absent(value, empty),
            None => true,
        });
        for (name, value) in &mut fields {
            if let Some(field) = self.0.get(name) {
                let is_query = name == "query";
                let read = std::mem::take(value);
                let is_free = matches!(field.value, ValueForm::Text(TextForm::Free));
                let read = match is_query || (is_free && name != "text") {
                    true => joined(read, if is_query { " " } else { "\n" }),
                    false => read,
                };
                *value = field.value.read(read, empty);
                if matches!(field.value, ValueForm::Text(TextForm::Time)) {
                    *value = moment_of_day(name, std::mem::take(value));
                }
            }
        }
        fields
    }

    /// The fields without control characters. The lines of a file stay as they are: one of them may be
    /// signed. So does an opaque text.
    fn without_controls(&self, fields: Map<String, Value>) -> Map<String, Value> {
        let is_opaque = is_opaque_memory(&fields);
        let is_whole = |name: &String| {
            is_opaque && name == "text"
                || self.0.get(name).is_some_and(|field| field.value.is_file())
        };
        let plain = |(name, value)| match is_whole(&name) {
            true => (name, value),
            false => (without_control_characters(&name).into_owned(), without_controls(value)),
        };
        fields.into_iter().map(plain).collect()
    }

    /// Gives the fields with other names their own.
    fn name_fields(&self, fields: &mut Map<String, Value>) {
        let others = fields.keys().filter(|name| !self.0.contains_key(*name));
        for other in others.cloned().collect::<Vec<_>>() {
            let Some(value) = fields.get(&other) else { continue };
            let plain = plain_name(&other);
            let lacks = |field: &&str| {
                let several = value.as_str().is_some_and(|text| text.contains(','));
                // Several topics are no name of one: nothing would be found.
                !(*field == "topic" && several)
                    && self.0.get(*field).is_some_and(|form| form.value.may_hold(value))
                    && fields.get(*field).is_none_or(is_nothing)
            };
            let target = self.fields_of(&plain).find(lacks);
            let is_known = self.has_field_of(&other) || names_caller(&plain);
            match target {
                Some(field) if !value.is_null() => {
                    if let Some(value) = fields.shift_remove(&other) {
                        fields.insert(field.to_owned(), value);
                    }
                }
                _ if value.is_null() && is_known => {
                    fields.shift_remove(&other);
                }
                _ => {}
            }
        }
    }

    /// Takes the fields of an object that stands beside others to these: `{"id": …, "updates": {"text": …}}`.
    fn lift_fields(&self, fields: &mut Map<String, Value>) {
        let takes_objects = |name: &str| {
            let fields = self.fields_of(name).filter_map(|field| self.0.get(field));
            fields.into_iter().any(|field| !matches!(field.value, ValueForm::Text(_)))
        };
        let is_known = |name: &String| self.declares(name) || self.has_field_of(name);
        let others = fields.keys().filter(|name| !self.0.contains_key(*name));
        for other in others.cloned().collect::<Vec<_>>() {
            let Some(inner) = fields.get(&other).and_then(object_in) else { continue };
            // An id in an object is the value of a field.
            let is_id = inner.len() == 1 && inner.contains_key("id");
            let is_value = inner.is_empty() || is_id || takes_objects(&plain_name(&other));
            let is_plain =
                !is_value && inner.keys().all(|name| is_known(name) && !fields.contains_key(name));
            if is_plain {
                fields.shift_remove(&other);
                fields.extend(inner);
            }
        }
    }

    /// Reads `private: true` as who may read it.
    fn read_private(&self, fields: &mut Map<String, Value>) {
        for name in ["private", "is_private"] {
            let is_free = !self.0.contains_key(name)
                && self.0.contains_key("sharing")
                && fields.get("sharing").is_none_or(is_nothing);
            let answer = fields.get(name).map(|value| flag(value).unwrap_or_else(|| value.clone()));
            if let (true, Some(Value::Bool(is_private))) = (is_free, answer) {
                fields.shift_remove(name);
                let sharing = if is_private { "private" } else { "shared" };
                fields.insert("sharing".to_owned(), sharing.into());
            }
        }
    }

    /// Several values of a field that takes one, where another field takes several: `id` and `ids`.
    fn move_lists(&self, fields: &mut Map<String, Value>) {
        for (name, field) in &self.0 {
            let (several, ValueForm::Text(_)) = (format!("{name}s"), &field.value) else {
                continue;
            };
            let is_list =
                matches!(self.0.get(&several), Some(FieldForm { value: ValueForm::List(_), .. }));
            let has_several = |value: &Value| value.as_array().is_some_and(|items| items.len() > 1);
            if is_list
                && fields.get(&several).is_none_or(is_nothing)
                && fields.get(name).is_some_and(has_several)
                && let Some(values) = fields.shift_remove(name)
            {
                fields.insert(several, values);
            }
        }
    }
}

impl FieldForm {
    fn is_absent(&self, value: &Value, empty: EmptyText) -> bool {
        let fills = empty == EmptyText::Filler;
        let is_kept = empty == EmptyText::Kept;
        let text = match value {
            Value::String(text) => text,
            Value::Array(items) if items.is_empty() => return fills && !self.is_required,
            // A list of nothing, but for a filter.
            Value::Array(items) => {
                return !self.is_required && !is_kept && items.iter().all(is_blank);
            }
            other => return other.is_null(),
        };
        // What programs write for an absent value.
        let is_null = text == "None"
            || ["null", "undefined"].iter().any(|word| text.trim().eq_ignore_ascii_case(word));
        if self.is_required {
            return false;
        }
        if is_kept {
            return self.value.has_words()
                && (is_null || (text.is_empty() && self.value.is_flag()));
        }
        let is_free = matches!(self.value, ValueForm::Text(TextForm::Free));
        (text.is_empty() && (fills || !self.removes)) || (is_null && !is_free)
    }
}

impl ValueForm {
    fn of(schema: &Value) -> Self {
        let forms = schema["anyOf"].as_array().or_else(|| schema["oneOf"].as_array());
        if let Some(forms) = forms {
            let choices = forms.iter().map(choices_in).collect::<Option<Vec<_>>>();
            if let Some(choices) = choices {
                return Self::Text(TextForm::Choice(choices.concat()));
            }
            let form = forms.iter().find(|form| form["type"] != "null");
            return form.map_or(Self::Other, Self::of);
        }
        if let Some(choices) = choices_in(schema) {
            return Self::Text(TextForm::Choice(choices));
        }
        match one_type(&schema["type"]) {
            Some("string") => Self::Text(TextForm::of(schema)),
            Some("integer") => Self::Whole,
            Some("number") => Self::Number,
            Some("boolean") => Self::Flag,
            Some("array") => Self::List(Box::new(Self::of(&schema["items"]))),
            Some("object") => Self::Object(ObjectForm::of(schema)),
            _ => Self::Other,
        }
    }

    const fn is_flag(&self) -> bool {
        matches!(self, Self::Flag)
    }

    /// Whether its values are a few words, so that any other text is no filter.
    fn has_words(&self) -> bool {
        match self {
            Self::Flag | Self::Text(TextForm::Choice(_)) => true,
            Self::List(item) => matches!(&**item, Self::Text(TextForm::Choice(_))),
            _ => false,
        }
    }

    /// Whether a value under another name can be meant: an id looks like one, and an object is no text.
    fn may_hold(&self, value: &Value) -> bool {
        let is_id = |value: &Value| {
            let id = value.get("id").unwrap_or(value).as_str().map(str::trim);
            id.is_some_and(|text| {
                is_path(text) || !text.is_empty() && !text.contains(char::is_whitespace)
            })
        };
        match (self, value) {
            (Self::Text(TextForm::Id), Value::Array(items)) => items.iter().all(is_id),
            (Self::Text(TextForm::Id), value) => is_id(value),
            (Self::Text(_), Value::Object(_)) => false,
            (Self::Text(form), Value::Array(items)) => {
                items.len() == 1 || matches!(form, TextForm::Free)
            }
            _ => true,
        }
    }

    fn read(&self, value: Value, empty: EmptyText) -> Value {
        match self {
            Self::Text(form) => form.read(value),
            Self::Whole => whole_number(&value).unwrap_or(value),
            Self::Number => number(&value).unwrap_or(value),
            Self::Flag => flag(&value).unwrap_or(value),
            Self::List(item) => item.read_list(value, empty),
            Self::Object(form) => match object_in(&value) {
                Some(fields) => Value::Object(form.read(fields, empty)),
                None => value,
            },
            Self::Other => value,
        }
    }

    /// Whether this is a list of objects of every form, as in a file.
    fn is_file(&self) -> bool {
        let Self::List(item) = self else { return false };
        matches!(&**item, Self::Object(form) if form.0.is_empty())
    }

    /// Reads a list of this form.
    fn read_list(&self, value: Value, empty: EmptyText) -> Value {
        let items = match value {
            Value::Array(items) => items,
            Value::Object(_) if matches!(self, Self::Object(_) | Self::Text(TextForm::Id)) => {
                vec![value]
            }
            Value::String(text) => match (serde_json::from_str(&text), self) {
                (Ok(Value::Array(items)), _) => items,
                (Ok(object @ Value::Object(_)), Self::Object(_)) => vec![object],
                (_, Self::Text(TextForm::Id)) => ids_in(&text),
                (_, Self::Text(TextForm::Choice(_) | TextForm::Word)) => {
                    text.split([';', '\n']).flat_map(list).collect()
                }
                (_, Self::Text(TextForm::Label)) => list(&text).collect(),
                (_, Self::Text(_)) => items_of_lines(&text),
                _ => return Value::String(text),
            },
            other => return other,
        };
        let items = items.into_iter().flat_map(|item| match (self, item) {
            (Self::Text(TextForm::Id), Value::String(text)) if !text.is_empty() => ids_in(&text),
            (Self::Text(_), item) if is_blank(&item) && empty != EmptyText::Kept => Vec::new(),
            (Self::Text(form @ (TextForm::Word | TextForm::Line | TextForm::Free)), item) => {
                vec![form.text_of_item(item)]
            }
            (_, item) => vec![item],
        });
        Value::Array(items.map(|item| self.read(item, empty)).collect())
    }
}

impl TextForm {
    fn of(schema: &Value) -> Self {
        let length = schema["maxLength"].as_u64();
        match length {
            _ if id_kind(schema).is_some() => Self::Id,
            _ if schema["format"] == "date-time" => Self::Time,
            Some(length) if length <= WORD_CHARS => Self::Word,
            Some(length) if length > LINE_CHARS => Self::Free,
            // It has a pattern instead of a length.
            None if schema["pattern"].is_string() => Self::Label,
            _ => Self::Line,
        }
    }

    fn read(&self, value: Value) -> Value {
        let value = match value {
            Value::Array(mut items) if items.len() == 1 && !items[0].is_array() => {
                items.pop().unwrap_or_default()
            }
            other => other,
        };
        match (self, value) {
            (Self::Id, Value::Object(mut fields))
                if fields.get("id").is_some_and(Value::is_string) =>
            {
                fields.shift_remove("id").unwrap_or_default()
            }
            (Self::Id, Value::String(text)) => Value::from(without_sign(bare_id(&text))),
            (Self::Label, Value::Object(fields)) => label_of(fields),
            (Self::Choice(choices), Value::String(text)) => {
                Value::String(choice_in(choices, &text).unwrap_or(text))
            }
            (
                Self::Choice(_) | Self::Word | Self::Label | Self::Line | Self::Time,
                Value::Number(number),
            ) if number.is_u64() => Value::String(number.to_string()),
            (_, value) => value,
        }
    }
}

impl TextForm {
    /// The text of an item that is an object: what it is called, with its other fields behind it.
    fn text_of_item(&self, item: Value) -> Value {
        const ITEM_NAMES: [&str; 18] = [
            "text",
            "step",
            "path",
            "file",
            "name",
            "title",
            "content",
            "description",
            "decision",
            "task",
            "action",
            "item",
            "value",
            "topic",
            "tag",
            "label",
            "filename",
            "summary",
        ];
        let Value::Object(mut fields) = item else { return item };
        let main = ITEM_NAMES.iter().find(|name| fields.get(**name).is_some_and(Value::is_string));
        let is_plain = fields.values().all(|value| !value.is_array() && !value.is_object());
        fields.retain(|_, value| !value.is_null());
        // A name has no room for more.
        let fits = fields.len() == 1 || !matches!(self, Self::Word);
        let Some(main) = main.filter(|_| is_plain && fits) else { return Value::Object(fields) };
        let main = fields.shift_remove(*main).unwrap_or_default();
        let main = main.as_str().unwrap_or_default();
        let rest = fields.iter().map(|(name, value)| match value {
            Value::String(text) => format!("{name}: {text}"),
            value => format!("{name}: {value}"),
        });
        let rest = rest.collect::<Vec<_>>().join(", ");
        if rest.is_empty() { main.into() } else { format!("{main} ({rest})").into() }
    }
}

/// The label of an entity that has other names for its fields: `{"name": "Redis", "type": "tool"}`.
fn label_of(mut fields: Map<String, Value>) -> Value {
    for (field, others) in
        [("value", ["name", "entity", "label"]), ("type", ["entity_type", "entityType", "kind"])]
    {
        let other =
            others.into_iter().find(|other| fields.get(*other).is_some_and(Value::is_string));
        if let Some(other) = other.filter(|_| !fields.contains_key(field))
            && let Some(value) = fields.shift_remove(other)
        {
            fields.insert(field.to_owned(), value);
        }
    }
    Value::Object(fields)
}

/// Whether an item of a list says nothing.
fn is_blank(item: &Value) -> bool {
    item.is_null() || item.as_str().is_some_and(|text| text.trim().is_empty())
}

fn says_now(value: &Value) -> bool {
    value.as_str().is_some_and(|text| {
        ["now", "present"].iter().any(|now| text.trim().eq_ignore_ascii_case(now))
    })
}

/// The ids of a text: between blanks or commas, in brackets or not.
fn ids_in(text: &str) -> Vec<Value> {
    if is_path(text) {
        return vec![Value::from(text)];
    }
    let ids = text.split(|letter: char| letter.is_whitespace() || matches!(letter, ',' | ';'));
    ids.map(bare_id).filter(|id| !id.is_empty()).map(Value::from).collect()
}

/// Whether a text in the place of an id is the path of a memory, which can hold any letter.
fn is_path(text: &str) -> bool {
    text.starts_with('/') || text.contains(":/")
}

/// An id without the marks in which models write it: `[#a]`, `` `#a` ``.
fn bare_id(text: &str) -> &str {
    if is_path(text) {
        return text;
    }
    text.trim_matches(|letter: char| {
        letter.is_whitespace()
            || matches!(letter, '[' | ']' | '(' | ')' | '<' | '>' | '`' | '"' | '\'' | ',')
    })
}

/// Whether a time in a field of this name, or behind an operator of this name, means the end of a day, a month
/// or a year.
#[must_use]
pub fn means_end(field: &str) -> bool {
    matches!(field, "until" | "at" | "valid_until")
}

/// The first or the last moment of a day, in UTC, where a moment belongs; else the value as it is.
fn moment_of_day(field: &str, value: Value) -> Value {
    let day = value
        .as_str()
        .and_then(|text| text.trim().parse::<Date>().ok().filter(|_| text.trim().len() == 10));
    let moment = day.and_then(|day| {
        let moment = match means_end(field) {
            true => day.to_datetime(Time::MAX),
            false => day.to_datetime(Time::MIN),
        };
        Some(moment.to_zoned(TimeZone::UTC).ok()?.timestamp())
    });
    moment.map_or(value, |moment| moment.to_string().into())
}

/// A whole id without the `#` of handles.
fn without_sign(id: &str) -> &str {
    id.strip_prefix('#').filter(|rest| rest.contains('_')).unwrap_or(id)
}

/// The choices of a schema that has nothing else.
fn choices_in(schema: &Value) -> Option<Vec<String>> {
    if let Some(choice) = schema["const"].as_str() {
        return Some(vec![choice.to_owned()]);
    }
    if schema["type"] == "null" {
        return Some(Vec::new());
    }
    let forms = schema["oneOf"].as_array();
    if let Some(forms) = forms {
        return forms.iter().map(choices_in).collect::<Option<Vec<_>>>().map(|all| all.concat());
    }
    let choices = schema["enum"].as_array()?;
    Some(choices.iter().filter_map(|choice| choice.as_str().map(str::to_owned)).collect())
}

/// The one type of a value beside `null`.
fn one_type(types: &Value) -> Option<&str> {
    match types {
        Value::String(name) => Some(name),
        Value::Array(names) => {
            let mut names = names.iter().filter_map(Value::as_str).filter(|name| *name != "null");
            let name = names.next()?;
            names.next().is_none().then_some(name)
        }
        _ => None,
    }
}

/// The choice that a text means, in any case and with another separator.
fn choice_in(choices: &[String], text: &str) -> Option<String> {
    let plain = plain_name(text);
    let is_same =
        |choice: &&String| plain_name(choice) == plain || choice.eq_ignore_ascii_case(text);
    let found = choices.iter().find(is_same);
    let other = || {
        let choice = choice_of_word(&plain)?;
        choices.iter().find(|known| *known == choice)
    };
    found.or_else(other).cloned()
}

/// An object, or a text that is one in JSON.
fn object_in(value: &Value) -> Option<Map<String, Value>> {
    match value {
        Value::Object(fields) => Some(fields.clone()),
        Value::String(text) if text.trim_start().starts_with('{') => {
            serde_json::from_str(text).ok()
        }
        _ => None,
    }
}

/// The whole number in `"3"`, `3.0` and `"3.0"`.
fn whole_number(value: &Value) -> Option<Value> {
    let number = match value {
        Value::String(text) => match text.trim().parse::<i64>() {
            Ok(whole) => return Some(whole.into()),
            Err(_) => decimal(text)?,
        },
        Value::Number(number) if number.is_f64() => number.as_f64()?,
        _ => return None,
    };
    // Beyond it a decimal no longer says which whole number it is.
    let is_exact = number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_992.0;
    is_exact.then(|| format!("{number:.0}").parse::<i64>().ok()).flatten().map(Value::from)
}

fn number(value: &Value) -> Option<Value> {
    let Value::String(text) = value else { return None };
    serde_json::Number::from_f64(decimal(text)?).map(Value::Number)
}

/// A decimal number as JSON has it: no `inf`, no `1_000`.
fn decimal(text: &str) -> Option<f64> {
    serde_json::from_str::<f64>(text.trim()).ok()
}

fn flag(value: &Value) -> Option<Value> {
    let text = match value {
        Value::String(text) => text.trim().to_ascii_lowercase(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    match text.as_str() {
        "true" | "yes" | "1" => Some(true.into()),
        "false" | "no" | "0" => Some(false.into()),
        _ => None,
    }
}

/// Several texts as one: a search takes words in any number, a task lines.
fn joined(value: Value, separator: &str) -> Value {
    let texts = value.as_array().filter(|items| !items.is_empty());
    let texts = texts.and_then(|items| items.iter().map(Value::as_str).collect::<Option<Vec<_>>>());
    let text = texts.map(|texts| Value::String(texts.join(separator)));
    text.unwrap_or(value)
}

/// The items of a text for a list of sentences: its lines without their marks; of one line, words between
/// commas if it has nothing but words.
fn items_of_lines(text: &str) -> Vec<Value> {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    match lines.as_slice() {
        [line] => match list(line).all(|item| !item.as_str().is_some_and(|it| it.contains(' '))) {
            true => list(line).collect(),
            false => vec![Value::from(*line)],
        },
        lines => lines.iter().map(|line| Value::from(without_mark(line))).collect(),
    }
}

/// A line without the mark of a list: `- `, `* `, `2. `, `2) `.
fn without_mark(line: &str) -> &str {
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = digits.strip_prefix(". ").or_else(|| digits.strip_prefix(") "));
    let numbered = numbered.filter(|_| digits.len() < line.len());
    let marked = ["- ", "* ", "• "].into_iter().find_map(|mark| line.strip_prefix(mark));
    numbered.or(marked).unwrap_or(line).trim_start()
}

/// What serde says of an unknown field, with what may have been meant before the fields that there are;
/// `None` of another reason, and where nothing is near.
pub(super) fn with_near_field(reason: &str) -> Option<String> {
    let (_, rest) = reason.split_once("unknown field `")?;
    let (unknown, expected) = rest.split_once('`')?;
    let known: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
    let plain = plain_name(unknown);
    let own = known.iter().copied().find(|name| *name == plain);
    let other = fields_of_name(&plain).chain(hinted_field(&plain));
    let mut other = other.filter(|field| known.contains(field));
    let near = own.or_else(|| other.next()).or_else(|| nearest_name(&plain, &known));
    let expected = expected.trim_start_matches([',', ' ']);
    let advice = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None if names_caller(&plain) => {
            "leave it out: the server knows who calls, and where".to_owned() + "."
        }
        None => return None,
    };
    let mut letters = expected.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
    Some(format!("unknown field `{unknown}`: {advice} {first}{}", letters.as_str()))
}

#[cfg(test)]
mod tests;
