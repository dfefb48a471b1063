"""Options and searches: whatever an option is given for, it does something, or is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arcwise
from arcwise import InputError, Scores, decode
from arcwise.search.options import OPTIONS

S = np.random.default_rng(3).normal(size=(4, 4))
# Every option of `decode` about how to search, with a value that is not its default.
GIVEN: dict[str, Any] = {
    "iterations": 7, "budget": 7000, "rule": "paper", "trace": True, "relaxation": "sums", "connected": "single-flow",
    "seconds": 50.0, "restarts": 2, "start": "uniform", "seed": 5,
}  # fmt: skip
SEARCHES: dict[str, dict[str, Any]] = {
    "spanning-tree": {},
    "eisner": {"projective": True},
    "branch-and-bound": {"block_degree": 2},
    "lagrangian": {"block_degree": 2, "decoder": "lagrangian"},
    "sibling": {"projective": True, "decoder": "sibling"},
    "dual": {"decoder": "dual"},
    "lp": {"decoder": "lp"},
    "ilp": {"decoder": "ilp"},
    "price": {"decoder": "price"},
    "climb": {"decoder": "climb"},
}


@pytest.mark.parametrize("option", GIVEN)
@pytest.mark.parametrize("search", SEARCHES)
def test_an_option_is_known_or_refused(search: str, option: str) -> None:
    how = SEARCHES[search] | {option: GIVEN[option]}
    if option in OPTIONS[search]:
        assert decode(S, **how).stats["method"] == search
        return
    for scores in (S, [S, S]):
        with pytest.raises(
            InputError, match=rf"^{option} with decoder '{search}', expected .*decoder.* for it$"
        ):
            decode(scores, **how)


def test_tables_pick_their_search_before_options_are_judged() -> None:
    parts = Scores(S, siblings=np.zeros((4, 4, 4)))
    assert "trace" in decode(parts, trace=True).stats
    with pytest.raises(InputError, match="trace with decoder 'eisner', expected decoder 'dual' for it"):
        decode(parts, trace=True, projective=True)
    with pytest.raises(InputError, match="budget with exact=False, expected exact=True for it"):
        decode(parts, exact=False, budget=9)
    with pytest.raises(InputError, match="decoder is 'nothing'"):
        decode(S, decoder="nothing", rule="paper")


@pytest.mark.parametrize("how", [{}, {"projective": True}, {"block_degree": 2}])
def test_constraints_take_a_limit_of_time_whatever_the_search(how: dict[str, Any]) -> None:
    parse = decode(S, constraints=["root 2"], seconds=50.0, **how)
    assert parse.heads[2] == 0
    with pytest.raises(InputError, match="restarts with decoder"):
        decode(S, constraints=["root 2"], restarts=5, **how)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"jobs": 0}, "jobs is 0"),
        ({"jobs": 1.5}, "jobs is 1.5"),
        (
            {"iterations": 2**70, "block_degree": 2},
            r"iterations is 1180591620717411303424, expected a number",
        ),
        ({"budget": 2**70, "block_degree": 2}, r"budget is 1180591620717411303424, expected a "),
    ],
)
def test_numbers_are_checked_for_one_matrix_too(options: dict[str, Any], told: str) -> None:
    for scores in (S, [S]):
        with pytest.raises(InputError, match=told):
            decode(scores, **options)


def test_what_takes_too_much_memory_is_refused_before_it_is_taken() -> None:
    with pytest.raises(InputError, match=r"between 3000 words, for which the tables take .* GiB, expected"):
        decode(np.zeros((3001, 3001)), decoder="climb")


class Liar:
    """Scores that are not what they say."""

    ndim = 3

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return S


def test_scores_that_are_not_what_they_say_are_refused() -> None:
    for function in (decode, arcwise.marginals, arcwise.log_partition, arcwise.entropy):
        with pytest.raises(InputError, match=r"scores of shape \(4, 4\), expected \(b, n\+1, n\+1\)"):
            function(Liar())
