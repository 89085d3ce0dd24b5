//! The search index over a store: at any stage it finds what journal and permission rule say.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::Path;

use commonbook::base::error::Result;
use commonbook::base::id::{CountingIds, MemoryId};
use commonbook::index::Index;
use commonbook::model::access::Sight;
use commonbook::model::agent::Agent;
use commonbook::model::event::{EventKind, NewEvent};
use commonbook::model::memory::{Importance, Memory, MemoryType, Sharing, Trust};
use commonbook::model::search::{IndexQuery, IndexResponse, SearchFilter, talk};
use commonbook::store::{Store, Tx};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::{Fresh, caller, keep, memory, now, replace, with_texts};

/// Tells the index to continue.
pub(crate) const GO: ControlFlow<()> = ControlFlow::Continue(());

const AGENTS: [&str; 4] = ["ann", "ann/child", "bob", "legacy"];
const USERS: [Option<&str>; 3] = [None, Some("u1"), Some("U1")];
const TEXTS: [&str; 4] =
    ["the heron nests", "Herons, herons!", "a kettle of tea for you", "tea with a heron?"];

pub(crate) fn sight() -> Sight {
    Sight::of(&caller("ann", "x"))
}

pub(crate) fn question(text: &str) -> IndexQuery {
    IndexQuery::from_plain_text(text.to_owned(), SearchFilter::default(), now())
}

/// The index of a folder in a process that has just started.
pub(crate) fn started(folder: &Path) -> Index {
    Index::in_folder(folder.to_owned())
}

pub(crate) fn ids(found: &IndexResponse) -> Vec<MemoryId> {
    found.ranked.iter().map(|hit| hit.id).collect()
}

/// Changes a memory like the verbs do, with its event.
fn change(tx: &mut Tx<'_>, before: &Memory, after: &Memory) -> Result<()> {
    tx.append_event(&NewEvent::of(EventKind::MemoryUpdated, after, &after.owner, now()))?;
    replace(tx, before, after)
}

pub(crate) fn purge(tx: &mut Tx<'_>, memory: &Memory) -> Result<()> {
    tx.append_event(&NewEvent::of(EventKind::MemoryPurged, memory, &memory.owner, now()))?;
    tx.purge_memory(memory)
}

pub(crate) fn a_search_finds_what_any_process_saved_one_call_earlier(fresh: &dyn Fresh) {
    let home = tempfile::tempdir().unwrap();
    let (here, there) = (fresh.open(), fresh.open());
    let (writer, reader) = (started(home.path()), started(home.path()));
    for number in 0..60_u8 {
        // A word without parts and endings, as no other memory has it.
        let letter = |number: u8| char::from(b'a' + number);
        let river = format!("river{}{}x", letter(number / 26), letter(number % 26));
        let text = format!("The herons nested by {river}");
        let kept = memory(&commonbook::base::id::RandomIds::default(), "ann", "x", &text);
        let id = kept.id;
        here.write(move |tx| keep(tx, &kept)).unwrap();
        for index in [&reader, &writer] {
            let found = index.search(&*there, &sight(), &question(&river)).unwrap();
            assert_eq!((ids(&found), found.total), (vec![id], 1), "{river}");
        }
        if number % 7 == 0 {
            assert!(writer.follow(&*here, |_| GO).unwrap().is_some());
            assert!(reader.follow(&*there, |_| GO).unwrap().is_none(), "two hold the lease");
        }
    }
    assert_eq!(reader.search(&*there, &sight(), &question("nesting")).unwrap().total, 60);
}

pub(crate) fn a_search_finds_new_words_and_forgets_old_ones(fresh: &dyn Fresh) {
    let home = tempfile::tempdir().unwrap();
    let (store, index) = (fresh.open(), started(home.path()));
    let first = with_texts(&*store, &["tea"]).remove(0);
    index.follow(&*store, |_| GO).unwrap();
    let second = Memory { text: "coffee".into(), revision: 2, ..first.clone() };
    store.write(move |tx| change(tx, &first, &second)).unwrap();
    for stage in ["in the tail", "written out"] {
        let count = |word| index.search(&*store, &sight(), &question(word)).unwrap().total;
        assert_eq!((count("coffee"), count("tea")), (1, 0), "{stage}");
        index.follow(&*store, |_| GO).unwrap();
    }
}

