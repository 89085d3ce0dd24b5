//! A linear step of the network: a matrix of bytes with a scale and a shift for each row.

use std::borrow::Cow;
use std::ops::Range;

use crate::product::{self, BLOCK_ROWS, InputPair, Product, WeightPairs};
use crate::rows::rounded_rows;

/// The greatest step of a weight.
const WEIGHT_STEPS_MAX: usize = i8::MAX as usize;

/// A matrix, and a shift of each result.
#[derive(Debug)]
pub(crate) struct Linear {
    columns: usize,
    scales: Vec<f32>,
    shifts: Vec<f32>,
    weights: Cow<'static, [WeightPairs]>,
}

impl Linear {
    /// Creates the step from weights in blocks of rows, each with two columns at a time. Rows of the last block beyond the
    /// scales count for nothing.
    pub(crate) fn new(
        columns: usize,
        scales: Vec<f32>,
        shifts: Vec<f32>,
        weights: Cow<'static, [WeightPairs]>,
    ) -> Self {
        let blocks = scales.len().div_ceil(BLOCK_ROWS);
        assert_eq!(weights.len(), blocks * columns.div_ceil(2), "the weights fill their blocks");
        Self { columns, scales, shifts, weights }
    }

    /// Rounds a matrix to bytes, in blocks; there are as many rows as shifts.
    pub(crate) fn rounded(numbers: &[f32], columns: usize, shifts: Vec<f32>) -> Self {
        let (scales, steps) = rounded_rows(numbers, columns);
        Self::new(columns, scales, shifts, product::blocks(&steps, columns).into())
    }

    pub(crate) fn rows(&self) -> usize {
        self.scales.len()
    }

    /// Multiplies the results of these rows.
    pub(crate) fn stretch(&mut self, rows: Range<usize>, factor: f32) {
        self.scales[rows.clone()].iter_mut().for_each(|scale| *scale *= factor);
        self.shifts[rows].iter_mut().for_each(|shift| *shift *= factor);
    }

    /// The results for the inputs of all tokens, one token after another.
    pub(crate) fn apply(&self, inputs: &[f32]) -> Vec<f32> {
        let tokens = inputs.len() / self.columns;
        let (inputs, input_scales) = rounded_inputs(inputs, self.columns);
        let mut results = vec![0.0; tokens * self.rows()];
        Product {
            inputs: &inputs,
            input_scales: &input_scales,
            weights: &self.weights,
            scales: &self.scales,
            shifts: &self.shifts,
            results: &mut results,
        }
        .compute();
        results
    }
}

/// Rounds the inputs of each token to steps of their greatest, and returns the pairs of steps and the size of a step.
///
/// A step is as fine as 32 bits for the sum of a row allow: 16 bits instead of the weights' eight, at the same speed.
fn rounded_inputs(inputs: &[f32], columns: usize) -> (Vec<InputPair>, Vec<f32>) {
    let steps_max = (i32::MAX as usize / (WEIGHT_STEPS_MAX * columns)).min(i16::MAX as usize);
    let mut pairs = Vec::with_capacity(inputs.len().div_ceil(2));
    let mut scales = Vec::with_capacity(inputs.len() / columns);
    for row in inputs.chunks_exact(columns) {
        let greatest = row.iter().fold(0.0_f32, |top, input| top.max(input.abs()));
        let stretch = if greatest > 0.0 { steps_max as f32 / greatest } else { 0.0 };
        let step = |input: f32| rounded(input * stretch);
        let (twos, last) = row.as_chunks::<2>();
        pairs.extend(twos.iter().map(|two| two.map(step)));
        pairs.extend(last.iter().map(|input| [step(*input), 0]));
        scales.push(greatest / steps_max as f32);
    }
    (pairs, scales)
}

/// Rounds a number from -32767 to 32767, half to even: added to this number, a fraction has no bits left.
fn rounded(number: f32) -> i16 {
    const WHOLE: f32 = (3 << 22) as f32;
    (number + WHOLE).to_bits() as i16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_rounded_half_to_even() {
        for (number, whole) in [
            (0.0, 0),
            (0.5, 0),
            (1.5, 2),
            (-0.5, 0),
            (-1.5, -2),
            (-0.51, -1),
            (32767.0, 32767),
            (-32767.0, -32767),
        ] {
            assert_eq!(rounded(number), whole, "{number}");
        }
        assert_eq!(rounded_inputs(&[0.0; 3], 3), (vec![[0, 0]; 2], vec![0.0]));
        let (pairs, scales) = rounded_inputs(&[1.0, -2.0, 0.5], 3);
        assert_eq!(pairs, [[16384, -32767], [8192, 0]]);
        assert_eq!(scales, [2.0 / 32767.0]);
    }
}
