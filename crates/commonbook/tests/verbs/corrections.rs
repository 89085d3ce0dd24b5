//! Corrections: what an author said before is superseded or repeated, and what another said stands.

use commonbook::base::error::ErrorKind;
use commonbook::model::contradiction::DetectContradictions;
use commonbook::model::learning::LearnRequest;
use commonbook::model::memory::{
    GetMemory, ListMemories, Memory, RestoreMemory, SaveMemories, SaveMemory, SaveOutcome,
    SaveResult,
};
use serde_json::{Value, json};

use crate::{World, caller, request};

const THREE: &str = "The deploy needs three approvals";
const FIVE: &str = "The deploy needs five approvals";

impl World {
    fn result(&self, agent: &str, fields: Value) -> SaveResult {
        self.book.save_memory(&caller(agent), &request::<SaveMemory>(fields)).unwrap()
    }

    fn current(&self, agent: &str) -> Vec<String> {
        self.texts(agent, &ListMemories::default())
    }

    /// The texts that nothing supersedes.
    fn standing_texts(&self, agent: &str) -> Vec<String> {
        let all = self.book.list_memories(&caller(agent), &ListMemories::default()).unwrap().items;
        let stands = all.into_iter().filter(|memory| memory.superseded_by.is_none());
        stands.map(|memory| memory.text).collect()
    }

    fn reread(&self, memory: &Memory) -> Memory {
        let wanted = GetMemory { id: memory.id.into(), at: None };
        self.book.get_memory(&caller(memory.owner.as_str()), &wanted).unwrap()
    }

    fn reasons(&self, agent: &str) -> Vec<String> {
        let wanted = request::<DetectContradictions>(json!({}));
        let found = self.book.detect_contradictions(&caller(agent), &wanted).unwrap();
        found.items.into_iter().map(|found| found.reason).collect()
    }
}

#[test]
fn a_correction_supersedes_ones_own_memory_and_names_it() {
    let world = World::new();
    let old = world.result("ann", json!({"text": THREE}));
    assert_eq!((old.outcome, old.superseded.len()), (SaveOutcome::Created, 0));
    let new = world.result("ann", json!({"text": FIVE}));
    assert_eq!((new.outcome, &new.superseded), (SaveOutcome::Created, &vec![old.memory.id]));
    assert!(new.hint.unwrap().contains("restore"));
    assert_eq!(world.reread(&old.memory).superseded_by, Some(new.memory.id));
    assert_eq!(world.reasons("ann"), Vec::<String>::new());
}

/// A stranger's own correction must not tell whether others keep something of the subject.
#[test]
fn what_others_hide_takes_no_place_among_the_candidates() {
    let salary = |euros: u32| format!("The salary of Ann Lee is {euros} euros");
    for decoys in [0, 48, 49, 50, 60] {
        let superseded = [false, true].map(|is_hidden| {
            let world = World::new();
            let old = world.result("mallory", json!({"text": salary(99_000)})).memory;
            for number in 0..decoys {
                world.save(&format!("mallory/c{number}"), &salary(10_000 + number));
            }
            if is_hidden {
                (0..60)
                    .for_each(|number| drop(world.save_private("alice", &salary(81_500 + number))));
            }
            let new = world.result("mallory", json!({"text": salary(55_000)}));
            assert_eq!(new.superseded, [old.id], "{decoys} decoys");
            new.superseded.len()
        });
        assert_eq!(superseded, [1, 1], "{decoys} decoys");
    }
}

/// What many agents hide does not silence the alarm for what all can read.
#[test]
fn what_others_hide_silences_no_contradiction() {
    let world = World::new();
    world.save("ann", THREE);
    for number in 0..60 {
        world.save_private("mallory", &format!("The deploy needs {} approvals", number + 10));
        world.save_private(
            &format!("mallory/c{number}"),
            &format!("The deploy needs {number}0 approvals"),
        );
    }
    world.save("bob", FIVE);
    assert_eq!(world.reasons("eve").len(), 1);
    // Only its author sees a private memory contradict what others say.
    world.save_private("carl", "The deploy needs seven approvals");
    assert_eq!((world.reasons("carl").len(), world.reasons("eve").len()), (3, 1));
}