/// A step of a process: it saves a memory, changes one, or writes the index out.
#[derive(Debug, Clone)]
enum Step {
    Keep { owner: usize, user: usize, workspace: usize, text: usize, private: bool },
    Change(usize, Fate),
    Follow,
}

#[derive(Debug, Clone, Copy)]
enum Fate {
    Reworded,
    Superseded,
    Deleted,
    Published,
    Hidden,
    Quarantined,
    Released,
    Purged,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let kept = (0..4_usize, 0..3_usize, 0..3_usize, 0..4_usize, any::<bool>());
    let kept = kept.prop_map(|(owner, user, workspace, text, private)| Step::Keep {
        owner,
        user,
        workspace,
        text,
        private,
    });
    let fates = vec![
        Fate::Reworded,
        Fate::Superseded,
        Fate::Deleted,
        Fate::Published,
        Fate::Hidden,
        Fate::Quarantined,
        Fate::Released,
        Fate::Purged,
    ];
    let changed = (0..20_usize, prop::sample::select(fates));
    let changed = changed.prop_map(|(which, fate)| Step::Change(which, fate));
    prop::collection::vec(prop_oneof![5 => kept, 3 => changed, 1 => Just(Step::Follow)], 1..24)
}

/// The memories of one run, in workspaces that no other run uses.
struct Run<'r> {
    store: &'r dyn Store,
    number: usize,
    ids: CountingIds,
    kept: Vec<Memory>,
}

impl Run<'_> {
    fn workspace(&self, which: usize) -> String {
        format!("{}{}", ["x", "global", "y"][which], self.number)
    }

    fn take(&mut self, step: &Step) {
        match step {
            Step::Keep { owner, user, workspace, text, private } => {
                let mut new = memory(&self.ids, "ann", &self.workspace(*workspace), TEXTS[*text]);
                new.owner = Agent::with_any_name(AGENTS[*owner]).unwrap();
                new.user_id = USERS[*user].map(str::to_owned);
                new.sharing = if *private { Sharing::Private } else { Sharing::Shared };
                new.importance = Importance::ALL[(owner + text) % 4];
                new.topics = vec![["Birds", "drinks"][text % 2].to_owned()];
                new.session = Some(format!("s{}", workspace % 2));
                if *text == 0 {
                    new.memory_type = MemoryType::try_from("decision".to_owned()).unwrap();
                }
                self.kept.push(new.clone());
                self.store.write(move |tx| keep(tx, &new)).unwrap();
            }
            Step::Change(which, fate) if !self.kept.is_empty() => {
                self.change(which % self.kept.len(), *fate);
            }
            Step::Change(..) | Step::Follow => {}
        }
    }

    fn change(&mut self, which: usize, fate: Fate) {
        let before = self.kept[which].clone();
        let mut after = Memory { revision: before.revision + 1, ..before.clone() };
        match fate {
            Fate::Reworded => after.text = "a heron of another feather".into(),
            Fate::Superseded => after.superseded_by = Some(before.id),
            Fate::Deleted => after.deleted_at = Some(now()),
            Fate::Published => after.sharing = Sharing::Shared,
            Fate::Hidden => after.sharing = Sharing::Private,
            Fate::Quarantined => after.trust = Trust::Quarantined,
            Fate::Released => after.trust = Trust::Normal,
            Fate::Purged => {
                self.kept.remove(which);
                return self.store.write(move |tx| purge(tx, &before)).unwrap();
            }
        }
        self.kept[which] = after.clone();
        self.store.write(move |tx| change(tx, &before, &after)).unwrap();
    }
}

/// Among these memories, those about herons, and those at most two positions from one in the same
/// session, if that is a turn of a conversation.
fn answering(mut seen: Vec<&Memory>) -> BTreeSet<MemoryId> {
    seen.sort_by_key(|memory| memory.id);
    let mut sessions: BTreeMap<_, Vec<&Memory>> = BTreeMap::new();
    for memory in seen {
        sessions.entry((&memory.workspace, &memory.session)).or_default().push(memory);
    }
    let has = |memory: &Memory| memory.text.to_lowercase().contains("heron");
    let around = |session: &[&Memory], place: usize, reach: usize| {
        place.saturating_sub(reach)..(place + reach + 1).min(session.len())
    };
    let is_turn = |session: &[&Memory], place: usize| {
        let around = around(session, place, talk::TALK_REACH);
        let memories = around.len();
        let addresses = |memory: &&&Memory| talk::addresses_somebody(&memory.text);
        talk::is_talk(session[around].iter().filter(addresses).count(), memories)
    };
    let near = |session: &[&Memory], place: usize| {
        let explains = |other: usize| other == place || is_turn(session, other);
        around(session, place, 2).any(|other| has(session[other]) && explains(other))
    };
    let chosen = sessions.values().flat_map(|session| {
        (0..session.len()).filter(|place| near(session, *place)).map(|place| session[place].id)
    });
    chosen.collect()
}

