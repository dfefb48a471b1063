"""arcwise: dependency trees, searched for and proved best.

Importing this package is cheap: a name below loads its module when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Every public name, and the module it lives in.
_HOMES = {
    "ArcGraph": "arcwise.parts.arc_graph",
    "ArcwiseError": "arcwise.errors",
    "Clusters": "arcwise.clusters.files",
    "HeadAutomata": "arcwise.parts.head_automata",
    "InputError": "arcwise.errors",
    "ModelError": "arcwise.errors",
    "NoTreeError": "arcwise.errors",
    "Parse": "arcwise.search.result",
    "Parser": "arcwise.pipeline.parser",
    "PartScores": "arcwise.parts.arc_graph",
    "Scores": "arcwise.parts.scores",
    "Sentence": "arcwise.treebank.sentence",
    "cluster": "arcwise.clusters.clustering",
    "decode": "arcwise.search.decode",
    "entropy": "arcwise.sums.front",
    "estimate": "arcwise.sums.estimates",
    "expected_score": "arcwise.sums.front",
    "k_best": "arcwise.search.decode",
    "load": "arcwise.pipeline.parser",
    "log_partition": "arcwise.sums.front",
    "marginals": "arcwise.sums.front",
    "max_marginals": "arcwise.sums.front",
    "min_risk": "arcwise.sums.front",
    "read_clusters": "arcwise.clusters.files",
    "read_conllu": "arcwise.treebank.reading",
    "sample": "arcwise.sums.front",
    "train": "arcwise.pipeline.training",
    "write_clusters": "arcwise.clusters.files",
    "write_conllu": "arcwise.treebank.writing",
}

_FOLDERS = ("constraints",)  # whose names are public, too

__all__ = ["__version__", *_FOLDERS, *sorted(_HOMES)]

if TYPE_CHECKING:
    from arcwise import constraints as constraints
    from arcwise.clusters.clustering import cluster as cluster
    from arcwise.clusters.files import Clusters as Clusters
    from arcwise.clusters.files import read_clusters as read_clusters
    from arcwise.clusters.files import write_clusters as write_clusters
    from arcwise.errors import ArcwiseError as ArcwiseError
    from arcwise.errors import InputError as InputError
    from arcwise.errors import ModelError as ModelError
    from arcwise.errors import NoTreeError as NoTreeError
    from arcwise.parts.arc_graph import ArcGraph as ArcGraph
    from arcwise.parts.arc_graph import PartScores as PartScores
    from arcwise.parts.head_automata import HeadAutomata as HeadAutomata
    from arcwise.parts.scores import Scores as Scores
    from arcwise.pipeline.parser import Parser as Parser
    from arcwise.pipeline.parser import load as load
    from arcwise.pipeline.training import train as train
    from arcwise.search.decode import decode as decode
    from arcwise.search.decode import k_best as k_best
    from arcwise.search.result import Parse as Parse
    from arcwise.sums.estimates import estimate as estimate
    from arcwise.sums.front import entropy as entropy
    from arcwise.sums.front import expected_score as expected_score
    from arcwise.sums.front import log_partition as log_partition
    from arcwise.sums.front import marginals as marginals
    from arcwise.sums.front import max_marginals as max_marginals
    from arcwise.sums.front import min_risk as min_risk
    from arcwise.sums.front import sample as sample
    from arcwise.treebank.reading import read_conllu as read_conllu
    from arcwise.treebank.sentence import Sentence as Sentence
    from arcwise.treebank.writing import write_conllu as write_conllu


def __getattr__(name: str) -> Any:
    if name in _FOLDERS:
        return import_module(f"arcwise.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'arcwise' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
