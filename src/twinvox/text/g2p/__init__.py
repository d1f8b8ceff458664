"""English text to the IPA that espeak-ng's ``en-us`` voice gives, without espeak."""

from twinvox.text.g2p.engine import G2p

__all__ = ["G2p"]
