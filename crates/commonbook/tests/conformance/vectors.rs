//! Vectors beside the words: made in the background, disposable, and never required.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use commonbook::base::error::{Error, ErrorKind};
use commonbook::base::id::CountingIds;
use commonbook::index::Index;
use commonbook::model::memory::Memory;
use commonbook::model::search::{IndexQuery, IndexResponse, MatchReason};
use commonbook::store::Store;
use commonbook_embed::bundled::BundledEmbedder;
use commonbook_embed::word_hash::WordHashEmbedder;
use commonbook_embed::words::TextEmbedding;
use commonbook_embed::{EmbedError, EmbedErrorKind, EmbedResult};
use commonbook_embed::{Embedder, ModelSpec};

use crate::rebuilding::files;
use crate::search::{GO, purge, question, sight, started};
use crate::{Fresh, keep, memory, with_texts};

/// A model with this name, which fails on demand.
struct Model {
    words: WordHashEmbedder,
    spec: ModelSpec,
    fails: AtomicBool,
}

impl Model {
    fn of(revision: &str) -> Arc<Self> {
        let words = WordHashEmbedder::new();
        let spec = ModelSpec { revision: revision.to_owned(), ..words.spec().clone() };
        Arc::new(Self { words, spec, fails: AtomicBool::new(false) })
    }
}

impl Embedder for Model {
    fn spec(&self) -> &ModelSpec {
        &self.spec
    }

    fn embed(&self, texts: &[String]) -> EmbedResult<Vec<Vec<f32>>> {
        if self.fails.load(Ordering::Relaxed) {
            return Err(EmbedError::new(EmbedErrorKind::Unavailable, "the model is out to lunch"));
        }
        self.words.embed(texts)
    }

    fn batch(&self) -> usize {
        7
    }

    fn chunk_tokens(&self) -> usize {
        self.words.chunk_tokens()
    }
}

fn with_model(folder: &Path, model: &Arc<Model>) -> Index {
    let index = started(folder);
    index.use_embedder(Ok(Some(Arc::clone(model) as _)));
    index
}

fn look(index: &Index, store: &dyn Store, text: &str) -> IndexResponse {
    index.search(store, &sight(), &question(text)).unwrap()
}

fn embed(index: &Index, store: &dyn Store) -> u64 {
    index.follow(store, |_| GO).unwrap();
    index.embed(store, |_| GO).unwrap().unwrap().waiting
}

/// Texts about kettles; the last is about herons.
fn kept(store: &dyn Store) -> Vec<Memory> {
    let mut texts: Vec<String> = (0..40).map(|n| format!("the kettle number{n} sings")).collect();
    texts.push("a heron stands by the river".into());
    with_texts(store, &texts.iter().map(String::as_str).collect::<Vec<_>>())
}

pub(crate) fn a_search_uses_words_only_until_vectors_exist_and_says_so(fresh: &dyn Fresh) {
    let home = tempfile::tempdir().unwrap();
    let (store, model) = (fresh.open(), Model::of("1"));
    let heron = kept(&*store).pop().unwrap().id;
    let index = with_model(home.path(), &model);
    let before = look(&index, &*store, "heron river");
    assert_eq!(before.ranked[0].matched, [MatchReason::Words]);
    assert!(before.notice.unwrap().contains("nothing is embedded"));
    assert_eq!(embed(&index, &*store), 0);
    let reader = with_model(home.path(), &model);
    for index in [&index, &reader] {
        let after = look(index, &*store, "heron river");
        assert_eq!((after.ranked[0].id, after.notice), (heron, None));
        assert_eq!(after.ranked[0].matched, [MatchReason::Words, MatchReason::Vector]);
    }
    let bare = look(&started(home.path()), &*store, "heron river");
    assert!(bare.notice.unwrap().contains("no embedder"));
}

pub(crate) fn a_failing_embedder_does_not_stop_searches(fresh: &dyn Fresh) {
    let home = tempfile::tempdir().unwrap();
    let (store, model) = (fresh.open(), Model::of("1"));
    let kept = kept(&*store);
    let index = with_model(home.path(), &model);
    index.follow(&*store, |_| GO).unwrap();
    model.fails.store(true, Ordering::Relaxed);
    assert_eq!(index.embed(&*store, |_| GO).unwrap_err().kind, ErrorKind::Unavailable);
    assert_eq!(look(&index, &*store, "heron").total, 1);
    model.fails.store(false, Ordering::Relaxed);
    assert_eq!(embed(&index, &*store), 0);
    model.fails.store(true, Ordering::Relaxed);
    let found = look(&index, &*store, "heron");
    assert_eq!((found.ranked[0].id, found.total), (kept[40].id, 1));
    assert!(found.notice.unwrap().contains("out to lunch"));
    index.use_embedder(Err(Error::new(ErrorKind::Unavailable, "no such model")));
    assert!(index.lacks_embedder());
    assert!(look(&index, &*store, "heron").notice.unwrap().contains("no such model"));
}

