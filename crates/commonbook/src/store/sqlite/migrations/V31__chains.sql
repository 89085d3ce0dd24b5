-- The position of the event that accepted or completed a handoff last: work goes on from there.
ALTER TABLE handoff ADD COLUMN moved INTEGER;
UPDATE handoff SET moved = accepted, digest = zeroblob(24) WHERE accepted IS NOT NULL;
UPDATE handoff SET moved = e.sequence, digest = zeroblob(24)
FROM (SELECT workspace, subject, max(sequence) AS sequence FROM event
      WHERE kind = 'handoff.completed' GROUP BY workspace, subject) e
WHERE e.workspace = handoff.workspace AND e.subject = handoff.id AND handoff.status = 'completed';

DROP INDEX handoff_accepted;
CREATE INDEX handoff_moved ON handoff (workspace, to_agent, moved) WHERE moved IS NOT NULL;

-- The ended work that an agent gave away.
CREATE INDEX handoff_ended ON handoff (workspace, from_agent, ended_at)
    WHERE status IN ('completed', 'rejected');

-- The revision of a memory that went along, by which later changes of it show.
ALTER TABLE handoff_memory ADD COLUMN revision INTEGER;
