-- From a memory to the contradictions in which it is the newer one, by the audience of the other.
CREATE INDEX contradiction_newer_seen ON contradiction (older_audience, newer);
