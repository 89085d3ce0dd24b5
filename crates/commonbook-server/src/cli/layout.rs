//! How the command line lays out a response: a table, a page of a list, a list of facts.

use comfy_table::{ContentArrangement, Table, presets};
use commonbook::base::page::Page;
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::output::{print_line, print_note};

/// Prints a response by its type; as JSON if a server of another version returned another type.
pub(super) fn show<T: DeserializeOwned>(response: &Value, print: impl FnOnce(&T)) {
    match serde_json::from_value(response.clone()) {
        Ok(typed) => print(&typed),
        Err(_) => print_line(&response.to_string()),
    }
}

/// Prints one page of a list and how to get the next one; `empty` if the page has no items.
pub(super) fn show_page<T: DeserializeOwned>(
    response: &Value,
    empty: &str,
    print_items: impl FnOnce(&[T]),
) {
    show(response, |page: &Page<T>| {
        if page.items.is_empty() {
            print_line(empty);
            return;
        }
        print_items(&page.items);
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

/// A table that fits the terminal.
pub(super) fn table(columns: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(columns.to_vec());
    for row in rows {
        table.add_row(row);
    }
    table.to_string()
}

/// Prints a table that fits the terminal.
pub(super) fn print_table(columns: &[&str], rows: impl IntoIterator<Item = Vec<String>>) {
    print_line(&table(columns, rows));
}

/// Prints the facts that have a value, each on a line behind its name.
pub(super) fn print_facts(facts: &[(&str, String)]) {
    let width = facts.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    for (name, value) in facts.iter().filter(|(_, value)| !value.is_empty()) {
        print_line(&format!("{name:<width$}  {value}"));
    }
}

/// A time to the minute, in UTC.
pub(super) fn minute(time: Timestamp) -> String {
    time.strftime("%F %H:%M").to_string()
}

/// A time to the second, in UTC.
pub(super) fn second(time: Timestamp) -> String {
    time.strftime("%F %T").to_string()
}

/// A text on one line.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
