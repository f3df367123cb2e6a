"""Checks that are kept ready to be run again, so that an answer comes within a blink after a save."""
