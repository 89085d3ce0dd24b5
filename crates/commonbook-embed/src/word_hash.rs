//! Vectors from the words alone, by a random projection: no model, for tests and benches.

use super::{Embedder, ModelSpec, normalise_vector, refuse_blank};
use crate::error::EmbedResult;

/// Numbers of a vector; as many as the bundled model has.
const VECTOR_DIMENSION: usize = 384;

/// An embedder without a model: each word has 384 signs drawn from its hash, and the vector of a
/// text is the sum over its words, scaled to length one.
///
/// Texts that share words have similar vectors, other texts nearly orthogonal ones (cosine
/// 0 ± 0.05); meaning, order and endings do not count. The vectors are equal on every machine; a
/// second suffices for more than 100,000 short texts. Benches use it in place of a model.
#[derive(Debug, Clone)]
pub struct WordHashEmbedder {
    spec: ModelSpec,
}

impl WordHashEmbedder {
    /// Creates the embedder.
    #[must_use]
    pub fn new() -> Self {
        let spec = ModelSpec {
            model: "word-hash".into(),
            revision: "1".into(),
            dimension: VECTOR_DIMENSION,
        };
        Self { spec }
    }

    fn vector(&self, text: &str) -> EmbedResult<Vec<f32>> {
        let mut sums = [0_i16; VECTOR_DIMENSION];
        let mut words = 0;
        for word in text.split(|sign: char| !sign.is_alphanumeric()).filter(|w| !w.is_empty()) {
            add_signs(word_hash(word), &mut sums);
            words += 1;
        }
        if words == 0 {
            add_signs(word_hash(text.trim()), &mut sums);
        }
        let sums: Vec<f32> = sums.iter().map(|sum| f32::from(*sum)).collect();
        // The words cancel in all of the 384 numbers only if their count is even; then any unit
        // vector will do.
        match sums.iter().all(|sum| *sum == 0.0) {
            true => normalise_vector(&self.spec, unit_vector()),
            false => normalise_vector(&self.spec, sums),
        }
    }
}

impl Default for WordHashEmbedder {
    fn default() -> Self {
        Self::new()
    }
}

impl Embedder for WordHashEmbedder {
    fn spec(&self) -> &ModelSpec {
        &self.spec
    }

    fn embed(&self, texts: &[String]) -> EmbedResult<Vec<Vec<f32>>> {
        refuse_blank(texts)?;
        texts.iter().map(|text| self.vector(text)).collect()
    }

    fn batch(&self) -> usize {
        4096
    }

    fn chunk_tokens(&self) -> usize {
        112
    }
}

fn unit_vector() -> Vec<f32> {
    let mut vector = vec![0.0; VECTOR_DIMENSION];
    vector[0] = 1.0;
    vector
}

/// FNV-1a over the word in lower case: written out, because the hash of the standard library may change.
fn word_hash(word: &str) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for sign in word.chars().flat_map(char::to_lowercase) {
        hash = (hash ^ u64::from(u32::from(sign))).wrapping_mul(0x0000_0100_0000_01b3);
    }
    hash
}

/// The signs of each byte, the lowest bit first.
const SIGNS: [[i16; 8]; 256] = signs();

const fn signs() -> [[i16; 8]; 256] {
    let mut table = [[-1; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                table[byte][bit] = 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    table
}

/// Adds 384 signs drawn from a seed, by SplitMix64 (Steele, Lea, Flood 2014).
fn add_signs(mut seed: u64, sums: &mut [i16; VECTOR_DIMENSION]) {
    for block in sums.as_chunks_mut::<64>().0 {
        seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^= bits >> 31;
        for (eight, byte) in block.as_chunks_mut::<8>().0.iter_mut().zip(bits.to_le_bytes()) {
            for (sum, sign) in eight.iter_mut().zip(SIGNS[usize::from(byte)]) {
                *sum = sum.saturating_add(sign);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{cosine, keeps_the_laws};
    use super::*;

    #[test]
    fn laws() {
        keeps_the_laws(&WordHashEmbedder::new());
    }

    #[test]
    fn shared_words_are_nearness() {
        let model = WordHashEmbedder::new();
        let vector = |text: &str| model.embed_query(text).unwrap();
        let question = vector("where is the SQLite file");
        let near = vector("The sqlite file is in the home folder.");
        let far = vector("Bananas ripen faster next to apples");
        assert!(cosine(&question, &near) > 0.4);
        assert!(cosine(&question, &far).abs() < 0.25);
        assert_eq!(vector("One, TWO!"), vector("two one"));
    }

    #[test]
    fn vectors_never_change() {
        let vector = WordHashEmbedder::new().embed_query("commonbook").unwrap();
        let signs: String = vector[..16].iter().map(|x| if *x > 0.0 { '+' } else { '-' }).collect();
        assert_eq!(signs, "--+-++-+---++--+");
    }
}
