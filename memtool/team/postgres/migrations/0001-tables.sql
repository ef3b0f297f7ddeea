-- The tables of the index. Each row belongs to a vault, by whose number all tables are cut into sixteen parts, so that a
-- statement for one vault reads one part, and so that Citus may spread the parts over servers.
--
-- What a connection may see is what its setting `memtool.vaults` lists ('{1,7}'), whatever a statement asks for. Reading
-- is done in the role memtool_reader, writing in memtool_writer; neither owns a table or bypasses the policies.

CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public;

DO $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['memtool_reader', 'memtool_writer'] LOOP
        IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = name) THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN NOBYPASSRLS', name);
        END IF;
        IF NOT pg_has_role(current_user, name, 'MEMBER') THEN
            EXECUTE format('GRANT %I TO %I', name, current_user);
        END IF;
    END LOOP;
END $$;

-- The vaults that the connection may see.
CREATE FUNCTION memtool.visible() RETURNS bigint[] LANGUAGE sql STABLE AS
    $$ SELECT coalesce(nullif(current_setting('memtool.vaults', true), ''), '{}')::bigint[] $$;

-- Two functions of SQLite's, for the statements that both engines share.
CREATE FUNCTION memtool.instr(whole text, part text) RETURNS integer LANGUAGE sql IMMUTABLE AS
    $$ SELECT strpos(whole, part) $$;
CREATE FUNCTION memtool.date(seconds bigint, epoch text, zone text) RETURNS text LANGUAGE sql STABLE AS
    $$ SELECT to_char(to_timestamp(seconds), 'YYYY-MM-DD') $$;

CREATE TABLE memtool.vault (
    id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (MAXVALUE 2000000000),
    name text COLLATE "C" NOT NULL UNIQUE,
    fingerprint text COLLATE "C" NOT NULL DEFAULT '',  -- with what its index was built; empty: not finished
    settled text COLLATE "C" NOT NULL DEFAULT '',      -- the hash of the scan that left nothing to do
    last_note bigint NOT NULL DEFAULT 0,               -- numbers that were given, and never are again
    last_chunk bigint NOT NULL DEFAULT 0,
    chunks bigint NOT NULL DEFAULT 0,                  -- how many there are,
    terms bigint NOT NULL DEFAULT 0,                   -- and how many terms they hold in all: for BM25
    dead bytea NOT NULL DEFAULT ''                     -- chunks that are gone and still stand in postings
);
CREATE TABLE memtool.note (
    vault bigint NOT NULL,
    id bigint NOT NULL,  -- the vault's number in the upper half, the note's in the lower one
    ref text COLLATE "C" NOT NULL,
    size bigint NOT NULL, mtime_ns bigint NOT NULL, read_at_ns bigint NOT NULL, hash text COLLATE "C" NOT NULL,
    title text COLLATE "C" NOT NULL, problem text COLLATE "C" NOT NULL, names text COLLATE "C" NOT NULL,
    PRIMARY KEY (vault, id)
) PARTITION BY HASH (vault);
CREATE UNIQUE INDEX note_ref ON memtool.note (vault, ref);

CREATE TABLE memtool.chunk (
    vault bigint NOT NULL,
    id bigint NOT NULL,  -- made as a note's is
    note_id bigint NOT NULL,
    start_line integer NOT NULL, end_line integer NOT NULL,
    heading text COLLATE "C" NOT NULL, text text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL, project text COLLATE "C" NOT NULL, category text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL, date text COLLATE "C" NOT NULL, tags text COLLATE "C" NOT NULL,
    expires text COLLATE "C" NOT NULL, archived boolean NOT NULL, fact_id text COLLATE "C" NOT NULL,
    author text COLLATE "C" NOT NULL,
    PRIMARY KEY (vault, id)
) PARTITION BY HASH (vault);
CREATE INDEX chunk_of_note ON memtool.chunk (vault, note_id);
CREATE INDEX chunk_of_project ON memtool.chunk (vault, project);
CREATE INDEX chunk_of_date ON memtool.chunk (vault, date) WHERE date <> '';
CREATE INDEX chunk_of_fact ON memtool.chunk (vault, fact_id) WHERE fact_id <> '';

