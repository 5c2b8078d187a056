"""The rows of a scenario: files, tables, records, groups, layouts."""
