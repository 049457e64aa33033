"""Views: find, verb, render. Every one starts from what the person may see."""
