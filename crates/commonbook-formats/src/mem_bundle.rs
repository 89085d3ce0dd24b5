//! `.mem` bundles, the open format of Portable Memory: a folder of JSON lines with a manifest and checksums.
//!
//! As the package `portable-memory` 0.3.0 reads and writes them, format 1.1: `manifest.json`,
//! `items/{kind}.jsonl`, `audit/tombstones.jsonl`, `CHECKSUMS`. A bundle is checked as a whole before its first
//! row: one wrong byte, and nothing of it is read. A memory that holds is an `episode`, with what the format
//! has no field for in a field of ours, which the format keeps as foreign; all else that belongs to memories
//! is in a file of our own kind, so that no other program takes it for valid.

mod check;
mod episode;
mod manifest;
mod read;
mod records;
mod write;

use std::path::Path;

use serde_json::Value;

pub(crate) use read::rows;
pub use write::{FillFile, MemBundleWriter};

/// Bytes of a file of a bundle: the limit of the format's own readers.
pub const BUNDLE_FILE_BYTES_MAX: u64 = 256 << 20;

/// How often a reader goes through a bundle: checksums, form, rows.
pub(crate) const READ_PASSES: u64 = 3;

/// The version of the format that is written; another first number cannot be read.
const FORMAT_VERSION: &str = "1.1.0";

/// The manifest's name.
const MANIFEST: &str = "manifest.json";

/// The name of the file of checksums.
const CHECKSUMS: &str = "CHECKSUMS";

/// The folders of a bundle in which every file must be listed.
const LISTED_FOLDERS: [&str; 3] = ["items", "audit", "embeddings"];

/// The file of memories that hold.
const EPISODES: &str = "items/episode.jsonl";

/// The kind of our own lines: memories that do not hold, and earlier revisions.
const OWN_KIND: &str = "commonbookMemory";

/// The file of our own lines.
const OWN_FILE: &str = "items/commonbookMemory.jsonl";

/// The names in a bundle's folder.
const BUNDLE_NAMES: [&str; 7] =
    ["items", "audit", "embeddings", "provenance", MANIFEST, "manifest.sig", CHECKSUMS];

/// Whether a folder is a bundle: by its manifest, or by its name and files if the manifest is broken.
#[must_use]
pub fn is_mem_bundle(folder: &Path) -> bool {
    if !folder.is_dir() {
        return false;
    }
    let manifest = folder.join(MANIFEST);
    let has_manifest = manifest.is_file();
    let has_checksums = folder.join(CHECKSUMS).is_file();
    let is_named = folder.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("mem"));
    let has_part = has_manifest || has_checksums || folder.join("items").is_dir();
    (is_named && has_part) || (has_manifest && (has_checksums || is_manifest(&manifest)))
}

/// Whether a folder has nothing but the files of a bundle, so that another bundle can take its place.
#[must_use]
pub fn is_replaceable_bundle(folder: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else { return false };
    let mut names = entries.map(|entry| entry.map(|entry| entry.file_name()));
    let is_known = |name: std::io::Result<std::ffi::OsString>| {
        name.is_ok_and(|name| BUNDLE_NAMES.iter().any(|known| name == *known))
    };
    names.all(is_known) && (folder.join(MANIFEST).is_file() || is_empty(folder))
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())
}

/// Whether a file is the manifest of a bundle.
pub(crate) fn is_manifest(file: &Path) -> bool {
    let bytes = manifest::read_manifest_bytes(file).unwrap_or_default();
    let value: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    value.get("conformanceLevel").is_some() && value.get("files").is_some()
}

/// Whether a bundle has this file for a reader.
pub(crate) fn reads(file: &str) -> bool {
    file == MANIFEST || file.starts_with("items/") || file.starts_with("audit/")
}

/// A value as the format writes it: one line, fields in order, whole numbers without a point.
fn canonical_json(value: &Value) -> String {
    let mut line = String::new();
    write_canonical(value, &mut line);
    line
}

fn write_canonical(value: &Value, line: &mut String) {
    match value {
        Value::Object(fields) => {
            let mut names: Vec<&String> = fields.keys().collect();
            names.sort_unstable();
            for (index, name) in names.into_iter().enumerate() {
                line.push(if index == 0 { '{' } else { ',' });
                line.push_str(&Value::from(name.as_str()).to_string());
                line.push(':');
                write_canonical(&fields[name], line);
            }
            line.push_str(if fields.is_empty() { "{}" } else { "}" });
        }
        Value::Array(values) => {
            line.push('[');
            for (index, value) in values.iter().enumerate() {
                if index > 0 {
                    line.push(',');
                }
                write_canonical(value, line);
            }
            line.push(']');
        }
        other => line.push_str(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_has_one_form() {
        let table = [
            (
                json!({"b": 1, "a": [true, null, "x"], "é": {}}),
                r#"{"a":[true,null,"x"],"b":1,"é":{}}"#,
            ),
            (json!({"B": "/", "a": "\u{1}\n\u{7f}⛴"}), "{\"B\":\"/\",\"a\":\"\\u0001\\n\u{7f}⛴\"}"),
            (json!([0.25, 1, []]), "[0.25,1,[]]"),
        ];
        for (value, expected) in table {
            assert_eq!(canonical_json(&value), expected);
        }
    }
}
