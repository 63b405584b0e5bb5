"""Beliefs, statistics and verdicts as files: JSON, and never pickled."""

from bayesmodels.store.documents import dumps, load, loads, save

__all__ = ["dumps", "load", "loads", "save"]
