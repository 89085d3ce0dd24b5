//! Arithmetic of 32-bit numbers, each step in a fixed order: the results are the same on every machine.
//!
//! The compiler makes the loops wide, which [`pulp::Arch::dispatch`] compiles for several generations of processors.

use std::array::from_fn;

use pulp::Arch;

/// Numbers that a loop computes at once, and sums of a row that are added up last.
pub(crate) const LANES: usize = 16;

/// Rows that [`multiply`] computes at once.
const STEP_ROWS: usize = 4;

/// Scale and shift of numbers that have been brought to mean zero and variance one.
#[derive(Debug)]
pub(crate) struct Normalisation {
    pub(crate) scale: Vec<f32>,
    pub(crate) shift: Vec<f32>,
    /// What is added to the variance.
    pub(crate) epsilon: f32,
}

impl Normalisation {
    /// Normalises each row.
    pub(crate) fn apply(&self, rows: &mut [f32]) {
        Arch::new().dispatch(|| {
            for row in rows.chunks_exact_mut(self.scale.len()) {
                self.apply_to(row);
            }
        });
    }

    #[inline(always)]
    fn apply_to(&self, row: &mut [f32]) {
        let count = row.len() as f32;
        let mean = sum(row, |x| x) / count;
        let variance = sum(row, |x| (x - mean) * (x - mean)) / count;
        let stretch = 1.0 / (variance + self.epsilon).sqrt();
        for ((x, scale), shift) in row.iter_mut().zip(&self.scale).zip(&self.shift) {
            *x = (*x - mean) * stretch * scale + shift;
        }
    }
}

/// Sums the terms of a row.
#[inline(always)]
fn sum(row: &[f32], term: impl Fn(f32) -> f32) -> f32 {
    let (chunks, rest) = row.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for chunk in chunks {
        sums = from_fn(|lane| sums[lane] + term(chunk[lane]));
    }
    for (sum, x) in sums.iter_mut().zip(rest) {
        *sum += term(*x);
    }
    sums.iter().sum()
}

/// Adds numbers to numbers.
pub(crate) fn add(to: &mut [f32], numbers: &[f32]) {
    to.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += number);
}

/// The mean of the rows, brought to length one.
pub(crate) fn unit_mean(rows: &[f32], columns: usize) -> Vec<f32> {
    let mut sums = vec![0.0; columns];
    rows.chunks_exact(columns).for_each(|row| add(&mut sums, row));
    unit(sums)
}

/// Brings a vector to length one; a vector of zeros stays.
pub(crate) fn unit(mut vector: Vec<f32>) -> Vec<f32> {
    let length = sum(&vector, |x| x * x).sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|x| *x /= length);
    }
    vector
}

/// Applies GELU, by the error function and not by its approximation with a tangent.
pub(crate) fn gelu(numbers: &mut [f32]) {
    Arch::new().dispatch(|| numbers.iter_mut().for_each(|x| *x = gelu_of(*x)));
}

#[inline(always)]
fn gelu_of(x: f32) -> f32 {
    0.5 * x * (1.0 + erf(x * std::f32::consts::FRAC_1_SQRT_2))
}

/// The error function, to 2e-7: formula 7.1.26 of Abramowitz and Stegun, Handbook of Mathematical Functions (1964).
#[inline(always)]
fn erf(x: f32) -> f32 {
    let size = x.abs();
    let t = 1.0 / (1.0 + 0.327_591_1 * size);
    let series = t
        * (0.254_829_6
            + t * (-0.284_496_72 + t * (1.421_413_8 + t * (-1.453_152_1 + t * 1.061_405_4))));
    (1.0 - series * exp(-size * size)).copysign(x)
}

/// The exponential function, to 1e-7 of the result; numbers below -87 count as -87, those above 87 as 87.
///
/// `e^x = 2^n · e^r` with a whole `n` and `r` of at most half of `ln 2`, whose exponential is the sum of eight terms.
#[inline(always)]
fn exp(x: f32) -> f32 {
    const WHOLE: f32 = (3 << 22) as f32;
    // ln 2 in two parts, the first of few bits, so that its product with a whole number is exact.
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    let x = x.clamp(-87.0, 87.0);
    let shifted = x * std::f32::consts::LOG2_E + WHOLE;
    let whole = shifted - WHOLE;
    let r = x - whole * LN_2_HIGH - whole * LN_2_LOW;
    let series = 1.0 / 120.0 + r * (1.0 / 720.0 + r * (1.0 / 5040.0));
    let series = 1.0 + r * (1.0 + r * (0.5 + r * (1.0 / 6.0 + r * (1.0 / 24.0 + r * series))));
    let power = shifted.to_bits().wrapping_sub(WHOLE.to_bits()).wrapping_add(127) << 23;
    series * f32::from_bits(power)
}

