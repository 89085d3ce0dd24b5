//! Receiving: what happens to a memory before anything keeps it. Secrets are taken out, and what
//! gives orders to other agents is set apart.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Memory, Trust};
use crate::error::{Error, Result};
use crate::quarantine::{self, Reason};
use crate::{input, limits, secret};

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
    if let Some(reason) = quarantine::reasons(text).first() {
        return Err(Error::invalid(field, "this reads like an order to other agents")
            .hint(format!("Say what it is about. {}", reason.sentence())));
    }
    Ok(secret::redact(text).text.chars().take(chars).collect())
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
        if before.is_none_or(|before| before.said() != self.said()) {
            self.judge();
        }
        Ok(())
    }

    fn redact(&mut self) {
        let mut found: Vec<String> = Vec::new();
        let mut clean = |text: &mut String, chars: usize| {
            let redacted = secret::redact(text);
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
        for (name, value) in &mut self.metadata {
            redact_value(name, value, &mut clean);
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
        let mut suspicions: Vec<Reason> =
            self.said().into_iter().flat_map(quarantine::reasons).collect();
        suspicions.sort_unstable();
        suspicions.dedup();
        self.suspicions = suspicions;
        self.trust = match (self.suspicions.is_empty(), self.trust) {
            (false, _) => Trust::Quarantined,
            (true, Trust::Quarantined) => Trust::Normal,
            (true, trust) => trust,
        };
    }

    /// Every text in it that a reader is told.
    fn said(&self) -> Vec<&str> {
        let heads = self.title.iter().chain(&self.summary).chain(&self.topics);
        let named = self.entities.iter().map(|named| &named.value);
        let mut said: Vec<&str> =
            heads.chain([&self.text]).chain(named).map(String::as_str).collect();
        self.metadata.iter().for_each(|(name, value)| {
            said.push(name);
            texts(value, &mut said);
        });
        said
    }

    /// Whether it waits until somebody has looked at it.
    #[must_use]
    pub fn is_quarantined(&self) -> bool {
        self.trust == Trust::Quarantined
    }

    /// Why it was set apart, in sentences.
    pub fn reasons(&self) -> impl Iterator<Item = &'static str> {
        self.suspicions.iter().copied().map(Reason::sentence)
    }
}

/// Takes secrets out of a value of metadata; its name may be what gives it away.
fn redact_value(name: &str, value: &mut Value, clean: &mut impl FnMut(&mut String, usize)) {
    match value {
        Value::String(text) => {
            let before = format!("{name}: ");
            let mut named = format!("{before}{text}");
            clean(&mut named, usize::MAX);
            // A rule may take the name along with its value.
            *text = named.strip_prefix(&before).unwrap_or(&named).to_owned();
        }
        Value::Array(values) => {
            values.iter_mut().for_each(|value| redact_value(name, value, clean));
        }
        Value::Object(fields) => {
            fields.iter_mut().for_each(|(name, value)| redact_value(name, value, clean));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Every text in a value of metadata.
fn texts<'v>(value: &'v Value, all: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => all.push(text),
        Value::Array(values) => values.iter().for_each(|value| texts(value, all)),
        Value::Object(fields) => fields.iter().for_each(|(name, value)| {
            all.push(name);
            texts(value, all);
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
