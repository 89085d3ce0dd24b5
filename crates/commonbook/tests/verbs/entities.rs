//! Entities: statements, mentions, and visibility.

use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::model::entity::{
    Entity, EntityMention, EntityOutcome, FindEntity, GetEntity, ListEntities, ListReviews,
    ResolveEntityResult,
};
use commonbook::model::event::EventKind;
use commonbook::model::graph::EntityDetails;
use commonbook::model::memory::{DeleteMemory, PurgeMemory, SaveMemory, UpdateMemory};
use serde_json::{Value, json};

use crate::{World, at, caller, elsewhere, request};

fn resolve(world: &World, agent: &str, fields: Value) -> Result<ResolveEntityResult> {
    world.book.resolve_entity(&caller(agent), &request(fields))
}

fn tool(world: &World, agent: &str, value: &str) -> ResolveEntityResult {
    resolve(world, agent, json!({"type": "tool", "value": value})).unwrap()
}

fn page(world: &World, agent: &str, entity: &str) -> Result<EntityDetails> {
    let request = GetEntity { entity: entity.parse().unwrap() };
    world.book.get_entity(&caller(agent), &request)
}

fn names(world: &World, agent: &str) -> Vec<String> {
    let request = ListEntities { limit: Some(100), ..ListEntities::default() };
    let page = world.book.list_entities(&caller(agent), &request).unwrap();
    page.items
        .into_iter()
        .map(|entity| format!("{}:{}", entity.entity_type, entity.value))
        .collect()
}

fn mentions(world: &World, agent: &str, entity: &str) -> Vec<EntityMention> {
    let request = request(json!({"entity": entity}));
    world.book.entity_mentions(&caller(agent), &request).unwrap().items
}

fn kind<T: std::fmt::Debug>(answer: Result<T>) -> ErrorKind {
    answer.unwrap_err().kind
}

#[test]
fn the_documented_example_holds_exactly() {
    let world = World::new();
    let state = |agent, context: &str| {
        let metadata = json!({"context": context});
        let fields = json!({"type": "tool", "value": "TypeScript", "metadata": metadata});
        resolve(&world, agent, fields).unwrap()
    };
    let first = state("analyst", "Used for type safety");
    world.clock.set(at(1));
    let second = state("developer", "Compile target ES2020");
    assert_eq!((first.outcome, second.outcome), (EntityOutcome::Created, EntityOutcome::Matched));
    assert_eq!((second.entity.id, second.entity.version), (first.entity.id, 2));
    let joined = "Used for type safety. Compile target ES2020";
    assert_eq!(second.entity.context.as_deref(), Some(joined));
    assert_eq!((second.entity.merge_count, second.entity.occurrences), (1, 2));
    assert_eq!(second.entity.last_agent.as_str(), "developer");
    assert_eq!((second.entity.first_seen, second.entity.last_seen), (at(0), at(1)));
    let page = page(&world, "qa", "tool:typescript").unwrap();
    assert_eq!(page.entity, second.entity);
    let by: Vec<_> =
        page.statements.iter().map(|statement| statement.sighting.agent.as_str()).collect();
    assert_eq!(by, ["developer", "analyst"]);
    let events: Vec<_> = world.events("qa").into_iter().map(|(_, kind, _)| kind).collect();
    assert_eq!(events, [EventKind::EntityCreated, EventKind::EntityMerged]);
}

#[test]
fn an_entity_is_found_by_exact_other_and_similar_names_only() {
    let world = World::new();
    for value in ["Kubernetes", "Python 2", "PostgreSQL"] {
        assert_eq!(tool(&world, "ann", value).outcome, EntityOutcome::Created, "{value}");
    }
    let table = [
        ("kubernetes", "Kubernetes"),
        ("k8s", "Kubernetes"),
        ("Kubernets", "Kubernetes"),
        ("postgres", "PostgreSQL"),
        ("python  2", "Python 2"),
    ];
    for (value, expected) in table {
        let found = tool(&world, "bob", value);
        assert_eq!(
            (found.outcome, &*found.entity.value),
            (EntityOutcome::Matched, expected),
            "{value}"
        );
    }
    for value in ["Python 3", "Python", "Kubeflow", "MySQL"] {
        assert_eq!(tool(&world, "bob", value).outcome, EntityOutcome::Created, "{value}");
    }
    let kubernetes = page(&world, "bob", "tool:kubernets").unwrap().entity;
    assert_eq!(kubernetes.value, "Kubernetes");
    let find = |value: &str| {
        let request = request(json!({"type": "tool", "value": value}));
        world.book.find_entity(&caller("cy"), &request).map(|entity: Entity| entity.version)
    };
    let before = world.events("cy").len();
    assert_eq!(find("Kubernetess").ok(), Some(kubernetes.version));
    assert_eq!(kind(find("Nomad")), ErrorKind::NotFound);
    assert_eq!(world.events("cy").len(), before, "finding changes nothing");
}

