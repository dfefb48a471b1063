"""Raw text: tokens, sentences and the words of contractions, by rules and a small learned model."""
