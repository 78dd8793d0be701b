"""Claims of a study with terms of its code exchanged, or with other arms: physics for the rules of verdicts."""

from __future__ import annotations

from tauforge_papers.misprints import as_printed


def claims_with(module, function, *changes, **others):
    """The claims that a function of a study's module gives, by name.

    changes: pieces of the module's source, each (ours, in its place); others: names of the module with other values
    """
    names = as_printed(module, *changes)
    names.update(others)
    found = names[function]()
    if isinstance(found, tuple):
        found = found[0]
    return {claim.name: claim for claim in (found if isinstance(found, list) else [found])}


def verdict_with(module, function, *changes, **others):
    """The verdict of the one claim of a function, the same way."""
    (claim,) = claims_with(module, function, *changes, **others).values()
    return claim.verdict


def verdict(claim, **evidence):
    """The verdict of a claim with other evidence in the place of some of its own."""
    return claim.rule.decide(**{**claim.evidence, **evidence})
