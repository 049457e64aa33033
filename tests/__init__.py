"""The tests. An assert in what they share shows its values too when it fails."""

from pathlib import Path

import pytest

pytest.register_assert_rewrite(
    *(f"tests.{file.stem}" for file in Path(__file__).parent.glob("[a-z]*.py"))
)
