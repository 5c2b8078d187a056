"""Programs that make parts of this repository; none of them is installed."""
