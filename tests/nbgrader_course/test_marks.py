"""What `nbgrader autograde` gives a class with the generated configuration."""

FULL, NONE = 5.0, 0.0


def test_every_learner_has_the_points_of_their_work(graded):
    marks = {learner: (found["double"], found["twice"]) for learner, found in graded.marks().items()}
    assert {learner: marks[learner] for learner in marks if not learner.startswith("mallory")} == {
        "amara": (FULL, FULL),
        "bea": (NONE, 3.0),
        "chidi": (NONE, FULL),
        "dana": (FULL, NONE),
        "emeka": (FULL, FULL),
        "farah": (FULL, FULL),
        "goran": (NONE, FULL),
        "hana": (FULL, FULL),
        "ivan": (FULL, NONE),
        "jun": (FULL, FULL),
        "kofi": (NONE, FULL),
        "lena": (NONE, NONE),
        "mia": (FULL, NONE),
        "noor": (NONE, NONE),
        "omar": (FULL, NONE),
    }
