"""Live pages: what is published to them, what they may ask for, and until when."""
