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

-- Where the rows of a tree are. An index would be one more page in every commit, so this
-- is brought up to date many rows at once, and whoever reads a tree also looks through
-- those that came after.
CREATE TABLE places (
    tree INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (tree, seq)
) WITHOUT ROWID;

-- One row. A position at or after the last that was given to events which are gone: none
-- is given twice. It is written only when events go, unlike AUTOINCREMENT. And the
-- position up to which `places` knows all rows.
CREATE TABLE last_place (position INTEGER NOT NULL, placed INTEGER NOT NULL);
INSERT INTO last_place VALUES (0, 0);

-- What goes on, and what ended lately: trees, and delegations with their columns. Every
-- append changes some of this, so it has no index and stays small, and a tree stands
-- beside the delegation it is called after: a page is all that is written of it. What
-- has ended is moved to the tables below, many at once.
CREATE TABLE fresh (
    id TEXT NOT NULL,
    is_tree INTEGER NOT NULL,
    tree INTEGER NOT NULL,
    -- Of a tree: the number of its last event.
    seq INTEGER,
    ended_at INTEGER,
    parent TEXT,
    task_id TEXT,
    title TEXT,
    pattern TEXT,
    status TEXT,
    accepted_at INTEGER,
    started_at INTEGER,
    tokens_used INTEGER,
    cost_nanos INTEGER,
    PRIMARY KEY (id, is_tree)
) WITHOUT ROWID;
CREATE VIEW fresh_trees AS SELECT id, tree AS no, seq, ended_at FROM fresh WHERE is_tree = 1;
CREATE VIEW fresh_delegations AS SELECT id, tree, parent, task_id, title, pattern, status,
    accepted_at, started_at, ended_at, tokens_used, cost_nanos FROM fresh WHERE is_tree = 0;

-- What has ended.
CREATE TABLE trees (
    no INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    seq INTEGER NOT NULL,
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
