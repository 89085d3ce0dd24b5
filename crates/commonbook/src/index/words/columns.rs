//! The facts of one segment from tantivy's columns.

use std::fmt::Debug;

use tantivy::SegmentReader;
use tantivy::columnar::{Column, StrColumn};

use super::NUMBER_FIELDS;
use crate::base::error::Result;
use crate::index::damage::index_damage;
use crate::index::facts::segment_file::{PackedFacts, SegmentFile};

/// Documents whose facts are read at once: reading one by one takes several times as long.
const BLOCK_DOCUMENTS: u32 = 1024;

/// The text columns: a document has at most one value of each of the first three.
const TEXT_COLUMN_NAMES: [&str; 4] = ["class", "session", "case", "topic"];

/// The segment file of a segment, built from its columns.
pub(super) fn read_columns(segment: &SegmentReader) -> Result<SegmentFile> {
    let facts = segment.fast_fields();
    let text = |name: &&str| facts.str(name).map_err(|error| index_damage().with_cause(error));
    let columns: Vec<Option<StrColumn>> =
        TEXT_COLUMN_NAMES.iter().map(text).collect::<Result<_>>()?;
    let columns: [Option<StrColumn>; 4] = columns.try_into().map_err(|_| index_damage())?;
    let mut texts: [Vec<String>; 4] = Default::default();
    for (texts, column) in texts.iter_mut().zip(&columns) {
        *texts = distinct_texts(column.as_ref())?;
    }
    let numbers: Vec<Column<u64>> =
        NUMBER_FIELDS.iter().map(|number| facts.u64(number)).collect::<tantivy::Result<_>>()?;
    let times = [facts.i64("from")?, facts.i64("until")?];
    let [class, session, case, topic] = columns.each_ref().map(Option::as_ref);
    let (mut topics, mut rows) = (Vec::new(), Vec::new());
    for begin in (0..segment.max_doc()).step_by(BLOCK_DOCUMENTS as usize) {
        let documents: Vec<u32> = (begin..segment.max_doc().min(begin + BLOCK_DOCUMENTS)).collect();
        let mut block: Vec<Vec<Option<u64>>> =
            numbers.iter().map(|column| first_values(column, &documents)).collect();
        block.extend(times.iter().map(|column| {
            let values = first_values(column, &documents).into_iter();
            values.map(|value| value.map(i64::cast_unsigned)).collect()
        }));
        for (place, document) in documents.into_iter().enumerate() {
            topics.extend(text_ordinals(topic, document));
            let first = |column| text_ordinals(column, document).next();
            let end =
                u32::try_from(topics.len()).map_err(|error| index_damage().with_cause(error))?;
            let class = first(class).ok_or_else(index_damage)?;
            let [session, case] =
                [session, case].map(|column| first(column).map_or(0, |place| place + 1));
            let mut numbers = PackedFacts::default();
            for (number, values) in numbers.iter_mut().zip(&block) {
                *number = values[place].ok_or_else(index_damage)?;
            }
            rows.push((numbers, [class, session, case, end]));
        }
    }
    SegmentFile::of(segment, &texts, &topics, &rows)
}

/// The first value of each of these documents.
fn first_values<T: PartialOrd + Copy + Debug + Send + Sync + 'static>(
    column: &Column<T>,
    documents: &[u32],
) -> Vec<Option<T>> {
    let mut values = vec![None; documents.len()];
    column.first_vals(documents, &mut values);
    values
}

/// The distinct texts of a column, in the order of their ordinals.
fn distinct_texts(column: Option<&StrColumn>) -> Result<Vec<String>> {
    let Some(column) = column else { return Ok(Vec::new()) };
    let mut texts = Vec::with_capacity(column.num_terms());
    let mut terms =
        column.dictionary().stream().map_err(|error| index_damage().with_cause(error))?;
    while terms.advance() {
        texts.push(String::from_utf8_lossy(terms.key()).into_owned());
    }
    Ok(texts)
}

/// The ordinals of a document's texts.
fn text_ordinals(column: Option<&StrColumn>, document: u32) -> impl Iterator<Item = u32> {
    let ordinals = column.into_iter().flat_map(move |column| column.term_ords(document));
    ordinals.map(|ordinal| u32::try_from(ordinal).unwrap_or(u32::MAX))
}
