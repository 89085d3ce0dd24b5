//! News: what other agents have saved since a session was briefed last.

use std::collections::BTreeMap;

use crate::model::agent::Agent;
use crate::model::lineage::{OutdatedItem, StaleMemory};
use crate::model::memory::Memory;

/// Memories that are considered as news.
pub const NEWS_ITEMS_MAX: usize = 10;

/// The newest memories among which news are looked for.
pub const NEWEST_MEMORIES_MAX: u32 = 4 * NEWS_ITEMS_MAX as u32;

/// Types that are no news: the beginning of a session tells of profiles, tasks and handoffs, and
/// conversations belong to their agent.
const SILENT_TYPES: [&str; 4] = ["profile", "task_context", "conversation", "handoff"];

/// The news for this agent among the newest memories, each with its position in the journal: those
/// after `position` that others wrote. The agent hears the last words of the agents below it anyway.
#[must_use]
pub fn news_of(newest: Vec<(u64, Memory)>, agent: &Agent, position: u64) -> Vec<Memory> {
    let is_news = |memory: &Memory| {
        memory.owner != *agent
            && !memory.owner.is_child_of(agent)
            && memory.is_usable()
            && !SILENT_TYPES.contains(&memory.memory_type.as_str())
    };
    let newest = newest.into_iter().filter(|(sequence, _)| *sequence > position);
    interleave_authors(newest.map(|(_, memory)| memory).filter(is_news).collect())
}

/// The latest memories of each author in turn, so that no author fills the whole text. Agents below
/// one root count as one author.
fn interleave_authors(newest_first: Vec<Memory>) -> Vec<Memory> {
    let mut turns: BTreeMap<String, usize> = BTreeMap::new();
    let mut ranked: Vec<(usize, usize, Memory)> = Vec::with_capacity(newest_first.len());
    for (index, memory) in newest_first.into_iter().enumerate() {
        let root = memory.owner.as_str().split('/').next().unwrap_or_default().to_owned();
        let turn = turns.entry(root).or_default();
        *turn += 1;
        ranked.push((*turn, index, memory));
    }
    ranked.sort_by_key(|(turn, index, _)| (*turn, *index));
    ranked.truncate(NEWS_ITEMS_MAX);
    ranked.into_iter().map(|(_, _, memory)| memory).collect()
}

/// The notice that a memory has changed which a session received. It repeats nothing of a text.
#[must_use]
pub fn told_notice(change: &StaleMemory) -> String {
    format!("What you were given has changed: {}.", change.sentence())
}

/// The notice that an agent derived something from a memory that has changed.
#[must_use]
pub fn outdated_notice(item: &OutdatedItem) -> String {
    let OutdatedItem { id, change, by, memory, .. } = item;
    let memory = memory.map_or_else(|| "a memory".to_owned(), |memory| memory.to_string());
    format!("Review {id}: it rests on {memory}, which was {change} by {by}.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::id::{CountingIds, MemoryId};
    use crate::model::caller::{Caller, EntryPoint};
    use crate::model::memory::{SaveMemory, Sharing};

    fn agent(name: &str) -> Agent {
        name.parse().expect("a name")
    }

    /// A memory of this agent at each of these positions, the newest first.
    fn saved(positions: impl DoubleEndedIterator<Item = u64>, owner: &str) -> Vec<(u64, Memory)> {
        let ids = CountingIds::default();
        let now = "2026-11-21T10:00:00Z".parse().expect("a time");
        let name = owner.parse().expect("a name");
        let caller = Caller::new(Some(name), "w".parse().expect("a workspace"), EntryPoint::Mcp);
        let memory = |position: u64| {
            let request = SaveMemory { text: format!("fact {position}"), ..SaveMemory::default() };
            let id = MemoryId::new(&ids, now);
            (position, request.memory(&caller, Sharing::Shared, id, now).expect("a memory"))
        };
        positions.rev().map(memory).collect()
    }

    #[test]
    fn one_author_does_not_take_the_places_of_the_others() {
        let mut newest = saved(13..30, "eve/many");
        newest.extend(saved(11..13, "eve"));
        newest.extend(saved(10..11, "ann"));
        newest.extend(saved(3..10, "bob"));
        let news = news_of(newest, &agent("cleo"), 8);
        let owners: Vec<&str> = news.iter().map(|memory| memory.owner.as_str()).collect();
        assert_eq!(owners[..4], ["eve/many", "ann", "bob", "eve/many"]);
        assert_eq!(news.len(), NEWS_ITEMS_MAX);
        let texts: Vec<&str> = news.iter().map(|memory| memory.text.as_str()).collect();
        assert!(texts.contains(&"fact 9") && !texts.contains(&"fact 8"), "{texts:?}");
    }

    #[test]
    fn what_the_agent_and_those_below_it_wrote_is_no_news() {
        for owner in ["ann", "ann/engineer"] {
            assert!(news_of(saved(3..9, owner), &agent("ann"), 0).is_empty(), "{owner}");
        }
        let mut others = saved(3..9, "bob");
        others[0].1.superseded_by = Some(others[1].1.id);
        others[1].1.memory_type = "conversation".to_owned().try_into().expect("a type");
        assert_eq!(news_of(others, &agent("ann"), 0).len(), 4);
        assert!(news_of(saved(3..9, "bob"), &agent("ann"), 8).is_empty());
    }
}
