"""Clients that others wrote use the server, and their own types check every answer.

Each stands in an environment of its own, which `.ci/run` makes and names in a variable.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest
from helpers import SAMPLE, TESTS, TOOL_NAMES, TOP, Server, requirement, write_records
from test_streams import SLOW

LEGACY, MODERN = "2025-06-18", "2026-07-28"
CODES = (-32002, -32602, None)  # the TypeScript SDK 2 shows the newer code, FastMCP none
CLIENTS = {
    "python-2-auto": ("INKAN_CLIENT_MCP2", "python_sdk_2.py", "auto", MODERN),
    "python-2-legacy": ("INKAN_CLIENT_MCP2", "python_sdk_2.py", "legacy", LEGACY),
    "python-2-modern": ("INKAN_CLIENT_MCP2", "python_sdk_2.py", MODERN, MODERN),
    "python-1": ("INKAN_CLIENT_MCP1", "python_sdk_1.py", "legacy", LEGACY),
    "fastmcp-auto": ("INKAN_CLIENT_FASTMCP", "fastmcp_client.py", "auto", MODERN),
    "fastmcp-legacy": ("INKAN_CLIENT_FASTMCP", "fastmcp_client.py", "legacy", LEGACY),
    "typescript-1": ("INKAN_CLIENT_NODE", "1", "legacy", LEGACY),
    "typescript-2-auto": ("INKAN_CLIENT_NODE", "2", "auto", MODERN),
    "typescript-2-legacy": ("INKAN_CLIENT_NODE", "2", "legacy", LEGACY),
    "typescript-2-modern": ("INKAN_CLIENT_NODE", "2", MODERN, MODERN),
}


def client_command(variable, script, mode):
    """Return the command that runs a client; skip where its environment is not there."""
    place = os.environ.get(variable)
    if not place:
        pytest.skip(f"{variable} names no environment; .ci/run makes one")
    if variable != "INKAN_CLIENT_NODE":
        return [place, TESTS / "clients" / script, mode]
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node on this machine")
    return [node, TESTS / "clients" / "typescript.mjs", place, script, mode]


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Return the sample with records whose names are hard to write as addresses."""
    folder = tmp_path_factory.mktemp("root")
    shutil.copytree(SAMPLE, folder, dirs_exist_ok=True)
    names = ["ž ů/adr/0001-a b", "payments/adr/0020-100%", "payments/adr/0021-[x]{y}^`"]
    if os.name != "nt":
        names += ["a:b/adr/0001-c:d", "payments/adr/0022-what?#now|<x>"]
    text = "---\ntitle: Odd\nstatus: accepted\n---\n"
    return write_records(folder, {f"decisions/{name}.md": text for name in names})


@pytest.fixture(scope="module", params=list(CLIENTS))
def used(request, root, tmp_path_factory):
    """Return what a client reported, the version it should speak, and the server's stderr."""
    variable, script, mode, version = CLIENTS[request.param]
    command = client_command(variable, script, mode)
    start = f"import sys\nsys.path.insert(0, {str(TOP)!r})\n"
    server = write_records(tmp_path_factory.mktemp("server"), {"slow.py": start + SLOW}) / "slow.py"
    done = subprocess.run(
        [*map(str, command), sys.executable, str(server), "--root", str(root)],
        capture_output=True, timeout=90, check=False, cwd=root,
    )  # fmt: skip
    stderr = done.stderr.decode("utf-8", "replace")
    assert done.returncode == 0, stderr
    return json.loads(done.stdout), version, stderr


@requirement("real-clients")
def test_the_client_speaks_the_newest_version_that_both_know(used):
    report, version, _ = used
    assert report["version"] in (version, None)


@requirement("real-clients", "output-schema")
def test_every_tool_answers_the_client(used):
    report, _, _ = used
    assert report["tools"] == TOOL_NAMES
    assert set(report["calls"]) == set(TOOL_NAMES)
    for name, (is_error, text, structured) in report["calls"].items():
        assert is_error is False
        assert text.startswith("---\n") if name == "get_record" else json.loads(text) == structured
    assert report["calls"]["get_record"][2]["id"] == "payments/adr/0001-double-entry-ledger"


@requirement("client-errors")
def test_mistakes_are_shown_to_the_client_as_what_they_are(used):
    report, version, _ = used
    is_error, text, structured = report["toolError"]
    assert (is_error, structured) == (True, None)
    assert "limit" in text
    assert report["unknownTool"]["code"] in (-32602, None)
    assert "Unknown tool" in report["unknownTool"]["message"]
    assert report["unknownResource"]["code"] in ((-32602, None) if version == MODERN else CODES)
    assert "not found" in report["unknownResource"]["message"].lower()


@requirement("real-clients", "resource-uris")
def test_every_resource_is_listed_and_read_by_the_client(used, root):
    report, _, _ = used
    with Server("--root", root) as server:
        listed = server.request("resources/list")["resources"]
        assert report["uris"] == [resource["uri"] for resource in listed]
        for uri, text in report["texts"].items():
            (content,) = server.request("resources/read", {"uri": uri})["contents"]
            assert text == content["text"]
    assert report["templates"] == ["decision"]


@requirement("completion")
def test_the_client_is_offered_ids(used):
    report, version, _ = used
    assert (report["completion"] is None) == (version != MODERN)
    assert all("ledger" in value for value in report["completion"] or [])


@requirement("client-timeouts")
def test_a_call_that_is_given_up_stops_and_leaves_the_session_usable(used, request):
    report, _, stderr = used
    assert report["timeout"] is not None
    assert report["after"][0] is False
    assert "begun wait" in stderr
    if "python-1" not in request.node.name:  # it forgets the call without a word
        assert "cancelled wait" in stderr


@requirement("real-clients", "eof-gone")
def test_the_client_closes_the_server_without_force(used):
    report, _, stderr = used
    assert report["closing"] < 2
    assert "Traceback" not in stderr
