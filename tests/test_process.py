"""How the process begins and ends: in every state, at any sign, without a word too many."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

import pytest
from helpers import (
    EXIT_SECONDS,
    MEASURED,
    SAMPLE,
    TOP,
    Server,
    child_environment,
    modern_params,
    requirement,
    run_server,
    server_command,
    tree_hash,
    write_records,
)
from test_streams import CALL, SLOW, Deaf, listen, search

posix = pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'


@pytest.fixture
def slow(tmp_path):
    """Start a server whose searches wait for a file that never comes."""
    record = "---\ntitle: D\nstatus: accepted\n---\n\ntext\n"
    files = {"inkan.config.json": "{}", "content/p/adr/0001-x.md": record}
    root = write_records(tmp_path / "root", files)
    script = write_records(tmp_path, {"slow.py": SLOW}) / "slow.py"
    server = Server(
        "--root", root, path=script, env={"PYTHONPATH": os.pathsep.join(sys.path)}
    )  # fmt: skip
    yield server
    server.kill()


def idle(server):
    server.initialize()


def untouched(server):
    server.request("ping")


def searching(server):
    search(server, "w")


def deaf_to_cancel(server):
    search(server, "deaf")


def twenty_waiting(server):
    for number in range(20):
        arguments = {"query": f"w{number}"}
        server.start("tools/call", {"name": "search_records", "arguments": arguments})
    server.wait_for_stderr("begun w3")


def subscribed(server):
    listen(server, resourcesListChanged=True)


def subscribed_and_searching(server):
    listen(server, resourcesListChanged=True)
    search(server, "w")


STATES = [
    *(untouched, idle, searching, deaf_to_cancel, twenty_waiting),
    *(subscribed, subscribed_and_searching),
]


@requirement("eof-gone")
@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
def test_the_process_is_gone_soon_after_its_input_ends(slow, state):
    state(slow)
    slow.close()  # which asserts the time, exit 0 and a clean stdout
    assert "Traceback" not in slow.stderr


@requirement("signals")
@posix
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["TERM", "INT"])
@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
def test_a_signal_ends_the_process_at_once_and_quietly(slow, state, number):
    state(slow)
    before = len(slow.errors)
    start = time.monotonic()
    slow.process.send_signal(number)
    assert slow.process.wait(EXIT_SECONDS) == 128 + number
    assert time.monotonic() - start < (5 if MEASURED else 1)
    slow.kill()
    assert [line for line in slow.errors[before:] if "begun" not in line] == []


@requirement("signals")
@posix
def test_a_signal_ends_the_process_behind_a_full_pipe():
    client = Deaf("--root", SAMPLE)
    try:
        client.send_until_full(CALL)
        client.process.send_signal(signal.SIGTERM)
        assert client.process.wait(EXIT_SECONDS) == 128 + signal.SIGTERM
    finally:
        client.kill()


@requirement("broken-pipe")
@pytest.mark.parametrize("message", [PING, json.dumps(CALL).encode() + b"\n"], ids=["ping", "call"])
def test_a_client_that_goes_away_ends_the_process_quietly(message):
    process = subprocess.Popen(
        server_command("--root", SAMPLE), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, env=child_environment(), cwd=TOP, bufsize=0,
    )  # fmt: skip
    with process:
        process.stdin.write(PING)
        assert json.loads(process.stdout.readline())["result"] == {}
        process.stdout.close()
        process.stdin.write(message)
        assert process.wait(EXIT_SECONDS * 2) == 0
        assert b"Traceback" not in process.stderr.read()


@requirement("eof-gone")
@pytest.mark.parametrize("arguments", [(), ("--call", "list_tags")])
def test_an_empty_input_gives_exit_0_and_no_word(arguments):
    done = run_server("--root", SAMPLE, *arguments)
    assert done.returncode == 0
    assert bool(done.stdout) == bool(arguments)
    assert "Traceback" not in done.stderr


@requirement("eof-answers")
def test_twenty_requests_read_before_the_end_are_all_answered():
    calls = [
        {"name": "search_records", "arguments": {"query": "kafka"}},
        {"name": "get_record", "arguments": {"id": "payments/adr/1"}},
        {"name": "list_projects"},
        {"name": "nothing"},
    ]
    lines = [
        {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": calls[number % 4]}
        for number in range(20)
    ]
    stdin = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    done = run_server("--root", SAMPLE, stdin=stdin)
    assert done.returncode == 0
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert sorted(answer["id"] for answer in answers) == list(range(20))


@requirement("eof-answers")
def test_requests_behind_a_stuck_one_are_answered_before_the_end(slow):
    search(slow, "w")
    request_ids = [slow.start(method) for method in ("ping", "tools/list", "resources/list")]
    slow.close()
    for request_id in request_ids:
        assert "result" in slow.answers(request_id)[0]


@requirement("eof-answers")
def test_a_subscription_is_closed_although_a_call_is_stuck(slow):
    listening = listen(slow, resourcesListChanged=True)
    search(slow, "w")
    slow.close()
    assert slow.answers(listening)[0]["result"]["resultType"] == "complete"


@requirement("signals")
@posix
@pytest.mark.parametrize("end", ["input", "signal"])
def test_no_git_outlives_the_server(tmp_path, end):
    tools = write_records(tmp_path / "bin", {"git": '#!/bin/sh\necho $$ >"$PIDFILE"\nsleep 30\n'})
    (tools / "git").chmod(0o755)
    repo = {"repo": "https://127.0.0.1:9/x.git"}
    root = write_records(tmp_path / "root", {"inkan.config.json": json.dumps({"sources": [repo]})})
    pid_file = tmp_path / "pid"
    env = {
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "PIDFILE": str(pid_file),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }  # fmt: skip
    server = Server("--root", root, env=env)
    end_of_waiting = time.monotonic() + 10
    while not (pid_file.exists() and pid_file.read_text(encoding="utf-8").strip()):
        assert time.monotonic() < end_of_waiting, server.stderr
        time.sleep(0.01)
    pid = int(pid_file.read_text(encoding="utf-8"))
    assert server.request("ping") == {}
    server.start("tools/call", {"name": "list_projects"})
    if end == "input":
        server.close()
    else:
        server.process.terminate()
        server.process.wait(EXIT_SECONDS)
        server.kill()
    end_of_waiting = time.monotonic() + 2
    while is_alive(pid):
        assert time.monotonic() < end_of_waiting, "git is still there"
        time.sleep(0.01)


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        pass
    if os.path.exists("/proc/self"):
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


# ── The beginning ────────────────────────────────────────────────────────────


@requirement("handshake-first")
def test_the_handshake_waits_for_no_record_no_git_and_no_network(tmp_path):
    sources = [{"repo": "https://127.0.0.1:9/x.git"}, {"dir": "nowhere"}]
    files = {"inkan.config.json": json.dumps({"sources": sources})}
    env = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    with Server("--root", write_records(tmp_path / "root", files), env=env) as server:
        assert server.initialize()["serverInfo"]["name"] == "inkan"
        assert server.modern("server/discover")["supportedVersions"]


@requirement("no-traceback")
@posix
@pytest.mark.parametrize("closing", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_closed_stream_is_no_traceback(tmp_path, closing):
    command = " ".join(f"'{word}'" for word in server_command("--root", SAMPLE))
    done = subprocess.run(
        ["/bin/sh", "-c", f"exec {command} {closing}"], input=PING, capture_output=True,
        env=child_environment(), cwd=TOP, timeout=20, check=False,
    )  # fmt: skip
    assert b"Traceback" not in done.stderr
    if closing == "2>&-":
        assert json.loads(done.stdout)["result"] == {}


@requirement("bare-environment")
def test_a_bare_environment_and_another_folder_are_enough(tmp_path):
    shutil.copy(TOP / "inkan_mcp.py", tmp_path)
    shutil.copytree(TOP / "vendored_yaml", tmp_path / "vendored_yaml")
    bare = dict.fromkeys(child_environment())  # the copy is not measured either
    if os.name == "nt":
        bare.pop("SYSTEMROOT", None)
    with Server(
        "--root", SAMPLE, path=tmp_path / "inkan_mcp.py", env=bare, cwd=tmp_path.anchor
    ) as server:
        assert server.call("list_projects")["projects"]


@requirement("nothing-written")
def test_a_whole_session_leaves_the_archive_as_it_was(tmp_path):
    root = tmp_path / "root"
    shutil.copytree(SAMPLE, root)
    before = tree_hash(root)
    with Server("--root", root) as server:
        server.initialize()
        for tool in server.request("tools/list")["tools"]:
            arguments = {"id": "payments/adr/1"} if tool["name"] == "get_record" else {}
            server.call(tool["name"], **arguments)
        server.call("search_records", query="kafka")
        server.modern("resources/list")
        server.start("subscriptions/listen", modern_params(notifications={}))
        server.request(
            "resources/read", {"uri": "decision://payments/adr/0001-double-entry-ledger"}
        )
    assert tree_hash(root) == before


@requirement("internal-fault")
def test_an_internal_fault_is_answered_and_told_on_stderr_alone(tmp_path):
    script = """
