"""How sure the judge must be, and how near two statements must lie: every such number, in one place.

Chosen for the judge in the package: whoever trains it anew looks at these again (docs/scoring.md, training/README.md).
"""

# Odds of a contradiction.
CONTRADICTS = 0.85  # both are kept, and each is shown with the other; where it is not known how near they lie
PLAINLY = 0.95  # what the same sentence with another value counts, whatever the judge says
CHOSEN = 0.1  # so much less is enough where the judge has also chosen what is kept of a conversation: capture
DOUBTS_IN_PART = 0.9  # where only a part of what is said speaks against the other, or against a part of it
ENDS = 0.97  # the user's later statement ends an earlier one; right in 98 of 100 cases on unseen pairs
ENDS_WHAT_IT_NAMES = 0.6  # the same where the new statement says what it leaves: "pnpm instead of yarn"

# Odds that two statements say the same.
SAME = 0.95  # a decision about what contradicts the one is one about what contradicts the other

# Cosines.
CLOSE = 0.1  # below it two statements have no subject in common; a change in other words comes near it
AGREES = 0.85  # from here on an episode speaks for what is known, if nothing speaks against it
NEAR = 0.95  # from here on two texts may be one

# Shares of words that two texts have in common; strictly above.
ALIKE = 0.6  # in the same category: the newer takes the older one's place
NAMED = 0.5  # this is what is said to be replaced
PASSED_OVER = 1 / 3  # what a statement that names what it leaves may say nothing of, and yet end all of it


def contradicts_from(cosine: float | None) -> float:
    """The odds from which on two statements count as a contradiction.

    What lies far apart hardly ever speaks of one thing: there the judge must be all but sure.
    """
    return CONTRADICTS if cosine is None else min(max(1.1 - 0.8 * cosine, 0.65), PLAINLY)
