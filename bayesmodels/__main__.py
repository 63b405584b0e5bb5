"""Lets ``python -m bayesmodels`` run the command line."""

from bayesmodels.command.cli import main

if __name__ == "__main__":
    main()
