-- What is known of a user and of a task is asked for owner by owner: however much one author keeps,
-- another's is found at once.
DROP INDEX memory_about;
CREATE INDEX memory_profile ON memory (audience, memory_type, user_id, owner, revised_at, sequence)
    WHERE memory_type IN ('profile', 'task_context');
