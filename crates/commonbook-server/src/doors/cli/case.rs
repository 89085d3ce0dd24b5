//! How people read cases, their entries and digests.

use commonbook::base::page::Page;
use commonbook::model::case::digest::DigestResult;
use commonbook::model::case::{
    AppendResult, BranchMergeOutcome, BranchMergeResult, Case, CaseContext, CaseEntries, CaseEntry,
    CaseOutcome, DecisionResult, EntryKind, EntryPosition, OpenCaseResult, ProposalList,
    UnreadList,
};
use commonbook_text::headline::headline;
use serde_json::Value;

use super::layout::{minute, print_next_page, print_table, short, show};
use super::lineage::print_stale;
use super::lookup::ViewLookup;
use super::show::print_quarantine_hint;
use crate::calls::output::{count_text, print_line, print_note};

pub(super) fn show_opened_case(response: &Value) {
    show(response, |opened: &OpenCaseResult| {
        let outcome = match opened.outcome {
            CaseOutcome::Opened => "Opened",
            CaseOutcome::Found => "Found",
        };
        print_line(&format!("{outcome} {}", case_line(&opened.case)));
    });
}

pub(super) fn show_case_digest(response: &Value) {
    show(response, |digest: &DigestResult| {
        if digest.proposed.is_empty() {
            print_line("The case already has everything");
            return;
        }
        for entry in &digest.proposed {
            let authors: Vec<String> = entry.authors.iter().map(ToString::to_string).collect();
            print_line(&format!("- {} ({})", entry.summary, authors.join(", ")));
        }
        digest.notice.iter().for_each(|notice| print_note(notice));
        match &digest.appended {
            Some(appended) if appended.moved.is_some() => {
                print_note("nothing was appended: the case has new entries; run the command again");
            }
            Some(appended) => {
                let entries = count_text(appended.context_version, "entry", "entries");
                print_line(&format!("Appended; the case has {entries}"));
            }
            None => match digest.proposal {
                Some(number) => print_line(&format!("Proposed to the lead as number {number}")),
                None => print_note("dry run: nothing was appended"),
            },
        }
    });
}

pub(super) fn show_proposals(response: &Value) {
    show(response, |proposals: &ProposalList| {
        if proposals.items.is_empty() {
            print_line("No proposal waits");
        }
        for proposal in &proposals.items {
            let lead = proposals.lead.as_ref().map(ToString::to_string).unwrap_or_default();
            let at = minute(proposal.at);
            print_line(&format!("{}  for {lead}, {at}", proposal.number));
            for entry in &proposal.entries {
                let authors: Vec<String> = entry.authors.iter().map(ToString::to_string).collect();
                let kind = entry.kind;
                print_line(&format!("- {kind}: {} ({})", entry.summary, authors.join(", ")));
            }
        }
    });
}

pub(super) fn show_decision(response: &Value) {
    show(response, |decided: &DecisionResult| match &decided.appended {
        Some(appended) => print_appended(&appended.entries),
        None => print_line(&format!("Decided: {}", decided.decision)),
    });
}

pub(super) fn show_merge(response: &Value) {
    show(response, |merge: &BranchMergeResult| match merge.outcome {
        BranchMergeOutcome::Moved => print_line(&format!(
            "Nothing was merged: the case is at version {}; read the new entries first",
            merge.case.version
        )),
        BranchMergeOutcome::Repeated => {
            print_line(&format!("Merged before into {}", merge.case.key));
        }
        BranchMergeOutcome::Merged => {
            print_line(&format!("Merged into {}", case_line(&merge.case)));
            print_appended(&merge.entries);
            if merge.left > 0 {
                let left = count_text(merge.left, "entry stays", "entries stay");
                print_note(&format!("{left} in the branch: superseded, quarantined or not yours"));
            }
        }
    });
}

pub(super) fn case(response: &Value) {
    show(response, |case: &Case| print_line(&case_line(case)));
}

