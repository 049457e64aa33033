"""The past: who wrote what, the memory at any event, forks, and requests compared."""
