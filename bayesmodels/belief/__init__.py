"""The trunk that all models share."""
