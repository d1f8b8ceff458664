import sys

from twinvox.cli import main

sys.exit(main())
