//! Learning: statements that an agent wants remembered, and conversations with its user.

use commonbook::base::error::ErrorKind;
use commonbook::model::caller::Caller;
use commonbook::model::learning::{LearnRequest, LearnResult};
use commonbook::model::memory::{Importance, Sharing};
use commonbook::prompt::context::ContextPreferences;
use serde_json::json;

use crate::{World, at, caller, request};

fn learn(world: &World, caller: &Caller, given: serde_json::Value) -> LearnResult {
    world.book.learn(caller, &request::<LearnRequest>(given)).unwrap()
}

fn says(world: &World, message: &str) -> LearnResult {
    learn(world, &caller("claude/engineer"), json!({"message": message}))
}

#[test]
fn a_learning_becomes_a_memory_of_the_agent_that_said_it() {
    let world = World::new();
    let message =
        "Done.\n\nAdd To Memory:\nType: mistake\nContent: The loader forgets to close files\n#\n";
    let back = says(&world, message);
    let [memory] = back.learnings.as_slice() else { panic!("{back:?}") };
    assert_eq!(memory.owner.as_str(), "claude/engineer");
    assert_eq!(memory.memory_type.as_str(), "learning");
    assert_eq!(memory.metadata["learning"], "mistake");
    assert_eq!((memory.sharing, back.conversation), (Sharing::Shared, None));
    // It is found at once, with its type.
    let ask = json!({"task": "close files of the loader"});
    let context = world.book.get_context(&caller("qa"), &request(ask)).unwrap();
    assert!(context.text.contains("> A mistake to avoid: The loader forgets"), "{}", context.text);
    // Repeated, it is not saved again.
    let again = says(&world, message);
    assert_eq!((again.learnings.len(), again.repeated), (0, 1));
}

#[test]
fn what_the_agent_received_is_not_saved_as_new() {
    let world = World::new();
    world.save("qa", "The cache of the parser must be flushed before each run");
    let ask = json!({"task": "flush the cache of the parser"});
    let context = world.book.get_context(&caller("claude/engineer"), &request(ask)).unwrap();
    assert_eq!(context.items.len(), 1);
    let back = says(
        &world,
        "Remember:\n- The cache of the parser must be flushed before each run\n- Tabs are four blanks\n",
    );
    assert_eq!((back.learnings.len(), back.repeated), (1, 1), "{back:?}");
    let back = says(&world, &format!("As told:\n{}\n", context.text));
    assert_eq!(back.learnings.len(), 0);
}

#[test]
fn an_existing_standing_memory_gets_the_learning_and_none_is_created() {
    let world = World::new();
    let book = world.book.clone().with_home(world.home().to_owned());
    let world = World { book, ..world };
    let file = world.home().join("memories/engineer.md");
    let here = caller("claude/engineer").in_project(Some(world.home().join("project")));
    let learn_from = |message: &str| learn(&world, &here, json!({"message": message}));
    assert_eq!(learn_from("Remember:\n- Tabs are four blanks\n").standing, None);
    assert!(!file.exists());
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "# Engineer\n\n## Known Issues\n- Old item here\n").unwrap();
    let message = "Add To Memory:\nType: mistake\nContent: The loader forgets files\n#\n";
    let back = learn_from(message);
    assert_eq!(back.standing.unwrap().added, 1);
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(
        text.contains(
            "- Old item here\n- The loader forgets files <!-- claude/engineer 2026-11-21 -->\n"
        ),
        "{text}"
    );
    // A message over the network changes no file.
    let far = "Add To Memory:\nType: mistake\nContent: Sockets are left open\n#\n";
    assert_eq!(says(&world, far).standing, None);
    let back =
        learn_from(r#"{"MEMORIES": [{"type": "mistake", "content": "Only this one holds"}]}"#);
    let change = back.standing.unwrap();
    assert_eq!(change.warnings, ["replaced: The loader forgets files"], "its own, and no person's");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("- Old item here\n") && text.contains("Only this one holds"), "{text}");
    let copy = change.backup.expect("`MEMORIES` backs up the items that it replaces");
    assert!(copy.starts_with(&world.home().join("backups").display().to_string()), "{copy}");
    let copied = std::fs::read_to_string(copy).unwrap();
    assert!(copied.contains("- Old item here\n- The loader forgets files <!--"), "{copied}");
}

