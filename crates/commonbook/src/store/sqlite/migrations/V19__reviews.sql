-- What waits with a quarantined memory until somebody has looked at it: its author's appeal, and the
-- memories whose place it takes then.
ALTER TABLE memory ADD COLUMN review TEXT;
