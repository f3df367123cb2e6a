"""The learner's process: how it is started, jailed, spoken to and ended."""
