//! Laws of consolidations: one lease at a time, whose token fences off every earlier one.

use commonbook::base::clock::Timestamp;
use commonbook::base::id::OperationId;
use commonbook::model::agent::Agent;
use commonbook::model::consolidation::ConsolidationLease;
use commonbook::store::Store;

use crate::{Fresh, Sqlite};

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_000_000 + seconds).unwrap()
}

fn wanted(agent: &str, operation: &str) -> ConsolidationLease {
    ConsolidationLease {
        workspace: "w".parse().unwrap(),
        token: 0,
        agent: Agent::with_any_name(agent).unwrap(),
        operation: OperationId::from_name(operation),
    }
}

fn lease(store: &dyn Store, wanted: ConsolidationLease, now: i64) -> Option<ConsolidationLease> {
    store.write(move |tx| tx.lease_consolidation(&wanted, at(now), at(now + 10))).unwrap()
}

fn renews(store: &dyn Store, lease: &ConsolidationLease, until: i64) -> bool {
    let lease = lease.clone();
    store.write(move |tx| tx.renew_consolidation(&lease, at(until))).unwrap()
}

#[test]
fn a_lease_has_one_holder_and_an_older_token_is_refused() {
    let fresh = Sqlite::new();
    let store = fresh.open();
    let first = lease(&*store, wanted("ann", "first"), 0).unwrap();
    assert_eq!(lease(&*store, wanted("bob", "second"), 5), None, "it is held");
    assert!(renews(&*store, &first, 20));
    assert_eq!(lease(&*store, wanted("bob", "second"), 15), None, "it was renewed");

    // The holder has died: another agent begins an operation of its own.
    let second = lease(&*store, wanted("bob", "second"), 20).unwrap();
    assert!(second.token > first.token);
    assert_eq!(second.operation, OperationId::from_name("second"));
    assert!(!renews(&*store, &first, 99), "its token is refused");
    // The same agent continues what died.
    let third = lease(&*store, wanted("bob", "third"), 40).unwrap();
    assert_eq!(third.operation, second.operation);

    let of_third = third.clone();
    assert!(store.write(move |tx| tx.finish_consolidation(&of_third, at(41))).unwrap());
    assert!(!renews(&*store, &third, 99), "it was given back");
    let fourth = lease(&*store, wanted("bob", "fourth"), 42).unwrap();
    assert_eq!(fourth.operation, OperationId::from_name("fourth"));
}
