"""Model files: plain arrays and JSON in one safetensors file, compressed by zstd. Loading one runs no code of its maker."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import zstandard
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from arcwise.arrays import Array, Arrays, checked, header_size, read_content
from arcwise.clusters.lookup import CLUSTER_FORMAT, ClusterTable, cluster_table
from arcwise.errors import InputError, ModelError
from arcwise.features.attributes import MOST_FEATURES, Vocabulary, vocabulary
from arcwise.features.cluster_templates import (
    CLUSTER_ARCS,
    CLUSTER_COARSE,
    CLUSTER_COORDINATION,
    CLUSTER_GRAND_SIBLINGS,
    CLUSTER_GRANDCHILDREN,
    CLUSTER_LABELS,
    CLUSTER_SIBLINGS,
    CLUSTER_TRI_SIBLINGS,
    CLUSTER_WORDS,
)
from arcwise.features.context import check_label_templates
from arcwise.features.part_scores import PartWeights
from arcwise.features.part_templates import (
    COORDINATION,
    GRAND_SIBLINGS,
    GRANDCHILDREN,
    SIBLINGS,
    TRI_SIBLINGS,
    PartTemplates,
    compile_part_templates,
    no_part_templates,
    parse_part_templates,
)
from arcwise.features.templates import (
    ARCS,
    COARSE,
    LABELS,
    asks_for_clusters,
    asks_for_tags,
    compile_templates,
    without_tags,
)
from arcwise.features.tensor import DISTANCES, WORDS, Tensor, compile_words, unpack_tensor
from arcwise.features.whole_tree import NO_FAR, WHOLE_TREE, Far, far_of, group_bits
from arcwise.parts.tables import Kind
from arcwise.pipeline.sentences import FORBIDDEN, Weights
from arcwise.pipeline.tensors import write_tensors
from arcwise.search.chart import CHARTS
from arcwise.search.sibling_automata import AUTOMATA
from arcwise.sums.pruning import PRUNINGS
from arcwise.tagging.tagger import Tagger
from arcwise.tagging.tagset import LONGEST_NAME
from arcwise.text.tokeniser import Tokeniser
from arcwise.treebank.block import pack_names
from arcwise.treebank.writing import open_output
from arcwise.trees.shapes import ANY, PROJECTIVE, read_shape

SPANNING_TREE, BELIEFS = "spanning-tree", "belief-propagation"
MOST_RANKS, MOST_LABELS = 1000, 1000
SEARCHES = ("eisner", "sibling", "carreras", "model0", "model1", "model2")  # charts whose parts have features

_KIND, _VERSION = "arcwise model", 2
_CHECKSUM_BYTES = 16
_CACHE_LINE = 64
_LEVEL, _LARGEST = 12, 1 << 30  # of compression; bytes of a model
_TOKENISER, _TAGGER = "tokeniser/", "tagger/"  # before the names of their arrays
_RANKS_PER_ROW = 16  # the same of those of a tensor
_MOST_THRESHOLD, _LONGEST_TEMPLATES = 1e6, 1 << 16
_MOST_IN_MEMORY = 1 << 29  # bytes of a table whose rows are filled up
# So that sums of scores stay finite, and those that are whole numbers stay exact.
_LEAST_SCALE, _GREATEST_SCALE = 1e-20, 1e20
_LEAST_TEMPERATURE, _GREATEST_TEMPERATURE = 1e-9, 1e9
_MOST_OF_FAR, _MOST_OF_TENSOR = 2.0**16, 2.0**50
_PART_TEMPLATES = ("siblings", "grandchildren", "coordination", "grand_siblings", "tri_siblings")
_LABELS_PER_ROW = 32  # rows of label weights are filled up to a multiple of this: whole vector registers


class Scored(NamedTuple):
    """What models over head automata score: what these remember, and whether there are templates of siblings, grandchildren,
    coordination, grand-siblings and tri-siblings; and whether a side of a word without modifiers is scored, too.
    """

    kind: Kind
    groups: tuple[bool, bool, bool, bool, bool]
    nulls: bool = True


DUALS = {
    "dual-grandparent": Scored(CHARTS["model0"], (False, True, True, False, False), False),
    "dual-sibling": Scored(AUTOMATA["sibling"], (True, False, False, False, False)),
    "dual-grandchild": Scored(AUTOMATA["grand-sibling"], (True, True, True, False, False)),
    "dual-grand-sibling": Scored(AUTOMATA["grand-sibling"], (True, True, True, True, False)),
    "dual-third": Scored(AUTOMATA["grand-tri-sibling"], (True, True, True, True, True)),
}
FULL = "full"  # all that dual-third scores, and features of whole trees


@dataclass(frozen=True)
class Settings:
    """What is chosen before training.

    search: "spanning-tree"; BELIEFS, for all trees with siblings and grandchildren; one of DUALS, dual decomposition for all
    trees; FULL, hill climbing by parts and features of whole trees; or one of SEARCHES, a chart for projective trees. climb: whether
    trees are found by hill climbing, in place of a search without a chart. pruning: what the pruner goes by, one of PRUNINGS; a
    search without a chart knows only "heads". threshold: how much less likely than the best head of a word another may be, as a
    logarithm. shape: the class of trees that are found (`arcwise.trees.shapes`); a chart finds projective ones whatever it is.
    whole_tree: the groups of features of far parts and whole trees that FULL has (`arcwise.features.far_features`).
    tensor: the rank of the low-rank tensor, 0 for none; tensor_bits, tensor_words: how it sees words (`arcwise.features.tensor`).
    """

    coarse_bits: int = 21
    arc_bits: int = 23
    label_bits: int = 16
    tag_bits: int = 22
    most_heads: int = 17
    threshold: float = 5.0  # in units of log-probability
    pruning: str = "heads"
    search: str = SPANNING_TREE
    part_bits: int = 22
    coarse: str = COARSE
    arcs: str = ARCS
    labels: str = LABELS
    siblings: str = SIBLINGS
    grandchildren: str = GRANDCHILDREN
    coordination: str = COORDINATION
    grand_siblings: str = GRAND_SIBLINGS
    tri_siblings: str = TRI_SIBLINGS
    shape: str = str(ANY)
    climb: bool = False
    whole_tree: str = WHOLE_TREE
    tensor: int = 0
    tensor_bits: int = 16
    tensor_words: str = WORDS

    def __post_init__(self) -> None:
        tables = (
            self.coarse_bits,
            self.arc_bits,
            self.label_bits,
            self.tag_bits,
            self.part_bits,
            self.tensor_bits,
        )
        for bits in tables:
            if not (isinstance(bits, int) and 6 <= bits <= 28):
                raise InputError(f"a table of 2^{bits} weights", expected="6 to 28 bits")
        if not (
            isinstance(self.most_heads, int)
            and 2 <= self.most_heads <= 1000
            and isinstance(self.threshold, int | float)
            and (0 <= self.threshold <= _MOST_THRESHOLD or self.threshold == np.inf)
        ):
            raise InputError(
                f"a pruner that keeps {self.most_heads} heads within {self.threshold}",
                expected="2 to 1000 heads within 0 or more",
            )
        if not (isinstance(self.tensor, int) and 0 <= self.tensor <= MOST_RANKS):
            raise InputError(f"a tensor of rank {self.tensor}", expected=f"0 (none) to {MOST_RANKS}")
        if not isinstance(self.climb, bool):
            raise InputError(f"climb {self.climb!r}", expected="true or false")
        texts = (self.coarse, self.arcs, self.labels, *self._part_templates, self.tensor_words)
        if not all(isinstance(text, str) and len(text) <= _LONGEST_TEMPLATES for text in texts):
            raise InputError("templates", expected=f"text of at most {_LONGEST_TEMPLATES} letters")
        if (
            self.search not in (SPANNING_TREE, BELIEFS, FULL, *DUALS, *SEARCHES)
            or self.pruning not in PRUNINGS
        ):
            raise InputError(
                f"search {self.search!r} among arcs pruned by {self.pruning!r}",
                expected=f"spanning-tree, {BELIEFS}, {', '.join([FULL, *DUALS, *SEARCHES])}; by {', '.join(PRUNINGS)}",
            )
        if not self.projective and self.pruning != "heads":
            raise InputError(
                f"pruning by {self.pruning!r} for trees that need not be projective", expected="heads"
            )
        if self.climb != (self.search == FULL) and not (
            self.climb and (self.dual or self.search == SPANNING_TREE)
        ):
            raise InputError(
                f"search {self.search!r} {'with' if self.climb else 'without'} hill climbing",
                expected=f"{FULL} with it, spanning-tree or {', '.join(DUALS)} with or without, others without",
            )
        shape = read_shape(self.shape)
        if shape != ANY and self.climb:
            raise InputError(f"shape {self.shape!r} with hill climbing", expected="any: it finds all trees")
        if shape != ANY and self.search == BELIEFS:
            raise InputError(f"shape {self.shape!r} with {BELIEFS}", expected="any: it finds all trees")
        if self.projective and shape not in (ANY, PROJECTIVE):
            raise InputError(
                f"shape {self.shape!r} with the projective search {self.search}",
                expected="any or projective: it finds no other trees",
            )
        try:
            check_label_templates(compile_templates(self.coarse, self.arcs, self.labels))
            parse_part_templates(*self._part_templates)
            compile_words(self.tensor_words)
            group_bits(self.whole_tree)
        except (ValueError, AttributeError) as error:
            raise InputError(f"templates: {error}") from None

    @property
    def projective(self) -> bool:
        """Whether trees are found by a chart."""
        return self.search in SEARCHES

    @property
    def dual(self) -> bool:
        """Whether trees are found by dual decomposition."""
        return self.search in DUALS

    @property
    def second_order(self) -> bool:
        """Whether siblings and grandchildren are all that is scored beside arcs."""
        return self.dual and not any(DUALS[self.search].groups[3:])

    @property
    def kind(self) -> Kind:
        """What the chart or the automata remember; without either, nothing."""
        if self.scored is not None:
            return self.scored.kind
        return CHARTS[self.search if self.projective else "eisner"]

    @property
    def scored(self) -> Scored | None:
        """What is scored of parts that head automata know, if these are all known to them."""
        return DUALS.get("dual-third" if self.search == FULL else self.search)

    @property
    def higher(self) -> bool:
        """Whether parts of more than one arc are scored."""
        return self.search not in (SPANNING_TREE, "eisner")

    @property
    def clusters(self) -> bool:
        """Whether some templates see word clusters."""
        return asks_for_clusters(
            [self.coarse, self.arcs, self.labels, self.tensor_words, *self._part_templates]
        )

    def with_clusters(self) -> Settings:
        """The same with the templates of word clusters added."""
        return replace(
            self,
            coarse=self.coarse + CLUSTER_COARSE,
            arcs=self.arcs + CLUSTER_ARCS,
            labels=self.labels + CLUSTER_LABELS,
            siblings=self.siblings + CLUSTER_SIBLINGS,
            grandchildren=self.grandchildren + CLUSTER_GRANDCHILDREN,
            coordination=self.coordination + CLUSTER_COORDINATION,
            grand_siblings=self.grand_siblings + CLUSTER_GRAND_SIBLINGS,
            tri_siblings=self.tri_siblings + CLUSTER_TRI_SIBLINGS,
            tensor_words=self.tensor_words + CLUSTER_WORDS,
        )

    @property
    def tags(self) -> bool:
        """Whether some templates see parts of speech or morphological features."""
        return asks_for_tags([self.coarse, self.arcs, self.labels, *self._part_templates])

    def without_tags(self) -> Settings:
        """The same with what is left of its templates where a treebank has no tags."""
        names = ("coarse", "arcs", "labels", *_PART_TEMPLATES, "tensor_words")
        left: dict[str, Any] = {name: without_tags(getattr(self, name)) for name in names}
        return replace(self, **left)

    def part_templates(self, words: Vocabulary) -> PartTemplates:
        """The templates of higher parts."""
        groups: tuple[str, ...] = self._part_templates
        scored = self.scored
        if scored is None:
            return compile_part_templates(words, *groups)
        groups = tuple(text if has else "" for text, has in zip(groups, scored.groups, strict=True))
        return compile_part_templates(words, *groups)._replace(nulls=scored.nulls)

    def far(self, words: Vocabulary) -> Far:
        """The features of far parts and whole trees."""
        return far_of(words, self.whole_tree, self.part_bits) if self.search == FULL else NO_FAR

    @property
    def _part_templates(self) -> tuple[str, str, str, str, str]:
        return self.siblings, self.grandchildren, self.coordination, self.grand_siblings, self.tri_siblings


@dataclass(frozen=True)
class Model:
    """A trained model as it is stored.

    names: the labels. single_root: whether trees have exactly one root. facts: what the training saw and reached, for people.
    arrays: those of `model_format`. `keys`, the vocabulary; the weights `coarse`, `arcs`, `labels`, of higher `parts`, `far` parts
    and whole trees, the labels of a known tree, `final`, if these are learned, and the tensor; `allowed`, the labels an arc from the
    root and from a word may have; `scales`, the units of coarse, of arcs, labels and parts, and of final; `far_scale`, that of far;
    those of `arcwise.clusters.lookup`, if there are word clusters. tokeniser, tagger: what comes before the parser, None if
    these were not learned.
    temperature, label_temperature, doubt: by which scores of trees and of labels become probabilities
    (`arcwise.pipeline.confidence`); the second is None if it was not fitted.
    """

    settings: Settings
    names: tuple[str, ...]
    single_root: bool
    arrays: dict[str, NDArray[Any]]
    facts: dict[str, Any] = field(default_factory=dict)
    tokeniser: Tokeniser | None = None
    tagger: Tagger | None = None
    temperature: float = 1.0
    label_temperature: float | None = None
    doubt: float = 0.0

    def weights(self) -> Weights:
        """What the parsing kernel reads."""
        width = _label_width(len(self.names))
        penalties = np.full((2, width), FORBIDDEN, np.int16)
        penalties[:, : len(self.names)][self.arrays["allowed"]] = 0
        rows = {
            name: _laid_out(self.arrays[name], width) for name in {"labels", "final"} & self.arrays.keys()
        }
        settings = self.settings
        return Weights(
            templates=compile_templates(settings.coarse, settings.arcs, settings.labels),
            coarse=_laid_out(self.arrays["coarse"][:, None], 1)[:, 0],
            coarse_bits=settings.coarse_bits,
            most_heads=settings.most_heads,
            threshold=settings.threshold / float(self.arrays["scales"][0]),
            arcs=_laid_out(self.arrays["arcs"][:, None], 1)[:, 0],
            arc_bits=settings.arc_bits,
            label_bits=settings.label_bits,
            penalties=penalties,
            labels=rows["labels"],
            final=rows.get("final", rows["labels"]),
            in_context="final" in rows,
            single_root=self.single_root,
            projective=settings.projective,
            kind=settings.kind,
            unit=float(self.arrays["scales"][0]),
            loopy=settings.search == BELIEFS,
            dual=settings.dual,
            score_unit=float(self.arrays["scales"][1]),
            pruning=PRUNINGS[settings.pruning],
            shape=ANY if settings.projective else read_shape(settings.shape),
            far=self._far(),
            climb=settings.climb,
            tensor=self._tensor(),
            parts=PartWeights(
                settings.part_templates(self.vocabulary()) if settings.higher else no_part_templates(),
                _laid_out(self.arrays.get("parts", np.zeros(1, np.int8))[:, None], 1)[:, 0],
                settings.part_bits,
            ),
        )

    def _far(self) -> tuple[Far, NDArray[np.float32]] | None:
        """The features of far parts and whole trees and their weights, in units of all others, if there are any."""
        if self.settings.search != FULL:
            return None
        scale = self.arrays["far_scale"][0] / self.arrays["scales"][1]
        return self.settings.far(self.vocabulary()), self.arrays["far"] * np.float32(scale)

    def _tensor(self) -> Tensor | None:
        """The low-rank tensor, if there is one, with ranks of zeros that fill up vector registers."""
        if self.settings.tensor == 0:
            return None
        width = _tensor_width(self.settings)
        tensor = unpack_tensor(
            self.arrays, compile_words(self.settings.tensor_words), float(self.arrays["scales"][1])
        )
        distances = np.zeros((DISTANCES, width), np.float32)
        distances[:, : self.settings.tensor] = tensor.distances
        heads, modifiers = _laid_out(tensor.heads, width), _laid_out(tensor.modifiers, width)
        return tensor._replace(heads=heads, modifiers=modifiers, distances=distances)

    def vocabulary(self) -> Vocabulary:
        """The values of attributes that it knows, and the clusters of words."""
        return vocabulary(self.arrays["keys"].copy(), self.clusters())

    def clusters(self) -> ClusterTable:
        """Those of words; none if the model has not been trained with clusters."""
        return cluster_table(self.arrays)


def _laid_out(table: NDArray[np.int8], width: int) -> NDArray[np.int8]:
    """A copy with rows filled up with zeros to `width`, laid out for random access.

    It begins with a line of the cache, so that what should share a line does; and in memory that NumPy itself allocated, for
    which it asks the system for large pages.
    """
    rows = len(table)
    room = np.empty(rows * width + _CACHE_LINE, np.uint8)
    begin = -room.ctypes.data % _CACHE_LINE
    copy = room[begin : begin + rows * width].view(np.int8).reshape(rows, width)
    copy[:, : table.shape[1]] = table
    copy[:, table.shape[1] :] = 0
    return copy


def _checksum(header: str, arrays: dict[str, NDArray[Any]]) -> str:
    digest = hashlib.blake2b(header.encode(), digest_size=_CHECKSUM_BYTES)
    for name in sorted(arrays):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(arrays[name]).data)
    return digest.hexdigest()


def write_sealed(
    path: str | Path,
    kind: str,
    header: dict[str, Any],
    arrays: dict[str, NDArray[Any]],
    *,
    compress: bool = False,
) -> None:
    """Write a header and arrays with a checksum of both; the same content gives the same bytes."""
    text = json.dumps(header | {"kind": kind, "version": _VERSION}, sort_keys=True)
    # One entry of metadata only: safetensors writes several in any order.
    metadata = {"arcwise": _checksum(text, arrays) + text}
    with open_output(path, compress=False) as file:
        if compress:
            compressor = zstandard.ZstdCompressor(_LEVEL, write_checksum=True)
            file.write(compressor.compress(save(arrays, metadata)))
        else:
            write_tensors(file, arrays, metadata)


def read_sealed(
    path: Path, kind: str, most: int = _LARGEST
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The header and arrays of a file of this kind, of `most` bytes; a missing, damaged or foreign file is a ModelError that says
    which.
    """
    try:
        content, checked = _decompressed(read_content(path, most, zstandard.FRAME_HEADER))
        text = _metadata(content)["arcwise"]
        checksum, text = text[: 2 * _CHECKSUM_BYTES], text[2 * _CHECKSUM_BYTES :]
        header = dict(json.loads(text))
    except FileNotFoundError:
        raise ModelError(f"{path}: no such file") from None
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror}") from None
    except MemoryError:
        raise ModelError(f"{path}: too large for the memory that there is") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        content, checked, checksum, text, header = b"", False, "", "", {}
    if header.get("kind") != kind:
        raise ModelError(f"{path}: not an {kind} (expected a file that `arcwise train` made), or damaged")
    if header.get("version") != _VERSION:
        raise ModelError(
            f"{path}: an {kind} of version {header.get('version')}; this arcwise reads version {_VERSION}: train it anew"
        )
    try:
        arrays = load(content)
    except MemoryError:
        raise ModelError(f"{path}: too large for the memory that there is") from None
    except (SafetensorError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"{path}: the {kind} is damaged: {error}") from None
    if not checked and _checksum(text, arrays) != checksum:
        raise ModelError(f"{path}: the {kind} is damaged: its checksum does not fit")
    return header, arrays