#[test]
fn stated_entities_exist_at_once_and_mentioned_ones_by_the_next_call() {
    let world = World::new();
    let save: SaveMemory = request(json!({
        "text": "Moved the nightly job; see src/jobs/nightly.rs",
        "entities": ["project:Atlas", {"type": "person", "value": "Zoë Quinn"}, "project:atlas"],
    }));
    let saved = world.book.save_memory(&caller("ann"), &save).unwrap().memory;
    assert_eq!(saved.entities.len(), 2);
    assert_eq!(
        names(&world, "bob"),
        ["project:Atlas", "file:src/jobs/nightly.rs", "person:Zoë Quinn"]
    );
    world.clock.set(at(1));
    world.save("bob", "Deployed Atlas with Kubernetes, then src/jobs/nightly.rs again");
    world.clock.set(at(2));
    world.save("ann", "The file src/jobs/nightly.rs is gone");
    let found = mentions(&world, "cy", "file:src/jobs/nightly.rs");
    let who: Vec<_> = found.iter().map(|mention| (mention.owner.as_str(), mention.at)).collect();
    assert_eq!(who, [("ann", at(0)), ("bob", at(1)), ("ann", at(2))]);
    assert!(found[2].excerpt.contains("is gone"), "{:?}", found[2]);
    let page = page(&world, "cy", "file:src/jobs/nightly.rs").unwrap();
    assert_eq!((page.memories, page.entity.version, page.entity.context.is_none()), (3, 0, true));
    assert_eq!(page.mentioned_by[0].agent.as_str(), "ann");

    let id = saved.id;
    let change =
        UpdateMemory { text: Some("Nothing here".into()), ..UpdateMemory::empty_update(id) };
    world.book.update_memory(&caller("ann"), &change).unwrap();
    let left = mentions(&world, "cy", "file:src/jobs/nightly.rs");
    assert_eq!(left.len(), 2, "a memory mentions only its present text");
    assert_eq!(mentions(&world, "cy", "person:Zoë Quinn").len(), 1);
    let delete = DeleteMemory { id: id.into(), expected_revision: None, idempotency_key: None };
    world.book.delete_memory(&caller("ann"), &delete).unwrap();
    assert_eq!(kind(self::page(&world, "ann", "person:Zoë Quinn")), ErrorKind::NotFound);
}

#[test]
fn an_entity_of_private_memories_does_not_exist_for_other_agents() {
    let (world, without) = (World::new(), World::new());
    let text = "The Falcon migration: Kubernets notes in docs/falcon.md, see issue #4711";
    world.save_private("ann", text);
    world.save("ann", "Kubernetes is what we run");
    without.save("ann", "Kubernetes is what we run");
    assert!(names(&world, "ann").len() > names(&world, "bob").len());
    assert_eq!(names(&world, "bob"), names(&without, "bob"));
    for entity in ["file:docs/falcon.md", "issue:#4711", "docs/falcon.md"] {
        let (shown, expected) = (page(&world, "bob", entity), page(&without, "bob", entity));
        assert_eq!(kind(shown), kind(expected), "{entity}");
    }
    let own = page(&world, "ann", "file:docs/falcon.md").unwrap().entity;
    let by_id = page(&world, "bob", &own.id.to_string());
    assert_eq!(kind(by_id), ErrorKind::NotFound);
    // An agent that creates it gets the same result as if it had never been mentioned.
    let fields = json!({"type": "file", "value": "docs/falcon.md", "context": "A plan"});
    let made = resolve(&world, "bob", fields.clone()).unwrap();
    assert_eq!(made, resolve(&without, "bob", fields).unwrap());
    assert_eq!((made.outcome, made.entity.version), (EntityOutcome::Created, 1));
    assert_eq!(page(&world, "bob", "docs/falcon.md").unwrap().memories, 0);
    assert_eq!(page(&world, "ann", "docs/falcon.md").unwrap().memories, 1);
    assert_eq!(world.events("bob"), {
        let shifted = without.events("bob").into_iter();
        shifted.map(|(sequence, kind, actor)| (sequence + 1, kind, actor)).collect::<Vec<_>>()
    });
}

