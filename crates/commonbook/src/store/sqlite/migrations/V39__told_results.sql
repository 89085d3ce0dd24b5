-- When a context first told the source how its handoff ended: later sessions do not hear it again.
ALTER TABLE handoff ADD COLUMN result_told_at INTEGER;

-- Since V31 work goes on by `moved` alone.
UPDATE handoff SET digest = zeroblob(24) WHERE accepted IS NOT NULL;
ALTER TABLE handoff DROP COLUMN accepted;
