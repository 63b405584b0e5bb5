"""What stands under "To make it again" makes the same report again."""

import re
import shlex
import subprocess
import sys
from html import unescape

import pytest


def numbers(text):
    """Return the page without the day and the seconds it took."""
    return re.sub(r"<time.*?</time>|[\d.]+ s</bdi>", "", text, flags=re.DOTALL)


@pytest.mark.slow
def test_the_command_that_a_report_states_makes_it_again(tmp_path):
    (tmp_path / "trial.csv").write_text("arm,cured\n" + "a,1\na,0\nb,1\nb,1\n" * 9, "utf-8")
    first = (
        "bayesmodels report beta-bernoulli trial.csv --target cured --by arm --draws 200 "
        "--title 'A trial, again' --prob 0.5 -o trial.html"
    )

    def made(command):
        program, *arguments = shlex.split(command)
        call = [sys.executable, "-m", program, *arguments]
        done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode in (0, 1), done.stderr
        assert "is the largest with a probability of" in " ".join(done.stdout.split())
        return (tmp_path / "trial.html").read_text("utf-8")

    page = made(first)
    assert "<h1>A trial, again</h1>" in page
    assert "with 50 % intervals" in page
    (stated,) = re.findall(r"<pre><code>(bayesmodels .*?)</code></pre>", page, re.DOTALL)
    assert numbers(made(unescape(stated))) == numbers(page)