#[test]
fn similar_names_match_only_if_every_agent_can_read_them() {
    let world = World::new();
    world.save("ann", "We run Elasticsearch in the search cluster");
    let fields = |value| json!({"text": "Its logs", "entities": [format!("tool:{value}")]});
    let save =
        |agent, value| world.book.save_memory(&caller(agent), &request(fields(value))).unwrap();
    save("bob", "Elasticserch");
    assert_eq!(names(&world, "cy"), ["tool:Elasticsearch"]);
    assert_eq!(page(&world, "cy", "tool:Elasticserch").unwrap().memories, 2);
    let mut hidden: SaveMemory = request(fields("Elasticsearh"));
    hidden.sharing = Some(commonbook::model::memory::Sharing::Private);
    world.book.save_memory(&caller("bob"), &hidden).unwrap();
    let own = names(&world, "bob");
    assert_eq!(own, ["tool:Elasticsearch", "tool:Elasticsearh"]);
    assert_eq!(page(&world, "cy", "tool:Elasticsearch").unwrap().memories, 2);
}

#[test]
fn entities_of_a_rewritten_memory_follow_its_text() {
    let world = World::new();
    let save: SaveMemory = request(json!({
        "text": "We deploy the shop with Kubernetes",
        "entities": ["tool:Kubernetes", "project:Atlas"],
    }));
    let id = world.book.save_memory(&caller("ann"), &save).unwrap().memory.id;
    assert_eq!(mentions(&world, "bob", "tool:Kubernetes").len(), 1);
    let change = UpdateMemory {
        text: Some("We deploy the shop with Nomad now".into()),
        ..UpdateMemory::empty_update(id)
    };
    let changed = world.book.update_memory(&caller("ann"), &change).unwrap();
    let stated: Vec<_> = changed.entities.iter().map(|entity| entity.value.as_str()).collect();
    assert_eq!(stated, ["Atlas"], "entities named beside the text stay");
    assert_eq!(kind(page(&world, "bob", "tool:Kubernetes")), ErrorKind::NotFound);
    assert_eq!(mentions(&world, "bob", "project:Atlas").len(), 1);
    // The entities named with the new text count.
    let change = UpdateMemory {
        text: Some("We deploy it with Nomad, as before".into()),
        entities: Some(vec!["tool:Kubernetes".parse().unwrap()]),
        ..UpdateMemory::empty_update(id)
    };
    world.book.update_memory(&caller("ann"), &change).unwrap();
    assert_eq!(mentions(&world, "bob", "tool:Kubernetes").len(), 1);
}

#[test]
fn a_purge_removes_names() {
    let world = World::new();
    let id = world.save("ann", "The files src/secret_plan.rs and src/first_plan.rs hold it").id;
    assert_eq!(names(&world, "bob"), ["file:src/first_plan.rs", "file:src/secret_plan.rs"]);
    let change = UpdateMemory {
        text: Some("The file src/secret_plan.rs holds it".into()),
        ..UpdateMemory::empty_update(id)
    };
    world.book.update_memory(&caller("ann"), &change).unwrap();
    assert_eq!(names(&world, "bob"), ["file:src/secret_plan.rs"]);
    let purge = PurgeMemory { id, revision: None, expected_revision: None, idempotency_key: None };
    world.book.purge_memory(&caller("ann"), &purge).unwrap();
    assert!(names(&world, "ann").is_empty());
    let file = crate::stored_bytes(world.home());
    for name in ["secret_plan", "first_plan"] {
        assert!(!file.windows(name.len()).any(|window| window == name.as_bytes()), "{name}");
    }
}

