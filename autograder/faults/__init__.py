"""Wrong implementations, one family per exercise: what `verify` tries the suites with, and `diagnosis` explains with."""
