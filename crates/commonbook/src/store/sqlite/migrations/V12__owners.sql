-- What an agent has kept is asked for by it.
CREATE INDEX memory_owner ON memory (workspace, owner, sequence);
