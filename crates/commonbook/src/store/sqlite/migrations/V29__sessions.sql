-- What finds a session again for a call that names none: the token that proves its agent, and the
-- interface that began it. NULL in sessions from before.
ALTER TABLE session ADD COLUMN token TEXT;
ALTER TABLE session ADD COLUMN door TEXT;

CREATE INDEX session_at_work ON session (workspace, agent, touched_at) WHERE status = 'active';

-- The position of the event that ended a revision, so that a session is resumed as of a checkpoint.
-- NULL in revisions from before.
ALTER TABLE revision ADD COLUMN ended INTEGER;

-- When a checkpoint was archived: it stays beyond the limits until it is deleted.
ALTER TABLE checkpoint ADD COLUMN archived_at INTEGER;
