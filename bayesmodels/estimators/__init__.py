"""scikit-learn estimators about the models: shells, which have no algebra of their own."""

try:
    import sklearn as sklearn
except ImportError as error:
    raise ImportError(
        "bayesmodels.estimators needs scikit-learn, which is not installed: "
        "pip install 'bayesmodels[sklearn]'."
    ) from error

from bayesmodels.estimators.clusterer import MixtureClusterer
from bayesmodels.estimators.discriminant import DiscriminantClassifier
from bayesmodels.estimators.logistic import LogisticClassifier
from bayesmodels.estimators.naive import NaiveBayesClassifier
from bayesmodels.estimators.regressor import ConjugateRegressor
from bayesmodels.estimators.selection import AllRows, log_evidence_scorer

__all__ = [
    "AllRows",
    "ConjugateRegressor",
    "DiscriminantClassifier",
    "LogisticClassifier",
    "MixtureClusterer",
    "NaiveBayesClassifier",
    "log_evidence_scorer",
]
