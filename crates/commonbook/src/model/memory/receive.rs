//! Receiving: what happens to a memory before anything keeps it. Secrets are taken out, and what
//! gives orders to other agents is set apart.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::Value;

use super::{Memory, Trust};
use crate::base::error::{Error, Result};
use crate::base::{input, limits};
use commonbook_text::injection::{self, InjectionReason};
use commonbook_text::secrets;

/// A line that everybody is told beside memories, a title say: without secrets, and nothing that
/// gives orders to agents.
///
/// # Errors
/// `invalid` and `too_large` with the field.
pub fn fit_line(field: &str, text: &str, chars: usize) -> Result<String> {
    fit_text(field, &input::line(field, text, chars)?, chars)
}

/// A text that others are told beside memories, of at most `chars` characters: without secrets, and
/// nothing that gives orders to agents.
///
/// # Errors
/// `invalid` with the field.
pub fn fit_text(field: &str, text: &str, chars: usize) -> Result<String> {
    if let Some(reason) = injection::reasons(text).first() {
        return Err(Error::invalid(field, "this reads like an order to other agents")
            .hint(format!("Say what it is about. {}", reason.sentence())));
    }
    Ok(secrets::redact(text).text.chars().take(chars).collect())
}

impl Memory {
    /// Makes a memory fit to be kept, or what it has become of `before`: checks its limits, takes
    /// out secrets, and judges what is new of it.
    ///
    /// # Errors
    /// As [`Memory::check`].
    pub fn receive(&mut self, before: Option<&Self>) -> Result<()> {
        self.check()?;
        self.redact();
        if before.is_none_or(|before| before.reader_text() != self.reader_text()) {
            self.judge();
        }
        if before.is_none() || !self.is_quarantined() {
            self.review = None;
        }
        Ok(())
    }

    fn redact(&mut self) {
        let mut found: Vec<String> = Vec::new();
        let mut clean = |text: &mut String, chars: usize| {
            let redacted = secrets::redact(text);
            if redacted.found.is_empty() {
                return;
            }
            found.extend(redacted.found.iter().map(|finding| finding.rule.to_owned()));
            // What stands for a secret may be longer than the secret was.
            *text = redacted.text.chars().take(chars).collect();
        };
        clean(&mut self.text, usize::MAX);
        self.title.iter_mut().for_each(|title| clean(title, limits::TITLE_CHARS));
        self.summary.iter_mut().for_each(|summary| clean(summary, limits::SUMMARY_CHARS));
        self.topics.iter_mut().for_each(|topic| clean(topic, limits::TOPIC_CHARS));
        self.entities.iter_mut().for_each(|it| clean(&mut it.value, limits::ENTITY_VALUE_CHARS));
        let mut metadata = Value::Object(std::mem::take(&mut self.metadata));
        secrets::redact_value(&mut Vec::new(), &mut metadata, &mut found);
        if let Value::Object(metadata) = metadata {
            self.metadata = metadata;
        }
        for rule in found {
            if !self.redacted.contains(&rule) {
                self.redacted.push(rule);
            }
        }
        // Two secrets may have become the same topic.
        let mut seen = BTreeSet::new();
        self.topics.retain(|topic| seen.insert(topic.to_lowercase()));
    }

    fn judge(&mut self) {
        self.suspicions = injection::reasons(&self.reader_text());
        self.trust = match (self.suspicions.is_empty(), self.trust) {
            (false, _) => Trust::Quarantined,
            (true, Trust::Quarantined) => Trust::Normal,
            (true, trust) => trust,
        };
    }

    /// Sets it apart when it gives orders together with what its author kept just before, the oldest
    /// first, and not by itself.
    pub fn judge_after(&mut self, earlier: &[Self]) {
        let plain = |memory: &&Self| memory.suspicions.is_empty();
        let ends = earlier.iter().filter(plain).map(|memory| {
            let mut said = memory.reader_text();
            if let Some((place, _)) = said.char_indices().rev().nth(limits::SPLIT_CHARS - 1) {
                said.drain(..place);
            }
            said
        });
        let before = ends.collect::<Vec<_>>().join("\n");
        if before.is_empty() || self.is_quarantined() {
            return;
        }
        let mut beginning = self.reader_text();
        if let Some((place, _)) = beginning.char_indices().nth(limits::SPLIT_CHARS) {
            beginning.truncate(place);
        }
        // This runs in the transaction of each save: what is encoded in several parts is not looked for.
        let together = injection::joint_reasons(&format!("{before}\n{beginning}"));
        if together.is_empty() {
            return;
        }
        let alone = injection::joint_reasons(&before);
        if together.iter().any(|reason| !alone.contains(reason)) {
            self.trust = Trust::Quarantined;
            self.suspicions = vec![InjectionReason::Split];
        }
    }

    /// All that a reader is told of it, joined as it is told: an order may begin in the title and
    /// end in the text.
    fn reader_text(&self) -> String {
        let mut parts: Vec<Cow<'_, str>> = Vec::new();
        if !self.memory_type.is_known() {
            // An author's own type can hold a sentence.
            parts.push(Cow::from(self.memory_type.as_str().replace(['-', '_', '.'], " ")));
        }
        parts.extend(self.title.as_deref().map(Cow::from));
        parts.push(Cow::from(&self.text));
        if let Some(value) = parse_json_text(&self.text) {
            parts.push(Cow::from(flatten_json(&value)));
        }
        if let Some(summary) = self.summary.as_deref() {
            // A long text is told by its beginning and its summary, a short one without.
            parts.extend(self.title.as_deref().map(Cow::from));
            parts.push(Cow::from(summary));
        }
        if !self.topics.is_empty() {
            parts.push(Cow::from(format!("topics: {}", self.topics.join(" "))));
        }
        parts.extend(self.entities.iter().map(|named| Cow::from(&named.value)));
        if !self.metadata.is_empty() {
            let mut told = String::new();
            self.metadata.iter().for_each(|(name, value)| append_value(name, value, &mut told));
            parts.push(Cow::from(told));
        }
        parts.join("\n")
    }

    /// Whether it waits until somebody has looked at it.
    #[must_use]
    pub fn is_quarantined(&self) -> bool {
        self.trust == Trust::Quarantined
    }

    /// Why it was set apart, in sentences.
    pub fn reasons(&self) -> impl Iterator<Item = &'static str> {
        self.suspicions.iter().copied().map(InjectionReason::sentence)
    }
}

/// The JSON object or list that a text is.
fn parse_json_text(text: &str) -> Option<Value> {
    let text = text.trim();
    let holds = text.starts_with(['{', '[']) && text.ends_with(['}', ']']);
    serde_json::from_str(text).ok().filter(|_| holds)
}

/// A value of JSON as it is told: its names and texts, a line each.
fn flatten_json(value: &Value) -> String {
    let mut told = String::new();
    append_value("", value, &mut told);
    told
}

fn append_value(name: &str, value: &Value, told: &mut String) {
    match value {
        Value::String(text) => {
            if !name.is_empty() {
                told.push_str(name);
                told.push_str(": ");
            }
            told.push_str(text);
            told.push('\n');
        }
        Value::Array(values) => values.iter().for_each(|value| append_value(name, value, told)),
        Value::Object(fields) => {
            if !name.is_empty() {
                told.push_str(name);
                told.push('\n');
            }
            fields.iter().for_each(|(name, value)| append_value(name, value, told));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {
            told.push_str(name);
            told.push('\n');
        }
    }
}
