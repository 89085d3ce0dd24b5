//! The permission rule as SQL: the one condition that every query for memories carries.

use rusqlite::types::ToSql;

use crate::access::Sight;

/// What [`Sight::sees`] says, of a row `m` of the table `memory`. The conformance suite proves
/// the two equal.
pub(super) const SEEN: &str = "\
    m.workspace IN (SELECT value FROM json_each(:workspaces)) \
    AND (m.user_id IS NULL OR m.user_id = :user OR (:user IS NULL AND m.owner = :agent)) \
    AND (m.owner = :agent OR m.sharing = 'shared') \
    AND (m.trust <> 'quarantined' OR :reviews OR (m.owner = :agent AND :agent <> 'anonymous'))";

/// The parameters that [`SEEN`] needs.
pub(super) struct SightParams {
    agent: String,
    user: Option<String>,
    workspaces: String,
    reviews: bool,
}

impl SightParams {
    pub(super) fn of(sight: &Sight) -> Self {
        Self {
            agent: sight.agent.as_str().to_owned(),
            user: sight.user.clone(),
            workspaces: serde_json::json!(sight.workspaces).to_string(),
            reviews: sight.reviews,
        }
    }

    /// The parameters of what is reviewed by nobody, and `more`, by name.
    pub(super) fn unreviewed<'p>(
        &'p self,
        more: &[(&'p str, &'p dyn ToSql)],
    ) -> Vec<(&'p str, &'p dyn ToSql)> {
        let mut all = self.with(more);
        all.retain(|(name, _)| *name != ":reviews");
        all
    }

    /// These parameters and `more`, by name.
    pub(super) fn with<'p>(
        &'p self,
        more: &[(&'p str, &'p dyn ToSql)],
    ) -> Vec<(&'p str, &'p dyn ToSql)> {
        let mut all: Vec<(&str, &dyn ToSql)> = vec![
            (":agent", &self.agent),
            (":user", &self.user),
            (":workspaces", &self.workspaces),
            (":reviews", &self.reviews),
        ];
        all.extend_from_slice(more);
        all
    }
}
