//! Tidying the registry: entities whose names mean the same become one.
//!
//! The registry joins names as they arrive. What it could not compare then stays apart: names that
//! came with an import, or that the author saw only later.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::ConsolidationJob;
use crate::base::error::{ErrorKind, Result};
use crate::base::limits;
use crate::model::access::Sight;
use crate::model::consolidation::plan::{ConsolidationPlanner, PlanStep, PlannedEntity};
use crate::model::entity::{Entity, EntityName};
use crate::store::{EntityNameFilter, Tx};
use crate::verbs::entity::name_keys;
use crate::verbs::ops::find_visible::find_visible_entity;
use commonbook_text::entities::likeness::{self, ComparableName};

/// Names with one key that are compared with another name: more have a usual word in common.
const COMPARED_MAX: usize = 16;

impl ConsolidationJob<'_> {
    /// Plans the merges of entities that the caller alone has stated and mentioned. A name that means
    /// the same as two others is ambiguous, and stays.
    pub(super) fn plan_entities(&self, planner: &mut ConsolidationPlanner) -> Result<()> {
        let names = self.names_of_entities()?;
        for (first, second) in same_pairs(&names) {
            let found = self.book.store.read(|tx| {
                let pair = [self.own_entity(tx, first)?, self.own_entity(tx, second)?];
                Ok(pair)
            })?;
            let [Some(first), Some(second)] = found else { continue };
            let rank = |entity: &Entity| (entity.occurrences, entity.version);
            let is_first = rank(&first) > rank(&second)
                || (rank(&first) == rank(&second) && first.first_seen <= second.first_seen);
            let (target, source) = if is_first { (first, second) } else { (second, first) };
            planner.add_step(PlanStep::Join {
                source: PlannedEntity { id: source.id, version: source.version },
                target: PlannedEntity { id: target.id, version: target.version },
                names: [source.value, target.value],
            });
        }
        Ok(())
    }

    fn names_of_entities(&self) -> Result<Vec<EntityName>> {
        let (mut names, mut after) = (Vec::new(), None);
        loop {
            let wanted =
                EntityNameFilter { entity_type: None, beginning: None, session: None, after };
            let page = self
                .book
                .store
                .read(|tx| tx.entity_names(&self.sight, &wanted, limits::PAGE_MAX))?;
            let Some(last) = page.last() else { return Ok(names) };
            after = Some(last.id);
            names.extend(page);
        }
    }

    /// The entity, if nobody but the caller has stated or mentioned it, unless it works for all owners.
    fn own_entity(&self, tx: &Tx<'_>, name: &EntityName) -> Result<Option<Entity>> {
        let entity = find_visible_entity(tx, &self.sight, name.id)?;
        if entity.merged_into.is_some() || entity.id != name.id {
            return Ok(None);
        }
        let agent = &self.caller.agent;
        let is_own = self.force
            || (tx
                .statements(&entity.workspace, entity.id, 0)?
                .iter()
                .all(|statement| statement.sighting.agent == *agent)
                && tx
                    .mentioning_agents(&self.sight, entity.id)?
                    .iter()
                    .all(|mentions| mentions.agent == *agent));
        Ok(is_own.then_some(entity))
    }
}

/// The pairs of names that mean the same, where neither means the same as a third one.
fn same_pairs(names: &[EntityName]) -> Vec<(&EntityName, &EntityName)> {
    let session = |name: &EntityName| name.session.clone().unwrap_or_default();
    let mut filed: FxHashMap<(String, String), Vec<usize>> = FxHashMap::default();
    for (place, name) in names.iter().enumerate() {
        for key in name_keys(name).into_iter().chain([name.id.to_string()]) {
            filed.entry((session(name), key)).or_default().push(place);
        }
    }
    let mut partners: FxHashMap<usize, BTreeSet<usize>> = FxHashMap::default();
    for (place, name) in names.iter().enumerate() {
        let kind = name.entity_type;
        let probes = likeness::probes(&ComparableName::of(kind, &name.value));
        let synonyms = name.ids().into_iter().map(|id| id.to_string());
        for key in probes.into_iter().chain(synonyms) {
            let Some(found) = filed.get(&(session(name), key)) else { continue };
            if found.len() > COMPARED_MAX {
                continue;
            }
            for other in found.iter().copied().filter(|other| *other != place) {
                let is_same = names[other].entity_type == kind
                    && likeness::is_same(kind, &name.value, &names[other].value);
                if is_same {
                    partners.entry(place).or_default().insert(other);
                    partners.entry(other).or_default().insert(place);
                }
            }
        }
    }
    let partner = |place: &usize| match partners[place].len() {
        1 => partners[place].first().copied(),
        _ => None,
    };
    let mut pairs: Vec<(usize, usize)> = partners
        .keys()
        .filter_map(|first| partner(first).map(|second| (*first, second)))
        .filter(|(first, second)| first < second && partner(second) == Some(*first))
        .collect();
    pairs.sort_unstable();
    pairs.into_iter().map(|(first, second)| (&names[first], &names[second])).collect()
}

/// Whether an entity is as the plan read it.
pub(super) fn entity_as_planned(
    tx: &Tx<'_>,
    sight: &Sight,
    planned: PlannedEntity,
) -> Result<Option<Entity>> {
    let found = match find_visible_entity(tx, sight, planned.id) {
        Err(error) if error.kind == ErrorKind::NotFound => return Ok(None),
        found => found?,
    };
    let is_same = found.id == planned.id && found.version == planned.version;
    Ok(Some(found).filter(|entity| is_same && entity.merged_into.is_none()))
}
