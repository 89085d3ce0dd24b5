//! Webhooks: what a store holds of each, when it has something to deliver, and what was given up.

use commonbook::base::clock::Timestamp;
use commonbook::base::id::{CountingIds, TokenId, WebhookId};
use commonbook::model::caller::EntryPoint;
use commonbook::model::memory::Importance;
use commonbook::model::webhook::delivery::{
    DeadLetter, DeliveryProgress, FailingDelivery, WebhookStop,
};
use commonbook::model::webhook::message::WebhookSecret;
use commonbook::model::webhook::{Webhook, WebhookFilter, WebhookRecord};
use commonbook::store::Store;

use crate::{Fresh, caller, keep, memory, now, with_texts};

fn later(seconds: i64) -> Timestamp {
    now() + jiff::SignedDuration::from_secs(seconds)
}

fn record(ids: &CountingIds, agent: &str, workspace: &str) -> WebhookRecord {
    let owner = caller(agent, workspace);
    let webhook = Webhook {
        id: WebhookId::new(ids, now()),
        url: "https://example.com/events".to_owned(),
        workspace: owner.workspace,
        agent: owner.agent,
        user_id: None,
        token_id: None,
        filter: WebhookFilter::default(),
        allow_private: false,
        created_at: now(),
        progress: DeliveryProgress::starting_after(0),
        dead_letters: 0,
    };
    WebhookRecord { webhook, secret: WebhookSecret::new(ids).unwrap(), door: EntryPoint::Cli }
}

fn insert(store: &dyn Store, record: &WebhookRecord) {
    let record = record.clone();
    store.write(move |tx| tx.insert_webhook(&record)).unwrap();
}

fn put_progress(store: &dyn Store, id: WebhookId, progress: &DeliveryProgress) {
    let progress = progress.clone();
    store.write(move |tx| tx.put_delivery_progress(id, &progress)).unwrap();
}

fn put_letter(store: &dyn Store, id: WebhookId, sequence: u64, attempts: u32) -> DeadLetter {
    let failure = format!("answered {}", 500 + attempts);
    let letter = DeadLetter { sequence, attempts, failed_at: later(3), failure };
    let given = letter.clone();
    store.write(move |tx| tx.put_dead_letter(id, &given)).unwrap();
    letter
}

pub(crate) fn a_webhook_is_stored_completely_and_found_by_its_id(fresh: &dyn Fresh) {
    let store = fresh.open();
    let ids = CountingIds::default();
    let plain = record(&ids, "ann", "x");
    let mut full = record(&ids, "ann/tester", "y");
    full.webhook.user_id = Some("Zoë".into());
    full.webhook.token_id = Some(TokenId::new(&ids, now()));
    full.webhook.allow_private = true;
    full.webhook.filter = WebhookFilter {
        events: vec!["memory.*".into(), "case.closed".into()],
        topics: vec!["rust".into()],
        importance: Some(Importance::High),
        exclude_self: true,
    };
    full.door = EntryPoint::Rest;
    full.webhook.progress = DeliveryProgress {
        through: 41,
        delivered: 7,
        failing: Some(FailingDelivery {
            sequence: 42,
            attempts: 2,
            retry_at: later(5),
            failure: "answered 500".into(),
        }),
        stopped: Some(WebhookStop::TokenInvalid),
    };
    insert(&*store, &plain);
    insert(&*store, &full);
    let of = |id| store.read(|tx| tx.webhook(id)).unwrap();
    assert_eq!(of(plain.webhook.id), Some(plain.clone()));
    assert_eq!(of(full.webhook.id), Some(full.clone()));
    assert_eq!(of(WebhookId::new(&ids, now())), None);
    let listed = store.read(|tx| tx.webhooks()).unwrap();
    assert_eq!(listed, [full.webhook.clone(), plain.webhook.clone()], "newest first");
    for progress in [full.webhook.progress.after_skipping(50), full.webhook.progress.resumed(now())]
    {
        put_progress(&*store, full.webhook.id, &progress);
        assert_eq!(of(full.webhook.id).unwrap().webhook.progress, progress);
    }
    assert_eq!(of(plain.webhook.id), Some(plain), "each has its own progress");
}

pub(crate) fn a_webhook_is_due_while_its_journal_is_ahead_and_nothing_holds_it(fresh: &dyn Fresh) {
    let store = fresh.open();
    let ids = CountingIds::default();
    let (here, elsewhere) = (record(&ids, "ann", "x"), record(&ids, "ann", "y"));
    insert(&*store, &here);
    insert(&*store, &elsewhere);
    let due = |seconds| store.read(|tx| tx.webhooks_due(later(seconds))).unwrap();
    assert_eq!(due(0), [], "both journals are empty");
    with_texts(&*store, &["one", "two"]);
    let id = here.webhook.id;
    assert_eq!(due(0), [id], "only the journal of x has grown");
    let begun = DeliveryProgress::starting_after(1);
    let failing = Some(FailingDelivery {
        sequence: 2,
        attempts: 1,
        retry_at: later(5),
        failure: "no".into(),
    });
    put_progress(&*store, id, &DeliveryProgress { failing, ..begun.clone() });
    assert_eq!((due(4), due(5)), (vec![], vec![id]), "not before the next attempt");
    put_progress(&*store, id, &begun.stopped_for(WebhookStop::ReceiverGone));
    assert_eq!(due(9), [], "it has stopped");
    put_progress(&*store, id, &DeliveryProgress::starting_after(2));
    assert_eq!(due(9), [], "at the end of the journal");
    let third = memory(&ids, "bob", "x", "three");
    store.write(move |tx| keep(tx, &third)).unwrap();
    assert_eq!(due(9), [id]);
    store.write(move |tx| tx.remove_webhook(id)).unwrap();
    assert_eq!(due(9), []);
}

pub(crate) fn dead_letters_are_in_the_order_of_the_journal_and_go_with_their_webhook(
    fresh: &dyn Fresh,
) {
    let store = fresh.open();
    let ids = CountingIds::default();
    let (first, second) = (record(&ids, "ann", "x"), record(&ids, "bob", "x"));
    insert(&*store, &first);
    insert(&*store, &second);
    let (id, other) = (first.webhook.id, second.webhook.id);
    let late = put_letter(&*store, id, 100, 8);
    put_letter(&*store, id, 9, 8);
    let early = put_letter(&*store, id, 9, 9);
    let foreign = put_letter(&*store, other, 9, 8);
    let of = |id, limit| store.read(|tx| tx.dead_letters(id, limit)).unwrap();
    assert_eq!(of(id, 10), [early.clone(), late.clone()], "one for each event, the latest");
    assert_eq!(of(id, 1), std::slice::from_ref(&early));
    let counted = |id| store.read(|tx| tx.webhook(id)).unwrap().unwrap().webhook.dead_letters;
    assert_eq!((counted(id), counted(other)), (2, 1));
    let one = |id, sequence| store.read(|tx| tx.dead_letter(id, sequence)).unwrap();
    assert_eq!((one(id, 9), one(id, 10)), (Some(early), None));
    let dropped = move |sequence| store.write(move |tx| tx.drop_dead_letter(id, sequence)).unwrap();
    assert_eq!((dropped(9), dropped(9)), (true, false));
    let store = fresh.open();
    store.write(move |tx| tx.remove_webhook(id)).unwrap();
    let left = |id| store.read(|tx| tx.dead_letters(id, 10)).unwrap();
    assert_eq!((left(id), left(other)), (vec![], vec![foreign]));
    assert_eq!(store.read(|tx| tx.webhook(id)).unwrap(), None);
}
