//! Paths of memories: a memory with a path is a document, which its owner changes in place.

use std::fmt;
use std::str::FromStr;

use commonbook_text::sanitize::is_hidden;
use commonbook_text::secrets;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;

use super::{Memory, Sharing};
use crate::base::error::{Error, Result};
use crate::base::id::MemoryId;
use crate::base::page::PageCursor;
use crate::base::{input, limits};
use crate::model::agent::Agent;

/// The path of a memory: `/notes/plan.md`. It begins with `/`, has 1 to [`limits::PATH_SEGMENTS`] segments
/// and at most [`limits::PATH_BYTES`] bytes in NFC; no segment is empty, `.` or `..`.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", inline, extend("minLength" = 1, "maxLength" = limits::PATH_BYTES))]
pub struct MemoryPath(String);

impl MemoryPath {
    /// The path as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for MemoryPath {
    type Err = Error;

    /// Reads a path; one without `/` at its beginning gets it.
    fn from_str(text: &str) -> Result<Self> {
        let path = normal_path(text)?;
        let segments = path.split('/').skip(1);
        if let Some(segment) = segments.clone().find(|name| ["", ".", ".."].contains(name)) {
            let reason = format!("has the segment '{segment}'; expected names between the slashes");
            return Err(Error::invalid("path", reason).hint(
                "Write a path such as /notes/plan.md: no `//`, `.` or `..`, no `/` at its end.",
            ));
        }
        if segments.clone().any(|name| name.trim() != name) {
            let reason = "has a segment that begins or ends with a blank";
            return Err(
                Error::invalid("path", reason).hint("Remove the blanks beside the slashes.")
            );
        }
        let count = segments.count();
        if count > limits::PATH_SEGMENTS {
            return Err(Error::too_large("path", count, limits::PATH_SEGMENTS, "segments")
                .hint("Put the document into a folder nearer to the root."));
        }
        if !secrets::redact(&path).found.is_empty() {
            return Err(Error::invalid("path", "contains what looks like a secret")
                .hint("Name the document by its subject; keep the secret out of Commonbook."));
        }
        Ok(Self(path))
    }
}

/// A path or its beginning in NFC with `/` in front, within the length and without characters that nobody sees.
fn normal_path(text: &str) -> Result<String> {
    let bare = text.strip_prefix('/').unwrap_or(text);
    let path: String = std::iter::once('/').chain(bare.nfc()).collect();
    if path.len() > limits::PATH_BYTES {
        return Err(Error::too_large("path", path.len(), limits::PATH_BYTES, "bytes")
            .hint("Shorten the names in the path."));
    }
    match path.chars().find(|letter| letter.is_control() || is_hidden(*letter)) {
        None => Ok(path),
        Some(found) => {
            let reason =
                format!("contains the character U+{:04X}, which nobody sees", u32::from(found));
            Err(Error::invalid("path", reason).hint("Remove it from the path."))
        }
    }
}

impl TryFrom<String> for MemoryPath {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<MemoryPath> for String {
    fn from(path: MemoryPath) -> Self {
        path.0
    }
}

impl fmt::Display for MemoryPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The owner before a path, and the rest: `ann:/notes/plan.md`. Without an owner the text is all path.
fn split_owner(text: &str) -> Result<(Option<Agent>, &str)> {
    let Some(colon) = text.find(":/").filter(|_| !text.starts_with('/')) else {
        return Ok((None, text));
    };
    let owner = Agent::with_any_name(&text[..colon]).map_err(|error| error.with_field("path"))?;
    Ok((Some(owner), &text[colon + 1..]))
}

/// A document by its path: the caller's own, or one of another owner, `OWNER:/path`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentPath {
    /// The owner; the caller if none is named.
    pub owner: Option<Agent>,
    /// The path.
    pub path: MemoryPath,
}

impl fmt::Display for DocumentPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.owner {
            None => self.path.fmt(f),
            Some(owner) => write!(f, "{}:{}", owner.as_str(), self.path),
        }
    }
}

/// How a request names one memory: by its id, or by its path, which begins with `/` or `OWNER:/`; or the
/// documents of a folder, whose path ends in `/`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum MemoryAddress {
    /// By its id.
    Id(MemoryId),
    /// By its path.
    Path(DocumentPath),
    /// All documents below this path.
    Folder(DocumentPath),
}

