"""How does a tree fall into parts? The pruned arc graph."""
