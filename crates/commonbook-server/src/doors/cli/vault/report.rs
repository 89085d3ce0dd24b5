//! A pass in words, or as JSON.

use std::path::Path;

use commonbook_vault::report::SyncReport;
use serde_json::json;

use crate::calls::output::{count_text, print_json, print_line, print_note};

/// Files that are named one by one.
const NAMED_FILES_MAX: usize = 20;

/// Prints what a pass did, or would do.
pub(crate) fn print(root: &Path, report: &SyncReport, is_dry: bool, as_json: bool) {
    if as_json {
        return print_json(&json_report(root, report));
    }
    print_changes(report);
    for note in &report.notes {
        print_note(&format!("{}: {}", note.path, note.reason));
    }
    let SyncReport { written, pages, moved, removed, returned, .. } = report;
    if is_dry {
        if !report.changed_store() && *removed == 0 {
            print_line("Nothing would be accepted.");
        }
        return;
    }
    let mut parts =
        vec![count_text(*written, "memory", "memories"), count_text(*pages, "page", "pages")];
    for (count, action) in [(moved, "moved"), (removed, "removed")] {
        if *count > 0 {
            parts.push(format!("{count} {action}"));
        }
    }
    print_line(&format!("{}: wrote {}", root.display(), parts.join(", ")));
    if *returned > 0 {
        let files = count_text(*returned, "file was gone and was", "files were gone and were");
        print_note(&format!("{files} written again; --prune deletes the memories instead"));
    }
}

/// Prints what came into the store.
pub(crate) fn print_changes(report: &SyncReport) {
    let deleted: Vec<String> = report.deleted.iter().map(ToString::to_string).collect();
    for (action, paths) in [
        ("changed", &report.changed),
        ("new", &report.created),
        ("by others", &report.received),
        ("kept both", &report.conflicts),
        ("deleted", &deleted),
    ] {
        for path in paths.iter().take(NAMED_FILES_MAX) {
            print_line(&format!("{action}: {path}"));
        }
        if paths.len() > NAMED_FILES_MAX {
            print_line(&format!("{action}: {} more", paths.len() - NAMED_FILES_MAX));
        }
    }
    if !report.conflicts.is_empty() {
        print_note("`commonbook contradictions list` shows what was kept twice; settle it there.");
    }
}

fn json_report(root: &Path, report: &SyncReport) -> serde_json::Value {
    let notes = report.notes.iter().map(|note| json!({"path": note.path, "reason": note.reason}));
    json!({
        "folder": root,
        "changed": report.changed,
        "created": report.created,
        "received": report.received,
        "conflicts": report.conflicts,
        "deleted": report.deleted,
        "written": report.written,
        "pages": report.pages,
        "moved": report.moved,
        "removed": report.removed,
        "returned": report.returned,
        "notes": notes.collect::<Vec<_>>(),
    })
}
