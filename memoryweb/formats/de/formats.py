"""Dates and times in German; what is not here is as Django has it."""

DATE_FORMAT = "j. M Y"
DAY_FORMAT = "j. M"  # of this year, where there is little room
DATETIME_FORMAT = "j. M Y, H:i"
EXACT_FORMAT = "j. F Y, H:i:s T"
