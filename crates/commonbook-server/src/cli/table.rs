//! The table of commands: which verb each calls, and how its answer is shown.

use commonbook::Commonbook;
use serde_json::Value;

use super::{
    Verb, case, checkpoint, context, contradictions, entities, handoff, session, show, tokens,
};
use crate::call::Call;

/// What the commands of a group are about.
pub(super) const GROUPS: &[(&str, &str)] = &[
    ("session", "Start, end and show sessions: stretches of an agent's work"),
    ("case", "Open, read and add to cases: logs of one matter that several agents work on"),
    ("handoff", "Hand work over to another agent, take it, and see who hands work to whom"),
    ("entity", "What agents say of people, tools, files and projects, and how these are related"),
    ("contradictions", "Memories that contradict each other, and what becomes of them"),
    ("token", "Make, list, rotate and revoke the tokens that prove who calls over HTTP"),
];

/// The fields that a file is given for, which has a JSON list, by their commands.
pub(super) const FILES: &[(&str, &str)] = &[("batch", "memories"), ("case batch", "entries")];

/// What `purge` does when a time is given instead of an id: no command of its own.
pub(super) const PURGE_SINCE: &str = "purge-since";

/// Every verb, in the order of the help.
pub(super) fn verbs() -> Vec<Verb> {
    let of_work = [sessions(), cases(), handoffs()].into_iter().flatten();
    let of_contents = [of_entities(), of_contradictions()].into_iter().flatten();
    [memories(), contexts(), of_work.collect(), of_contents.collect()]
        .into_iter()
        .flatten()
        .collect()
}

fn verb(
    name: &'static str,
    call: Call,
    positional: &'static [&'static str],
    show: fn(&Value),
) -> Verb {
    Verb { name, call, positional, show, or: None }
}

fn memories() -> Vec<Verb> {
    vec![
        verb("save", Call::of(Commonbook::save_memory), &["text"], show::saved),
        verb("search", Call::of(Commonbook::search_memory), &["query"], show::hits),
        verb("show", Call::of(Commonbook::get_memory), &["id"], show::memory),
        verb("list", Call::of(Commonbook::list_memories), &[], show::memories),
        verb("update", Call::of(Commonbook::update_memory), &["id"], show::changed),
        verb("delete", Call::of(Commonbook::delete_memory), &["id"], show::deleted),
        verb("restore", Call::of(Commonbook::restore_memory), &["id"], show::changed),
        verb("purge", Call::of(Commonbook::purge_memory), &["id"], show::purged)
            .or("since", PURGE_SINCE),
        verb(PURGE_SINCE, Call::of(Commonbook::purge_since), &[], show::acted),
        verb("adopt", Call::of(Commonbook::adopt_memories), &["agent_name"], show::acted),
        verb("undo", Call::of(Commonbook::undo_act), &["act_id"], show::undone),
        verb("users", Call::of(Commonbook::list_users), &[], show::users),
        verb("history", Call::of(Commonbook::memory_history), &["id"], show::history),
        verb("stats", Call::of(Commonbook::get_memory_stats), &[], show::stats),
        verb("agents", Call::of(Commonbook::list_agents), &[], show::agents),
        verb("agent", Call::of(Commonbook::get_agent), &["name"], show::agent),
        verb("events", Call::of(Commonbook::list_events), &[], show::events),
        verb("review", Call::of(Commonbook::list_quarantined), &[], show::quarantined),
        verb("appeal", Call::of(Commonbook::appeal_memory), &["id"], show::appealed),
        verb("release", Call::of(Commonbook::release_memory), &["id"], show::changed),
        verb("token create", Call::of(Commonbook::create_token), &["agent_name"], tokens::issued),
        verb("token list", Call::of(Commonbook::list_tokens), &[], tokens::list),
        verb("token revoke", Call::of(Commonbook::revoke_token), &["token_id"], tokens::revoked),
        verb("token rotate", Call::of(Commonbook::rotate_token), &["token_id"], tokens::issued),
        verb("batch", Call::of(Commonbook::save_memories), &["memories"], show::batch),
    ]
}

fn contexts() -> Vec<Verb> {
    vec![
        verb("context", Call::of(Commonbook::get_context), &["task"], context::context),
        verb("explain", Call::of(Commonbook::explain_context), &["context"], context::explained),
        verb("learn", Call::of(Commonbook::learn), &["message"], context::learned),
    ]
}

fn of_contradictions() -> Vec<Verb> {
    vec![
        verb(
            "contradictions list",
            Call::of(Commonbook::detect_contradictions),
            &[],
            contradictions::list,
        ),
        verb(
            "contradictions show",
            Call::of(Commonbook::get_contradiction),
            &["contradiction"],
            contradictions::one,
        ),
        verb(
            "contradictions resolve",
            Call::of(Commonbook::resolve_contradiction),
            &["contradiction", "resolution"],
            contradictions::one,
        ),
    ]
}