pub(crate) fn another_model_embeds_everything_again_and_the_old_vectors_are_deleted(
    fresh: &dyn Fresh,
) {
    let home = tempfile::tempdir().unwrap();
    let store = fresh.open();
    kept(&*store);
    let vectors = || files(&home.path().join("vectors"));
    embed(&with_model(home.path(), &Model::of("1")), &*store);
    let first = vectors();
    let index = with_model(home.path(), &Model::of("2"));
    let between = look(&index, &*store, "heron");
    assert_eq!(between.total, 1, "vectors of another model are not compared");
    assert!(between.notice.unwrap().contains("nothing is embedded"));
    assert_eq!(embed(&index, &*store), 0);
    assert!(!vectors().is_empty() && vectors().iter().all(|file| !first.contains(file)));
    assert_eq!(look(&index, &*store, "heron").notice, None);
}

pub(crate) fn damaged_vectors_are_embedded_again_with_the_same_results(fresh: &dyn Fresh) {
    let home = tempfile::tempdir().unwrap();
    let (store, model) = (fresh.open(), Model::of("1"));
    kept(&*store);
    let index = with_model(home.path(), &model);
    embed(&index, &*store);
    let expected = look(&index, &*store, "heron river kettle");
    drop(index);
    let vectors = || files(&home.path().join("vectors"));
    for spoil in [
        |path: &Path| fs::write(path, "").unwrap(),
        |path: &Path| fs::write(path, &fs::read(path).unwrap()[..100]).unwrap(),
        |path: &Path| fs::remove_file(path).unwrap(),
        |path: &Path| fs::write(path, "something else altogether").unwrap(),
    ] {
        vectors().iter().for_each(|path| spoil(path));
        let index = with_model(home.path(), &model);
        assert!(look(&index, &*store, "heron").notice.is_some());
        assert_eq!(embed(&index, &*store), 0);
        assert_eq!(look(&index, &*store, "heron river kettle"), expected);
        drop(index);
        assert_eq!(look(&with_model(home.path(), &model), &*store, "heron river kettle"), expected);
    }
    let bytes = vectors().iter().map(|path| fs::metadata(path).unwrap().len()).max().unwrap();
    assert!(bytes > 40 * 384, "{bytes}");
}

pub(crate) fn a_flipped_bit_in_the_vectors_is_found_by_a_check(fresh: &dyn Fresh) {
    let home = tempfile::tempdir().unwrap();
    let (store, model) = (fresh.open(), Model::of("1"));
    kept(&*store);
    let index = with_model(home.path(), &model);
    embed(&index, &*store);
    assert_eq!(index.check().unwrap(), Vec::<String>::new());
    let file = files(&home.path().join("vectors")).pop().unwrap();
    let mut bytes = fs::read(&file).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&file, bytes).unwrap();
    assert_eq!(index.check().unwrap().len(), 1);
}

pub(crate) fn the_vector_files_contain_nothing_purged(fresh: &dyn Fresh) {
    let home = tempfile::tempdir().unwrap();
    let (store, model) = (fresh.open(), Model::of("1"));
    let kept = kept(&*store);
    let index = with_model(home.path(), &model);
    embed(&index, &*store);
    let size = || -> u64 {
        let all = files(&home.path().join("vectors"));
        all.iter().map(|path| fs::metadata(path).unwrap().len()).sum()
    };
    let before = size();
    let gone = kept[40].clone();
    store.write(move |tx| purge(tx, &gone)).unwrap();
    index.follow(&*store, |_| GO).unwrap();
    assert_eq!(size(), before - (384 + 13), "one vector less");
    assert_eq!(look(&index, &*store, "heron").total, 0);
}

pub(crate) fn equal_texts_share_a_vector_and_a_long_text_has_several(fresh: &dyn Fresh) {
    let home = tempfile::tempdir().unwrap();
    let (store, model) = (fresh.open(), Model::of("1"));
    let long = "The heron stands by the river and waits for fish. ".repeat(60);
    with_texts(&*store, &["the same words", "the same words", &long]);
    let index = with_model(home.path(), &model);
    assert_eq!(embed(&index, &*store), 0);
    let size: u64 = (files(&home.path().join("vectors")).iter())
        .map(|path| fs::metadata(path).unwrap().len())
        .sum();
    let rows = (size - 20) / (384 + 13);
    assert!((5..12).contains(&rows), "{rows}");
    assert_eq!(look(&index, &*store, "same words").total, 2);
}

/// How near the words of each memory are to those of a question, by the bundled model.
fn near_words(store: &dyn Store, kept: &[Memory], text: &str) -> Vec<f64> {
    let home = tempfile::tempdir().unwrap();
    let bundled = || {
        let index = started(home.path());
        index.use_embedder(Ok(Some(Arc::new(BundledEmbedder::new()))));
        index
    };
    let index = bundled();
    assert_eq!(embed(&index, store), 0);
    let found = look(&index, store, text);
    // The words are read from the files of another process as well.
    drop(index);
    assert_eq!(look(&bundled(), store, text), found);
    let part = |memory: &Memory| {
        let hit = found.ranked.iter().find(|hit| hit.id == memory.id);
        hit.map_or(0.0, |hit| hit.parts.near_words)
    };
    kept.iter().map(part).collect()
}

