"""What every validation does: tell how it goes, take the time, and state settings and versions."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import numpy as np

from bayesmodels import __version__
from bayesmodels.referee.fit import Fit, check_fit
from bayesmodels.referee.sequential import AGAIN, until_decided
from bayesmodels.referee.verdict import Verdict


@dataclass(frozen=True)
class Run:
    """One validation: what it was told, and the wall time of each part."""

    settings: dict[str, Any]
    packages: tuple[str, ...]
    source: str
    progress: Callable[[str], object]
    rng: np.random.Generator = field(default_factory=np.random.default_rng)
    ordered: bool = True
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def sampler(self) -> dict[str, Any]:
        """What every sampler is told."""
        tune, chains = self.settings["tuning steps a chain"], self.settings["chains"]
        return {"tune": tune, "chains": chains, "rng": self.rng}

    def timed[T](self, part: str, words: str, work: Callable[..., T], *args: Any, **how: Any) -> T:
        """Do the work of a part, which may be one of several turns of it."""
        self.progress(words)
        start = time.perf_counter()
        result = work(*args, **how)
        self.seconds[part] = self.seconds.get(part, 0.0) + time.perf_counter() - start
        return result

    def fitted(self, model: Any, data: Any, rng: np.random.Generator) -> Fit:
        """Check whether the model fits its rows."""
        how: dict[str, Any] = {"ordered": self.ordered, "rng": rng}
        return self.timed("fit", "checking the model's fit", check_fit, model, data, **how)

    def sampled(self, sample: Callable[[int], Any], draws: int) -> Any:
        """Draw so many a chain with PyMC's sampler."""
        return self.timed("sampling", "compiling and sampling the PyMC model", sample, draws)

    def decided(
        self, sample: Callable[[int], Any], judge: Callable[[Any, float], Verdict]
    ) -> tuple[Verdict, Any]:
        """Sample and judge, once more if the verdict stays open; return verdict and draws."""
        draws = self.settings["draws a chain"]
        verdict, result, number = until_decided(
            lambda n: self.sampled(sample, n),
            lambda x, share: self.timed("comparison", "comparing draws", judge, x, share),
            draws,
            self.settings["level"],
            self.progress,
        )
        if number != draws:
            self.settings[AGAIN] = number
        return verdict, result

    def stated(self) -> dict[str, Any]:
        """Return what every report states."""
        versions = {"bayesmodels": __version__, "python": platform.python_version()}
        versions |= {name: version(name) for name in self.packages}
        return {
            "source": self.source,
            "settings": self.settings,
            "seconds": self.seconds,
            "versions": versions,
        }
