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

    /// Rounds a matrix to bytes.
    pub(crate) fn rounded(numbers: &[f32], columns: usize) -> Self {
        let (scales, steps) = rounded_rows(numbers, columns);
        Self::new(scales, steps.into())
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

/// Rounds each row of a matrix to steps of its greatest number, and returns the size of a step of each row and the steps.
pub(crate) fn rounded_rows(numbers: &[f32], columns: usize) -> (Vec<f32>, Vec<i8>) {
    let mut scales = Vec::with_capacity(numbers.len() / columns);
    let mut steps = Vec::with_capacity(numbers.len());
    for row in numbers.chunks_exact(columns) {
        let greatest = row.iter().fold(0.0_f32, |top, number| top.max(number.abs()));
        let scale = if greatest > 0.0 { greatest / f32::from(i8::MAX) } else { 1.0 };
        scales.push(scale);
        steps.extend(row.iter().map(|number| (number / scale).round_ties_even() as i8));
    }
    (scales, steps)
}
