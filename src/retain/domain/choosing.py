"""What of a prompt is looked at, and which of the memories found for it are worth attention: few, each once.

Hooks import this, so it imports nothing.
"""

MOST = 5  # lines for one prompt
# Chosen by benchmarks/offers.py: of the lines above it five in six mattered in the projects it was chosen on, and two
# in three in projects that were written later.
FLOOR = 0.24
MEANING, WORDS = 0.8, 0.2  # the mix of cosine and `telling.shared`
BY_WORDS = 0.8  # what words count where there is no vector to compare,
WORDS_ALONE = 0.6  # and where there is one that sees no likeness: an error's code has no meaning
BESIDE = 0.85  # of the best score: what is far less fitting than the best found is not about the same thing
LONGEST = 4_000  # characters of a prompt that are looked at; the middle of what is pasted tells least
ALIKE = 0.6  # share of terms above which two texts say the same, unless their numbers differ


def excerpt(prompt: str) -> str:
    """As much of a prompt as is looked at: its beginning and its end."""
    return prompt if len(prompt) <= LONGEST else f"{prompt[: LONGEST * 3 // 4]}\n{prompt[-LONGEST // 4 :]}"


def score(cosine: "float | None", words: float) -> float:
    """How well a memory fits; `cosine` is None for one without vectors, or without a model to compare them."""
    if cosine is None:
        return BY_WORDS * words
    return max(MEANING * max(cosine, 0.0) + WORDS * words, WORDS_ALONE * words)


def above_floor(scores: "dict[str, float]") -> "list[str]":
    """The ids that fit, best first; of two that fit alike the one with the greater id, which is newer."""
    floor = max(FLOOR, BESIDE * max(scores.values(), default=0.0))
    return sorted((id for id, fits in scores.items() if fits >= floor), key=lambda id: (scores[id], id), reverse=True)


def says_the_same(a: "set[str]", b: "set[str]") -> bool:
    """Whether two texts with these terms are near duplicates: port 8080 and port 8081 are not."""
    numbers = {term for term in a ^ b if any(letter.isdigit() for letter in term)}
    return not numbers and len(a & b) > ALIKE * len(a | b)
