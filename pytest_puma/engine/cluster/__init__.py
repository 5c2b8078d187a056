"""Engines on the workers of a Dask cluster: the connection, the actor there, and the responder here."""
