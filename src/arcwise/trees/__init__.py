"""What is in Y(x)? Shapes of trees, and all trees of a short sentence."""
