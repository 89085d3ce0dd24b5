//! Open conflicts by entity: what agents claim differently, and open contradictions.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::base::error::Result;
use crate::base::id::{EntityId, MemoryId};
use crate::base::limits;
use crate::model::access::Sight;
use crate::model::contradiction::ContradictionStatus;
use crate::model::entity::{Entity, EntityName};
use crate::store::{ContradictionFilter, EntityNameFilter, Tx};
use crate::verbs::ops::find_visible::workspace_of_sight;

/// The open contradictions in a sight, by the entities that both memories mention.
pub(super) struct OpenConflicts(FxHashMap<EntityId, u64>);

impl OpenConflicts {
    /// Reads the newest open contradictions of the workspace, at most
    /// [`limits::ENTITY_CONTRADICTIONS`].
    pub(super) fn read(tx: &Tx<'_>, sight: &Sight) -> Result<Self> {
        let workspace = workspace_of_sight(sight)?;
        let open = ContradictionFilter {
            status: Some(ContradictionStatus::Open),
            ..ContradictionFilter::default()
        };
        let found = tx.contradictions(sight, &open, limits::ENTITY_CONTRADICTIONS)?;
        let here = found.into_iter().filter(|(_, found)| found.workspace == *workspace);
        let pairs: Vec<[MemoryId; 2]> =
            here.map(|(_, found)| found.memories.map(|side| side.id)).collect();
        if pairs.is_empty() {
            return Ok(Self(FxHashMap::default()));
        }
        let sides: Vec<MemoryId> =
            pairs.iter().flatten().copied().collect::<BTreeSet<_>>().into_iter().collect();
        let mut mentioned: FxHashMap<MemoryId, BTreeSet<EntityId>> = FxHashMap::default();
        for link in tx.entities_mentioned_in(sight, workspace, &sides)? {
            mentioned.entry(link.memory).or_default().insert(link.entity);
        }
        let mut counts = FxHashMap::default();
        for [older, newer] in pairs {
            let (Some(older), Some(newer)) = (mentioned.get(&older), mentioned.get(&newer)) else {
                continue;
            };
            for entity in older.intersection(newer) {
                *counts.entry(*entity).or_default() += 1;
            }
        }
        Ok(Self(counts))
    }

    /// The entity with the number of its open conflicts.
    pub(super) fn counted(&self, entity: Entity) -> Entity {
        let contradictions = self.0.get(&entity.id).copied().unwrap_or(0);
        let open_conflicts = entity.disputed_attributes() + contradictions;
        Entity { open_conflicts, ..entity }
    }

    /// At most `limit` names of entities with open conflicts, in the order of a list.
    pub(super) fn names(
        &self,
        tx: &Tx<'_>,
        sight: &Sight,
        mut wanted: EntityNameFilter,
        limit: u32,
    ) -> Result<Vec<EntityName>> {
        let mut found = Vec::new();
        loop {
            let names = tx.entity_names(sight, &wanted, limits::PAGE_MAX)?;
            let done = names.len() < limits::PAGE_MAX as usize;
            wanted.after = names.last().map(|name| name.id);
            for name in names {
                let is_disputed = || -> Result<bool> {
                    let stated = tx.entity(&name.workspace, name.id)?;
                    Ok(stated.is_some_and(|entity| entity.disputed_attributes() > 0))
                };
                if self.0.contains_key(&name.id) || is_disputed()? {
                    found.push(name);
                }
            }
            if done || found.len() >= limit as usize {
                found.truncate(limit as usize);
                return Ok(found);
            }
        }
    }
}
