"""Run the suites by hand: pytest with this folder grades the solutions, with `--submission=DIR` a folder."""

pytest_plugins = ["autograder.checks", "autograder.suite_run"]
