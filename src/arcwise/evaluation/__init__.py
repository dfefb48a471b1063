"""How good is it? Attachment scores and their significance."""
