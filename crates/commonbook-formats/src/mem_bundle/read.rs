//! The rows of a checked bundle: our own memories as they were, and the records of other programs, untrusted.

use std::cmp::Ordering;
use std::iter::{Peekable, once};
use std::path::Path;
use std::rc::Rc;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::check::{CheckedBundle, check};
use super::episode::{OWN_FIELD, importance_word, is_open, own_line};
use super::manifest::BundleTime;
use super::records::{
    CoreBlock, DerivedFact, EPISODE_FIELDS, EntityEdge, EntityNode, Episode, UserPreference,
    UserProcedure, record_of,
};
use super::{EPISODES, OWN_FILE};
use crate::basic_memory::{about_entity, concept};
use crate::files::SourceFile;
use crate::lines::{JsonLines, NumberedLine};
use crate::row::{RowDraft, SourceRow};
use crate::{Progress, RowIterator, RowOutcome, SourceFormat};

const FORMAT: SourceFormat = SourceFormat::MemBundle;

/// Characters of a summary that a memory may have.
const SUMMARY_CHARS_MAX: usize = 512;

/// The rows of a bundle; if anything is wrong with it, what is wrong, and no row.
pub(crate) fn rows(folder: &Path, progress: &Progress) -> RowIterator {
    let (folder, progress) = (folder.to_owned(), progress.clone());
    Box::new(once(()).flat_map(move |()| match check(&folder, &progress) {
        Err(faults) => Box::new(faults.into_iter()) as RowIterator,
        Ok(bundle) => bundle_rows(&Rc::new(bundle), &progress),
    }))
}

fn bundle_rows(bundle: &Rc<CheckedBundle>, progress: &Progress) -> RowIterator {
    let left_out = bundle.left_out.clone().into_iter();
    let episodes = lines(bundle, EPISODES, progress);
    let own = lines(bundle, OWN_FILE, progress);
    let memories = SortedMemories { episodes: episodes.peekable(), own: own.peekable() };
    let of_bundle = bundle.clone();
    let memories = memories.map(move |(file, line)| memory_row(&of_bundle, &file, line));
    let rows = left_out
        .chain(memories)
        .chain(rows_of::<EntityNode>(bundle, "items/entity.jsonl", progress, node_row))
        .chain(rows_of::<EntityEdge>(bundle, "items/edge.jsonl", progress, edge_row))
        .chain(rows_of::<DerivedFact>(bundle, "items/fact.jsonl", progress, fact_row))
        .chain(rows_of::<CoreBlock>(bundle, "items/core.jsonl", progress, core_row))
        .chain(rows_of::<UserProcedure>(bundle, "items/procedure.jsonl", progress, procedure_row))
        .chain(rows_of::<UserPreference>(
            bundle,
            "items/preference.jsonl",
            progress,
            preference_row,
        ));
    Box::new(rows)
}

type FileLines = Box<dyn Iterator<Item = (SourceFile, NumberedLine)>>;

/// The lines of a file, none if it is not there.
fn lines(bundle: &CheckedBundle, name: &str, progress: &Progress) -> FileLines {
    let Some(file) = bundle.file(name) else { return Box::new(std::iter::empty()) };
    match file.open(progress) {
        Ok(reader) => Box::new(JsonLines::new(reader).map(move |line| (file.clone(), line))),
        Err(_) => {
            let value = Err("the file cannot be read".to_owned());
            Box::new(once((file, NumberedLine { number: 1, value })))
        }
    }
}

/// What makes a row of a record at a line.
type RowMaker<T> = fn(&CheckedBundle, &SourceFile, usize, &T) -> RowOutcome;

/// The rows of the records of a file.
fn rows_of<T: DeserializeOwned + 'static>(
    bundle: &Rc<CheckedBundle>,
    name: &'static str,
    progress: &Progress,
    row: RowMaker<T>,
) -> impl Iterator<Item = RowOutcome> + 'static {
    let (bundle, progress) = (bundle.clone(), progress.clone());
    once(()).flat_map(move |()| {
        let bundle = bundle.clone();
        lines(&bundle, name, &progress).map(move |(file, line)| {
            match line.value.and_then(|value| record_of::<T>(&value)) {
                Ok(record) => row(&bundle, &file, line.number, &record),
                Err(reason) => RowOutcome::refused(&file, line.number, reason),
            }
        })
    })
}

/// Episodes and our own lines in the order of their ids, so that memories come in the order of their times.
struct SortedMemories {
    episodes: Peekable<FileLines>,
    own: Peekable<FileLines>,
}

impl Iterator for SortedMemories {
    type Item = (SourceFile, NumberedLine);

    fn next(&mut self) -> Option<Self::Item> {
        let key = |peeked: Option<&Self::Item>| {
            peeked.map(|(_, line)| line.value.as_ref().map(line_key).unwrap_or_default())
        };
        match (key(self.episodes.peek()), key(self.own.peek())) {
            (Some(episode), Some(own)) if own.cmp(&episode) == Ordering::Less => self.own.next(),
            (None, Some(_)) => self.own.next(),
            _ => self.episodes.next(),
        }
    }
}

