-- What was said of a pair: that both can hold (by an endpoint), or that one says the same as the other (by an agent).
ALTER TABLE judged_pair ADD COLUMN said TEXT NOT NULL DEFAULT 'compatible';
ALTER TABLE judged_pair ADD COLUMN said_by TEXT;
