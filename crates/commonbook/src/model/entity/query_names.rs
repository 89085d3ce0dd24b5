//! The entity names that a question may contain.

use rustc_hash::FxHashSet;

use super::{EntityName, EntityType};
use crate::base::id::EntityId;
use crate::model::workspace::Workspace;
use commonbook_text::entities::OwnTypes;
use commonbook_text::terms;

/// Words of a question that are read.
const QUESTION_WORDS_MAX: usize = 32;

/// Words of the longest name.
const NAME_WORDS_MAX: usize = 3;

/// The ids of all names that a text may contain, in this workspace, without duplicates. The
/// registry knows which exist.
#[must_use]
pub fn query_name_ids(workspace: &Workspace, text: &str, own: &OwnTypes) -> Vec<EntityId> {
    use EntityType::{Concept, File, Function, Issue, Organization, Person, Project, Tool, Url};
    let around = |c: char| matches!(c, '?' | '!' | ',' | ';' | '.' | ':' | '"' | '\'' | '(' | '`');
    let words: Vec<&str> = text.split_whitespace().take(QUESTION_WORDS_MAX).collect();
    let (mut ids, mut seen) = (Vec::new(), FxHashSet::default());
    for length in 1..=NAME_WORDS_MAX.min(words.len()) {
        for window in words.windows(length) {
            let name = window.join(" ");
            let name = name.trim_matches(around).trim_end_matches("'s");
            let marked = name.contains(['/', '.', '_', ':', '#', '(']);
            let ordinary =
                terms::plain_words(name).iter().all(|word| terms::is_function_word(word));
            if ordinary && !marked {
                continue;
            }
            let plain = [Person, Organization, Project, Tool, Concept].into_iter();
            let shaped = [File, Function, Url, Issue].into_iter();
            let shaped = shaped.filter(|_| marked && length == 1);
            for kind in plain.chain(own.types()).chain(shaped) {
                let found = EntityName::of(workspace, None, kind, name);
                let found = found.iter().flat_map(EntityName::ids);
                ids.extend(found.filter(|id| seen.insert(*id)));
            }
        }
    }
    ids
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_contains_names_in_any_known_form() {
        let workspace = Workspace::fallback();
        let id = |kind, name| EntityName::of(&workspace, None, kind, name).expect("a name").id;
        let own = OwnTypes::default();
        let found = query_name_ids(
            &workspace,
            "Who upgraded k8s for Project Atlas in src/lib.rs, Ann Miller's?",
            &own,
        );
        for (kind, name) in [
            (EntityType::Tool, "Kubernetes"),
            (EntityType::Project, "Atlas"),
            (EntityType::File, "src/lib.rs"),
            (EntityType::Person, "Ann Miller"),
        ] {
            assert!(found.contains(&id(kind, name)), "{name}");
        }
        assert!(!found.contains(&id(EntityType::Concept, "who")));
        assert!(query_name_ids(&workspace, "what is it for?", &own).is_empty());
        assert!(query_name_ids(&workspace, &"word ".repeat(10_000), &own).len() < 100);
    }
}