/// The id of a line's memory, and whether the line has its earlier revisions.
fn line_key(value: &Value) -> (String, bool) {
    let id = |value: &Value| value["id"].as_str().unwrap_or_default().to_owned();
    match value["record"].is_string() {
        true => (id(&value["value"][0]), true),
        false => (id(value), false),
    }
}

/// The row of an episode, or of a line of our own.
fn memory_row(bundle: &CheckedBundle, file: &SourceFile, line: NumberedLine) -> RowOutcome {
    let number = line.number;
    let value = match line.value {
        Ok(Value::Object(value)) => value,
        Ok(_) => return RowOutcome::refused(file, number, "expected a JSON object"),
        Err(reason) => return RowOutcome::refused(file, number, reason),
    };
    let value = Value::Object(value);
    if file.name == OWN_FILE {
        return own_file_row(bundle, file, number, value);
    }
    let episode = match record_of::<Episode>(&value) {
        Ok(episode) => episode,
        Err(reason) => return RowOutcome::refused(file, number, reason),
    };
    if bundle.deleted.contains(&episode.id) || episode.deleted_at.is_some() {
        return deleted_row(file, number);
    }
    let Value::Object(fields) = value else { return deleted_row(file, number) };
    match own_line(&episode, &fields) {
        Some(value) => RowOutcome::Row(SourceRow { file: file.name.clone(), line: number, value }),
        None => episode_row(file, number, &episode, &fields),
    }
}

/// The row of a line of our own file.
fn own_file_row(
    bundle: &CheckedBundle,
    file: &SourceFile,
    line: usize,
    value: Value,
) -> RowOutcome {
    let (id, _) = line_key(&value);
    match value {
        _ if bundle.deleted.contains(&id) => deleted_row(file, line),
        Value::Object(value) => RowOutcome::Row(SourceRow { file: file.name.clone(), line, value }),
        _ => RowOutcome::refused(file, line, "expected a JSON object"),
    }
}

fn deleted_row(file: &SourceFile, line: usize) -> RowOutcome {
    RowOutcome::left_out(file, format!("line {line}: the record was deleted"))
}

fn stated(time: BundleTime) -> Value {
    json!(time.0.to_string())
}

/// A row of another program: untrusted, and private unless its sensitivity says that it is open.
fn foreign_draft(text: &str, sensitivity: &str) -> RowDraft {
    let draft = RowDraft::new(text).with("memory_type", "semantic").with("trust", "untrusted");
    match is_open(sensitivity) {
        true => draft,
        false => draft.with("sharing", "private").noting("sensitivity", sensitivity),
    }
}

fn episode_row(
    file: &SourceFile,
    line: usize,
    episode: &Episode,
    fields: &Map<String, Value>,
) -> RowOutcome {
    let (summary, details) = (episode.summary.trim(), episode.details.trim());
    let text = if details.is_empty() { summary } else { details };
    if text.is_empty() {
        return RowOutcome::left_out(file, format!("line {line}: the episode has no text"));
    }
    let says_more = !summary.is_empty()
        && !text.starts_with(summary)
        && summary.chars().count() <= SUMMARY_CHARS_MAX;
    let is_chat = episode.source_type.eq_ignore_ascii_case("chat");
    let mut draft = foreign_draft(text, &episode.sensitivity)
        .with("memory_type", if is_chat { "episodic" } else { "semantic" })
        .with("summary", says_more.then_some(summary))
        .with("created_at", stated(episode.event_time))
        .with("valid_until", episode.expiration_date.map(stated))
        .with("importance", importance_word(episode.importance))
        .about(&episode.categories)
        .noting("source_type", episode.source_type.as_str())
        .noting("source_id", episode.source_id.clone())
        .noting("actors", json!(episode.actors))
        .noting("speaker", episode.speaker.clone())
        .noting("context", episode.context_id.clone())
        .noting("confidence", episode.confidence)
        .noting("pinned", episode.pinned.then_some(true))
        .known_as(Some(&episode.id));
    if !episode.lifecycle_state.eq_ignore_ascii_case("hot") {
        draft = draft.noting("lifecycle", episode.lifecycle_state.as_str());
    }
    if episode.mention_time != episode.event_time {
        draft = draft.noting("mentioned_at", episode.mention_time.canonical());
    }
    if episode.ingestion_time != episode.event_time {
        draft = draft.noting("ingested_at", episode.ingestion_time.canonical());
    }
    let metadata = episode.metadata.iter().map(|(name, text)| (name.clone(), json!(text)));
    draft = draft.keeping(&metadata.collect(), &[]);
    // A field of ours without an owner is foreign, too.
    draft = draft.noting(OWN_FIELD, fields.get(OWN_FIELD).cloned().unwrap_or_default());
    draft.keeping(fields, &EPISODE_FIELDS).finish(FORMAT, file, line)
}

