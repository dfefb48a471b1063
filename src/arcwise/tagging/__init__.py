"""Which tags? Parts of speech, morphological features and lemmas of the words of a sentence."""
