//! Who knows what: which agents received which memories, at which revision and when.

use super::Commonbook;
use super::case;
use super::memory::visible_memory;
use super::ops::find_visible::resolve_ref;
use super::ops::heirs::show;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::id::{EntityId, MemoryId};
use crate::base::limits;
use crate::base::page::{Page, PageCursor, PageSize};
use crate::model::access::{self, Sight, StoredMemory};
use crate::model::agent::Agent;
use crate::model::caller::Caller;
use crate::model::cursor::visible_beginning;
use crate::model::knowledge::{
    AgentKnowledge, KnowledgeQuery, KnowledgeRecord, KnowledgeState, KnownMemory, MemoryFacts,
    WhoKnows,
};
use crate::model::memory::{ListOrder, Memory};
use crate::model::search::{MemoryFilter, MemoryRef};
use crate::store::Tx;

/// Memories that one step reads.
const FACT_BATCH: u32 = 200;

/// The memories that a question is about.
enum MemorySelection {
    One(MemoryId),
    Mentioning(EntityId),
    All(Box<MemoryFilter>),
}

impl Commonbook {
    /// Lists what agents know of memories, the newest memory first; of an entity the oldest. A page
    /// can have few items, or none, although more follow.
    ///
    /// # Errors
    /// `invalid` with the field; `not_found` if the memory, entity or case does not exist;
    /// `forbidden` for an agent that is neither the caller nor below it, if no person asks.
    pub fn who_knows(&self, caller: &Caller, request: &WhoKnows) -> Result<Page<KnownMemory>> {
        let query = request.query(self.clock.now())?;
        let sight = Sight::reading_at_home(caller)?;
        for agent in &query.agents {
            may_ask_about(&sight, caller, agent)?;
        }
        let size = PageSize::of(request.limit)?;
        let beyond = request.cursor.as_ref().map(PageCursor::position).transpose()?;
        if request.entity.is_some() {
            self.follow_mentions(caller)?;
        }
        self.store.read(|tx| {
            let source = self.memory_selection(tx, caller, &sight, request)?;
            let asker = KnowledgeReader { tx, caller, sight: &sight, query: &query };
            let agents = asker.listed_agents()?;
            let (mut items, mut from, mut looked_at) = (Vec::new(), beyond, 0);
            loop {
                let batch = facts_after(tx, caller, &sight, &source, from)?;
                let is_last = batch.len() < FACT_BATCH as usize;
                looked_at += batch.len();
                let positions: Vec<u64> = batch.iter().map(|(position, _)| *position).collect();
                let known = asker.knowledge_of(batch, &agents)?;
                for (position, known) in positions.iter().zip(known) {
                    from = Some(*position);
                    items.extend(known);
                    if items.len() == size.items() as usize {
                        let more = !is_last || positions.last() != Some(position);
                        let next = more.then(|| PageCursor::of(&[*position]));
                        return Ok(Page { items, next });
                    }
                }
                if is_last {
                    return Ok(Page { items, next: None });
                }
                if looked_at >= limits::KNOWLEDGE_LOOKED_AT {
                    let next = from.map(|position| PageCursor::of(&[position]));
                    return Ok(Page { items, next });
                }
            }
        })
    }

    fn memory_selection(
        &self,
        tx: &Tx<'_>,
        caller: &Caller,
        sight: &Sight,
        request: &WhoKnows,
    ) -> Result<MemorySelection> {
        if let Some(id) = request.memory {
            return visible_memory(tx, &Sight::reading(caller)?, id)
                .map(|_| MemorySelection::One(id));
        }
        if let Some(entity) = &request.entity {
            let id = resolve_ref(tx, sight, &self.entity_rules.own_types, entity)?;
            return Ok(MemorySelection::Mentioning(id));
        }
        let case = request.case.as_ref().map(|key| case::find_case(tx, caller, key)).transpose()?;
        let case = case.map(|case| case.key);
        Ok(MemorySelection::All(Box::new(MemoryFilter { case, ..MemoryFilter::default() })))
    }
}

/// The next memories of a source, each with its position.
fn facts_after(
    tx: &Tx<'_>,
    caller: &Caller,
    sight: &Sight,
    source: &MemorySelection,
    beyond: Option<u64>,
) -> Result<Vec<(u64, StoredMemory)>> {
    match source {
        MemorySelection::One(_) if beyond.is_some() => Ok(Vec::new()),
        MemorySelection::One(id) => Ok(tx
            .memory(&Sight::reading(caller)?, *id)?
            .map(|memory| (0, memory))
            .into_iter()
            .collect()),
        MemorySelection::All(filter) => {
            tx.memories(sight, filter, ListOrder::Newest, beyond, FACT_BATCH)
        }
        MemorySelection::Mentioning(entity) => {
            let found = tx.mentions(sight, *entity, beyond.unwrap_or_default(), FACT_BATCH)?;
            let refs: Vec<MemoryRef> = (found.iter())
                .map(|(_, mention)| (caller.workspace.clone(), mention.memory))
                .collect();
            let memories = tx.memories_of(sight, &refs)?;
            let of = |(position, mention): (u64, crate::model::entity::EntityMention)| {
                let memory = memories.iter().find(|memory| memory.id == mention.memory)?;
                Some((position, memory.clone()))
            };
            Ok(found.into_iter().filter_map(of).collect())
        }
    }
}

