-- When each version came, in milliseconds since 1970, and by which program.
ALTER TABLE schema_version ADD COLUMN at bigint, ADD COLUMN program text COLLATE "C";
