//! Quantised vectors: one byte or one bit a number, and their comparison.

use serde::{Deserialize, Serialize};
use simsimd::SpatialSimilarity as _;

/// A vector of length one with one byte a number.
///
/// The greatest number becomes 127 or -127, the others in proportion. `scale` brings the bytes back
/// to length one, so the cosine of a vector with itself is one. Cosines of 384 numbers differ from
/// the exact ones by less than 0.01.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QuantisedVector {
    /// One divided by the length of `values`; zero if all values are zero.
    pub scale: f32,
    /// The numbers, from -127 to 127.
    pub values: Vec<i8>,
}

impl QuantisedVector {
    /// Rounds a vector of any length to bytes. Numbers that are not finite count as zero.
    #[must_use]
    pub fn of(vector: &[f32]) -> Self {
        let finite = |x: f32| if x.is_finite() { x } else { 0.0 };
        let greatest = vector.iter().fold(0.0_f32, |top, x| top.max(finite(*x).abs()));
        let stretch = if greatest > 0.0 { 127.0 / f64::from(greatest) } else { 0.0 };
        // Half away from zero, as `round` does it, which calls into libm on older machines.
        let rounded = |x: f64| (x + 0.5_f64.copysign(x)) as i8;
        let byte = |x: &f32| rounded(f64::from(finite(*x)) * stretch);
        let values: Vec<i8> = vector.iter().map(byte).collect();
        Self { scale: scale(&values), values }
    }

    /// Returns the cosine of two vectors, from -1 to 1; `None` if their dimensions differ.
    #[must_use]
    pub fn cosine(&self, other: &Self) -> Option<f32> {
        Some(dot(&self.values, &other.values)? * self.scale * other.scale)
    }

    /// Returns the values as bytes, for a column of a database; [`QuantisedVector::from_bytes`]
    /// reads them.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.values.iter().map(|value| value.cast_unsigned()).collect()
    }

    /// Creates a vector from its values as bytes; the scale follows from the values.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let values: Vec<i8> = bytes.iter().map(|byte| byte.cast_signed()).collect();
        Self { scale: scale(&values), values }
    }

    /// Returns the vector as floats, of length one.
    #[must_use]
    pub fn to_vector(&self) -> Vec<f32> {
        self.values.iter().map(|value| f32::from(*value) * self.scale).collect()
    }
}

/// Returns one divided by the length of the values, or zero if all values are zero.
#[must_use]
pub fn scale(values: &[i8]) -> f32 {
    match dot(values, values) {
        Some(square) if square > 0.0 => square.sqrt().recip(),
        _ => 0.0,
    }
}

/// Returns the dot product of the bytes of two vectors, for multiplication with both scales; `None`
/// if their lengths differ. For scans over vectors that are contiguous in memory.
#[must_use]
#[inline]
pub fn dot(a: &[i8], b: &[i8]) -> Option<f32> {
    i8::dot(a, b).map(|product| product as f32)
}

/// Appends the signs of a vector to `all`: one bit a number, the first number in the lowest bit, set
/// for a negative number. 384 numbers are 6 words; zeros fill the last word.
pub fn add_signs(values: &[i8], all: &mut Vec<u64>) {
    all.extend(values.chunks(64).map(|values| {
        let (eights, rest) = values.as_chunks::<8>();
        let mut signs = 0;
        for (index, eight) in eights.iter().enumerate() {
            let bytes: &[u8; 8] = bytemuck::cast_ref(eight);
            // One multiplication collects the highest bit of each byte.
            let highest = u64::from_le_bytes(*bytes) >> 7 & 0x0101_0101_0101_0101;
            signs |= (highest.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * index);
        }
        for (bit, value) in (8 * eights.len()..).zip(rest) {
            signs |= u64::from(*value < 0) << bit;
        }
        signs
    }));
}

/// Counts the signs that differ between two vectors of one dimension. Cheap: a first selection among
/// very many vectors, before the cosines of the nearest.
#[must_use]
#[inline(always)]
pub fn differing_signs(a: &[u64], b: &[u64]) -> u32 {
    a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn unit(vector: &[f32]) -> Vec<f32> {
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        vector.iter().map(|x| x / length).collect()
    }

    proptest! {
        #[test]
        fn cosines_survive(
            a in prop::collection::vec(-1.0_f32..1.0, 384),
            b in prop::collection::vec(-1.0_f32..1.0, 384),
        ) {
            let (a, b) = (unit(&a), unit(&b));
            let exact: f32 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
            let (qa, qb) = (QuantisedVector::of(&a), QuantisedVector::of(&b));
            prop_assert!((qa.cosine(&qb).unwrap() - exact).abs() < 0.01);
            prop_assert!((qa.cosine(&qa).unwrap() - 1.0).abs() < 1e-6);
            prop_assert_eq!(&QuantisedVector::from_bytes(&qa.to_bytes()), &qa);
            let back: f32 = qa.to_vector().iter().zip(&a).map(|(x, y)| x * y).sum();
            prop_assert!(back > 0.999);
        }

        #[test]
        fn the_library_counts_like_a_loop(
            pairs in prop::collection::vec((any::<i8>(), any::<i8>()), 0..1000),
        ) {
            let (a, b): (Vec<i8>, Vec<i8>) = pairs.into_iter().unzip();
            let sum: i32 = a.iter().zip(&b).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum();
            let sum = sum as f32;
            prop_assert_eq!(dot(&a, &b), Some(sum));
            let signs = |values: &[i8]| {
                let mut all = Vec::new();
                add_signs(values, &mut all);
                all
            };
            let apart = a.iter().zip(&b).filter(|(a, b)| (**a < 0) != (**b < 0)).count();
            prop_assert_eq!(differing_signs(&signs(&a), &signs(&b)) as usize, apart);
        }
    }

    #[test]
    fn corners() {
        let zero = QuantisedVector::of(&[0.0, f32::NAN, f32::INFINITY]);
        assert_eq!(zero.values, [0, 0, 0]);
        assert_eq!(zero.cosine(&zero), Some(0.0));
        assert_eq!(QuantisedVector::of(&[1.0]).cosine(&QuantisedVector::of(&[1.0, 0.0])), None);
        assert_eq!(QuantisedVector::of(&[]).values, [0_i8; 0]);
        assert_eq!(QuantisedVector::of(&[-0.5, 0.25, 0.0]).values, [-127, 64, 0]);
        assert_eq!(QuantisedVector::of(&[f32::MIN_POSITIVE / 8.0]).values, [127]);
        let signs = |values: &[i8]| {
            let mut all = Vec::new();
            add_signs(values, &mut all);
            all
        };
        assert_eq!(signs(&[1, -1, 0, -128, 0, 0, 0, -3, -1]), [0b1_1000_1010]);
        assert_eq!(signs(&[-1; 384]), [u64::MAX; 6]);
        assert_eq!(signs(&[-1; 65]), [u64::MAX, 1]);
        for place in 0..64 {
            let mut values = [0_i8; 64];
            values[place] = -7;
            assert_eq!(signs(&values), [1 << place]);
        }
    }
}
