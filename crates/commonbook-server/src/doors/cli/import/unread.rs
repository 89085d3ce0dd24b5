//! The files of a path that an import does not read, counted by their endings and named.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::REPORTED_LINES_MAX;
use super::zipped::DEEP_NOTE;
use crate::calls::output;

/// Files that are not read, by name; the name of a folder ends with `/`.
#[derive(Debug, Default)]
pub(super) struct UnreadFiles(Vec<String>);

impl UnreadFiles {
    pub(super) fn new(mut names: Vec<String>) -> Self {
        names.sort_unstable();
        Self(names)
    }

    /// How many files have each ending.
    fn by_ending(&self) -> BTreeMap<String, u64> {
        let mut counts = BTreeMap::new();
        for name in &self.0 {
            let name = name.strip_suffix(DEEP_NOTE).unwrap_or(name);
            let base = name.trim_end_matches('/').rsplit('/').next().unwrap_or(name);
            let ending = match base.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()) {
                _ if name.ends_with('/') => "folders".to_owned(),
                Some((_, ending)) => format!(".{}", ending.to_lowercase()),
                None => "no ending".to_owned(),
            };
            *counts.entry(ending).or_default() += 1;
        }
        counts
    }

    pub(super) fn report(&self) -> Value {
        json!({"by_ending": self.by_ending(), "files": self.0})
    }

    pub(super) fn print(&self) {
        if self.0.is_empty() {
            return;
        }
        let counts = self.by_ending();
        let counts: Vec<String> =
            counts.iter().map(|(ending, count)| format!("{count} {ending}")).collect();
        output::print_note(&format!("not read: {}", counts.join(", ")));
        let named = self.0.iter().take(REPORTED_LINES_MAX);
        named.for_each(|name| output::print_note(&format!("not read: {name}")));
        if self.0.len() > REPORTED_LINES_MAX {
            let more = self.0.len() - REPORTED_LINES_MAX;
            output::print_note(&format!("… and {more} more; --json lists all"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_counted_by_their_endings() {
        let names = ["b.PNG", "x/a.png", ".git/", "LICENSE", ".hidden", "a.tar.gz"];
        let unread = UnreadFiles::new(names.map(str::to_owned).to_vec());
        let expected = json!({".gz": 1, ".png": 2, "folders": 1, "no ending": 2});
        assert_eq!(unread.report()["by_ending"], expected);
    }
}
