"""Lets ``python -m bayesmodels`` run the command line."""

from bayesmodels.cli import main

if __name__ == "__main__":
    main()
