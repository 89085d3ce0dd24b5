//! Pages that the program writes and people read: Markdown, with the record of which they are made in a
//! comment at the end, and a checksum by which an edit is noticed.

use commonbook::base::error::{Error, Result};
use commonbook::base::hash::sha256;
use commonbook::model::export::ExportRecord;
use serde_json::Value;

use crate::export::line_of;
use crate::frontmatter::normalised_lines;

/// How the last line of a page begins.
const MARK: &str = "<!-- commonbook ";
/// How it ends.
const MARK_END: &str = " -->";

/// Characters of a checksum.
const CHECKSUM_CHARS: usize = 12;

/// The page with its last line: the checksum, and the record.
///
/// # Errors
/// `internal` if the record is no JSON.
pub fn sealed_page(body: &str, record: Option<&ExportRecord>) -> Result<String> {
    let record = record.map(|record| line_of(record).map(Value::Object)).transpose()?;
    let hidden = record.map_or_else(String::new, |record| hidden_json(&record));
    let body = body.trim_end();
    let rest = format!("{body}\n\n{hidden}");
    Ok(format!("{body}\n\n{MARK}{}{hidden}{MARK_END}\n", checksum(&rest)))
}

/// A JSON value inside a comment: it holds no `--`.
#[must_use]
pub fn hidden_json(value: &Value) -> String {
    format!(" {value}").replace("--", "-\\u002d").replace("->", "-\\u003e")
}

/// Whether a page is as the program wrote it.
#[must_use]
pub fn is_sealed(page: &str) -> bool {
    let page = normalised_lines(page);
    let Some((body, last)) = page.trim_end().rsplit_once('\n') else { return false };
    let Some(inner) = last.strip_prefix(MARK).and_then(|rest| rest.strip_suffix(MARK_END)) else {
        return false;
    };
    let (sum, hidden) = inner.split_at(inner.find(' ').unwrap_or(inner.len()));
    sum == checksum(&format!("{}\n\n{hidden}", body.trim_end()))
}

/// The record of a page that the program wrote.
///
/// # Errors
/// `invalid` if the page was edited or has no record.
pub fn page_record(page: &str) -> Result<ExportRecord> {
    let unreadable = |reason: &str| {
        Error::invalid("page", reason.to_owned()).hint(
            "Take the page out of git again, or remove it: `commonbook vault sync` writes it.",
        )
    };
    if !is_sealed(page) {
        return Err(unreadable("the page was edited; its checksum is another"));
    }
    let page = normalised_lines(page);
    let last = page.trim_end().lines().next_back().unwrap_or_default();
    let json = last.find('{').map(|start| &last[start..last.len() - MARK_END.len()]);
    let json = json.ok_or_else(|| unreadable("the page has no record"))?;
    let value: Value = serde_json::from_str(json)
        .map_err(|error| unreadable("the record of the page is no JSON").with_cause(error))?;
    match ExportRecord::is_record(&value) {
        true => ExportRecord::from_json(value),
        false => Err(unreadable("the page has no record")),
    }
}

fn checksum(text: &str) -> String {
    sha256(text)[..CHECKSUM_CHARS].to_owned()
}
