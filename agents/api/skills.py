"""The skills of a script: the system message lists them while a run of it goes on."""

from __future__ import annotations

from .schemas.messages import ClientSkill


def listed_skills(skills: list[ClientSkill] | None) -> str:
    """A line for each; "" if it has none."""
    lines = []
    for skill in {each.name: each for each in skills or []}.values():
        about = skill.description.strip().partition("\n")[0]
        lines.append(" ".join(f"- {skill.name} ({skill.location}): {about}".split()))
    listed = "\n".join(sorted(lines))
    return f"<available_skills>\n{listed}\n</available_skills>" if lines else ""
