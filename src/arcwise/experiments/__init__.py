"""The papers' tables, on any treebanks: one experiment a file."""
