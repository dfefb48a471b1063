"""Pictures of trees: for the terminal, the browser, LaTeX and Graphviz. `Sentence.draw` is the front door."""
