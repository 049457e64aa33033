"""What open pages are told, and who may go on listening."""
