//! Phrases: the documents that contain words in sequence.

use tantivy::index::InvertedIndexReader;
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet, TERMINATED, Term};

use crate::base::error::Result;
use crate::index::budget::SearchMeter;
use crate::index::damage::index_damage;

/// A word of a phrase, with its postings in one field of one segment.
struct PhraseWord {
    list: SegmentPostings,
    /// Its offsets in the phrase.
    offsets: Vec<u32>,
    /// Its positions in the present document.
    positions: Vec<u32>,
}

impl PhraseWord {
    /// Moves to this document, or to the next one that contains the word.
    fn seek(&mut self, document: DocId, meter: &SearchMeter<'_>) -> Result<DocId> {
        if self.list.doc() < document {
            meter.postings(1)?;
            self.list.seek(document);
        }
        Ok(self.list.doc())
    }

    fn read_positions(&mut self, meter: &SearchMeter<'_>) -> Result<()> {
        meter.positions(u64::from(self.list.term_freq()))?;
        self.list.positions(&mut self.positions);
        Ok(())
    }

    /// Whether the word stands at each of its offsets in a phrase that begins here.
    fn fits(&self, begin: u32) -> bool {
        let stands = |offset: &u32| self.positions.binary_search(&(begin + offset)).is_ok();
        self.offsets.iter().all(stands)
    }
}

/// A phrase in one field of one segment, among the words of one audience.
pub(super) struct PhraseMatcher {
    /// Each distinct word, rarest first.
    words: Vec<PhraseWord>,
}

impl PhraseMatcher {
    /// The phrase of these words; `None` if one of them does not occur.
    pub(super) fn of(
        segment: &InvertedIndexReader,
        field: Field,
        key: &str,
        phrase: &[String],
        meter: &SearchMeter<'_>,
    ) -> Result<Option<Self>> {
        let mut words: Vec<(&str, PhraseWord)> = Vec::new();
        for (offset, word) in (0..).zip(phrase) {
            if let Some((_, earlier)) = words.iter_mut().find(|(earlier, _)| earlier == word) {
                earlier.offsets.push(offset);
                continue;
            }
            meter.term()?;
            let term = Term::from_field_text(field, &format!("{key}{word}"));
            let list = segment.read_postings(&term, IndexRecordOption::WithFreqsAndPositions);
            let Some(list) = list.map_err(|error| index_damage().with_cause(error))? else {
                return Ok(None);
            };
            words.push((word, PhraseWord { list, offsets: vec![offset], positions: Vec::new() }));
        }
        words.sort_by_key(|(_, word)| word.list.size_hint());
        Ok(Some(Self { words: words.into_iter().map(|(_, word)| word).collect() }))
    }

    /// Calls `each` for every document that contains the phrase.
    pub(super) fn each(
        &mut self,
        meter: &SearchMeter<'_>,
        mut found: impl FnMut(DocId),
    ) -> Result<()> {
        let Some((rarest, others)) = self.words.split_first_mut() else { return Ok(()) };
        let mut document = rarest.list.doc();
        while document != TERMINATED {
            meter.postings(1)?;
            let mut next = document;
            for word in others.iter_mut() {
                next = word.seek(document, meter)?;
                if next != document {
                    break;
                }
            }
            if next != document {
                document = rarest.list.seek(next);
                continue;
            }
            if matches_document(rarest, others, meter)? {
                found(document);
            }
            document = rarest.list.advance();
        }
        Ok(())
    }
}

/// Whether the present document of all words contains them in sequence.
fn matches_document(
    rarest: &mut PhraseWord,
    others: &mut [PhraseWord],
    meter: &SearchMeter<'_>,
) -> Result<bool> {
    rarest.read_positions(meter)?;
    for word in others.iter_mut() {
        word.read_positions(meter)?;
    }
    let first = rarest.offsets.first().copied().unwrap_or(0);
    let mut begins = rarest.positions.iter().filter_map(|position| position.checked_sub(first));
    Ok(begins.any(|begin| rarest.fits(begin) && others.iter().all(|word| word.fits(begin))))
}
