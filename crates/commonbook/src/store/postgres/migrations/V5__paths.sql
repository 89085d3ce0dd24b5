-- The path of a memory that is a document; NULL for any other. An owner has one current document at a path,
-- for each user that such documents are about.
ALTER TABLE memory ADD COLUMN path text COLLATE "C";
CREATE UNIQUE INDEX memory_path ON memory (workspace, owner, path, coalesce(user_id, ''))
    WHERE path IS NOT NULL AND deleted_at IS NULL AND superseded_by IS NULL;
CREATE INDEX memory_by_path ON memory (audience, path, sequence) WHERE path IS NOT NULL;
