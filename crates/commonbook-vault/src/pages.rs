//! The pages of handoffs, entities and contradictions, and the lists of all memories.

use std::collections::{BTreeMap, BTreeSet};

use commonbook::base::error::Result;
use commonbook::base::id::MemoryId;
use commonbook::model::contradiction::ContradictionRecord;
use commonbook::model::export::{EntityState, ExportRecord, HandoffState};
use commonbook::model::memory::Memory;
use serde_json::{Map, Value, json};

use crate::case_page::{case_page, case_path};
use crate::export::VaultExport;
use crate::frontmatter::YamlBlock;
use crate::names::{
    AGENTS, AGENTS_FILE, CONTRADICTIONS, ENTITIES, HANDOFFS, HISTORY, INDEX_FILE, MemoryArea,
    RECORDS, SLUG_CHARS, TOPICS, day, id_ending, slug, stem,
};
use crate::page::sealed_page;
use crate::plan::HomeMemory;

/// Memories that a list names at most; the newest ones.
const LISTED_MAX: usize = 500;

/// Memories of a topic that has a page: a list of one says nothing.
const TOPIC_MEMORIES_MIN: usize = 2;

/// Characters of a memory in a list.
const LINE_CHARS: usize = 100;

/// The file that holds the order of the records.
pub const ORDER_FILE: &str = "records/order.json";

/// The paths of the memories' files.
pub type MemoryPaths = BTreeMap<MemoryId, String>;

/// Everything in a vault that is not the file of a memory, by path.
///
/// # Errors
/// `internal` if a record is no JSON.
pub fn vault_pages(
    export: &VaultExport,
    paths: &MemoryPaths,
    with_history: bool,
) -> Result<BTreeMap<String, String>> {
    let mut pages = BTreeMap::new();
    let mut entries: BTreeMap<&str, Vec<&Memory>> = BTreeMap::new();
    for HomeMemory { memory, .. } in &export.memories {
        if let Some(case) = &memory.case {
            entries.entry(case.as_str()).or_default().push(memory);
        }
    }
    for case in &export.cases {
        let mut entries = entries.remove(case.key.as_str()).unwrap_or_default();
        entries.sort_by_key(|memory| memory.position);
        pages.insert(case_path(case), case_page(case, &entries)?);
    }
    for state in &export.handoffs {
        pages.insert(handoff_path(state), handoff_page(state, paths)?);
    }
    for state in &export.entities {
        pages.insert(entity_path(state), entity_page(state, paths)?);
    }
    let texts: BTreeMap<MemoryId, &Memory> =
        export.memories.iter().map(|stored| (stored.memory.id, &stored.memory)).collect();
    for record in &export.contradictions {
        let path = format!("{CONTRADICTIONS}/{}.md", id_ending(record.id));
        pages.insert(path, contradiction_page(record, &texts, paths)?);
    }
    for (kind, lines) in &export.records {
        let lines = lines.iter().map(|line| format!("{}\n", Value::Object(line.clone())));
        pages.insert(format!("{RECORDS}/{kind}.jsonl"), lines.collect());
    }
    let order = json!(export.order());
    if order.as_object().is_some_and(|order| !order.is_empty()) {
        pages.insert(ORDER_FILE.to_owned(), format!("{order}\n"));
    }
    if with_history {
        add_history(export, paths, &mut pages);
    }
    pages.insert(AGENTS_FILE.to_owned(), agents_file(export));
    add_lists(export, paths, &mut pages)?;
    Ok(pages)
}

/// The earlier revisions of each memory that git may have, a line each. An entry of a case is named by its id.
fn add_history(export: &VaultExport, paths: &MemoryPaths, pages: &mut BTreeMap<String, String>) {
    for HomeMemory { memory, earlier } in &export.memories {
        let is_open = matches!(MemoryArea::of(memory), MemoryArea::Shared | MemoryArea::Archived);
        if earlier.is_empty() || !is_open {
            continue;
        }
        let name = paths.get(&memory.id).map(|path| stem(path).to_owned());
        let name = name.unwrap_or_else(|| memory.id.to_string());
        let lines = earlier.iter().map(|memory| format!("{}\n", json!(memory)));
        pages.insert(format!("{HISTORY}/{name}.jsonl"), lines.collect());
    }
}

