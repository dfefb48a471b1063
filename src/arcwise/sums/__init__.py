"""Sums over all trees: partition functions, marginals, entropies, samples, and trees of least risk."""
