"""Event patterns in SASE+ that tests of parsers and builders share."""

from __future__ import annotations

# The three queries of the paper's figure 1.
SHOPLIFTING = """
    PATTERN SEQ(Shelf a, ~(Register b), Exit c)
    WHERE skip_till_next_match(a, b, c) { a.tag_id = b.tag_id and a.tag_id = c.tag_id }
    WITHIN 12 hours
"""
CONTAMINATION = """
    PATTERN SEQ(Alert a, Shipment+ b[])
    WHERE skip_till_any_match(a, b[]) { a.type = 'contaminated' and b[1].from = a.site and b[i].from = b[i-1].to }
    WITHIN 3 hours
"""
STOCKS = """
    PATTERN SEQ(Stock+ a[], Stock b)
    WHERE skip_till_next_match(a[], b) {
        [symbol] and a[1].volume > 1000 and a[i].price > avg(a[..i-1].price) and b.volume < 80%*a[a.LEN].volume }
    WITHIN 1 hour
"""
EVENT_QUERIES = (
    SHOPLIFTING,
    CONTAMINATION,
    STOCKS,
    "PATTERN SEQ(A a)",
    "PATTERN SEQ(`order placed` o, (Shelf | Exit)+ s[], ANY(C, D) d) WHERE strict_contiguity { [k, site.id] }",
    "PATTERN SEQ(A a, B b) WHERE (a.x = 1 or b.x = 2) and a.y between 1 and 2 WITHIN INTERVAL '2' DAY",
    "PATTERN SEQ(A+ a[], !(B b)) WHERE partition_contiguity { } WITHIN 500 events RETURN count(a[]) AS n",
    """PATTERN SEQ(A a, B+ b[]) WHERE { b[i].x > :least } WITHIN :width
    RETURN Risen(a.id, b[b.LEN].x - a.x AS `how far`, 5% AS share) OUTPUT NON_OVERLAP""",
    "PATTERN SEQ(A a, B b) WITHIN 5 SHOW TIMEOUT MATCHES",
    "PATTERN SEQ(A a, B b) WHERE { [k] } WITHIN 3 hours RETURN Late(a.id) OUTPUT NON_OVERLAP SHOW TIMEOUT MATCHES;",
)