/// The registry of agents by name.
fn agents_file(export: &VaultExport) -> String {
    let counts = export.memory_counts();
    let agents: Map<String, Value> = export
        .agents
        .iter()
        .map(|state| {
            let mut fields = Map::new();
            fields.insert("first_seen".to_owned(), json!(state.first_seen));
            fields.insert("last_seen".to_owned(), json!(state.last_seen));
            let count = counts.get(&state.agent).copied().unwrap_or_default();
            fields.insert("memory_count".to_owned(), json!(count));
            if let Some(device) = &state.device {
                fields.insert("device".to_owned(), json!(device));
            }
            if let Some(client) = &state.client {
                fields.insert("client".to_owned(), json!(client));
            }
            (state.agent.to_string(), Value::Object(fields))
        })
        .collect();
    format!("{:#}\n", Value::Object(agents))
}

fn handoff_path(state: &HandoffState) -> String {
    let handoff = &state.handoff;
    let [from, to] = [&handoff.from, &handoff.to]
        .map(|agent| slug(&agent.as_str().replace('/', "-"), SLUG_CHARS));
    let (day, id) = (day(handoff.created_at), id_ending(handoff.id));
    // The name stays, whichever agent of a role accepts.
    let to = match &handoff.role {
        Some(role) => slug(&role.as_str().replace('/', "-"), SLUG_CHARS),
        None => to,
    };
    format!("{HANDOFFS}/{day}_{from}_{to}_{}_{id}.md", slug(&handoff.task, SLUG_CHARS))
}

fn handoff_page(state: &HandoffState, paths: &MemoryPaths) -> Result<String> {
    let handoff = &state.handoff;
    let topics: Vec<&str> = ["handoff"].into_iter().chain(handoff.case.as_deref()).collect();
    let mut frontmatter = YamlBlock::default();
    frontmatter.set_all([
        ("id", Some(json!(handoff.id))),
        ("topics", Some(json!(topics))),
        ("importance", Some(json!("critical"))),
        ("memory_type", Some(json!("handoff"))),
        ("owner_agent", Some(json!(handoff.from))),
        ("target_agent", Some(json!(handoff.to))),
        ("handoff_status", Some(json!(handoff.status))),
        ("created_at", Some(json!(handoff.created_at))),
        ("expires_at", Some(json!(handoff.expires_at))),
        ("chain", Some(json!(handoff.chain)).filter(|_| handoff.depth > 1)),
        ("depth", Some(json!(handoff.depth)).filter(|_| handoff.depth > 1)),
    ]);
    let mut body =
        format!("{}\n## Handoff: {}\n\n", frontmatter.render(), line_beginning(&handoff.task));
    if handoff.task.contains('\n') {
        add_section(&mut body, "Task", [handoff.task.clone()]);
    }
    add_section(&mut body, "Context", handoff.context.clone());
    let dash = |text: &String| format!("- {}", text.replace('\n', "\n  "));
    add_section(&mut body, "Active Files", handoff.active_files.iter().map(dash));
    add_section(&mut body, "Decisions Made", handoff.decisions_made.iter().map(dash));
    let steps = handoff.next_steps.iter().zip(1..);
    let steps = steps
        .map(|(step, number): (_, usize)| format!("{number}. {}", step.replace('\n', "\n   ")));
    add_section(&mut body, "Next Steps", steps);
    add_section(&mut body, "Result", handoff.note.clone());
    let memories = handoff.memories.iter();
    let memories =
        memories.map(|memory| format!("- {} by {}", link(paths, memory.id), memory.author));
    add_section(&mut body, "Memories", memories);
    sealed_page(&body, Some(&ExportRecord::Handoff(Box::new(state.clone()))))
}

