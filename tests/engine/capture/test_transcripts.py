"""The written transcripts, read by the judge that ships with Retain: how well it hears is for benchmarks to say."""

import pytest

from capture_set import written
from retain.engine.capture import by_judge
from retain.judge.onnx import OnnxJudge

# Statements are made of what was said, so these may stand in them.
SAID = ("from now on",)
FEW = 4  # of 198; each is a correction or a list that the judge does not understand
FOLDERS = ("fresh", "held", "second", "tuned")


@pytest.fixture(scope="module")
def judge():
    found = OnnxJudge()
    assert found.wait(60)
    return found


def test_all_of_them_are_read_and_hardly_anything_is_kept_that_must_not_be(judge):
    transcripts = [each for folder in FOLDERS for each in written(f"capture/{folder}")]
    kept = [
        (transcript.name, item.text)
        for transcript in transcripts
        for item in by_judge.extract(judge, transcript.conversation).found
        if any(word.lower() in item.text.lower() for word in transcript.never if word not in SAID)
    ]
    assert len(transcripts) > 150
    assert len(kept) <= FEW, kept