def _decompressed(content: bytes) -> tuple[bytes, bool]:
    """The content of a file that may be compressed, and whether zstd has compared it with a checksum of its own, ten times as fast as
    `_checksum`; ValueError if it is damaged, or too large to be a model.
    """
    if not content.startswith(zstandard.FRAME_HEADER):
        return content, False
    try:
        if not 0 <= zstandard.frame_content_size(content) <= _LARGEST:
            raise ValueError("larger than any model")
        checked = zstandard.get_frame_parameters(content).has_checksum
        return zstandard.ZstdDecompressor().decompress(content, allow_extra_data=False), checked
    except (zstandard.ZstdError, MemoryError) as error:
        raise ValueError(str(error)) from None


def _metadata(content: bytes) -> dict[str, Any]:
    """The metadata in the head of a safetensors file; ValueError, KeyError or TypeError if it is none."""
    size = header_size(content)
    if size > len(content) - 8:
        raise ValueError("no safetensors file")
    return dict(json.loads(content[8 : 8 + size])["__metadata__"])


def save_model(model: Model, path: str | Path) -> None:
    """Write the model; the same model gives the same bytes."""
    settings = asdict(model.settings)
    usual = {
        "shape": str(ANY),
        "climb": False,
        "whole_tree": WHOLE_TREE,
        "tensor": 0,
    }  # as before there were others: all versions read it
    unused = [name for name, value in usual.items() if settings[name] == value]
    for name in [*unused, *(("tensor_bits", "tensor_words") if "tensor" in unused else ())]:
        del settings[name]
    header = {
        "settings": settings,
        "names": model.names,
        "single_root": model.single_root,
        "facts": model.facts,
        "temperature": model.temperature,
        "label_temperature": model.label_temperature,
        "doubt": model.doubt,
    }
    arrays = dict(model.arrays)
    if model.tokeniser is not None:
        header["tokeniser"] = model.tokeniser.header()
        arrays |= {f"{_TOKENISER}{name}": array for name, array in model.tokeniser.arrays().items()}
    if model.tagger is not None:
        header["tagger"] = model.tagger.header
        arrays |= {f"{_TAGGER}{name}": array for name, array in model.tagger.arrays.items()}
    write_sealed(path, _KIND, header, arrays, compress=True)


