//! Cases as people read them.

use commonbook::base::page::Page;
use commonbook::model::case::digest::Digested;
use commonbook::model::case::{
    Appended, Case, CaseContext, CaseEntries, CaseOutcome, Entry, EntryKind, OpenedCase,
};
use serde_json::Value;

use super::show::{set_apart, show, table};
use crate::output::{line, note};

pub(super) fn opened(answer: &Value) {
    show(answer, |opened: &OpenedCase| {
        let outcome = match opened.outcome {
            CaseOutcome::Opened => "Opened",
            CaseOutcome::Found => "Found",
        };
        line(&format!("{outcome} {}", told(&opened.case)));
    });
}

pub(super) fn digested(answer: &Value) {
    show(answer, |digested: &Digested| {
        if digested.proposed.is_empty() {
            line("The case has all of it");
            return;
        }
        for one in &digested.proposed {
            let authors: Vec<String> = one.authors.iter().map(ToString::to_string).collect();
            line(&format!("- {} ({})", one.summary, authors.join(", ")));
        }
        digested.notice.iter().for_each(|notice| note(notice));
        match &digested.appended {
            Some(appended) => match &appended.moved {
                Some(_) => note("the case has moved on meanwhile, and nothing was appended"),
                None => {
                    line(&format!("Appended; the case has {} entries", appended.context_version));
                }
            },
            None => note("nothing was appended: it was only to be shown"),
        }
    });
}

pub(super) fn case(answer: &Value) {
    show(answer, |case: &Case| line(&told(case)));
}

fn told(case: &Case) -> String {
    let Case { key, title, status, version, .. } = case;
    format!("{key}: {title} ({status}, {version} entries)")
}

pub(super) fn list(answer: &Value) {
    show(answer, |page: &Page<Case>| {
        if page.items.is_empty() {
            line("No cases here");
            return;
        }
        let rows = page.items.iter().map(|case| {
            vec![
                case.key.to_string(),
                case.status.to_string(),
                case.version.to_string(),
                case.opened_by.to_string(),
                case.changed_at.strftime("%F %H:%M").to_string(),
                case.title.clone(),
            ]
        });
        line(&table(&["key", "status", "entries", "opened by", "changed", "title"], rows));
        if let Some(next) = &page.next {
            note(&format!("more: --cursor {next}"));
        }
    });
}

pub(super) fn appended(answer: &Value) {
    show(answer, |appended: &Appended| {
        if let Some(moved) = &appended.moved {
            line(&format!("Nothing was appended: the case has moved on to {}", moved.latest));
            return;
        }
        for placed in &appended.entries {
            line(&format!("Appended {} at {}", placed.entry_id, placed.position));
            set_apart(placed.hint.as_deref());
        }
    });
}

pub(super) fn entries(answer: &Value) {
    show(answer, |read: &CaseEntries| {
        read.entries.iter().for_each(entry);
        match read.next {
            Some(next) => note(&format!("more: --after {next}")),
            None => note(&format!("at version {} ({})", read.context_version, read.status)),
        }
    });
}

/// One entry, over a line or two.
pub(super) fn entry(entry: &Entry) {
    let position = entry.position;
    if entry.withheld {
        line(&format!("{position}  withheld"));
        return;
    }
    let agent = entry.agent.as_ref().map(ToString::to_string).unwrap_or_default();
    let at = entry.at.map(|at| at.strftime("%F %H:%M").to_string()).unwrap_or_default();
    let kind = entry.kind.map_or("entry", EntryKind::name);
    let heir = entry.superseded_by.map(|heir| format!(", superseded by {heir}"));
    line(&format!("{position}  {kind} of {agent}, {at}{}", heir.unwrap_or_default()));
    line(&format!("   {}", entry.summary.as_deref().unwrap_or_default().replace('\n', "\n   ")));
    if let (Some(_), Some(id)) = (&entry.text, entry.entry_id) {
        note(&format!("   more of it: commonbook show {id}"));
    }
}

pub(super) fn context(answer: &Value) {
    show(answer, |context: &CaseContext| line(&context.text));
}