import sys
import inkan_mcp

class Broken(inkan_mcp.FolderSource):
    def snapshot(self, call):
        raise ZeroDivisionError("a fault in the code")

inkan_mcp.FolderSource = Broken
sys.exit(inkan_mcp.main())
"""
    path = write_records(tmp_path, {"broken.py": script}) / "broken.py"
    env = {"PYTHONPATH": os.pathsep.join(sys.path)}
    with Server("--root", SAMPLE, path=path, env=env) as server:
        for method, params in (
            ("tools/call", {"name": "list_tags"}),
            ("resources/list", {}),
            ("resources/read", {"uri": "decision://x"}),
        ):
            answer = server.answer(server.start(method, params))
            assert answer["error"]["code"] == -32603
            assert "ZeroDivision" not in answer["error"]["message"]
        listening = server.start("subscriptions/listen", modern_params(notifications={}))
        server.wait_until(
            lambda: (
                server.answers(listening)
                or server.notifications("notifications/subscriptions/acknowledged")
            )
        )
        assert server.request("ping") == {}
        server.wait_for_stderr("ZeroDivisionError")
    assert all(line.startswith("inkan mcp: ") for line in server.errors)


@requirement("pipelined")
def test_input_that_comes_while_answers_wait_is_all_answered():
    with Server("--root", SAMPLE) as server:
        lines = b"".join(PING.replace(b"1,", b"%d," % n) for n in range(20_000))
        threading.Thread(target=server.send_bytes, args=(lines,), daemon=True).start()
        server.wait_until(lambda: len(server.messages) == 20_000)
