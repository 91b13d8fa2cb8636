"""A project of its own for each test, whose pytest is run as a subprocess."""

import pytest

from tests.plugin.project import EXAMPLES, Project


@pytest.fixture
def project(tmp_path):
    project = Project(tmp_path)
    project.write("refunds.yaml", EXAMPLES)
    project.write("pytest.ini", "[pytest]\naddopts = -q\nasyncio_default_fixture_loop_scope = function\n")
    return project
