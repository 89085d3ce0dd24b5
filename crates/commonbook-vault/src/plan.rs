//! The plan of one memory's file: what follows from the file, the store, and the revision that both come
//! from. A pure function.

use std::collections::BTreeSet;

use commonbook::base::error::Result;
use commonbook::model::forgetting::{FORGOTTEN_MARK, texts_of};
use commonbook::model::memory::Memory;
use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::memory_file::{EditableFields, MemoryEnding, MemoryFile, memory_checksum};

/// A memory as the store has it, with its earlier revisions.
#[derive(Debug, Clone, PartialEq)]
pub struct HomeMemory {
    /// The memory now.
    pub memory: Memory,
    /// Its earlier revisions, oldest first.
    pub earlier: Vec<Memory>,
}

impl HomeMemory {
    /// The revision with one of these checksums; the newest if there are several.
    fn revision_of(&self, checksums: &[&str]) -> Option<&Memory> {
        let revisions = self.earlier.iter().chain([&self.memory]).rev();
        let mut revisions = revisions.map(|memory| (memory_checksum(memory), memory));
        revisions.find(|(sum, _)| checksums.contains(&sum.as_str())).map(|(_, memory)| memory)
    }

    /// When the memory was deleted, of each deletion that was undone.
    pub fn undone_deletions(&self) -> impl Iterator<Item = Timestamp> {
        let deletions = self.earlier.iter().filter_map(|memory| memory.deleted_at);
        deletions.filter(|at| self.memory.deleted_at != Some(*at))
    }

    /// How the memory was put away elsewhere, as its file says, unless that was undone here since.
    fn news_of_ending(&self, file: &MemoryFile) -> Option<MemoryEnding> {
        file.ending().filter(|ending| match ending {
            MemoryEnding::Deleted(at) => self.undone_deletions().all(|undone| undone != *at),
            MemoryEnding::Superseded(_) => true,
        })
    }

    /// Whether a part of the revision that a file was written of was forgotten here since, so that no
    /// checksum names it any more.
    fn has_lost_text_of(&self, file: &MemoryFile) -> bool {
        let revisions = self.earlier.iter().chain([&self.memory]);
        let mut named = revisions.filter(|memory| Some(memory.revision) == file.revision());
        named.any(|memory| {
            texts_of(memory).into_iter().flatten().any(|it| it.contains(FORGOTTEN_MARK))
        })
    }

    /// The revision that a file names whose checksum a person took out.
    fn numbered(&self, file: &MemoryFile) -> Option<&Memory> {
        let number = file.revision().filter(|_| file.written_checksum().is_none())?;
        self.earlier.iter().chain([&self.memory]).find(|memory| memory.revision == number)
    }
}

/// What is to be done about the file of a memory that the store has.
#[derive(Debug, Clone, PartialEq)]
pub enum MemoryStep {
    /// File and store say the same.
    Nothing,
    /// The file is older than the store: it is written again.
    WriteFile,
    /// Nothing happens to the file. The other side has a later revision: it keeps the memory, or put it away
    /// in a way that an edit of the file cannot.
    LeaveFile,
    /// The file says something new, which the store takes; then the file is written.
    ChangeStore(Box<EditableFields>),
    /// The memory was put away elsewhere, as the file says.
    PutAway(MemoryEnding),
    /// The deletion of the memory was undone elsewhere, as the file says: the store undoes it too, and takes
    /// what the file says.
    Restore(Box<EditableFields>),
    /// File and store each changed what the other changed too: the file's version becomes a memory of
    /// the person beside the store's.
    KeepBoth(Box<EditableFields>),
}

/// The step for the file of a memory that the store has. `file` is the file as it was read.
///
/// - A file that says what the store says is written again only if its revision is older: of two stores
///   with one vault neither writes what the other wrote.
/// - An edit is compared with the newest revision of the store among those that the file comes from.
///   Changes of different fields, topics, or lines that lie apart, are joined. Where both sides changed
///   one thing, both are kept.
/// - A file as it was written of a revision that has lost what was forgotten is written again.
/// - What the store has put away since is not changed by an edit: both are kept. The file of a memory
///   that was away already is written again.
/// - A memory whose deletion the file's side has undone is restored, with what the file says since.
///
/// # Errors
/// `invalid` with the key if the value of an edited key is wrong.
pub fn plan_memory(stored: &HomeMemory, file: &MemoryFile) -> Result<MemoryStep> {
    let memory = &stored.memory;
    let now = EditableFields::of(memory);
    let said = file.editable_fields(&now)?;
    let is_undone = memory.deleted_at.is_some_and(|at| file.undone_deletions().contains(&at))
        && !file.is_put_away();
    if said.says_same(&now) {
        return Ok(match is_undone {
            true => MemoryStep::Restore(Box::new(said)),
            false => plan_same(stored, file, file.is_unedited(&said)),
        });
    }
    let base = stored.revision_of(&file.known_checksums()).or_else(|| stored.numbered(file));
    let is_unedited = file.is_unedited(&said);
    let Some(base) = base else {
        return Ok(match is_unedited && stored.has_lost_text_of(file) {
            true => MemoryStep::WriteFile,
            false => MemoryStep::KeepBoth(Box::new(said)),
        });
    };
    let before = EditableFields::of(base);
    if is_undone {
        return Ok(match merge_fields(&before, &now, &said) {
            Some(merged) => MemoryStep::Restore(Box::new(merged)),
            None => MemoryStep::KeepBoth(Box::new(said)),
        });
    }
    if !memory.is_current() {
        return Ok(match file.is_put_away() {
            // Both sides have put it away, each at its own version.
            true if is_unedited => MemoryStep::Nothing,
            true => MemoryStep::WriteFile,
            false if said.says_same(&before) => MemoryStep::WriteFile,
            false => MemoryStep::KeepBoth(Box::new(said)),
        });
    }
    if said.says_same(&before) {
        return Ok(MemoryStep::WriteFile);
    }
    // The other side knew this version, and put the memory away.
    if is_unedited
        && before.says_same(&now)
        && let Some(ending) = stored.news_of_ending(file)
    {
        return Ok(MemoryStep::PutAway(ending));
    }
    Ok(match merge_fields(&before, &now, &said) {
        Some(merged) if merged.says_same(&now) => MemoryStep::WriteFile,
        Some(merged) => MemoryStep::ChangeStore(Box::new(merged)),
        None => MemoryStep::KeepBoth(Box::new(said)),
    })
}

