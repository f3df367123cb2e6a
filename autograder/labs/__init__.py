"""What the notebooks in `exercises/labs/` are made of: predictions, pictures, experiments, and the learner's own code.

A notebook needs one name of it, `Lab`. Nothing here sends anything anywhere.
"""

from autograder.labs.lab import Lab

__all__ = ["Lab"]
