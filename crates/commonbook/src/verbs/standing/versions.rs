//! The versions of standing memory files: each change is stored before the file is replaced, and the
//! change of an editor when the file is next used.

use std::fs;
use std::io;

use jiff::Timestamp;

use super::files::StandingTarget;
use crate::base::error::{Error, Result, unless_unwritable};
use crate::base::hash::sha256;
use crate::base::limits;
use crate::model::agent::Agent;
use crate::model::standing::{
    StandingAction, StandingDocument, StandingKey, StandingLocation, StandingVersion,
};
use crate::store::Tx;
use crate::verbs::Commonbook;
use crate::verbs::ops::forgotten::standing_without_forgotten;

/// How often a change starts again because an editor saved the file meanwhile.
const CHANGE_ATTEMPTS_MAX: usize = 5;

/// The same on a node, where each further attempt means that another node has changed the file.
const NODE_CHANGE_ATTEMPTS_MAX: usize = 64;

/// Who changes a file, how and when.
#[derive(Debug, Clone)]
pub(in crate::verbs) struct StandingCause {
    pub(in crate::verbs) by: Option<Agent>,
    pub(in crate::verbs) action: StandingAction,
    pub(in crate::verbs) at: Timestamp,
}

/// A changed file.
pub(in crate::verbs) struct StandingResult<T> {
    /// The answer of the change.
    pub(in crate::verbs) answer: T,
    /// The text before; `None` if the file was created.
    pub(in crate::verbs) before: Option<String>,
    /// The text now.
    pub(in crate::verbs) after: String,
    /// The version of the text.
    pub(in crate::verbs) version: u64,
}

impl Commonbook {
    /// Changes a standing memory file, or creates it: under a lock, atomically, as a new version.
    /// Runs `change` again if an editor saved the file meanwhile.
    ///
    /// # Errors
    /// Errors of `change`; `unavailable` if the file or the store cannot be written: the file is
    /// then unchanged.
    pub(in crate::verbs) fn change_standing<T>(
        &self,
        target: &StandingTarget,
        cause: &StandingCause,
        mut change: impl FnMut(Option<StandingDocument>) -> Result<(StandingDocument, T)>,
    ) -> Result<StandingResult<T>> {
        let unusable = |error| target.unusable(error);
        // A change that is refused makes no folder.
        if !target.exists {
            change(None)?;
        }
        target.make_folder().map_err(unusable)?;
        let _lock = self.files.lock(target).map_err(unusable)?;
        let attempts_max = match self.node {
            Some(_) => NODE_CHANGE_ATTEMPTS_MAX,
            None => CHANGE_ATTEMPTS_MAX,
        };
        for _ in 0..attempts_max {
            self.mirror_locked(target)?;
            let before = target.text()?;
            let (document, answer) = change(before.as_deref().map(StandingDocument::parse))?;
            let after = document.render();
            if before.as_deref() == Some(&after) {
                let version = self.record_edit(target, &after)?;
                return Ok(StandingResult { answer, before, after, version });
            }
            // A full disk fails here, before anything is stored.
            let staged = target.stage(&after).map_err(unusable)?;
            let discard = || drop(fs::remove_file(&staged));
            let stored = self.record_change(target, before.as_deref(), &after, cause);
            let Some(version) = stored.inspect_err(|_| discard())? else {
                discard();
                continue;
            };
            let replaced = match target.text()? == before {
                true => target.replace(&staged).map(|()| true),
                false => Ok(false),
            };
            match replaced {
                Ok(true) => {
                    self.note_mirrored(target, version)?;
                    return Ok(StandingResult { answer, before, after, version });
                }
                Ok(false) => {
                    discard();
                    self.forget_version(target, version)?;
                }
                Err(error) => {
                    discard();
                    self.forget_version(target, version)?;
                    return Err(target.unusable(error));
                }
            }
        }
        let message = format!("another program keeps changing {}", target.path.display());
        Err(Error::conflict(message).hint("Try again when it has finished."))
    }

