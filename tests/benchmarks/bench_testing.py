"""How often a suite of fifty right statistical tests fails, and how often planted bugs are found.

python -m tests.benchmarks.bench_testing right 200
python -m tests.benchmarks.bench_testing bugs 100
"""

import sys

from tests.testing.planted import BUGS, run


def right(runs):
    failed = 0
    for seed in range(runs):
        found = run(seed)
        assert not found.broken, found.broken
        failed += bool(found.wrong)
        assertions = found.passed + len(found.wrong)
        if found.wrong or (seed + 1) % 10 == 0:
            print(f"{seed + 1} runs of {assertions} right assertions: {failed} failed", flush=True)
            print("\n".join(found.wrong), end="")


def bugs(runs):
    for name, bug in BUGS.items():
        every = [run(seed, bug) for seed in range(runs)]
        assert not any(found.broken for found in every), every[0].broken
        found = sum(bool(one.wrong) for one in every)
        print(f"{name:30} found in {found} of {runs} runs", flush=True)


if __name__ == "__main__":
    {"right": right, "bugs": bugs}[sys.argv[1]](int(sys.argv[2]))
