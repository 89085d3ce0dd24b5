//! Webhooks: who may add one, what it receives, when it tries again, and what it gives up.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use commonbook::base::error::ErrorKind;
use commonbook::base::id::{RandomIds, WebhookId};
use commonbook::model::agent::AgentName;
use commonbook::model::caller::{Caller, EntryPoint};
use commonbook::model::event::{EventKind, FollowEvents};
use commonbook::model::forgetting::ForgetMemory;
use commonbook::model::memory::{Memory, Sharing, UpdateMemory};
use commonbook::model::token::{CreateToken, NewToken, RevokeToken, RotateToken};
use commonbook::model::webhook::delivery::{
    RetryOutcome, SendOutcome, WebhookSender, WebhookStop, WebhookTarget,
};
use commonbook::model::webhook::message::{WebhookMessage, WebhookSecret};
use commonbook::model::webhook::{
    AddWebhook, GetWebhook, ListWebhooks, NewWebhook, RemoveWebhook, RetryDelivery, TestWebhook,
    Webhook,
};
use commonbook::verbs::DeliveryStep;
use hmac::{Hmac, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::{World, at, caller, elsewhere, request};

/// A receiver that answers with the next of these, and then with 200, and keeps what arrived.
#[derive(Default)]
struct Receiver {
    outcomes: Mutex<VecDeque<SendOutcome>>,
    arrived: Mutex<Vec<WebhookMessage>>,
}

impl WebhookSender for Receiver {
    fn send(&self, _: &WebhookTarget, message: &WebhookMessage) -> SendOutcome {
        self.arrived.lock().unwrap().push(message.clone());
        self.outcomes.lock().unwrap().pop_front().unwrap_or(SendOutcome::Answered(200))
    }
}

impl Receiver {
    /// Answers with this as often as said.
    fn will_answer(&self, times: usize, outcome: SendOutcome) {
        self.outcomes.lock().unwrap().extend(std::iter::repeat_n(outcome, times));
    }

    /// What arrived since the last call.
    fn take(&self) -> Vec<WebhookMessage> {
        std::mem::take(&mut *self.arrived.lock().unwrap())
    }

    /// The sequences of what arrived since the last call.
    fn sequences(&self) -> Vec<u64> {
        let sequence = |message: &WebhookMessage| data(message)["sequence"].as_u64().unwrap();
        self.take().iter().map(sequence).collect()
    }
}

fn data(message: &WebhookMessage) -> Value {
    serde_json::from_str::<Value>(&message.body).unwrap()["data"].clone()
}

/// A world whose webhooks send to this receiver.
fn world() -> (World, Arc<Receiver>) {
    let receiver = Arc::<Receiver>::default();
    let mut world = World::new();
    world.book = world.book.clone().with_webhook_sender(Some(Arc::clone(&receiver) as _));
    (world, receiver)
}

fn add(world: &World, owner: &Caller, mut fields: Value) -> NewWebhook {
    fields["url"] = json!("https://example.com/events");
    world.book.add_webhook(owner, &request::<AddWebhook>(fields)).unwrap()
}

/// Delivers until nothing is due; returns the number of steps.
fn deliver(world: &World) -> usize {
    let mut steps = 0;
    for id in world.book.webhooks_due().unwrap() {
        loop {
            steps += 1;
            if world.book.deliver_next(id).unwrap() == DeliveryStep::Idle {
                break;
            }
        }
    }
    steps
}

fn shown(world: &World, id: WebhookId) -> Webhook {
    world.book.get_webhook(&caller("human"), &GetWebhook { webhook_id: id }).unwrap().webhook
}

fn hide(world: &World, memory: &Memory) {
    let hiding = UpdateMemory {
        id: memory.id.into(),
        sharing: Some(Sharing::Private),
        ..request(json!({"id": memory.id}))
    };
    world.book.update_memory(&caller(memory.owner.as_str()), &hiding).unwrap();
}

fn kind<T>(result: commonbook::base::error::Result<T>) -> Option<ErrorKind> {
    result.err().map(|error| error.kind)
}

#[test]
fn events_arrive_in_order_once_and_signed() {
    let (world, receiver) = world();
    world.save("ann", "before it was added");
    let new = add(&world, &caller("rook"), json!({"events": ["memory.*"]}));
    let saved = ["one", "two", "three"].map(|text| world.save("ann", text));
    deliver(&world);
    deliver(&world);
    let arrived = receiver.take();
    let subjects: Vec<Value> =
        arrived.iter().map(|message| data(message)["subject"].clone()).collect();
    assert_eq!(subjects, saved.map(|memory| json!(memory.id)));
    let key = STANDARD.decode(new.secret.strip_prefix("whsec_").unwrap()).unwrap();
    for message in &arrived {
        let body: Value = serde_json::from_str(&message.body).unwrap();
        assert_eq!(
            (&body["type"], &body["timestamp"]),
            (&json!("memory.saved"), &body["data"]["at"])
        );
        assert_eq!(message.id, format!("{}_{}", new.webhook.id, body["data"]["sequence"]));
        assert_eq!(message.timestamp, at(0).as_second());
        let signed = format!("{}.{}.{}", message.id, message.timestamp, message.body);
        let tag = Hmac::<Sha256>::new_from_slice(&key).unwrap().chain_update(signed).finalize();
        assert_eq!(message.signature, format!("v1,{}", STANDARD.encode(tag.into_bytes())));
    }
    let progress = shown(&world, new.webhook.id).progress;
    assert_eq!((progress.delivered, progress.failing), (3, None));
}

#[test]
fn a_webhook_receives_what_the_stream_of_its_owner_shows() {
    let (world, receiver) = world();
    let filters = [
        json!({}),
        json!({"events": ["memory.saved"]}),
        json!({"topics": ["TEA"]}),
        json!({"importance": "high"}),
        json!({"exclude_self": true}),
        json!({"events": ["memory.u*", "memory.deleted"], "exclude_self": true}),
    ];
    let owners = [caller("ann"), caller("bob"), caller("human"), elsewhere("ann", "y")];
    let owners = owners.into_iter().chain([caller("ann").for_user(Some("u1")).unwrap()]);
    let mut webhooks = Vec::new();
    for owner in owners {
        for filter in &filters {
            let new = add(&world, &owner, filter.clone());
            webhooks.push((owner.clone(), filter.clone(), new.webhook));
        }
    }
    for (agent, fields) in [
        ("ann", json!({"text": "black tea", "topics": ["tea"]})),
        ("bob", json!({"text": "green tea", "topics": ["tea"], "sharing": "private"})),
        ("ann", json!({"text": "mate", "importance": "critical", "sharing": "private"})),
        ("bob", json!({"text": "water", "importance": "high"})),
    ] {
        world.book.save_memory(&caller(agent), &request(fields)).unwrap();
    }
    let for_user = caller("bob").for_user(Some("u1")).unwrap();
    let about = json!({"text": "I like my coffee black", "about": "user"});
    world.book.save_memory(&for_user, &request(about)).unwrap();
    world.book.save_memory(&elsewhere("ann", "y"), &request(json!({"text": "there"}))).unwrap();
    let shared = world.save("bob", "shared at first");
    hide(&world, &shared);
    let mut numbers = Vec::new();
    for (owner, filter, webhook) in webhooks {
        while world.book.deliver_next(webhook.id).unwrap() == DeliveryStep::Moved {}
        let mut stream = filter.clone();
        // A stream takes several.
        if let Some(least) = stream.get_mut("importance") {
            *least = json!([least.take()]);
        }
        let stream = request::<FollowEvents>(stream).filter(&owner).unwrap();
        let expected = world.book.follow_events(&owner, &stream, Some(0), 100).unwrap().items;
        let arrived: Vec<Value> = receiver.take().iter().map(data).collect();
        assert_eq!(json!(arrived), json!(expected), "{} {filter}", owner.agent);
        numbers.push(expected.len());
    }
    numbers.sort_unstable();
    numbers.dedup();
    assert!(numbers.len() > 3, "the filters and sights differ: {numbers:?}");
}

#[test]
fn what_was_hidden_between_two_attempts_is_not_sent() {
    let (world, receiver) = world();
    let new = add(&world, &caller("rook"), json!({"events": ["memory.saved"]}));
    let memory = world.save("ann", "shown too early");
    receiver.will_answer(1, SendOutcome::Answered(500));
    deliver(&world);
    assert_eq!(receiver.take().len(), 1);
    hide(&world, &memory);
    let after = world.save("ann", "the next one");
    world.clock.set(at(1));
    deliver(&world);
    let arrived = receiver.take();
    let subjects: Vec<Value> =
        arrived.iter().map(|message| data(message)["subject"].clone()).collect();
    assert_eq!(subjects, [json!(after.id)]);
    assert_eq!(shown(&world, new.webhook.id).progress.failing, None);
}

#[test]
fn a_failed_delivery_waits_holds_later_events_up_and_keeps_its_id() {
    let (world, receiver) = world();
    let new = add(&world, &caller("rook"), json!({"events": ["memory.saved"]}));
    let id = new.webhook.id;
    world.save("ann", "one");
    world.save("ann", "two");
    receiver.will_answer(1, SendOutcome::Answered(500));
    receiver.will_answer(1, SendOutcome::TimedOut);
    deliver(&world);
    assert_eq!(deliver(&world), 0, "nothing is due before the next attempt");
    assert_eq!(world.book.deliver_next(id).unwrap(), DeliveryStep::Idle);
    let first = receiver.take();
    assert_eq!(first.len(), 1, "the later event waits too");
    let failing = shown(&world, id).progress.failing.unwrap();
    assert_eq!(
        (failing.sequence, failing.attempts),
        (data(&first[0])["sequence"].as_u64().unwrap(), 1)
    );
    assert_eq!(failing.failure, "answered 500");
    let waits = failing.retry_at.duration_since(at(0)).as_secs_f64();
    assert!((2.5..=5.0).contains(&waits), "{waits}");
    world.clock.set(failing.retry_at);
    deliver(&world);
    let second = receiver.take();
    assert_eq!((second.len(), &second[0].id), (1, &first[0].id));
    assert!(second[0].timestamp > first[0].timestamp, "each attempt has its own time");
    assert_ne!(second[0].signature, first[0].signature);
    let waits = shown(&world, id).progress.waits_until().unwrap().duration_since(failing.retry_at);
    assert!((10.0..=20.0).contains(&waits.as_secs_f64()), "{waits:?}");
    world.clock.set(at(1));
    deliver(&world);
    let last = receiver.take();
    assert_eq!((last.len(), &last[0].id), (2, &first[0].id), "then the later event follows");
    let progress = shown(&world, id).progress;
    assert_eq!((progress.delivered, progress.failing), (2, None));
}

#[test]
fn a_dead_letter_is_sent_again_by_hand_with_what_its_event_says_now() {
    let (world, receiver) = world();
    let new = add(&world, &caller("rook"), json!({"events": ["memory.saved"]}));
    let id = new.webhook.id;
    let memories = ["one", "two", "three"].map(|text| world.save("ann", text));
    receiver.will_answer(3 * 8, SendOutcome::Answered(503));
    for hour in 1..=3 * 8 {
        deliver(&world);
        world.clock.set(at(12 * hour));
    }
    let arrived = receiver.take();
    assert_eq!(arrived.len(), 3 * 8);
    assert!(arrived[..8].iter().all(|message| message.id == arrived[0].id));
    let details =
        || world.book.get_webhook(&caller("rook"), &GetWebhook { webhook_id: id }).unwrap();
    let letters = details().dead_letters;
    assert_eq!(letters.iter().map(|letter| letter.attempts).collect::<Vec<_>>(), [8, 8, 8]);
    assert!(letters.iter().all(|letter| letter.failure == "answered 503"));
    assert_eq!(details().webhook.dead_letters, 3);
    hide(&world, &memories[1]);
    deliver(&world);
    let retry = |sequence: Option<u64>| {
        let request = RetryDelivery { webhook_id: id, sequence };
        world.book.retry_delivery(&caller("rook"), &request).unwrap()
    };
    // One alone, which fails again.
    receiver.will_answer(1, SendOutcome::Unreachable);
    let result = retry(Some(letters[2].sequence));
    assert_eq!(result.items.len(), 1);
    assert_eq!(result.items[0].outcome, RetryOutcome::Failed);
    assert_eq!(details().dead_letters[2].attempts, 9);
    receiver.take();
    let result = retry(None);
    let outcomes: Vec<RetryOutcome> = result.items.iter().map(|item| item.outcome).collect();
    use RetryOutcome::{Delivered, Withheld};
    assert_eq!(outcomes, [Delivered, Withheld, Delivered]);
    assert_eq!((result.webhook.dead_letters, details().dead_letters.len()), (0, 0));
    let again = receiver.take();
    assert_eq!((again.len(), &again[0].id), (2, &arrived[0].id), "the same id as before");
    let subjects: Vec<Value> =
        again.iter().map(|message| data(message)["subject"].clone()).collect();
    assert_eq!(subjects, [json!(memories[0].id), json!(memories[2].id)]);
    let nothing = RetryDelivery { webhook_id: id, sequence: Some(letters[0].sequence) };
    assert_eq!(
        kind(world.book.retry_delivery(&caller("rook"), &nothing)),
        Some(ErrorKind::NotFound)
    );
}

#[test]
fn the_first_failure_of_a_retry_by_hand_ends_it() {
    let (world, receiver) = world();
    let new = add(&world, &caller("rook"), json!({"events": ["memory.saved"]}));
    world.save("ann", "one");
    world.save("ann", "two");
    receiver.will_answer(2 * 8 + 1, SendOutcome::HostUnknown);
    for hour in 1..=2 * 8 {
        deliver(&world);
        world.clock.set(at(12 * hour));
    }
    receiver.take();
    let request = RetryDelivery { webhook_id: new.webhook.id, sequence: None };
    let result = world.book.retry_delivery(&caller("rook"), &request).unwrap();
    assert_eq!((result.items.len(), receiver.take().len()), (1, 1));
    assert_eq!(result.items[0].failure.as_deref(), Some("the name of the host has no address"));
    assert_eq!(result.webhook.dead_letters, 2);
}

#[test]
fn nothing_of_a_forgotten_memory_is_kept_for_a_retry() {
    let (world, receiver) = world();
    let new = add(&world, &caller("ann"), json!({"events": ["memory.saved"]}));
    let fields =
        json!({"text": "the zanzibar plan of the seven grey herons", "topics": ["zanzibar"]});
    let memory = world.book.save_memory(&caller("ann"), &request(fields)).unwrap().memory;
    receiver.will_answer(8, SendOutcome::Answered(500));
    for hour in 1..=8 {
        deliver(&world);
        world.clock.set(at(12 * hour));
    }
    assert!(receiver.take()[0].body.contains("zanzibar"));
    let forget = request::<ForgetMemory>(json!({"id": memory.id, "confirm": true}));
    world.book.forget_memory(&caller("ann"), &forget).unwrap();
    for file in std::fs::read_dir(world.home()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap_or_default();
        assert!(!bytes.windows(8).any(|window| window == b"zanzibar"));
    }
    let retry = RetryDelivery { webhook_id: new.webhook.id, sequence: None };
    let result = world.book.retry_delivery(&caller("ann"), &retry).unwrap();
    assert_eq!(result.items.len(), 1);
    assert!(receiver.take().iter().all(|message| !message.body.contains("zanzibar")));
}

#[test]
fn a_receiver_that_is_gone_stops_its_webhook_until_a_retry() {
    let (world, receiver) = world();
    let new = add(&world, &caller("rook"), json!({"events": ["memory.saved"]}));
    let id = new.webhook.id;
    world.save("ann", "one");
    receiver.will_answer(1, SendOutcome::Answered(410));
    deliver(&world);
    world.clock.set(at(99));
    world.save("ann", "two");
    assert_eq!(deliver(&world), 0);
    assert_eq!(world.book.deliver_next(id).unwrap(), DeliveryStep::Idle);
    assert_eq!(shown(&world, id).progress.stopped, Some(WebhookStop::ReceiverGone));
    assert_eq!(receiver.sequences().len(), 1);
    let retry = RetryDelivery { webhook_id: id, sequence: None };
    assert_eq!(world.book.retry_delivery(&caller("rook"), &retry).unwrap().items, []);
    deliver(&world);
    assert_eq!(receiver.sequences().len(), 2, "both events, nothing was lost");
}

fn token(world: &World, fields: Value) -> NewToken {
    world.book.create_token(&caller("human"), &request::<CreateToken>(fields)).unwrap()
}

#[test]
fn a_webhook_of_a_token_receives_what_its_agent_sees_and_stops_with_it() {
    let (world, receiver) = world();
    let revoked = token(&world, json!({"agent_name": "rook"})).token;
    let expiring = token(&world, json!({"agent_name": "rook", "expires": "5h"})).token;
    let fields = |id| json!({"events": ["memory.saved"], "token_id": id});
    let webhooks =
        [&revoked, &expiring].map(|token| add(&world, &caller("human"), fields(token.id)).webhook);
    for (webhook, token) in webhooks.iter().zip([&revoked, &expiring]) {
        assert_eq!((webhook.agent.as_str(), webhook.token_id), ("rook", Some(token.id)));
    }
    world.save_private("ann", "not for rook");
    world.save_private("rook", "its own");
    deliver(&world);
    let owned = receiver.take();
    assert_eq!(owned.len(), 2, "of two webhooks one event each");
    assert!(owned.iter().all(|message| data(message)["actor"] == "rook"));
    // A new secret of the token changes nothing.
    world.book.rotate_token(&caller("human"), &RotateToken { token_id: revoked.id }).unwrap();
    world.save("ann", "tea");
    deliver(&world);
    assert_eq!(receiver.take().len(), 2);
    world.book.revoke_token(&caller("human"), &RevokeToken { token_id: revoked.id }).unwrap();
    world.clock.set(at(5));
    world.save("ann", "coffee");
    deliver(&world);
    assert_eq!(receiver.take(), []);
    for webhook in &webhooks {
        assert_eq!(shown(&world, webhook.id).progress.stopped, Some(WebhookStop::TokenInvalid));
        let retry = RetryDelivery { webhook_id: webhook.id, sequence: None };
        let retried = world.book.retry_delivery(&caller("human"), &retry);
        assert_eq!(kind(retried), Some(ErrorKind::Unauthenticated));
    }
    assert_eq!(deliver(&world), 0, "a stopped webhook is not asked again");
}

#[test]
fn a_webhook_is_bound_to_the_workspace_of_its_token() {
    let (world, receiver) = world();
    let bound = token(&world, json!({"agent_name": "rook", "workspace": "y"})).token;
    let new = add(&world, &caller("human"), json!({"token_id": bound.id}));
    assert_eq!(new.webhook.workspace.as_str(), "y");
    world.save("ann", "in x");
    world.book.save_memory(&elsewhere("ann", "y"), &request(json!({"text": "in y"}))).unwrap();
    deliver(&world);
    let arrived = receiver.take();
    assert!(!arrived.is_empty() && arrived.iter().all(|message| data(message)["workspace"] == "y"));
    // A token without the right to read owns none.
    let writer = token(&world, json!({"agent_name": "crow", "scopes": ["write"]})).token;
    let adding = json!({"url": "https://example.com/", "token_id": writer.id});
    let refused = world.book.add_webhook(&caller("human"), &request(adding));
    assert_eq!(kind(refused), Some(ErrorKind::Forbidden));
}

/// A caller with this token, over REST.
fn holder(world: &World, issued: &NewToken) -> Caller {
    let token = world.book.admit(Some(&issued.secret), false).unwrap().unwrap();
    Caller::from_token(&token, None, None, "x".parse().ok(), EntryPoint::Rest).unwrap()
}

#[test]
fn only_a_person_allows_private_addresses_and_names_a_token() {
    let (world, _) = world();
    let rook = token(&world, json!({"agent_name": "rook"}));
    let admin =
        token(&world, json!({"agent_name": "overseer", "scopes": ["read", "write", "admin"]}));
    let adding =
        |caller: &Caller, fields: Value| kind(world.book.add_webhook(caller, &request(fields)));
    let public = json!({"url": "https://example.com/"});
    let private = json!({"url": "http://127.0.0.1:9/", "allow_private": true});
    let of_token = json!({"url": "https://example.com/", "token_id": rook.token.id});
    let by_mcp = Caller { door: EntryPoint::Mcp, ..caller("rook") };
    let as_rook = holder(&world, &rook);
    for caller in [&by_mcp, &as_rook] {
        assert_eq!(adding(caller, public.clone()), None);
        assert_eq!(adding(caller, private.clone()), Some(ErrorKind::Forbidden));
    }
    assert_eq!(adding(&by_mcp, of_token.clone()), Some(ErrorKind::Forbidden));
    for caller in [&caller("human"), &caller("anonymous"), &holder(&world, &admin)] {
        for fields in [&public, &private, &of_token] {
            assert_eq!(adding(caller, fields.clone()), None);
        }
    }
    // Nobody allows one by leaving it out.
    let silent = json!({"url": "https://10.0.0.1/"});
    assert_eq!(adding(&caller("human"), silent), Some(ErrorKind::Invalid));
    let nameless = Caller::new(None, "x".parse().unwrap(), EntryPoint::Rest);
    assert_eq!(adding(&nameless, public), Some(ErrorKind::Unauthenticated));
    let unknown =
        json!({"url": "https://example.com/", "token_id": "tok_00000000000000000000000000"});
    assert_eq!(adding(&caller("human"), unknown), Some(ErrorKind::NotFound));
}

#[test]
fn a_webhook_exists_for_its_owner_those_above_it_and_the_person_alone() {
    let (world, _) = world();
    let own = add(&world, &caller("rook/tester"), json!({})).webhook;
    let there = add(&world, &elsewhere("rook/tester", "y"), json!({})).webhook;
    let listed = |caller: &Caller| -> Vec<WebhookId> {
        let list = world.book.list_webhooks(caller, &ListWebhooks {}).unwrap();
        list.items.into_iter().map(|webhook| webhook.id).collect()
    };
    let nameless = Caller { door: EntryPoint::Rest, ..caller("anonymous") };
    assert_eq!(listed(&caller("rook/tester")), [own.id]);
    assert_eq!(listed(&caller("rook")), [own.id]);
    assert_eq!(listed(&caller("human")), [there.id, own.id]);
    assert_eq!(listed(&caller("anonymous")), [there.id, own.id], "the person at the command line");
    let not_found = Some(ErrorKind::NotFound);
    for stranger in [caller("crow"), caller("rookery"), nameless, elsewhere("rook", "z")] {
        assert_eq!(listed(&stranger), []);
        let webhook_id = own.id;
        assert_eq!(kind(world.book.get_webhook(&stranger, &GetWebhook { webhook_id })), not_found);
        let removing = RemoveWebhook { webhook_id };
        assert_eq!(kind(world.book.remove_webhook(&stranger, &removing)), not_found);
        assert_eq!(
            kind(world.book.test_webhook(&stranger, &TestWebhook { webhook_id })),
            not_found
        );
        let retrying = RetryDelivery { webhook_id, sequence: None };
        assert_eq!(kind(world.book.retry_delivery(&stranger, &retrying)), not_found);
    }
    let removed = world.book.remove_webhook(&caller("rook"), &RemoveWebhook { webhook_id: own.id });
    assert_eq!(removed.unwrap().id, own.id);
    assert_eq!(listed(&caller("rook")), []);
    world.save("ann", "nobody hears it");
    assert_eq!(deliver(&world), 0);
}

#[test]
fn the_secret_is_shown_once_and_adding_is_no_event() {
    let (world, receiver) = world();
    let new = add(&world, &caller("rook"), json!({}));
    let details =
        world.book.get_webhook(&caller("rook"), &GetWebhook { webhook_id: new.webhook.id });
    let list = world.book.list_webhooks(&caller("rook"), &ListWebhooks {}).unwrap();
    for shown in [json!(details.unwrap()), json!(list)] {
        assert!(!shown.to_string().contains("whsec_"), "{shown}");
        assert!(!shown.to_string().contains(&new.secret[6..]));
    }
    assert_eq!(world.events("rook"), []);
    // Nor does an agent keep it.
    let secret = WebhookSecret::new(&RandomIds::default()).unwrap().text();
    let saved = world.save("rook", &format!("the secret is {secret}"));
    assert!(!saved.text.contains(&secret[6..]), "{}", saved.text);
    let other = add(&world, &caller("rook"), json!({}));
    assert_ne!(other.secret, new.secret);
    receiver.will_answer(1, SendOutcome::Answered(204));
    let test =
        world.book.test_webhook(&caller("rook"), &TestWebhook { webhook_id: new.webhook.id });
    let test = test.unwrap();
    assert_eq!((test.accepted, test.status, test.failure), (true, Some(204), None));
    let body: Value = serde_json::from_str(&receiver.take()[0].body).unwrap();
    assert_eq!(
        (&body["type"], &body["data"]["webhook_id"]),
        (&json!("webhook.test"), &json!(new.webhook.id))
    );
}

#[test]
fn a_bad_webhook_is_refused_with_its_field() {
    let (world, _) = world();
    let refused = |fields: Value| {
        let error = world.book.add_webhook(&caller("human"), &request(fields)).unwrap_err();
        (error.kind, error.field)
    };
    let field = |kind, name: &str| (kind, Some(name.to_owned()));
    let (invalid, large) = (ErrorKind::Invalid, ErrorKind::TooLarge);
    let url = "https://example.com/";
    assert_eq!(refused(json!({"url": "ftp://example.com/"})), field(invalid, "url"));
    assert_eq!(refused(json!({"url": "https://127.0.0.1/"})), field(invalid, "url"));
    assert_eq!(refused(json!({"url": "x".repeat(2_001)})), field(large, "url"));
    assert_eq!(refused(json!({"url": url, "events": ["cat.*"]})), field(invalid, "events[0]"));
    assert_eq!(refused(json!({"url": url, "topics": ["t".repeat(65)]})), field(large, "topics[0]"));
    for _ in 0..64 {
        add(&world, &caller("rook"), json!({}));
    }
    assert_eq!(refused(json!({"url": url})), (ErrorKind::Conflict, None));
}

#[test]
fn a_long_stretch_of_others_events_is_passed_without_a_delivery() {
    let (world, receiver) = world();
    let new = add(&world, &caller("rook"), json!({"events": ["memory.deleted"]}));
    for number in 0..30 {
        world.save_private("ann", &format!("note {number}"));
    }
    let steps = deliver(&world);
    assert_eq!((receiver.take().len(), steps), (0, 1), "in one step");
    let ends = world.events("ann").last().map(|(sequence, ..)| *sequence);
    assert_eq!(Some(shown(&world, new.webhook.id).progress.through), ends);
    assert!(world.events("ann").iter().all(|(_, kind, _)| *kind != EventKind::MemoryDeleted));
    assert_eq!(deliver(&world), 0);
}

#[test]
fn without_a_sender_nothing_is_lost() {
    let world = World::new();
    let adding = json!({"url": "https://example.com/"});
    let new = world.book.add_webhook(&caller("rook"), &request(adding)).unwrap();
    world.save("ann", "tea");
    assert_eq!(kind(world.book.deliver_next(new.webhook.id)), Some(ErrorKind::Unavailable));
    assert_eq!(world.book.webhooks_due().unwrap(), [new.webhook.id]);
    let name: AgentName = "rook".parse().unwrap();
    let rook = Caller::new(Some(name), "x".parse().unwrap(), EntryPoint::Cli);
    let test = TestWebhook { webhook_id: new.webhook.id };
    assert_eq!(kind(world.book.test_webhook(&rook, &test)), Some(ErrorKind::Unavailable));
}

#[test]
fn one_node_at_a_time_delivers_and_another_follows_when_its_lease_has_ended() {
    let (world, receiver) = world();
    let id = add(&world, &caller("ann"), json!({})).webhook.id;
    let second = |seconds| at(0) + jiff::SignedDuration::from_secs(seconds);
    let [one, two] = [(); 2].map(|()| world.book.clone().as_node().unwrap());
    world.save("ann", "tea at four");
    world.save("ann", "milk at five");
    assert_eq!(one.deliver_next(id).unwrap(), DeliveryStep::Moved);
    assert_eq!(two.deliver_next(id).unwrap(), DeliveryStep::Idle);
    let first = receiver.sequences();
    assert_eq!(first.len(), 1);
    // Later the first node renews its lease; the second waits for its end.
    world.clock.set(second(10));
    assert_eq!(one.deliver_next(id).unwrap(), DeliveryStep::Moved);
    world.save("ann", "bread at six");
    world.clock.set(second(25));
    assert_eq!(two.deliver_next(id).unwrap(), DeliveryStep::Idle);
    world.clock.set(second(31));
    assert_eq!(two.deliver_next(id).unwrap(), DeliveryStep::Moved);
    assert_eq!(one.deliver_next(id).unwrap(), DeliveryStep::Idle);
    assert_eq!(receiver.sequences().len(), 2);
}
