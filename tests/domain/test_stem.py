"""Stems: inflections of a word meet, and what is no English word is left alone."""

import pytest

from retain.domain.stem import stem


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("caresses", "caress"), ("ponies", "poni"), ("cats", "cat"), ("feed", "feed"), ("agreed", "agre"),
        ("plastered", "plaster"), ("motoring", "motor"), ("sing", "sing"), ("conflated", "conflat"),
        ("troubled", "troubl"), ("sized", "size"), ("hopping", "hop"), ("falling", "fall"), ("hissing", "hiss"),
        ("filing", "file"), ("happy", "happi"), ("sky", "sky"), ("relational", "relat"), ("conditional", "condit"),
        ("digitizer", "digit"), ("operator", "oper"), ("feudalism", "feudal"), ("hopefulness", "hope"),
        ("triplicate", "triplic"), ("electrical", "electr"), ("goodness", "good"), ("revival", "reviv"),
        ("adjustable", "adjust"), ("replacement", "replac"), ("adoption", "adopt"), ("effective", "effect"),
        ("probate", "probat"), ("rate", "rate"), ("cease", "ceas"), ("controll", "control"), ("roll", "roll"),
    ],
)  # fmt: skip
def test_words_have_the_stems_of_porters_paper(word, expected):
    assert stem(word) == expected


def test_the_forms_of_a_word_share_a_stem():
    assert {stem(word) for word in ("deploy", "deploys", "deployed", "deploying", "deployment")} == {"deploy"}


@pytest.mark.parametrize("word", ["", "is", "utf8", "straße", "API", "привет", "don't"])
def test_what_is_no_lower_case_english_word_is_left_alone(word):
    assert stem(word) == word
