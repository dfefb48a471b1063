"""All of it together: read, prune, score, search, label, write; model files; training runs."""
