#!/usr/bin/env python
"""Django's command line for memoryweb."""

from memoryweb.command_line import manage

if __name__ == "__main__":
    manage()
