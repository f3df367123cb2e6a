"""Attention by hand: the program behind the course. README.md says how to use it."""
