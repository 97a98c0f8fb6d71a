"""What registries and continuous integration read agrees with the project's metadata."""

from __future__ import annotations

import json
import re

import yaml
from helpers import TOP

PROJECT = (TOP / "pyproject.toml").read_text(encoding="utf-8")
REGISTRY = json.loads((TOP / "server.json").read_text(encoding="utf-8"))
(PACKAGE,) = REGISTRY["packages"]


def stated(key):
    """Return a text of pyproject.toml; ``tomllib`` is missing before Python 3.11."""
    return re.search(rf'(?m)^{key} = "(.*)"$', PROJECT).group(1)


def test_the_registry_entry_names_this_package_and_version():
    assert REGISTRY["version"] == PACKAGE["version"] == stated("version")
    assert PACKAGE["identifier"] == stated("name")
    assert PACKAGE["registryType"] == "pypi"
    assert PACKAGE["transport"] == {"type": "stdio"}


def test_the_registry_entry_keeps_the_registrys_limits():
    assert len(REGISTRY["description"]) <= 100
    assert len(REGISTRY["title"]) <= 100
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", REGISTRY["name"])


def test_the_readme_proves_to_the_registry_whose_package_it_is():
    readme = (TOP / "README.md").read_text(encoding="utf-8")
    assert f"mcp-name: {REGISTRY['name']}" in readme


def test_continuous_integration_covers_all_stated_versions():
    workflow = yaml.safe_load((TOP / ".github/workflows/ci.yml").read_text(encoding="utf-8"))
    matrix = workflow["jobs"]["tests"]["strategy"]["matrix"]
    tested = {*matrix["python"], *(job["python"] for job in matrix["include"])}
    assert tested == set(re.findall(r"Python :: (3\.\d+)", PROJECT))
