//! Controls: the simplest rankings of the same raw texts, which the program's ranking has to beat.
//!
//! BM25 over whole words, and the cosine of the encoder alone; of conversations, also with half of
//! what stands beside each turn. No control knows the store, the index or a rule of the program.

use std::collections::{BTreeMap, HashMap, HashSet};

use commonbook::base::error::Result;
use commonbook_embed::{Embedder, chunks};
use commonbook_text::terms;
use rayon::prelude::*;
use unicode_segmentation::UnicodeSegmentation as _;

use super::dataset::{DataSet, DatasetMemory};
use super::metrics::RankingMetrics;

/// BM25's k1: the saturation of repeated words.
const SATURATION: f64 = 1.2;

/// BM25's b: the penalty of long texts.
const LENGTH_PENALTY: f64 = 0.75;

/// The share that the mean score of the turns beside a turn adds to its own.
const NEIGHBOUR_SHARE: f64 = 0.5;

/// The hits that a control keeps per question.
const CONTROL_HITS: usize = 20;

/// The name of the control below which no figure of the program may be.
pub(super) const BM25: &str = "BM25";

/// The rankings of one control.
#[derive(Debug)]
pub(super) struct ControlRanking {
    /// Its name in tables.
    pub(super) name: &'static str,
    /// The ids of the best memories of each question, best first, in the order of the data.
    ranked: Vec<Vec<String>>,
}

impl ControlRanking {
    /// The mean metrics over the scored questions that the filter takes.
    pub(super) fn metrics(&self, data: &DataSet, category: Option<&str>) -> RankingMetrics {
        let counted = data.questions.iter().zip(&self.ranked).filter(|(question, _)| {
            question.is_scored() && category.is_none_or(|name| question.category == name)
        });
        let each = counted.map(|(question, ranked)| RankingMetrics::of(&question.gold, ranked));
        RankingMetrics::mean(&each.collect::<Vec<_>>())
    }
}

/// Ranks every question of the data by each control; without an embedder by BM25 alone. The controls
/// with neighbours need memories that name sessions.
///
/// # Errors
/// The error of the embedder.
pub(super) fn rank_by_controls(
    data: &DataSet,
    embedder: Option<&dyn Embedder>,
) -> Result<Vec<ControlRanking>> {
    let mut collections: BTreeMap<&str, RawCollection<'_>> = BTreeMap::new();
    for memory in &data.memories {
        collections.entry(&memory.conv).or_default().push_memory(memory);
    }
    let has_sessions = collections.values().any(|collection| !collection.sessions.is_empty());
    let names = [BM25, "BM25, turns beside", "cosine", "cosine, turns beside"];
    let mut rankings = names.map(|name| ControlRanking { name, ranked: Vec::new() });
    let mut scorers = BTreeMap::new();
    for (conv, collection) in &collections {
        let vectors = embedder.map(|embedder| collection.vectors(embedder)).transpose()?;
        scorers.insert(*conv, (ControlWordCounts::of(&collection.texts), vectors));
    }
    for question in &data.questions {
        let collection = &collections[question.conv.as_str()];
        let (words, vectors) = &scorers[question.conv.as_str()];
        let by_words = words.scores(&question.question);
        let by_vector = match (embedder, vectors) {
            (Some(embedder), Some(vectors)) => {
                let asked = embedder.embed_query(&question.question)?;
                vectors.iter().map(|chunks| best_cosine(chunks, &asked)).collect()
            }
            _ => Vec::new(),
        };
        let scores = [
            &by_words,
            &collection.with_neighbours(&by_words),
            &by_vector,
            &collection.with_neighbours(&by_vector),
        ];
        for (ranking, scores) in rankings.iter_mut().zip(scores) {
            ranking.ranked.push(collection.best(scores));
        }
    }
    let is_made = |ranking: &ControlRanking| {
        (embedder.is_some() || ranking.name.starts_with(BM25))
            && (has_sessions || !ranking.name.ends_with("beside"))
    };
    Ok(rankings.into_iter().filter(is_made).collect())
}

/// The memories of a conversation as they were written.
#[derive(Debug, Default)]
struct RawCollection<'d> {
    ids: Vec<&'d str>,
    texts: Vec<&'d str>,
    /// The session of each memory that names one, by its index.
    sessions: HashMap<usize, &'d str>,
}

impl<'d> RawCollection<'d> {
    fn push_memory(&mut self, memory: &'d DatasetMemory) {
        let field = |name: &str| memory.line[name].as_str();
        if let Some(session) = field("session") {
            self.sessions.insert(self.texts.len(), session);
        }
        self.ids.push(field("id").unwrap_or_default());
        self.texts.push(field("text").unwrap_or_default());
    }

    /// The vectors of the chunks of each text.
    fn vectors(&self, embedder: &dyn Embedder) -> Result<Vec<Vec<Vec<f32>>>> {
        let embed = |text: &&str| Ok(embedder.embed(&chunks(text, embedder.chunk_tokens()))?);
        self.texts.par_iter().map(embed).collect()
    }

    /// Each score with half of the mean of those beside it in its session.
    fn with_neighbours(&self, scores: &[f64]) -> Vec<f64> {
        let beside = |index: usize, other: Option<usize>| {
            let other =
                other.filter(|other| self.sessions.get(other) == self.sessions.get(&index))?;
            self.sessions.get(&index).and_then(|_| scores.get(other))
        };
        let score = |(index, own): (usize, &f64)| {
            let near = [beside(index, index.checked_sub(1)), beside(index, Some(index + 1))];
            let near: Vec<f64> = near.into_iter().flatten().copied().collect();
            own + NEIGHBOUR_SHARE * near.iter().sum::<f64>() / near.len().max(1) as f64
        };
        scores.iter().enumerate().map(score).collect()
    }

