"""The tests. An assert in what they share shows its values too when it fails."""

import pytest

pytest.register_assert_rewrite("tests")
