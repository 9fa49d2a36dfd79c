-- Version 1. A version that was released is never changed: a new one is another
-- file and another line in schema.rs.

-- A row holds the events of one append, since a row costs more than what is in it.
-- The numbers are those of its last event; the lengths in bytes are those of all
-- events but the last, separated by commas. A tree is called by the position of its
-- first row, and that row has the tree's id.
CREATE TABLE events (
    position INTEGER PRIMARY KEY,
    tree INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    id TEXT,
    lengths TEXT NOT NULL,
    texts TEXT NOT NULL
);
CREATE UNIQUE INDEX events_of_tree ON events (tree, seq);

-- A place at or after the last that was given to events which are gone, in one row:
-- none is given twice. It is written only when events go, unlike AUTOINCREMENT.
CREATE TABLE last_place (position INTEGER NOT NULL);
INSERT INTO last_place VALUES (0);

-- What goes on, and what ended lately. Every append changes some of this, so it has
-- no index and stays small: a page or two are all that is written of it. What has
-- ended is moved to the tables below, many at once.
CREATE TABLE fresh_trees (
    id TEXT PRIMARY KEY,
    no INTEGER NOT NULL,
    ended_at INTEGER
) WITHOUT ROWID;
CREATE TABLE fresh_delegations (
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

-- What has ended.
CREATE TABLE trees (
    no INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    ended_at INTEGER NOT NULL
);
CREATE INDEX trees_ended ON trees (ended_at);
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
    ended_at INTEGER NOT NULL,
    tokens_used INTEGER NOT NULL,
    cost_nanos INTEGER
) WITHOUT ROWID;
CREATE INDEX delegations_of_tree ON delegations (tree);
CREATE INDEX delegations_ended ON delegations (ended_at, id);
CREATE INDEX delegations_status ON delegations (status, ended_at, id);

-- How many of these delegations ended when (in spans of 2^22 ms) and how, so that a
-- page of the history knows the number of pages without counting a million rows.
CREATE TABLE ended_counts (
    span INTEGER NOT NULL,
    status TEXT NOT NULL,
    total INTEGER NOT NULL,
    PRIMARY KEY (span, status)
) WITHOUT ROWID;
CREATE TRIGGER delegation_removed AFTER DELETE ON delegations
BEGIN
    UPDATE ended_counts SET total = total - 1
        WHERE span = OLD.ended_at >> 22 AND status = OLD.status;
    DELETE FROM ended_counts
        WHERE span = OLD.ended_at >> 22 AND status = OLD.status AND total = 0;
END;

-- Trees that were forgotten, while their events go in small steps.
CREATE TABLE forgotten_trees (no INTEGER PRIMARY KEY);

CREATE TABLE keys (
    scope TEXT NOT NULL,
    key TEXT NOT NULL,
    tree INTEGER NOT NULL,
    delegation TEXT NOT NULL,
    PRIMARY KEY (scope, key)
) WITHOUT ROWID;
CREATE INDEX keys_of_tree ON keys (tree);
