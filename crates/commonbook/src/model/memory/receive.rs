//! Receiving: every memory passes here before it is stored. Removes secrets and quarantines orders
//! to other agents.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::Value;

use super::{Memory, Trust};
use crate::base::error::{Error, Result};
use crate::base::{input, limits};
use commonbook_text::injection::{self, InjectionReason};
use commonbook_text::secrets;

/// Checks a line that every agent sees beside memories, such as a title: removes secrets, refuses
/// orders to agents.
///
/// # Errors
/// `invalid` or `too_large`, with the field.
pub fn fit_line(field: &str, text: &str, chars: usize) -> Result<String> {
    fit_text(field, &input::line(field, text, chars)?, chars)
}

/// Checks a text of at most `chars` characters that other agents see beside memories: removes
/// secrets, refuses orders to agents.
///
/// # Errors
/// `invalid`, with the field.
pub fn fit_text(field: &str, text: &str, chars: usize) -> Result<String> {
    if let Some(reason) = injection::reasons(text).first() {
        return Err(Error::invalid(field, "reads like an order to other agents")
            .hint(format!("Describe the subject instead. {}", reason.sentence())));
    }
    Ok(secrets::redact(text).text.chars().take(chars).collect())
}

impl Memory {
    /// Prepares a new memory, or a changed one with its state `before`, for storage: checks the
    /// limits, removes secrets, and judges the new text for orders to agents.
    ///
    /// # Errors
    /// As [`Memory::check`].
    pub fn receive(&mut self, before: Option<&Self>) -> Result<()> {
        self.check()?;
        before.map_or(Ok(()), |before| self.check_opacity(before))?;
        self.redact();
        if before.is_none_or(|before| before.reader_text() != self.reader_text()) {
            self.judge();
        }
        if before.is_none() {
            self.review = None;
        }
        Ok(())
    }

    fn redact(&mut self) {
        let is_opaque = self.is_opaque();
        let mut found: Vec<String> = Vec::new();
        let mut clean = |text: &mut String, chars: usize| {
            let redacted = secrets::redact(text);
            if redacted.found.is_empty() {
                return;
            }
            found.extend(redacted.found.iter().map(|finding| finding.rule.to_owned()));
            // The mark in place of a secret can be longer than the secret.
            *text = redacted.text.chars().take(chars).collect();
        };
        if !is_opaque {
            clean(&mut self.text, usize::MAX);
        }
        self.title.iter_mut().for_each(|title| clean(title, limits::TITLE_CHARS));
        self.summary.iter_mut().for_each(|summary| clean(summary, limits::SUMMARY_CHARS));
        self.topics.iter_mut().for_each(|topic| clean(topic, limits::TOPIC_CHARS));
        self.entities
            .iter_mut()
            .for_each(|entity| clean(&mut entity.value, limits::ENTITY_VALUE_CHARS));
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
        // Two different secrets become the same topic.
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

    /// Quarantines the memory if it gives orders only together with what its author saved before
    /// (`earlier`, oldest first): with all of it, or with one of it, so that a harmless memory between two
    /// parts does not separate them.
    pub fn judge_after<'m>(&mut self, earlier: impl Iterator<Item = &'m Self>) {
        if self.is_quarantined() {
            return;
        }
        let plain = |memory: &&Self| memory.suspicions.is_empty();
        let ends: Vec<String> = earlier.filter(plain).map(Self::reader_text_end).collect();
        let mut beginning = self.reader_text();
        if let Some((place, _)) = beginning.char_indices().nth(limits::SPLIT_CHARS) {
            beginning.truncate(place);
        }
        // This runs in the transaction of every save, so it does not decode text that is spread
        // over several memories.
        let completes = |before: &str| {
            let together = injection::joint_reasons(&format!("{before}\n{beginning}"));
            if together.is_empty() {
                return false;
            }
            let alone = injection::joint_reasons(before);
            together.iter().any(|reason| !alone.contains(reason))
        };
        let whole = (ends.len() > 1).then(|| ends.join("\n"));
        if ends.iter().chain(&whole).any(|before| completes(before)) {
            self.trust = Trust::Quarantined;
            self.suspicions = vec![InjectionReason::Split];
        }
    }

