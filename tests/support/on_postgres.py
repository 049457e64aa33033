"""Which tests `make test-hosted` runs on Postgres: those that could end differently there.

`make test` has proven everything on SQLite. Run again is what reads or writes rows, takes locks or
goes over Redis; left out is what cannot differ:

- tests that use no database: texts, wires, addresses, forms of the code;
- the folders and files below, whose rows are those of other tests, which are run.
"""

from __future__ import annotations

import pytest

ON_SQLITE_ALONE = {
    "tests/llm/": "judges what goes to an endpoint and what comes from it; the loop that asks is"
    " played in tests/runs/, compaction in tests/memory/",
    "tests/api/test_absent.py": "the same answer, 501, to whatever Letta has and this has not",
    "tests/api/test_promise.py": "looks for names of fields in answers; each operation has tests of"
    " its own in tests/api/, and is called in tests/slow/test_api_document.py",
}
# Within those folders: they write the one table that is theirs.
RUN_ALL_THE_SAME = ("tests/llm/test_facts.py", "tests/llm/test_endpoints_learnt.py")


def can_differ(test: pytest.Item) -> bool:
    """Whether a test could end differently on Postgres."""
    if any(test.get_closest_marker(each) for each in ("hosted", "hosted_only")):
        return True
    left_out = test.nodeid.startswith(tuple(ON_SQLITE_ALONE))
    if left_out and not test.nodeid.startswith(RUN_ALL_THE_SAME):
        return False
    fixtures = set(getattr(test, "fixturenames", ()))
    return bool(test.get_closest_marker("django_db") or fixtures & {"db", "transactional_db"})