fn entity_path(state: &EntityState) -> String {
    let entity = &state.entity;
    let kind = slug(&entity.entity_type.to_string(), SLUG_CHARS);
    format!("{ENTITIES}/{kind}/{}_{}.md", slug(&entity.value, SLUG_CHARS), id_ending(entity.id))
}

fn entity_page(state: &EntityState, paths: &MemoryPaths) -> Result<String> {
    let entity = &state.entity;
    let mut frontmatter = YamlBlock::default();
    frontmatter.set_all([
        ("id", Some(json!(entity.id))),
        ("type", Some(json!(entity.entity_type))),
        ("aliases", Some(json!(entity.aliases))),
        ("first_seen", Some(json!(entity.first_seen))),
        ("last_seen", Some(json!(entity.last_seen))),
    ]);
    let mut body = format!("{}\n# {}\n\n", frontmatter.render(), line_beginning(&entity.value));
    if let Some(context) = &entity.context {
        body.push_str(&format!("{context}\n\n"));
    }
    let shown = |value: &Value| value.as_str().map_or_else(|| value.to_string(), line_beginning);
    let mut lines = Vec::new();
    for (name, attribute) in &entity.attributes {
        let held = &attribute.held;
        lines.push(format!("- {name}: {} ({})", shown(&held.value), held.agent));
        let conflicts = attribute.conflicts.iter();
        lines.extend(
            conflicts.map(|claim| format!("  - or {} ({})", shown(&claim.value), claim.agent)),
        );
    }
    add_section(&mut body, "Attributes", lines);
    let merges = state
        .merges
        .iter()
        .map(|merge| format!("- {}", line_beginning(&merge.joined.source.value)));
    add_section(&mut body, "Merged", merges);
    let sources: BTreeSet<MemoryId> =
        entity.attributes.values().filter_map(|attribute| attribute.held.memory).collect();
    add_section(&mut body, "Memories", sources.iter().map(|id| format!("- {}", link(paths, *id))));
    sealed_page(&body, Some(&ExportRecord::Entity(Box::new(state.clone()))))
}

fn contradiction_page(
    record: &ContradictionRecord,
    memories: &BTreeMap<MemoryId, &Memory>,
    paths: &MemoryPaths,
) -> Result<String> {
    let mut frontmatter = YamlBlock::default();
    frontmatter.set_all([
        ("id", Some(json!(record.id))),
        ("status", Some(json!(record.status()))),
        ("found_at", Some(json!(record.found_at))),
        ("resolution", record.resolved.as_ref().map(|resolved| json!(resolved.resolution))),
        ("resolved_by", record.resolved.as_ref().map(|resolved| json!(resolved.resolved_by))),
    ]);
    let mut body =
        format!("{}\n# {}\n\n", frontmatter.render(), line_beginning(&record.found.reason));
    for ((id, _), side) in record.memories.iter().zip(["Older", "Newer"]) {
        let said = memories.get(id).map(|memory| {
            let quoted = memory.text.replace('\n', "\n> ");
            format!("{}, by {}:\n\n> {quoted}", link(paths, *id), memory.owner)
        });
        add_section(&mut body, side, [said.unwrap_or_else(|| link(paths, *id))]);
    }
    let context = record.resolved.as_ref().and_then(|resolved| resolved.context.clone());
    add_section(&mut body, "Context", context);
    sealed_page(&body, Some(&ExportRecord::Contradiction(Box::new(record.clone()))))
}

/// A heading with what stands under it, unless that is nothing.
fn add_section(body: &mut String, heading: &str, lines: impl IntoIterator<Item = String>) {
    let lines: Vec<String> = lines.into_iter().collect();
    if !lines.is_empty() {
        body.push_str(&format!("### {heading}\n{}\n\n", lines.join("\n")));
    }
}

/// A link to the file of a memory; its id if it has none here.
fn link(paths: &MemoryPaths, id: MemoryId) -> String {
    paths.get(&id).map_or_else(|| format!("`{id}`"), |path| format!("[[{}]]", stem(path)))
}

/// The beginning of a text on one line.
fn line_beginning(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LINE_CHARS) {
        Some((end, _)) => format!("{} …", &line[..end]),
        None => line,
    }
}

