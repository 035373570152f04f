"""A question and its answer as one statement."""

import pytest

from retain.domain.answered import answered, parted


@pytest.mark.parametrize("question", ["Which port?", "We have two. Which one, a or b?", "どのポートですか？"])
def test_what_was_written_is_read_again(question):
    asked, answer = parted(answered(question, "Port 8080. For now."))
    assert (asked.startswith(question), answer) == (True, "Port 8080. For now.")
    assert asked + answer == answered(question, "Port 8080. For now.")


@pytest.mark.parametrize("text", ["", "Port 8080.", "The port – for now – is 8080.", "Which port?"])
def test_what_answers_nothing_has_no_question(text):
    assert parted(text) == ("", text)
