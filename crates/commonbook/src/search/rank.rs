//! Ranking: how well a memory answers a question, as a pure function of what is known of both.

use crate::memory::Importance;

/// How much a second and a third occurrence of a word count for less (BM25's k1).
const SATURATION: f64 = 1.2;

/// How much longer texts are held against them (BM25's b).
const LENGTH: f64 = 0.4;

/// How much more a word counts in title, topics, summary and author than in the text.
const HEAD: f64 = 2.0;

/// What BM25 asks of the memories that a question may be answered by.
#[derive(Debug, Clone, PartialEq)]
pub struct Statistics {
    /// How many memories there are.
    pub memories: f64,
    /// Words of a memory on average, weighted as [`weight`] does.
    pub length: f64,
}

/// Words of a memory, those of its head counting for more.
#[must_use]
pub fn weight(head: u64, body: u64) -> f64 {
    HEAD * head as f64 + body as f64
}

impl Statistics {
    /// How much a word tells that stands in so many of the memories: BM25's inverse document
    /// frequency, which is never negative (Lucene's form).
    #[must_use]
    pub fn rarity(&self, having: f64) -> f64 {
        (1.0 + (self.memories - having + 0.5).max(0.5) / (having + 0.5)).ln()
    }

    /// BM25 of one word without its rarity: how strongly a memory of this length is about it.
    #[must_use]
    pub fn strength(&self, occurrences: f64, length: f64) -> f64 {
        let relative = length / self.length.max(1.0);
        let norm = SATURATION * (1.0 - LENGTH + LENGTH * relative);
        occurrences * (SATURATION + 1.0) / (occurrences + norm)
    }
}

/// A memory's worth, raised a little when it matters more than usual and when it is fresh.
///
/// The factors are mild on purpose: a critical memory of today stands at most a quarter above an
/// old ordinary one that matches as well, and never above one that matches clearly better.
#[must_use]
pub fn raised(score: f64, importance: Importance, age_days: f64) -> f64 {
    let weight = match importance {
        Importance::Low => 0.95,
        Importance::Normal => 1.0,
        Importance::High => 1.05,
        Importance::Critical => 1.1,
    };
    // Half of the bonus is gone after 30 days.
    let freshness = (-age_days.max(0.0) * std::f64::consts::LN_2 / 30.0).exp();
    score * weight * (1.0 + 0.1 * freshness)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn importance_and_freshness_raise_a_score_mildly() {
        let plain = raised(10.0, Importance::Normal, 365.0);
        assert!(raised(10.0, Importance::High, 365.0) > plain);
        assert!(raised(10.0, Importance::Normal, 0.0) > plain);
        assert!(raised(10.0, Importance::Low, 365.0) < plain);
        assert!(raised(10.0, Importance::Critical, 0.0) < plain * 1.25);
        assert!(raised(10.0, Importance::Normal, -5.0).is_finite());
    }
}
