"""Notebook files as learners hand them in."""

import json


def cell(source: str, grade_id: str = "", *, solution: bool = False, points: float | None = None) -> dict:
    """Give a code cell; with points it is an instructor's test, as a `solution` it is the learner's."""
    told = {"schema_version": 3, "grade_id": grade_id, "solution": solution, "grade": points is not None}
    told |= {"locked": not solution} | ({} if points is None else {"points": points})
    metadata = {"nbgrader": told} if grade_id else {}
    return {"cell_type": "code", "source": source, "metadata": metadata, "outputs": [], "execution_count": None}


def solution(source: str, grade_id: str = "solution_double") -> dict:
    return cell(source, grade_id, solution=True)


def notebook(*cells: dict | str, **more: object) -> bytes:
    """Give a notebook of format 4; text stands for a plain code cell."""
    made = [cell(each) if isinstance(each, str) else each for each in cells]
    return json.dumps({"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": made} | more).encode()


def old_notebook(*sources: str) -> bytes:
    """Give a notebook of format 3, whose cells lie in worksheets and keep their source as `input`."""
    cells = [{"cell_type": "code", "input": source.splitlines(keepends=True), "outputs": []} for source in sources]
    return json.dumps({"nbformat": 3, "nbformat_minor": 0, "worksheets": [{"cells": cells}]}).encode()
