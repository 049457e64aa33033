"""What a script can do about a run that failed."""

from __future__ import annotations

from agents.models import Run
from agents.runs.ways_on import fault_of

from . import ids


def ways_on(run: Run) -> list[dict[str, str]]:
    """What a script can do about a run that failed; [] for any other."""
    if run.status != Run.Status.FAILED:
        return []
    ways = {"retry": "Sends the same request again."}
    if fault := fault_of(run):
        ways["leave_out"] = f"Leaves out {fault.named}."
        ways["make_room"] = "Summarises all but the last exchange first."
    return [{"way": way, "does": does} for way, does in ways.items()]


def in_a_sentence(run: Run) -> str:
    """The ways on, as the end of an error message; "" if there is only the retry."""
    ways = ways_on(run)[1:]
    if not ways:
        return ""
    named = "; ".join(f"{each['way']}: {each['does'].rstrip('.')}" for each in ways)
    address = f"/v1/runs/{ids.numbered('run', run.pk)}/retry"
    return f" Ways on, by POST {address} with a 'way' ({named}), or choose another model."
