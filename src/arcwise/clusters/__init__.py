"""Better phi from raw text: clusters of words that occur in the same places."""
