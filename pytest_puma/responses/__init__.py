"""The kept responses, and responders that read them."""
