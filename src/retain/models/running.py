"""A loaded ONNX model with its tokenizer: one thread a run, nothing reported to anybody."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from retain.models.native import NativeCalls


class Running:
    """Threads may use it side by side. Count each use with `native.call`."""

    def __init__(self, onnx: Path, tokenizer: Path, native: NativeCalls) -> None:
        # From 1.31 on it reports to its maker, and leaves a device id in the home folder, unless told before it loads.
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
        # Three calls, not one: the process may end between them.
        with native.call():
            import onnxruntime
            from onnxruntime.capi import onnxruntime_pybind11_state as errors
        with native.call():
            self.tokenizer = _tokenizer(tokenizer)
        with native.call():
            self._session = onnxruntime.InferenceSession(onnx, _options(), providers=["CPUExecutionProvider"])
        self.errors = (errors.Fail, errors.RuntimeException, errors.InvalidArgument)
        self._wanted = {given.name for given in self._session.get_inputs()}

    def run(self, feeds: Mapping[str, Any]) -> list[Any]:  # Any: numpy arrays, which must not be imported up there
        made: list[Any] = self._session.run(None, {name: feed for name, feed in feeds.items() if name in self._wanted})
        return made


def _tokenizer(file: Path) -> Any:  # tokenizers has no types
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def _options() -> Any:  # onnxruntime has no types
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    # Plans memory by input shape, and ours differ with every text: 10 MB and more for nothing. The arena, on by
    # default, stays: without it the same speed, and more memory with several threads.
    options.enable_mem_pattern = False
    options.log_severity_level = 3
    return options
