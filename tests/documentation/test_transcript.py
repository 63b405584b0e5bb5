"""The transcript shows the README's commands and what they print."""

import os
import re
import sys
from pathlib import Path

import pytest

from docs.tools import transcript

SHOWN = transcript.PAGE.read_text(encoding="utf-8")
OUTPUTS = transcript.PRINTED.findall(SHOWN)


def test_the_page_is_made_of_the_readmes_commands_and_what_they_print():
    assert transcript.page(OUTPUTS) == SHOWN
    assert [command.split()[1] for command in transcript.COMMANDS[1:]] == ["report", "exact"]


def settled(text):
    """Leave out what hangs on a machine's arithmetic: sizes of rounding, and a sampler's draws."""
    text = re.sub(r"up to rounding \(\S+\)", "up to rounding", " ".join(text.split()))
    text = re.sub(r"up to \S+ of what rounding", "up to what rounding", text)
    return re.sub(r"agree with the exact law: .*? \(family", "agree with the exact law (", text)


@pytest.mark.slow
def test_the_commands_print_what_the_page_says(tmp_path):
    transcript.write_files(tmp_path)
    here = Path(sys.executable).parent  # stands in for the environment that the first one makes
    for command, shown in zip(transcript.COMMANDS[1:], OUTPUTS[1:], strict=True):
        mine = command.replace(".venv/bin", str(here))
        printed, warned = transcript.run(mine, tmp_path, dict(os.environ))
        assert warned == ""
        assert settled(printed) == settled(shown)
