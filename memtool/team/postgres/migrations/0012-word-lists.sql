-- The words of a vault once more, some hundreds in a row with a line break between each two: to look at all of them for
-- a part of a word takes a thirtieth of the time. A list is known by its first word, which stands in no other.

CREATE TABLE memtool.word_list (
    vault bigint NOT NULL, first text COLLATE "C" NOT NULL, words text COLLATE "C" NOT NULL, PRIMARY KEY (vault, first)
) PARTITION BY HASH (vault);

DO $$
DECLARE part integer;
BEGIN
    FOR part IN 0..15 LOOP
        EXECUTE format(
            'CREATE TABLE memtool.%I PARTITION OF memtool.word_list FOR VALUES WITH (MODULUS 16, REMAINDER %s)',
            'word_list_' || to_char(part, 'FM00'), part
        );
    END LOOP;
END $$;

ALTER TABLE memtool.word NO FORCE ROW LEVEL SECURITY;  -- or its owner, who runs this, would see no word
INSERT INTO memtool.word_list (vault, first, words)
SELECT vault, min(word), string_agg(word, E'\n' ORDER BY word)
FROM (SELECT vault, word, row_number() OVER (PARTITION BY vault ORDER BY word) / 500 AS list FROM memtool.word) AS each
GROUP BY vault, list;
ALTER TABLE memtool.word FORCE ROW LEVEL SECURITY;

ALTER TABLE memtool.word_list ENABLE ROW LEVEL SECURITY;
ALTER TABLE memtool.word_list FORCE ROW LEVEL SECURITY;
CREATE POLICY of_visible_vaults ON memtool.word_list USING (vault = ANY ((SELECT memtool.visible())::bigint[]));
GRANT SELECT ON memtool.word_list TO memtool_reader, memtool_writer;
GRANT INSERT, UPDATE, DELETE ON memtool.word_list TO memtool_writer;
GRANT SELECT ON memtool.word_list TO memtool_guest;
CREATE POLICY of_projects ON memtool.word_list AS RESTRICTIVE TO memtool_guest USING (false);
