//! The scan of all vectors for the nearest ones.

use super::Vectors;
use crate::embedding::Quantised;
use crate::index::catalog::{Catalog, Number};

/// Memories from which on a scan is worth several threads.
const PARALLEL: usize = 20_000;

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
}

impl Scan {
    fn empty() -> Self {
        Self { lowest: f32::MAX, highest: f32::MIN, ..Self::default() }
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
    fn cut(&mut self, keep: usize) -> f32 {
        if self.nearest.len() <= keep {
            return f32::MIN;
        }
        let (_, least, _) =
            self.nearest.select_nth_unstable_by(keep - 1, |a, b| b.1.total_cmp(&a.1));
        let least = least.1;
        self.nearest.truncate(keep);
        least
    }
}

/// Compares the question with every admitted memory that has vectors; keeps the `keep` nearest.
pub(in crate::index) fn scan(
    (vectors, catalog): (&Vectors, &Catalog),
    admits: &(dyn Fn(Number) -> bool + Sync),
    question: &Quantised,
    keep: usize,
) -> Scan {
    let all = Number::try_from(catalog.entries.len()).unwrap_or(Number::MAX);
    let stretch = |from: Number, until: Number| {
        let mut scan = Scan::empty();
        let mut floor = f32::MIN;
        for number in from..until {
            let Some(rows) = catalog.links.of(number) else { continue };
            if !admits(number) {
                continue;
            }
            let near = vectors.nearness(rows, question);
            scan.lowest = scan.lowest.min(near);
            scan.highest = scan.highest.max(near);
            scan.sum += f64::from(near);
            scan.count += 1;
            if near > floor {
                scan.nearest.push((number, near));
                if scan.nearest.len() >= 4 * keep {
                    floor = scan.cut(keep);
                }
            }
        }
        scan
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(8);
    let mut scan = if (all as usize) < PARALLEL || threads == 1 {
        stretch(0, all)
    } else {
        let share = all.div_ceil(threads as Number);
        std::thread::scope(|scope| {
            let stretch = &stretch;
            let parts: Vec<_> = (0..threads as Number)
                .map(|part| (part * share, ((part + 1) * share).min(all)))
                .map(|(from, until)| scope.spawn(move || stretch(from, until)))
                .collect();
            let parts = parts.into_iter().map(|part| part.join().unwrap_or_else(|_| Scan::empty()));
            parts.fold(Scan::empty(), Scan::join)
        })
    };
    scan.cut(keep);
    scan
}
