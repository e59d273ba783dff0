import sys
from pathlib import Path

# The synthetic sites and the judge are those of the benchmarks.
sys.path.insert(0, str(Path(__file__).parents[2]))
