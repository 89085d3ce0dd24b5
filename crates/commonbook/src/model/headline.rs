//! Headlines: how their places are shared among authors.

use std::collections::HashMap;

/// Of this many headlines one author has at most [`AUTHOR_SHARE`], where several have notes that fit.
const AUTHOR_SHARE_OF: usize = 10;

/// The headlines of one author among [`AUTHOR_SHARE_OF`].
const AUTHOR_SHARE: usize = 6;

/// The best places among which other authors come before the further notes of one, as a multiple of the
/// number of headlines: below them nothing fits.
const PLACES_FACTOR: usize = 2;

/// The places of at most `most` headlines among notes with these authors, best first: the first of them, with at most
/// the share of one author while others are left.
#[must_use]
pub fn shared_places(authors: &[&str], most: usize) -> Vec<usize> {
    let share = (most * AUTHOR_SHARE).div_ceil(AUTHOR_SHARE_OF);
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let (mut within, mut beyond) = (Vec::new(), Vec::new());
    for (place, author) in authors.iter().take(PLACES_FACTOR * most).enumerate() {
        let count = counts.entry(author).or_default();
        *count += 1;
        if *count <= share { within.push(place) } else { beyond.push(place) }
    }
    let mut chosen: Vec<usize> = within.into_iter().chain(beyond).take(most).collect();
    chosen.sort_unstable();
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_author_has_six_of_ten_where_others_have_some() {
        let alone = vec!["ann"; 12];
        assert_eq!(shared_places(&alone, 10), (0..10).collect::<Vec<_>>());
        let mut authors = vec!["ann"; 9];
        authors.extend(["bob"; 5]);
        assert_eq!(shared_places(&authors, 10), [0, 1, 2, 3, 4, 5, 9, 10, 11, 12]);
        // Below twice the places nothing fits.
        let mut far = vec!["ann"; 20];
        far.push("bob");
        assert_eq!(shared_places(&far, 10), (0..10).collect::<Vec<_>>());
    }
}
