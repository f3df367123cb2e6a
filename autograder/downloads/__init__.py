"""What lies on an instructor's disk: folders, archives and downloads of learning platforms, read without trust.

`model` says what comes out; `nodes`, `disk` and `archives` read folders and zip archives alike; `modules` sorts out
what one learner handed in; `layouts` knows how each platform names and nests what it gives.
"""