    /// The end of what a reader sees of the memory.
    fn reader_text_end(&self) -> String {
        let mut end = self.reader_text();
        if let Some((place, _)) = end.char_indices().rev().nth(limits::SPLIT_CHARS - 1) {
            end.drain(..place);
        }
        end
    }

    /// Everything a reader sees of the memory, joined in that order: an order may begin in the
    /// title and end in the text.
    fn reader_text(&self) -> String {
        let mut parts: Vec<Cow<'_, str>> = Vec::new();
        if !self.memory_type.is_known() {
            // A type that an author made up can hold a sentence.
            parts.push(Cow::from(self.memory_type.as_str().replace(['-', '_', '.'], " ")));
        }
        if let Some(path) = &self.path {
            // The names in a path can make a sentence, too.
            parts.push(Cow::from(path.as_str().replace(['/', '-', '_', '.'], " ")));
        }
        parts.extend(self.title.as_deref().map(Cow::from));
        // No reader sees the text of an opaque document.
        let text = if self.is_opaque() { "" } else { self.text.as_str() };
        parts.push(Cow::from(text));
        if let Some(value) = parse_json_text(text) {
            parts.push(Cow::from(flatten_json(&value)));
        }
        if let Some(summary) = self.summary.as_deref() {
            // Readers see the beginning and the summary of a long text; a short text without its
            // summary.
            parts.extend(self.title.as_deref().map(Cow::from));
            parts.push(Cow::from(summary));
        }
        if !self.topics.is_empty() {
            parts.push(Cow::from(format!("topics: {}", self.topics.join(" "))));
        }
        parts.extend(self.entities.iter().map(|named| Cow::from(&named.value)));
        if !self.metadata.is_empty() {
            let mut values = String::new();
            self.metadata.iter().for_each(|(name, value)| append_value(name, value, &mut values));
            parts.push(Cow::from(values));
        }
        parts.join("\n")
    }

    /// Lowers the trust of a normal memory: nobody of this home has reviewed it.
    pub fn distrust(&mut self) {
        if self.trust == Trust::Normal {
            self.trust = Trust::Untrusted;
        }
    }

    /// What a reader must know of its origin: that it is quarantined or not trusted, or that a file brought it.
    #[must_use]
    pub fn origin_note(&self) -> Option<&'static str> {
        self.trust.origin_note(self.source.how)
    }

    /// Whether it waits for a person's review.
    #[must_use]
    pub fn is_quarantined(&self) -> bool {
        self.trust == Trust::Quarantined
    }

    /// Why it was quarantined, in sentences.
    pub fn reasons(&self) -> impl Iterator<Item = &'static str> {
        self.suspicions.iter().copied().map(InjectionReason::sentence)
    }
}

/// Parses a text that is a JSON object or array.
fn parse_json_text(text: &str) -> Option<Value> {
    let text = text.trim();
    let holds = text.starts_with(['{', '[']) && text.ends_with(['}', ']']);
    serde_json::from_str(text).ok().filter(|_| holds)
}

/// A JSON value as lines of text: its keys and strings.
fn flatten_json(value: &Value) -> String {
    let mut lines = String::new();
    append_value("", value, &mut lines);
    lines
}

fn append_value(name: &str, value: &Value, lines: &mut String) {
    match value {
        Value::String(text) => {
            if !name.is_empty() {
                lines.push_str(name);
                lines.push_str(": ");
            }
            lines.push_str(text);
            lines.push('\n');
        }
        Value::Array(values) => values.iter().for_each(|value| append_value(name, value, lines)),
        Value::Object(fields) => {
            if !name.is_empty() {
                lines.push_str(name);
                lines.push('\n');
            }
            fields.iter().for_each(|(name, value)| append_value(name, value, lines));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {
            lines.push_str(name);
            lines.push('\n');
        }
    }
}
