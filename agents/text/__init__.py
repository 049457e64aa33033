"""Texts: compiled, compared and drawn. Nothing here knows a model or the database."""
