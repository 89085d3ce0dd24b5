//! Blocks: keys under which nearly equal names meet, so that a registry need not compare them all.
//!
//! A name is cut into one piece more than letters may differ, and one more again; two pieces then
//! stay whole, and at a place that the lengths of the two names tell. An entity is filed under
//! each two of its pieces: 3 keys up to 11 letters, where one letter may differ, and 6 beyond,
//! where two may. A name is looked up under the two pieces that an entity of each possible length
//! would have in common with it: at most 9 keys of short names and 42 of long ones. Together with
//! the first two letters, which always agree, two pieces are half of a name or more, so that few
//! other names share them. An index on (workspace, key) is all that a store needs.

use super::{ComparableName, EDITS_MAX, NAME_LETTERS_MAX};

/// Letters below which a single slip is more than the likeness allows.
const ONE_EDIT_LETTERS_MIN: usize = 6;
/// Letters from which on two may differ.
const TWO_EDITS_LETTERS_MIN: usize = 12;

/// The keys that an entity of this name is filed under; none where only the exact name finds it.
#[must_use]
pub fn keys(name: &ComparableName) -> Vec<String> {
    let letters: Vec<char> = name.letters.chars().collect();
    if !is_filed(name, letters.len()) {
        return Vec::new();
    }
    let pieces = piece_count(letters.len());
    let pairs = (0..pieces).flat_map(|i| (i + 1..pieces).map(move |j| (i, j)));
    let piece =
        |place| &letters[piece_start(place, letters.len())..piece_start(place + 1, letters.len())];
    pairs
        .map(|(i, j)| piece_key(name, letters.len(), i, j, &letters[..2], piece(i), piece(j)))
        .collect()
}

/// The keys under which entities are filed whose names are nearly this one; each once.
#[must_use]
pub fn probes(name: &ComparableName) -> Vec<String> {
    let letters: Vec<char> = name.letters.chars().collect();
    let length = letters.len();
    let mut probes = Vec::new();
    if !is_filed(name, length) {
        return probes;
    }
    for other in length.saturating_sub(EDITS_MAX).max(ONE_EDIT_LETTERS_MIN)..=length + EDITS_MAX {
        let allowed = allowed_edits(length.max(other));
        if length.abs_diff(other) > allowed {
            continue;
        }
        let shift = length.cast_signed() - other.cast_signed();
        for ((i, j), shifts) in shared_pieces(piece_count(other), shift) {
            let at = |piece: usize, by: isize| {
                let from = piece_start(piece, other).checked_add_signed(by)?;
                let to = piece_start(piece + 1, other).checked_add_signed(by)?;
                letters.get(from..to)
            };
            let (Some(one), Some(two)) = (at(i, shifts.0), at(j, shifts.1)) else {
                continue;
            };
            probes.push(piece_key(name, other, i, j, &letters[..2], one, two));
        }
    }
    probes.sort_unstable();
    probes.dedup();
    probes
}

fn is_filed(name: &ComparableName, letters: usize) -> bool {
    !name.exact && (ONE_EDIT_LETTERS_MIN..=NAME_LETTERS_MAX).contains(&letters)
}

/// How many letters of the longer name may differ at a likeness of 0.85.
fn allowed_edits(longer: usize) -> usize {
    (longer * 15 / 100).min(EDITS_MAX)
}

/// Into how many pieces a name of this length is cut.
fn piece_count(length: usize) -> usize {
    if length < TWO_EDITS_LETTERS_MIN { 3 } else { 4 }
}

/// Where a piece of a name of this length begins.
fn piece_start(piece: usize, length: usize) -> usize {
    piece * length / piece_count(length)
}

/// Which two pieces of an entity's name can stay whole, and by how many letters each is shifted in
/// a name that is longer by `shift`. Pieces before every slip are where they were, those after it
/// are shifted by the whole difference, and those between two slips by what the first one did.
fn shared_pieces(
    pieces: usize,
    shift: isize,
) -> impl Iterator<Item = ((usize, usize), (isize, isize))> {
    let pairs = (0..pieces).flat_map(move |i| (i + 1..pieces).map(move |j| (i, j)));
    pairs.flat_map(move |(i, j)| {
        // The other pieces are those where the slips may be.
        let slips_before = |piece: usize| (0..piece).filter(|p| *p != i && *p != j).count();
        let slips = pieces - 2;
        let between: &[isize] = match (slips, shift) {
            (2, 0) => &[0, 1, -1],
            (2, 1) => &[0, 1],
            (2, -1) => &[0, -1],
            (2, 2) => &[1],
            (2, -2) => &[-1],
            _ => &[0],
        };
        let of = move |piece: usize, between: isize| match slips_before(piece) {
            0 => 0,
            all if all == slips => shift,
            _ => between,
        };
        let is_between = [i, j].iter().any(|p| (1..slips).contains(&slips_before(*p)));
        let choices = if is_between { between } else { &between[..1] };
        let shifts = choices.iter().map(|by| ((i, j), (of(i, *by), of(j, *by))));
        shifts.collect::<Vec<_>>()
    })
}

fn piece_key(
    name: &ComparableName,
    length: usize,
    i: usize,
    j: usize,
    first: &[char],
    one: &[char],
    two: &[char],
) -> String {
    let mut key = format!("{}:{length}:{i}{j}:", name.kind);
    key.extend(first);
    key.push(':');
    key.extend(one);
    key.push(':');
    key.extend(two);
    // A word with a digit or a sign is exact, so that names that differ there never meet.
    for word in name.words.iter().filter(|word| !word.chars().all(char::is_alphabetic)) {
        key.push(':');
        key.push_str(word);
    }
    key
}
