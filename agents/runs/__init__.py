"""Runs: how they go on, and what can be done where they cannot."""
