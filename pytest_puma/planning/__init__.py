"""Planning of a run: settings, markers and run-specs become cells; checks and forecasts before any model is loaded."""
