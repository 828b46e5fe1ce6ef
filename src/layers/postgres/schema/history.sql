-- The index of history: which runs name a subject, and the words of every run, as segments (schema/segments) instead of a row for each run and
-- subject. A row would cost a run more than all its words together, most of it for a place in an index that grows with the runs.
--
-- Runs that have ended wait in `history_queue` until a worker has put them into segments, where a question still finds them.

-- Runs that wait for the index, many in a row: a row for each and its place in an index cost a run twice as much as its part of a turn's row.
-- The turn that ends runs writes it, and the history worker deletes it. Runs that the index is rebuilt from wait in the same queue.
CREATE TABLE history_queue (
  org_id text NOT NULL,
  turn bigint GENERATED ALWAYS AS IDENTITY,
  -- Of one organization, ended by one turn. A run is in one row at most.
  run_ids text[] NOT NULL,
  -- Stored, so that whoever counts them reads no ids.
  runs int GENERATED ALWAYS AS (cardinality(run_ids)) STORED CHECK (runs > 0),
  -- Usage has counted them before.
  counted boolean NOT NULL DEFAULT false,
  PRIMARY KEY (org_id, turn)
) WITH (autovacuum_vacuum_scale_factor = 0.05);

-- One row for each segment: what it has, and how it was made. The history worker writes it, and it never changes.
CREATE TABLE history_segments (
  segment bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  org_id text NOT NULL,
  family text NOT NULL CHECK (family IN ('subjects', 'words')),
  -- By which its runs were read; those by others are made anew.
  rules int NOT NULL,
  runs int NOT NULL CHECK (runs > 0),
  -- A power of two: the hash space is cut into so many slices.
  blocks int NOT NULL CHECK (blocks > 0 AND blocks & (blocks - 1) = 0),
  first_run text NOT NULL,
  last_run text NOT NULL CHECK (last_run >= first_run),
  -- Format 1 has no checksums. A worker rebuilds segments of an older format in the current one.
  format int NOT NULL DEFAULT 1,
  checksum int
);
CREATE INDEX history_segments_org ON history_segments (org_id, family);

-- Which runs of a segment have a term. The history worker writes it.
-- Bytes are dense already. Blocks of young segments are longer than what Postgres keeps in a row by itself; cut up and put elsewhere, each took
-- three rows.
CREATE TABLE history_blocks (
  segment bigint NOT NULL,
  block int NOT NULL,
  bytes bytea NOT NULL,
  checksum int,
  PRIMARY KEY (segment, block)
) WITH (autovacuum_vacuum_scale_factor = 0.05, toast_tuple_target = 8160);

-- What a segment's runs are to be counted by, 4,096 a page. The history worker writes it.
CREATE TABLE history_classes (
  segment bigint NOT NULL,
  page int NOT NULL,
  bytes bytea NOT NULL,
  checksum int,
  PRIMARY KEY (segment, page)
) WITH (autovacuum_vacuum_scale_factor = 0.05, toast_tuple_target = 8160);

-- Who a segment's runs are, 32 a page. The history worker writes it.
CREATE TABLE history_docs (
  segment bigint NOT NULL,
  page int NOT NULL,
  bytes bytea NOT NULL,
  checksum int,
  PRIMARY KEY (segment, page)
) WITH (autovacuum_vacuum_scale_factor = 0.05);

ALTER TABLE history_blocks ALTER COLUMN bytes SET STORAGE EXTERNAL;
ALTER TABLE history_classes ALTER COLUMN bytes SET STORAGE EXTERNAL;
ALTER TABLE history_docs ALTER COLUMN bytes SET STORAGE EXTERNAL;

-- Segments that a reader could not use. Readers write it. A worker rebuilds them from their runs.
CREATE TABLE history_damage (
  segment bigint PRIMARY KEY,
  org_id text NOT NULL,
  family text NOT NULL CHECK (family IN ('subjects', 'words')),
  what text NOT NULL,
  found_at timestamptz NOT NULL DEFAULT now()
);

-- How far the worker is that rebuilds the index, or erases an organization's old runs.
CREATE TABLE history_progress (
  -- 'reindex', or an organization whose old runs are being erased.
  name text PRIMARY KEY,
  org_id text NOT NULL,
  run_id text NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now()
);
