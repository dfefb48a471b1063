"""Find the best trees of score matrices that any model made, and know that they are the best.

Run it: python examples/decode_scores.py
"""

import numpy as np

import arcwise

words = ["ROOT", "John", "saw", "Mary"]
# S[h, m] scores the arc from head h to modifier m; the root is 0. Column 0 and the diagonal are never read.
S = np.array(
    [
        [0.0, 9.0, 10.0, 9.0],
        [0.0, 0.0, 20.0, 3.0],
        [0.0, 30.0, 0.0, 30.0],
        [0.0, 11.0, 0.0, 0.0],
    ]
)

best = arcwise.decode(S)
for modifier, head in enumerate(best.heads[1:], start=1):
    print(f"{words[head]} -> {words[modifier]}")
# No tree scores more than the bound: a score that reaches it is proved best.
print(f"score {best.score}, bound {best.bound}, certified {best.certified}\n")

print("The three best trees:")
for parse in arcwise.k_best(S, 3):
    print(parse.score, parse.heads[1:].tolist())

constrained = arcwise.decode(S, projective=True, required=[(3, 1)], forbidden=[(2, 1)])
print(f"\nWith an arc from Mary to John: {constrained.score}", constrained.heads[1:].tolist())

# Many matrices at once: one call, two threads, a list back.
generator = np.random.default_rng(0)
many = arcwise.decode([generator.normal(size=(n + 1, n + 1)) for n in range(1, 50)], jobs=2)
print(f"\n{len(many)} more trees, all certified: {all(parse.certified for parse in many)}")
