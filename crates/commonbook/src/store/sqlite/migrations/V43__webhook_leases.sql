-- Which of several nodes on one store delivers to a webhook, and until when.
CREATE TABLE webhook_lease (
    webhook     TEXT    NOT NULL PRIMARY KEY,
    holder      TEXT    NOT NULL,
    held_until  INTEGER NOT NULL,
    digest      BLOB    NOT NULL DEFAULT x'000000000000000000000000000000000000000000000000'
) STRICT, WITHOUT ROWID;