    /// The version of a file with this text; stores the text as a new version if an editor changed
    /// the file.
    pub(in crate::verbs) fn observe_standing(
        &self,
        target: &StandingTarget,
        text: &str,
    ) -> Result<u64> {
        let (newest, cut) = self.store.read(|tx| {
            let newest = tx.standing_versions(&target.key, 1)?.into_iter().next();
            Ok((newest, standing_without_forgotten(tx, None, text)?))
        })?;
        let text = cut.as_deref().unwrap_or(text);
        if let Some(newest) = newest.as_ref().filter(|newest| newest.sha256 == sha256(text)) {
            return Ok(newest.version);
        }
        // Under the lock no writer is between its version and its file. A reader does not wait for a
        // writer, which stores what an editor has changed.
        let newest = newest.map_or(0, |newest| newest.version);
        let lock = match self.files.try_lock(target) {
            // In a home that can only be read nobody writes, and nothing is stored.
            Err(error) if is_unwritable(&error) => return Ok(newest),
            lock => lock.map_err(|error| target.unusable(error))?,
        };
        let Some(_lock) = lock else { return Ok(newest) };
        match target.text()? {
            Some(text) => Ok(unless_unwritable(self.record_edit(target, &text))?.unwrap_or(newest)),
            None => Ok(0),
        }
    }

    /// The newest stored version.
    pub(super) fn newest_version(&self, key: &StandingKey) -> Result<Option<StandingVersion>> {
        Ok(self.store.read(|tx| tx.standing_versions(key, 1))?.into_iter().next())
    }

    /// Stores the present text as a version, unless it is the newest one. The file is locked.
    fn record_edit(&self, target: &StandingTarget, text: &str) -> Result<u64> {
        let (key, text, at) = (target.key.clone(), text.to_owned(), target.changed_at());
        self.store.write(move |tx| put_edit(tx, &key, &text, at))
    }

    /// Stores the change of an editor, if there was one, and this change; `None` if another home of
    /// the store has changed the file meanwhile.
    fn record_change(
        &self,
        target: &StandingTarget,
        before: Option<&str>,
        after: &str,
        cause: &StandingCause,
    ) -> Result<Option<u64>> {
        let (key, cause, at) = (target.key.clone(), cause.clone(), target.changed_at());
        let (before, after) = (before.map(str::to_owned), after.to_owned());
        let is_mirror = self.node.is_some() && target.location == StandingLocation::Home;
        self.store.write(move |tx| {
            if is_mirror && was_changed_elsewhere(tx, &key, before.as_deref())? {
                return Ok(None);
            }
            if let Some(before) = &before {
                put_edit(tx, &key, before, at)?;
            }
            put_version(tx, &key, &after, cause.clone()).map(Some)
        })
    }

    fn forget_version(&self, target: &StandingTarget, version: u64) -> Result<()> {
        let key = target.key.clone();
        self.store.write(move |tx| tx.remove_standing_version(&key, version))
    }
}

/// Whether the newest version of a file is not this text, which was the newest one a moment ago.
fn was_changed_elsewhere(tx: &Tx<'_>, key: &StandingKey, text: Option<&str>) -> Result<bool> {
    let newest = tx.standing_versions(key, 1)?.into_iter().next();
    let Some(text) = text else { return Ok(newest.is_some()) };
    let cut = standing_without_forgotten(tx, None, text)?;
    let hash = sha256(cut.as_deref().unwrap_or(text));
    Ok(newest.is_none_or(|newest| newest.sha256 != hash))
}

/// Stores a text as the version of an editor, unless it is that of the newest version.
pub(super) fn put_edit(
    tx: &mut Tx<'_>,
    key: &StandingKey,
    text: &str,
    at: Timestamp,
) -> Result<u64> {
    let cut = standing_without_forgotten(&*tx, None, text)?;
    let text = cut.as_deref().unwrap_or(text);
    match tx.standing_versions(key, 1)?.into_iter().next() {
        Some(newest) if newest.sha256 == sha256(text) => Ok(newest.version),
        _ => {
            let cause = StandingCause { by: None, action: StandingAction::Edited, at };
            put_version(tx, key, text, cause)
        }
    }
}

pub(super) fn put_version(
    tx: &mut Tx<'_>,
    key: &StandingKey,
    text: &str,
    cause: StandingCause,
) -> Result<u64> {
    // What was forgotten does not come back by a version, whatever the file says.
    let cut = standing_without_forgotten(&*tx, None, text)?;
    let text = cut.as_deref().unwrap_or(text);
    let newest = tx.standing_versions(key, 1)?.into_iter().next();
    let version = StandingVersion {
        version: newest.map_or(0, |newest| newest.version) + 1,
        at: cause.at,
        by: cause.by,
        action: cause.action,
        bytes: text.len() as u64,
        sha256: sha256(text),
    };
    let (kept, bytes) = (limits::STANDING_VERSIONS, limits::STANDING_VERSIONS_BYTES);
    tx.put_standing_version(key, &version, text, kept, bytes)?;
    Ok(version.version)
}

/// Whether an error says that the home can only be read.
fn is_unwritable(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}
