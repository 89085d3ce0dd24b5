//! The name that a person or an agent probably meant by an unknown one.

/// The known name nearest to an unknown one; `None` if more than a third of its letters differ.
#[must_use]
pub fn nearest_name<'n>(unknown: &str, known: &[&'n str]) -> Option<&'n str> {
    let unknown = unknown.to_lowercase();
    let distance = |name: &str| strsim::damerau_levenshtein(&unknown, name);
    let nearest = known.iter().min_by_key(|name| distance(name))?;
    (distance(nearest) * 3 <= nearest.chars().count().max(3)).then_some(nearest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_near_and_another_word_is_not() {
        let known = ["engineer", "claude-code", "qa"];
        let table = [
            ("enginer", Some("engineer")),
            ("Claude-Cod", Some("claude-code")),
            ("aq", Some("qa")),
            ("zebra", None),
        ];
        for (unknown, near) in table {
            assert_eq!(nearest_name(unknown, &known), near, "{unknown}");
        }
        assert_eq!(nearest_name("qa", &[]), None);
    }
}