def load_model(path: str | Path) -> Model:
    """Read a model; a missing, damaged or foreign file is a ModelError that says which."""
    path = Path(path)
    header, arrays = read_sealed(path, _KIND)
    try:
        tokeniser, tagger = header.get("tokeniser"), header.get("tagger")
        label_temperature = header.get("label_temperature")
        others = tuple(prefix for prefix, part in ((_TOKENISER, tokeniser), (_TAGGER, tagger)) if part)
        model = Model(
            settings=Settings(**header["settings"]),
            names=tuple(str(name) for name in header["names"]),
            single_root=bool(header["single_root"]),
            arrays={name: array for name, array in arrays.items() if not name.startswith(others)},
            facts=dict(header["facts"]),
            temperature=float(header["temperature"]),
            label_temperature=None if label_temperature is None else float(label_temperature),
            doubt=float(header.get("doubt", 0.0)),
            tokeniser=tokeniser and Tokeniser.from_arrays(named(arrays, _TOKENISER), tokeniser),
            tagger=tagger and Tagger(named(arrays, _TAGGER), tagger, cluster_table(arrays)),
        )
        _check(model)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise ModelError(f"{path}: not a model that arcwise can use: {error}") from None
    except MemoryError:
        raise ModelError(f"{path}: too large for the memory that there is") from None
    return model


