"""A class, and features given the class: naive Bayes and Gaussian discriminants."""
