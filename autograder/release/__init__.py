"""What instructors hand out, made from what they have: the stubs, and the learner's bundle around them."""

from autograder.release.stubs import (
    BEGIN,
    END,
    ReleaseError,
    made_stub,
    stub_text,
    without_markers,
    write_stubs,
)

__all__ = ["BEGIN", "END", "ReleaseError", "made_stub", "stub_text", "without_markers", "write_stubs"]
