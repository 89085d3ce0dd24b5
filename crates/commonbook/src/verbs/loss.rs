//! Accepting that a store has lost events.

use serde_json::json;

use super::Commonbook;
use crate::base::error::Result;
use crate::model::access;
use crate::model::caller::Caller;
use crate::model::event::{EventKind, NewEvent};
use crate::model::memory::Sharing;
use crate::model::token::TokenScope;
use crate::store::{JournalLoss, StoreLoss};

impl Commonbook {
    /// Records in each journal that lost events that work continues without them. If the affected
    /// journals are unknown, the event goes to the caller's workspace.
    ///
    /// # Errors
    /// `forbidden` if the caller is not an administrator, `unavailable` if the store cannot write.
    pub fn accept_loss(&self, caller: &Caller, loss: &StoreLoss) -> Result<()> {
        access::require_scope(caller, TokenScope::Admin)?;
        let mut journals = loss.journals.clone();
        if journals.is_empty() {
            let workspace = caller.workspace.clone();
            journals.push(JournalLoss { workspace, stored: 0, marked: 0 });
        }
        let now = self.clock.now();
        self.write_as(caller, now, move |tx, caller| {
            for JournalLoss { workspace, stored, marked } in &journals {
                let event = NewEvent::for_subject(
                    EventKind::StoreLossAccepted,
                    workspace,
                    workspace.to_string(),
                    &caller.agent,
                    now,
                    Sharing::Shared,
                );
                let event =
                    event.with_details(&[("stored", json!(stored)), ("marked", json!(marked))]);
                tx.append_event(&event)?;
            }
            Ok(())
        })
    }
}