/// An address as a JSON Schema pattern, with handles of at least this many letters.
macro_rules! address_pattern {
    ($letters:literal) => {
        concat!(
            "^(mem_[0-7][0-9a-hjkmnp-tv-z]{25}|#?[0-9a-hjkmnp-tv-zA-HJKMNP-TV-Z]{",
            $letters,
            ",26}|([^/:][^:]*:)?/.+)$"
        )
    };
}

/// The JSON Schema pattern of an address in a request.
pub const ADDRESS_PATTERN: &str = address_pattern!("6");

/// The JSON Schema pattern of the address of a memory to delete, whose handle is longer.
pub const DELETION_ADDRESS_PATTERN: &str = address_pattern!("8");

impl FromStr for MemoryAddress {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if !text.starts_with('/') && !text.contains(":/") {
            return text.parse().map(Self::Id);
        }
        let (owner, path) = split_owner(text)?;
        match path.strip_suffix('/') {
            Some(folder) if !folder.is_empty() => {
                Ok(Self::Folder(DocumentPath { owner, path: folder.parse()? }))
            }
            _ => Ok(Self::Path(DocumentPath { owner, path: path.parse()? })),
        }
    }
}

impl TryFrom<String> for MemoryAddress {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<MemoryAddress> for String {
    fn from(address: MemoryAddress) -> Self {
        address.to_string()
    }
}

impl From<MemoryId> for MemoryAddress {
    fn from(id: MemoryId) -> Self {
        Self::Id(id)
    }
}

impl fmt::Display for MemoryAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => id.fmt(f),
            Self::Path(path) => path.fmt(f),
            Self::Folder(folder) => write!(f, "{folder}/"),
        }
    }
}

impl JsonSchema for MemoryAddress {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "memory_address".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": ADDRESS_PATTERN })
    }
}

/// Which documents a list or a search finds: one path, or all that begin with a text that ends in `*` or `/`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", inline, extend("minLength" = 1, "maxLength" = limits::PATH_BYTES + limits::AGENT_CHARS + 2))]
pub struct PathPattern {
    /// Only documents of this owner, if the pattern names one.
    pub owner: Option<Agent>,
    /// The path, or its beginning.
    pub path: String,
    /// Whether `path` is the beginning of those that are found.
    pub is_prefix: bool,
}

impl FromStr for PathPattern {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (owner, rest) = split_owner(text)?;
        let (path, is_prefix) = match rest.strip_suffix('*') {
            Some(beginning) => (normal_path(beginning)?, true),
            None if rest.ends_with('/') => (normal_path(rest)?, true),
            None => (rest.parse::<MemoryPath>()?.into(), false),
        };
        Ok(Self { owner, path, is_prefix })
    }
}

impl TryFrom<String> for PathPattern {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<PathPattern> for String {
    fn from(pattern: PathPattern) -> Self {
        pattern.to_string()
    }
}

impl fmt::Display for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(owner) = &self.owner {
            write!(f, "{}:", owner.as_str())?;
        }
        write!(f, "{}{}", self.path, if self.is_prefix { "*" } else { "" })
    }
}

impl DocumentPath {
    /// The pattern of all documents below this path, of this owner.
    #[must_use]
    pub fn below(&self, caller: &Agent) -> PathPattern {
        let owner = Some(self.owner.as_ref().unwrap_or(caller).clone());
        PathPattern { owner, path: format!("{}/", self.path), is_prefix: true }
    }

    /// The path of a document below this folder after the folder became `to`.
    ///
    /// # Errors
    /// As a path's, if the new one is too long or too deep.
    pub fn moved_below(&self, document: &MemoryPath, to: &MemoryPath) -> Result<MemoryPath> {
        let rest = document.as_str().strip_prefix(self.path.as_str()).unwrap_or_default();
        let moved: Result<MemoryPath> = format!("{to}{rest}").parse();
        moved.map_err(|error| error.with_field("new_path"))
    }
}

/// The place of a document in a list by path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PathPosition {
    /// Its path.
    pub path: String,
    /// The position of the memory in its journal.
    pub sequence: u64,
}

