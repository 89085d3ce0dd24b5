//! Lines for an import: of a file, a stream or an archive, which is recognised by its first bytes.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::path::Path;

use commonbook::base::error::{Error, Result};
use commonbook_archive::{Archive, Manifest, begins_like_archive, spool};
use commonbook_formats::{ReplacementCount, Utf8Reader};

use super::format::{ImportFormat, read_error};
use crate::calls::output;
use crate::doors::cli::archive::{ArchiveKeyOptions, archive_error};

/// Bytes by which an archive is recognised.
const START_BYTES: u64 = 40;

/// The lines of a path.
pub(super) struct LineInput {
    pub lines: Box<dyn BufRead>,
    /// Their length, where it is known.
    pub bytes: Option<u64>,
    /// What an archive says about itself.
    pub manifest: Option<Manifest>,
    /// How many times bytes that are not UTF-8 were replaced.
    pub replaced: Option<ReplacementCount>,
}

impl LineInput {
    /// Lines that are no archive.
    fn of_text(text: impl Read + 'static, bytes: Option<u64>) -> io::Result<Self> {
        let lines = Utf8Reader::new(text)?;
        let replaced = Some(lines.replaced());
        Ok(Self { lines: Box::new(BufReader::new(lines)), bytes, manifest: None, replaced })
    }
}

/// A file, or what was copied into one.
trait SeekableInput: Read + Seek {}

impl<T: Read + Seek> SeekableInput for T {}

/// Whether a path is a file that begins like an archive.
pub(super) fn is_like_archive(path: &Path) -> bool {
    path.is_file()
        && File::open(path).and_then(|mut file| starts_archive(&mut file)).unwrap_or(false)
}

/// Opens a path, or standard input for `-`. An archive is read to its end and compared with its manifest first.
///
/// # Errors
/// `invalid` if the path cannot be read, is a damaged archive or one without a key that fits, or is no archive and a
/// key was given.
pub(super) fn open_lines(
    path: &Path,
    format: ImportFormat,
    keys: &ArchiveKeyOptions,
) -> Result<LineInput> {
    let unreadable = |error| read_error(path, error);
    if path == Path::new("-") {
        return open_stream(path, Box::new(BufReader::new(io::stdin())), format, keys);
    }
    if is_open_pipe(path) {
        let pipe = File::open(path).map_err(unreadable)?;
        return open_stream(path, Box::new(BufReader::new(pipe)), format, keys);
    }
    let mut file = File::open(path).map_err(unreadable)?;
    let is_like_archive = starts_archive(&mut file).map_err(unreadable)?;
    if format == ImportFormat::Archive || (format != ImportFormat::Jsonl && is_like_archive) {
        return open_archive(path, Box::new(file), keys);
    }
    refuse_keys(path, keys)?;
    let bytes = file.metadata().map(|file| file.len()).ok();
    LineInput::of_text(file, bytes).map_err(unreadable)
}

/// Whether a path names a pipe that the shell has opened for this process, as `<(command)` does: unlike one in a
/// folder it has a writer.
pub(super) fn is_open_pipe(path: &Path) -> bool {
    let folders = ["/dev/fd", "/proc/self/fd"];
    let is_file = path.metadata().is_ok_and(|kind| kind.is_file() || kind.is_dir());
    path.parent().is_some_and(|parent| folders.iter().any(|own| parent == Path::new(own)))
        && !is_file
}

/// Opens what can be read only once. What may be an archive is copied into a temporary file.
fn open_stream(
    path: &Path,
    mut stream: Box<dyn BufRead>,
    format: ImportFormat,
    keys: &ArchiveKeyOptions,
) -> Result<LineInput> {
    let unreadable = |error| read_error(path, error);
    // A pipe may have given one byte so far: it is enough to tell that this is no line of JSON.
    let first = stream.fill_buf().map_err(unreadable)?.first().copied();
    let may_be_archive = match format {
        ImportFormat::Jsonl => false,
        ImportFormat::Archive => true,
        _ => matches!(first, Some(0x1f | b'a' | b'-')),
    };
    if !may_be_archive {
        refuse_keys(path, keys)?;
        return LineInput::of_text(stream, None).map_err(unreadable);
    }
    let copied = tempfile::tempfile().and_then(|file| spool(&mut stream, file));
    let mut copy = copied.map_err(unreadable)?;
    if format == ImportFormat::Archive || starts_archive(&mut copy).map_err(unreadable)? {
        return open_archive(path, Box::new(copy), keys);
    }
    refuse_keys(path, keys)?;
    LineInput::of_text(copy, None).map_err(unreadable)
}

fn open_archive(
    path: &Path,
    source: Box<dyn SeekableInput>,
    keys: &ArchiveKeyOptions,
) -> Result<LineInput> {
    let keys = keys.read()?;
    let progress = output::spinner("checking the archive");
    let opened = Archive::open(source, &keys);
    progress.finish_and_clear();
    let archive = opened.map_err(|error| archive_error(path, error))?;
    let manifest = archive.manifest().clone();
    let lines = archive.into_lines().map_err(|error| read_error(path, error))?;
    let bytes = manifest.parts.first().map(|part| part.bytes);
    Ok(LineInput { lines: Box::new(lines), bytes, manifest: Some(manifest), replaced: None })
}

/// Whether an input begins like an archive; the next read begins at its first byte again.
fn starts_archive(input: &mut (impl Read + Seek)) -> io::Result<bool> {
    let mut start = Vec::new();
    input.by_ref().take(START_BYTES).read_to_end(&mut start)?;
    input.rewind()?;
    Ok(begins_like_archive(&start))
}

/// What an archive says about itself, for people.
pub(super) fn description(path: &Path, manifest: &Manifest) -> String {
    let path = match path == Path::new("-") {
        true => "standard input".to_owned(),
        false => path.display().to_string(),
    };
    let lines = output::count_text(manifest.lines.values().sum(), "line", "lines");
    let (program, time) = (&manifest.written_by, manifest.written_at.strftime("%Y-%m-%d %H:%M"));
    format!("{path} is an archive of {program}, written {time} UTC: {lines}, verified")
}

/// Refuses keys for what is not encrypted.
///
/// # Errors
/// `invalid` if a key is given.
pub(super) fn refuse_keys(path: &Path, keys: &ArchiveKeyOptions) -> Result<()> {
    if !keys.is_given() {
        return Ok(());
    }
    let message = format!("{} is not an encrypted archive", path.display());
    Err(Error::invalid("PATH", message).hint("Leave --identity and --passphrase-file out."))
}
