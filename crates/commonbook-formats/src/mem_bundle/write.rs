//! Writes a bundle: memory by memory into two scratch streams, which are sorted by id at the end, with checksums
//! and a manifest. Its caller creates the files.

use std::collections::BTreeSet;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::episode::episode_of;
use super::manifest::BundleTime;
use super::{
    BUNDLE_FILE_BYTES_MAX, CHECKSUMS, EPISODES, FORMAT_VERSION, MANIFEST, OWN_FILE, OWN_KIND,
    canonical_json,
};

/// Where the format is specified.
const SPECIFICATION: &str =
    "https://github.com/MacPaw/portable-memory/blob/main/Spec/portable-memory-spec.md";

/// The time of a bundle without memories.
const EMPTY_BUNDLE_TIME: &str = "1970-01-01T00:00:00Z";

/// A bundle while it is written. It keeps the ids in memory, and the texts in scratch streams.
#[derive(Debug)]
pub struct MemBundleWriter<S: Write> {
    episodes: SortedStream<S>,
    own: SortedStream<S>,
    summary: BundleSummary,
}

/// Writes the bytes of a file of a bundle.
pub type FillFile<'f> = &'f mut dyn FnMut(&mut dyn Write) -> io::Result<()>;

/// What the manifest says of all memories.
#[derive(Debug, Default)]
struct BundleSummary {
    first: Option<BundleTime>,
    last: Option<BundleTime>,
    changed: Option<BundleTime>,
    scopes: BTreeSet<String>,
}

impl<S: Read + Write + Seek> MemBundleWriter<S> {
    /// Begins a bundle with two empty scratch streams.
    #[must_use]
    pub fn new(episodes: S, own: S) -> Self {
        Self {
            episodes: SortedStream::new(EPISODES, episodes),
            own: SortedStream::new(OWN_FILE, own),
            summary: BundleSummary::default(),
        }
    }

    /// Adds a line of an export; false if a bundle has no place for it: only memories and their earlier
    /// revisions have one.
    ///
    /// # Errors
    /// If the line is no line of an export, the bundle grows larger than its readers accept, or a scratch
    /// stream cannot be written.
    pub fn add(&mut self, line: &Map<String, Value>) -> io::Result<bool> {
        if let Some(record) = line.get("record").and_then(Value::as_str) {
            let is_revisions = record == "revisions";
            if is_revisions {
                let id = line["value"][0]["id"].as_str().unwrap_or_default();
                self.own.push(id, true, &Value::Object(line.clone()))?;
            }
            return Ok(is_revisions);
        }
        let id = line.get("id").and_then(Value::as_str).unwrap_or_default();
        self.summary.note_change(line);
        if !holds(line) {
            self.own.push(id, false, &Value::Object(line.clone()))?;
            return Ok(true);
        }
        let episode = episode_of(line).map_err(io::Error::other)?;
        self.summary.note_episode(&episode);
        self.episodes.push(id, false, &Value::Object(episode))?;
        Ok(true)
    }

    /// Completes the bundle. `generator` is the program and its version, `schema_version` that of its lines.
    /// `create` creates each file by its name below the bundle's folder, fills it, and keeps it.
    ///
    /// # Errors
    /// The error of `create` or of a scratch stream.
    pub fn finish(
        self,
        generator: &str,
        schema_version: u32,
        mut create: impl FnMut(&str, FillFile<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        let Self { episodes, own, summary } = self;
        let (episode_count, own_count) = (episodes.lines.len(), own.lines.len());
        let mut files = Vec::new();
        files.extend(own.finish(&mut create)?);
        files.extend(episodes.finish(&mut create)?);
        files.sort_by(|one, other| one.path.cmp(other.path));
        let checksums: Vec<String> =
            files.iter().map(|file| format!("{}  {}", file.sha256, file.path)).collect();
        let checksums = format!("{}\n", checksums.join("\n"));
        create(CHECKSUMS, &mut |out| out.write_all(checksums.as_bytes()))?;
        let mut counts = Map::new();
        for (kind, count) in [("episode", episode_count), (OWN_KIND, own_count)] {
            if count > 0 {
                counts.insert(kind.to_owned(), json!(count));
            }
        }
        let coverage = summary
            .first
            .zip(summary.last)
            .map(|(first, last)| json!({"from": first.canonical(), "to": last.canonical()}));
        let changed = summary.changed.map(BundleTime::canonical);
        let files = files
            .iter()
            .map(|file| json!({"path": file.path, "sha256": file.sha256, "bytes": file.bytes}));
        let manifest = json!({
            "format": FORMAT_VERSION,
            "specURL": SPECIFICATION,
            "generator": generator,
            "conformanceLevel": "L0",
            "createdAt": changed.as_deref().unwrap_or(EMPTY_BUNDLE_TIME),
            "exportMode": "full",
            "schemaVersion": schema_version,
            "embeddingModel": "",
            "embeddingDim": 0,
            "embeddingsIncluded": false,
            "capabilities": ["ext", "passthrough"],
            "counts": counts,
            "files": files.collect::<Vec<_>>(),
            "bundleDigest": format!("{:x}", Sha256::digest(checksums.as_bytes())),
            "coverage": coverage,
            "scopes": (!summary.scopes.is_empty()).then_some(&summary.scopes),
        });
        let Value::Object(mut manifest) = manifest else { return Ok(()) };
        manifest.retain(|_, value| !value.is_null());
        let manifest = canonical_json(&Value::Object(manifest));
        create(MANIFEST, &mut |out| out.write_all(manifest.as_bytes()))
    }
}

impl BundleSummary {
    fn note_change(&mut self, line: &Map<String, Value>) {
        for field in ["recorded_at", "revised_at", "archived_at", "deleted_at"] {
            let time = line.get(field).and_then(Value::as_str).and_then(BundleTime::parse);
            self.changed = self.changed.max(time);
        }
    }

