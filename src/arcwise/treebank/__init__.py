"""Files: treebanks read and written, byte for byte."""
