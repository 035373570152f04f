import pytest

from retain.domain.languages import language_of


@pytest.mark.parametrize(
    "text",
    [
        "how do I run the tests again",
        "TAIL_MS is 0. I set it to 500.",
        "still needs the text on the invoice, leave it on the branch",
        "stopping here. alignment done for 1-12, 13 to 24 still have to run",
        "grams, int",
    ],
)
def test_english_is_not_taken_for_a_language_that_shares_small_words(text):
    assert language_of(text) == "en"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("nie ruszaj tego, to jest na produkcji", "pl"),
        ("on ne touche pas au serveur, c'est pour les clients", "fr"),
        ("der Build ist auf dem Server nicht erlaubt", "de"),
        ("このサーバーは再起動しないでください", "ja"),
    ],
)
def test_other_languages_are_told_by_their_commonest_words_or_script(text, language):
    assert language_of(text) == language
