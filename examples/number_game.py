"""The number game: the rule that 16, 8, 2 and 64 follow, and what else follows it."""

import matplotlib.pyplot as plt

import bayesmodels as bm

prior = bm.ConceptLearning.number_game()
for rows in ([16], [16, 8, 2, 64]):
    posterior = prior.update(rows)
    best = posterior.hypotheses[posterior.mode()["h"]]
    print(f"after {rows}: most probable is {best!r}")
    print(posterior.summary()["mean"].round(3).to_string())
    print("p(32 belongs), averaged:", posterior.membership(32).round(3))
    print("p(32 belongs), by the best rule alone:", posterior.membership(32, posterior.mode()))

bm.plots.plot_hypotheses(prior, rows)
plt.savefig("number_game.svg")

# Who thinks beforehand that rules seldom have exceptions needs more to believe in one.
rare = [8, 8, 8, 8, 8, 8, 8, 8, 1, 1]
careful = bm.ConceptLearning.number_game([weight / sum(rare) for weight in rare]).update(rows)
print("exceptions are rare:", careful.hypotheses[careful.mode()["h"]])

# Bayes' theorem in general: one in a thousand is ill, the test is right 19 times in 20.
test = bm.ConceptLearning.from_table(
    [[0.95, 0.05], [0.05, 0.95]],
    [0.001, 0.999],
    hypotheses=["ill", "well"],
    outcomes=["positive", "negative"],
)
print("p(positive):", test.predictive().pmf("positive").round(4))
print("p(ill | positive):", test.update(["positive"]).mean()["h"][0].round(4))
