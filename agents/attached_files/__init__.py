"""Files attached to messages: taken, read in a process of their own, stored as passages."""
