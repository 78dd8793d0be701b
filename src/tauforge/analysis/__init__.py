"""Analysis: what the formulations cost, how far they disagree, which parameters matter."""