pub(crate) fn single_words_of_the_bundled_model_are_compared(fresh: &dyn Fresh) {
    let (store, model) = (fresh.open(), Model::of("1"));
    let texts = [
        "The orders are kept in PostgreSQL on the second server.",
        "The orders were made into bananas by the second cook.",
        "The orders hang on the wall.",
    ];
    let kept = with_texts(&*store, &texts);
    let near = near_words(&*store, &kept, "Which database has the orders?");
    assert!(near[0] > near[1] && near[0] > near[2], "{near:?}");
    assert_eq!(near.iter().copied().fold(0.0, f64::max), 0.2, "of the nearest, its whole weight");
    let home = tempfile::tempdir().unwrap();
    let index = with_model(home.path(), &model);
    embed(&index, &*store);
    let hit = look(&index, &*store, "orders second cook").ranked.swap_remove(0);
    assert_eq!(hit.parts.near_words, 0.0, "the model shows no words");
    assert_eq!(hit.parts.vector, 0.4);
}

/// The bundled model, which counts the texts that it reads.
struct CountingModel {
    bundled: BundledEmbedder,
    texts: AtomicUsize,
}

impl Embedder for CountingModel {
    fn spec(&self) -> &ModelSpec {
        self.bundled.spec()
    }

    fn embed(&self, texts: &[String]) -> EmbedResult<Vec<Vec<f32>>> {
        self.bundled.embed(texts)
    }

    fn embed_words(&self, texts: &[String]) -> EmbedResult<Vec<TextEmbedding>> {
        self.texts.fetch_add(texts.len(), Ordering::Relaxed);
        self.bundled.embed_words(texts)
    }

    fn embed_query_words(&self, text: &str) -> EmbedResult<TextEmbedding> {
        self.texts.fetch_add(1, Ordering::Relaxed);
        self.bundled.embed_query_words(text)
    }

    fn reads_alike(&self) -> bool {
        self.bundled.reads_alike()
    }

    fn batch(&self) -> usize {
        self.bundled.batch()
    }

    fn chunk_tokens(&self) -> usize {
        self.bundled.chunk_tokens()
    }
}

pub(crate) fn a_text_that_was_searched_for_what_is_near_is_read_once(fresh: &dyn Fresh) {
    let home = tempfile::tempdir().unwrap();
    let store = fresh.open();
    let counting = CountingModel { bundled: BundledEmbedder::new(), texts: AtomicUsize::new(0) };
    let model = Arc::new(counting);
    let index = started(home.path());
    index.use_embedder(Ok(Some(Arc::clone(&model) as _)));
    let ids = CountingIds::default();
    let save = |text: &str| {
        let memory = memory(&ids, "ann", "x", text);
        store.write(move |tx| keep(tx, &memory)).unwrap();
    };
    let text = "The orders were made into bananas by the second cook.";
    save("The orders are kept in PostgreSQL on the second server.");
    assert_eq!(embed(&index, &*store), 0);
    save(text);
    let near = IndexQuery { of_memory: true, ..question(text) };
    assert_eq!(index.search(&*store, &sight(), &near).unwrap().total, 2);
    assert_eq!(embed(&index, &*store), 0);
    assert_eq!(model.texts.load(Ordering::Relaxed), 2);
    let (other, asked) = (tempfile::tempdir().unwrap(), "Which cook made the bananas?");
    let apart = started(other.path());
    apart.use_embedder(Ok(Some(Arc::new(BundledEmbedder::new()))));
    assert_eq!(embed(&apart, &*store), 0);
    assert_eq!(look(&index, &*store, asked), look(&apart, &*store, asked));
    // What somebody asks serves no memory.
    let said = "Why did the cook leave?";
    look(&index, &*store, said);
    save(said);
    let before = model.texts.load(Ordering::Relaxed);
    assert_eq!(embed(&index, &*store), 0);
    assert_eq!(model.texts.load(Ordering::Relaxed), before + 1);
}

/// Turns of a conversation: two are equal, and the first of them has the other word beside it.
const TURNS: [&str; 7] = [
    "Do you run a database there?",
    "You saw the heron.",
    "Do you eat fish?",
    "You paint the wall.",
    "Do you like soup?",
    "You saw the heron.",
    "Do you like bananas?",
];

pub(crate) fn a_turn_has_the_words_of_the_turns_beside_it(fresh: &dyn Fresh) {
    let store = fresh.open();
    let kept = with_texts(&*store, &TURNS);
    let near = near_words(&*store, &kept, "heron database");
    assert!(near[1] > near[5] && near[5] > 0.0, "{near:?}");
}

pub(crate) fn a_note_has_its_own_words_alone(fresh: &dyn Fresh) {
    let store = fresh.open();
    let told = |text: &str| text.replace("Do you", "They").replace("You", "They").replace('?', ".");
    let notes = TURNS.map(told);
    let kept = with_texts(&*store, &notes.each_ref().map(|text| &**text));
    let near = near_words(&*store, &kept, "heron database");
    assert!(near[1] == near[5] && near[5] > 0.0, "{near:?}");
}
