"""Reports as HTML: one page for each learner, and the same feedback in a notebook."""
