"""A paragraph for the methods section of a paper, with what it should cite."""

from __future__ import annotations

from typing import Any

from bayesmodels.report.approximation import ApproximationReport
from bayesmodels.report.draws_validation import DrawsReport
from bayesmodels.report.model_validation import ModelReport
from bayesmodels.report.sensitivity import Sensitivity
from bayesmodels.report.validation import Report

_PYMC = (
    "Abril-Pla et al. (2023), PyMC: a modern, and comprehensive probabilistic programming "
    "framework in Python. PeerJ Computer Science 9, e1516."
)
_RHAT = (
    "Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021), Rank-normalization, folding, and "
    "localization: an improved R-hat for assessing convergence of MCMC. Bayesian Analysis 16, "
    "667–718."
)
_ARVIZ = (
    "Kumar, Carroll, Hartikainen and Martin (2019), ArviZ: a unified library for exploratory "
    "analysis of Bayesian models in Python. Journal of Open Source Software 4 (33), 1143."
)
_HOLM = (
    "Holm (1979), A simple sequentially rejective multiple test procedure. Scandinavian Journal of "
    "Statistics 6, 65–70."
)
_LAPLACE = (
    "Tierney and Kadane (1986), Accurate approximations for posterior moments and marginal "
    "densities. Journal of the American Statistical Association 81, 82–86."
)
_KALLIOINEN = (
    "Kallioinen, Paananen, Bürkner and Vehtari (2024), Detecting and diagnosing prior and "
    "likelihood sensitivity with power-scaling. Statistics and Computing 34, 57."
)


def methods(
    report: Report | ApproximationReport | ModelReport | DrawsReport,
    sensitivity: Sensitivity | None = None,
) -> tuple[str, list[str]]:
    """Return what was done, to be pasted into a paper, and the works it refers to by number.

    Parameters
    ----------
    report : Report, ApproximationReport, ModelReport or DrawsReport
        What `validate` or `validate_draws` found.
    sensitivity : Sensitivity, optional
        What the report says of it.

    Returns
    -------
    str
        The paragraph.
    list of str
        The works, [1] first.
    """
    if isinstance(report, DrawsReport):
        return _two_sets(report), [_RHAT, _ARVIZ, _HOLM]
    versions, given = report.versions, report.settings
    cited = [_PYMC, _RHAT, _ARVIZ]
    cited.append(_LAPLACE if isinstance(report, ApproximationReport) else _HOLM)
    chains = (
        f"{given['chains']} chains of {_draws(report):,} draws each, after "
        f"{given['tuning steps a chain']:,} tuning steps each, were sampled with "
        f"{_sampler(report)}; effective sample sizes and R-hat [2] were computed with ArviZ "
        f"{versions.get('arviz', '')} [3]."
    )
    if isinstance(report, ModelReport):
        about = (
            f"The posterior of a PyMC {versions.get('pymc', '')} [1] model was derived in closed "
            f"form with bayesmodels {versions['bayesmodels']}, and verified against PyMC's joint "
            f"density at {report.posterior.verification.points} points."
        )
    elif isinstance(report, ApproximationReport):
        about = (
            f"The posterior ({report.title}) was approximated by Laplace's method [4] with "
            f"bayesmodels {versions['bayesmodels']}; the log density was verified against a PyMC "
            f"{versions.get('pymc', '')} [1] model at {report.identity.points} points."
        )
    else:
        about = (
            f"The posterior ({report.title}) was computed in closed form with bayesmodels "
            f"{versions['bayesmodels']}; its log density and the log evidence were verified "
            f"against the joint density of the same model in PyMC {versions.get('pymc', '')} [1] "
            f"at {report.identity.points} points."
        )
    if isinstance(report, ApproximationReport):
        worst = float(report.errors["error"].abs().max())
        end = (
            "Means of the approximation differ from those of the draws by at most "
            f"{worst:.2g} posterior standard deviations."
        )
    else:
        end = (
            "The draws were compared with the closed form, and chains with each other, by the "
            f"probability-integral transforms of {_scalars(report)}, in Monte-Carlo standard "
            f"errors and with a family-wise error rate of {100 * float(given['level']):g} % "
            f"(Holm [4]); the verdict was “{report.outcome}”."
        )
    if sensitivity is not None and sensitivity.table is not None:
        cited.append(_KALLIOINEN)
        how = "in closed form" if sensitivity.exact else "with ArviZ, from the draws,"
        end += (
            f" Sensitivity to the prior was computed {how} by power-scaling [5]; it was at most "
            f"{sensitivity.largest:.2g}."
        )
    return " ".join(f"{about} {chains} {end}".split()), cited


def _two_sets(report: DrawsReport) -> str:
    sizes = (tree["posterior"].sizes for tree in (report.first, report.second))
    first, second = (f"{n['chain']} chains of {n['draw']:,} draws" for n in sizes)
    versions = report.versions
    return (
        f"Two sets of draws ({first}; {second}) were compared with bayesmodels "
        f"{versions['bayesmodels']}, by ranks of {_scalars(report)}, in Monte-Carlo standard "
        f"errors and with a family-wise error rate of {100 * report.comparison.level:g} % (Holm "
        f"[3]); the verdict was “{report.outcome}”. Effective sample sizes and R-hat [1] were "
        f"computed with ArviZ {versions.get('arviz', '')} [2]."
    )


def _scalars(report: Any) -> str:
    number = len(report.comparison.table)
    return "one scalar" if number == 1 else f"{number:,} scalars, and by joint quantities"


def _draws(report: Any) -> int:
    return int(report.sampled["posterior"].sizes["draw"])


def _sampler(report: Any) -> str:
    """Name what made the draws, as far as they say."""
    name = str(report.sampled["posterior"].attrs.get("inference_library", "pymc"))
    known = {"pymc": "PyMC", "nutpie": "nutpie"}.get(name, name)
    return f"{known} {report.versions.get(name, '')}".rstrip()
