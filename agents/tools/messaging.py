"""MemGPT's way to talk: a tool whose call ends the turn."""

from .tool import Caller, tool


@tool(ends_turn=True)
def send_message(caller: Caller, message: str) -> str:
    """Send a message to the person. This is the only way they can hear you; it ends your turn.

    Args:
        message: What to say to them.
    """
    return "Sent."
