//! The product of inputs and weights in whole numbers, by the widest instructions that the machine has.
//!
//! Sums of whole numbers are the same in any order, so all machines compute the same results.

use pulp::{Arch, NullaryFnOnce};

/// Rows of weights that one step multiplies with the same inputs.
pub(crate) const BLOCK_ROWS: usize = 32;

/// The weights of a block of rows for two inputs.
pub(crate) type WeightPairs = [[i8; 2]; BLOCK_ROWS];

/// Two inputs of a token.
pub(crate) type InputPair = [i16; 2];

/// Tokens whose sums a step holds at once: as many as the registers of a processor hold.
const STEP_TOKENS: usize = 4;

/// The inputs of some tokens, the rows of a matrix, and the room for the results.
pub(crate) struct Product<'a> {
    /// The inputs, one token after another.
    pub(crate) inputs: &'a [InputPair],
    /// What a step of an input means; one number a token.
    pub(crate) input_scales: &'a [f32],
    /// The weights, one block of rows after another.
    pub(crate) weights: &'a [WeightPairs],
    /// What a step of a weight means; one number a row.
    pub(crate) scales: &'a [f32],
    /// What is added to a result; one number a row.
    pub(crate) shifts: &'a [f32],
    /// The results, one token after another.
    pub(crate) results: &'a mut [f32],
}

impl Product<'_> {
    /// Fills the results.
    pub(crate) fn compute(self) {
        match Arch::new() {
            #[cfg(target_arch = "x86_64")]
            Arch::V4(simd) => simd.vectorize(KernelProduct { kernel: simd, product: self }),
            #[cfg(target_arch = "x86_64")]
            Arch::V3(simd) => simd.vectorize(KernelProduct { kernel: simd, product: self }),
            arch => arch.dispatch(KernelProduct { kernel: PortableKernel, product: self }),
        }
    }

    #[inline(always)]
    fn compute_by(mut self, kernel: impl Kernel) {
        let pairs = self.inputs.len() / self.input_scales.len();
        for (block, weights) in self.weights.chunks_exact(pairs).enumerate() {
            let mut token = 0;
            while token + STEP_TOKENS <= self.input_scales.len() {
                self.step::<STEP_TOKENS>(kernel, weights, block, token);
                token += STEP_TOKENS;
            }
            match self.input_scales.len() - token {
                1 => self.step::<1>(kernel, weights, block, token),
                2 => self.step::<2>(kernel, weights, block, token),
                3 => self.step::<3>(kernel, weights, block, token),
                _ => {}
            }
        }
    }

    /// The results of one block of rows for some tokens.
    #[inline(always)]
    fn step<const TOKENS: usize>(
        &mut self,
        kernel: impl Kernel,
        weights: &[WeightPairs],
        block: usize,
        token: usize,
    ) {
        let pairs = weights.len();
        let inputs = std::array::from_fn(|next| &self.inputs[(token + next) * pairs..][..pairs]);
        let sums = kernel.sums::<TOKENS>(inputs, weights);
        let rows = self.scales.len();
        let first = block * BLOCK_ROWS;
        let end = rows.min(first + BLOCK_ROWS);
        for (next, sums) in sums.iter().enumerate() {
            let input_scale = self.input_scales[token + next];
            let results = &mut self.results[(token + next) * rows..][first..end];
            let weights = self.scales[first..end].iter().zip(&self.shifts[first..end]);
            for ((result, sum), (scale, shift)) in results.iter_mut().zip(sums).zip(weights) {
                *result = *sum as f32 * (scale * input_scale) + shift;
            }
        }
    }
}

/// Lays weights in blocks of rows, of each block two columns at a time; what goes beyond rows and columns is zero.
pub(crate) fn blocks(weights: &[i8], columns: usize) -> Vec<WeightPairs> {
    let rows: Vec<&[i8]> = weights.chunks_exact(columns).collect();
    let mut blocks = Vec::new();
    for rows in rows.chunks(BLOCK_ROWS) {
        blocks.extend((0..columns).step_by(2).map(|column| {
            let weight = |row: usize, column: usize| {
                rows.get(row).and_then(|row| row.get(column)).copied().unwrap_or(0)
            };
            std::array::from_fn(|row| [weight(row, column), weight(row, column + 1)])
        }));
    }
    blocks
}

/// A product by the instructions of one kernel.
struct KernelProduct<'a, K> {
    kernel: K,
    product: Product<'a>,
}

impl<K: Kernel> NullaryFnOnce for KernelProduct<'_, K> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        self.product.compute_by(self.kernel);
    }
}

/// The innermost loop.
trait Kernel: Copy {
    /// Sums the products of the inputs of some tokens with a block of rows.
    fn sums<const TOKENS: usize>(
        self,
        inputs: [&[InputPair]; TOKENS],
        weights: &[WeightPairs],
    ) -> [[i32; BLOCK_ROWS]; TOKENS];
}

#[cfg(target_arch = "x86_64")]
impl Kernel for pulp::x86::V4 {
    #[inline(always)]
    fn sums<const TOKENS: usize>(
        self,
        inputs: [&[InputPair]; TOKENS],
        weights: &[WeightPairs],
    ) -> [[i32; BLOCK_ROWS]; TOKENS] {
        let mut sums = [[self.avx512f._mm512_setzero_si512(); 2]; TOKENS];
        for (index, pairs) in weights.iter().enumerate() {
            let halves: [[[i8; 2]; BLOCK_ROWS / 2]; 2] = bytemuck::cast(*pairs);
            for (half, weights) in halves.into_iter().enumerate() {
                let weights = self.avx512bw._mm512_cvtepi8_epi16(bytemuck::cast(weights));
                for (sums, inputs) in sums.iter_mut().zip(inputs) {
                    let input = self.avx512f._mm512_set1_epi32(bytemuck::cast(inputs[index]));
                    let products = self.avx512bw._mm512_madd_epi16(weights, input);
                    sums[half] = self.avx512f._mm512_add_epi32(sums[half], products);
                }
            }
        }
        sums.map(bytemuck::cast)
    }
}

