"""Wrong implementations, one family per exercise: for `verify` to try, for `diagnosis` to name."""
