//! Mentions: the entities that a memory names, stated by its author or found in its text.

use serde_json::Value;

use super::Memory;
use crate::base::limits;
use crate::model::entity::{EntityName, EntityType, NameMention, STATED_CONFIDENCE};
use crate::model::learning::LEARNING_SORT_KEY;
use commonbook_text::entities::{
    ExtractedEntity, ExtractionInput, MemoryPart, OwnTypes, extract, speakers,
};

impl Memory {
    /// The entities that the author named.
    #[must_use]
    pub fn author_mentions(&self) -> Vec<NameMention> {
        let named = self.entities.iter().filter_map(|named| {
            let name = self.name(named.entity_type, &named.value)?;
            let place = self.text.find(&named.value).unwrap_or(0);
            Some(NameMention { name, confidence: STATED_CONFIDENCE, count: 1, place })
        });
        named.collect()
    }

    /// The entities that the author named, and those that rules find in the text, with these own types.
    #[must_use]
    pub fn all_mentions(&self, own: &OwnTypes) -> Vec<NameMention> {
        let speakers = speakers(&self.metadata);
        // The type of a learning is among its topics, and is no entity.
        let sort = self.metadata.get(LEARNING_SORT_KEY).and_then(Value::as_str);
        let sort = sort.filter(|_| self.memory_type.as_str() == "learning");
        let topics: Vec<String> =
            self.topics.iter().filter(|topic| Some(topic.as_str()) != sort).cloned().collect();
        let found = extract(&ExtractionInput {
            title: self.title.as_deref(),
            text: &self.text,
            topics: &topics,
            speakers: &speakers,
            is_decision: self.memory_type.as_str() == "decision",
            own: Some(own),
        });
        let mut all = self.author_mentions();
        for found in found {
            let Some(name) = self.name(found.entity_type, &found.value) else { continue };
            if all.iter().all(|other| other.name.id != name.id) {
                let (confidence, count) = (found.confidence, found.count as u64);
                all.push(NameMention { name, confidence, count, place: first_place(&found) });
            }
        }
        all
    }

    fn name(&self, entity_type: EntityType, value: &str) -> Option<EntityName> {
        // A name in a text can be longer than a stated name may be.
        let short = value.chars().count() <= limits::ENTITY_VALUE_CHARS;
        EntityName::of(&self.workspace, None, entity_type, value).filter(|_| short)
    }
}

/// The offset of the entity's first mention in the text; 0 if only the title or a topic mentions
/// it.
fn first_place(found: &ExtractedEntity) -> usize {
    let in_text = found.places.iter().find(|place| place.part == MemoryPart::Text);
    in_text.map_or(0, |place| place.from)
}