#[cfg(target_arch = "x86_64")]
impl Kernel for pulp::x86::V3 {
    #[inline(always)]
    fn sums<const TOKENS: usize>(
        self,
        inputs: [&[InputPair]; TOKENS],
        weights: &[WeightPairs],
    ) -> [[i32; BLOCK_ROWS]; TOKENS] {
        let mut all = [[0; BLOCK_ROWS]; TOKENS];
        // Half of the rows at once: all of them do not fit the sixteen registers.
        for half in 0..2 {
            let mut sums = [[self.avx._mm256_setzero_si256(); 2]; TOKENS];
            for (index, pairs) in weights.iter().enumerate() {
                let quarters: [[[[i8; 2]; BLOCK_ROWS / 4]; 2]; 2] = bytemuck::cast(*pairs);
                for (quarter, weights) in quarters[half].into_iter().enumerate() {
                    let weights = self.avx2._mm256_cvtepi8_epi16(bytemuck::cast(weights));
                    for (sums, inputs) in sums.iter_mut().zip(inputs) {
                        let input = self.avx._mm256_set1_epi32(bytemuck::cast(inputs[index]));
                        let products = self.avx2._mm256_madd_epi16(weights, input);
                        sums[quarter] = self.avx2._mm256_add_epi32(sums[quarter], products);
                    }
                }
            }
            for (all, sums) in all.iter_mut().zip(sums) {
                let sums: [i32; BLOCK_ROWS / 2] = bytemuck::cast(sums);
                all[half * BLOCK_ROWS / 2..][..BLOCK_ROWS / 2].copy_from_slice(&sums);
            }
        }
        all
    }
}

/// A loop that the compiler makes wide, on ARM for instance.
#[derive(Debug, Clone, Copy)]
struct PortableKernel;

impl Kernel for PortableKernel {
    #[inline(always)]
    fn sums<const TOKENS: usize>(
        self,
        inputs: [&[InputPair]; TOKENS],
        weights: &[WeightPairs],
    ) -> [[i32; BLOCK_ROWS]; TOKENS] {
        const ROWS: usize = 8;
        let mut all = [[0; BLOCK_ROWS]; TOKENS];
        for first in (0..BLOCK_ROWS).step_by(ROWS) {
            let mut sums = [[0_i32; ROWS]; TOKENS];
            for (index, pairs) in weights.iter().enumerate() {
                let pairs = &pairs[first..first + ROWS];
                for (sums, inputs) in sums.iter_mut().zip(inputs) {
                    let [x, y] = inputs[index].map(i32::from);
                    for (sum, weights) in sums.iter_mut().zip(pairs) {
                        *sum += i32::from(weights[0]) * x + i32::from(weights[1]) * y;
                    }
                }
            }
            for (all, sums) in all.iter_mut().zip(sums) {
                all[first..first + ROWS].copy_from_slice(&sums);
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kernel_counts_like_a_loop() {
        let mut state = 1_u32;
        let mut number = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 16
        };
        // The second has a block that is not full; the last has the greatest sums that there can be.
        for (tokens, columns, rows) in [(1, 2, 32), (7, 64, 45), (4, 384, 64), (6, 1536, 32)] {
            let greatest = columns == 1536;
            let inputs: Vec<i16> = (0..tokens * columns)
                .map(|_| if greatest { -11008 } else { number() as i16 })
                .collect();
            let weights: Vec<i8> =
                (0..rows * columns).map(|_| if greatest { 127 } else { number() as i8 }).collect();
            let mut wanted = Vec::new();
            for inputs in inputs.chunks_exact(columns) {
                for (row, weights) in weights.chunks_exact(columns).enumerate() {
                    let products = inputs.iter().zip(weights);
                    let sum: i32 = products.map(|(a, b)| i32::from(*a) * i32::from(*b)).sum();
                    wanted.push(sum as f32 * 0.5 + row as f32);
                }
            }
            let pairs: Vec<InputPair> = bytemuck::cast_slice(&inputs).to_vec();
            let weights = blocks(&weights, columns);
            let (input_scales, scales) = (vec![0.25; tokens], vec![2.0; rows]);
            let shifts: Vec<f32> = (0..rows).map(|row| row as f32).collect();
            let check = |compute: &dyn Fn(Product<'_>)| {
                let mut results = vec![f32::NAN; tokens * rows];
                compute(Product {
                    inputs: &pairs,
                    input_scales: &input_scales,
                    weights: &weights,
                    scales: &scales,
                    shifts: &shifts,
                    results: &mut results,
                });
                assert_eq!(results, wanted, "{tokens} {columns} {rows}");
            };
            check(&|product| product.compute());
            check(&|product| product.compute_by(PortableKernel));
            #[cfg(target_arch = "x86_64")]
            if let Some(simd) = pulp::x86::V3::try_new() {
                check(&|product| simd.vectorize(KernelProduct { kernel: simd, product }));
            }
        }
    }
}
