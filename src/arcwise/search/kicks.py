"""Out of a local optimum by a kick: an arc is forced into the tree, and the words around it may answer.

Where trees score by siblings and grandchildren, most trees that climbing gets stuck in differ from better ones in two or three heads
that must change together: neighbouring modifiers that move to another head, or two words that change places, the lower becoming the
head of the upper. A kick makes one of these changes, though it loses, and holds it while the words around climb, and then lets it go.
If the tree scores more in the end than before, climbing goes on from there (`arcwise.search.uphill`); if not, the kick is undone.

A tree that no kick betters is a local optimum of changes of one head, and of all pairs of changes of which the second is the best
answer of a word near the first. To find that out takes one kick for each arc, and a kick some ten looks at words among the arcs that
a model keeps. Where all arcs are allowed it takes O(n^6) steps, so EFFORT bounds it: at 50 words or so some
kicks begin to be left out, and no sentence takes for ever. What is done depends on the tree alone, not on what led to it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arcwise.kernels import kernel
from arcwise.parts.graph import Ints
from arcwise.search.hill import Flags, Hill, Tree, change, copy_tree, is_below, make_tree, total_score
from arcwise.search.uphill import best_change, climb

EFFORT = 1 << 24  # arcs that are looked at, or copied eight at a time, to find a kick that betters a tree


class Room(NamedTuple):
    """Room for kicks. kept: the tree that is kicked. queue: the words to look at, in a circle; waiting: by word, whether it is among
    them; ends: how many went out of the queue, and into it.
    """

    kept: Tree
    queue: Ints
    waiting: Flags
    ends: Ints


@kernel
def make_room(words: int, arcs: int) -> Room:
    """Room for kicks of trees of so many words, the root counted, among so many arcs."""
    return Room(
        make_tree(words, arcs), np.zeros(words, np.int32), np.zeros(words, np.bool_), np.zeros(2, np.int32)
    )


@kernel
def _wake(room: Room, word: int) -> None:
    """Put a word into the queue."""
    if word > 0 and not room.waiting[word]:
        room.waiting[word] = True
        room.queue[room.ends[1] % len(room.queue)] = word
        room.ends[1] += 1


@kernel
def _wake_modifiers(hill: Hill, tree: Tree, room: Room, h: int, possible: bool) -> None:
    """Put the modifiers of h into the queue, or all words that it may have as modifiers."""
    for b in range(hill.out[h], hill.out[h + 1]):
        if possible or tree.taken[b]:
            _wake(room, int(hill.modifier[b]))


@kernel
def _move(hill: Hill, tree: Tree, room: Room, m: int, arc: int) -> None:
    """Give m another arc, and put what is around it into the queue: the old head and the new one with their modifiers, and the words
    that may become modifiers of m.
    """
    h = int(tree.heads[m])
    change(hill, tree, m, arc)
    g = int(tree.heads[m])
    _wake(room, h)
    _wake_modifiers(hill, tree, room, h, False)
    _wake(room, g)
    _wake_modifiers(hill, tree, room, g, False)
    _wake_modifiers(hill, tree, room, m, True)


@kernel
def _force(hill: Hill, tree: Tree, room: Room, arc: int) -> bool:
    """Put an arc from g into the tree; if its modifier is above g, then g takes the place of that. Whether this can be done, and with
    exactly one root leaves one.
    """
    m, g = int(hill.modifier[arc]), int(hill.head[arc])
    h = int(tree.heads[m])
    if g == h or (g == 0 and hill.single_root):
        return False
    if is_below(tree, g, m):
        for k in range(hill.into_first[g], hill.into_first[g + 1]):
            if hill.head[hill.into[k]] == h:
                _move(hill, tree, room, g, int(hill.into[k]))
                _move(hill, tree, room, m, arc)
                return True
        return False
    _move(hill, tree, room, m, arc)
    return True


@kernel
def _climb_around(hill: Hill, tree: Tree, room: Room, held: int, base: int) -> int:
    """Climb by the words in the queue and those around what they change; returns how many arcs were looked at. held: a word that
    keeps its head until no other changes.
    """
    looks = 0
    while True:
        if room.ends[0] == room.ends[1]:
            if held == 0:
                return looks
            _wake(room, held)
            held = 0
        m = int(room.queue[room.ends[0] % len(room.queue)])
        room.ends[0] += 1
        room.waiting[m] = False
        if m != held:
            looks += int(hill.into_first[m + 1] - hill.into_first[m])
            arc, _ = best_change(hill, tree, m, None, 0.0, 0.0, base)
            if arc >= 0:
                _move(hill, tree, room, m, arc)


@kernel
def kick(hill: Hill, tree: Tree, room: Room, effort: int = EFFORT) -> bool:
    """Kick a local optimum by one arc after another until it becomes a better one; whether it does before the effort is spent, else
    it is as it was.
    """
    score, kept, base = total_score(tree), room.kept, int(tree.clock[0])
    copy_tree(tree, kept)
    for arc in range(1, len(hill.head)):
        room.ends[0], room.ends[1] = 0, 0
        if effort <= 0:
            return False
        effort -= len(hill.head) // 8
        if not _force(hill, tree, room, arc):
            continue
        effort -= _climb_around(hill, tree, room, int(hill.modifier[arc]), base)
        if total_score(tree) > score + hill.least:
            for word in range(len(tree.up)):
                tree.looked[word] = 0
            climb(hill, tree, None, 0.0, True, False)
            return True
        copy_tree(kept, tree)
    return False
