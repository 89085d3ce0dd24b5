//! The SQL of searching by words, on FTS5.

use super::SqliteTransaction;
use super::access::{SEEN, SightParams};
use super::memory::{FILTER, FilterParams, from_row};
use crate::access::Sight;
use crate::error::Result;
use crate::memory::Memory;
use crate::search::WordSearch;

/// Weights of title, topics, summary and text in BM25.
const WEIGHTS: &str = "2.0, 2.0, 1.5, 1.0";

/// Milliseconds of a day.
const DAY: &str = "86400000.0";

impl SqliteTransaction<'_> {
    pub(super) fn search_words(
        &self,
        sight: &Sight,
        search: &WordSearch,
    ) -> Result<(Vec<(f64, Memory)>, u64)> {
        if search.words.is_empty() {
            return Ok((Vec::new(), 0));
        }
        // Sight and filters stand where the matches are counted and ranked: no limit comes before
        // them. The rows themselves are fetched for the page alone.
        let sql = format!(
            "WITH found AS MATERIALIZED ( \
                 SELECT m.number AS number, \
                        commonbook_score(-bm25(memory_words, {WEIGHTS}), m.importance, \
                                         (:now - m.revised_at) / {DAY}) AS score \
                 FROM memory_words JOIN memory m ON m.number = memory_words.rowid \
                 WHERE memory_words MATCH :words AND {SEEN} AND {FILTER} \
                       AND m.superseded_by IS NULL), \
             page AS (SELECT number, score FROM found \
                      ORDER BY score DESC, number DESC LIMIT :limit OFFSET :offset) \
             SELECT page.score, (SELECT count(*) FROM found) AS total, m.* \
             FROM page JOIN memory m ON m.number = page.number \
             ORDER BY page.score DESC, m.number DESC"
        );
        let words = any_of(&search.words);
        let now = search.now.as_millisecond();
        let (seen, filter) = (SightParams::of(sight), FilterParams::of(&search.filter));
        let mut params = seen.with(&filter.list());
        params.push((":words", &words));
        params.push((":now", &now));
        params.push((":limit", &search.limit));
        params.push((":offset", &search.offset));
        let rows = self.all(&sql, &*params, |row| {
            Ok((row.get::<_, u64>("total")?, (row.get("score")?, from_row(row)?)))
        })?;
        let total = match rows.first() {
            Some((total, _)) => *total,
            // A page beyond the last hit has no row that could tell the total; the first one has.
            None if search.offset > 0 => {
                let first = WordSearch { offset: 0, limit: 1, ..search.clone() };
                self.search_words(sight, &first)?.1
            }
            None => 0,
        };
        Ok((rows.into_iter().map(|(_, hit)| hit).collect(), total))
    }
}

/// The words as an FTS5 query that any of them satisfies; quoted, so that none is an operator.
fn any_of(words: &[String]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    quoted.join(" OR ")
}
