-- Who reads the memory of a claim. Programs of the version before write 0, and what has 0 is written again. They look
-- for claims by the index of keys, which goes one version later.
ALTER TABLE claim ADD COLUMN audience bigint NOT NULL DEFAULT 0;
UPDATE claim SET audience = coalesce((SELECT m.audience FROM memory m
    WHERE m.workspace = claim.workspace AND m.sequence = claim.sequence), 0);
CREATE INDEX claim_seen ON claim (audience, key, sequence);
