//! The manifest of a bundle: what it declares, the paths that it may name, and times as it writes them.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// Bytes of a manifest.
pub(super) const MANIFEST_BYTES_MAX: u64 = 16 << 20;

/// Characters of a wrong value that an error repeats.
const QUOTED_CHARS_MAX: usize = 40;

/// What a manifest must say. What it says further is not needed here.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "a manifest without one of these fields is not valid")]
pub(super) struct BundleManifest {
    pub format: String,
    generator: String,
    conformance_level: ConformanceLevel,
    created_at: BundleTime,
    export_mode: BundleMode,
    schema_version: i64,
    embedding_model: String,
    embedding_dim: i64,
    embeddings_included: bool,
    capabilities: Vec<String>,
    counts: std::collections::BTreeMap<String, i64>,
    pub files: Vec<ListedFile>,
    since: Option<BundleTime>,
    pub bundle_digest: Option<String>,
}

/// How much of the format's own rules a bundle claims to keep.
#[derive(Debug, Deserialize)]
enum ConformanceLevel {
    L0,
    L1,
    L2,
    L3,
}

/// Whether a bundle has everything.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum BundleMode {
    Full,
    Incremental,
}

/// A file as the manifest lists it.
#[derive(Debug, Deserialize)]
pub(super) struct ListedFile {
    pub path: String,
    pub sha256: String,
    pub bytes: u64,
}

/// A time of a bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BundleTime(pub Timestamp);

impl BundleTime {
    /// The time with its zone, else in UTC; a date is its beginning.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let local = |time: DateTime| TimeZone::UTC.to_timestamp(time).ok();
        text.parse::<Timestamp>()
            .ok()
            .or_else(|| text.parse::<DateTime>().ok().and_then(local))
            .or_else(|| text.parse::<Date>().ok().and_then(|date| local(date.into())))
            .map(Self)
    }

    /// The time as the format writes it: in UTC, in whole seconds.
    pub(super) fn canonical(self) -> String {
        self.0.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
    }
}

impl<'de> Deserialize<'de> for BundleTime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| {
            let shown: String = text.chars().take(QUOTED_CHARS_MAX).collect();
            D::Error::custom(format!(
                "{shown:?} is not a time; expected one like 2026-01-31T08:00:00Z"
            ))
        })
    }
}

/// The bytes of a manifest.
pub(super) fn read_manifest_bytes(file: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(file)?.take(MANIFEST_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > MANIFEST_BYTES_MAX {
        true => Err(io::Error::other(format!("it has more than {MANIFEST_BYTES_MAX} bytes"))),
        false => Ok(bytes),
    }
}

/// The file that a manifest names, if the path stays in the bundle and is a file itself, no link.
pub(super) fn path_in_bundle(folder: &Path, name: &str) -> Option<PathBuf> {
    let is_plain = !name.starts_with('~')
        && !name.contains(['\\', ':', '\0'])
        && name.split('/').all(|part| !part.is_empty() && part != "." && part != "..");
    if !is_plain {
        return None;
    }
    let path = folder.join(name);
    let is_inside = match (path.canonicalize(), folder.canonicalize()) {
        (Ok(path), Ok(folder)) => path.starts_with(folder),
        // What does not exist leads nowhere.
        (path, _) => path.is_err(),
    };
    (is_inside && !path.is_symlink()).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_in_the_bundle() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["items/episode.jsonl", "CHECKSUMS", "a..b"] {
            assert!(path_in_bundle(folder.path(), name).is_some(), "{name}");
        }
        let outside = [
            "",
            "/etc/passwd",
            "../x",
            "items/../../x",
            "./x",
            "items//x",
            "~/x",
            "C:/x",
            "a\\b",
            "a\0",
        ];
        for name in outside {
            assert!(path_in_bundle(folder.path(), name).is_none(), "{name:?}");
        }
        #[cfg(unix)]
        {
            std::fs::create_dir(folder.path().join("audit")).unwrap();
            std::os::unix::fs::symlink("/etc", folder.path().join("items")).unwrap();
            std::os::unix::fs::symlink("../x", folder.path().join("audit/x")).unwrap();
            for name in ["items/hostname", "items", "audit/x"] {
                assert!(path_in_bundle(folder.path(), name).is_none(), "{name}");
            }
        }
    }

    #[test]
    fn a_time_is_read_in_each_form_and_written_in_one() {
        let table = [
            ("2026-01-31T08:00:00Z", Some("2026-01-31T08:00:00Z")),
            ("2026-01-31T08:00:00.999Z", Some("2026-01-31T08:00:00Z")),
            ("2026-01-31T08:00:00+02:00", Some("2026-01-31T06:00:00Z")),
            ("2026-01-31T08:00:00", Some("2026-01-31T08:00:00Z")),
            ("2026-01-31", Some("2026-01-31T00:00:00Z")),
            ("1969-12-31T23:59:59.5Z", Some("1969-12-31T23:59:59Z")),
            ("yesterday", None),
            ("", None),
        ];
        for (text, expected) in table {
            let found = BundleTime::parse(text).map(BundleTime::canonical);
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }
}
