//! The scan of all vectors for the nearest ones.
//!
//! Up to some ten thousand texts every vector is compared. Beyond, all of them are compared by
//! their signs alone, an eighth of the bytes, and those of the nearest signs by their vectors: a
//! million vectors are more than memory brings in twenty milliseconds.

use std::f64::consts::PI;
use std::sync::LazyLock;

use pulp::Arch;

use super::{Signs, Vectors};
use crate::index::facts::{Catalog, Number};
use commonbook_embed::Quantised;
use commonbook_embed::quantised::add_signs;

/// Memories from which on a scan is worth several threads.
const PARALLEL: usize = 20_000;

/// Memories up to which every vector is compared.
const EXACT: usize = 20_000;

/// Memories of the nearest signs that are compared by their vectors, for each one that is kept.
const CLOSELY: u32 = 20;

/// Steps of one: nearness is summed up in these.
const STEPS: f64 = (1_u64 << 30) as f64;

/// Threads of one scan. The system takes as long to say it as a small scan takes: it is asked once.
static THREADS: LazyLock<usize> =
    LazyLock::new(|| std::thread::available_parallelism().map_or(1, usize::from).min(8));

/// How near the admitted memories are to a question.
#[derive(Debug, Default)]
pub(in crate::index) struct Scan {
    /// The nearest ones, in no order.
    pub(in crate::index) nearest: Vec<(Number, f32)>,
    /// How many comparisons were made, of whole vectors and of signs.
    pub(in crate::index) compared: u64,
    /// The least and the greatest nearness of all, and their sum and number.
    pub(in crate::index) lowest: f32,
    pub(in crate::index) highest: f32,
    pub(in crate::index) sum: f64,
    pub(in crate::index) count: u64,
    /// What is farther than this is not among the nearest.
    floor: f32,
}

impl Scan {
    fn empty() -> Self {
        Self { lowest: f32::MAX, highest: f32::MIN, floor: f32::MIN, ..Self::default() }
    }

    fn take(&mut self, number: Number, near: f32) {
        self.lowest = self.lowest.min(near);
        self.highest = self.highest.max(near);
        // In whole steps, so that the sum is the same in whichever order memories come.
        self.sum += (f64::from(near) * STEPS).round();
        self.count += 1;
        self.compared += 1;
        if near >= self.floor {
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
            compared: self.compared + other.compared,
            ..self
        }
    }

    /// Leaves only the nearest; of those that are equally near, the newest.
    fn cut(&mut self, keep: usize, catalog: &Catalog) {
        if self.nearest.len() > keep {
            let nearer = |a: &(Number, f32), b: &(Number, f32)| {
                b.1.total_cmp(&a.1).then_with(|| catalog.in_time(b.0, a.0))
            };
            self.floor = self.nearest.select_nth_unstable_by(keep - 1, nearer).1.1;
            self.nearest.truncate(keep);
        }
    }
}

/// What is searched, and for what.
pub(in crate::index) struct Look<'l> {
    pub(in crate::index) vectors: &'l Vectors,
    pub(in crate::index) catalog: &'l Catalog,
    /// The memories that may be found: how the scan goes depends on these alone.
    pub(in crate::index) admitted: &'l [Number],
    pub(in crate::index) question: &'l Quantised,
}

/// Memories, and in how many signs each differs from the question.
struct Apart {
    each: Vec<(Number, u16)>,
    /// How many of them differ in how many.
    counts: Vec<u32>,
}

/// Compares the question with every admitted memory that has vectors; keeps the `keep` nearest.
pub(in crate::index) fn scan(look: &Look<'_>, keep: usize) -> Scan {
    let few = look.admitted.len() <= EXACT;
    let mut scan = if few { look.exactly(keep) } else { look.by_signs(keep) };
    scan.cut(keep, look.catalog);
    scan
}

