"""``twinvox bench``: how fast a backend speaks a corpus, and how well it is understood."""