/// Checks that this caller sees what an agent received.
fn may_ask_about(sight: &Sight, caller: &Caller, agent: &Agent) -> Result<()> {
    if sight.sees_work(agent, sight.user.as_deref()) {
        return Ok(());
    }
    let message = format!("{} does not see what {agent} received", caller.agent);
    Err(Error::new(ErrorKind::Forbidden, message)
        .with_field("owner")
        .hint("Ask about yourself or an agent below you, or ask a person at the command line."))
}

/// Reads what agents know, as one caller may see it.
#[derive(Clone, Copy)]
struct KnowledgeReader<'r> {
    tx: &'r Tx<'r>,
    caller: &'r Caller,
    sight: &'r Sight,
    query: &'r KnowledgeQuery,
}

impl KnowledgeReader<'_> {
    /// The agents that are listed in any case.
    fn listed_agents(&self) -> Result<Vec<Agent>> {
        let Self { tx, caller, sight, query } = self;
        if !query.agents.is_empty() || !query.states.contains(&KnowledgeState::Never) {
            return Ok(query.agents.clone());
        }
        let agents = tx.agent_names(&caller.workspace)?.into_iter();
        let listed = agents.filter(|agent| sight.sees_work(agent, None) && !agent.is_anonymous());
        Ok(listed.take(limits::KNOWLEDGE_AGENTS).collect())
    }

    /// What these agents, and those that received one, know of these memories.
    fn knowledge_of(
        &self,
        batch: Vec<(u64, StoredMemory)>,
        agents: &[Agent],
    ) -> Result<Vec<Option<KnownMemory>>> {
        let ids: Vec<MemoryId> = batch.iter().map(|(_, memory)| memory.id).collect();
        let told = self.tx.knowledge(Some(&self.caller.workspace), &ids, &self.query.agents)?;
        let told: Vec<KnowledgeRecord> = told
            .into_iter()
            .filter(|record| {
                record.at <= self.query.at
                    && self.sight.sees_work(&record.agent, record.user.as_deref())
            })
            .collect();
        let known = batch.into_iter().map(|(_, memory)| {
            let of: Vec<&KnowledgeRecord> =
                told.iter().filter(|record| record.memory == memory.id).collect();
            self.knowledge_of_memory(memory, &of, agents)
        });
        known.collect()
    }

    /// What these agents, and those that received one, know of a memory; `None` if nothing is listed.
    fn knowledge_of_memory(
        &self,
        memory: StoredMemory,
        told: &[&KnowledgeRecord],
        agents: &[Agent],
    ) -> Result<Option<KnownMemory>> {
        let Some(facts) = self.facts_then(memory, told)? else { return Ok(None) };
        let mut asked: Vec<Agent> = agents.to_vec();
        if self.query.agents.is_empty() {
            asked.extend(told.iter().map(|record| record.agent.clone()));
            let owner = &facts.memory.owner;
            asked.extend(Some(owner.clone()).filter(|owner| self.sight.sees_work(owner, None)));
        }
        asked.sort_unstable();
        asked.dedup();
        let all: Vec<AgentKnowledge> =
            asked.iter().map(|agent| facts.known_by(agent, told)).collect();
        if self.query.differences && all.windows(2).all(|pair| pair[0].state == pair[1].state) {
            return Ok(None);
        }
        // Nobody needs to be told what does not hold, and nobody can be told what is private.
        let is_for_all = facts.memory.is_current() && access::is_common(&facts.memory);
        let is_listed = |known: &AgentKnowledge| {
            let fits = self.query.states.contains(&known.state);
            let is_never = known.state == KnowledgeState::Never;
            fits && (!is_never || is_for_all || self.query.differences)
        };
        let agents: Vec<AgentKnowledge> = all.into_iter().filter(is_listed).collect();
        if agents.is_empty() {
            return Ok(None);
        }
        let memory = show(self.tx, self.sight, facts.memory)?;
        let says = visible_beginning(&memory).unwrap_or_default();
        let Memory { id, owner, revision, retraction, superseded_by, .. } = memory;
        Ok(Some(KnownMemory {
            memory: id,
            owner,
            says,
            revision,
            retraction,
            superseded_by,
            agents,
        }))
    }

    /// A memory as it was at the time of the question; `None` if it was not there.
    fn facts_then(
        &self,
        memory: StoredMemory,
        told: &[&KnowledgeRecord],
    ) -> Result<Option<MemoryFacts>> {
        let at = self.query.at;
        let is_later = memory.revised_at > at;
        let is_known = told.iter().all(|record| record.revision == memory.revision);
        if !is_later && is_known {
            return Ok(Some(MemoryFacts::of(memory, &[])));
        }
        let there = Sight { workspaces: vec![memory.workspace.clone()], ..self.sight.clone() };
        let log = self.tx.revision_log(&there, memory.id)?;
        let then = log.iter().rev().find(|revision| revision.revised_at <= at);
        if is_later && then.is_none_or(|then| then.snapshot.is_none()) {
            return Ok(None);
        }
        let mut revisions: Vec<StoredMemory> =
            log.into_iter().filter_map(|revision| revision.snapshot).collect();
        revisions.push(memory);
        let then = revisions.iter().rposition(|revision| revision.revised_at <= at);
        Ok(then.map(|then| MemoryFacts::of(revisions[then].clone(), &revisions[..then])))
    }
}
