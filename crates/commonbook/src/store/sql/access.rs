//! The permission rule as SQL: the audiences of a sight. `rows.rs` builds from them the condition
//! that every query carries.
//!
//! A query never asks for each row whether the caller sees it. It first finds the audiences that
//! the caller belongs to, by look-ups that read no other audience, and then seeks only their rows:
//! what others keep out of sight costs it no step. [`Sight::belongs_to`] decides finally about each
//! audience.

use std::rc::Rc;

use super::Tx;
use super::driver::SqlRow;
use super::row::text;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::id::MemoryId;
use crate::model::access::{Audience, Sight, Visibility};
use crate::model::agent::Agent;
use crate::model::memory::{Sharing, Trust};
use crate::model::workspace::Workspace;

/// The owner of the rows that everybody may read, in the table `audience`.
const WORKSPACE_OWNER: &str = "";

/// The sharing of the rows of opaque documents, in the table `audience`: they are private.
const OPAQUE_SHARING: &str = "opaque";

/// The columns of the table `audience`.
const AUDIENCE_COLUMNS: &str = "number, workspace, owner, user_id, sharing, quarantined";

/// A row of the table `audience` that a caller belongs to.
#[derive(Debug, Clone)]
pub(super) struct VisibleAudience {
    pub(super) number: i64,
    pub(super) audience: Audience,
}

impl VisibleAudience {
    /// The workspace of its memories.
    pub(super) fn workspace(&self) -> &Workspace {
        match &self.audience {
            Audience::Workspace(workspace) => workspace,
            Audience::Visibility(visibility) => &visibility.workspace,
        }
    }

    /// Whether its memories are quarantined.
    pub(super) fn is_quarantined(&self) -> bool {
        matches!(&self.audience, Audience::Visibility(visibility) if visibility.trust == Trust::Quarantined)
    }

    /// Orders by narrowness: everybody's audience first, shared before private, quarantined last.
    pub(super) fn narrowness_key(&self) -> (bool, bool, bool) {
        match &self.audience {
            Audience::Workspace(_) => (false, false, false),
            Audience::Visibility(visibility) => {
                (self.is_quarantined(), visibility.sharing == Sharing::Private, true)
            }
        }
    }

    /// Whether its memories are about a user.
    pub(super) fn is_about_user(&self) -> bool {
        matches!(&self.audience, Audience::Visibility(visibility) if visibility.user_id.is_some())
    }
}

/// The audiences that one transaction has looked up: it uses few sights, many times.
#[derive(Debug, Default)]
pub(super) struct AudienceCache {
    visible: Vec<(Sight, Rc<[VisibleAudience]>)>,
    numbers: Vec<(Audience, i64)>,
}

