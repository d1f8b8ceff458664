"""On-device zero-shot voice cloning text-to-speech."""

from twinvox.backends import load
from twinvox.errors import TwinvoxError
from twinvox.speech import Segment, Speech
from twinvox.voice import Voice

__all__ = ["Segment", "Speech", "TwinvoxError", "Voice", "load"]
__version__ = "0.1.0"
