-- From where the caller of an event called: the device, the client program and the interface. NULL for
-- events from before, and for those of Commonbook itself.
ALTER TABLE event ADD COLUMN device TEXT;
ALTER TABLE event ADD COLUMN client TEXT;
ALTER TABLE event ADD COLUMN door TEXT;
