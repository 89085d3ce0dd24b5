-- The ends of ids, by which agents name memories, handoffs and entities.
CREATE INDEX memory_ending ON memory (substr(id, -6));
CREATE INDEX handoff_ending ON handoff (substr(id, -6));
CREATE INDEX entity_name_ending ON entity_name (substr(id, -6));
