"""What a run leaves behind: its folder, its record as JSON, and the throughput of each model on this machine."""