-- The terms of a chunk in their order, joined by spaces.
CREATE TABLE memtool.term_list (
    vault bigint NOT NULL, chunk_id bigint NOT NULL, terms text COLLATE "C" NOT NULL, PRIMARY KEY (vault, chunk_id)
) PARTITION BY HASH (vault);
-- In how many chunks a term occurs.
CREATE TABLE memtool.term (
    vault bigint NOT NULL, term text COLLATE "C" NOT NULL, chunks integer NOT NULL, PRIMARY KEY (vault, term)
) PARTITION BY HASH (vault);
-- Where a term occurs: packed numbers of 32 bits, little-endian, one for each chunk of a segment (decision 0022). Positions
-- count from the chunk's first term; there are as many for a chunk as *counts* says.
CREATE TABLE memtool.posting (
    vault bigint NOT NULL, term text COLLATE "C" NOT NULL, segment bigint NOT NULL,
    chunks bytea NOT NULL, counts bytea NOT NULL, lengths bytea NOT NULL, positions bytea NOT NULL,
    PRIMARY KEY (vault, term, segment)
) PARTITION BY HASH (vault);
CREATE INDEX posting_of_segment ON memtool.posting (vault, segment);
-- The segments of a vault. Those of one level are merged into one of the next when there are many.
CREATE TABLE memtool.segment (
    vault bigint NOT NULL, id bigint NOT NULL, level smallint NOT NULL, PRIMARY KEY (vault, id)
) PARTITION BY HASH (vault);
-- The words that completion may offer.
CREATE TABLE memtool.word (
    vault bigint NOT NULL, word text COLLATE "C" NOT NULL, PRIMARY KEY (vault, word)
) PARTITION BY HASH (vault);

-- Models that make vectors; their numbers stand in the names of the HNSW indexes.
CREATE TABLE memtool.model (
    id integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    name text COLLATE "C" NOT NULL UNIQUE,
    dimension integer NOT NULL
);
-- How far a model has come with a vault, and what its vectors are like: their mean, and how far they are apart.
CREATE TABLE memtool.vault_model (
    vault bigint NOT NULL, model integer NOT NULL,
    embedded_up_to bigint NOT NULL DEFAULT 0,
    vectors bigint NOT NULL DEFAULT 0,
    mean real[] NOT NULL DEFAULT '{}',
    deviation double precision NOT NULL DEFAULT 0,
    PRIMARY KEY (vault, model)
) PARTITION BY HASH (vault);
-- What has a vector in a chunk: the whole of it (place 0), then its paragraphs and bullets.
CREATE TABLE memtool.piece (
    vault bigint NOT NULL, chunk_id bigint NOT NULL, place smallint NOT NULL, hash bigint NOT NULL,
    PRIMARY KEY (vault, chunk_id, place)
) PARTITION BY HASH (vault);
CREATE INDEX piece_of_hash ON memtool.piece (vault, hash);
-- Vectors by model and by the hash of their text, in half precision, far from the texts; numbered as they came.
CREATE TABLE memtool.vector (
    vault bigint NOT NULL, model integer NOT NULL, hash bigint NOT NULL, number integer NOT NULL,
    embedding public.halfvec NOT NULL,
    PRIMARY KEY (vault, model, hash)
) PARTITION BY HASH (vault);
CREATE INDEX vector_number ON memtool.vector (vault, model, number);

DO $$
DECLARE
    name text;
    part integer;
BEGIN
    FOREACH name IN ARRAY ARRAY[
        'note', 'chunk', 'term_list', 'term', 'posting', 'segment', 'word', 'vault_model', 'piece', 'vector'
    ] LOOP
        FOR part IN 0..15 LOOP
            EXECUTE format(
                'CREATE TABLE memtool.%I PARTITION OF memtool.%I FOR VALUES WITH (MODULUS 16, REMAINDER %s)',
                name || '_' || to_char(part, 'FM00'), name, part
            );
        END LOOP;
        EXECUTE format('ALTER TABLE memtool.%I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE memtool.%I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format(
            'CREATE POLICY of_visible_vaults ON memtool.%I USING (vault = ANY ((SELECT memtool.visible())::bigint[]))', name
        );
        EXECUTE format('GRANT SELECT ON memtool.%I TO memtool_reader, memtool_writer', name);
        EXECUTE format('GRANT INSERT, UPDATE, DELETE ON memtool.%I TO memtool_writer', name);
    END LOOP;
END $$;

-- A vault is found by its name, too, by whoever names it in the setting `memtool.vault`.
ALTER TABLE memtool.vault ENABLE ROW LEVEL SECURITY;
ALTER TABLE memtool.vault FORCE ROW LEVEL SECURITY;
CREATE POLICY of_visible_vaults ON memtool.vault USING (
    id = ANY ((SELECT memtool.visible())::bigint[]) OR name = current_setting('memtool.vault', true)
);
GRANT USAGE ON SCHEMA memtool TO memtool_reader, memtool_writer;
GRANT SELECT ON memtool.vault, memtool.model, memtool.migration TO memtool_reader, memtool_writer;
GRANT INSERT, UPDATE, DELETE ON memtool.vault TO memtool_writer;
GRANT INSERT ON memtool.model TO memtool_writer;
