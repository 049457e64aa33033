"""Imports: conversations that were exported from ChatGPT and Claude."""
