"""Outputs: reports go in, a table or a file comes out."""
