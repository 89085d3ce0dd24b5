//! The standing memory files of a home that is one of several on one store: each follows the newest
//! version that any of them has stored.
//!
//! Beside each file a record says which version it has. A file that is as the record says was not edited
//! here, and takes the newest version; an edited one becomes the newest version.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::files::{StandingTarget, stage};
use super::versions::{StandingCause, put_edit, put_version};
use crate::base::error::Result;
use crate::base::hash::sha256;
use crate::model::standing::{StandingAction, StandingKey, StandingLocation, StandingVersion};
use crate::verbs::Commonbook;

/// What a home knows of one of its files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct MirrorRecord {
    /// The version that the file has.
    version: u64,
    /// The hash of the stored text: a purge changes a version without a new number.
    version_sha256: String,
    /// The hash of the file.
    file_sha256: String,
}

impl Commonbook {
    /// Stores the texts of the home's standing memory files as versions, where an editor changed them:
    /// before the store is moved without its home.
    ///
    /// # Errors
    /// As [`Self::list_standing`].
    pub fn store_standing_files(&self) -> Result<()> {
        for role in self.files.roles(None).map_err(super::no_folder)? {
            for target in self.files.places(None, &role).map_err(super::no_folder)? {
                if let Some(text) = target.text()? {
                    self.observe_standing(&target, &text)?;
                }
            }
        }
        Ok(())
    }

    /// Brings the standing memory files of the home up to date with the other homes of the store.
    ///
    /// # Errors
    /// `unavailable` if the store or a file cannot be read or written.
    pub fn mirror_standing_files(&self) -> Result<()> {
        let newest = self.store.read(|tx| tx.newest_standing_versions(""))?;
        let mut roles: BTreeSet<String> = newest.into_iter().map(|(role, _)| role).collect();
        roles.extend(self.files.roles(None).map_err(super::no_folder)?);
        roles.iter().try_for_each(|role| self.mirror_role(role))
    }

    /// The same before files are used, of this role or of all: a file that cannot be brought up to date
    /// is used as it is.
    pub(in crate::verbs) fn follow_other_homes(&self, role: Option<&str>) {
        if self.node.is_none() || self.files.home().is_none() {
            return;
        }
        let followed = match role {
            Some(role) => self.mirror_role(role),
            None => self.mirror_standing_files(),
        };
        if let Err(error) = followed {
            tracing::warn!(%error, "a standing memory file does not follow the other homes");
        }
    }

    /// Brings the file of a role up to date. One that a writer has locked is left to that writer.
    fn mirror_role(&self, role: &str) -> Result<()> {
        for target in self.files.places(None, role).map_err(super::no_folder)? {
            let unusable = |error| target.unusable(error);
            if !target.exists && self.newest_version(&target.key)?.is_none() {
                continue;
            }
            target.make_folder().map_err(unusable)?;
            if let Some(_lock) = self.files.try_lock(&target).map_err(unusable)? {
                self.mirror_locked(&target)?;
            }
        }
        Ok(())
    }

    /// Brings a file that is locked up to date with the newest version, or stores it as such.
    fn mirror_file(&self, target: &StandingTarget, newest: Option<&StandingVersion>) -> Result<()> {
        let (text, record) = (target.text()?, read_record(target));
        let file_sha256 = text.as_deref().map(sha256);
        let is_edited = record.as_ref().map(|record| &record.file_sha256) != file_sha256.as_ref();
        match (text, newest) {
            (None, None) => Ok(()),
            (Some(_), Some(newest))
                if record.as_ref().is_some_and(|record| {
                    !is_edited
                        && record.version == newest.version
                        && record.version_sha256 == newest.sha256
                }) =>
            {
                Ok(())
            }
            (Some(_), Some(newest)) if file_sha256.as_ref() == Some(&newest.sha256) => {
                self.note_mirrored(target, newest.version)
            }
            (Some(text), None) => {
                self.store_edit(target, text)?;
                Ok(())
            }
            (Some(text), Some(_)) if is_edited && record.is_some() => {
                self.store_edit(target, text)?;
                Ok(())
            }
            // A home that joins with a file of its own: its text stays in the history.
            (Some(text), Some(newest)) if record.is_none() => {
                let kept = self.stored_text(&target.key, newest.version)?;
                self.store_edit(target, text)?;
                let (key, at) = (target.key.clone(), self.clock.now());
                let cause = StandingCause { by: None, action: StandingAction::Restored, at };
                let version =
                    self.store.write(move |tx| put_version(tx, &key, &kept, cause.clone()))?;
                tracing::warn!(file = %target.path.display(), "this home had a file of its own; its text is in the history, and the file is now that of the other homes");
                self.take_version(target, version)
            }
            (_, Some(newest)) => self.take_version(target, newest.version),
        }
    }

    fn stored_text(&self, key: &StandingKey, version: u64) -> Result<String> {
        Ok(self.store.read(|tx| tx.standing_text(key, version))?.unwrap_or_default())
    }

    /// Gives a file the text of a stored version.
    fn take_version(&self, target: &StandingTarget, version: u64) -> Result<()> {
        let text = self.stored_text(&target.key, version)?;
        let unusable = |error| target.unusable(error);
        let staged = target.stage(&text).map_err(unusable)?;
        target.replace(&staged).map_err(unusable)?;
        self.note_mirrored(target, version)
    }

    /// Stores the text of a file that an editor changed.
    fn store_edit(&self, target: &StandingTarget, text: String) -> Result<()> {
        let (key, at) = (target.key.clone(), target.changed_at());
        let version = self.store.write(move |tx| put_edit(tx, &key, &text, at))?;
        self.note_mirrored(target, version)
    }

    /// Records that a file of the home has this version. The file is locked.
    pub(super) fn note_mirrored(&self, target: &StandingTarget, version: u64) -> Result<()> {
        if self.node.is_none() || target.location != StandingLocation::Home {
            return Ok(());
        }
        let (Some(text), stored) = (target.text()?, self.stored_text(&target.key, version)?) else {
            return Ok(());
        };
        let record =
            MirrorRecord { version, version_sha256: sha256(&stored), file_sha256: sha256(&text) };
        let line = serde_json::to_string(&record).unwrap_or_default();
        let path = record_path(target);
        let written = stage(&path, StandingLocation::Home, &line)
            .and_then(|staged| fs::rename(staged, &path));
        written.map_err(|error| target.unusable(error))
    }

    /// Brings a file up to date that the caller has locked.
    pub(super) fn mirror_locked(&self, target: &StandingTarget) -> Result<()> {
        if self.node.is_none() || target.location != StandingLocation::Home {
            return Ok(());
        }
        let newest = self.newest_version(&target.key)?;
        self.mirror_file(target, newest.as_ref())
    }
}

fn read_record(target: &StandingTarget) -> Option<MirrorRecord> {
    serde_json::from_str(&fs::read_to_string(record_path(target)).ok()?).ok()
}

/// The record beside a file of the home.
fn record_path(target: &StandingTarget) -> PathBuf {
    target.path.with_file_name(format!(".{}.version", target.key.role))
}
