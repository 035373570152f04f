"""Where the key of a language model is found."""
