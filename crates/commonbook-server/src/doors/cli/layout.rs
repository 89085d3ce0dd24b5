//! How the command line lays out a response: a table, a page of a list, a list of facts.

use comfy_table::{ColumnConstraint, ContentArrangement, Table, presets};
use commonbook::base::id;
use commonbook::base::page::Page;
use serde::de::DeserializeOwned;
use serde_json::Value;
use textwrap::core::display_width;

use crate::calls::output::{accent, columns, dim, print_json, print_line, print_note};

pub(super) use crate::calls::words::{
    beginning, is_hidden, memory_glance, minute, one_line, second,
};

/// Prints a response by its type; as JSON if a server of another version returned another type.
pub(super) fn show<T: DeserializeOwned>(response: &Value, print: impl FnOnce(&T)) {
    match T::deserialize(response) {
        Ok(typed) => print(&typed),
        Err(_) => print_json(response),
    }
}

/// Prints one page of a list and how to get the next one; `empty` if the page has no items.
pub(super) fn show_page<T: DeserializeOwned>(
    response: &Value,
    empty: &str,
    print_items: impl FnOnce(&[T]),
) {
    show_page_or(response, || print_line(empty), print_items);
}

/// Prints one page of a list and how to get the next one; what `print_empty` prints if the page has no
/// items.
pub(super) fn show_page_or<T: DeserializeOwned>(
    response: &Value,
    print_empty: impl FnOnce(),
    print_items: impl FnOnce(&[T]),
) {
    show(response, |page: &Page<T>| {
        match page.items.as_slice() {
            [] => print_empty(),
            items => print_items(items),
        }
        print_next_page("--cursor", page.next.as_ref());
    });
}

/// Prints one page of a list as a table.
pub(super) fn show_table_page<T: DeserializeOwned>(
    response: &Value,
    empty: &str,
    columns: &[&str],
    row: impl Fn(&T) -> Vec<String>,
) {
    show_page(response, empty, |items: &[T]| print_table(columns, items.iter().map(row)));
}

/// Prints the option that reads the next page, unless this page is the last one.
pub(super) fn print_next_page(option: &str, next: Option<&impl std::fmt::Display>) {
    if let Some(next) = next {
        print_note(&format!("next page: {option} {next}"));
    }
}

/// A table that fits the terminal: its last column is wrapped, and no other.
pub(super) fn table(columns: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(columns.to_vec());
    for row in rows {
        table.add_row(row);
    }
    let last = columns.len().saturating_sub(1);
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, if index == last { 0 } else { 2 }));
        if index < last {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
    let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    let heading = lines.first().map(|line| dim(line));
    heading.into_iter().chain(lines.into_iter().skip(1)).collect::<Vec<_>>().join("\n")
}

/// Prints a table that fits the terminal.
pub(super) fn print_table(columns: &[&str], rows: impl IntoIterator<Item = Vec<String>>) {
    print_line(&table(columns, rows));
}

/// Prints a text, and below it the facts about it: the first, a handle, by itself in colour.
pub(super) fn print_record(text: &str, facts: &[String]) {
    match columns() {
        Some(columns) => textwrap::wrap(text, columns).iter().for_each(|line| print_line(line)),
        None => print_line(text),
    }
    print_line(&facts_line(facts, columns().unwrap_or(usize::MAX)));
}

/// Prints a text below a heading, two columns in.
pub(super) fn print_indented(text: &str) {
    let options = |columns| {
        let options = textwrap::Options::new(columns).break_words(false);
        options.initial_indent("  ").subsequent_indent("  ")
    };
    match columns() {
        Some(columns) => {
            textwrap::wrap(text, options(columns)).iter().for_each(|line| print_line(line));
        }
        None => print_line(&format!("  {text}")),
    }
}

/// Columns of a label in front of a text.
const LABEL_COLUMNS: usize = 10;

/// Prints a text behind its label; on a terminal its further lines stand below the first.
pub(super) fn print_labelled(label: &str, text: &str) {
    let line = format!("{label:LABEL_COLUMNS$}  {text}");
    print_hanging(&line, &" ".repeat(LABEL_COLUMNS + 2));
}

/// Prints a text whose further lines stand behind an indentation, on a terminal.
fn print_hanging(text: &str, indent: &str) {
    let Some(columns) = columns() else { return print_line(text) };
    let options = textwrap::Options::new(columns).subsequent_indent(indent).break_words(false);
    textwrap::wrap(text, options).iter().for_each(|line| print_line(line));
}

/// The facts of a record, on as many lines as they need; no fact is broken.
fn facts_line(facts: &[String], columns: usize) -> String {
    let mut facts = facts.iter().filter(|fact| !fact.is_empty());
    let handle = facts.next().map(String::as_str).unwrap_or_default();
    let (mut lines, mut line) = (Vec::new(), String::new());
    let mut room = columns.saturating_sub(2 + handle.len());
    for fact in facts {
        if display_width(&line) + 3 + display_width(fact) > room {
            lines.push(dim(&std::mem::take(&mut line)));
            room = columns.saturating_sub(2);
        }
        let separator = if lines.is_empty() || !line.is_empty() { " · " } else { "" };
        line += &format!("{separator}{fact}");
    }
    lines.push(dim(&line));
    format!("  {}{}", accent(handle), lines.join("\n  "))
}

/// The last letters of an id: enough for every command, a deletion too.
pub(super) fn short(id: &impl std::fmt::Display) -> String {
    id::handle(&id.to_string()).to_owned()
}

/// Prints the facts that have a value, each on a line behind its name.
pub(super) fn print_facts(facts: &[(&str, String)]) {
    let width = facts.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    let indent = " ".repeat(width + 2);
    for (name, value) in facts.iter().filter(|(_, value)| !value.is_empty()) {
        print_hanging(&format!("{name:<width$}  {value}"), &indent);
    }
}

#[cfg(test)]
mod tests {
    use anstream::adapter::strip_str;

    use super::*;

    #[test]
    fn facts_are_wrapped_between_each_other_alone() {
        let facts = ["9hm2x4qd", "", "claude-code", "2026-11-23 14:03 CET", "used 12 times"];
        let facts = facts.map(str::to_owned);
        let line = |columns| strip_str(&facts_line(&facts, columns)).to_string();
        assert_eq!(line(80), "  9hm2x4qd · claude-code · 2026-11-23 14:03 CET · used 12 times");
        assert_eq!(line(50), "  9hm2x4qd · claude-code · 2026-11-23 14:03 CET\n  used 12 times");
        assert_eq!(line(10), "  9hm2x4qd\n  claude-code\n  2026-11-23 14:03 CET\n  used 12 times");
    }

    #[test]
    fn a_line_has_nothing_that_controls_a_terminal() {
        let text = "tea\u{1b}[2J\u{7}\u{9b}31m\n  or\u{202e} milk\r";
        assert_eq!(one_line(text), "tea[2J31m or milk");
    }

    #[test]
    fn the_columns_before_the_last_keep_their_width() {
        let row = vec!["9hm2x4qd".to_owned(), "a title ".repeat(30)];
        assert!(table(&["id", "title"], [row]).contains("\n9hm2x4qd  a title"));
    }
}
