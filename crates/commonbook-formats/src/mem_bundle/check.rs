//! The check of a whole bundle before its first row: manifest, paths, checksums, and the form of every record.

use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::episode::is_own_line;
use super::manifest::{BundleManifest, path_in_bundle, read_manifest_bytes};
use super::records::{
    CoreBlock, DeletionRecord, DerivedFact, EntityEdge, EntityNode, Episode, UserPreference,
    UserProcedure, record_of,
};
use super::{
    BUNDLE_FILE_BYTES_MAX, CHECKSUMS, EPISODES, FORMAT_VERSION, LISTED_FOLDERS, MANIFEST, OWN_FILE,
};
use crate::files::{SOURCE_FILES_MAX, SourceFile};
use crate::lines::JsonLines;
use crate::{Progress, RowOutcome};

/// Wrong places that are reported.
const FAULTS_MAX: usize = 20;

/// The file of deletions.
const TOMBSTONES: &str = "audit/tombstones.jsonl";

/// The files that rows are read from, in the order of their rows. The first two are read as one.
pub(super) const READ_FILES: [&str; 8] = [
    EPISODES,
    OWN_FILE,
    "items/entity.jsonl",
    "items/edge.jsonl",
    "items/fact.jsonl",
    "items/core.jsonl",
    "items/procedure.jsonl",
    "items/preference.jsonl",
];

/// A bundle in which nothing is wrong.
pub(super) struct CheckedBundle {
    folder: PathBuf,
    /// The ids of what was deleted.
    pub deleted: HashSet<String>,
    /// The names of the nodes by their ids.
    pub nodes: HashMap<String, String>,
    /// What no row is made of.
    pub left_out: Vec<RowOutcome>,
}

impl CheckedBundle {
    /// A file of the bundle, if it is there.
    pub(super) fn file(&self, name: &str) -> Option<SourceFile> {
        let file = bundle_file(&self.folder, name);
        file.path.is_file().then_some(file)
    }
}

/// The file of this name, whether it is there or not.
fn bundle_file(folder: &Path, name: &str) -> SourceFile {
    let path = folder.join(name);
    let bytes = path.metadata().map_or(0, |file| file.len());
    SourceFile { path, name: name.to_owned(), bytes }
}

/// Checks a bundle.
///
/// # Errors
/// Everything that is wrong, as far as [`FAULTS_MAX`] places.
pub(super) fn check(folder: &Path, progress: &Progress) -> Result<CheckedBundle, Vec<RowOutcome>> {
    let mut check = BundleCheck { folder, progress, faults: Vec::new() };
    let Some(manifest) = check.manifest() else { return Err(check.faults) };
    check.files(&manifest);
    check.digest(&manifest);
    if !check.faults.is_empty() {
        return Err(check.faults);
    }
    let mut bundle = CheckedBundle {
        folder: folder.to_owned(),
        deleted: HashSet::new(),
        nodes: HashMap::new(),
        left_out: Vec::new(),
    };
    check.records::<DeletionRecord>(TOMBSTONES, |deletion| {
        bundle.deleted.insert(deletion.target_id);
        Ok(())
    });
    check.records::<Episode>(EPISODES, accept);
    check.records::<Value>(OWN_FILE, |line| match is_own_line(&line) {
        true => Ok(()),
        false => Err("expected a memory of Commonbook, or earlier revisions of one".to_owned()),
    });
    check.records::<EntityNode>("items/entity.jsonl", |node| {
        bundle.nodes.insert(node.id, node.canonical_name);
        Ok(())
    });
    check.records::<EntityEdge>("items/edge.jsonl", accept);
    check.records::<DerivedFact>("items/fact.jsonl", accept);
    check.records::<CoreBlock>("items/core.jsonl", accept);
    check.records::<UserProcedure>("items/procedure.jsonl", accept);
    check.records::<UserPreference>("items/preference.jsonl", accept);
    if !check.faults.is_empty() {
        return Err(check.faults);
    }
    bundle.left_out = left_out_files(folder, &manifest);
    Ok(bundle)
}

/// Accepts every record of the right form.
#[expect(clippy::unnecessary_wraps, reason = "one of several rules for records")]
fn accept<T>(_: T) -> Result<(), String> {
    Ok(())
}

/// A check that is under way.
struct BundleCheck<'c> {
    folder: &'c Path,
    progress: &'c Progress,
    faults: Vec<RowOutcome>,
}

