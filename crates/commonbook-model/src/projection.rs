//! The projection of the bundled model's states: 384 numbers of a piece to 64, of which the signs tell words apart.
//!
//! `make_projection.py` writes `projection.bin`.

use std::sync::LazyLock;

use crate::bundled::DIMENSION;

/// Numbers of a projected state.
pub const PROJECTED_DIMENSION: usize = 64;

const BYTES: &[u8; DIMENSION * PROJECTED_DIMENSION + 2 * 4 * PROJECTED_DIMENSION] =
    include_bytes!("projection.bin");

static PROJECTION: LazyLock<StateProjection> = LazyLock::new(StateProjection::bundled);

/// A matrix of bytes, with a scale and a centre for each column.
struct StateProjection {
    rows: &'static [[i8; PROJECTED_DIMENSION]],
    scales: Vec<f32>,
    centres: Vec<f32>,
}

impl StateProjection {
    /// The matrix row by row, then the scales, then the centres.
    fn bundled() -> Self {
        let (rows, numbers) = BYTES.split_at(DIMENSION * PROJECTED_DIMENSION);
        let numbers = numbers.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
        let scales = numbers.clone().take(PROJECTED_DIMENSION).collect();
        let centres = numbers.skip(PROJECTED_DIMENSION).collect();
        Self { rows: bytemuck::cast_slice(rows), scales, centres }
    }
}

/// Projects a state of the bundled model. The projected mean of states is the mean of the projected ones; around 0, and of any
/// length.
///
/// # Panics
/// If the state has another count of numbers than the bundled model's.
#[must_use]
pub fn project(state: &[f32]) -> [f32; PROJECTED_DIMENSION] {
    assert_eq!(state.len(), DIMENSION, "the projection is of the bundled model");
    let projection = &*PROJECTION;
    let mut sums = [0.0; PROJECTED_DIMENSION];
    for (number, row) in state.iter().zip(projection.rows) {
        sums.iter_mut().zip(row).for_each(|(sum, step)| *sum += number * f32::from(*step));
    }
    for ((sum, scale), centre) in sums.iter_mut().zip(&projection.scales).zip(&projection.centres) {
        *sum = *sum * scale - centre;
    }
    sums
}
