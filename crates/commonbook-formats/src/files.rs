//! The files of a path: found in order, by names that do not depend on the machine, and read within limits.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use crate::utf8::Utf8Reader;
use crate::{Progress, RowOutcome};

/// Files that a folder may have.
pub const SOURCE_FILES_MAX: usize = 500_000;
/// Bytes of a Markdown file.
pub const MARKDOWN_BYTES_MAX: u64 = 8 << 20;
/// Folders within folders.
const DEPTH_MAX: usize = 32;

/// The endings of Markdown files.
const MARKDOWN_ENDINGS: [&str; 13] = [
    "md",
    "markdown",
    "mdx",
    "mdown",
    "mkd",
    "mkdn",
    "mkdown",
    "mdwn",
    "mdtxt",
    "mdtext",
    "qmd",
    "rmd",
    "rmarkdown",
];

/// Hidden folders that formats read; all others are skipped, `.git` and `.obsidian` among them.
const HIDDEN_FOLDERS: [&str; 6] =
    [".claude", ".claude-mpm", ".codex", ".cursor", ".gemini", ".github"];
/// Hidden files that formats read.
const HIDDEN_FILES: [&str; 1] = [".cursorrules"];
/// Folders of what others wrote, and of what programs built.
const SKIPPED_FOLDERS: [&str; 3] = ["node_modules", "target", "__pycache__"];

/// A file, with the name that its rows carry.
#[derive(Debug, Clone)]
pub(crate) struct SourceFile {
    pub path: PathBuf,
    /// The path from the opened folder, with `/`; of an opened file its name.
    pub name: String,
    pub bytes: u64,
}

impl SourceFile {
    /// The name without folders.
    pub(crate) fn base_name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or(&self.name)
    }

    /// The name without folders and ending.
    pub(crate) fn stem(&self) -> &str {
        let name = self.base_name();
        name.rsplit_once('.').map_or(name, |(stem, _)| stem)
    }

    /// The text of a Markdown file, or the row that says why it cannot be read.
    pub(crate) fn read_text(&self, progress: &Progress) -> Result<String, RowOutcome> {
        progress.add_bytes(self.bytes);
        let refused = |reason: String| RowOutcome::refused(self, None, reason);
        let mut text = Vec::new();
        let file = File::open(&self.path)
            .and_then(Utf8Reader::new)
            .map_err(|error| refused(format!("the file cannot be read: {error}")))?;
        progress.watch_replacements(&self.name, file.replaced());
        file.take(MARKDOWN_BYTES_MAX + 1)
            .read_to_end(&mut text)
            .map_err(|error| refused(format!("the file cannot be read: {error}")))?;
        if text.len() as u64 > MARKDOWN_BYTES_MAX {
            return Err(refused(format!(
                "the file has {} bytes; expected at most {MARKDOWN_BYTES_MAX}",
                self.bytes
            )));
        }
        let text = String::from_utf8_lossy(&text);
        Ok(with_line_ends(&text).into_owned())
    }

    /// A reader of the file that counts what it reads, or the row that says why it cannot be opened.
    pub(crate) fn open(
        &self,
        progress: &Progress,
    ) -> Result<BufReader<Utf8Reader<CountingReader>>, RowOutcome> {
        let file = File::open(&self.path)
            .and_then(|file| Utf8Reader::new(CountingReader { file, progress: progress.clone() }));
        let file = file.map_err(|error| {
            RowOutcome::refused(self, None, format!("the file cannot be read: {error}"))
        })?;
        progress.watch_replacements(&self.name, file.replaced());
        Ok(BufReader::new(file))
    }
}

/// A file that counts the bytes read from it.
pub(crate) struct CountingReader {
    file: File,
    progress: Progress,
}

impl Read for CountingReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.progress.add_bytes(count as u64);
        Ok(count)
    }
}

/// The text of a file whose lines end with a carriage return alone, as old editors of the Mac write them.
pub(crate) fn with_line_ends(text: &str) -> Cow<'_, str> {
    match text.contains('\r') && !text.contains('\n') {
        true => Cow::Owned(text.replace('\r', "\n")),
        false => Cow::Borrowed(text),
    }
}

/// Whether a name has one of these endings, in either case.
pub(crate) fn has_ending(name: &str, endings: &[&str]) -> bool {
    name.rsplit_once('.').is_some_and(|(_, ending)| {
        endings.iter().any(|expected| ending.eq_ignore_ascii_case(expected))
    })
}

/// Whether a name is that of a Markdown file.
pub(crate) fn is_markdown(name: &str) -> bool {
    has_ending(name, &MARKDOWN_ENDINGS)
}

/// Whether a format may read a file of this name, so that it is worth unpacking.
#[must_use]
pub fn is_readable_file(name: &str) -> bool {
    let base = name.rsplit('/').next().unwrap_or(name);
    is_markdown(name)
        || has_ending(name, &["json", "jsonl", "ndjson", "mdc"])
        || HIDDEN_FILES.contains(&base)
        || base == "CHECKSUMS"
}

/// The folder from which names of files count.
pub(crate) fn base_folder(path: &Path) -> PathBuf {
    match path.is_dir() {
        true => path.to_owned(),
        false => path.parent().unwrap_or(path).to_owned(),
    }
}

/// What a path has.
#[derive(Debug, Default)]
pub(crate) struct SourceFiles {
    pub files: Vec<SourceFile>,
    /// Links, hidden files and folders that no format reads; the name of a folder ends with `/`.
    pub skipped: Vec<String>,
}

/// The files of a path in the order of their names. Links are not followed.
pub(crate) fn source_files(path: &Path) -> io::Result<SourceFiles> {
    let metadata = fs::metadata(path)?;
    let mut found = SourceFiles::default();
    if metadata.is_dir() {
        walk(path, "", 0, &mut found)?;
    } else {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        found.files.push(SourceFile { path: path.to_owned(), name, bytes: metadata.len() });
    }
    Ok(found)
}

fn walk(folder: &Path, prefix: &str, depth: usize, found: &mut SourceFiles) -> io::Result<()> {
    let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let (kind, name) = (entry.file_type()?, entry.file_name().to_string_lossy().into_owned());
        let relative = format!("{prefix}{name}");
        if kind.is_dir() {
            let is_skipped = SKIPPED_FOLDERS.contains(&name.as_str())
                || (name.starts_with('.') && !HIDDEN_FOLDERS.contains(&name.as_str()));
            if is_skipped || depth >= DEPTH_MAX {
                found.skipped.push(format!("{relative}/"));
            } else {
                walk(&entry.path(), &format!("{relative}/"), depth + 1, found)?;
            }
        } else if !kind.is_file()
            || (name.starts_with('.') && !HIDDEN_FILES.contains(&name.as_str()))
        {
            found.skipped.push(relative);
        } else {
            if found.files.len() == SOURCE_FILES_MAX {
                let message = format!("the folder has more than {SOURCE_FILES_MAX} files");
                return Err(io::Error::other(message));
            }
            let bytes = entry.metadata()?.len();
            found.files.push(SourceFile { path: entry.path(), name: relative, bytes });
        }
    }
    Ok(())
}
