"""How dates and times are written; Django looks here because of FORMAT_MODULE_PATH."""