#[test]
fn a_manual_statement_waits_for_a_decision() {
    let world = World::new();
    tool(&world, "ann", "TypeScript");
    let fields =
        json!({"type": "tool", "value": "typescript", "context": "Types", "strategy": "manual"});
    let queued = resolve(&world, "bob", fields.clone()).unwrap();
    assert_eq!((queued.outcome, queued.entity.version), (EntityOutcome::Queued, 1));
    assert_eq!(page(&world, "cy", "TypeScript").unwrap().entity.context, None);
    let waiting = || world.book.list_reviews(&caller("cy"), &ListReviews::default()).unwrap().items;
    assert_eq!(waiting()[0].id, queued.review.unwrap());
    let decide = |judgement: &str| {
        let decision = request(json!({"review_id": queued.review, "judgement": judgement}));
        world.book.decide_review(&caller("cy"), &decision)
    };
    let decided = decide("accept").unwrap().entity;
    assert_eq!((decided.version, decided.context.as_deref()), (2, Some("Types")));
    assert_eq!(decided.last_agent.as_str(), "bob", "it is said by who said it");
    assert!(waiting().is_empty());
    assert_eq!(kind(decide("dismiss")), ErrorKind::NotFound);
    let again = resolve(&world, "bob", fields).unwrap();
    let dismiss = request(json!({"review_id": again.review, "judgement": "dismiss"}));
    world.book.decide_review(&caller("cy"), &dismiss).unwrap();
    assert_eq!(page(&world, "cy", "TypeScript").unwrap().entity.version, 2);
}

#[test]
fn bad_input_fails_and_changes_nothing() {
    let world = World::new();
    let (a, b) =
        (tool(&world, "ann", "Alpha tool").entity, tool(&world, "ann", "Beta tool").entity);
    let fields = json!({"type": "concept", "value": "Alpha tool"});
    let other = resolve(&world, "ann", fields).unwrap().entity;
    let merge = |source: &str, target: &str, versions: (Option<u64>, Option<u64>)| {
        let fields = json!({"source": source, "target": target,
            "source_version": versions.0, "target_version": versions.1});
        world.book.merge_entities(&caller("ann"), &request(fields)).map(drop)
    };
    let (a, b, other) = (a.id.to_string(), b.id.to_string(), other.id.to_string());
    let nobody = commonbook::base::id::EntityId::from_name("nobody").to_string();
    let before = world.events("ann");
    let refused: Vec<(Result<()>, ErrorKind, &str)> = vec![
        (merge(&a, &a, (None, None)), ErrorKind::Invalid, "target"),
        (merge(&a, &other, (None, None)), ErrorKind::Invalid, "target"),
        (merge(&a, &b, (Some(7), Some(1))), ErrorKind::Conflict, ""),
        (merge(&a, &b, (Some(1), Some(0))), ErrorKind::Conflict, ""),
        (merge(&a, &nobody, (None, None)), ErrorKind::NotFound, "target"),
        (merge("Alpha tool", &b, (None, None)), ErrorKind::Conflict, "source"),
        (
            resolve(&world, "ann", json!({"type": "tool", "value": " "})).map(drop),
            ErrorKind::Invalid,
            "value",
        ),
        (
            resolve(&world, "ann", json!({"type": "tool", "value": "x".repeat(10_000)})).map(drop),
            ErrorKind::TooLarge,
            "value",
        ),
    ];
    for (answer, kind, field) in refused {
        let error: Error = answer.unwrap_err();
        assert_eq!((error.kind, error.field.as_deref().unwrap_or("")), (kind, field), "{error}");
    }
    let gadget = request::<FindEntity>(json!({"type": "gadget", "value": "x"}));
    let error = world.book.find_entity(&caller("ann"), &gadget).unwrap_err();
    assert_eq!((error.kind, error.field.as_deref()), (ErrorKind::Invalid, Some("type")), "{error}");
    assert!(
        commonbook::base::input::from_value::<FindEntity>(json!({"type": "Gadget", "value": "x"}))
            .is_err()
    );
    assert_eq!(world.events("ann"), before);
    merge(&a, &b, (Some(1), Some(1))).unwrap();
    for (source, target) in [(&a, &b), (&b, &a)] {
        assert_eq!(kind(merge(source, target, (None, None))), ErrorKind::Conflict);
    }
    let unmerge = |source: &str| {
        world.book.unmerge_entities(&caller("ann"), &request(json!({"source": source}))).map(drop)
    };
    assert_eq!(kind(unmerge(&b)), ErrorKind::Conflict);
    unmerge(&a).unwrap();
    assert_eq!(kind(unmerge(&a)), ErrorKind::Conflict);
    assert_eq!(kind(unmerge(&nobody)), ErrorKind::NotFound);
}