impl Look<'_> {
    /// Compares every vector.
    fn exactly(&self, keep: usize) -> Scan {
        let parts = at_once(self.parts(), |part| self.compare(keep, part.iter().copied()));
        let scan = parts.into_iter().fold(Scan::empty(), Scan::join);
        Scan { sum: scan.sum / STEPS, ..scan }
    }

    /// Compares the vectors of these memories.
    fn compare(&self, keep: usize, numbers: impl IntoIterator<Item = Number>) -> Scan {
        let mut scan = Scan::empty();
        for number in numbers {
            let Some(rows) = self.catalog.links.of(number) else { continue };
            scan.take(number, self.vectors.nearness(rows, self.question));
            if scan.nearest.len() >= 4 * keep {
                scan.cut(keep, self.catalog);
            }
        }
        scan
    }

    /// The nearest of those whose signs are nearest, and the farthest of those whose signs are
    /// farthest; the mean is that of the signs.
    fn by_signs(&self, keep: usize) -> Scan {
        let mut question = Vec::new();
        add_signs(&self.question.values, &mut question);
        let signs = self.vectors.signs();
        let most = self.question.values.len();
        // Compiled once more for processors that count bits in one instruction.
        let apart = |part| Arch::new().dispatch(|| self.apart(part, &signs, &question));
        let parts = at_once(self.parts(), apart);
        let mut far = vec![0; most + 1];
        for part in &parts {
            far.iter_mut().zip(&part.counts).for_each(|(sum, count)| *sum += count);
        }
        let wanted = u32::try_from(keep).unwrap_or(u32::MAX);
        let nearest = edge(far.iter(), CLOSELY * wanted);
        let farthest = (most as u32).saturating_sub(edge(far.iter().rev(), wanted));
        let outside = |far: u16| u32::from(far) <= nearest || u32::from(far) >= farthest;
        let compared = at_once(parts, |part| {
            let outside = part.each.into_iter().filter(|(_, far)| outside(*far));
            self.compare(keep, outside.map(|(number, _)| number))
        });
        // The angle between two vectors is to a straight one as the signs that differ are to all
        // (Goemans and Williamson 1995, for random directions).
        let cosine = |far: usize| (PI * far as f64 / most as f64).cos();
        let sum = far.iter().enumerate().map(|(far, count)| f64::from(*count) * cosine(far)).sum();
        let count: u64 = far.iter().map(|count| u64::from(*count)).sum();
        let scan = compared.into_iter().fold(Scan::empty(), Scan::join);
        Scan { sum, count, compared: scan.compared + count, ..scan }
    }

    /// In how many signs each admitted memory of these that has vectors differs from the question.
    #[inline(always)]
    fn apart(&self, numbers: &[Number], signs: &Signs<'_>, question: &[u64]) -> Apart {
        let most = self.question.values.len() as u32;
        let mut apart =
            Apart { each: Vec::with_capacity(numbers.len()), counts: vec![0; most as usize + 1] };
        for number in numbers {
            let Some(rows) = self.catalog.links.of(*number) else { continue };
            let far = signs.distance(rows, question).min(most);
            apart.counts[far as usize] += 1;
            apart.each.push((*number, far as u16));
        }
        apart
    }

    /// The memories, in as many parts as there are cores, where there are many.
    fn parts(&self) -> Vec<&[Number]> {
        let count = if self.admitted.len() < PARALLEL { 1 } else { *THREADS };
        self.admitted.chunks(self.admitted.len().div_ceil(count).max(1)).collect()
    }
}

/// Does this with each part, all at once: the first in this thread, each other in one of its own.
fn at_once<P: Send, T: Send>(parts: Vec<P>, act: impl Fn(P) -> T + Sync) -> Vec<T> {
    let mut parts = parts.into_iter();
    let Some(first) = parts.next() else { return Vec::new() };
    std::thread::scope(|scope| {
        let act = &act;
        let others: Vec<_> = parts.map(|part| scope.spawn(move || act(part))).collect();
        let resume = |panic| std::panic::resume_unwind(panic);
        let first = act(first);
        let others = others.into_iter().map(|part| part.join().unwrap_or_else(resume));
        std::iter::once(first).chain(others).collect()
    })
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
    use crate::base::id::{CountingIds, MemoryId};
    use crate::index::facts::{Described, Marks};
    use crate::model::caller::{Caller, Door};
    use crate::model::memory::SaveMemory;
    use crate::model::workspace::Workspace;
    use commonbook_embed::Embedder as _;
    use commonbook_embed::word_hash::WordHash;

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
        let admits = |number: &Number| number.is_multiple_of(2);
        let admitted: Vec<Number> = (0..18_000).filter(admits).collect();
        let admitted = admitted.as_slice();
        let look = Look { vectors: &vectors, catalog: &catalog, admitted, question: &question };
        let best = |mut scan: Scan| {
            scan.cut(100, &catalog);
            scan.nearest.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            scan
        };
        let (exact, by_signs) = (best(look.exactly(100)), best(look.by_signs(100)));
        assert_eq!((exact.count, by_signs.count), (9_000, 9_000));
        let nearest = |scan: &Scan| scan.nearest.iter().map(|near| near.1).collect::<Vec<_>>();
        assert_eq!(nearest(&exact), nearest(&by_signs));
        assert!(by_signs.nearest.iter().all(|(number, _)| admits(number)));
        assert_eq!(exact.highest, by_signs.highest);
        assert!((exact.lowest - by_signs.lowest).abs() < 0.1);
        assert!((exact.sum - by_signs.sum).abs() / 9_000.0 < 0.05);
        let admitted: &[Number] = &[0, 1, 2, 3, 4, 5, 6];
        let look = Look { vectors: &vectors, catalog: &catalog, admitted, question: &question };
        let (exact, by_signs) = (best(look.exactly(100)), best(look.by_signs(100)));
        assert_eq!(exact.nearest, by_signs.nearest);
        assert_eq!((exact.lowest, exact.count), (by_signs.lowest, by_signs.count));
    }
}
