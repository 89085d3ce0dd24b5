//! Word lists: data files of words beside the modules that use them.
//!
//! A list has one entry a line. Blank lines and lines that begin with `# ` are skipped. The first
//! look-up parses the list.

use std::sync::OnceLock;

use rustc_hash::FxHashSet;

/// A set of words from a data file.
#[derive(Debug)]
pub struct WordList {
    text: &'static str,
    words: OnceLock<FxHashSet<&'static str>>,
}

impl WordList {
    /// Creates the list of a data file.
    #[must_use]
    pub const fn new(text: &'static str) -> Self {
        Self { text, words: OnceLock::new() }
    }

    fn set(&self) -> &FxHashSet<&'static str> {
        self.words.get_or_init(|| entries(self.text).collect())
    }

    /// Whether the list contains a word.
    #[must_use]
    pub fn contains(&self, word: &str) -> bool {
        self.set().contains(word)
    }

    /// The entry of the list that equals a word.
    #[must_use]
    pub fn get(&self, word: &str) -> Option<&'static str> {
        self.set().get(word).copied()
    }

    /// The words in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = &'static str> + use<> {
        entries(self.text)
    }
}

/// The entries of a data file, in order.
pub fn entries(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("# "))
}

/// The entries of a data file with columns, each with its first `N` columns. A missing column is
/// empty.
pub fn rows<const N: usize>(text: &'static str) -> impl Iterator<Item = [&'static str; N]> {
    entries(text).map(|line| {
        let mut columns = line.split('\t').map(str::trim);
        std::array::from_fn(|_| columns.next().unwrap_or_default())
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};

    use super::*;

    #[test]
    fn comments_and_blank_lines_are_no_entries() {
        static LIST: WordList = WordList::new("# a comment\nb\n\n a \n#tag\n");
        assert_eq!(LIST.iter().collect::<Vec<_>>(), ["b", "a", "#tag"]);
        assert!(LIST.contains("a") && LIST.contains("#tag") && !LIST.contains("a comment"));
        let found: Vec<[&str; 2]> = rows("x\t1\ny").collect();
        assert_eq!(found, [["x", "1"], ["y", ""]]);
    }

    /// Every `.txt` file of one word a line in the source folders.
    fn files(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).expect("the folder is readable") {
            let path = entry.expect("the entry is readable").path();
            if path.is_dir() {
                files(&path, found);
            } else if path.extension().is_some_and(|ending| ending == "txt" || ending == "tsv") {
                found.push(path);
            }
        }
    }

    #[test]
    fn each_list_is_sorted_and_has_each_entry_once() {
        let mut paths = Vec::new();
        files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut paths);
        assert!(paths.len() > 60, "{} lists", paths.len());
        for path in paths {
            let text = std::fs::read_to_string(&path).expect("the list is readable");
            let name = path.display();
            let is_ordered = text.lines().any(|line| line == "# order: by meaning");
            let text: &'static str = text.leak();
            let lines: Vec<&str> = entries(text).collect();
            let distinct: BTreeSet<&str> = lines.iter().copied().collect();
            assert_eq!(distinct.len(), lines.len(), "{name}: an entry is there twice");
            if !is_ordered {
                let sorted: Vec<&str> = distinct.into_iter().collect();
                assert_eq!(lines, sorted, "{name}: not sorted");
            }
        }
    }
}
