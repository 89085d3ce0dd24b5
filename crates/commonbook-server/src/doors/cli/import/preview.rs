//! The preview of an import: what its lines would become, counted, and nothing written.

use std::collections::BTreeMap;

use commonbook::base::clock::{Clock, SystemClock};
use commonbook::base::error::{Error, Result};
use commonbook::base::home_key::HomeKey;
use commonbook::base::id::{MemoryId, RandomIds};
use commonbook::model::agent::Agent;
use commonbook::model::caller::Caller;
use commonbook::model::import::{ImportLine, ImportPreview, SourceFate, UnaskedText};
use commonbook::model::memory::{Sharing, Trust};
use commonbook::model::origin::TextOrigin;
use commonbook::model::workspace::Workspace;
use commonbook_formats::Omission;
use commonbook_text::sanitize::quote_lines;
use serde_json::{Value, json};

use super::count::LineCount;
use super::source::{ImportSource, LinePlace, SourceLine};
use super::{
    IMPORT_CHUNK_LINES, REPORTED_LINES_MAX, bad_json, is_header, left_out_json, print_bad,
    print_left_out, print_unknown_statuses,
};
use crate::calls::output;

/// Lines that are shown.
const SHOWN_LINES_MAX: usize = 5;
/// Characters of a shown line.
const SHOWN_CHARS_MAX: usize = 100;

/// What the lines so far would become.
#[derive(Default)]
pub(super) struct PreviewTally {
    lines: u64,
    by_kind: BTreeMap<String, u64>,
    by_owner: BTreeMap<String, u64>,
    shared: u64,
    private: u64,
    /// Memories that come in archived or superseded.
    not_current: u64,
    untrusted: u64,
    quarantined: u64,
    shown: Vec<(LinePlace, ImportPreview)>,
    /// Every text that agents would be told without asking.
    unasked: Vec<(LinePlace, UnaskedText)>,
    left_out: Vec<Omission>,
    /// Lines that do not stand in their source any more, each with the reason.
    gone: Vec<(LinePlace, String)>,
    unknown_statuses: BTreeMap<String, u64>,
    headers: u64,
    bad: Vec<(LinePlace, Error)>,
    ids: RandomIds,
}

/// How each line is previewed.
pub(super) struct LinePreview<'p> {
    pub caller: &'p Caller,
    pub into: Option<&'p Workspace>,
    /// The owner of lines without one.
    pub owner: Option<&'p Agent>,
    /// The key of this home.
    pub key: Option<&'p HomeKey>,
    /// Who may read a memory that does not say it.
    pub default_sharing: Sharing,
    /// Whether every memory is private.
    pub is_private: bool,
}

impl LinePreview<'_> {
    fn line(&self, value: Value, origin: TextOrigin) -> Result<ImportLine> {
        let line = SourceLine::parse(value, origin, self.key)?.or_owner(self.owner);
        Ok(if self.is_private { line.into_private() } else { line })
    }

    fn memory(&self, line: ImportLine, ids: &RandomIds) -> Result<ImportPreview> {
        let now = SystemClock.now();
        let id = MemoryId::new(ids, now);
        line.preview(self.into, self.caller, self.default_sharing, id, now)
    }
}

impl PreviewTally {
    /// Reads all lines of a source.
    ///
    /// # Errors
    /// `invalid` if the source cannot be read.
    pub(super) fn read(&mut self, source: &mut ImportSource, preview: &LinePreview) -> Result<()> {
        loop {
            let chunk = source.next_chunk(IMPORT_CHUNK_LINES)?;
            self.left_out.extend(source.take_left_out());
            if chunk.is_empty() {
                return Ok(());
            }
            for SourceLine { place, value, origin } in chunk {
                match value.and_then(|value| preview.line(value, origin)) {
                    Ok(line) => self.read_line(place, line, preview)?,
                    Err(error) => self.bad.push((place, error)),
                }
            }
        }
    }

    fn read_line(
        &mut self,
        place: LinePlace,
        line: ImportLine,
        preview: &LinePreview,
    ) -> Result<()> {
        if let ImportLine::Record(record) = &line
            && is_header(record)?
        {
            self.headers += 1;
            return Ok(());
        }
        let state = line.source_state().cloned().unwrap_or_default();
        if let Some(reason) = state.left_out() {
            self.gone.push((place, reason));
            return Ok(());
        }
        match preview.memory(line, &self.ids) {
            Ok(line) => {
                self.not_current += u64::from(state.fate != SourceFate::Current);
                if let Some(status) = state.unknown_status {
                    *self.unknown_statuses.entry(status).or_default() += 1;
                }
                self.count(place, line);
            }
            Err(error) => self.bad.push((place, error)),
        }
        Ok(())
    }

