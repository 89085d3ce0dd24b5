-- The role that a handoff was created for; `to_agent` is the role until an agent has accepted it.
ALTER TABLE handoff ADD COLUMN role TEXT;

-- The cycle that it closes, as JSON.
ALTER TABLE handoff ADD COLUMN cycle TEXT;

-- The queue of a target.
CREATE INDEX handoff_queue ON handoff (workspace, to_agent, sequence) WHERE status IN ('pending', 'accepted');

-- The refused handoffs, for statistics.
CREATE INDEX event_refused ON event (workspace, subject) WHERE kind = 'handoff.refused';
