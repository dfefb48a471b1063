"""`python -m arcwise` is the command line."""

from arcwise.cli import main

if __name__ == "__main__":
    main()
