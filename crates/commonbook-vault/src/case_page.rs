//! A case as one page: its entries in order, each with its fields in a comment before it.
//!
//! The comment says how many lines the entry has, so that no text of an entry can look like the next one.

use commonbook::base::error::{Error, Result};
use commonbook::base::input;
use commonbook::model::case::Case;
use commonbook::model::export::ExportRecord;
use commonbook::model::memory::Memory;
use serde_json::{Value, json};

use crate::frontmatter::{YamlBlock, normalised_lines};
use crate::names::{CASES, SLUG_CHARS, slug};
use crate::page::{hidden_json, page_record, sealed_page};

/// How the comment before an entry begins and ends.
const ENTRY_MARK: &str = "<!-- entry ";
const ENTRY_MARK_END: &str = " -->";

/// Lines between the comment of an entry and its text: the heading, and an empty one.
const HEAD_LINES: usize = 2;

/// The path of the page of a case.
#[must_use]
pub fn case_path(case: &Case) -> String {
    // Keys differ by letters that a slug does not keep.
    let key = case.key.as_str();
    let name = slug(key, SLUG_CHARS);
    let ending = match name == key {
        true => String::new(),
        false => format!("_{}", &commonbook::base::hash::sha256(key)[..8]),
    };
    format!("{CASES}/{name}{ending}.md")
}

/// The page of a case with its entries in order.
///
/// # Errors
/// `internal` if a record is no JSON.
pub fn case_page(case: &Case, entries: &[&Memory]) -> Result<String> {
    let mut frontmatter = YamlBlock::default();
    frontmatter.set_all([
        ("case", Some(json!(case.key))),
        ("title", Some(json!(case.title))),
        ("status", Some(json!(case.status))),
        ("labels", Some(json!(case.labels)).filter(|_| !case.labels.is_empty())),
        ("lead", case.lead.as_ref().map(|lead| json!(lead))),
        ("opened_by", Some(json!(case.opened_by))),
        ("opened_at", Some(json!(case.opened_at))),
        ("changed_at", Some(json!(case.changed_at))),
        ("entries", Some(json!(case.version))),
    ]);
    let mut body = format!("{}\n# {}\n\n", frontmatter.render(), case.title);
    for memory in entries {
        body.push_str(&entry_text(memory)?);
    }
    sealed_page(&body, Some(&ExportRecord::Case(Box::new(case.clone()))))
}

fn entry_text(memory: &Memory) -> Result<String> {
    let mut fields = crate::export::line_of(memory)?;
    fields.shift_remove("text");
    fields.insert("lines".to_owned(), json!(memory.text.split('\n').count()));
    let fields = hidden_json(&Value::Object(fields));
    let superseded = if memory.superseded_by.is_some() { ", superseded" } else { "" };
    let heading = format!(
        "## {}. {} by {}, {}{superseded}",
        memory.position.unwrap_or_default(),
        memory.memory_type.as_str(),
        memory.owner,
        memory.recorded_at.strftime("%Y-%m-%d %H:%M UTC"),
    );
    Ok(format!(
        "{}{}{ENTRY_MARK_END}\n{heading}\n\n{}\n\n",
        ENTRY_MARK.trim_end(),
        fields,
        memory.text
    ))
}

/// The case and the entries of a page that nobody edited.
///
/// # Errors
/// `invalid` if the page was edited, or an entry is incomplete.
pub fn read_case_page(page: &str) -> Result<(Case, Vec<Memory>)> {
    let ExportRecord::Case(case) = page_record(page)? else {
        return Err(Error::invalid("page", "the page is of no case"));
    };
    let page = normalised_lines(page);
    let lines: Vec<&str> = page.split('\n').collect();
    let (mut entries, mut next) = (Vec::new(), 0);
    while let Some(line) = lines.get(next) {
        next += 1;
        let fields =
            line.strip_prefix(ENTRY_MARK).and_then(|rest| rest.strip_suffix(ENTRY_MARK_END));
        let Some(fields) = fields else { continue };
        let incomplete = || Error::invalid("page", format!("line {next}: the entry is incomplete"));
        let mut fields: Value = serde_json::from_str(fields).map_err(|_| incomplete())?;
        let count = fields["lines"].as_u64().and_then(|count| usize::try_from(count).ok());
        let count = count.ok_or_else(incomplete)?;
        let begin = next + HEAD_LINES;
        let text = lines.get(begin..begin + count).ok_or_else(incomplete)?.join("\n");
        next = begin + count;
        if let Some(fields) = fields.as_object_mut() {
            fields.shift_remove("lines");
            fields.insert("text".to_owned(), json!(text));
        }
        entries.push(input::from_value(fields)?);
    }
    Ok((*case, entries))
}