fn case_line(case: &Case) -> String {
    let Case { key, title, status, version, .. } = case;
    let entries = count_text(*version, "entry", "entries");
    let labels = case.labels.iter().map(|label| format!(", #{label}")).collect::<Vec<_>>().concat();
    let lead = case.lead.as_ref().map(|lead| format!(", led by {lead}"));
    let branch =
        case.branch.as_ref().map(|branch| format!(", branch of {} at {}", branch.of, branch.at));
    format!(
        "{key}: {title} ({status}, {entries}{labels}{}{})",
        lead.unwrap_or_default(),
        branch.unwrap_or_default()
    )
}

/// Prints how many entries of each case are unread.
pub(super) fn show_unread(response: &Value) {
    show(response, |list: &UnreadList| {
        let rows = list.items.iter().map(|count| {
            vec![count.case.to_string(), count.mark.to_string(), count.unread.to_string()]
        });
        print_table(&["case", "read through", "unread"], rows);
    });
}

pub(super) fn list(response: &Value, lookup: &ViewLookup<'_>) {
    show(response, |page: &Page<Case>| {
        if page.items.is_empty() {
            lookup
                .print_empty_with("No cases", "`commonbook case open KEY --title TITLE` opens one");
            return;
        }
        let rows = page.items.iter().map(|case| {
            vec![
                case.key.to_string(),
                case.status.to_string(),
                case.version.to_string(),
                case.opened_by.to_string(),
                minute(case.changed_at),
                headline(&case.title),
            ]
        });
        print_table(&["key", "status", "entries", "opened by", "changed", "title"], rows);
        print_next_page("--cursor", page.next.as_ref());
    });
}

pub(super) fn show_appended_entries(response: &Value) {
    show(response, |appended: &AppendResult| {
        if let Some(moved) = &appended.moved {
            print_line(&format!(
                "Nothing was appended: the case is at version {}; read the new entries first",
                moved.latest
            ));
            return;
        }
        print_appended(&appended.entries);
        print_stale(&appended.stale);
    });
}

/// Prints where each entry stands, and whether others see all of it.
fn print_appended(entries: &[EntryPosition]) {
    for entry in entries {
        let (id, position) = (short(&entry.entry_id), entry.position);
        let withheld = if entry.withheld { ", withheld from others" } else { "" };
        print_line(&format!("Appended {id} at position {position}{withheld}"));
        if !entry.redacted.is_empty() {
            print_note(&format!("removed secrets: {}", entry.redacted.join(", ")));
        }
        print_quarantine_hint(entry.hint.as_deref());
    }
}

pub(super) fn entries(response: &Value) {
    show(response, |page: &CaseEntries| {
        page.entries.iter().for_each(entry);
        match page.next {
            Some(_) => print_next_page("--after", page.next.as_ref()),
            None => print_note(&format!("at version {} ({})", page.context_version, page.status)),
        }
    });
}

/// Prints an entry on two or more lines.
pub(super) fn entry(entry: &CaseEntry) {
    let position = entry.position;
    if entry.withheld {
        print_line(&format!("{position}  withheld"));
        return;
    }
    let agent = entry.agent.as_ref().map(ToString::to_string).unwrap_or_default();
    let agent = match &entry.origin {
        Some(origin) => format!("{} (digest)", origin.said_by()),
        None => agent,
    };
    let at = entry.at.map(minute).unwrap_or_default();
    let kind = entry.kind.map_or("entry", EntryKind::name);
    let successor = entry.superseded_by.map(|id| format!(", superseded by {}", short(&id)));
    let id = entry.entry_id.map(|id| format!("{}  ", short(&id))).unwrap_or_default();
    print_line(&format!(
        "{position}  {id}{kind} by {agent}, {at}{}{}",
        entry.origin_note.iter().map(|note| format!(", {note}")).collect::<String>(),
        successor.unwrap_or_default()
    ));
    print_line(&format!(
        "   {}",
        entry.summary.as_deref().unwrap_or_default().replace('\n', "\n   ")
    ));
    if let (Some(_), Some(id)) = (&entry.text, entry.entry_id) {
        print_note(&format!("   full text: commonbook show {}", short(&id)));
    }
}

pub(super) fn context(response: &Value) {
    show(response, |context: &CaseContext| print_line(&context.text));
}
