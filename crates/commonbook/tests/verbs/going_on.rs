//! Going on: a task without a matter of its own means the last session, at every place that asks for one.

use commonbook::base::clock::Clock;
use commonbook::model::caller::Caller;
use commonbook::model::checkpoint::ResumeSession;
use commonbook::model::memory::SaveMemory;
use commonbook::model::session::Session;
use commonbook::prompt::briefing::{Briefing, GetBriefing};
use commonbook::prompt::context::GetContext;
use jiff::SignedDuration;
use serde_json::json;

use crate::{World, caller, request};

const FOUND: &str = "The limiter counts per token: offices behind one address share it";
const DECIDED: &str = "Decision: a sliding window of 60 s, one key a token";
const OPEN: &str = "Open: the burst test fails on slow machines; next is a fake clock";

impl World {
    fn pass_minute(&self) {
        self.clock.set(self.clock.now() + SignedDuration::from_mins(1));
    }

    fn new_session(&self, agent: &str) -> Session {
        let session = self.book.start_session(&caller(agent), &request(json!({}))).unwrap().session;
        self.pass_minute();
        session
    }

    fn saved_in(&self, agent: &str, session: &Session, texts: &[&str]) {
        for text in texts {
            let memory = request::<SaveMemory>(json!({"text": text}));
            self.book.save_memory(&within(agent, session), &memory).unwrap();
            self.pass_minute();
        }
    }

    fn asked(&self, caller: &Caller, task: &str) -> String {
        self.book.get_context(caller, &request::<GetContext>(json!({"task": task}))).unwrap().text
    }

    fn prompted(&self, agent: &str, session: &str, prompt: &str) -> Briefing {
        let fields = json!({"client_session": session, "prompt": prompt});
        self.book.get_briefing(&caller(agent), &request::<GetBriefing>(fields)).unwrap()
    }
}

fn within(agent: &str, session: &Session) -> Caller {
    caller(agent).in_session(Some(&session.id.to_string())).unwrap()
}

/// The places of these words in a text, each of which must be there.
fn places(text: &str, words: [&str; 3]) -> [usize; 3] {
    words.map(|word| text.find(word).unwrap_or_else(|| panic!("no {word} in\n{text}")))
}

/// A world in which ann worked, began another session without a word, and bob went on.
fn world_with_a_past() -> World {
    let world = World::new();
    let session = world.new_session("ann");
    world.saved_in("ann", &session, &[FOUND, DECIDED, OPEN]);
    world.new_session("ann");
    let other = world.new_session("bob");
    world.saved_in("bob", &other, &["Redis was moved to the second host"]);
    world
}

#[test]
fn a_task_without_a_matter_goes_on_with_the_last_session() {
    let world = world_with_a_past();
    for task in ["Continue where we left off", "what's next?", "Go on with yesterday's work"] {
        let now = world.new_session("ann");
        let text = world.asked(&within("ann", &now), task);
        assert!(places(&text, ["limiter", "sliding", "burst"]).is_sorted(), "{text}");
        assert!(text.contains("Redis was moved"), "what others did since: {text}");
    }
    let now = world.new_session("ann");
    let text = world.asked(&within("ann", &now), "Paint the shed");
    assert!(!text.contains("Earlier work"), "{text}");
    // Who has no past here goes on with that of the workspace.
    let text = world.asked(&caller("cleo"), "Pick up where they left off");
    assert!(text.contains("Earlier work") && text.contains("Redis was moved"), "{text}");
}

#[test]
fn a_session_that_begins_is_offered_the_last_one_whatever_the_words() {
    let world = world_with_a_past();
    let now = world.new_session("ann");
    let offered = |agent: &str, session: &Session| {
        let task = request::<GetContext>(json!({"task": "gpu box came back, press on"}));
        let answer = world.book.get_context(&within(agent, session), &task).unwrap();
        answer.warnings.join("\n")
    };
    let text = offered("ann", &now);
    assert!(
        text.contains("The last session here was yours") && text.contains("`resume_session`"),
        "{text}"
    );
    let first = world.new_session("cleo");
    assert!(offered("cleo", &first).contains("that of bob"));
    // A client with hooks reads it at its beginning, once.
    let begin = |session: &str| {
        let fields = request::<GetBriefing>(json!({"client_session": session}));
        world.book.get_briefing(&caller("ann"), &fields).unwrap().text
    };
    assert!(begin("tab").contains("The last session here was yours"));
    assert!(!begin("tab").contains("The last session"));
    // Where nothing was saved there is nothing to go on with.
    let empty = World::new();
    let session = empty.new_session("ann");
    let task = request::<GetContext>(json!({"task": "go"}));
    assert!(empty.book.get_context(&within("ann", &session), &task).unwrap().warnings.is_empty());
}