/// The step for a file that says what the store says, and undoes no deletion of the store.
///
/// A deletion is known by its time. Where one side has deleted the memory and the other has it, the deletion
/// is followed, unless the other side has undone the deletion of that time. Where one side has put it away
/// otherwise, the later revision stays, and of one revision the side that has put it away is followed.
fn plan_same(stored: &HomeMemory, file: &MemoryFile, is_unedited: bool) -> MemoryStep {
    let memory = &stored.memory;
    let has_owner = file.is_of_others(memory) || file.owner() == Some(memory.owner.as_str());
    let Some(revision) = file.revision().filter(|_| is_unedited && has_owner) else {
        return MemoryStep::WriteFile;
    };
    let order = revision.cmp(&memory.revision);
    match (memory.is_current(), file.is_put_away()) {
        (true, true) => match (stored.news_of_ending(file), file.ending()) {
            (Some(ending @ MemoryEnding::Deleted(_)), _) => MemoryStep::PutAway(ending),
            (None, Some(MemoryEnding::Deleted(_))) => MemoryStep::WriteFile,
            _ if order.is_lt() => MemoryStep::WriteFile,
            (Some(ending), _) => MemoryStep::PutAway(ending),
            (None, _) => MemoryStep::LeaveFile,
        },
        (false, false) if memory.deleted_at.is_some() || order.is_le() => MemoryStep::WriteFile,
        (false, false) => MemoryStep::LeaveFile,
        (true, false) | (false, true) if order.is_lt() => MemoryStep::WriteFile,
        (true, false) | (false, true) => MemoryStep::Nothing,
    }
}

/// The fields with the changes of both sides; `None` where both changed one thing.
fn merge_fields(
    base: &EditableFields,
    stored: &EditableFields,
    file: &EditableFields,
) -> Option<EditableFields> {
    Some(EditableFields {
        text: merge_text(&base.text, &stored.text, &file.text)?,
        title: merge_value(&base.title, &stored.title, &file.title)?,
        summary: merge_value(&base.summary, &stored.summary, &file.summary)?,
        topics: merge_list(&base.topics, &stored.topics, &file.topics),
        entities: merge_list(&base.entities, &stored.entities, &file.entities),
        importance: merge_value(&base.importance, &stored.importance, &file.importance)?,
        memory_type: merge_value(&base.memory_type, &stored.memory_type, &file.memory_type)?,
        sharing: merge_value(&base.sharing, &stored.sharing, &file.sharing)?,
        valid_from: merge_value(&base.valid_from, &stored.valid_from, &file.valid_from)?,
        valid_until: merge_value(&base.valid_until, &stored.valid_until, &file.valid_until)?,
        metadata: merge_map(&base.metadata, &stored.metadata, &file.metadata)?,
    })
}

/// The value of the side that changed it.
fn merge_value<T: PartialEq + Clone>(base: &T, stored: &T, file: &T) -> Option<T> {
    match (stored == base, file == base) {
        (_, true) => Some(stored.clone()),
        (true, false) => Some(file.clone()),
        (false, false) => (stored == file).then(|| stored.clone()),
    }
}

/// The text with the lines that each side changed; `None` where their changes touch.
fn merge_text(base: &str, stored: &str, file: &str) -> Option<String> {
    let trimmed = [base, stored, file].map(str::trim_end);
    if let Some(text) = merge_value(&trimmed[0], &trimmed[1], &trimmed[2]) {
        let whole = [stored, file].into_iter().find(|whole| whole.trim_end() == text);
        return whole.map(str::to_owned);
    }
    let [base, stored, file] = trimmed.map(|text| format!("{text}\n"));
    let merged = diffy::merge(&base, &stored, &file).ok()?;
    Some(merged.trim_end().to_owned())
}

/// The store's list without what the file took out, and with what it added.
fn merge_list<T: PartialEq + Clone>(base: &[T], stored: &[T], file: &[T]) -> Vec<T> {
    let kept = stored.iter().filter(|value| file.contains(value) || !base.contains(value));
    let added = file.iter().filter(|value| !base.contains(value) && !stored.contains(value));
    kept.chain(added).cloned().collect()
}

/// The fields of both sides; `None` where both changed one.
fn merge_map(
    base: &Map<String, Value>,
    stored: &Map<String, Value>,
    file: &Map<String, Value>,
) -> Option<Map<String, Value>> {
    let keys: BTreeSet<&String> = stored.keys().chain(file.keys()).collect();
    let mut merged = stored.clone();
    for key in keys {
        match merge_value(&base.get(key), &stored.get(key), &file.get(key))? {
            Some(value) => merged.insert(key.clone(), value.clone()),
            None => merged.shift_remove(key),
        };
    }
    Some(merged)
}
