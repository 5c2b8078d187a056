"""One batched engine: requests in, responses out, whatever computes below it."""