fn cases() -> Vec<Verb> {
    vec![
        verb("case open", Call::of(Commonbook::open_case), &["key"], case::opened),
        verb(
            "case append",
            Call::of(Commonbook::append_entry),
            &["key", "summary"],
            case::appended,
        ),
        verb(
            "case batch",
            Call::of(Commonbook::append_entries),
            &["key", "entries"],
            case::appended,
        ),
        verb("case read", Call::of(Commonbook::read_case), &["key"], case::entries),
        verb("case context", Call::of(Commonbook::get_case_context), &["key"], case::context),
        verb("case digest", Call::of(Commonbook::digest_case), &["key"], case::digested),
        verb("case show", Call::of(Commonbook::get_case), &["key"], case::case),
        verb("case list", Call::of(Commonbook::list_cases), &[], case::list),
        verb("case close", Call::of(Commonbook::close_case), &["key"], case::case),
        verb("case archive", Call::of(Commonbook::archive_case), &["key"], case::case),
        verb("case reopen", Call::of(Commonbook::reopen_case), &["key"], case::case),
    ]
}

fn sessions() -> Vec<Verb> {
    vec![
        verb("changes", Call::of(Commonbook::changes_since), &[], session::changes),
        verb("mark", Call::of(Commonbook::mark_read), &["position"], session::marked),
        verb("session start", Call::of(Commonbook::start_session), &[], session::started),
        verb("session end", Call::of(Commonbook::end_session), &["session"], session::ended),
        verb("session touch", Call::of(Commonbook::touch_session), &["session"], session::session),
        verb("resume", Call::of(Commonbook::resume_session), &["session"], checkpoint::resumed),
        verb("checkpoint", Call::of(Commonbook::create_checkpoint), &[], checkpoint::made),
        verb(
            "summarise",
            Call::of(Commonbook::checkpoint_and_summarise),
            &["summary"],
            checkpoint::summarised,
        ),
        verb(
            "session checkpoint",
            Call::of(Commonbook::get_checkpoint),
            &["checkpoint"],
            checkpoint::made,
        ),
        verb("checkpoints", Call::of(Commonbook::list_checkpoints), &["session"], checkpoint::list),
        verb("session show", Call::of(Commonbook::get_session), &["session"], session::shown),
        verb("session list", Call::of(Commonbook::list_sessions), &[], session::list),
    ]
}

fn handoffs() -> Vec<Verb> {
    vec![
        verb(
            "handoff create",
            Call::of(Commonbook::create_handoff),
            &["to", "task"],
            handoff::created,
        ),
        verb("handoff list", Call::of(Commonbook::list_handoffs), &[], handoff::list),
        verb("handoff show", Call::of(Commonbook::get_handoff), &["handoff"], handoff::receipt),
        verb(
            "handoff accept",
            Call::of(Commonbook::accept_handoff),
            &["handoff"],
            handoff::accepted,
        ),
        verb(
            "handoff complete",
            Call::of(Commonbook::complete_handoff),
            &["handoff", "result"],
            handoff::stepped,
        ),
        verb(
            "handoff reject",
            Call::of(Commonbook::reject_handoff),
            &["handoff", "reason"],
            handoff::stepped,
        ),
        verb(
            "handoff withdraw",
            Call::of(Commonbook::withdraw_handoff),
            &["handoff", "reason"],
            handoff::stepped,
        ),
        verb("handoff graph", Call::of(Commonbook::get_collaborations), &[], handoff::graph),
    ]
}

fn of_entities() -> Vec<Verb> {
    vec![
        verb(
            "entity resolve",
            Call::of(Commonbook::resolve_entity),
            &["type", "value"],
            entities::resolved,
        ),
        verb(
            "entity find",
            Call::of(Commonbook::find_entity),
            &["type", "value"],
            entities::entity,
        ),
        verb("entity show", Call::of(Commonbook::get_entity), &["entity"], entities::page),
        verb("entity list", Call::of(Commonbook::list_entities), &[], entities::list),
        verb(
            "entity mentions",
            Call::of(Commonbook::entity_mentions),
            &["entity"],
            entities::mentions,
        ),
        verb(
            "entity merge",
            Call::of(Commonbook::merge_entities),
            &["source", "target"],
            entities::merged,
        ),
        verb(
            "entity unmerge",
            Call::of(Commonbook::unmerge_entities),
            &["source"],
            entities::unmerged,
        ),
        verb("entity reviews", Call::of(Commonbook::list_reviews), &[], entities::reviews),
        verb(
            "entity decide",
            Call::of(Commonbook::decide_review),
            &["review_id", "judgement"],
            entities::resolved,
        ),
        verb(
            "entity relate",
            Call::of(Commonbook::add_relation),
            &["from", "type", "to"],
            entities::relation,
        ),
        verb("entity graph", Call::of(Commonbook::graph_query), &["from"], entities::graph),
    ]
}
