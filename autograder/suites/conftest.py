"""Run the suites by hand: `pytest autograder/suites` grades the solutions, `--submission=DIR` a folder."""

pytest_plugins = ["autograder.checks", "autograder.suite_run"]
