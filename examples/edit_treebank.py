"""Read a treebank, change it, write it: all that is not changed survives byte for byte.

Run it from the project's folder: python examples/edit_treebank.py
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import arcwise

path = Path(__file__).parent.parent / "tests" / "data" / "dev.conllu"
treebank = arcwise.read_conllu(path)  # CoNLL-U, CoNLL-X, CoNLL-2008 or -2009, also .gz, .xz, .zst
print(f"{len(treebank)} sentences, {sum(map(len, treebank))} words; the first: {treebank[0].text}")

# Drop the subtypes of all labels: nsubj:pass becomes nsubj. Keep the short sentences only.
edited = [
    sentence.replace(labels=[label.partition(":")[0] for label in sentence.labels])
    for sentence in treebank
    if len(sentence) <= 12
]

with TemporaryDirectory() as folder:
    output = Path(folder) / "edited.conllu.gz"
    arcwise.write_conllu(edited, output)  # appears when it is complete
    again = arcwise.read_conllu(output)
    print(f"{len(again)} sentences of at most 12 words written to {output.name}")
    labels = sorted({label for sentence in again for label in sentence.labels[1:]})
    print("their labels:", ", ".join(labels))
