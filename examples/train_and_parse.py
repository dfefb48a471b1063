"""Train a parser on a small treebank, parse with it, look at the trees.

Run it from the project's folder: python examples/train_and_parse.py
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import arcwise

data = Path(__file__).parent.parent / "tests" / "data"

with TemporaryDirectory() as folder:
    model = Path(folder) / "small.arcwise"
    arcwise.train(data / "train.conllu", data / "dev.conllu", model, epochs=5, label_epochs=2, seed=1)
    parser = arcwise.load(model)  # a file that holds arrays and JSON, and runs no code

# Sentences of a treebank keep all they have; only heads and labels are new.
gold = arcwise.read_conllu(data / "dev.conllu")
parsed = parser(gold)
words = sum(len(sentence) for sentence in gold)
right = sum((found.heads[1:] == given.heads[1:]).sum() for found, given in zip(parsed, gold, strict=True))
print(f"{right} of {words} words have the right head\n")

# So do sentences of one's own.
sentence = arcwise.Sentence.from_words(
    ["The", "old", "parser", "sleeps", "."], upos=["DET", "ADJ", "NOUN", "VERB", "PUNCT"]
)
[tree] = parser(sentence)
for word in range(1, len(tree) + 1):
    head = tree.heads[word]
    print(f"{tree.forms[word]:8} <- {tree.labels[word]:8} {tree.forms[head] if head else 'ROOT'}")
