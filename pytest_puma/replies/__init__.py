"""What a reply states: letters, numbers, statements, the final answer."""
