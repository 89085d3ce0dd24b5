-- Counting the memories of each owner and type reads this index alone.
CREATE INDEX memory_counted ON memory (audience, owner, memory_type, deleted_at);
