-- compatible
-- A guest read the postings of all projects, which say where each word stands. Now this function gives them, without the
-- chunks that the guest does not see. An older memtool that still runs refuses the searches of guests until it ends.

REVOKE SELECT ON memtool.posting FROM memtool_guest;

-- The number at a place of packed numbers of 32 bits, little-endian.
CREATE FUNCTION memtool.unpacked(numbers bytea, place integer) RETURNS integer LANGUAGE sql IMMUTABLE AS $$
    SELECT get_byte(numbers, 4 * place) + (get_byte(numbers, 4 * place + 1) << 8)
        + (get_byte(numbers, 4 * place + 2) << 16) + (get_byte(numbers, 4 * place + 3) << 24)
$$;

CREATE FUNCTION memtool.postings_of_projects(wanted text[])
RETURNS TABLE (vault bigint, term text, segment bigint, chunks bytea, counts bytea, lengths bytea, positions bytea)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    WITH own AS MATERIALIZED (
        SELECT c.vault, c.id & 4294967295 AS number
        FROM memtool.chunk AS c
        WHERE c.vault = ANY ((SELECT memtool.visible())::bigint[])
            AND lower(c.project) = ANY ((SELECT memtool.projects())::text[])
    ), packed AS MATERIALIZED (  -- unpacked once: to look for a byte in a compressed value unpacks all of it
        SELECT p.vault, p.term, p.segment, p.chunks || ''::bytea AS chunks, p.counts || ''::bytea AS counts,
            p.lengths || ''::bytea AS lengths, p.positions || ''::bytea AS positions
        FROM memtool.posting AS p
        WHERE p.vault = ANY ((SELECT memtool.visible())::bigint[]) AND p.term = ANY (wanted)
    )
    SELECT p.vault, p.term, p.segment, l.chunks, l.counts, l.lengths, l.positions
    FROM packed AS p CROSS JOIN LATERAL (
        SELECT string_agg(substring(p.chunks FROM 4 * s.i + 1 FOR 4), ''::bytea ORDER BY s.i) AS chunks,
            string_agg(substring(p.counts FROM 4 * s.i + 1 FOR 4), ''::bytea ORDER BY s.i) AS counts,
            string_agg(substring(p.lengths FROM 4 * s.i + 1 FOR 4), ''::bytea ORDER BY s.i) AS lengths,
            string_agg(substring(p.positions FROM 4 * s.first + 1 FOR 4 * s.count), ''::bytea ORDER BY s.i) AS positions
        FROM (
            SELECT i, memtool.unpacked(p.counts, i) AS count,
                (sum(memtool.unpacked(p.counts, i)) OVER (ORDER BY i))::integer - memtool.unpacked(p.counts, i) AS first
            FROM generate_series(0, octet_length(p.chunks) / 4 - 1) AS i
        ) AS s
        WHERE (p.vault, memtool.unpacked(p.chunks, s.i)::bigint) IN (SELECT o.vault, o.number FROM own AS o)
    ) AS l
    WHERE l.chunks IS NOT NULL
$$;

REVOKE EXECUTE ON FUNCTION memtool.postings_of_projects FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memtool.postings_of_projects TO memtool_guest;
