//! Rows of bytes that are looked up one at a time: the vectors of words and of positions.

use std::borrow::Cow;

/// A matrix of bytes with a scale for each row.
#[derive(Debug)]
pub(crate) struct RowTable {
    scales: Vec<f32>,
    steps: Cow<'static, [i8]>,
}

impl RowTable {
    /// Creates the table of as many rows as there are scales.
    pub(crate) fn new(scales: Vec<f32>, steps: Cow<'static, [i8]>) -> Self {
        assert_eq!(steps.len() % scales.len(), 0, "all rows are of one length");
        Self { scales, steps }
    }

    pub(crate) fn rows(&self) -> usize {
        self.scales.len()
    }

    /// The numbers of a row.
    pub(crate) fn row(&self, index: usize) -> impl Iterator<Item = f32> {
        let columns = self.steps.len() / self.scales.len();
        let scale = self.scales[index];
        self.steps[index * columns..][..columns].iter().map(move |step| f32::from(*step) * scale)
    }
}

/// The vectors of all words of a vocabulary, in chunks: they do not fit one crate.
#[derive(Debug)]
pub(crate) struct WordTable {
    chunks: Vec<RowTable>,
}

impl WordTable {
    /// Joins chunks of which each but the last has the same count of rows.
    pub(crate) fn new(chunks: Vec<RowTable>) -> Self {
        Self { chunks }
    }

    /// The vector of a word.
    pub(crate) fn row(&self, token: u32) -> impl Iterator<Item = f32> {
        let (index, rows) = (token as usize, self.chunks[0].rows());
        self.chunks[index / rows].row(index % rows)
    }
}