/// The same filter twice: for the index, and as a predicate.
type SearchCase = (SearchFilter, fn(&Memory) -> bool);

fn bounds() -> Vec<SearchCase> {
    let of = SearchFilter::default;
    let current = Memory::is_current;
    vec![
        (of(), current),
        (SearchFilter { owner: Some("ann/child".into()), ..of() }, |m| {
            m.is_current() && m.owner.as_str() == "ann/child"
        }),
        (SearchFilter { memory_type: Some("decision".into()), ..of() }, |m| {
            m.is_current() && m.memory_type.as_str() == "decision"
        }),
        (SearchFilter { topics: vec!["BIRDS".into()], ..of() }, |m| {
            m.is_current() && m.topics == ["Birds"]
        }),
        (SearchFilter { topics: vec!["fish".into()], ..of() }, |_| false),
        (SearchFilter { importance: Some(Importance::High), ..of() }, |m| {
            m.is_current() && m.importance >= Importance::High
        }),
        (SearchFilter { session: Some("s1".into()), ..of() }, |m| {
            m.is_current() && m.session.as_deref() == Some("s1")
        }),
        (SearchFilter { superseded: true, ..of() }, |m| m.deleted_at.is_none()),
        (SearchFilter { archived: true, ..of() }, |m| m.superseded_by.is_none()),
        (SearchFilter { at: Some(now()), ..of() }, current),
        (SearchFilter { since: Some(now()), until: Some(now()), ..of() }, current),
        (SearchFilter { until: Some(now() - jiff::SignedDuration::from_secs(1)), ..of() }, |_| {
            false
        }),
    ]
}

pub(crate) fn an_index_at_any_stage_finds_exactly_the_visible_memories(fresh: &dyn Fresh) {
    let home = tempfile::tempdir().unwrap();
    let store = fresh.open();
    let (writer, reader) = (started(home.path()), started(home.path()));
    let mut runner =
        TestRunner::new(Config { cases: 32, max_shrink_iters: 40, ..Config::default() });
    let number = std::cell::Cell::new(0);
    let cases = (steps(), 0..4_usize, 0..3_usize);
    runner
        .run(&cases, |(steps, agent, user)| {
            number.set(number.get() + 1);
            let mut run = Run {
                store: &*store,
                number: number.get(),
                ids: CountingIds::default(),
                kept: Vec::new(),
            };
            let mut opened = Vec::new();
            for step in &steps {
                run.take(step);
                if matches!(step, Step::Follow) {
                    writer.follow(&*store, |_| GO).unwrap();
                    // The steps that follow change an index that is open.
                    let index = started(home.path());
                    index.unwritten_events(&*store).unwrap();
                    opened.push(index);
                }
            }
            opened.push(started(home.path()));
            let mut sight = Sight::of(&caller(AGENTS[agent], &run.workspace(0)));
            sight.workspaces.push(run.workspace(1).parse().unwrap());
            sight.user = USERS[user].map(str::to_owned);
            let bare = Index::in_memory();
            for (within, meant) in bounds() {
                let seen = run.kept.iter().filter(|m| sight.sees(m) && meant(m));
                let expected = answering(seen.collect());
                let asked = IndexQuery { within, ..question("heron") };
                let found = bare.search(&*store, &sight, &asked).unwrap();
                assert_eq!(ids(&found).into_iter().collect::<BTreeSet<_>>(), expected);
                assert_eq!(found.total, expected.len() as u64);
                for index in [&writer, &reader].into_iter().chain(&opened) {
                    assert_eq!(index.search(&*store, &sight, &asked).unwrap(), found);
                }
            }
            Ok(())
        })
        .unwrap();
}
