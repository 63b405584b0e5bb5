"""Run what the README teaches in an empty folder, and write down what is printed.

``python -m docs.tools.transcript`` writes docs/transcript.md. It needs a package index and two
minutes.
"""

import os
import re
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import fill

COLUMNS = 100
ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "transcript.md"
README = (ROOT / "README.md").read_text(encoding="utf-8")

# Commands and model are the README's; the table is made up.
COMMANDS = re.search(r"<!-- transcript -->\n```bash\n(.*?)```", README, re.DOTALL)[1].splitlines()
MODEL = re.search(r"<!-- visits.py -->\n```python\n(.*?)```", README, re.DOTALL)[1]
OUTCOMES = {"drug": "11011110111011110110", "placebo": "01011001001101000110"}
TABLE = "".join(f"{arm},{outcome}\n" for arm, all_ in OUTCOMES.items() for outcome in all_)
FILES = {"trial.csv": "arm,recovered\n" + TABLE, "visits.py": MODEL}

FORM = """\
# From an empty folder

You are in an empty folder beside your copy of this repository, `bayesmodels`, with the README open.
It has these three commands; `python -m docs.tools.transcript` ran them, and wrote this page.

## Install

{0}
## Fit a table of one's own, and report on it

`trial.csv` has a row for each of 40 patients, and looks like this:

```text
{head}...
```

{1}
The report, `trial.html`, is one file that needs nothing else, to read or to hand on.

## Check a PyMC model of one's own

`visits.py` holds the model that the README shows:

```python
{model}```

{2}
What a verdict means, and what to do next, is said in [Reading a verdict](reading-a-verdict.md).
"""
SHOWN = "```console\n$ {command}\n{printed}```\n"
PRINTED = re.compile(r"```console\n\$ .*?\n(.*?)```\n", re.DOTALL)


def page(outputs):
    """Return the page, given what each command prints."""
    shown = [
        SHOWN.format(command=command, printed=printed)
        for command, printed in zip(COMMANDS, outputs, strict=True)
    ]
    head = "".join(FILES["trial.csv"].splitlines(keepends=True)[:4])
    return FORM.format(*shown, head=head, model=MODEL)


def write_files(folder):
    """Write the files that are one's own."""
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")


def run(command, folder, environment):
    """Run a command; return what it prints, in lines of at most 100 columns, and its warnings."""
    ran = subprocess.run(  # noqa: S603 - the README's own commands
        ["/bin/bash", "-c", command],
        cwd=folder,
        env={**environment, "COLUMNS": str(COLUMNS)},
        capture_output=True,
        text=True,
        check=True,
    )
    lines = (fill(line.rstrip(), COLUMNS) for line in ran.stdout.splitlines())
    return "".join(f"{line}\n" for line in lines), ran.stderr


def main():
    """Run the commands as a newcomer, who has no environment yet, and write the page."""
    mine = {"PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV"}
    environment = {name: value for name, value in os.environ.items() if name not in mine}
    with TemporaryDirectory() as parent:
        Path(parent, "bayesmodels").symlink_to(ROOT)
        folder = Path(parent, "trial")
        folder.mkdir()
        write_files(folder)
        # Warnings are pip's, about whichever package index this machine has.
        outputs = [run(command, folder, environment)[0] for command in COMMANDS]
    PAGE.write_text(page(outputs), encoding="utf-8")


if __name__ == "__main__":
    main()
