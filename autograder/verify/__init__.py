"""The suites on trial: wrong answers must fail, right ones must pass, and the mistake gets its name."""
