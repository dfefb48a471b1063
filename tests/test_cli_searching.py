"""What `arcwise parse` tells of its search at the end."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np

from arcwise.cli.parse import _Tally
from arcwise.cli.searching import ClimbingCounts, ProgramCounts, SearchCounts
from arcwise.pipeline import dual_sentences
from arcwise.pipeline.parsed import Trees
from arcwise.search.dual_decomposition import AGREED, STOPPED
from tests.pipeline.models import block_of

DEV = Path(__file__).parent / "data" / "dev.conllu"


def trees_of(scores, bounds, whole, report):
    """What a search found for some sentences, as far as a summary looks at it."""
    nothing = np.empty(0, np.int32)
    return Trees(
        nothing,
        nothing,
        np.array(scores, float),
        np.array(whole),
        (),
        np.array(bounds, float),
        np.array(report),
    )


def dual_report(ended, steps, rounds=0):
    row = np.zeros(dual_sentences.REPORT, np.int64)
    row[dual_sentences.ENDED], row[dual_sentences.STEPS], row[dual_sentences.ROUNDS] = ended, steps, rounds
    row[dual_sentences.AUTOMATA] = row[dual_sentences.RECOMPUTED] = 1
    return row


def test_a_summary_does_not_contradict_itself():
    def told(*trees, sentences):
        counts = SearchCounts()
        for one in trees:
            counts.add(one)
        return list(counts.lines(sentences))

    agreed, finished = dual_report(AGREED, 5), dual_report(STOPPED, 120, rounds=1)
    stopped = dual_report(STOPPED, 2000)
    both = trees_of([1, 1], [1, 1], [True, True], [agreed, finished])
    assert (
        told(both, sentences=2)[0]
        == "proved best: 2 of 2 sentences (50.00% by agreement, 50.00% by the finish)"
    )
    in_pieces = trees_of([1], [1], [False], [finished])
    assert told(in_pieces, sentences=1) == ["proved best: 0 of 1 sentences"]
    assert told(both, in_pieces, sentences=3)[0] == (
        "proved best: 2 of 3 sentences (50.00% by agreement, 50.00% by the finish)"
    )
    gap = trees_of([1, 2], [3.5, 9], [True, False], [stopped, finished])
    first, second = told(gap, sentences=2)
    assert first == "proved best: 0 of 2 sentences; the largest gap is 2.5"
    assert second.startswith(
        "dual decomposition: 2000.0 steps a sentence, 999 or more in the median, 100% of"
    )
    assert told(trees_of([1], [1], [True], [0 * agreed]), sentences=1) == []


def test_what_is_counted_does_not_grow_with_the_stream():
    block, sizes = block_of(DEV.read_bytes()), []
    for counts, columns in ((SearchCounts(), 9), (ProgramCounts(), 9), (ClimbingCounts(), 4)):
        tally, random = _Tally(counts), np.random.default_rng(0)
        for number in range(3000):
            report = random.integers(0, 1 << number % 12, (2, columns)) + 1
            tally.add(block, trees_of([0, 0], random.random(2), [True, True], report), 1)
            if number in (100, 2999):
                sizes.append(len(pickle.dumps(tally)))
        assert sizes[-1] - sizes[-2] < 2000, counts
