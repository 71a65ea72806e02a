"""The report as HTML: everything is in it, and nothing of the data is taken for a tag."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

from reasons.test_text import REPORT
from trellis.reasons.report import End, Miss, MissRow, Part, Variable, Why


def text_of(report: Why) -> str:
    html = report._repr_html_()
    page = ElementTree.fromstring(html)  # each tag is closed
    style = page.find("style")
    assert style is not None
    page.remove(style)
    assert "http" not in html and "<script" not in html
    return " ".join(" ".join(page.itertext()).split())


def test_all_of_the_report_is_there() -> None:
    told = text_of(replace(REPORT, findings=("'Purchase' occurs in no row",), within="3", cut=2, notes=("a note",)))
    for part in ("0 matches of (C Z* P)", "occurs in no row", "type = 'cart'", "25.0%", "P: not (type = 'Purchase')"):
        assert part in told
    assert "user = 1: 1 row short" in told and "purchase not P" in told and "a note" in told
    assert "2 of all these would have gone on" in told


def test_data_is_no_markup() -> None:
    evil = "<script>alert(1)</script>&"
    end = End(evil, "condition", evil, 1)
    report = replace(
        REPORT,
        pattern=evil,
        findings=(evil,),
        notes=(evil,),
        variables=(Variable(evil, evil, 0, (Part(evil, 0), Part(evil, None))),),
        ends=(end,),
        within=evil,
        nearest=(Miss(((evil, evil),), 1, 1, end, (MissRow(1, evil, (evil,)), MissRow(2, "", (evil,))), 4),),
        columns=(evil,),
    )
    assert evil in text_of(report)
