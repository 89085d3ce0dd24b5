//! The scan of all vectors for the nearest.
//!
//! Up to some ten thousand texts, every vector is compared. Beyond that, all are compared by their
//! signs, an eighth of the bytes, and the nearest of those by their vectors: reading a million
//! whole vectors takes more than twenty milliseconds.

use std::f64::consts::PI;
use std::sync::LazyLock;

use pulp::Arch;

use super::{VectorIndex, VectorSigns};
use crate::base::thread;
use crate::index::facts::{MemoryCatalog, MemoryNumber};
use commonbook_embed::QuantisedVector;
use commonbook_embed::quantised::add_signs;

/// Number of memories from which on a scan uses several threads.
const PARALLEL_MEMORIES_MIN: usize = 20_000;

/// Number of memories up to which every vector is compared.
const EXACT_MEMORIES_MAX: usize = 20_000;

/// Memories compared by vectors after the scan of signs, per memory kept.
const RESCORE_FACTOR: u32 = 20;

/// Steps per unit in which nearness is summed.
const NEARNESS_STEPS: f64 = (1_u64 << 30) as f64;

/// Threads of one scan. Queried once, because the query takes as long as a small scan.
static SCAN_THREADS_MAX: LazyLock<usize> =
    LazyLock::new(|| std::thread::available_parallelism().map_or(1, usize::from).min(8));

/// The nearness of the admitted memories to a question.
#[derive(Debug, Default)]
pub(in crate::index) struct ScanResult {
    /// The nearest memories, unordered.
    pub(in crate::index) nearest: Vec<(MemoryNumber, f32)>,
    /// Number of comparisons, of whole vectors and of signs.
    pub(in crate::index) compared: u64,
    /// The least and the greatest nearness of all, and their sum and number.
    pub(in crate::index) lowest: f32,
    pub(in crate::index) highest: f32,
    pub(in crate::index) sum: f64,
    pub(in crate::index) count: u64,
    /// Memories farther than this are not among the nearest.
    floor: f32,
}

impl ScanResult {
    /// Nothing compared yet.
    pub(in crate::index) fn empty() -> Self {
        Self { lowest: f32::MAX, highest: f32::MIN, floor: f32::MIN, ..Self::default() }
    }

    fn add(&mut self, number: MemoryNumber, near: f32) {
        self.lowest = self.lowest.min(near);
        self.highest = self.highest.max(near);
        // In whole steps, so that the sum does not depend on the order of memories.
        self.sum += (f64::from(near) * NEARNESS_STEPS).round();
        self.count += 1;
        self.compared += 1;
        if near >= self.floor {
            self.nearest.push((number, near));
        }
    }

    /// Both together.
    pub(in crate::index) fn join(mut self, other: Self) -> Self {
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

    /// Keeps only the nearest; among equal ones, the newest.
    fn keep_nearest(&mut self, keep: usize, catalog: &MemoryCatalog) {
        if self.nearest.len() > keep {
            let nearer = |a: &(MemoryNumber, f32), b: &(MemoryNumber, f32)| {
                b.1.total_cmp(&a.1).then_with(|| catalog.compare_times(b.0, a.0))
            };
            self.floor = self.nearest.select_nth_unstable_by(keep - 1, nearer).1.1;
            self.nearest.truncate(keep);
        }
    }
}

/// A scan: what is searched, and for what.
pub(in crate::index) struct VectorScan<'l> {
    pub(in crate::index) vectors: &'l VectorIndex,
    pub(in crate::index) catalog: &'l MemoryCatalog,
    /// The memories that may be found. The course of the scan depends only on these.
    pub(in crate::index) admitted: &'l [MemoryNumber],
    pub(in crate::index) question: &'l QuantisedVector,
}

/// Memories with the number of signs in which each differs from the question.
struct SignDistances {
    each: Vec<(MemoryNumber, u16)>,
    /// Number of memories per distance.
    counts: Vec<u32>,
}

/// Compares the question with every admitted memory that has vectors, and keeps the `keep` nearest.
pub(in crate::index) fn scan(scan: &VectorScan<'_>, keep: usize) -> ScanResult {
    let few = scan.admitted.len() <= EXACT_MEMORIES_MAX;
    let mut result = if few { scan.scan_exactly(keep) } else { scan.scan_by_signs(keep) };
    result.keep_nearest(keep, scan.catalog);
    result
}