/// Makes weights of the scores in each row: all positive, with the sum one. Of a row, the first `count` are scores; the
/// others become zero.
pub(crate) fn softmax(rows: &mut [f32], columns: usize, count: usize) {
    Arch::new().dispatch(|| {
        for row in rows.chunks_exact_mut(columns) {
            let (scores, rest) = row.split_at_mut(count);
            rest.fill(0.0);
            let greatest = scores.iter().fold(f32::MIN, |top, score| top.max(*score));
            scores.iter_mut().for_each(|score| *score = exp(*score - greatest));
            let stretch = 1.0 / sum(scores, |x| x);
            scores.iter_mut().for_each(|score| *score *= stretch);
        }
    });
}

/// Multiplies two matrices: `left` has rows of `inner` numbers, `right` has `inner` rows of `columns` numbers, a multiple of
/// [`LANES`].
pub(crate) fn multiply(left: &[f32], inner: usize, right: &[f32], columns: usize) -> Vec<f32> {
    let mut results = vec![0.0; left.len() / inner * columns];
    Arch::new().dispatch(|| {
        let steps = left.chunks(STEP_ROWS * inner).zip(results.chunks_mut(STEP_ROWS * columns));
        for (left, results) in steps {
            match left.len() / inner {
                1 => multiply_rows::<1>(left, inner, right, columns, results),
                2 => multiply_rows::<2>(left, inner, right, columns, results),
                3 => multiply_rows::<3>(left, inner, right, columns, results),
                _ => multiply_rows::<STEP_ROWS>(left, inner, right, columns, results),
            }
        }
    });
    results
}

#[inline(always)]
fn multiply_rows<const ROWS: usize>(
    left: &[f32],
    inner: usize,
    right: &[f32],
    columns: usize,
    results: &mut [f32],
) {
    let (right, _) = right.as_chunks::<LANES>();
    let left: [&[f32]; ROWS] = from_fn(|row| &left[row * inner..][..inner]);
    let width = columns / LANES;
    for chunk in 0..width {
        let mut sums = [[0.0; LANES]; ROWS];
        for index in 0..inner {
            let right = &right[index * width + chunk];
            for (sums, left) in sums.iter_mut().zip(left) {
                let x = left[index];
                *sums = from_fn(|lane| sums[lane] + x * right[lane]);
            }
        }
        for (row, sums) in sums.iter().enumerate() {
            results[row * columns + chunk * LANES..][..LANES].copy_from_slice(sums);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_those_of_the_library() {
        for step in -1000..=1000 {
            let x = step as f32 / 25.0;
            let wanted = f64::from(x).exp();
            let error = (f64::from(exp(x)) - wanted).abs() / wanted;
            assert!(error < 4e-7, "exp {x}: {error}");
        }
        assert!(exp(-1000.0) < 1e-37 && exp(1000.0).is_finite());
        // The values of tables.
        for (x, wanted) in [(0.0, 0.0), (0.5, 0.520_499_9), (1.0, 0.842_700_8), (2.0, 0.995_322_3)]
        {
            assert!((erf(x) - wanted).abs() < 3e-7, "erf {x}");
            assert!((erf(-x) + wanted).abs() < 3e-7, "erf -{x}");
        }
        for (x, wanted) in [(1.0, 0.841_344_7), (-1.0, -0.158_655_3), (6.0, 6.0), (-9.0, 0.0)] {
            assert!((gelu_of(x) - wanted).abs() < 1e-6, "gelu {x}");
        }
    }

    #[test]
    fn rows_become_weights() {
        let mut rows = [1.0, 1.0, 9.0, 0.0, 100.0, 9.0];
        softmax(&mut rows, 3, 2);
        assert_eq!(rows, [0.5, 0.5, 0.0, exp(-100.0), 1.0, 0.0]);
    }

    #[test]
    fn matrices_are_multiplied() {
        for rows in 1..=9 {
            let left: Vec<f32> = (0..rows * 3).map(|x| x as f32).collect();
            let right: Vec<f32> = (0..3 * 32).map(|x| x as f32).collect();
            let results = multiply(&left, 3, &right, 32);
            for row in 0..rows {
                for column in 0..32 {
                    let wanted: f32 = (0..3)
                        .map(|index| left[row * 3 + index] * right[index * 32 + column])
                        .sum();
                    assert_eq!(results[row * 32 + column], wanted);
                }
            }
        }
    }

    #[test]
    fn rows_are_normalised() {
        let normalisation =
            Normalisation { scale: vec![1.0, 2.0, 1.0], shift: vec![0.0, 0.0, 5.0], epsilon: 0.0 };
        let mut rows = [1.0, 2.0, 3.0];
        normalisation.apply(&mut rows);
        let side = 1.5_f32.sqrt();
        assert!((rows[0] + side).abs() < 1e-6 && rows[1] == 0.0);
        assert!((rows[2] - 5.0 - side).abs() < 1e-6);
        assert_eq!(unit(vec![3.0, 4.0]), [0.6, 0.8]);
        assert_eq!(unit(vec![0.0, 0.0]), [0.0, 0.0]);
        assert_eq!(unit_mean(&[0.0, 1.0, 0.0, 3.0], 2), [0.0, 1.0]);
    }
}
