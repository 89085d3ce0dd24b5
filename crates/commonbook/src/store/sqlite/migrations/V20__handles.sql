-- The ends of ids, by which agents name memories and handoffs.
CREATE INDEX memory_ending ON memory (substr(id, -6));
CREATE INDEX handoff_ending ON handoff (substr(id, -6));
