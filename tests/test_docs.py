"""The documents say what the program does."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys

import pytest
from helpers import SAMPLE, TOP, Server, child_environment, run_server

import inkan_mcp

README = (TOP / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """Return the code blocks of the README in that language."""
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


def rows(heading: str) -> list[list[str]]:
    """Return the cells of the first table below a heading."""
    section = README.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines[2:]]


def test_first_command_answers_on_a_fresh_clone():
    command = shlex.split(blocks("sh")[0].splitlines()[0])
    done = subprocess.run(
        [sys.executable, *command[1:]],
        cwd=TOP,
        env=child_environment(),
        capture_output=True,
        check=True,
    )
    found = json.loads(done.stdout)
    assert found["total"] >= 3
    assert len(found["records"]) == 3


def test_second_command_makes_an_environment_and_runs_the_tests():
    line = blocks("sh")[0].splitlines()[1]
    assert line.startswith("python3 -m venv .venv && ")
    assert line.endswith("pytest")


def test_every_tool_and_argument_has_its_row():
    table = {cells[0].strip("`"): cells[1] for cells in rows("Tools")}
    assert list(table) == list(inkan_mcp.TOOLS)
    for name, cell in table.items():
        arguments = [argument.name for argument in inkan_mcp.TOOLS[name].arguments]
        assert sorted(re.findall(r"`(\w+)`", cell)) == sorted(arguments)


def test_every_flag_is_in_the_readme_and_in_the_help():
    usage = run_server("--help").stdout
    for flag in (*inkan_mcp._WITH_VALUE, *inkan_mcp._ALONE):
        if flag != "-h":
            assert f"{flag}" in usage
            assert f"`{flag}" in README


def test_every_flag_that_the_readme_names_exists():
    known = {*inkan_mcp._WITH_VALUE, *inkan_mcp._ALONE}
    section = README.split("\n## Ways to run it\n", 1)[1].split("\n## ", 1)[0]
    named = set(re.findall(r"`(--[a-z-]+)", section))
    assert named <= known


def test_every_key_of_the_configuration_is_shown():
    (shown,) = [block for block in blocks("json") if "contentDir" in block]
    assert set(json.loads(shown)) == set(inkan_mcp.CONFIG_KEYS)


def test_shown_configuration_is_read_without_a_word(tmp_path):
    (shown,) = [block for block in blocks("json") if "contentDir" in block]
    read = inkan_mcp.read_config("inkan.config.json", shown)
    config = inkan_mcp.config_from_mapping(read)
    assert config.problems == []
    assert [entry.project for entry in config.sources] == ["payments", None]


def test_shown_record_is_read_without_a_word(tmp_path):
    (shown,) = blocks("markdown")
    origin = inkan_mcp.Origin("sre/adr/0001-define-slos", "0001-define-slos.md")
    record = inkan_mcp.parse_record(shown, origin, inkan_mcp.Rules())
    assert record.problems == []
    assert record.current
    assert record.fields == {"risk": "low"}
    assert record.review.due == "2026-09-02"


def client_snippets() -> list[str]:
    """Return the configurations of clients that the README shows."""
    return [block for block in blocks("json") if "args" in block]


@pytest.mark.parametrize("snippet", client_snippets(), ids=range(len(client_snippets())))
def test_shown_client_configuration_starts_the_server(snippet, tmp_path):
    (servers,) = json.loads(snippet).values()
    arguments = [
        {"/path/to/inkan_mcp.py": str(TOP / "inkan_mcp.py")}.get(word, word)
        for word in servers["inkan"]["args"]
    ]
    roots = ("/path/to/repository", "${workspaceFolder}")
    arguments = [str(SAMPLE) if word in roots else word for word in arguments]
    environment = servers["inkan"].get("env", {})
    with Server(*arguments[1:], path=arguments[0], env=environment, cwd=tmp_path) as server:
        assert server.initialize()["serverInfo"]["name"] == "inkan"


def test_shown_toml_names_the_same_command():
    (snippet,) = blocks("toml")
    assert snippet.startswith("[mcp_servers.inkan]\n")
    assert '"/path/to/inkan_mcp.py", "--root"' in snippet


@pytest.mark.parametrize("client", inkan_mcp.CLIENTS)
def test_printed_configuration_starts_the_server(client, tmp_path):
    done = run_server("--root", SAMPLE, "--print-config", client)
    assert inkan_mcp.CLIENTS[client][0] in done.stderr
    assert f"`{client}`" in README
    if client == "codex":
        tomllib = pytest.importorskip("tomllib")
        servers = tomllib.loads(done.stdout)["mcp_servers"]
    else:
        (servers,) = json.loads(done.stdout).values()
    command = [servers["inkan"]["command"], *servers["inkan"]["args"]]
    request = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
    answer = subprocess.run(
        command, input=request, capture_output=True, cwd=tmp_path, env=child_environment(),
        check=True,
    )  # fmt: skip
    assert json.loads(answer.stdout) == {"jsonrpc": "2.0", "id": 1, "result": {}}


def test_secret_of_a_header_is_not_written_into_a_configuration():
    header = ["--header", "Authorization: Bearer abc123"]
    done = run_server("--url", "https://example.org", *header, "--print-config", "cursor")
    assert done.returncode == 2
    assert "abc123" not in done.stdout + done.stderr


def test_changelog_begins_with_the_version():
    changelog = (TOP / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\n## {inkan_mcp.__version__}" in changelog
    assert f'version = "{inkan_mcp.__version__}"' in (TOP / "pyproject.toml").read_text("utf-8")
    server = json.loads((TOP / "server.json").read_text(encoding="utf-8"))
    assert server["version"] == inkan_mcp.__version__
    assert f"mcp-name: {server['name']} " in README


def test_instructions_and_descriptions_are_short_enough_for_clients():
    assert len(inkan_mcp.INSTRUCTIONS.encode()) <= 1800
    assert all(len(tool.description.encode()) <= 700 for tool in inkan_mcp.TOOLS.values())
