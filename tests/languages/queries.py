"""Statements that are well formed: material for the tests of round trips and mutations."""

from languages.segment_queries import TEMPLATES

CLAUSES = (
    "PATTERN (A)",
    "ORDER BY ts PATTERN (A B+) DEFINE B AS price > PREV(price)",
    """PARTITION BY symbol ORDER BY ts
    MEASURES FIRST(A.ts) AS start_ts, LAST(UP.ts) AS end_ts, MIN(DOWN.price) AS low, MATCH_NUMBER() AS n
    ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW
    PATTERN (A DOWN+ UP+)
    DEFINE DOWN AS DOWN.price < PREV(DOWN.price), UP AS UP.price > PREV(UP.price)""",
    """PARTITION BY a, upper(b) ORDER BY ts DESC NULLS LAST, seq ASC NULLS FIRST
    MEASURES CLASSIFIER() AS c, FINAL LAST(A.x, 2) AS x, RUNNING sum(U.x) y
    ALL ROWS PER MATCH WITH UNMATCHED ROWS
    AFTER MATCH SKIP TO LAST U
    PATTERN (^ A*? (B | C | ()){2,3}? PERMUTE(D, E+) F?? $)
    WITHIN INTERVAL '2' HOUR
    SUBSET U = (A, B), V = (C, D)
    DEFINE A AS x > 1 AND NOT y IN (1, 2), B AS A.x BETWEEN 1 AND 2 OR z IS NOT NULL""",
    """ORDER BY t ALL ROWS PER MATCH OMIT EMPTY MATCHES AFTER MATCH SKIP TO NEXT ROW
    PATTERN (A {- B+ | C -} D{0} E{,4}) DEFINE A AS CASE x WHEN 1 THEN TRUE ELSE y > 2 END""",
    """ORDER BY `time stamp` MEASURES count(*) AS `count`, count(`lower`.*) AS m, avg(A.x) FILTER (WHERE A.y > 1) AS z
    ALL ROWS PER MATCH SHOW EMPTY MATCHES AFTER MATCH SKIP TO FIRST `lower`
    PATTERN (A `lower`* `permute` (A | B)) SUBSET `u v` = (A, `lower`)
    DEFINE `lower` AS `lower`.x::int > LAST(A.x[0].y) + INTERVAL 5 MINUTES, A AS x LIKE 'a%' ESCAPE '!'""",
    "ORDER BY n ALL ROWS PER MATCH SHOW TIMEOUT MATCHES PATTERN (A B*? C) WITHIN 10 DEFINE C AS n > 2",
    "ORDER BY n PATTERN (((A) B) C{3,}) WITHIN 10 DEFINE C AS n - FIRST(n) < :limit",
    "ORDER BY t MEASURES PREV(FIRST(A.x, 1), 2) AS p PATTERN (A+) DEFINE A AS x > (SELECT max(y) FROM u WHERE z = 1)",
    """ORDER BY date MEASURES start AS end, key AS value, transform(A.xs, x -> x + A.y) AS t
    PATTERN (first last) DEFINE first AS first.count = 1, last AS last.date > DATE '2020-01-01' - 1""",
    "MEASURES array_agg(DISTINCT A.x) AS xs, max_by(A.x, A.y) AS w, A.x || 'é' AS s PATTERN (A+)",
    *TEMPLATES.values(),
    """ORDER BY t MEASURES FINAL LAST(SEG.x) AS x ALL ROWS PER MATCH AFTER MATCH SKIP TO NEXT ROW
    PATTERN (^ (A seg){:least,:most}? SEGMENT{,:most} | ~~(A+ & ~`as`)* $)
    DEFINE SEG SEG AS true, SEGMENT AS x > 1, segment `as` AS corr(`as`.x, SEG.x) > 0, A AS RUNNING LAST(x) > 1""",
)

STATEMENTS = (
    "SELECT 1",
    "SELECT match_recognize, 'x MATCH_RECOGNIZE (' FROM t -- MATCH_RECOGNIZE (",
    *(f"SELECT * FROM ticks MATCH_RECOGNIZE ({clause}) AS m WHERE m.n > 1" for clause in CLAUSES),
    f"SELECT /*+ BROADCAST(u) */ * FROM {{t}} MATCH_RECOGNIZE ({CLAUSES[1]}) LEFT JOIN u USING (id);",
    f"""WITH a AS (SELECT * FROM t), b(x) AS (SELECT * FROM a MATCH_RECOGNIZE ({CLAUSES[0]}))
    SELECT * FROM b MATCH_RECOGNIZE ({CLAUSES[1]}) x, (SELECT 2) AS c MATCH_RECOGNIZE ({CLAUSES[4]}) y""",
    f"SELECT * FROM VALUES (1, 2), (3, 4) AS v(a, b) MATCH_RECOGNIZE ({CLAUSES[0]}) ORDER BY 1 LIMIT 3",
    """SELECT * FROM t MATCH_RECOGNIZE (ORDER BY x PATTERN (A)
    DEFINE A AS x IN (SELECT y FROM u MATCH_RECOGNIZE (PATTERN (B)) WHERE z))""",
    f"CREATE TABLE r AS SELECT sum(x) OVER (ORDER BY y) FROM (range(9) MATCH_RECOGNIZE ({CLAUSES[0]}) JOIN q ON 1 = 1)",
    f"FROM `a b`.`c` AS d MATCH_RECOGNIZE ({CLAUSES[2]}) |> WHERE ü = 'ß' |> SELECT *",
)