impl Tx<'_> {
    /// The audiences that a sight belongs to, of those that ever had a memory, by number.
    pub(super) fn visible_audiences(&self, sight: &Sight) -> Result<Rc<[VisibleAudience]>> {
        let cached = self.audiences.borrow().visible.iter().find(|(of, _)| of == sight).cloned();
        if let Some((_, visible)) = cached {
            return Ok(visible);
        }
        let mut visible = Vec::new();
        for workspace in &sight.workspaces {
            self.collect_audiences(sight, workspace, &mut visible)?;
        }
        visible.retain(|row| sight.belongs_to(&row.audience));
        visible.sort_by_key(|row| row.number);
        visible.dedup_by_key(|row| row.number);
        let visible: Rc<[VisibleAudience]> = visible.into();
        self.audiences.borrow_mut().visible.push((sight.clone(), Rc::clone(&visible)));
        Ok(visible)
    }

    /// Looks up the audiences in sight of one workspace: those shared with everybody who works for
    /// the same user or for none, and the caller's own.
    fn collect_audiences(
        &self,
        sight: &Sight,
        workspace: &Workspace,
        visible: &mut Vec<VisibleAudience>,
    ) -> Result<()> {
        let (workspace, agent) = (workspace.as_str(), sight.agent.as_str());
        let users: Vec<Option<&str>> =
            [None].into_iter().chain(sight.user.as_deref().map(Some)).collect();
        let shared = format!(
            "SELECT {AUDIENCE_COLUMNS} FROM audience INDEXED BY audience_shared WHERE workspace = ?1 \
             AND quarantined = ?2 AND sharing = 'shared' AND user_id IS ?3"
        );
        let own = format!(
            "SELECT {AUDIENCE_COLUMNS} FROM audience INDEXED BY audience_own WHERE workspace = ?1 \
             AND owner = ?2 AND quarantined = ?3"
        );
        let own_of_user = format!("{own} AND user_id IS ?4");
        for quarantined in [false, true] {
            if !quarantined || sight.reviews {
                for user in &users {
                    let params = (workspace, quarantined, user);
                    visible.extend(self.query_all(&shared, params, audience_from_row)?);
                }
            }
            if quarantined && sight.agent.is_anonymous() && !sight.reviews {
                continue;
            }
            if sight.user.is_none() {
                visible.extend(self.query_all(
                    &own,
                    (workspace, agent, quarantined),
                    audience_from_row,
                )?);
                continue;
            }
            for user in &users {
                let params = (workspace, agent, quarantined, user);
                visible.extend(self.query_all(&own_of_user, params, audience_from_row)?);
            }
        }
        Ok(())
    }

    /// The number of an audience, if it ever had a memory.
    pub(super) fn find_audience(&self, audience: &Audience) -> Result<Option<i64>> {
        let cached = |(of, number): &(Audience, i64)| (of == audience).then_some(*number);
        if let Some(number) = self.audiences.borrow().numbers.iter().find_map(cached) {
            return Ok(Some(number));
        }
        let sql = "SELECT number FROM audience INDEXED BY audience_shared WHERE workspace = ?1 \
             AND owner = ?2 AND user_id IS ?3 AND sharing = ?4 AND quarantined = ?5";
        let number = self.query_one(sql, audience_columns(audience), |row| row.get(0))?;
        if let Some(number) = number {
            self.audiences.borrow_mut().numbers.push((audience.clone(), number));
        }
        Ok(number)
    }

    /// The number of an audience, assigned if it never had a memory.
    pub(super) fn audience_number(&self, audience: &Audience) -> Result<i64> {
        if let Some(number) = self.find_audience(audience)? {
            return Ok(number);
        }
        let sql = "INSERT INTO audience (workspace, owner, user_id, sharing, quarantined) \
             VALUES (?1, ?2, ?3, ?4, ?5) RETURNING number";
        let number: Option<i64> =
            self.query_one(sql, audience_columns(audience), |row| row.get(0))?;
        self.audiences.borrow_mut().visible.clear();
        number.ok_or_else(|| Error::new(ErrorKind::Internal, "an audience got no number"))
    }

    /// Drops an audience that no row belongs to any more, with the names in it.
    pub(super) fn forget_audience(&self, workspace: &Workspace, number: i64) -> Result<()> {
        let sql = "DELETE FROM audience WHERE number = ?1 AND owner <> '' \
             AND NOT EXISTS (SELECT 1 FROM memory WHERE audience = ?1) \
             AND NOT EXISTS (SELECT 1 FROM entity_name WHERE audience = ?1) \
             AND NOT EXISTS (SELECT 1 FROM relation WHERE workspace = ?2 AND audience = ?1)";
        let unseen = self.unseen("whether nothing belongs to an audience any more");
        if unseen.execute(sql, (number, workspace.as_str()))? > 0 {
            self.audiences.take();
        }
        Ok(())
    }

    /// The audience of a memory.
    pub(super) fn audience_of(
        &self,
        workspace: &Workspace,
        id: MemoryId,
    ) -> Result<Option<Audience>> {
        let sql = "SELECT a.number, a.workspace, a.owner, a.user_id, a.sharing, a.quarantined \
             FROM memory m CROSS JOIN audience a ON a.number = m.audience \
             WHERE m.workspace = ?1 AND m.id = ?2";
        let unseen =
            self.unseen("who reads a memory at an end of a relation, kept for those alone");
        let found = unseen.first(sql, (workspace.as_str(), id.to_string()), audience_from_row)?;
        Ok(found.map(|row| row.audience))
    }

    /// The number of the audience of everybody in a workspace.
    pub(super) fn everybody_audience(&self, workspace: &Workspace) -> Result<i64> {
        self.audience_number(&Audience::Workspace(workspace.clone()))
    }
}

/// Whether a row of the table `memory` is an opaque document, as `Memory::is_opaque` decides it.
pub(super) fn opaque_condition(row: &str) -> String {
    format!("({row}.path IS NOT NULL AND {row}.memory_type = 'opaque')")
}

/// Workspace, owner, user, sharing and quarantine, as columns of the table.
fn audience_columns(audience: &Audience) -> (&str, &str, Option<&str>, &str, bool) {
    match audience {
        Audience::Workspace(workspace) => {
            (workspace.as_str(), WORKSPACE_OWNER, None, Sharing::Shared.name(), false)
        }
        Audience::Visibility(Visibility { workspace, owner, user_id, sharing, trust, opaque }) => (
            workspace.as_str(),
            owner.as_str(),
            user_id.as_deref(),
            if *opaque { OPAQUE_SHARING } else { sharing.name() },
            *trust == Trust::Quarantined,
        ),
    }
}

fn audience_from_row(row: &SqlRow<'_>) -> Result<VisibleAudience> {
    let workspace: Workspace = text(row, 1)?;
    let audience = match row.get_ref(2)?.as_str()? {
        WORKSPACE_OWNER => Audience::Workspace(workspace),
        _ => {
            let opaque = row.get_ref(4)?.as_str()? == OPAQUE_SHARING;
            Audience::Visibility(Visibility {
                workspace,
                owner: text::<Agent>(row, 2)?,
                user_id: row.get(3)?,
                sharing: if opaque { Sharing::Private } else { text(row, 4)? },
                trust: if row.get(5)? { Trust::Quarantined } else { Trust::Normal },
                opaque,
            })
        }
    };
    Ok(VisibleAudience { number: row.get(0)?, audience })
}