impl VectorScan<'_> {
    /// Compares every vector.
    fn scan_exactly(&self, keep: usize) -> ScanResult {
        let parts = thread::for_each_part(self.parallel_parts(), |part| {
            self.compare(keep, part.iter().copied())
        });
        let scan = parts.into_iter().fold(ScanResult::empty(), ScanResult::join);
        ScanResult { sum: scan.sum / NEARNESS_STEPS, ..scan }
    }

    /// Compares the vectors of these memories.
    fn compare(&self, keep: usize, numbers: impl IntoIterator<Item = MemoryNumber>) -> ScanResult {
        let mut scan = ScanResult::empty();
        for number in numbers {
            let Some(rows) = self.catalog.vector_refs.of(number) else { continue };
            scan.add(number, self.vectors.nearness(rows, self.question));
            if scan.nearest.len() >= 4 * keep {
                scan.keep_nearest(keep, self.catalog);
            }
        }
        scan
    }

    /// Compares the vectors of the memories with the nearest signs and with the farthest; the mean
    /// is that of the signs.
    fn scan_by_signs(&self, keep: usize) -> ScanResult {
        let mut question = Vec::new();
        add_signs(&self.question.values, &mut question);
        let signs = self.vectors.signs();
        let most = self.question.values.len();
        // Compiled a second time for processors that count bits in one instruction.
        let apart = |part| Arch::new().dispatch(|| self.sign_distances(part, &signs, &question));
        let parts = thread::for_each_part(self.parallel_parts(), apart);
        let mut far = vec![0; most + 1];
        for part in &parts {
            far.iter_mut().zip(&part.counts).for_each(|(sum, count)| *sum += count);
        }
        let wanted = u32::try_from(keep).unwrap_or(u32::MAX);
        let nearest = distance_limit(far.iter(), RESCORE_FACTOR * wanted);
        let farthest = (most as u32).saturating_sub(distance_limit(far.iter().rev(), wanted));
        let outside = |far: u16| u32::from(far) <= nearest || u32::from(far) >= farthest;
        let compared = thread::for_each_part(parts, |part| {
            let outside = part.each.into_iter().filter(|(_, far)| outside(*far));
            self.compare(keep, outside.map(|(number, _)| number))
        });
        // The angle between two vectors, as a share of π, is the share of signs that differ
        // (Goemans and Williamson 1995, for random directions).
        let cosine = |far: usize| (PI * far as f64 / most as f64).cos();
        let sum = far.iter().enumerate().map(|(far, count)| f64::from(*count) * cosine(far)).sum();
        let count: u64 = far.iter().map(|count| u64::from(*count)).sum();
        let scan = compared.into_iter().fold(ScanResult::empty(), ScanResult::join);
        ScanResult { sum, count, compared: scan.compared + count, ..scan }
    }

    /// The number of differing signs of each admitted memory that has vectors.
    #[inline(always)]
    fn sign_distances(
        &self,
        numbers: &[MemoryNumber],
        signs: &VectorSigns<'_>,
        question: &[u64],
    ) -> SignDistances {
        let most = self.question.values.len() as u32;
        let mut apart = SignDistances {
            each: Vec::with_capacity(numbers.len()),
            counts: vec![0; most as usize + 1],
        };
        for number in numbers {
            let Some(rows) = self.catalog.vector_refs.of(*number) else { continue };
            let far = signs.distance(rows, question).min(most);
            apart.counts[far as usize] += 1;
            apart.each.push((*number, far as u16));
        }
        apart
    }

    /// The memories, split by the number of cores if there are many.
    fn parallel_parts(&self) -> Vec<&[MemoryNumber]> {
        let count = if self.admitted.len() < PARALLEL_MEMORIES_MIN { 1 } else { *SCAN_THREADS_MAX };
        self.admitted.chunks(self.admitted.len().div_ceil(count).max(1)).collect()
    }
}

