"""The nouns as JSON, and back."""
