//! The SQL of names: which audience knows which.
//!
//! A name has a row for each audience that knows it, so that a name which only others know costs
//! nothing in a list, a look-up or a comparison.

use super::Tx;
use crate::base::error::Result;
use crate::base::id::EntityId;
use crate::model::entity::EntityName;
use crate::model::workspace::Workspace;

impl Tx<'_> {
    /// Records that an audience knows a name. A name that an agent stated stays even if no memory
    /// mentions it.
    pub(super) fn note_name(&self, name: &EntityName, audience: i64, stated: bool) -> Result<()> {
        self.execute(
            "INSERT INTO entity_name (workspace, id, audience, session, entity_type, value, \
             normalised, stated) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) \
             ON CONFLICT (audience, id) DO UPDATE SET stated = TRUE \
             WHERE excluded.stated > entity_name.stated",
            (
                name.workspace.as_str(),
                name.id.to_string(),
                audience,
                &name.session,
                name.entity_type.name(),
                &name.value,
                &name.normalised,
                stated,
            ),
        )?;
        Ok(())
    }

    /// Drops a name that no agent stated and no memory of this audience mentions. A name that
    /// everybody knew is unfiled, and its redirects end.
    pub(super) fn forget_name(
        &self,
        workspace: &Workspace,
        name: EntityId,
        audience: i64,
    ) -> Result<()> {
        let key = [workspace.as_str(), &name.to_string()];
        let unseen = self.unseen("whether any memory of the audience mentions the name");
        let gone = unseen.execute(
            "DELETE FROM entity_name WHERE workspace = ?1 AND id = ?2 AND audience = ?3 \
             AND stated = FALSE AND NOT EXISTS \
                 (SELECT 1 FROM mention WHERE +workspace = ?1 AND name = ?2 AND audience = ?3)",
            (key[0], key[1], audience),
        )?;
        if gone > 0 && audience == self.everybody_audience(workspace)? {
            for sql in [
                "DELETE FROM entity_key WHERE workspace = ?1 AND name = ?2",
                "DELETE FROM entity_same WHERE workspace = ?1 AND name = ?2",
                "DELETE FROM entity_same WHERE workspace = ?1 AND entity = ?2",
            ] {
                self.execute(sql, key)?;
            }
        }
        Ok(())
    }
}
