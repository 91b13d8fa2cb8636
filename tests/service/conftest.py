"""What the tests of the receiver share stands beside them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
