"""Dates and times in English, with the day first and 24 hours, as the pages write them."""

DATE_FORMAT = "j M Y"
TIME_FORMAT = "H:i"
DAY_FORMAT = "j M"  # of this year, where there is little room
DATETIME_FORMAT = "j M Y, H:i"
EXACT_FORMAT = "j F Y, H:i:s T"