#[test]
fn a_correction_of_another_author_is_an_open_contradiction() {
    let world = World::new();
    let old = world.result("claude-code", json!({"text": THREE}));
    let new = world.result("gemini-cli", json!({"text": FIVE}));
    assert_eq!(new.superseded, []);
    assert_eq!(world.reread(&old.memory).superseded_by, None);
    assert_eq!(world.reasons("eve"), ["claude-code says three, gemini-cli says five"]);
}

#[test]
fn a_superseded_memory_is_restored_and_both_stand() {
    let world = World::new();
    let old = world.result("ann", json!({"text": THREE})).memory;
    world.result("ann", json!({"text": FIVE}));
    let restore = request::<RestoreMemory>(json!({"id": old.id}));
    let back = world.book.restore_memory(&caller("ann"), &restore).unwrap();
    assert_eq!(back.superseded_by, None);
    let again = world.book.restore_memory(&caller("ann"), &restore).unwrap_err();
    assert_eq!(again.kind, ErrorKind::Conflict);
    let others = world.book.restore_memory(&caller("bob"), &restore).unwrap_err();
    assert_ne!(others.kind, ErrorKind::Conflict);
    assert_eq!(world.current("ann").len(), 2);
}

#[test]
fn the_same_again_is_repeated_with_the_first_id() {
    let world = World::new();
    let first = world.result("ann", json!({"text": THREE}));
    for text in [THREE, "The deploy needs **three** approvals.", "the deploy needs 3 approvals"] {
        let again = world.result("ann", json!({"text": text}));
        assert_eq!((again.outcome, again.memory.id), (SaveOutcome::Repeated, first.memory.id));
    }
    let free = world.result("ann", json!({"text": "hm, tea?"})).memory;
    assert_eq!(world.result("ann", json!({"text": "hm, tea?"})).memory.id, free.id);
    // Another author, other topics and another sharing make another memory.
    for (agent, fields) in [
        ("bob", json!({"text": THREE})),
        ("ann", json!({"text": THREE, "topics": ["deploy"]})),
        ("ann", json!({"text": THREE, "sharing": "private"})),
        ("ann", json!({"text": THREE, "memory_type": "decision"})),
        ("anonymous", json!({"text": THREE})),
    ] {
        assert_eq!(world.result(agent, fields.clone()).outcome, SaveOutcome::Created, "{fields}");
    }
}

#[test]
fn a_batch_corrects_and_repeats_within_itself() {
    let world = World::new();
    let batch = json!({"memories": [{"text": THREE}, {"text": THREE}, {"text": FIVE}]});
    let batch = request::<SaveMemories>(batch);
    let saved = world.book.save_memories(&caller("ann"), &batch).unwrap().items;
    let outcomes: Vec<SaveOutcome> = saved.iter().map(|saved| saved.outcome).collect();
    use SaveOutcome::{Created, Repeated};
    assert_eq!(outcomes, [Created, Repeated, Created]);
    assert_eq!(saved[2].superseded, [saved[0].memory.id]);
}

#[test]
fn parallel_facts_and_longer_notes_both_stand() {
    let world = World::new();
    for text in [
        "Staging uses port 5432",
        "Production uses port 5433",
        "The read timeout is 5 seconds",
        "The write timeout is 20 seconds",
        "The API timeout is 30 seconds. The API key is in the vault.",
        "The API timeout is 60 seconds",
    ] {
        assert_eq!(world.result("ann", json!({"text": text})).superseded, [], "{text}");
    }
    // The author's choice of what to supersede holds alone.
    let old = world.result("ann", json!({"text": "Ann likes tea"})).memory;
    let fields = json!({"text": "The write timeout is 25 seconds", "supersedes": old.id});
    assert_eq!(world.result("ann", fields).superseded, []);
    assert!(world.current("ann").contains(&"The write timeout is 20 seconds".to_owned()));
}

#[test]
fn a_learning_corrects_an_earlier_one() {
    let world = World::new();
    let learn = |text: &str| {
        let message = format!("Done.\n\nAdd To Memory:\nType: guideline\nContent: {text}\n#\n");
        let request = request::<LearnRequest>(json!({"message": message}));
        world.book.learn(&caller("ann"), &request).unwrap()
    };
    let first = learn(THREE);
    let [old] = first.learnings.as_slice() else { panic!("{first:?}") };
    assert_eq!(learn(FIVE).superseded, [old.id]);
    assert_eq!(learn(FIVE).repeated, 1);
}

