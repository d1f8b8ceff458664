"""What a spawned process does; imports little, since each one imports it anew."""

import sys

import twinvox._native
from tests.fake_coreml import FakeCoreML


def compile_in_process(extension, package, folder, inputs, barrier, results):
    """Open the package when all are ready; puts the compilations done here and the outputs."""
    fake = FakeCoreML(extension)
    sys.modules["twinvox._native.coreml"] = twinvox._native.coreml = fake.module
    from twinvox.runtime.compiled import open_compiled

    barrier.wait()
    outputs = open_compiled(package, "all", folder).predict(inputs)
    results.put((fake.state.compilations, outputs))
