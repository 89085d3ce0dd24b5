-- The user that the memory of an event was about then: who comes to see the memory later does not see
-- what happened to it before. A purge erases it. NULL if it was about no user, and for events before this column.
ALTER TABLE event ADD COLUMN user_id TEXT;
