//! The vocabulary `o200k` as a table that is searched in place: a program starts without unpacking
//! or building anything.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// The output of `tools/o200k.py`: for each length the number of tokens of that length, then those
/// tokens in the order of their bytes, each followed by its rank.
const TOKEN_TABLE: &[u8] = include_bytes!("o200k.bin");

/// Bytes of the longest token: a run of blanks.
const TOKEN_BYTES_MAX: usize = 128;

/// Bytes of a rank.
const RANK_BYTES: usize = 3;

/// The offset of the tokens of each length in the table, and the end of the longest ones.
const LENGTH_STARTS: [usize; TOKEN_BYTES_MAX + 2] = length_starts();

const fn length_starts() -> [usize; TOKEN_BYTES_MAX + 2] {
    let mut starts = [TOKEN_BYTES_MAX * 4; TOKEN_BYTES_MAX + 2];
    let mut length = 1;
    while length <= TOKEN_BYTES_MAX {
        let at = (length - 1) * 4;
        let count = u32::from_le_bytes([
            TOKEN_TABLE[at],
            TOKEN_TABLE[at + 1],
            TOKEN_TABLE[at + 2],
            TOKEN_TABLE[at + 3],
        ]);
        starts[length + 1] = starts[length] + count as usize * (length + RANK_BYTES);
        length += 1;
    }
    assert!(starts[TOKEN_BYTES_MAX + 1] == TOKEN_TABLE.len(), "the table ends with its last token");
    starts
}

/// Tokens up to this many bytes are compared as numbers, which is faster than byte by byte.
const SHORT_TOKEN_BYTES_MAX: usize = 16;

/// The rank of a token: a lower rank is joined earlier.
fn rank(token: &[u8]) -> Option<u32> {
    match token.len() {
        0 => None,
        length @ 1..=SHORT_TOKEN_BYTES_MAX => {
            let wanted = token.iter().fold(0, |sum, byte| sum << 8 | u128::from(*byte));
            // Longer rows follow, so that enough bytes follow each short one.
            let number = |at: usize| {
                let first: Option<&[u8; SHORT_TOKEN_BYTES_MAX]> = TOKEN_TABLE[at..].first_chunk();
                first.map_or(0, |bytes| {
                    u128::from_be_bytes(*bytes) >> (8 * (SHORT_TOKEN_BYTES_MAX - length))
                })
            };
            find_rank(length, |at| number(at).cmp(&wanted))
        }
        length @ ..=TOKEN_BYTES_MAX => {
            find_rank(length, |at| TOKEN_TABLE[at..at + length].cmp(token))
        }
        _ => None,
    }
}

/// The rank of the token of this length whose row is equal.
fn find_rank(length: usize, order: impl Fn(usize) -> Ordering) -> Option<u32> {
    let row = length + RANK_BYTES;
    let (mut low, mut high) = (0, (LENGTH_STARTS[length + 1] - LENGTH_STARTS[length]) / row);
    while low < high {
        let middle = usize::midpoint(low, high);
        let at = LENGTH_STARTS[length] + middle * row;
        match order(at) {
            Ordering::Less => low = middle + 1,
            Ordering::Greater => high = middle,
            Ordering::Equal => {
                let rank = &TOKEN_TABLE[at + length..];
                return Some(u32::from_le_bytes([rank[0], rank[1], rank[2], 0]));
            }
        }
    }
    None
}

/// The end of a part that was joined to the one before it.
const JOINED_PART: usize = usize::MAX;

/// The length in bytes of each token of a piece, in order.
///
/// Of all neighbours that make a token together, those of the lowest rank are joined first, and
/// among equal ones the leftmost, until none are left (byte-pair encoding).
pub(super) fn token_lengths(piece: &[u8]) -> Vec<usize> {
    if piece.len() == 1 || rank(piece).is_some() {
        return vec![piece.len()];
    }
    // The end of the part that begins at each byte, and the beginning of the part that ends there.
    let mut ends: Vec<usize> = (1..=piece.len()).collect();
    let mut begins: Vec<usize> = (0..=piece.len()).map(|end| end.saturating_sub(1)).collect();
    let mut pairs = BinaryHeap::new();
    let pair = |begin: usize, middle: usize, end: usize| {
        rank(&piece[begin..end]).map(|rank| Reverse((rank, begin, middle, end)))
    };
    pairs.extend((2..=piece.len()).filter_map(|end| pair(end - 2, end - 1, end)));
    while let Some(Reverse((_, begin, middle, end))) = pairs.pop() {
        if ends[begin] != middle || middle == piece.len() || ends[middle] != end {
            continue;
        }
        (ends[begin], ends[middle], begins[end]) = (end, JOINED_PART, begin);
        if begin > 0 {
            pairs.extend(pair(begins[begin], begin, end));
        }
        if end < piece.len() {
            pairs.extend(pair(begin, end, ends[end]));
        }
    }
    let mut lengths = Vec::new();
    let mut begin = 0;
    while begin < piece.len() {
        lengths.push(ends[begin] - begin);
        begin = ends[begin];
    }
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_holds_every_token_in_order() {
        let mut ranks = vec![false; 199_998];
        for length in 1..=TOKEN_BYTES_MAX {
            let rows = TOKEN_TABLE[LENGTH_STARTS[length]..LENGTH_STARTS[length + 1]]
                .chunks(length + RANK_BYTES);
            let words: Vec<&[u8]> = rows.map(|row| &row[..length]).collect();
            assert!(words.is_sorted(), "{length}");
            for word in words {
                ranks[rank(word).expect("it is there") as usize] = true;
            }
        }
        assert!(ranks.into_iter().all(|found| found));
        assert_eq!((rank(b"\xff\xff\xff"), rank(b""), rank(&[b'x'; 129])), (None, None, None));
    }
}
