//! Deciding about queued statements and merges.

use super::{join, merge_statement};
use crate::base::error::{Error, Result};
use crate::base::limits;
use crate::base::page::{Page, PageCursor, PageSize};
use crate::model::access::Sight;
use crate::model::caller::Caller;
use crate::model::entity::merging::{EntityVersions, MergeStrategy};
use crate::model::entity::{
    DecideReview, EntityName, EntityOutcome, EntityReview, ListReviews, ResolveEntityResult,
    ReviewJudgement, ReviewProposal,
};
use crate::model::event::EventKind;
use crate::store::Tx;
use crate::verbs::Commonbook;

use crate::verbs::ops::find_visible::{
    append_entity_event, find_visible_entity, workspace_of_sight,
};
use crate::verbs::ops::write_once::WriteScope;

impl Commonbook {
    /// The queued statements and merges about entities in sight, oldest first.
    ///
    /// # Errors
    /// `invalid` if the limit is out of range or the cursor is malformed.
    pub fn list_reviews(
        &self,
        caller: &Caller,
        request: &ListReviews,
    ) -> Result<Page<EntityReview>> {
        let size = PageSize::of(request.limit)?;
        let mut after = request.cursor.as_ref().map(PageCursor::id).transpose()?;
        let sight = Sight::reading_at_home(caller)?;
        self.store.read(|tx| {
            let mut items: Vec<EntityReview> = Vec::new();
            loop {
                let some = tx.reviews(workspace_of_sight(&sight)?, after, limits::PAGE_MAX)?;
                let done = some.len() < limits::PAGE_MAX as usize;
                after = some.last().map(|review| review.id);
                for review in some {
                    if sees_review(tx, &sight, &review)? {
                        items.push(review);
                    }
                }
                if done || items.len() >= size.rows() as usize {
                    break;
                }
            }
            Ok(size.page(items, |review| PageCursor::after(review.id)))
        })
    }

    /// Decides about a queued item: it is carried out in the name of the agent that queued it, or
    /// dropped.
    ///
    /// # Errors
    /// `not_found` if nothing in sight is queued under this id; for a merge, as
    /// [`Commonbook::merge_entities`].
    pub fn decide_review(
        &self,
        caller: &Caller,
        request: &DecideReview,
    ) -> Result<ResolveEntityResult> {
        let decided = request.clone();
        let now = self.clock.now();
        // What was queued because nothing else was set is joined as by default.
        let strategy = match self.entity_rules.strategy {
            MergeStrategy::Manual => MergeStrategy::default(),
            set => set,
        };
        let once = self.write_once(caller, now, request, move |tx, scope| {
            let WriteScope { caller, now, .. } = scope;
            let sight = Sight::writing_at_home(caller)?;
            let review = tx.review(workspace_of_sight(&sight)?, decided.review_id)?;
            let nothing =
                || Error::not_found(format!("no review {} is waiting", decided.review_id));
            let review = review.ok_or_else(nothing)?;
            if !sees_review(tx, &sight, &review)? {
                return Err(nothing());
            }
            let id = tx.root(workspace_of_sight(&sight)?, review.entity)?;
            let entity = find_visible_entity(tx, &sight, id)?;
            tx.drop_review(workspace_of_sight(&sight)?, review.id)?;
            let strategy = decided.strategy.unwrap_or(strategy);
            if decided.judgement == ReviewJudgement::Dismiss {
                append_entity_event(
                    tx,
                    EventKind::EntityDismissed,
                    &entity,
                    &caller.agent,
                    now,
                    &[],
                )?;
                return Ok(ResolveEntityResult {
                    entity,
                    outcome: EntityOutcome::Matched,
                    review: None,
                });
            }
            if strategy == MergeStrategy::Manual {
                return Err(Error::invalid("strategy", "this statement is already in the queue")
                    .hint("Choose merge_context, newest_wins or highest_confidence."));
            }
            let entity = match &review.wanted {
                ReviewProposal::Stated(seen) => {
                    let workspace = workspace_of_sight(&sight)?;
                    let session = entity.session.as_deref();
                    let name = EntityName::of(workspace, session, seen.entity_type, &seen.value);
                    let name = name.unwrap_or_else(|| entity.name());
                    merge_statement(tx, &entity, &name, seen, strategy, now)?
                }
                ReviewProposal::Merged(source) => {
                    let source = match tx.entity(workspace_of_sight(&sight)?, *source)? {
                        Some(source) => source,
                        None => find_visible_entity(tx, &sight, *source)?,
                    };
                    let author =
                        join::MergeAuthor { agent: &caller.agent, at: now, operation: None };
                    let versions = EntityVersions::default();
                    join::join_entities(tx, &source, &entity, versions, strategy, author)?
                }
            };
            Ok(ResolveEntityResult { entity, outcome: EntityOutcome::Matched, review: None })
        })?;
        Ok(once.answer)
    }
}

/// Whether the queued item concerns only entities in sight.
pub(in crate::verbs) fn sees_review(
    tx: &Tx<'_>,
    sight: &Sight,
    review: &EntityReview,
) -> Result<bool> {
    let mut about = vec![review.entity];
    if let ReviewProposal::Merged(source) = review.wanted {
        about.push(source);
    }
    for id in about {
        let root = tx.root(workspace_of_sight(sight)?, id)?;
        if !tx.sees_entity(sight, root)? {
            return Ok(false);
        }
    }
    Ok(true)
}
