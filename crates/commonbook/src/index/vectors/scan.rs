//! The scan of all vectors for the nearest ones.
//!
//! Up to some ten thousand texts every vector is compared. Beyond, all of them are compared by
//! their signs alone, an eighth of the bytes, and those of the nearest signs by their vectors: a
//! million vectors are more than memory brings in twenty milliseconds.

use std::f64::consts::PI;
use std::sync::LazyLock;

use pulp::Arch;

use super::{Signs, Vectors};
use crate::embedding::Quantised;
use crate::embedding::quantised::add_signs;
use crate::index::catalog::{Catalog, Number};

/// Memories from which on a scan is worth several threads.
const PARALLEL: usize = 20_000;

/// Texts up to which every vector is compared.
const EXACT: usize = 20_000;

/// Memories of the nearest signs that are compared by their vectors, for each one that is kept.
const CLOSELY: u32 = 20;

/// Threads of one scan. The system takes as long to say it as a small scan takes: it is asked once.
static THREADS: LazyLock<usize> =
    LazyLock::new(|| std::thread::available_parallelism().map_or(1, usize::from).min(8));

/// Stands for the distance of a memory that is not compared.
const OUT: u16 = u16::MAX;

/// How near the admitted memories are to a question.
#[derive(Debug, Default)]
pub(in crate::index) struct Scan {
    /// The nearest ones, in no order.
    pub(in crate::index) nearest: Vec<(Number, f32)>,
    /// The least and the greatest nearness of all, and their sum and number.
    pub(in crate::index) lowest: f32,
    pub(in crate::index) highest: f32,
    pub(in crate::index) sum: f64,
    pub(in crate::index) count: u64,
    /// What is not nearer than this is not among the nearest.
    floor: f32,
}

impl Scan {
    fn empty() -> Self {
        Self { lowest: f32::MAX, highest: f32::MIN, floor: f32::MIN, ..Self::default() }
    }

    fn take(&mut self, number: Number, near: f32) {
        self.lowest = self.lowest.min(near);
        self.highest = self.highest.max(near);
        self.sum += f64::from(near);
        self.count += 1;
        if near > self.floor {
            self.nearest.push((number, near));
        }
    }

    fn join(mut self, other: Self) -> Self {
        self.nearest.extend(other.nearest);
        Self {
            lowest: self.lowest.min(other.lowest),
            highest: self.highest.max(other.highest),
            sum: self.sum + other.sum,
            count: self.count + other.count,
            ..self
        }
    }

    /// Leaves only the nearest.
    fn cut(&mut self, keep: usize) {
        if self.nearest.len() > keep {
            let nearer = |a: &(Number, f32), b: &(Number, f32)| b.1.total_cmp(&a.1);
            self.floor = self.nearest.select_nth_unstable_by(keep - 1, nearer).1.1;
            self.nearest.truncate(keep);
        }
    }
}

/// What is searched, and for what.
pub(in crate::index) struct Look<'l, A> {
    pub(in crate::index) vectors: &'l Vectors,
    pub(in crate::index) catalog: &'l Catalog,
    pub(in crate::index) admits: A,
    pub(in crate::index) question: &'l Quantised,
}

/// Compares the question with every admitted memory that has vectors; keeps the `keep` nearest.
pub(in crate::index) fn scan(look: &Look<'_, impl Fn(Number) -> bool + Sync>, keep: usize) -> Scan {
    let mut scan = if look.vectors.len() <= EXACT {
        look.compare(keep, &look.admits)
    } else {
        look.by_signs(keep)
    };
    scan.cut(keep);
    scan
}

impl<A: Fn(Number) -> bool + Sync> Look<'_, A> {
    /// Compares the vectors of those chosen.
    fn compare(&self, keep: usize, chosen: impl Fn(Number) -> bool + Sync) -> Scan {
        let parts = self.each_part(|numbers| {
            let mut scan = Scan::empty();
            for number in numbers.filter(|number| chosen(*number)) {
                let Some(rows) = self.catalog.links.of(number) else { continue };
                scan.take(number, self.vectors.nearness(rows, self.question));
                if scan.nearest.len() >= 4 * keep {
                    scan.cut(keep);
                }
            }
            scan
        });
        parts.into_iter().fold(Scan::empty(), Scan::join)
    }

    /// The nearest of those whose signs are nearest, and the farthest of those whose signs are
    /// farthest; the mean is that of the signs.
    fn by_signs(&self, keep: usize) -> Scan {
        let mut question = Vec::new();
        add_signs(&self.question.values, &mut question);
        let signs = self.vectors.signs();
        let most = self.question.values.len();
        // Compiled once more for processors that count bits in one instruction.
        let apart = |numbers| Arch::new().dispatch(|| self.apart(numbers, &signs, &question));
        let (mut all, mut far) = (Vec::new(), vec![0; most + 1]);
        for (apart, counts) in self.each_part(apart) {
            all.extend(apart);
            far.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        let wanted = u32::try_from(keep).unwrap_or(u32::MAX);
        let nearest = edge(far.iter(), CLOSELY * wanted);
        let farthest = (most as u32).saturating_sub(edge(far.iter().rev(), wanted));
        let scan = self.compare(keep, |number| {
            let far = all[number as usize];
            far != OUT && (u32::from(far) <= nearest || u32::from(far) >= farthest)
        });
        // The angle between two vectors is to a straight one as the signs that differ are to all
        // (Goemans and Williamson 1995, for random directions).
        let cosine = |far: usize| (PI * far as f64 / most as f64).cos();
        let sum = far.iter().enumerate().map(|(far, count)| f64::from(*count) * cosine(far)).sum();
        let count = far.iter().map(|count| u64::from(*count)).sum();
        Scan { sum, count, ..scan }
    }

    /// In how many signs each of these memories differs from the question, and how many of them in
    /// how many; what is not admitted or has no vector is [`OUT`].
    #[inline(always)]
    fn apart(
        &self,
        numbers: std::ops::Range<Number>,
        signs: &Signs<'_>,
        question: &[u64],
    ) -> (Vec<u16>, Vec<u32>) {
        let most = self.question.values.len();
        let mut counts = vec![0; most + 1];
        let mut all = vec![OUT; numbers.len()];
        for (number, place) in numbers.zip(&mut all) {
            let Some(rows) = self.catalog.links.of(number) else { continue };
            if (self.admits)(number) {
                let apart = signs.distance(rows, question).min(most as u32);
                counts[apart as usize] += 1;
                *place = apart as u16;
            }
        }
        (all, counts)
    }

    /// Does this with all memories, in as many parts as there are cores, where there are many.
    fn each_part<T: Send>(&self, act: impl Fn(std::ops::Range<Number>) -> T + Sync) -> Vec<T> {
        let all = Number::try_from(self.catalog.len()).unwrap_or(Number::MAX);
        let threads = *THREADS;
        if (all as usize) < PARALLEL || threads == 1 {
            return vec![act(0..all)];
        }
        let share = all.div_ceil(threads as Number);
        let part = |part: Number| part * share..((part + 1) * share).min(all);
        std::thread::scope(|scope| {
            let act = &act;
            let others = (1..threads as Number).map(|other| scope.spawn(move || act(part(other))));
            let others: Vec<_> = others.collect();
            let parts = others.into_iter().map(std::thread::ScopedJoinHandle::join);
            let resume = |panic| std::panic::resume_unwind(panic);
            let first = act(part(0));
            std::iter::once(first).chain(parts.map(|part| part.unwrap_or_else(resume))).collect()
        })
    }
}

