"""Which words of a prompt say what it is about: "fix", "file" and "please" stand in every second one and tell nothing.

Hooks import this, so it imports only how words are cut.
"""

from math import log, sqrt

from retain.domain.choosing import excerpt
from retain.domain.words import bare, telling_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

Word = tuple[float, tuple[str, ...]]
"""How much a word can tell, and its terms."""

# Words of people who talk to a coding agent, whatever they talk about. In a store of twenty memories such a word may
# be rare, so its frequency there says nothing.
_COMMON = """
    able actually add added adding again ago ahead allow alright already always another answer app apply ask away back
    bad bad basically begin best better big bit break bring bug bugs build call called came case cases change changed
    changes check clean clear clearly close code come command comment comments complete continue cool copy correct
    create created current currently cut day days decide definitely delete did diff different directory do docs done
    double edit either else empty end enough ensure error errors even everything exactly example exist exists expect
    explain extra fail failed failing fails fast figure file files fill final find fine first fix fixed flow folder
    follow forget forgot format found full function functions fun gave general generate give given go goes going good
    great guess hand handle happen happened happens hard he hello help hey hi hmm hold hope huge idea implement
    implementation improve include input inside instead issue issues job keep kind know known last late later latest
    least leave left less let level like likely line lines list little live load local long look looking looks lot made
    main make makes making many maybe mean means mention message method minor minute miss missing moment morning move
    name names need needed needs never new next nice nope note nothing number numbers ok okay old one ones open option
    options order original output own page part pass past paste people perfect perhaps piece place plan point possible
    post pretty previous print probably problem problems proceed process project proper properly pull push put question
    quick quickly read ready real really reason redo refactor related remove rename replace report request requests
    respond rest result results return returns revert review rewrite right run running runs said save saw say says
    script second see seem seems seen select send sent separate set setup several short show side similar simple
    simply single site size slow small sorry sort space specific split start started state statement step steps still
    stop string stuff style sum summarise summarize summary support sure take takes task tasks team test tested testing
    tests text thank thanks thing things think third thought three time times today together tomorrow tool top total
    touch track tried true try trying turn two type typo understand undo unit update updated use used useful user users
    uses usual value values variable version view wait want wanted wants was watch way week well went whole wish
    without wonder word words work worked working works world wrap write wrong wrote yeah year yesterday yep
"""
COMMON = frozenset(_COMMON.split())
# By benchmarks/offers.py: lower, "add a route" no longer finds what is said of routes; higher, "add" finds much.
COMMON_WEIGHT = 0.4
FEWEST, ENOUGH = 1.5, 2.5
FEW = 50
LONG = 60  # terms of a text beyond which it holds a word by chance more often


def telling(prompt: str) -> "list[Word]":
    """The words of a prompt that are no stop words, each with how much it can tell before a store is asked."""
    words = telling_words(excerpt(prompt))
    return list({terms: (_weight(word), terms) for word, terms in words.items() if terms}.values())


def says_something(prompt: str) -> bool:
    """Whether a prompt has a word that could be about something: not "yes, do it", "fix the typo" or "/compact"."""
    return not prompt.lstrip().startswith("/") and any(weight == 1.0 for weight, _ in telling(prompt))


def rarity(documents: int, holding: "Mapping[str, int]") -> "dict[str, float]":
    """How rare each term is among so many texts: 1 for one that no text holds, towards 0 for one that all do.

    Among few texts chance decides what is rare, so fewer than `FEW` are taken for as many.
    """
    documents = max(documents, FEW)
    most = log(2 + 2 * documents)
    return {term: log(1 + max(documents - n + 0.5, 0.0) / (n + 0.5)) / most for term, n in holding.items()}


def shared(asked: "list[Word]", rare: "dict[str, float]", held: "set[str]") -> float:
    """How much of what a prompt tells stands in a text that holds these terms, from 0 to 1.

    A long prompt need not be covered whole: `ENOUGH` in rare words that both have is as good as all of them. A short
    one is not covered by one common word, though that be all it says.
    """
    both = sum([weight * max([rare[term] for term in terms if term in held], default=0.0) for weight, terms in asked])
    if not both:
        return 0.0
    said = sum([weight * max([rare[term] for term in terms]) for weight, terms in asked])
    return min(both / min(max(said, FEWEST), ENOUGH), 1.0) * min(1.0, sqrt(LONG / len(held)))


def _weight(word: str) -> float:
    return COMMON_WEIGHT if bare(word) in COMMON or len(word) == 1 or word.isdigit() else 1.0
