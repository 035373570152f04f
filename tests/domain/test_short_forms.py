"""Short and long forms of one name."""

import pytest

from retain.domain.short_forms import is_acronym, is_form


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("auth", "authentication"),
        ("Postgres", "PostgreSQL"),
        ("pg", "PostgreSQL"),
        ("Fly", "Fly.io"),
        ("k8s", "Kubernetes"),
        ("i18n", "internationalization"),
        ("wifi", "Wi-Fi"),
        ("csv-parse", "csvParse"),
        ("btn", "button"),
        ("msgs", "messages"),
        ("repo", "repository"),
        ("recomender", "recommender"),
        ("mongo", "MongoDB"),
    ],
)
def test_forms_of_one_name(one, other):
    assert is_form(one, other)
    assert is_form(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Redis", "Postgres"),
        ("zsh", "fish"),
        ("k8s", "kafkas"),
        ("XeLaTeX", "LuaLaTeX"),
        ("Tuesday", "Thursday"),
        ("M1", "M2"),
        ("", "anything"),
    ],
)
def test_names_of_different_things(one, other):
    assert not is_form(one, other)


def test_an_acronym_is_made_of_words_that_follow_each_other():
    assert is_acronym("BOM", "tbomi")
    assert not is_acronym("BOM", "bxom")
