"""Dates and times in Ukrainian; what is not here is as Django has it."""

DATE_FORMAT = "j E Y"
DAY_FORMAT = "j M"  # of this year, where there is little room
DATETIME_FORMAT = "j E Y, H:i"
EXACT_FORMAT = "j E Y, H:i:s T"
