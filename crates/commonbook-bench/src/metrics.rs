//! Ranking metrics (recall, hits, MRR, nDCG), their intervals, and percentiles.

use std::collections::HashSet;

use fastrand::Rng;
use serde::Serialize;

/// Depth of MRR and nDCG.
const RANKING_DEPTH: usize = 10;

/// How often questions are drawn anew for an interval, and the seed of the draws: two runs print the same.
const DRAWS: usize = 1_000;
const DRAW_SEED: u64 = 7;

/// The metrics of a ranking, or their mean over questions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(super) struct RankingMetrics {
    /// Share of the right memories among the first 5.
    #[serde(rename = "R@5")]
    pub(super) recall_5: f64,
    /// Share of the right memories among the first 10.
    #[serde(rename = "R@10")]
    pub(super) recall_10: f64,
    /// Whether the first is right.
    #[serde(rename = "Hit@1")]
    pub(super) hit_1: f64,
    /// Whether one of the first 5 is right.
    #[serde(rename = "Hit@5")]
    pub(super) hit_5: f64,
    /// Whether all right memories are among the first 10.
    #[serde(rename = "All@10")]
    pub(super) all_10: f64,
    /// Reciprocal rank of the first right one, 0 beyond 10.
    #[serde(rename = "MRR")]
    pub(super) mrr: f64,
    /// Normalised discounted cumulative gain of the first 10, with binary relevance.
    #[serde(rename = "nDCG@10")]
    pub(super) ndcg: f64,
}

impl RankingMetrics {
    /// The names, in the order of [`RankingMetrics::figures`].
    pub(super) const NAMES: [&str; 7] =
        ["R@5", "R@10", "Hit@1", "Hit@5", "All@10", "MRR", "nDCG@10"];

    /// The metrics of a ranking with at least one right memory. Of duplicates, the first rank
    /// counts.
    pub(super) fn of(gold: &[String], ranked: &[String]) -> Self {
        let gold: HashSet<&str> = gold.iter().map(String::as_str).collect();
        let mut seen = HashSet::new();
        let hits: Vec<bool> = ranked
            .iter()
            .filter(|id| seen.insert(id.as_str()))
            .map(|id| gold.contains(id.as_str()))
            .collect();
        let among = |k: usize| hits.iter().take(k).filter(|hit| **hit).count() as f64;
        let any = |k: usize| f64::from(u8::from(among(k) > 0.0));
        let gain = |place: usize| 1.0 / (place as f64 + 2.0).log2();
        let first = hits.iter().take(RANKING_DEPTH).position(|hit| *hit);
        let gained = hits.iter().take(RANKING_DEPTH).enumerate().filter(|(_, hit)| **hit);
        let best: f64 = (0..gold.len().min(RANKING_DEPTH)).map(gain).sum();
        Self {
            recall_5: among(5) / gold.len() as f64,
            recall_10: among(10) / gold.len() as f64,
            hit_1: any(1),
            hit_5: any(5),
            all_10: f64::from(u8::from(among(10) >= gold.len() as f64)),
            mrr: first.map_or(0.0, |place| 1.0 / (place as f64 + 1.0)),
            ndcg: gained.map(|(place, _)| gain(place)).sum::<f64>() / best,
        }
    }

    /// The mean over questions; zero without questions.
    pub(super) fn mean(all: &[Self]) -> Self {
        let mean =
            |part: fn(&Self) -> f64| all.iter().map(part).sum::<f64>() / all.len().max(1) as f64;
        Self {
            recall_5: mean(|metrics| metrics.recall_5),
            recall_10: mean(|metrics| metrics.recall_10),
            hit_1: mean(|metrics| metrics.hit_1),
            hit_5: mean(|metrics| metrics.hit_5),
            all_10: mean(|metrics| metrics.all_10),
            mrr: mean(|metrics| metrics.mrr),
            ndcg: mean(|metrics| metrics.ndcg),
        }
    }

    /// The figures, in the order of [`RankingMetrics::NAMES`].
    pub(super) fn figures(&self) -> [f64; 7] {
        [self.recall_5, self.recall_10, self.hit_1, self.hit_5, self.all_10, self.mrr, self.ndcg]
    }

