"""Mechanisms: a tree of bodies whose loops are closed by cuts, reduced by the natural orthogonal complement."""