fn node_row(
    bundle: &CheckedBundle,
    file: &SourceFile,
    line: usize,
    node: &EntityNode,
) -> RowOutcome {
    if bundle.deleted.contains(&node.id) {
        return deleted_row(file, line);
    }
    if node.summary.trim().is_empty() {
        let reason = format!("line {line}: the entity {:?} has no summary", node.canonical_name);
        return RowOutcome::left_out(file, reason);
    }
    foreign_draft(&about_entity(&node.canonical_name, &node.summary), &node.sensitivity)
        .with("entities", json!([concept(&node.canonical_name)]))
        .noting("entity_type", node.entity_type.as_str())
        .noting("aliases", node.aliases.clone())
        .known_as(Some(&node.id))
        .finish(FORMAT, file, line)
}

fn edge_row(
    bundle: &CheckedBundle,
    file: &SourceFile,
    line: usize,
    edge: &EntityEdge,
) -> RowOutcome {
    if [&edge.id, &edge.source, &edge.target].iter().any(|id| bundle.deleted.contains(*id)) {
        return deleted_row(file, line);
    }
    let names = (bundle.nodes.get(&edge.source), bundle.nodes.get(&edge.target));
    let (Some(source), Some(target)) = names else {
        let reason = format!("line {line}: the edge names an entity that the bundle does not have");
        return RowOutcome::left_out(file, reason);
    };
    foreign_draft(&format!("{source} {} {target}", edge.edge_type.replace('_', " ")), "")
        .with("entities", json!([concept(source), concept(target)]))
        .with("valid_from", stated(edge.t_valid_from))
        .with("valid_until", edge.t_valid_to.map(stated))
        .noting("relation", json!({"from": source, "type": edge.edge_type, "to": target}))
        .noting("confidence", edge.confidence)
        .noting("superseded_by", edge.superseded_by.clone())
        .known_as(Some(&edge.id))
        .finish(FORMAT, file, line)
}

fn fact_row(
    bundle: &CheckedBundle,
    file: &SourceFile,
    line: usize,
    fact: &DerivedFact,
) -> RowOutcome {
    let is_deleted = [&fact.id, &fact.episode_id].iter().any(|id| bundle.deleted.contains(*id));
    if is_deleted || fact.pruned_at.is_some() {
        return deleted_row(file, line);
    }
    let DerivedFact { subject, predicate, object, text, .. } = fact;
    let said = match text.trim().is_empty() {
        true => format!("{subject} {predicate} {object}"),
        false => text.clone(),
    };
    if said.trim().is_empty() {
        return RowOutcome::left_out(file, format!("line {line}: the fact has no text"));
    }
    foreign_draft(&said, "")
        .with("valid_from", stated(fact.t_valid_from))
        .with("valid_until", fact.t_valid_to.map(stated))
        .with("importance", importance_word(fact.importance))
        .noting("relation", json!({"from": subject, "type": predicate, "to": object}))
        .noting("confidence", fact.confidence)
        .noting("episode", fact.episode_id.as_str())
        .noting("superseded_by", fact.superseded_by.clone())
        .known_as(Some(&fact.id))
        .finish(FORMAT, file, line)
}

fn core_row(
    bundle: &CheckedBundle,
    file: &SourceFile,
    line: usize,
    core: &CoreBlock,
) -> RowOutcome {
    if bundle.deleted.contains(&core.id) {
        return deleted_row(file, line);
    }
    if core.content.trim().is_empty() {
        return RowOutcome::left_out(file, format!("line {line}: the block has no text"));
    }
    foreign_draft(&core.content, "")
        .titled(&core.id)
        .known_as(Some(&core.id))
        .finish(FORMAT, file, line)
}

fn procedure_row(
    bundle: &CheckedBundle,
    file: &SourceFile,
    line: usize,
    procedure: &UserProcedure,
) -> RowOutcome {
    if bundle.deleted.contains(&procedure.id) {
        return deleted_row(file, line);
    }
    let steps = procedure.steps.iter().enumerate();
    let steps: String = steps.map(|(at, step)| format!("\n{}. {step}", at + 1)).collect();
    let text = match procedure.trigger_pattern.trim() {
        "" => format!("{}:{steps}", procedure.name),
        trigger => format!("{} ({trigger}):{steps}", procedure.name),
    };
    foreign_draft(&text, "")
        .with("memory_type", "procedural")
        .noting("disabled", (!procedure.enabled).then_some(true))
        .known_as(Some(&procedure.id))
        .finish(FORMAT, file, line)
}

fn preference_row(
    _: &CheckedBundle,
    file: &SourceFile,
    line: usize,
    preference: &UserPreference,
) -> RowOutcome {
    let UserPreference { key, value } = preference;
    foreign_draft(&format!("{key}: {value}"), "").known_as(Some(key)).finish(FORMAT, file, line)
}