#[test]
fn a_merged_entity_leads_to_the_target_with_its_mentions_and_can_be_unmerged() {
    let world = World::new();
    world.save("ann", "We picked Redis");
    world.save("bob", "We picked Valkey");
    let fields = json!({"source": "tool:Redis", "target": "tool:Valkey"});
    let redis = page(&world, "cy", "tool:Redis").unwrap().entity;
    let merged = world.book.merge_entities(&caller("cy"), &request(fields)).unwrap();
    assert_eq!(merged.source, redis.id);
    for name in ["tool:Redis", "tool:Valkey", &redis.id.to_string()] {
        let page = page(&world, "dee", name).unwrap();
        assert_eq!((page.entity.id, page.memories), (merged.entity.id, 2), "{name}");
    }
    assert_eq!(names(&world, "dee"), ["tool:Valkey"]);
    world.save("eve", "Redis again");
    assert_eq!(page(&world, "dee", "Valkey").unwrap().memories, 3);
    world.book.unmerge_entities(&caller("dee"), &request(json!({"source": "tool:Redis"}))).unwrap();
    let redis_now = page(&world, "dee", "tool:Redis").unwrap();
    assert_eq!((redis_now.entity.version, redis_now.memories), (0, 2));
    assert_eq!(page(&world, "dee", "tool:Valkey").unwrap().memories, 1);
    let kinds: Vec<_> = world.events("dee").into_iter().map(|(_, kind, _)| kind).collect();
    assert!(kinds.contains(&EventKind::EntityMerged) && kinds.contains(&EventKind::EntityUnmerged));
}

#[test]
fn entities_belong_to_their_session_and_workspace() {
    let world = World::new();
    let in_session = |session: &str| {
        let fields = json!({"type": "tool", "value": "Vite", "session": session});
        resolve(&world, "ann", fields).unwrap()
    };
    let (first, second) = (in_session("s1"), in_session("s2"));
    assert_ne!(first.entity.id, second.entity.id);
    assert_eq!(in_session("s1").outcome, EntityOutcome::Matched);
    assert_eq!(tool(&world, "ann", "Vite").outcome, EntityOutcome::Created);
    let only = ListEntities { session: Some("s1".into()), ..ListEntities::default() };
    let listed = world.book.list_entities(&caller("bob"), &only).unwrap().items;
    assert_eq!(listed.iter().map(|entity| entity.id).collect::<Vec<_>>(), [first.entity.id]);
    let there = request(json!({"entity": "tool:Vite"}));
    assert_eq!(kind(world.book.get_entity(&elsewhere("ann", "y"), &there)), ErrorKind::NotFound);
}

#[test]
fn entities_are_listed_by_name_and_paged() {
    let world = World::new();
    for n in 0..25 {
        resolve(&world, "ann", json!({"type": "file", "value": format!("src/f{n:02}.rs")}))
            .unwrap();
    }
    tool(&world, "ann", "Zig");
    let (mut all, mut cursor) = (Vec::new(), None);
    loop {
        let beginning = Some("SRC/".to_owned());
        let request =
            ListEntities { beginning, limit: Some(10), cursor, ..ListEntities::default() };
        let page = world.book.list_entities(&caller("bob"), &request).unwrap();
        all.extend(page.items.into_iter().map(|entity| entity.value));
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    let expected: Vec<_> = (0..25).map(|n| format!("src/f{n:02}.rs")).collect();
    assert_eq!(all, expected);
}

#[test]
fn a_mentioned_entity_counts_its_memories_and_the_type_of_a_learning_is_none() {
    let world = World::new();
    let message = "Done.\n\nAdd To Memory:\nType: pattern\nContent: Redis keeps the sessions\n#\n";
    world.book.learn(&caller("ann"), &request(json!({"message": message}))).unwrap();
    world.save("bob", "We restart Redis on Sundays");
    let find = |kind: &str, value: &str| {
        let wanted = request(json!({"type": kind, "value": value}));
        world.book.find_entity(&caller("eve"), &wanted)
    };
    let redis = find("tool", "Redis").unwrap();
    assert_eq!((redis.version, redis.occurrences), (0, 2));
    assert!(find("concept", "pattern").is_err());
}
