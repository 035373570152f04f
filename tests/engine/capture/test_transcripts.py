"""The written transcripts, read by the judge that ships with Retain: how well it hears is for benchmarks to say."""

import pytest

from capture_set import written
from retain.engine.capture import by_judge
from retain.judge.onnx import OnnxJudge

FOLDERS = ("fresh", "held", "second", "tuned")


@pytest.fixture(scope="module")
def judge():
    found = OnnxJudge()
    assert found.wait(60)
    return found


def test_all_of_them_are_read_and_what_must_never_be_kept_is_not(judge):
    transcripts = [each for folder in FOLDERS for each in written(f"capture/{folder}")]
    kept = [
        (transcript.name, item.text)
        for transcript in transcripts
        for item in by_judge.extract(judge, transcript.conversation).found
        if any(word.lower() in item.text.lower() for word in transcript.never)
    ]
    assert (len(transcripts) > 150, kept) == (True, [])
