"""The transcript shows the README's commands and what they print."""

import os
import re
import sys
from pathlib import Path

import pytest

from docs import transcript

SHOWN = transcript.PAGE.read_text(encoding="utf-8")
OUTPUTS = transcript.PRINTED.findall(SHOWN)


def test_the_page_is_made_of_the_readmes_commands_and_what_they_print():
    assert transcript.page(OUTPUTS) == SHOWN
    assert [command.split()[1] for command in transcript.COMMANDS[1:]] == ["report", "exact"]


@pytest.mark.slow
def test_the_commands_print_what_the_page_says(tmp_path):
    transcript.write_files(tmp_path)
    bin_ = Path(sys.executable).parent  # in place of the environment that the first one makes
    for command, shown in zip(transcript.COMMANDS[1:], OUTPUTS[1:], strict=True):
        here = command.replace(".venv/bin", str(bin_))
        printed = transcript.run(here, tmp_path, dict(os.environ))
        assert printed == shown
