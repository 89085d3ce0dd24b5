//! The outcome of a choice, for the source: why no memory goes along, and what to name.

use super::{ExclusionReason, HandoffSelection, HandoffSettings, MemoryExclusion};
use crate::base::id::{DELETION_HANDLE_CHARS_MIN, handle_of_length};
use crate::base::limits;

/// Private memories that a hint names.
const NAMED_MAX: usize = 3;

/// The number of memories of the work for which there was no room.
#[must_use]
pub fn left_out_count(left_out: &[MemoryExclusion]) -> u32 {
    let no_room = |left: &&MemoryExclusion| left.reason == ExclusionReason::Budget;
    u32::try_from(left_out.iter().filter(no_room).count()).unwrap_or(u32::MAX)
}

/// Why a handoff includes no memory, and what its source can do; `None` if it includes any.
/// `about_others` is the number of memories about a user for whom the source does not work.
#[must_use]
pub fn empty_hint(
    chosen: &HandoffSelection,
    settings: &HandoffSettings,
    about_others: usize,
) -> Option<String> {
    if !chosen.memories.is_empty() {
        return None;
    }
    let left = |reason| chosen.left_out.iter().filter(move |left| left.reason == reason);
    let private: Vec<&MemoryExclusion> =
        left(ExclusionReason::Private).filter(|left| left.score >= settings.threshold).collect();
    let too_long = left(ExclusionReason::Budget).count();
    let reason = if too_long > 0 {
        format!(
            "{too_long} that fit {} longer than the budget of {} tokens leaves. Raise `budget`, or \
             shorten the context.",
            verb(too_long, "is", "are"),
            settings.budget
        )
    } else if !private.is_empty() {
        let count = private.len();
        format!(
            "{count} that would fit {} private. Name in `memories` which of them this agent may read: \
             {}.",
            verb(count, "is", "are"),
            handles(&private)
        )
    } else if about_others > 0 {
        format!(
            "{about_others} that would fit {} about a user. Hand the work over while you work for \
             that user.",
            verb(about_others, "is", "are")
        )
    } else {
        format!(
            "you saved none in the last {} hours, and none in sight is about the task. Save what the \
             other agent has to know with `save_memory`, and name the ids in `memories`.",
            limits::HANDOFF_RECENT_HOURS
        )
    };
    Some(format!("No memory goes along: {reason}"))
}

const fn verb(count: usize, one: &'static str, many: &'static str) -> &'static str {
    if count == 1 { one } else { many }
}

fn handles(left: &[&MemoryExclusion]) -> String {
    let handles = left.iter().take(NAMED_MAX).map(|left| {
        format!("#{}", handle_of_length(&left.id.to_string(), DELETION_HANDLE_CHARS_MIN))
    });
    handles.collect::<Vec<_>>().join(", ")
}
