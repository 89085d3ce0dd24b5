//! The registry: agents that wrote, and when they called last.

use commonbook::model::agent::ListAgents;
use jiff::SignedDuration;

use crate::{World, at, caller, elsewhere};

/// The agents of a workspace's registry, with first and last call.
fn registry(world: &World, workspace: &str) -> Vec<(String, String, String)> {
    let agents = world.book.list_agents(&elsewhere("zoe", workspace), &ListAgents {}).unwrap();
    let time = |time: jiff::Timestamp| time.strftime("%T").to_string();
    let row = |record: commonbook::model::agent::AgentRecord| {
        (record.agent.to_string(), time(record.first_seen), time(record.last_seen))
    };
    agents.items.into_iter().map(row).collect()
}

fn row(name: &str, first: &str, last: &str) -> (String, String, String) {
    (name.to_owned(), first.to_owned(), last.to_owned())
}

#[test]
fn an_agent_that_only_reads_is_not_registered() {
    let world = World::new();
    world.save("crow", "The nest is built in spring");
    for agent in ["rook", "anonymous", "a-name-of-a-foreign-page"] {
        world.book.note_seen(&caller(agent));
    }
    world.book.note_seen(&elsewhere("crow", "y"));
    assert_eq!(registry(&world, "x"), [row("crow", "09:00:00", "09:00:00")]);
    assert_eq!(registry(&world, "y"), [], "writes in other workspaces do not count here");
}

#[test]
fn last_seen_is_written_at_most_once_a_minute() {
    let world = World::new();
    world.save("rook", "Rook was here");
    let after = |seconds| {
        world.clock.set(at(0) + SignedDuration::from_secs(seconds));
        world.book.note_seen(&caller("rook"));
        registry(&world, "x").pop().unwrap().2
    };
    assert_eq!(
        [0, 59, 60, 119, 121].map(after),
        ["09:00:00", "09:00:00", "09:01:00", "09:01:00", "09:02:01"]
    );
    // What another process has recorded within the minute is not written again.
    let other = world.book.clone();
    world.clock.set(at(1));
    world.save("crow", "Crow was here");
    world.clock.set(at(1) + SignedDuration::from_secs(30));
    other.note_seen(&caller("crow"));
    assert_eq!(registry(&world, "x")[0], row("crow", "10:00:00", "10:00:00"));
}

#[test]
fn a_concurrent_read_does_not_miss_an_agent_being_registered() {
    let world = World::new();
    let names = (0..50).map(|number| format!("reader-{number}")).collect::<Vec<_>>();
    for name in &names {
        world.save(name, "I was here");
    }
    world.clock.set(at(1));
    for name in &names {
        world.book.note_seen(&caller(name));
        // One of them writes the record; the other must not return before that.
        std::thread::scope(|scope| {
            for asking in [0, 1].map(|_| scope.spawn(|| registry(&world, "x"))) {
                let listed = asking.join().unwrap();
                let seen = listed.iter().find(|(agent, ..)| agent == name);
                assert_eq!(seen.map(|(.., last)| last.as_str()), Some("10:00:00"), "{name}");
            }
        });
    }
}
