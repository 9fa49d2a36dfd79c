-- Version 1. A version that was released is never changed: a new one is another
-- file and another line in schema.rs.

-- A tree without an id was forgotten; its events go in small steps.
CREATE TABLE trees (
    no INTEGER PRIMARY KEY,
    id TEXT UNIQUE,
    ended_at INTEGER
);
CREATE INDEX trees_open ON trees (id) WHERE ended_at IS NULL AND id IS NOT NULL;
CREATE INDEX trees_ended ON trees (ended_at) WHERE ended_at IS NOT NULL AND id IS NOT NULL;
CREATE INDEX trees_forgotten ON trees (no) WHERE id IS NULL;

-- A row holds the events of one append, since a row costs more than what is in it.
-- The numbers are those of its last event; the lengths in bytes are those of all
-- events but the last, separated by commas.
CREATE TABLE events (
    position INTEGER PRIMARY KEY,
    tree INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    lengths TEXT NOT NULL,
    texts TEXT NOT NULL
);
CREATE UNIQUE INDEX events_of_tree ON events (tree, seq);

-- A place at or after the last that was given to events which are gone, in one row:
-- none is given twice. It is written only when events go, unlike AUTOINCREMENT.
CREATE TABLE last_place (position INTEGER NOT NULL);
INSERT INTO last_place VALUES (0);

CREATE TABLE delegations (
    id TEXT PRIMARY KEY,
    tree INTEGER NOT NULL,
    parent TEXT,
    task_id TEXT NOT NULL,
    title TEXT NOT NULL,
    pattern TEXT NOT NULL,
    status TEXT NOT NULL,
    accepted_at INTEGER NOT NULL,
    started_at INTEGER,
    ended_at INTEGER,
    tokens_used INTEGER NOT NULL,
    cost_nanos INTEGER
) WITHOUT ROWID;
CREATE INDEX delegations_of_tree ON delegations (tree);
CREATE INDEX delegations_active ON delegations (accepted_at, id) WHERE ended_at IS NULL;
CREATE INDEX delegations_ended ON delegations (ended_at, id) WHERE ended_at IS NOT NULL;
CREATE INDEX delegations_status ON delegations (status, ended_at, id)
    WHERE ended_at IS NOT NULL;

-- How many delegations ended when (in spans of 2^22 ms) and how, so that a page of the history
-- knows the number of pages without counting a million rows.
CREATE TABLE ended_counts (
    span INTEGER NOT NULL,
    status TEXT NOT NULL,
    total INTEGER NOT NULL,
    PRIMARY KEY (span, status)
) WITHOUT ROWID;
CREATE TRIGGER delegation_added AFTER INSERT ON delegations WHEN NEW.ended_at IS NOT NULL
BEGIN
    INSERT INTO ended_counts VALUES (NEW.ended_at >> 22, NEW.status, 1)
        ON CONFLICT DO UPDATE SET total = total + 1;
END;
CREATE TRIGGER delegation_left AFTER UPDATE ON delegations WHEN OLD.ended_at IS NOT NULL
BEGIN
    UPDATE ended_counts SET total = total - 1
        WHERE span = OLD.ended_at >> 22 AND status = OLD.status;
END;
CREATE TRIGGER delegation_ended AFTER UPDATE ON delegations WHEN NEW.ended_at IS NOT NULL
BEGIN
    INSERT INTO ended_counts VALUES (NEW.ended_at >> 22, NEW.status, 1)
        ON CONFLICT DO UPDATE SET total = total + 1;
END;
CREATE TRIGGER delegation_removed AFTER DELETE ON delegations WHEN OLD.ended_at IS NOT NULL
BEGIN
    UPDATE ended_counts SET total = total - 1
        WHERE span = OLD.ended_at >> 22 AND status = OLD.status;
    DELETE FROM ended_counts
        WHERE span = OLD.ended_at >> 22 AND status = OLD.status AND total = 0;
END;

CREATE TABLE keys (
    scope TEXT NOT NULL,
    key TEXT NOT NULL,
    tree INTEGER NOT NULL,
    delegation TEXT NOT NULL,
    PRIMARY KEY (scope, key)
) WITHOUT ROWID;
CREATE INDEX keys_of_tree ON keys (tree);