#[test]
fn a_report_without_labels_leaves_what_reads_like_a_lesson() {
    let world = World::new();
    let book = world.book.clone().with_home(world.home().to_owned());
    let world = World { book, ..world };
    let file = world.home().join("memories/engineer.md");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "# Engineer\n\n## Known Issues\n- Old item here\n").unwrap();
    let here = caller("claude/engineer").in_project(Some(world.home().join("project")));
    let lesson = "It took longer because the staging broker silently drops messages above 1 MB, so a batch \
        must never have more than 200 orders.";
    let report =
        format!("The import runs again, all 114 tests are green.\n\nPR 812 is open. {lesson}");
    let learn_from = |message: &str, report: bool| {
        learn(&world, &here, json!({"message": message, "report": report}))
    };
    assert_eq!(learn_from(&report, false).learnings, []);
    let labelled = learn_from(&format!("{report}\n\nLesson: tabs are four blanks"), true);
    let texts = |back: &LearnResult| {
        back.learnings.iter().map(|memory| memory.text.clone()).collect::<Vec<String>>()
    };
    assert_eq!(texts(&labelled), ["tabs are four blanks"], "its author has said what it learned");
    let back = learn_from(&report, true);
    assert_eq!(texts(&back), [lesson]);
    assert_eq!(back.learnings[0].importance, Importance::Low);
    assert_eq!(back.learnings[0].metadata["learning"], "context");
    assert_eq!(back.standing, None, "no rule writes into an instruction");
    assert_eq!(learn_from(&report, true).repeated, 1);
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("tabs are four") && !text.contains("staging broker"), "{text}");
}

#[test]
fn the_last_five_backups_of_a_standing_memory_stay() {
    let world = World::new();
    let book = world.book.clone().with_home(world.home().to_owned());
    let world = World { book, ..world };
    let file = world.home().join("memories/engineer.md");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "## Known Issues\n- The first rule of all\n").unwrap();
    let here = caller("claude/engineer").in_project(Some(world.home().join("project")));
    let rules = ["harbour", "meadow", "lantern", "orchard", "glacier", "thunder", "velvet"];
    for (second, rule) in (1..).zip(rules) {
        world.clock.set(at(second));
        let message =
            json!({"MEMORIES": [{"type": "mistake", "content": format!("Mind the {rule}")}]});
        let back = learn(&world, &here, json!({"message": message.to_string()}));
        assert!(back.standing.unwrap().backup.is_some(), "{rule}");
    }
    let mut copies: Vec<_> = std::fs::read_dir(world.home().join("backups"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    copies.sort();
    assert_eq!(copies.len(), 5, "{copies:?}");
    let text_of = |path: &std::path::PathBuf| std::fs::read_to_string(path).unwrap();
    assert!(text_of(&copies[0]).contains("Mind the meadow"), "{}", text_of(&copies[0]));
    assert!(text_of(&copies[4]).contains("Mind the thunder"), "{}", text_of(&copies[4]));
}

#[test]
fn a_conversation_is_saved_if_configured_privately_and_about_its_user() {
    let world = World::new();
    let given = json!({"message": "Use tabs, and nothing else.", "prompt": "Tabs or blanks?", "user_id": "u1"});
    assert_eq!(learn(&world, &caller("claude"), given.clone()).conversation, None);
    let preferences: ContextPreferences =
        serde_json::from_value(json!({"agents": {"claude": {"auto_extract": true}}})).unwrap();
    let book = world.book.clone().with_preferences(preferences).unwrap();
    let world = World { book, ..world };
    let back = learn(&world, &caller("claude"), given);
    assert!(back.conversation.is_some() && back.learnings.is_empty());
    let own = caller("claude").for_user(Some("u1")).unwrap();
    let ask = json!({"task": "Which did we use, tabs or blanks?"});
    let context = world.book.get_context(&own, &request(ask.clone())).unwrap();
    assert!(context.text.contains("> Assistant: Use tabs"), "{}", context.text);
    for other in [caller("codex").for_user(Some("u1")).unwrap(), caller("claude")] {
        let context = world.book.get_context(&other, &request(ask.clone())).unwrap();
        assert!(context.text.is_empty(), "{}", context.text);
    }
    // A context alone is not a conversation.
    let back = learn(&world, &own, json!({"message": context.text}));
    assert_eq!(back.conversation, None);
}

#[test]
fn a_message_without_learnings_saves_nothing() {
    let world = World::new();
    let error = world.book.learn(&caller("claude"), &request(json!({"message": " "}))).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Invalid);
}