    fn note_episode(&mut self, episode: &Map<String, Value>) {
        let text = |field: &str| episode.get(field).and_then(Value::as_str);
        if let Some(time) = text("eventTime").and_then(BundleTime::parse) {
            self.first = Some(self.first.map_or(time, |first| first.min(time)));
            self.last = self.last.max(Some(time));
        }
        self.scopes.extend(text("contextID").map(str::to_owned));
    }
}

/// Whether a memory holds: another program that reads it would take it for valid.
fn holds(line: &Map<String, Value>) -> bool {
    let is_quarantined = line.get("trust").and_then(Value::as_str) == Some("quarantined");
    let ended = ["deleted_at", "superseded_by", "retraction"];
    !is_quarantined && ended.iter().all(|field| line.get(*field).is_none_or(Value::is_null))
}

/// A file as the manifest lists it.
struct WrittenFile {
    path: &'static str,
    sha256: String,
    bytes: u64,
}

/// The lines of a file, sorted by their keys at the end.
#[derive(Debug)]
struct SortedStream<S: Write> {
    path: &'static str,
    unsorted: BufWriter<S>,
    lines: Vec<UnsortedLine>,
    bytes: u64,
}

/// Where a line stands while its file is not sorted.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct UnsortedLine {
    id: Box<str>,
    has_revisions: bool,
    offset: u64,
    bytes: usize,
}

impl<S: Read + Write + Seek> SortedStream<S> {
    fn new(path: &'static str, scratch: S) -> Self {
        Self { path, unsorted: BufWriter::new(scratch), lines: Vec::new(), bytes: 0 }
    }

    fn push(&mut self, id: &str, has_revisions: bool, value: &Value) -> io::Result<()> {
        let mut line = canonical_json(value);
        line.push('\n');
        let (offset, bytes) = (self.bytes, line.len());
        self.bytes += bytes as u64;
        if self.bytes > BUNDLE_FILE_BYTES_MAX {
            let message = format!(
                "{} has more than {BUNDLE_FILE_BYTES_MAX} bytes, and no reader of .mem accepts it",
                self.path
            );
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
        }
        self.lines.push(UnsortedLine { id: id.into(), has_revisions, offset, bytes });
        self.unsorted.write_all(line.as_bytes())
    }

    /// Writes the sorted file; none if it has no line.
    fn finish(
        mut self,
        create: &mut impl FnMut(&str, FillFile<'_>) -> io::Result<()>,
    ) -> io::Result<Option<WrittenFile>> {
        if self.lines.is_empty() {
            return Ok(None);
        }
        self.unsorted.flush()?;
        let mut unsorted =
            BufReader::new(self.unsorted.into_inner().map_err(io::IntoInnerError::into_error)?);
        self.lines.sort_unstable();
        let mut digest = Sha256::new();
        create(self.path, &mut |out| {
            let (mut line, mut position) = (Vec::new(), 0);
            unsorted.seek(SeekFrom::Start(0))?;
            for UnsortedLine { offset, bytes, .. } in &self.lines {
                // Lines that are in order already stay in the buffer.
                unsorted.seek_relative(offset.cast_signed() - position)?;
                line.resize(*bytes, 0);
                unsorted.read_exact(&mut line)?;
                position = offset.cast_signed() + *bytes as i64;
                digest.update(&line);
                out.write_all(&line)?;
            }
            Ok(())
        })?;
        let sha256 = format!("{:x}", digest.finalize());
        Ok(Some(WrittenFile { path: self.path, sha256, bytes: self.bytes }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_no_reader_accepts_is_not_written() {
        let mut file = SortedStream::new(EPISODES, io::Cursor::new(Vec::new()));
        file.bytes = BUNDLE_FILE_BYTES_MAX - 3;
        file.push("a", false, &json!(1)).unwrap();
        let refused = file.push("b", false, &json!(2)).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::FileTooLarge);
        let expected =
            "items/episode.jsonl has more than 268435456 bytes, and no reader of .mem accepts it";
        assert_eq!(refused.to_string(), expected);
    }
}
