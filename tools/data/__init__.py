"""Generators of the bundled data sets that are computed: word problems, hidden numbers, word lists."""
