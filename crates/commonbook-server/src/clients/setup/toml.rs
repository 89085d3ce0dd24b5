//! Our table in a TOML file of the user.

use serde_json::{Map, Value};
use toml_edit::{DocumentMut, InlineTable, Item, Table};

use super::splice::TextSplice;
use super::{EditTarget, FileEdit, conflict, line_ending};
use commonbook::base::error::{Error, Result};

/// Whether a text is TOML.
pub(super) fn is_sound(text: &str) -> bool {
    parse(text).is_ok()
}

/// Whether a text has the table with exactly these keys.
pub(super) fn has(text: &str, path: &[String], keys: &Map<String, Value>) -> Result<bool> {
    let document = parse(text)?;
    Ok(table_at(&document, path).is_some_and(|item| has_exact_keys(item, keys)))
}

/// Appends the table to a text, or replaces a table with the same name.
pub(super) fn write(
    text: &str,
    path: &[String],
    keys: &Map<String, Value>,
) -> Result<(String, FileEdit)> {
    let document = parse(text)?;
    let done = |splice: TextSplice, replaced| FileEdit {
        what: EditTarget::Table(path.to_vec()),
        splice,
        replaced,
    };
    let exists = table_at(&document, path).is_some();
    if !exists {
        let end = line_ending(text);
        let gap = match text {
            "" => "",
            _ if text.ends_with('\n') => end,
            _ => &end.repeat(2),
        };
        let after = format!("{gap}{}", table(path, keys, end));
        let splice = TextSplice { at: text.len(), before: String::new(), after };
        let next = splice.splice_into(text);
        // Appending fails for a file with `mcp_servers = {}`.
        if has(&next, path, keys).unwrap_or(false) {
            return Ok((next, done(splice, false)));
        }
    }
    let mut document = document;
    put_table(&mut document, path, keys)?;
    let next = document.to_string();
    if !has(&next, path, keys)? {
        return Err(not_table_error(path));
    }
    Ok((next.clone(), done(TextSplice { at: 0, before: text.to_owned(), after: next }, exists)))
}

/// Removes the table, and the tables around it that become empty.
pub(super) fn remove(text: &str, path: &[String]) -> Result<String> {
    let mut document = parse(text)?;
    if table_at(&document, path).is_none() {
        return Ok(text.to_owned());
    }
    for depth in (1..=path.len()).rev() {
        let (above, key) = path[..depth].split_at(depth - 1);
        let Some(table) =
            above.iter().try_fold(document.as_item_mut(), |item, key| item.get_mut(key))
        else {
            continue;
        };
        let Some(table) = table.as_table_like_mut() else { continue };
        let empty = |item: &Item| item.as_table_like().is_some_and(toml_edit::TableLike::is_empty);
        if depth == path.len() || table.get(&key[0]).is_some_and(empty) {
            table.remove(&key[0]);
        }
    }
    Ok(document.to_string())
}

fn parse(text: &str) -> Result<DocumentMut> {
    text.parse().map_err(|error: toml_edit::TomlError| {
        let reason = error.to_string();
        conflict(format!("the file is not TOML: {}", reason.lines().next().unwrap_or_default()))
            .hint("Repair the file, then run the setup again. No file was changed.")
    })
}

fn not_table_error(path: &[String]) -> Error {
    conflict(format!("{} is not a table", path.join(".")))
        .hint("Repair the file, then run the setup again. No file was changed.")
}

fn table_at<'a>(document: &'a DocumentMut, path: &[String]) -> Option<&'a Item> {
    path.iter().try_fold(document.as_item(), |item, key| item.get(key))
}

/// The table as text, with its header.
fn table(path: &[String], keys: &Map<String, Value>, end: &str) -> String {
    let mut document = DocumentMut::new();
    let mut table = Table::new();
    for (key, value) in keys {
        table.insert(key, Item::Value(to_toml(value)));
    }
    let mut item = Item::Table(table);
    for key in path.iter().skip(1).rev() {
        let mut above = Table::new();
        above.set_implicit(true);
        above.insert(key, item);
        item = Item::Table(above);
    }
    if let Some(first) = path.first() {
        document.insert(first, item);
    }
    document.to_string().replace('\n', end)
}

/// Sets the table in a document with inline or ordinary tables around it.
fn put_table(document: &mut DocumentMut, path: &[String], keys: &Map<String, Value>) -> Result<()> {
    let Some((last, above)) = path.split_last() else { return Ok(()) };
    let around = above.iter().try_fold(document.as_item_mut(), |item, key| item.get_mut(key));
    let around = around.and_then(Item::as_table_like_mut).ok_or_else(|| not_table_error(above))?;
    let inline: InlineTable =
        keys.iter().map(|(key, value)| (key.as_str(), to_toml(value))).collect();
    let item = match around.get(last) {
        Some(Item::Table(old)) => {
            let mut table = Table::new();
            // Keep the comments above the header.
            *table.decor_mut() = old.decor().clone();
            table.set_position(old.position());
            table.extend(keys.iter().map(|(key, value)| (key.clone(), to_toml(value))));
            Item::Table(table)
        }
        _ => Item::Value(inline.into()),
    };
    around.insert(last, item);
    Ok(())
}

fn to_toml(value: &Value) -> toml_edit::Value {
    match value {
        Value::Bool(flag) => (*flag).into(),
        Value::Number(number) => {
            let whole = number.as_i64().map(toml_edit::Value::from);
            whole.unwrap_or_else(|| number.as_f64().unwrap_or_default().into())
        }
        Value::String(text) => text.into(),
        Value::Array(items) => items.iter().map(to_toml).collect::<toml_edit::Array>().into(),
        Value::Object(object) => {
            let pairs = object.iter().map(|(key, value)| (key.as_str(), to_toml(value)));
            pairs.collect::<InlineTable>().into()
        }
        Value::Null => "".into(),
    }
}

/// Whether a table has exactly these keys and values.
fn has_exact_keys(item: &Item, keys: &Map<String, Value>) -> bool {
    let Some(table) = item.as_table_like() else { return false };
    let equal =
        |key: &str, value: &Value| table.get(key).is_some_and(|found| equals_json(found, value));
    table.len() == keys.len() && keys.iter().all(|(key, value)| equal(key, value))
}

fn equals_json(item: &Item, value: &Value) -> bool {
    match value {
        Value::Object(object) => has_exact_keys(item, object),
        Value::Array(items) => item.as_array().is_some_and(|found| {
            let found: Vec<Item> = found.iter().cloned().map(Item::Value).collect();
            found.len() == items.len()
                && found.iter().zip(items).all(|(found, item)| equals_json(found, item))
        }),
        Value::String(text) => item.as_str() == Some(text),
        Value::Bool(flag) => item.as_bool() == Some(*flag),
        Value::Number(number) => {
            item.as_integer().is_some_and(|found| Some(found) == number.as_i64())
                || item.as_float().is_some_and(|found| Some(found) == number.as_f64())
        }
        Value::Null => item.as_str() == Some(""),
    }
}
