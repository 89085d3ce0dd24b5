//! Blocking keys: nearly equal names share a key, so that a registry does not compare all names.
//!
//! A name is cut into two pieces more than the letters that may differ; two pieces are then equal in
//! both names, at positions that follow from the lengths of the names. An entity has a key for each
//! pair of its pieces: 3 keys up to 11 letters, where one letter may differ, and 6 beyond, where two
//! may. The probes of a name are the pairs that it would share with an entity of each possible
//! length: at most 9 for short names and 42 for long ones; of a person whose name begins with an umlaut twice as many. Together with the first two letters,
//! which are always equal, two pieces are at least half of a name, so that few other names share
//! them. A store needs only an index on (workspace, key).

use super::{ComparableName, EDITS_MAX, NAME_LETTERS_MAX, without_umlauts};
use crate::entities::EntityType;

/// Minimum letters of a name in which one letter may differ.
const ONE_EDIT_LETTERS_MIN: usize = 6;
/// Minimum letters of a name in which two letters may differ.
const TWO_EDITS_LETTERS_MIN: usize = 12;

/// Returns the keys of an entity with this name; none if only the exact name matches it.
#[must_use]
pub fn keys(name: &ComparableName) -> Vec<String> {
    let letters: Vec<char> = name.letters.chars().collect();
    if !is_filed(name, letters.len()) {
        return Vec::new();
    }
    let pieces = piece_count(letters.len());
    let pairs = (0..pieces).flat_map(|i| (i + 1..pieces).map(move |j| (i, j)));
    let piece =
        |index| &letters[piece_start(index, letters.len())..piece_start(index + 1, letters.len())];
    let beginnings = beginnings(name);
    let keys = |(i, j)| {
        let key = |beginning| piece_key(name, letters.len(), i, j, beginning, piece(i), piece(j));
        beginnings.iter().map(|letters| key(letters)).collect::<Vec<_>>()
    };
    pairs.flat_map(keys).collect()
}

/// The first two letters, which nearly equal names share. Of a person also those without umlauts: `Özil` is
/// written `Oezil` and `Ozil` too.
fn beginnings(name: &ComparableName) -> Vec<Vec<char>> {
    let first = |text: &str| text.chars().take(2).collect::<Vec<char>>();
    let mut all = vec![first(&name.letters)];
    if name.kind == EntityType::Person {
        all.push(first(&without_umlauts(&name.letters)));
        all.dedup();
    }
    all
}

/// Returns the keys that entities with nearly this name can have, each once.
#[must_use]
pub fn probes(name: &ComparableName) -> Vec<String> {
    let letters: Vec<char> = name.letters.chars().collect();
    let length = letters.len();
    let mut probes = Vec::new();
    if !is_filed(name, length) {
        return probes;
    }
    let beginnings = beginnings(name);
    let lengths = length.saturating_sub(EDITS_MAX).max(ONE_EDIT_LETTERS_MIN)..=length + EDITS_MAX;
    for entity_length in lengths {
        let allowed = allowed_edits(length.max(entity_length));
        if length.abs_diff(entity_length) > allowed {
            continue;
        }
        let shift = length.cast_signed() - entity_length.cast_signed();
        for ((i, j), shifts) in shared_pieces(piece_count(entity_length), shift) {
            let at = |piece: usize, by: isize| {
                let from = piece_start(piece, entity_length).checked_add_signed(by)?;
                let to = piece_start(piece + 1, entity_length).checked_add_signed(by)?;
                letters.get(from..to)
            };
            let (Some(first), Some(second)) = (at(i, shifts.0), at(j, shifts.1)) else {
                continue;
            };
            let key = |beginning: &Vec<char>| {
                piece_key(name, entity_length, i, j, beginning, first, second)
            };
            probes.extend(beginnings.iter().map(key));
        }
    }
    probes.sort_unstable();
    probes.dedup();
    probes
}

fn is_filed(name: &ComparableName, letters: usize) -> bool {
    !name.exact && (ONE_EDIT_LETTERS_MIN..=NAME_LETTERS_MAX).contains(&letters)
}

/// Returns the count of letters that may differ at a likeness of 0.85, by the longer name.
fn allowed_edits(longer: usize) -> usize {
    (longer * 15 / 100).min(EDITS_MAX)
}

/// Returns the count of pieces of a name of this length.
fn piece_count(length: usize) -> usize {
    if length < TWO_EDITS_LETTERS_MIN { 3 } else { 4 }
}

/// Returns the start of a piece in a name of this length.
fn piece_start(piece: usize, length: usize) -> usize {
    piece * length / piece_count(length)
}

/// Returns the pairs of pieces that an entity's name can share with a name that is longer by
/// `shift`, and the shift of each piece. A piece before every difference has no shift, a piece after
/// all of them the whole shift, and a piece between two the shift of the first.
fn shared_pieces(
    pieces: usize,
    shift: isize,
) -> impl Iterator<Item = ((usize, usize), (isize, isize))> {
    let pairs = (0..pieces).flat_map(move |i| (i + 1..pieces).map(move |j| (i, j)));
    pairs.flat_map(move |(i, j)| {
        // The differences are in the other pieces.
        let edits_before = |piece: usize| (0..piece).filter(|p| *p != i && *p != j).count();
        let edits = pieces - 2;
        let between: &[isize] = match (edits, shift) {
            (2, 0) => &[0, 1, -1],
            (2, 1) => &[0, 1],
            (2, -1) => &[0, -1],
            (2, 2) => &[1],
            (2, -2) => &[-1],
            _ => &[0],
        };
        let shift_of = move |piece: usize, between: isize| match edits_before(piece) {
            0 => 0,
            all if all == edits => shift,
            _ => between,
        };
        let is_between = [i, j].iter().any(|p| (1..edits).contains(&edits_before(*p)));
        let choices = if is_between { between } else { &between[..1] };
        let shifts = choices.iter().map(|by| ((i, j), (shift_of(i, *by), shift_of(j, *by))));
        shifts.collect::<Vec<_>>()
    })
}

fn piece_key(
    name: &ComparableName,
    length: usize,
    i: usize,
    j: usize,
    beginning: &[char],
    first: &[char],
    second: &[char],
) -> String {
    let mut key = format!("{}:{length}:{i}{j}:", name.kind);
    key.extend(beginning);
    key.push(':');
    key.extend(first);
    key.push(':');
    key.extend(second);
    // A word with a digit or a sign is exact, so it is part of the key.
    for word in name.words.iter().filter(|word| !word.chars().all(char::is_alphabetic)) {
        key.push(':');
        key.push_str(word);
    }
    key
}
