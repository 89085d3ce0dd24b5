-- Who reads the memory of a claim: candidates for a reader are found among what it sees, so that what others hide
-- takes nobody's place.
ALTER TABLE claim ADD COLUMN audience INTEGER NOT NULL DEFAULT 0;
UPDATE claim SET audience = coalesce((SELECT m.audience FROM memory m
    WHERE m.workspace = claim.workspace AND m.sequence = claim.sequence), 0);
CREATE INDEX claim_seen ON claim (audience, key, sequence);
DROP INDEX claim_key;