impl BundleCheck<'_> {
    fn fault(&mut self, name: &str, line: Option<usize>, reason: impl Into<String>) {
        if self.faults.len() < FAULTS_MAX {
            let file = bundle_file(self.folder, name);
            self.faults.push(RowOutcome::refused(&file, line, reason));
        }
    }

    fn is_full(&self) -> bool {
        self.faults.len() >= FAULTS_MAX
    }

    fn manifest(&mut self) -> Option<BundleManifest> {
        let bytes = match path_in_bundle(self.folder, MANIFEST) {
            None => Err("the manifest is a link; expected a file".to_owned()),
            Some(path) if path.exists() && !path.is_file() => {
                Err("the manifest is no file".to_owned())
            }
            Some(path) => read_manifest_bytes(&path)
                .map_err(|error| format!("the manifest cannot be read: {error}")),
        };
        let read = bytes.and_then(|bytes| {
            let value: Value = serde_json::from_slice(&bytes)
                .map_err(|error| format!("the manifest is not JSON: {error}"))?;
            record_of::<BundleManifest>(&value)
        });
        let major = |version: &str| version.split('.').next().unwrap_or_default().to_owned();
        match read {
            Ok(manifest) if major(&manifest.format) == major(FORMAT_VERSION) => Some(manifest),
            Ok(manifest) => {
                let found: String = manifest.format.chars().take(20).collect();
                let reason = format!("format: the bundle has version {found:?}; expected 1");
                self.fault(MANIFEST, None, reason);
                None
            }
            Err(reason) => {
                self.fault(MANIFEST, None, reason);
                None
            }
        }
    }

    /// Checks each listed file, and that no other is there.
    fn files(&mut self, manifest: &BundleManifest) {
        if manifest.files.len() > SOURCE_FILES_MAX {
            let reason = format!("files: more than {SOURCE_FILES_MAX} files");
            return self.fault(MANIFEST, None, reason);
        }
        for (index, listed) in manifest.files.iter().enumerate() {
            if self.is_full() {
                return;
            }
            let Some(path) = path_in_bundle(self.folder, &listed.path) else {
                let reason = format!("files[{index}].path: the path leads out of the bundle");
                self.fault(MANIFEST, None, reason);
                continue;
            };
            match path.metadata() {
                Ok(file) if file.is_file() => {}
                _ => {
                    self.fault(
                        &listed.path,
                        None,
                        "the manifest lists this file, and it is missing",
                    );
                    continue;
                }
            }
            match self.sha256(&listed.path) {
                Err(reason) => self.fault(&listed.path, None, reason),
                Ok((_, bytes)) if bytes != listed.bytes => {
                    let reason =
                        format!("it has {bytes} bytes; the manifest says {}", listed.bytes);
                    self.fault(&listed.path, None, reason);
                }
                Ok((sha256, _)) if sha256 != listed.sha256 => {
                    let reason = "its checksum is not that of the manifest: the file was changed";
                    self.fault(&listed.path, None, reason);
                }
                Ok(_) => {}
            }
        }
        let listed: HashSet<&str> = manifest.files.iter().map(|file| &*file.path).collect();
        for folder in LISTED_FOLDERS {
            let Ok(entries) = std::fs::read_dir(self.folder.join(folder)) else { continue };
            let mut names: Vec<String> = entries
                .filter_map(Result::ok)
                .take(SOURCE_FILES_MAX)
                .map(|entry| format!("{folder}/{}", entry.file_name().to_string_lossy()))
                .collect();
            names.sort_unstable();
            for name in names.iter().filter(|name| !listed.contains(&***name)) {
                self.fault(name, None, "the manifest does not list this file");
            }
        }
    }

    /// Checks the one hash of the whole bundle, if the manifest has it.
    fn digest(&mut self, manifest: &BundleManifest) {
        let Some(expected) = &manifest.bundle_digest else { return };
        match path_in_bundle(self.folder, CHECKSUMS).map(|_| self.sha256(CHECKSUMS)) {
            Some(Ok((found, _))) if found == *expected => {}
            Some(Ok(_)) => {
                self.fault(CHECKSUMS, None, "its checksum is not the manifest's bundleDigest");
            }
            Some(Err(reason)) => self.fault(CHECKSUMS, None, reason),
            None => self.fault(CHECKSUMS, None, "the file is a link; expected a file"),
        }
    }

    /// The checksum of a file in hexadecimal, and its bytes.
    fn sha256(&self, name: &str) -> Result<(String, u64), String> {
        let file = bundle_file(self.folder, name);
        if file.bytes > BUNDLE_FILE_BYTES_MAX {
            let found = file.bytes;
            return Err(format!("it has {found} bytes; expected at most {BUNDLE_FILE_BYTES_MAX}"));
        }
        // A pipe would never end.
        if !file.path.is_file() {
            return Err("the file is missing".to_owned());
        }
        let unread = |error| format!("the file cannot be read: {error}");
        let Ok(mut reader) = file.open(self.progress) else {
            return Err("the file cannot be read".to_owned());
        };
        let (mut digest, mut buffer, mut bytes) = (Sha256::new(), vec![0; 64 << 10], 0);
        loop {
            let count = reader.read(&mut buffer).map_err(unread)?;
            if count == 0 {
                return Ok((format!("{:x}", digest.finalize()), bytes));
            }
            digest.update(&buffer[..count]);
            bytes += count as u64;
        }
    }

    /// Checks the records of a file, and hands over each.
    fn records<T: DeserializeOwned>(
        &mut self,
        name: &str,
        mut each: impl FnMut(T) -> Result<(), String>,
    ) {
        let file = bundle_file(self.folder, name);
        if !file.path.is_file() {
            return;
        }
        let Ok(reader) = file.open(self.progress) else {
            return self.fault(name, None, "the file cannot be read");
        };
        for line in JsonLines::new(reader) {
            if let Err(reason) =
                line.value.and_then(|value| record_of::<T>(&value)).and_then(&mut each)
            {
                self.fault(name, Some(line.number), reason);
            }
            if self.is_full() {
                return;
            }
        }
    }
}

/// The files of items that no row is made of.
fn left_out_files(folder: &Path, manifest: &BundleManifest) -> Vec<RowOutcome> {
    let mut names: Vec<&str> = manifest.files.iter().map(|file| &*file.path).collect();
    names.sort_unstable();
    let unread = names
        .into_iter()
        .filter(|name| name.starts_with("items/") && !READ_FILES.contains(name))
        .map(|name| {
            let kind = name.trim_start_matches("items/").trim_end_matches(".jsonl");
            let reason = format!("records of the kind {kind} are not memories");
            RowOutcome::left_out(&bundle_file(folder, name), reason)
        });
    unread.collect()
}
