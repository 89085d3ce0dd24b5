//! Where an agent goes on reading: in a case, or in the journal.

use crate::base::error::Result;
use crate::base::key::CaseKey;
use crate::model::caller::Caller;
use crate::store::Transaction;

/// Where the caller goes on: after `after`, else after the one that it has marked.
pub(in crate::verbs) fn start_position(
    tx: &dyn Transaction,
    caller: &Caller,
    key: Option<&CaseKey>,
    after: Option<u64>,
    end: u64,
) -> Result<u64> {
    let place = match after {
        Some(after) => after,
        // All who have no name would share one.
        None if caller.agent.is_anonymous() => 0,
        None => tx.cursor(&caller.workspace, &caller.agent, key)?,
    };
    // A place beyond the end is of another history.
    Ok(place.min(end))
}