def named(arrays: dict[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    """The arrays whose names begin with a prefix, by the rest of their names."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def model_format(settings: Settings, labels: int) -> dict[str, Array]:
    """What the arrays of a model with these settings and so many labels must be."""
    by_label = Array(np.int8, (1 << settings.label_bits, labels))
    parts = Array(np.int8, (1 << settings.part_bits,))
    scales = Array(np.float32, (3,), least=_LEAST_SCALE, most=_GREATEST_SCALE)
    found = {
        "keys": Array(np.uint64, ("values",), least=1, rising=True),
        "coarse": Array(np.int8, (1 << settings.coarse_bits,)),
        "arcs": Array(np.int8, (1 << settings.arc_bits,)),
        "labels": by_label,
        "final": by_label,
        "allowed": Array(
            np.bool_, (2, labels), holds=lambda allowed: bool(allowed.any(axis=1).all()),
            meaning="a label for arcs from the root and one for others",
        ),
        "scales": scales,
        **CLUSTER_FORMAT,
    }  # fmt: skip
    if settings.higher:
        found["parts"] = parts
    if settings.search == FULL:
        found |= {"far": parts, "far_scale": scales._replace(shape=(1,))}
    if settings.tensor:
        by_rank = Array(np.int8, (1 << settings.tensor_bits, settings.tensor))
        distances = Array(np.float32, (DISTANCES, settings.tensor))
        found |= {"tensor_heads": by_rank, "tensor_modifiers": by_rank, "tensor_distances": distances}
    return found


def check_arrays(settings: Settings, labels: int, arrays: Arrays, *, complete: bool = True) -> None:
    """InputError for arrays of a model that the kernels could not trust. complete: whether none may be missing."""
    if not 0 < labels <= MOST_LABELS or (1 << settings.arc_bits) + (labels << settings.label_bits) >= 1 << 32:
        raise InputError(
            f"{labels} labels", expected=f"one or more, for tables of 2^{settings.label_bits} rows"
        )
    for width, bits in (
        (_label_width(labels), settings.label_bits),
        (_tensor_width(settings), settings.tensor_bits),
    ):
        if width << bits > _MOST_IN_MEMORY:
            raise InputError(
                f"a table of 2^{bits} rows of {width}", expected=f"{_MOST_IN_MEMORY} weights at most"
            )
    format = model_format(settings, labels)
    if not settings.clusters and not CLUSTER_FORMAT.keys() & arrays.keys():
        format = {name: array for name, array in format.items() if name not in CLUSTER_FORMAT}
    if "final" not in arrays:
        del format["final"]
    checked(arrays, format, complete=complete)
    if settings.clusters and complete and not len(arrays["clusters.grains"]):
        raise InputError("no word clusters", expected="those it was trained with")
    if "far_scale" in arrays and arrays["far_scale"][0] > _MOST_OF_FAR * arrays["scales"][1]:
        raise InputError(
            "weights of far parts that are too large", expected=f"up to {_MOST_OF_FAR:g} of the others"
        )
    if "tensor_distances" in arrays:
        greatest = 127.0 * (len(compile_words(settings.tensor_words)) + 2 * MOST_FEATURES)
        weights = 2.0 * np.abs(arrays["tensor_distances"].astype(np.float64)).max(axis=0).sum()
        if weights * greatest**2 > _MOST_OF_TENSOR * float(arrays["scales"][1]):
            raise InputError(
                "numbers of the tensor that are too large", expected=f"scores up to {_MOST_OF_TENSOR:g}"
            )


def _label_width(labels: int) -> int:
    """How many weights a row of labels has in memory."""
    return -(-labels // _LABELS_PER_ROW) * _LABELS_PER_ROW


def _tensor_width(settings: Settings) -> int:
    """How many weights a row of the tensor has in memory."""
    return -(-settings.tensor // _RANKS_PER_ROW) * _RANKS_PER_ROW


def _check(model: Model) -> None:
    """Everything that the kernels trust."""
    check_arrays(model.settings, len(model.names), model.arrays)
    for temperature in (model.temperature, model.label_temperature):
        if temperature is not None and not _LEAST_TEMPERATURE <= temperature <= _GREATEST_TEMPERATURE:
            raise InputError(f"a temperature of {temperature}", expected="a positive number, near 1")
    if not 0 <= model.doubt < 1:
        raise InputError(f"a doubt of {model.doubt}", expected="a share, less than 1")
    if max(map(len, model.names)) > LONGEST_NAME:
        raise InputError("a very long label", expected=f"at most {LONGEST_NAME} letters")
    pack_names([name.encode() for name in model.names])