impl PathPosition {
    /// The cursor after this position: its sequence, the bytes of its path, and these in numbers.
    #[must_use]
    pub fn cursor(&self) -> PageCursor {
        let mut numbers = vec![self.sequence, self.path.len() as u64];
        numbers.extend(self.path.as_bytes().chunks(8).map(|chunk| {
            let mut bytes = [0; 8];
            bytes[..chunk.len()].copy_from_slice(chunk);
            u64::from_be_bytes(bytes)
        }));
        PageCursor::of(&numbers)
    }

    /// The position of a cursor.
    ///
    /// # Errors
    /// `invalid` if the cursor is of another list.
    pub fn of_cursor(cursor: &PageCursor) -> Result<Self> {
        let [sequence, length, chunks @ ..] = cursor.as_slice() else {
            return Err(PageCursor::foreign_cursor());
        };
        let mut bytes: Vec<u8> = chunks.iter().flat_map(|chunk| chunk.to_be_bytes()).collect();
        let length = usize::try_from(*length).unwrap_or(usize::MAX);
        if length.div_ceil(8) != chunks.len() || i64::try_from(*sequence).is_err() {
            return Err(PageCursor::foreign_cursor());
        }
        bytes.truncate(length);
        let path = String::from_utf8(bytes).map_err(|_| PageCursor::foreign_cursor())?;
        Ok(Self { path, sequence: *sequence })
    }
}

impl Memory {
    /// Whether it is a document: it has a path, and stays as it is until its owner changes it.
    #[must_use]
    pub fn is_document(&self) -> bool {
        self.path.is_some()
    }

    /// Whether it is an opaque document: a program of its owner keeps its text byte for byte, and nothing
    /// searches, judges or tells it. Only a sight that asks for such documents sees it.
    #[must_use]
    pub fn is_opaque(&self) -> bool {
        self.is_document() && self.memory_type.is_opaque()
    }

    /// The most bytes that its text may have.
    pub(super) fn text_bytes_max(&self) -> usize {
        match (self.is_opaque(), self.is_document()) {
            (true, _) => limits::OPAQUE_BYTES,
            (false, true) => limits::DOCUMENT_BYTES,
            (false, false) => limits::TEXT_BYTES,
        }
    }

    /// Checks that its path fits the rest of it.
    pub(super) fn check_path(&self) -> Result<()> {
        if self.is_document() && self.case.is_some() {
            return Err(entry_with_path());
        }
        if self.is_opaque() && self.sharing == Sharing::Shared {
            return Err(Error::invalid("sharing", "an opaque document is private to its owner")
                .hint("Leave out `sharing`, or choose another `memory_type`."));
        }
        if self.is_opaque() && !self.entities.is_empty() {
            return Err(opaque_with_link("entities"));
        }
        Ok(())
    }

    /// Checks which characters its text may have: all but U+0000, which PostgreSQL cannot hold, if it is opaque,
    /// else no control characters.
    pub(super) fn check_characters(&self) -> Result<()> {
        if !self.is_opaque() {
            return input::refuse_control_characters("text", &self.text);
        }
        match self.text.contains('\0') {
            true => Err(Error::invalid("text", "contains the character U+0000")
                .hint("Encode the bytes as text, such as base64.")),
            false => Ok(()),
        }
    }

    /// Refuses a change that makes a document opaque, or an opaque one another.
    ///
    /// # Errors
    /// `invalid` on `memory_type`.
    pub(super) fn check_opacity(&self, before: &Self) -> Result<()> {
        if self.is_opaque() == before.is_opaque() {
            return Ok(());
        }
        let reason =
            "a memory never becomes an opaque document, nor an opaque document another memory";
        Err(Error::invalid("memory_type", reason)
            .hint("Leave `memory_type` as it is, or delete the memory and save it again."))
    }
}

/// The error of an opaque document with a field that links a memory to others.
pub(super) fn opaque_with_link(field: &str) -> Error {
    Error::invalid(field, "an opaque document has none: nothing reads its text")
        .hint(format!("Leave out `{field}`, or choose another `memory_type`."))
}