    /// The ends of the 95 % intervals of the means, by bootstrap over questions: the lower ends, and the upper
    /// ones.
    pub(super) fn interval(all: &[Self]) -> [[f64; 7]; 2] {
        let mut random = Rng::with_seed(DRAW_SEED);
        let draws = std::iter::repeat_with(|| {
            let drawn = (0..all.len()).filter_map(|_| random.choice(all).copied());
            Self::mean(&drawn.collect::<Vec<_>>()).figures()
        });
        let means: Vec<[f64; 7]> = draws.take(DRAWS).collect();
        let end = |percent: f64| {
            std::array::from_fn(|figure| {
                let column: Vec<f64> = means.iter().map(|mean| mean[figure]).collect();
                percentile(&column, percent)
            })
        };
        [end(2.5), end(97.5)]
    }
}

/// The percentile of measured times, without interpolation; 0 without times.
pub(super) fn percentile(times: &[f64], percent: f64) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    let place = (percent / 100.0 * last as f64).round_ties_even() as usize;
    sorted.get(place.min(last)).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn metrics_follow_their_definitions() {
        let log = f64::log2;
        let table = [
            ("a", "a", [1.0; 7]),
            ("a", "", [0.0; 7]),
            ("a", "x y z", [0.0; 7]),
            (
                "a b",
                "x a y b",
                [1.0, 1.0, 0.0, 1.0, 1.0, 0.5, {
                    (1.0 / log(3.0) + 1.0 / log(5.0)) / (1.0 + 1.0 / log(3.0))
                }],
            ),
            // The second `a` does not count: `b` has rank 2.
            ("a b", "a a b", [1.0; 7]),
            // A duplicate in the gold list counts once.
            ("a a", "a", [1.0; 7]),
            (
                "a b",
                "1 2 3 4 5 a 7 8 9 b",
                [0.0, 1.0, 0.0, 0.0, 1.0, 1.0 / 6.0, {
                    (1.0 / log(7.0) + 1.0 / log(11.0)) / (1.0 + 1.0 / log(3.0))
                }],
            ),
            // Ranks beyond 10 do not count.
            ("a", "1 2 3 4 5 6 7 8 9 10 a", [0.0; 7]),
        ];
        for (gold, ranked, expected) in table {
            let found = RankingMetrics::of(&ids(gold), &ids(ranked)).figures();
            let near = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12);
            assert!(near, "{gold} in {ranked}: {found:?} instead of {expected:?}");
        }
    }

    #[test]
    fn more_right_memories_than_ranks_can_still_score_fully() {
        let gold: Vec<String> = (0..20).map(|n| n.to_string()).collect();
        let found = RankingMetrics::of(&gold, &gold);
        assert_eq!((found.recall_5, found.recall_10, found.ndcg), (0.25, 0.5, 1.0));
        assert_eq!(found.all_10, 0.0, "ten ranks hold no twenty");
    }

    #[test]
    fn a_mean_is_over_questions() {
        let (one, none) = (RankingMetrics::of(&ids("a"), &ids("a")), RankingMetrics::default());
        assert_eq!(RankingMetrics::mean(&[one, none, none, none]).figures(), [0.25; 7]);
        assert_eq!(RankingMetrics::mean(&[]), none);
    }

    #[test]
    fn an_interval_is_around_its_mean_and_narrower_with_more_questions() {
        let (one, none) = (RankingMetrics::of(&ids("a"), &ids("a")), RankingMetrics::default());
        let width = |count: usize| {
            let all: Vec<_> = (0..count).map(|n| if n % 2 == 0 { one } else { none }).collect();
            let [low, high] = RankingMetrics::interval(&all);
            assert!(low[0] < 0.5 && 0.5 < high[0], "{low:?} {high:?}");
            high[0] - low[0]
        };
        // The normal one: 1.96 × √(.25 / n) on each side.
        assert!((width(100) - 0.196).abs() < 0.04 && width(400) < width(100));
        assert_eq!(RankingMetrics::interval(&[one; 9]), [[1.0; 7]; 2]);
        assert_eq!(RankingMetrics::interval(&[]), [[0.0; 7]; 2]);
    }

    #[test]
    fn percentiles_are_measured_times() {
        let times = [4.0, 1.0, 3.0, 2.0];
        // Ranks 1.5, 2.85 and 3: halves round to even.
        let found = [50.0, 95.0, 100.0].map(|percent| percentile(&times, percent));
        assert_eq!(found, [3.0, 4.0, 4.0]);
        assert_eq!(percentile(&[1.0, 2.0], 50.0), 1.0);
        assert_eq!(percentile(&[], 50.0), 0.0);
    }
}