/// How many steps it takes until so many are counted; all of them when there are fewer.
fn edge<'c>(counts: impl Iterator<Item = &'c u32>, wanted: u32) -> u32 {
    let within = counts.scan(0, |sum, count| {
        *sum += count;
        Some(*sum)
    });
    u32::try_from(within.take_while(|within| *within < wanted).count()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::{Before, write};
    use super::*;
    use crate::caller::{Caller, Door};
    use crate::embedding::Embedder as _;
    use crate::embedding::wordhash::WordHash;
    use crate::id::{CountingIds, MemoryId};
    use crate::index::catalog::{Described, Marks};
    use crate::memory::SaveMemory;
    use crate::workspace::Workspace;

    /// Memories that share one to nine words with the question, two thousand of each.
    fn filled(folder: &std::path::Path, model: &WordHash) -> (Catalog, Vectors) {
        let (ids, now) = (CountingIds::default(), jiff::Timestamp::UNIX_EPOCH);
        let caller = Caller::new(None, Workspace::fallback(), Door::Cli);
        let texts = (0..18_000).map(|n| {
            let shared: String = (0..=n % 9).map(|word| format!("word{word} ")).collect();
            let own: String = (0..9 - n % 9).map(|word| format!("own{n}x{word} ")).collect();
            shared + &own
        });
        let mut catalog = Catalog::default();
        let (mut batch, mut prints) = (Vec::new(), Vec::new());
        for (text, sequence) in texts.zip(1..) {
            let request = SaveMemory { text, ..SaveMemory::default() };
            let memory = request.memory(&caller, MemoryId::new(&ids, now), now).unwrap();
            let described = Described::of(&memory, sequence, ((0, 9), Marks::default()));
            let vector = model.embed_query(&memory.text).unwrap();
            batch.push((described.facts.print, vec![Quantised::of(&vector)]));
            prints.push(described.facts.print);
            catalog.put(described, None);
        }
        write(folder, model.spec().dimension, &batch, &Before::Stay).unwrap();
        let vectors = Vectors::open(folder, model.spec().dimension).unwrap();
        catalog.link(&vectors, true);
        (catalog, vectors)
    }

    #[test]
    fn the_nearest_by_their_signs_are_the_nearest() {
        let folder = tempfile::tempdir().unwrap();
        let model = WordHash::new();
        let (catalog, vectors) = filled(folder.path(), &model);
        let words: String = (0..9).map(|word| format!("word{word} ")).collect();
        let question = Quantised::of(&model.embed_query(&words).unwrap());
        let admits = |number: Number| number.is_multiple_of(2);
        let look = Look { vectors: &vectors, catalog: &catalog, admits, question: &question };
        let best = |mut scan: Scan| {
            scan.cut(100);
            scan.nearest.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            scan
        };
        let (exact, by_signs) = (best(look.compare(100, look.admits)), best(look.by_signs(100)));
        assert_eq!((exact.count, by_signs.count), (9_000, 9_000));
        let nearest = |scan: &Scan| scan.nearest.iter().map(|near| near.1).collect::<Vec<_>>();
        assert_eq!(nearest(&exact), nearest(&by_signs));
        assert!(by_signs.nearest.iter().all(|(number, _)| admits(*number)));
        assert_eq!(exact.highest, by_signs.highest);
        assert!((exact.lowest - by_signs.lowest).abs() < 0.1);
        assert!((exact.sum - by_signs.sum).abs() / 9_000.0 < 0.05);
        let few = |number: Number| number < 7;
        let look = Look { vectors: &vectors, catalog: &catalog, admits: few, question: &question };
        let (exact, by_signs) = (best(look.compare(100, look.admits)), best(look.by_signs(100)));
        assert_eq!(exact.nearest, by_signs.nearest);
        assert_eq!((exact.lowest, exact.count), (by_signs.lowest, by_signs.count));
    }
}
