"""The terminal: whether there is one, sections, lines that are drawn again."""
