"""What docs/from-python.md shows is what its programs print."""
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parent / "examples"


@pytest.mark.parametrize("program", sorted(EXAMPLES.glob("*.py")), ids=lambda program: program.stem)
def test_the_page_shows_what_is_printed(program):
    done = subprocess.run([sys.executable, program], stdout=subprocess.PIPE, check=True, text=True)
    assert done.stdout == program.with_suffix(".txt").read_text()
