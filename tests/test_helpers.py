"""The tests' own tools: the client, the guard before the network, the generator of archives."""

from __future__ import annotations

import shutil
import socket
from pathlib import Path

import pytest
from conftest import NetworkBlockedError
from generate import write_archive
from helpers import SAMPLE, RpcError, Server, ToolError, tree_hash, write_records

FAKE = """
import json, sys
def answer(message):
    name = message["params"]["name"] if message["method"] == "tools/call" else message["method"]
    if name == "broken":
        return {"result": {"isError": True, "content": [{"type": "text", "text": "No."}]}}
    if name == "unknown":
        return {"error": {"code": -32601, "message": "unknown", "data": {"a": 1}}}
    data = {"name": name, "arguments": message["params"].get("arguments")}
    text = json.dumps(data if name != "liar" else {})
    return {"result": {"content": [{"type": "text", "text": text}], "structuredContent": data}}
for line in sys.stdin.buffer:
    message = json.loads(line)
    if message["method"] == "stray":
        sys.stdout.write("hello\\n")
    if "id" in message:
        reply = {"jsonrpc": "2.0", "id": message["id"], **answer(message)}
        sys.stdout.write(json.dumps(reply) + "\\n")
    sys.stdout.flush()
sys.stderr.write("end of input\\n")
"""


@pytest.fixture
def fake(tmp_path):
    return write_records(tmp_path, {"fake.py": FAKE}) / "fake.py"


def test_a_call_returns_its_structured_content(fake):
    with Server(path=fake) as server:
        assert server.call("echo", name="x") == {"name": "echo", "arguments": {"name": "x"}}
    assert server.stderr == "end of input"


def test_an_error_answer_is_raised_with_its_code_and_data(fake):
    with Server(path=fake) as server, pytest.raises(RpcError, match="-32601") as caught:
        server.request("unknown", {})
    assert caught.value.data == {"a": 1}


def test_a_failed_tool_is_raised_with_its_text(fake):
    with Server(path=fake) as server, pytest.raises(ToolError, match=r"^No\.$"):
        server.call("broken")


def test_text_that_differs_from_the_structured_content_is_found(fake):
    with Server(path=fake) as server, pytest.raises(AssertionError):
        server.call("liar")


def test_a_stray_line_on_stdout_is_found_at_the_end(fake):
    server = Server(path=fake)
    server.notify("stray")
    with pytest.raises(AssertionError, match="no JSON"):
        server.close()


def test_another_exit_code_is_found_at_the_end(tmp_path):
    path = write_records(tmp_path, {"bad.py": "raise SystemExit(3)"}) / "bad.py"
    with pytest.raises(AssertionError, match="exit 3"):
        Server(path=path).close()


def test_a_process_that_stays_is_found_at_the_end(tmp_path, monkeypatch):
    monkeypatch.setattr("helpers.EXIT_SECONDS", 0.2)
    path = write_records(tmp_path, {"stay.py": "import time\ntime.sleep(60)"}) / "stay.py"
    with pytest.raises(AssertionError, match="still there"):
        Server(path=path).close()


def test_waiting_for_a_server_that_ended_does_not_hang(tmp_path):
    path = write_records(tmp_path, {"gone.py": ""}) / "gone.py"
    server = Server(path=path)
    with pytest.raises(AssertionError, match="ended"):
        server.answer(1)
    server.kill()


def test_no_test_reaches_another_machine():
    with socket.socket() as client, pytest.raises(NetworkBlockedError, match=r"192\.0\.2\.1"):
        client.connect(("192.0.2.1", 80))
    with pytest.raises(NetworkBlockedError, match="example"):
        socket.create_connection(("example.org", 80))


def test_tests_reach_their_own_machine():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        socket.create_connection(("localhost", listener.getsockname()[1])).close()


def test_a_changed_byte_changes_the_tree_hash(tmp_path):
    shutil.copytree(SAMPLE, tmp_path / "a")
    before = tree_hash(tmp_path)
    assert tree_hash(tmp_path) == before
    write_records(tmp_path, {"a/inkan.config.json": "{}"})
    assert tree_hash(tmp_path) != before


@pytest.mark.parametrize("style", ["native", "nygard", "both"])
def test_one_seed_writes_one_archive(tmp_path, style):
    def texts(folder, seed):
        paths = write_archive(tmp_path / folder, 30, style, seed, dirt=True)
        return [Path(path).read_bytes() for path in paths]

    assert texts("a", 1) == texts("b", 1) != texts("c", 2)