/// The error of an entry of a case with a path: an entry never changes.
pub(super) fn entry_with_path() -> Error {
    Error::invalid("path", "an entry of a case has no path")
        .hint("Leave out `path`, or leave out `case`.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::id::HANDLE_PATTERN;

    #[test]
    fn a_path_has_one_form() {
        for (written, path) in [
            ("/notes/plan.md", "/notes/plan.md"),
            ("notes/plan.md", "/notes/plan.md"),
            ("/re\u{301}sume\u{301}", "/r\u{e9}sum\u{e9}"),
            ("/a b/c:d", "/a b/c:d"),
            ("/.hidden/...", "/.hidden/..."),
        ] {
            assert_eq!(written.parse::<MemoryPath>().expect("a path").as_str(), path);
        }
        let deep = "/a".repeat(limits::PATH_SEGMENTS);
        assert!(deep.parse::<MemoryPath>().is_ok());
        assert!(format!("/{}", "a".repeat(limits::PATH_BYTES - 1)).parse::<MemoryPath>().is_ok());
    }

    #[test]
    fn what_is_no_path_says_why_and_what_to_do() {
        let (deep, long) =
            (format!("{}/a", "/a".repeat(limits::PATH_SEGMENTS)), "a".repeat(limits::PATH_BYTES));
        for written in [
            "",
            "/",
            "//a",
            "/a/",
            "/a//b",
            "/a/./b",
            "/../a",
            "/a/..",
            "/a\nb",
            "/a\u{200b}b",
            "/a\u{202e}b",
            "/ a",
            "/a /b",
            &deep,
            &long,
        ] {
            let error = written.parse::<MemoryPath>().expect_err(written);
            assert_eq!(error.field.as_deref(), Some("path"), "{written:?}");
            assert!(error.hint.is_some(), "{written:?}: {error:?}");
        }
    }

    #[test]
    fn an_address_is_an_id_or_a_path_with_or_without_its_owner() {
        let id: MemoryId = "mem_01h455vb4pex5vsknk084sn02q".parse().expect("an id");
        assert_eq!(id.to_string().parse::<MemoryAddress>().expect("an address"), id.into());
        for written in ["/a/b:/c", "ann:/notes/x", "ann/rev:/x"] {
            let address: MemoryAddress = written.parse().expect("an address");
            assert_eq!(address.to_string(), written);
        }
        let MemoryAddress::Path(of_ann) = "ann/rev:/x".parse().expect("an address") else {
            panic!("a path")
        };
        assert_eq!(of_ann.owner.map(|owner| owner.as_str().to_owned()).as_deref(), Some("ann/rev"));
        for written in ["notes", "", "ann:/", "ann:/../x"] {
            assert!(written.parse::<MemoryAddress>().is_err(), "{written}");
        }
    }

    #[test]
    fn a_pattern_is_one_path_or_its_beginning() {
        for (written, shown, is_prefix) in [
            ("/a/b", "/a/b", false),
            ("a/b*", "/a/b*", true),
            ("/a/", "/a/*", true),
            ("/", "/*", true),
            ("*", "/*", true),
            ("ann:/a*", "ann:/a*", true),
        ] {
            let pattern: PathPattern = written.parse().expect("a pattern");
            assert_eq!((pattern.to_string().as_str(), pattern.is_prefix), (shown, is_prefix));
        }
        assert!("/a/../b".parse::<PathPattern>().is_err());
    }

    #[test]
    fn a_cursor_holds_its_position() {
        for path in ["/a", "/1234567", "/12345678", "/r\u{e9}sum\u{e9}"] {
            let position = PathPosition { path: path.to_owned(), sequence: 7 };
            assert_eq!(PathPosition::of_cursor(&position.cursor()).expect("a position"), position);
        }
        assert!(PathPosition::of_cursor(&PageCursor::of(&[7])).is_err());
        assert!(PathPosition::of_cursor(&PageCursor::of(&[7, 9, 1])).is_err());
    }

    #[test]
    fn the_patterns_of_addresses_are_those_of_handles() {
        assert!(ADDRESS_PATTERN.contains(HANDLE_PATTERN));
        assert_eq!(DELETION_ADDRESS_PATTERN.replace("{8,26}", "{6,26}"), ADDRESS_PATTERN);
    }
}