#[test]
fn a_prompt_that_goes_on_is_told_the_last_session_once() {
    let world = world_with_a_past();
    let first = world.prompted("ann", "tab", "ok, where were we?").text;
    places(&first, ["limiter", "sliding", "burst"]);
    let again = world.prompted("ann", "tab", "Keep going").text;
    assert!(!again.contains("limiter"), "{again}");
}

#[test]
fn resuming_without_a_name_skips_empty_sessions() {
    let world = world_with_a_past();
    world.new_session("ann");
    let resume = |agent: &str| {
        world.book.resume_session(&caller(agent), &ResumeSession::default()).unwrap().text
    };
    places(&resume("ann"), ["limiter", "sliding", "burst"]);
    assert!(resume("cleo").contains("Redis was moved"), "that of the workspace");
}

#[test]
fn work_that_was_accepted_in_another_session_is_told_again_until_it_ends() {
    let world = World::new();
    let handoff = json!({"to": "dev", "task": "Write the burst test"});
    let handoff = world.book.create_handoff(&caller("lead"), &request(handoff)).unwrap().handoff;
    let id = json!({"id": handoff.id});
    let first = world.new_session("dev");
    world.book.accept_handoff(&within("dev", &first), &request(id.clone())).unwrap();
    let text = world.asked(&within("dev", &first), "Paint the shed");
    assert!(!text.contains("burst test"), "it has just accepted it: {text}");
    let second = world.new_session("dev");
    let text = world.asked(&within("dev", &second), "Paint the shed");
    assert!(text.contains("you accepted it") && text.contains("burst test"), "{text}");
    let text = world.prompted("dev", "tab", "Paint the shed").text;
    assert!(text.contains("burst test"), "{text}");
    let again = world.prompted("dev", "tab", "Paint the fence").text;
    assert!(!again.contains("burst test"), "{again}");
    // A client's hooks name its session by their own id.
    let other = json!({"to": "dev", "task": "Oil the gate"});
    let other = world.book.create_handoff(&caller("lead"), &request(other)).unwrap().handoff;
    let own = world.book.start_session(&caller("dev"), &request(json!({"client_session": "own"})));
    let accept = request(json!({"handoff": other.id}));
    world.book.accept_handoff(&within("dev", &own.unwrap().session), &accept).unwrap();
    let text = world.prompted("dev", "own", "Paint the hut").text;
    assert!(text.contains("burst test") && !text.contains("Oil the gate"), "{text}");
    world.book.complete_handoff(&within("dev", &second), &request(id)).unwrap();
    let third = world.new_session("dev");
    assert!(!world.asked(&within("dev", &third), "Paint the shed").contains("burst test"));
}

#[test]
fn a_resume_in_a_case_tells_what_others_found_there() {
    let world = World::new();
    world.book.open_case(&caller("ann"), &request(json!({"key": "pay", "title": "Pay"}))).unwrap();
    let fields = json!({"case": "pay"});
    let session = world.book.start_session(&caller("ann"), &request(fields)).unwrap().session;
    let append = |caller: &Caller, summary: &str, kind: &str| {
        let entry = json!({"key": "pay", "summary": summary, "kind": kind});
        world.book.append_entry(caller, &request(entry)).unwrap();
    };
    append(&caller("bob"), "The queue is not the cause", "note");
    append(&caller("bob"), "The retry gets a key", "decision");
    world.book.read_case(&caller("ann"), &request(json!({"key": "pay", "mark": true}))).unwrap();
    append(&within("ann", &session), "The key is the order's number", "note");
    append(&caller("cleo"), "Staging runs with the key", "milestone");
    let resume = |fields: serde_json::Value| {
        world.book.resume_session(&caller("ann"), &request(fields)).unwrap().text
    };
    let text = resume(json!({}));
    assert!(places(&text, ["queue is not", "retry gets", "Staging runs"]).is_sorted(), "{text}");
    assert_eq!(text.matches("order's number").count(), 1, "each once: {text}");
    assert_eq!(text.matches("unread").count(), 2, "the count and the new one: {text}");
    // Where not all has room, what is new and what was decided stands before the rest.
    for number in 0..40 {
        append(&caller("bob"), &format!("Searched shard {number}, found nothing there"), "note");
    }
    let all = json!({"key": "pay", "mark": true, "limit": 100});
    world.book.read_case(&caller("ann"), &request(all)).unwrap();
    let text = resume(json!({"budget": 500}));
    assert!(text.contains("retry gets a key"), "{text}");
}
