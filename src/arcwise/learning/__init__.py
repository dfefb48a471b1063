"""What is w? Learners that move the weights."""
