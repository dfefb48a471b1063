"""argmax: numbers in, trees out. Knows nothing of features, words or files."""
