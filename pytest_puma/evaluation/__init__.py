"""One cell from its samples to its outcome: conversations with the engine, then assessment of the predictions."""
