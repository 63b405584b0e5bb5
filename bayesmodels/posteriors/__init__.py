"""The joint density of a PyMC model, and what can be proved with it."""
