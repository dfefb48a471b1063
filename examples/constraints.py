"""What you know of a sentence, the parser need not guess: constraints, and what happens if they cannot be had together."""

from __future__ import annotations

import arcwise
from arcwise.constraints import AtMostOne, HeadInside, Subtree

TEXT = "The gardener watered the roses near the gate with a hose."


def main() -> None:
    parser = arcwise.load("en")
    print(parser(TEXT).draw())
    print(parser(TEXT, constraints=[Subtree(4, 8), AtMostOne(["nsubj", "csubj"])]).draw())
    try:
        parser(TEXT, constraints=[Subtree(4, 8), HeadInside(11, 4, 8)])
    except arcwise.ArcwiseError as error:
        print(error)


if __name__ == "__main__":
    main()
