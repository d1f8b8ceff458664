"""The error tree of twinvox: every failure that is not a wrong argument derives from TwinvoxError.

Wrong arguments (``speed <= 0``, an unknown option value) stay ValueError or TypeError.
"""


class TwinvoxError(Exception):
    """Base of every error that twinvox raises on purpose."""


class TextError(TwinvoxError):
    """The text holds nothing to say, or cannot be made to fit the model."""


class PromptError(TwinvoxError):
    """The prompt audio or its transcript is unusable: silent, short, unreadable, mismatched."""


class SynthesisError(TwinvoxError):
    """The models ran but produced no usable speech, or the duration is degenerate."""


class ContractError(TwinvoxError):
    """A model does not declare the inputs and outputs that its backend expects."""


class ModelNotFoundError(TwinvoxError):
    """A model, voice or table file is missing."""


class ModelFormatError(TwinvoxError):
    """A model, voice or table file is damaged or is not what its name says."""


class UnsupportedOpError(TwinvoxError):
    """A model uses an operator, attribute or program form that cannot be translated."""


class DownloadError(TwinvoxError):
    """A model repository could not be reached or delivered damaged files."""


class RuntimeUnavailableError(TwinvoxError):
    """The requested runtime cannot be used on this machine."""


class ModelWarning(UserWarning):
    """A model file on disk was damaged and is fetched again, or cannot be noted to be sound."""


class PromptWarning(UserWarning):
    """The prompt works, but the output will be worse than it could be."""


class TextWarning(UserWarning):
    """Part of the text could not be spoken."""


class SynthesisWarning(UserWarning):
    """The speech is there, but cut short or made in a slower way than it could be."""