#[test]
fn a_changed_text_is_found_by_what_it_says_now() {
    let world = World::new();
    let memory = world.result("ann", json!({"text": "The cat sleeps"})).memory;
    let change = json!({"id": memory.id, "text": THREE});
    world.book.update_memory(&caller("ann"), &request(change)).unwrap();
    assert_eq!(
        world.result("ann", json!({"text": "The cat sleeps"})).outcome,
        SaveOutcome::Created
    );
    assert_eq!(world.result("ann", json!({"text": FIVE})).superseded, [memory.id]);
}

#[test]
fn an_agent_corrects_itself_whichever_way_it_says_so() {
    let learn = |world: &World, text: &str| {
        let message = format!("Done.\n\nRemember: {text}");
        let request = request::<LearnRequest>(json!({"message": message}));
        world.book.learn(&caller("amy"), &request).unwrap().superseded
    };
    let save = |world: &World, memory_type: &str, text: &str| {
        world.result("amy", json!({"text": text, "memory_type": memory_type})).superseded
    };
    let ways = ["learning by hook", "semantic", "decision", "procedural", "rule-of-thumb"];
    let say = |world: &World, way: &str, text: &str| match way {
        "learning by hook" => learn(world, text),
        memory_type => save(world, memory_type, text),
    };
    for first in ways {
        for second in ways {
            let world = World::new();
            say(&world, first, "The release is on Friday.");
            let gone = say(&world, second, "The release is on Monday.");
            assert_eq!(gone.len(), 1, "{first}, then {second}");
            assert_eq!(
                world.standing_texts("amy"),
                ["The release is on Monday."],
                "{first}, {second}"
            );
            assert_eq!(world.reasons("amy"), Vec::<String>::new());
        }
    }
}

#[test]
fn a_learning_corrects_a_learning_of_another_sort() {
    let world = World::new();
    for (sort, text) in [("guideline", THREE), ("mistake", FIVE)] {
        let message = format!("Remember ({sort}): {text}");
        let learn = request::<LearnRequest>(json!({"message": message}));
        world.book.learn(&caller("ann"), &learn).unwrap();
    }
    assert_eq!(world.standing_texts("ann"), [FIVE]);
}

#[test]
fn what_a_type_makes_another_thing_stands() {
    let types = ["conversation", "episodic", "profile", "question", "milestone", "task_context"];
    for memory_type in types {
        for first in [memory_type, "semantic"] {
            let second = if first == "semantic" { memory_type } else { "semantic" };
            let world = World::new();
            world.result("ann", json!({"text": THREE, "memory_type": first}));
            let new = world.result("ann", json!({"text": FIVE, "memory_type": second}));
            assert_eq!(new.superseded, [], "{first}, then {second}");
        }
    }
    let world = World::new();
    let entry = json!({"key": "deploy", "entries": [{"summary": THREE}]});
    let opened = request(json!({"key": "deploy", "title": "Deploy"}));
    world.book.open_case(&caller("ann"), &opened).unwrap();
    world.book.append_entries(&caller("ann"), &request(entry)).unwrap();
    assert_eq!(world.result("ann", json!({"text": FIVE})).superseded, []);
}

#[test]
fn equal_anonymous_texts_are_one_memory_and_no_anonymous_text_corrects_another() {
    let world = World::new();
    let first = world.result("anonymous", json!({"text": "The gate is blue"}));
    let again = world.result("anonymous", json!({"text": "The gate is blue."}));
    assert_eq!((again.outcome, again.memory.id), (SaveOutcome::Repeated, first.memory.id));
    let other = world.result("anonymous", json!({"text": "The gate is red"}));
    assert_eq!((other.outcome, other.superseded.len()), (SaveOutcome::Created, 0));
    // A memory of an agent with a name is nobody's to repeat.
    world.result("ann", json!({"text": "The fence is low", "sharing": "private"}));
    let shared = world.result("anonymous", json!({"text": "The fence is low"}));
    assert_eq!(shared.outcome, SaveOutcome::Created);
}
