"""Beliefs, statistics and verdicts as files: JSON or NPZ, and never pickled."""

from bayesmodels.store.documents import dumps, is_npz, load, loads, save

__all__ = ["dumps", "is_npz", "load", "loads", "save"]
