"""Which covariances for three kinds of wine? By evidence, and by cross-validation for comparison.

The evidence needs one fit a candidate, tenfold cross-validation ten.
"""

import time

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import bayesmodels as bm
from bayesmodels.estimators import AllRows, DiscriminantClassifier, log_evidence_scorer

wines = bm.datasets.load("wine")
X, y = wines.drop(columns="cultivar"), wines["cultivar"]
model = make_pipeline(StandardScaler(), DiscriminantClassifier())
candidates = {
    "discriminantclassifier__covariance": ["full", "shared", "diagonal"],
    "discriminantclassifier__kappa": [0.01, 0.1, 1],
    "discriminantclassifier__scale": [0.1, 1, 10],
}

start = time.perf_counter()
by_evidence = GridSearchCV(model, candidates, scoring=log_evidence_scorer, cv=AllRows()).fit(X, y)
middle = time.perf_counter()
folds = StratifiedKFold(10, shuffle=True, random_state=1)
by_folds = GridSearchCV(model, candidates, scoring="neg_log_loss", cv=folds).fit(X, y)
end = time.perf_counter()

table = pd.DataFrame(by_evidence.cv_results_["params"])
table.columns = [name.removeprefix("discriminantclassifier__") for name in table.columns]
table["log evidence"] = by_evidence.cv_results_["mean_test_score"].round(1)
table["log loss, held out"] = -by_folds.cv_results_["mean_test_score"].round(4)
print(table.sort_values("log evidence", ascending=False).to_string(index=False))
print(f"\n{len(table)} candidates: evidence {middle - start:.1f} s, ten folds {end - middle:.1f} s")

best = by_evidence.best_estimator_[-1]
print(f"best by evidence: {best}")
print(best.belief_.summary().loc[lambda rows: rows.index.str.startswith("pi")].round(3))

figure, axes = plt.subplots(figsize=(4.8, 3.2), layout="constrained")
for covariance, rows in table.groupby("covariance"):
    axes.plot(rows["log evidence"], rows["log loss, held out"], "o", label=covariance)
axes.set(xlabel="log evidence", ylabel="log loss, held out", yscale="log")
axes.legend()
figure.savefig("wine.svg")
