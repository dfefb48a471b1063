"""The templates that models with word clusters have beside all others, in the same notation (Koo 2010, section 3.3.2).

They mimic the others: short prefixes of the bit strings stand in for tags, whole strings for words; most are hybrids of a string and
a tag, or a string and a frequent word.
"""

from __future__ import annotations

CLUSTER_COARSE = """
B6 | B6     B | C     C | B     B | B
"""

CLUSTER_ARCS = """
B | .     . | B     B C | .     . | B C
B4 | B4     B6 | B6     B | B     B4 | C     C | B4     B6 | C     C | B6     B | C     C | B     B | P     P | B
B4 | W      W | B4      B6 | W    W | B6     B | W      W | B     B | B C     B C | B     B C | B C     B C | C     C | B C
B6-1 B6 | B6 B6+1     B6 B6+1 | B6-1 B6     B6-1 B6 | B6-1 B6     B6 B6+1 | B6 B6+1
C B+1 | C     C | B-1 C     C | C B+1     C B-1 | C
"""

# Two: there is no room for more (`check_label_templates`).
CLUSTER_LABELS = """
B | B     C | B C
"""

CLUSTER_SIBLINGS = """
B4 | B4 | B4     B6 | B6 | B6     C | B4 | B4     B4 | C | B4     B4 | B4 | C     . | B | B     . | B6 | B6     . | B | C
. | C | B        B | C | C        C | B | C        C | C | B       B | B | C       B | C | B       C | B | B
"""

CLUSTER_GRANDCHILDREN = """
B4 | B4 | B4     B6 | B6 | B6     C | B4 | B4     B4 | C | B4     B4 | B4 | C     B | . | B     B6 | . | B6     B | . | C
C | . | B        B | C | C        C | B | C        C | C | B       B | B | C       B | C | B       C | B | B
"""

CLUSTER_COORDINATION = """
B | . | B     B | . | C     C | . | B     . | B | B     . | B6 | B6
"""

CLUSTER_GRAND_SIBLINGS = """
B4 | B4 | B4 | B4     B | C | C | C     C | B | C | C     C | C | B | C     C | C | C | B
"""

CLUSTER_TRI_SIBLINGS = """
B4 | B4 | B4 | B4     B | C | C | C     C | B | C | C     C | C | B | C     C | C | C | B
"""

# Of the low-rank tensor.
CLUSTER_WORDS = """
B     B-1     B+1     B6     B4     B C
"""