    fn count(&mut self, place: LinePlace, line: ImportPreview) {
        self.lines += 1;
        *self.by_kind.entry(line.kind.clone()).or_default() += 1;
        if let Some(owner) = &line.owner {
            *self.by_owner.entry(owner.to_string()).or_default() += 1;
        }
        self.shared += u64::from(line.sharing == Some(Sharing::Shared));
        self.private += u64::from(line.sharing == Some(Sharing::Private));
        self.untrusted += u64::from(line.trust == Some(Trust::Untrusted));
        self.quarantined += u64::from(line.trust == Some(Trust::Quarantined));
        self.unasked.extend(line.unasked.iter().map(|told| (place.clone(), told.clone())));
        if self.shown.len() < SHOWN_LINES_MAX {
            self.shown.push((place, line));
        }
    }

    /// How many lines the source has found, and how many of them would be imported, left out and refused.
    fn line_count(&self, source: &ImportSource) -> LineCount {
        let by_reader: u64 = self.left_out.iter().map(|omission| omission.rows).sum();
        LineCount {
            found: source.found() - self.headers,
            imported: self.lines,
            left_out: by_reader + self.gone.len() as u64,
            refused: self.bad.len() as u64,
        }
    }

    pub(super) fn print_as_json(&self, source: &ImportSource) {
        let first = self.shown.iter().map(|(place, line)| {
            place.report(json!({"kind": line.kind, "owner": line.owner, "text": line.text}))
        });
        let unasked = self
            .unasked
            .iter()
            .map(|(place, told)| place.report(json!({"text": told.text, "reason": told.reason})));
        output::print_json(&json!({
            "dry_run": true,
            "format": source.format_name().unwrap_or("jsonl"),
            "lines": self.lines,
            "by_kind": self.by_kind,
            "by_owner": self.by_owner,
            "shared": self.shared,
            "private": self.private,
            "not_current": self.not_current,
            "untrusted": self.untrusted,
            "quarantined": self.quarantined,
            "first": first.collect::<Vec<Value>>(),
            "unasked": unasked.collect::<Vec<Value>>(),
            "left_out": left_out_json(&self.left_out, &self.gone),
            "unknown_statuses": self.unknown_statuses,
            "not_read": source.unread().report(),
            "not_utf8": source.replaced(),
            "messages_read": source.messages_read(),
            "own": source.own_lines(),
            "counts": self.line_count(source).report(),
            "bad": bad_json(&self.bad),
        }));
    }

    pub(super) fn print_in_words(&self, source: &ImportSource) {
        print_left_out(&self.left_out, &self.gone);
        print_unknown_statuses(&self.unknown_statuses);
        source.print_reading();
        print_bad(&self.bad);
        for (place, line) in &self.shown {
            let text = line.text.split_whitespace().collect::<Vec<_>>().join(" ");
            let text: String = text.chars().take(SHOWN_CHARS_MAX).collect();
            output::print_line(&format!("{place}: {}: {text}", line.kind));
        }
        for (place, UnaskedText { text, reason }) in &self.unasked {
            output::print_line(&format!("{place}: told unasked: {reason}:"));
            output::print_line(&quote_lines(text, usize::MAX));
        }
        let listed = |counts: &BTreeMap<String, u64>| {
            let mut counts: Vec<(&String, &u64)> = counts.iter().collect();
            counts.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
            let shown = counts.iter().take(REPORTED_LINES_MAX);
            let mut shown: Vec<String> =
                shown.map(|(name, count)| format!("{count} {name}")).collect();
            if counts.len() > REPORTED_LINES_MAX {
                shown.push(format!("{} more", counts.len() - REPORTED_LINES_MAX));
            }
            shown.join(", ")
        };
        if self.lines > 0 {
            output::print_line(&format!("by kind:  {}", listed(&self.by_kind)));
        }
        if !self.by_owner.is_empty() {
            output::print_line(&format!("by owner: {}", listed(&self.by_owner)));
        }
        let lines = output::count_text(self.lines, "line", "lines");
        output::print_line(&format!(
            "{lines} would be imported ({} shared, {} private, {} not current, {} untrusted, {} quarantined), {} not; nothing was written",
            self.shared,
            self.private,
            self.not_current,
            self.untrusted,
            self.quarantined,
            self.bad.len()
        ));
        self.line_count(source).print("would be imported");
    }

    /// The lines that would be imported.
    pub(super) const fn lines(&self) -> u64 {
        self.lines
    }

    /// The lines that would not be imported.
    pub(super) const fn bad(&self) -> usize {
        self.bad.len()
    }
}
