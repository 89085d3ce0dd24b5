//! The position from which an agent continues reading a case or the journal.

use crate::base::error::Result;
use crate::base::key::CaseKey;
use crate::model::caller::Caller;
use crate::store::Tx;

/// Where the caller continues: after `after`, else after its read mark.
pub(in crate::verbs) fn start_position(
    tx: &Tx<'_>,
    caller: &Caller,
    key: Option<&CaseKey>,
    after: Option<u64>,
    end: u64,
) -> Result<u64> {
    let place = match after {
        Some(after) => after,
        // Anonymous callers would all share one mark.
        None if caller.agent.is_anonymous() => 0,
        None => tx.cursor(&caller.workspace, &caller.agent, key)?,
    };
    // A position beyond the end is of another history.
    Ok(place.min(end))
}
