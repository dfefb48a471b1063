"""From a text to trees, words and confidences.

Run it from the project's folder: python examples/parse_text.py
"""

import arcwise

parser = arcwise.load("en")
doc = parser("Our neighbours didn't believe that the cat had opened the door. We did, of course.")

for sentence in doc:
    print(sentence.draw(width=100))

[root] = [word for word in doc[0].words if word.head is None]
print(f"{root.form} governs {', '.join(word.form for word in root.children)}")
for word in root.children:
    if word.label == "ccomp":
        print("what was not believed:", " ".join(each.form for each in word.subtree))

unsure = min((word for sentence in doc for word in sentence.words), key=lambda word: word.confidence)
print(f"least certain: {unsure.form} as {unsure.label} of {unsure.head}, {unsure.confidence:.0%}")
