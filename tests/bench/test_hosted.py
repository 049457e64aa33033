"""What the hosted benchmark concludes from what it reads; it is not run here."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from bench.hosted.people import Watching, check
from bench.hosted.statements import Counted, read
from bench.hosted.tables import Table
from bench.hosted.usage import WEB, WORKER, Sample
from bench.processes import Server

LOG = """\
2026-11-22 16:33:31.708 UTC [7] LOG:  parameter "log_min_duration_statement" changed to "0"
@memoryweb web max=18 4711@host@LOG:  duration: 0.011 ms  statement: BEGIN
@memoryweb web max=18 4711@host@LOG:  duration: 0.250 ms  bind _pg3_5: SELECT *
\t  FROM agents_run WHERE id IN ($1, $2) AND text = 'it''s 7'
@memoryweb web max=18 4711@host@LOG:  duration: 1.500 ms  execute _pg3_5: SELECT *
\t  FROM agents_run WHERE id IN ($1, $2) AND text = 'it''s 7'
@bench@LOG:  duration: 0.100 ms  statement: SELECT 1
@memoryweb worker max=23 4712@host@LOG:  duration: 0.200 ms  execute <unnamed>: SELECT 5
@@LOG:  received SIGHUP, reloading configuration files
"""


@pytest.fixture
def page() -> Watching:
    page = Watching(Server.__new__(Server), "agent")
    page.watch_from_here()
    return page


def test_statements_are_read_off_the_log_by_who_sent_them_and_without_values(
    tmp_path: Path,
) -> None:
    log = tmp_path / "log"
    log.write_text(LOG)
    runs = "SELECT * FROM agents_run WHERE id IN (…) AND text = ?"
    assert list(read(log)) == [
        ("web", "BEGIN", 11, True),
        ("web", runs, 250, False),
        ("web", runs, 1500, True),
        ("worker", "SELECT ?", 200, True),
    ]


def test_what_an_idle_deployment_does_in_the_same_time_is_subtracted() -> None:
    begin, select = ("web", "BEGIN"), ("worker", "SELECT ?")
    busy = Counted(Counter({begin: 30, select: 12}), Counter({begin: 3, select: 24}), 42, 6)
    idle = Counted(Counter({select: 4}), Counter({select: 8}), 4, 2)
    left = Counted(Counter({begin: 30, select: 0}), Counter({begin: 3, select: 0}), 30, 6)
    assert busy.without(idle) == left
    used = Sample(10, {WEB: 3.0, WORKER: 2.0}).without(Sample(5, {WEB: 0.5, WORKER: 0.0}))
    assert (used.cpu, used.total) == ({WEB: 2.0, WORKER: 2.0}, 4.0)


def test_a_page_that_got_every_piece_in_order_has_no_faults(page: Watching) -> None:
    for seq, content in enumerate(["w0-100 ", "w1-120 w2-140 ", "<p>w0-100 w1-120 w2-140</p>"], 1):
        page.take_seq(seq)
        page.take_pieces(content, now=150.0)
    assert check([page], 3) == []
    assert page.lags == [50.0, 30.0, 10.0]


def test_a_piece_that_is_missing_is_found(page: Watching) -> None:
    page.take_pieces("w0-100 w2-140 ", now=150.0)
    assert check([page], 3) == ["page 0: piece 2 came when 1 was next"]
    assert check([page], 4)[-1] == "page 0: 3 of 4 pieces came"


def test_an_event_that_comes_late_is_found(page: Watching) -> None:
    for seq in (1, 3, 2):
        page.take_seq(seq)
    assert page.faults == ["event 2 came after event 3"]


def test_a_table_is_drawn_for_the_terminal_and_for_a_document() -> None:
    table = Table("Sizes", ["", "MB"])
    table.add("web", "90")
    assert table.text() == "Sizes\n\n     MB\n-------\nweb  90"
    assert table.markdown() == "**Sizes**\n\n|  | MB |\n| --- | ---: |\n| web | 90 |"