/// The number of steps after which `wanted` are counted; all steps if there are fewer.
fn distance_limit<'c>(counts: impl Iterator<Item = &'c u32>, wanted: u32) -> u32 {
    let within = counts.scan(0, |sum, count| {
        *sum += count;
        Some(*sum)
    });
    u32::try_from(within.take_while(|within| *within < wanted).count()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::{CompactionMode, EmbeddedText, write_batch};
    use super::*;
    use crate::base::id::{CountingIds, MemoryId};
    use crate::index::facts::{MemoryDescription, TextSignals, WordLengths};
    use crate::model::caller::{Caller, EntryPoint};
    use crate::model::memory::SaveMemory;
    use crate::model::memory::Sharing;
    use crate::model::workspace::Workspace;
    use commonbook_embed::Embedder as _;
    use commonbook_embed::word_hash::WordHashEmbedder;

    /// Memories that share one to nine words with the question, two thousand of each.
    fn filled(folder: &std::path::Path, model: &WordHashEmbedder) -> (MemoryCatalog, VectorIndex) {
        let (ids, now) = (CountingIds::default(), jiff::Timestamp::UNIX_EPOCH);
        let caller = Caller::new(None, Workspace::fallback(), EntryPoint::Cli);
        let texts = (0..18_000).map(|n| {
            let shared: String = (0..=n % 9).map(|word| format!("word{word} ")).collect();
            let own: String = (0..9 - n % 9).map(|word| format!("own{n}x{word} ")).collect();
            shared + &own
        });
        let mut catalog = MemoryCatalog::default();
        let (mut batch, mut fingerprints) = (Vec::new(), Vec::new());
        for (text, sequence) in texts.zip(1..) {
            let request = SaveMemory { text, ..SaveMemory::default() };
            let memory =
                request.memory(&caller, Sharing::Shared, MemoryId::new(&ids, now), now).unwrap();
            let lengths = WordLengths { head: 0, body: 9 };
            let described =
                MemoryDescription::of(&memory, sequence, lengths, TextSignals::default());
            let vector = model.embed_query(&memory.text).unwrap();
            let chunks = vec![QuantisedVector::of(&vector)];
            let fingerprint = described.facts.fingerprint;
            batch.push(EmbeddedText { fingerprint, chunks, words: Vec::new() });
            fingerprints.push(described.facts.fingerprint);
            catalog.put(described, None);
        }
        write_batch(folder, model.spec().dimension, &batch, &CompactionMode::Stay).unwrap();
        let vectors = VectorIndex::open(folder, model.spec().dimension).unwrap();
        catalog.link_vectors(&vectors, true);
        (catalog, vectors)
    }

    #[test]
    fn the_scan_by_signs_finds_the_nearest() {
        let folder = tempfile::tempdir().unwrap();
        let model = WordHashEmbedder::new();
        let (catalog, vectors) = filled(folder.path(), &model);
        let words: String = (0..9).map(|word| format!("word{word} ")).collect();
        let question = QuantisedVector::of(&model.embed_query(&words).unwrap());
        let admits = |number: &MemoryNumber| number.is_multiple_of(2);
        let admitted: Vec<MemoryNumber> = (0..18_000).filter(admits).collect();
        let admitted = admitted.as_slice();
        let scan =
            VectorScan { vectors: &vectors, catalog: &catalog, admitted, question: &question };
        let best = |mut scan: ScanResult| {
            scan.keep_nearest(100, &catalog);
            scan.nearest.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            scan
        };
        let (exact, by_signs) = (best(scan.scan_exactly(100)), best(scan.scan_by_signs(100)));
        assert_eq!((exact.count, by_signs.count), (9_000, 9_000));
        let nearest =
            |scan: &ScanResult| scan.nearest.iter().map(|near| near.1).collect::<Vec<_>>();
        assert_eq!(nearest(&exact), nearest(&by_signs));
        assert!(by_signs.nearest.iter().all(|(number, _)| admits(number)));
        assert_eq!(exact.highest, by_signs.highest);
        assert!((exact.lowest - by_signs.lowest).abs() < 0.1);
        assert!((exact.sum - by_signs.sum).abs() / 9_000.0 < 0.05);
        let admitted: &[MemoryNumber] = &[0, 1, 2, 3, 4, 5, 6];
        let scan =
            VectorScan { vectors: &vectors, catalog: &catalog, admitted, question: &question };
        let (exact, by_signs) = (best(scan.scan_exactly(100)), best(scan.scan_by_signs(100)));
        assert_eq!(exact.nearest, by_signs.nearest);
        assert_eq!((exact.lowest, exact.count), (by_signs.lowest, by_signs.count));
    }
}
