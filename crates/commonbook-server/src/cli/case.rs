//! Cases as people read them.

use commonbook::base::page::Page;
use commonbook::model::case::digest::DigestResult;
use commonbook::model::case::{
    AppendResult, Case, CaseContext, CaseEntries, CaseEntry, CaseOutcome, EntryKind, OpenCaseResult,
};
use serde_json::Value;

use super::show::{print_quarantine_hint, show, table};
use crate::output::{print_line, print_note};

pub(super) fn show_opened_case(answer: &Value) {
    show(answer, |opened: &OpenCaseResult| {
        let outcome = match opened.outcome {
            CaseOutcome::Opened => "Opened",
            CaseOutcome::Found => "Found",
        };
        print_line(&format!("{outcome} {}", case_line(&opened.case)));
    });
}

pub(super) fn show_case_digest(answer: &Value) {
    show(answer, |digested: &DigestResult| {
        if digested.proposed.is_empty() {
            print_line("The case has all of it");
            return;
        }
        for one in &digested.proposed {
            let authors: Vec<String> = one.authors.iter().map(ToString::to_string).collect();
            print_line(&format!("- {} ({})", one.summary, authors.join(", ")));
        }
        digested.notice.iter().for_each(|notice| print_note(notice));
        match &digested.appended {
            Some(appended) => match &appended.moved {
                Some(_) => print_note("the case has moved on meanwhile, and nothing was appended"),
                None => {
                    print_line(&format!(
                        "Appended; the case has {} entries",
                        appended.context_version
                    ));
                }
            },
            None => print_note("nothing was appended: it was only to be shown"),
        }
    });
}

pub(super) fn case(answer: &Value) {
    show(answer, |case: &Case| print_line(&case_line(case)));
}

fn case_line(case: &Case) -> String {
    let Case { key, title, status, version, .. } = case;
    format!("{key}: {title} ({status}, {version} entries)")
}

pub(super) fn list(answer: &Value) {
    show(answer, |page: &Page<Case>| {
        if page.items.is_empty() {
            print_line("No cases here");
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
        print_line(&table(&["key", "status", "entries", "opened by", "changed", "title"], rows));
        if let Some(next) = &page.next {
            print_note(&format!("more: --cursor {next}"));
        }
    });
}

pub(super) fn show_appended_entries(answer: &Value) {
    show(answer, |appended: &AppendResult| {
        if let Some(moved) = &appended.moved {
            print_line(&format!("Nothing was appended: the case has moved on to {}", moved.latest));
            return;
        }
        for placed in &appended.entries {
            print_line(&format!("Appended {} at {}", placed.entry_id, placed.position));
            print_quarantine_hint(placed.hint.as_deref());
        }
    });
}

pub(super) fn entries(answer: &Value) {
    show(answer, |read: &CaseEntries| {
        read.entries.iter().for_each(entry);
        match read.next {
            Some(next) => print_note(&format!("more: --after {next}")),
            None => print_note(&format!("at version {} ({})", read.context_version, read.status)),
        }
    });
}

/// One entry, over a line or two.
pub(super) fn entry(entry: &CaseEntry) {
    let position = entry.position;
    if entry.withheld {
        print_line(&format!("{position}  withheld"));
        return;
    }
    let agent = entry.agent.as_ref().map(ToString::to_string).unwrap_or_default();
    let at = entry.at.map(|at| at.strftime("%F %H:%M").to_string()).unwrap_or_default();
    let kind = entry.kind.map_or("entry", EntryKind::name);
    let heir = entry.superseded_by.map(|heir| format!(", superseded by {heir}"));
    print_line(&format!("{position}  {kind} of {agent}, {at}{}", heir.unwrap_or_default()));
    print_line(&format!(
        "   {}",
        entry.summary.as_deref().unwrap_or_default().replace('\n', "\n   ")
    ));
    if let (Some(_), Some(id)) = (&entry.text, entry.entry_id) {
        print_note(&format!("   more of it: commonbook show {id}"));
    }
}

pub(super) fn context(answer: &Value) {
    show(answer, |context: &CaseContext| print_line(&context.text));
}
