-- The labels and the lead of a case, and where a branch left its case. NULL in each row of before, so
-- that the digest of the row still holds.
ALTER TABLE case_log ADD COLUMN revision INTEGER;        -- changes of title, labels and lead; NULL is 1
ALTER TABLE case_log ADD COLUMN labels TEXT;             -- a JSON list
ALTER TABLE case_log ADD COLUMN lead TEXT;
ALTER TABLE case_log ADD COLUMN parent TEXT;             -- the case that a branch left
ALTER TABLE case_log ADD COLUMN branched_at INTEGER;     -- its version then
ALTER TABLE case_log ADD COLUMN merged_at INTEGER;

CREATE INDEX case_lead ON case_log (workspace, lead) WHERE lead IS NOT NULL;