/// The pages that list memories by agent and by topic, and the first page.
fn add_lists(
    export: &VaultExport,
    paths: &MemoryPaths,
    pages: &mut BTreeMap<String, String>,
) -> Result<()> {
    let mut agents: BTreeMap<String, MemoryList<'_>> = BTreeMap::new();
    let mut topics: BTreeMap<String, MemoryList<'_>> = BTreeMap::new();
    for HomeMemory { memory, .. } in &export.memories {
        if memory.case.is_some() || MemoryArea::of(memory) != MemoryArea::Shared {
            continue;
        }
        let owner = memory.owner.as_str();
        let list = agents.entry(slug(&owner.replace('/', "-"), SLUG_CHARS)).or_default();
        list.add(owner, memory);
        for topic in &memory.topics {
            topics.entry(slug(topic, SLUG_CHARS)).or_default().add(topic, memory);
        }
    }
    topics.retain(|_, list| list.memories.len() >= TOPIC_MEMORIES_MIN);
    for (folder, lists) in [(AGENTS, &agents), (TOPICS, &topics)] {
        for (name, list) in lists {
            let page = sealed_page(&list.body(paths), None)?;
            pages.insert(format!("{folder}/{name}.md"), page);
        }
    }
    let mut body =
        "# Commonbook\n\nWhat the agents of this workspace know. Edit the files in `memories/`; \
                    all others are written again.\n\n"
            .to_owned();
    for (heading, folder, lists) in [("Agents", AGENTS, &agents), ("Topics", TOPICS, &topics)] {
        let mut lists: Vec<_> = lists.iter().collect();
        lists.sort_by_key(|(_, list)| std::cmp::Reverse(list.memories.len()));
        let lines = lists.into_iter().take(LISTED_MAX);
        let lines = lines.map(|(name, list)| {
            format!("- [[{folder}/{name}|{}]]: {}", list.heading(), list.memories.len())
        });
        add_section(&mut body, heading, lines);
    }
    let cases = export.cases.iter().rev().take(LISTED_MAX).map(|case| {
        format!(
            "- [[{}|{}]]: {}",
            case_path(case).trim_end_matches(".md"),
            line_beginning(&case.title),
            case.status
        )
    });
    add_section(&mut body, "Cases", cases);
    let open =
        export.handoffs.iter().filter(|state| state.handoff.status.is_open()).take(LISTED_MAX);
    let open = open.map(|state| {
        let handoff = &state.handoff;
        format!("- [[{}]] to {}, {}", stem(&handoff_path(state)), handoff.to, handoff.status)
    });
    add_section(&mut body, "Open handoffs", open);
    pages.insert(INDEX_FILE.to_owned(), sealed_page(&body, None)?);
    Ok(())
}

/// The memories of one agent or topic, in the order in which they were saved.
#[derive(Default)]
struct MemoryList<'m> {
    /// The agent, or the ways in which the topic is written.
    names: BTreeSet<&'m str>,
    memories: Vec<&'m Memory>,
}

impl<'m> MemoryList<'m> {
    fn add(&mut self, name: &'m str, memory: &'m Memory) {
        self.names.insert(name);
        if self.memories.last().is_none_or(|last| last.id != memory.id) {
            self.memories.push(memory);
        }
    }

    fn heading(&self) -> String {
        self.names.iter().copied().collect::<Vec<_>>().join(", ")
    }

    fn body(&self, paths: &MemoryPaths) -> String {
        let mut body = format!("# {}\n\n", line_beginning(&self.heading()));
        for memory in self.memories.iter().rev().take(LISTED_MAX) {
            let about = memory.title.as_deref().unwrap_or(&memory.text);
            body.push_str(&format!("- {} {}\n", link(paths, memory.id), line_beginning(about)));
        }
        if self.memories.len() > LISTED_MAX {
            let older = self.memories.len() - LISTED_MAX;
            body.push_str(&format!("\n{older} older ones are in `memories/`.\n"));
        }
        body
    }
}