    /// The ids of the best positive scores, best first; of equal ones the earlier memory first.
    fn best(&self, scores: &[f64]) -> Vec<String> {
        let mut places: Vec<usize> =
            (0..scores.len()).filter(|place| scores[*place] > 0.0).collect();
        places.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
        places.iter().take(CONTROL_HITS).map(|place| self.ids[*place].to_owned()).collect()
    }
}

/// How often each word stands in each text: what BM25 needs.
#[derive(Debug)]
struct ControlWordCounts {
    texts: Vec<HashMap<String, f64>>,
    lengths: Vec<f64>,
    mean_length: f64,
}

impl ControlWordCounts {
    fn of(texts: &[&str]) -> Self {
        let count = |text: &&str| {
            let mut counts: HashMap<String, f64> = HashMap::new();
            control_words(text).for_each(|word| *counts.entry(word).or_default() += 1.0);
            counts
        };
        let texts: Vec<HashMap<String, f64>> = texts.iter().map(count).collect();
        let lengths: Vec<f64> = texts.iter().map(|counts| counts.values().sum()).collect();
        let mean_length = lengths.iter().sum::<f64>() / lengths.len().max(1) as f64;
        Self { texts, lengths, mean_length }
    }

    /// The BM25 score of each text.
    fn scores(&self, question: &str) -> Vec<f64> {
        let mut scores = vec![0.0; self.texts.len()];
        for word in control_words(question).collect::<HashSet<_>>() {
            let having =
                self.texts.iter().filter(|counts| counts.contains_key(&word)).count() as f64;
            let rarity = (1.0 + (self.texts.len() as f64 - having + 0.5) / (having + 0.5)).ln();
            for ((score, counts), length) in scores.iter_mut().zip(&self.texts).zip(&self.lengths) {
                let count = counts.get(&word).copied().unwrap_or_default();
                let norm = 1.0 - LENGTH_PENALTY + LENGTH_PENALTY * length / self.mean_length;
                *score += rarity * count * (SATURATION + 1.0) / (count + SATURATION * norm);
            }
        }
        scores
    }
}

/// The words of a text by Unicode's rules, in lower case, without function words; a Chinese or
/// Japanese character is a word.
fn control_words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.unicode_words().map(str::to_lowercase).filter(|word| !terms::is_function_word(word))
}

/// The cosine of the chunk that is nearest to the question; vectors have length one.
fn best_cosine(chunks: &[Vec<f32>], asked: &[f32]) -> f64 {
    let cosine =
        |chunk: &Vec<f32>| chunk.iter().zip(asked).map(|(a, b)| f64::from(a * b)).sum::<f64>();
    chunks.iter().map(cosine).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use commonbook_embed::word_hash::WordHashEmbedder;
    use serde_json::{Value, json};

    use super::*;

    fn data(memories: &[Value], questions: &[(&str, &str)]) -> DataSet {
        let memory = |line: &Value| DatasetMemory {
            place: String::new(),
            conv: "c".to_owned(),
            line: line.clone(),
        };
        let question = |(text, gold): &(&str, &str)| {
            serde_json::from_value(json!({
                "qid": text, "conv": "c", "gran": "turn", "category": "x", "question": text,
                "gold": [gold],
            }))
            .unwrap()
        };
        DataSet {
            memories: memories.iter().map(memory).collect(),
            questions: questions.iter().map(question).collect(),
            cut: 0,
        }
    }

    fn first(rankings: &[ControlRanking], name: &str) -> Vec<String> {
        let ranking = rankings.iter().find(|ranking| ranking.name == name).unwrap();
        ranking.ranked.iter().map(|ids| ids.first().cloned().unwrap_or_default()).collect()
    }

    #[test]
    fn bm25_prefers_rare_words_and_short_texts() {
        let note = |id: &str, text: &str| json!({"id": id, "text": text});
        let notes = [
            note("rare", "the port of the printer"),
            note("common", "the port is open, the port is shut, a port"),
            note("long", "a port among many other words about nothing of any interest today"),
            note("other", "lunch"),
        ];
        let asked = [("printer port", "rare"), ("which port?", "common"), ("tea", "x")];
        let rankings = rank_by_controls(&data(&notes, &asked), None).unwrap();
        assert_eq!(rankings.len(), 1);
        assert_eq!(first(&rankings, BM25), ["rare", "common", ""]);
        assert_eq!(rankings[0].ranked[1], ["common", "rare", "long"]);
    }

    #[test]
    fn a_turn_has_half_of_the_turns_beside_it_in_its_session_alone() {
        let turn = |id: &str, session: &str, text: &str| json!({"id": id, "session": session, "text": text});
        let turns = [
            turn("day before", "1", "rain"),
            turn("question", "2", "which harbour crane?"),
            turn("answer", "2", "the blue thing"),
            turn("after", "2", "lunch"),
        ];
        let asked = [("harbour crane", "answer")];
        let embedder = WordHashEmbedder::new();
        let rankings = rank_by_controls(&data(&turns, &asked), Some(&embedder)).unwrap();
        assert_eq!(rankings.len(), 4);
        assert_eq!(rankings[0].ranked[0], ["question"]);
        assert_eq!(rankings[1].ranked[0], ["question", "answer"]);
        assert_eq!(first(&rankings, "cosine"), ["question"]);
    }
}
