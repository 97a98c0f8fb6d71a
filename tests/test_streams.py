"""What holds on the streams whatever is said: bytes, side by side, cancelled, told, bounded."""

from __future__ import annotations

import json
import os
import sys
import threading
import time

import pytest
from generate import write_archive
from helpers import SAMPLE, Server, modern_params, requirement, run_server, write_records

import inkan_mcp

posix = pytest.mark.skipif(os.name == "nt", reason="it is about POSIX descriptors")

RECORD = "---\ntitle: {}\nstatus: accepted\ndate: 2026-01-02\n---\n\n{}\n"


@pytest.fixture(scope="session")
def large(tmp_path_factory):
    """An archive whose bodies take a while to read."""
    folder = tmp_path_factory.mktemp("large")
    write_archive(folder, 4000, "native", 1)
    return folder


# The server, and in the same process whatever a library might do behind its back.
NOISY = """
import os, subprocess, sys
import inkan_mcp

class Noisy(inkan_mcp.FolderSource):
    def snapshot(self, call):
        print("a print")
        sys.__stdout__.write("past the print\\n")
        sys.__stdout__.flush()
        os.write(1, b"past Python\\n")
        subprocess.run([sys.executable, "-c", "print('a child')"], check=True)
        return super().snapshot(call)

inkan_mcp.FolderSource = Noisy
sys.exit(inkan_mcp.main())
"""

# The server with searches that wait until they are cancelled or the file `go` is there, and that
# tell of it on standard error. Its calls are slow without a clock.
SLOW = """
import os, sys, time
import inkan_mcp

class Slow(inkan_mcp.FolderSource):
    def search_bodies(self, records, needles, call):
        if needles[0] != "kafka":
            self.wait(call, needles[0])
        return super().search_bodies(records, needles, call)

    def read_body(self, record, call):
        if record.title == "D2":
            self.wait(call, record.id)
        return super().read_body(record, call)

    def wait(self, call, what):
        self._log(f"begun {what}")
        done = 0
        while not os.path.exists(os.path.join(self.root, "go")):
            time.sleep(0.01)
            done += 1
            try:
                call.progress(done, 1000000, "waiting")
            except inkan_mcp.Cancelled:
                if what != "deaf":
                    self._log(f"cancelled {what}")
                    raise
        self._log(f"ended {what}")

inkan_mcp.FolderSource = Slow
sys.exit(inkan_mcp.main())
"""


@pytest.fixture
def slow(tmp_path):
    """Return what starts a server whose searches wait for the file `go` in `slow.root`."""
    files = {f"content/p/adr/000{n}-x.md": RECORD.format(f"D{n}", "text") for n in (1, 2)}
    root = write_records(tmp_path / "root", {"inkan.config.json": "{}", **files})
    script = write_records(tmp_path, {"slow.py": SLOW}) / "slow.py"
    path = os.pathsep.join(sys.path)
    server = Server("--root", root, path=script, env={"PYTHONPATH": path})
    server.root = root
    with server:
        yield server


def search(server, text, **meta):
    params = {"name": "search_records", "arguments": {"query": text}}
    request_id = server.start("tools/call", {**params, "_meta": meta} if meta else params)
    server.wait_for_stderr(f"begun {text}")
    return request_id


def cancel(server, request_id):
    server.notify("notifications/cancelled", {"requestId": request_id, "reason": "enough"})


def let_go(server):
    write_records(server.root, {"go": ""})


# ── Bytes ────────────────────────────────────────────────────────────────────


@requirement("stdout-protected")
def test_nothing_but_messages_reaches_the_client_whatever_writes_to_stdout(tmp_path):
    script = write_records(tmp_path, {"noisy.py": NOISY}) / "noisy.py"
    env = {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONWARNINGS": "always"}
    with Server("--root", SAMPLE, path=script, env=env) as server:
        assert server.call("list_tags")["tags"]
        for text in ("a print", "past the print", "past Python", "a child"):
            server.wait_for_stderr(text)


@requirement("utf-8")
@pytest.mark.parametrize(
    "env",
    [
        {"PYTHONIOENCODING": "cp1252", "LC_ALL": "C"},
        {"PYTHONUTF8": "0", "LC_ALL": "POSIX", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "utf-16"},
        {"PYTHONLEGACYWINDOWSSTDIO": "1"},
    ],
    ids=repr,
)
def test_bytes_are_utf8_whatever_the_locale_says(tmp_path, env):
    title = "Žluťoučký kůň → ✓ 🎉"
    record = RECORD.format(title, "Tělo ✓ 🎉")
    write_records(tmp_path, {"inkan.config.json": "{}", "content/p/adr/0001-kůň.md": record})
    with Server("--root", tmp_path, env=env) as server:
        assert server.call("search_records", query="✓ 🎉")["records"][0]["title"] == title
        assert server.call("get_record", id="p/adr/0001-kůň")["body"] == "\nTělo ✓ 🎉\n"
        assert server.call("search_records", query="KŮŇ → ✓")["total"] == 1


@requirement("line-ends")
def test_no_carriage_return_is_ever_sent():
    lines = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\r\n{"jsonrpc":"2.0","id":2,"method":"x"}\r\n'
    done = run_server("--root", SAMPLE, stdin=lines)
    assert "\r" not in done.stdout
    assert len(done.stdout.splitlines()) == 2


@requirement("stderr-prefix")
def test_every_line_of_stderr_says_whose_it_is(tmp_path):
    write_records(
        tmp_path, {"inkan.config.json": "{}", "content/p/adr/0001-x.md": b"---\ntitle: \xff\n---\n"}
    )
    with Server("--root", tmp_path) as server:
        server.call("list_projects")
        server.call("list_projects")
        server.request("ping")
    assert len(server.errors) == 1
    assert server.errors[0].startswith("inkan mcp: ")


@requirement("bounded-lines")
def test_a_line_beyond_all_measure_is_cut_and_is_no_json(monkeypatch):
    monkeypatch.setattr(inkan_mcp, "MAX_LINE_BYTES", 10)
    chunks = [b"12345678", b"9ABCDEF", b"GH\nok\n1234", b"567890", b"123"]
    lines = list(inkan_mcp.split_lines(chunks))
    assert lines == [b"123456789A", b"ok", b"1234567890"]


@requirement("non-blocking")
@posix
def test_pipes_that_do_not_block_are_waited_for():
    ours, theirs = os.pipe()
    for descriptor in (ours, theirs):
        os.set_blocking(descriptor, False)

    def write():
        inkan_mcp.write_all(theirs, b"y" * (1 << 20))
        os.close(theirs)

    writer = threading.Thread(target=write)
    writer.start()
    read = b"".join(iter(lambda: inkan_mcp.read_some(ours), b""))
    writer.join()
    os.close(ours)
    assert read == b"y" * (1 << 20)


# ── Side by side ─────────────────────────────────────────────────────────────


@requirement("side-by-side")
def test_every_other_call_is_answered_while_slow_ones_run(slow):
    running = [search(slow, f"w{n}") for n in range(inkan_mcp.WORKERS)]
    waiting = slow.start("tools/call", {"name": "search_records", "arguments": {"query": "w5"}})
    assert slow.request("ping") == {}
    assert slow.initialize()
    assert slow.call("list_tags") == {"tags": []}
    assert slow.call("search_records")["total"] == 2
    assert slow.call("get_record", id="p/adr/1")["title"] == "D1"
    assert slow.request("resources/read", {"uri": "decision://p/adr/0001-x"})["contents"]
    assert slow.request("resources/list")["resources"]
    assert not any(slow.answers(request_id) for request_id in [*running, waiting])
    let_go(slow)
    for request_id in [*running, waiting]:
        assert "result" in slow.answer(request_id)


@requirement("side-by-side")
def test_lists_do_not_wait_for_bodies_that_are_slow_to_come(slow):
    for _ in range(5):
        slow.start("tools/call", {"name": "get_record", "arguments": {"id": "p/adr/2"}})
    slow.wait_for_stderr("begun p/adr/0002-x")
    assert slow.call("list_projects")["projects"]
    let_go(slow)


@requirement("pipelined")
def test_a_thousand_requests_at_once_get_a_thousand_answers():
    calls = [
        {"jsonrpc": "2.0", "id": n, "method": "ping"}
        if n % 2
        else {"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": {"name": "list_tags"}}
        for n in range(1000)
    ]
    data = b"".join(json.dumps(call).encode() + b"\n" for call in calls)
    with Server("--root", SAMPLE) as server:
        threading.Thread(target=server.send_bytes, args=(data,)).start()
        server.wait_until(lambda: len(server.messages) == 1000)
        assert sorted(message["id"] for message in server.messages) == list(range(1000))


@requirement("pipelined")
def test_requests_with_one_id_in_flight_are_all_answered(slow):
    params = {"name": "search_records", "arguments": {"query": "same"}}
    for _ in range(3):
        slow.send({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params})
    let_go(slow)
    slow.wait_until(lambda: len(slow.answers(5)) == 3)


# ── Cancelling ───────────────────────────────────────────────────────────────


@requirement("cancel")
@pytest.mark.parametrize("modern", [False, True])
def test_a_cancelled_call_stops_and_is_never_answered(slow, modern):
    meta = modern_params()["_meta"] if modern else {}
    request_id = search(slow, "w", **meta)
    cancel(slow, request_id)
    slow.wait_for_stderr("cancelled w")
    assert slow.request("ping") == {}
    assert slow.call("list_projects")
    assert slow.answers(request_id) == []


@requirement("cancel")
def test_a_call_that_ends_after_its_cancel_is_not_answered(slow):
    request_id = search(slow, "deaf")
    cancel(slow, request_id)
    slow.request("ping")
    let_go(slow)
    slow.wait_for_stderr("ended deaf")
    assert slow.call("search_records", query="other")["total"] == 0
    assert slow.answers(request_id) == []


@requirement("cancel")
def test_a_call_cancelled_before_it_begins_never_begins(slow):
    running = [search(slow, f"w{n}") for n in range(4)]
    params = {"name": "search_records", "arguments": {"query": "late"}}
    waiting = slow.start("tools/call", params)
    cancel(slow, waiting)
    slow.request("ping")
    let_go(slow)
    for request_id in running:
        slow.answer(request_id)
    assert slow.call("list_projects")
    assert slow.answers(waiting) == []
    assert "late" not in slow.stderr


@requirement("cancel")
def test_a_cancel_of_what_is_over_or_unknown_changes_nothing(slow):
    request_id = slow.start("ping")
    slow.answer(request_id)
    for unknown in (request_id, 424242, "x", 1.0, None, [1]):
        cancel(slow, unknown)
    assert slow.request("ping") == {}


@requirement("cancel")
def test_ids_of_another_type_are_not_cancelled(slow):
    params = {"name": "search_records", "arguments": {"query": "w"}}
    slow.send({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params})
    slow.wait_for_stderr("begun w")
    cancel(slow, "7")
    slow.request("ping")
    let_go(slow)
    assert "result" in slow.answer(7)


@requirement("cancel", "batch-order")
def test_a_cancelled_request_of_a_batch_is_left_out_of_its_answers(slow):
    params = {"name": "search_records", "arguments": {"query": "w"}}
    call = {"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": params}
    slow.send([call, {"jsonrpc": "2.0", "id": "b", "method": "ping"}])
    slow.wait_for_stderr("begun w")
    cancel(slow, "a")
    assert slow.answer("b")["result"] == {}
    assert slow.answers("a") == []


# ── Progress ─────────────────────────────────────────────────────────────────


@requirement("progress")
@pytest.mark.parametrize("token", [0, "t"])
def test_progress_rises_under_the_token_and_ends_with_the_answer(slow, token):
    request_id = search(slow, "w", progressToken=token)
    slow.wait_until(lambda: len(slow.notifications("notifications/progress")) > 3)
    let_go(slow)
    slow.answer(request_id)
    slow.call("list_projects")
    told = [message["params"] for message in slow.notifications("notifications/progress")]
    assert all(params["progressToken"] == token for params in told)
    values = [params["progress"] for params in told]
    assert values == sorted(set(values))
    assert all(params["total"] >= params["progress"] for params in told)
    answer = slow.answers(request_id)[0]
    assert all(
        slow.messages.index(message) < slow.messages.index(answer)
        for message in slow.notifications("notifications/progress")
    )


@requirement("progress")
def test_reading_bodies_is_told_and_no_progress_comes_unasked(large):
    with Server("--root", large) as server:
        params = {"name": "search_records", "arguments": {"query": "zzz-not-there"}}
        server.request("tools/call", params)
        assert server.notifications("notifications/progress") == []
    with Server("--root", large) as server:
        server.request("tools/call", {**params, "_meta": {"progressToken": "t"}})
        told = server.notifications("notifications/progress")
        assert told[0]["params"]["total"] == 4000


@requirement("cancel")
def test_a_cancel_stops_the_first_look_at_a_large_archive(large):
    with Server("--root", large) as server:
        request_id = server.start("tools/call", {"name": "list_tags", "arguments": {}})
        cancel(server, request_id)
        assert server.request("ping") == {}
        assert server.call("list_projects")["projects"]
        assert server.answers(request_id) == []


# ── A client that does not read ──────────────────────────────────────────────


class Deaf:
    """A client that sends and does not read, as a stuck one does."""

    def __init__(self, *arguments):
        import subprocess

        from helpers import TOP, child_environment, server_command

        self.process = subprocess.Popen(
            server_command(*arguments), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, env=child_environment(), cwd=TOP, bufsize=0,
        )  # fmt: skip

    def send_until_full(self, message, most=1 << 27):
        """Send a message again and again until the server takes no more; return the bytes sent."""
        data = json.dumps(message).encode() + b"\n"
        data *= max(1, 60_000 // len(data))
        os.set_blocking(self.process.stdin.fileno(), False)
        sent, quiet = 0, 0
        while sent < most and quiet < 40:
            try:
                sent += os.write(self.process.stdin.fileno(), data)
                quiet = 0
            except BlockingIOError:
                quiet += 1
                time.sleep(0.02)
        return sent

    def resident(self):
        """Return the memory of the server in bytes."""
        with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
CALL = {
    "jsonrpc": "2.0", "id": 1, "method": "tools/call",
    "params": {"name": "list_projects", "x": "y" * 2000},
}  # fmt: skip


@requirement("back-pressure")
@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="memory is read from /proc")
@pytest.mark.parametrize("message", [LIST, CALL], ids=["at once", "by workers"])
def test_a_client_that_does_not_read_costs_bounded_memory(message):
    client = Deaf("--root", SAMPLE)
    try:
        sent = client.send_until_full(message)
        assert sent < 1 << 27, "the server took everything"
        assert client.resident() < 200 << 20
    finally:
        client.kill()


@requirement("back-pressure", "eof-gone")
@posix
@pytest.mark.parametrize("message", [LIST, CALL], ids=["at once", "by workers"])
def test_the_end_of_input_is_noticed_behind_a_full_pipe(message):
    client = Deaf("--root", SAMPLE)
    try:
        client.send_until_full(message)
        client.process.stdin.close()
        start = time.monotonic()
        assert client.process.wait(10) == 0
        assert time.monotonic() - start < 2.5
    finally:
        client.kill()


# ── Subscriptions ────────────────────────────────────────────────────────────

ONE = "decision://p/adr/0001-x"
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"


@pytest.fixture
def watched(tmp_path):
    files = {f"content/p/adr/000{n}-x.md": RECORD.format(f"D{n}", "text") for n in (1, 2)}
    write_records(tmp_path, {"inkan.config.json": "{}", **files}, age=10)
    with Server("--root", tmp_path) as server:
        server.root = tmp_path
        yield server


def listen(server, **notifications):
    request_id = server.start("subscriptions/listen", modern_params(notifications=notifications))
    server.wait_until(lambda: heard(server, request_id, "subscriptions/acknowledged"))
    return request_id


def heard(server, request_id, method):
    return [
        message["params"]
        for message in server.notifications(f"notifications/{method}")
        if message["params"]["_meta"][SUBSCRIPTION] == request_id
    ]


@requirement("subscriptions")
def test_a_subscription_is_acknowledged_first_without_what_is_not_served(watched):
    request_id = listen(
        watched, resourcesListChanged=True, resourceSubscriptions=[ONE, ONE],
        toolsListChanged=True, promptsListChanged=True,
    )  # fmt: skip
    (params,) = heard(watched, request_id, "subscriptions/acknowledged")
    assert params["notifications"] == {"resourcesListChanged": True, "resourceSubscriptions": [ONE]}
    assert watched.answers(request_id) == []


@requirement("subscriptions")
def test_a_new_record_is_told_to_those_that_asked_for_lists(watched):
    wants = listen(watched, resourcesListChanged=True)
    other = listen(watched, resourceSubscriptions=[ONE])
    write_records(watched.root, {"content/p/adr/0003-x.md": RECORD.format("D3", "text")})
    watched.wait_until(lambda: heard(watched, wants, "resources/list_changed"), 4)
    assert heard(watched, other, "resources/list_changed") == []
    assert heard(watched, other, "resources/updated") == []


@requirement("subscriptions")
def test_a_changed_record_is_told_once_to_those_that_asked_for_it(watched):
    wants = listen(watched, resourceSubscriptions=[ONE])
    other = listen(watched, resourceSubscriptions=["decision://p/adr/0002-x"])
    write_records(watched.root, {"content/p/adr/0001-x.md": RECORD.format("D1", "other text")})
    start = time.monotonic()
    watched.wait_until(lambda: heard(watched, wants, "resources/updated"), 4)
    assert time.monotonic() - start < 2.5
    write_records(watched.root, {"content/p/adr/0002-x.md": RECORD.format("D2", "other text")})
    watched.wait_until(lambda: heard(watched, other, "resources/updated"), 4)
    assert [params["uri"] for params in heard(watched, wants, "resources/updated")] == [ONE]


@requirement("subscriptions")
def test_a_deleted_record_is_told_to_both(watched):
    request_id = listen(watched, resourceSubscriptions=[ONE], resourcesListChanged=True)
    (watched.root / "content/p/adr/0001-x.md").unlink()
    watched.wait_until(lambda: heard(watched, request_id, "resources/updated"), 4)
    watched.wait_until(lambda: heard(watched, request_id, "resources/list_changed"), 4)


@requirement("subscriptions")
def test_a_cancelled_subscription_hears_nothing_more(watched):
    gone = listen(watched, resourcesListChanged=True)
    stays = listen(watched, resourcesListChanged=True)
    cancel(watched, gone)
    write_records(watched.root, {"content/p/adr/0003-x.md": RECORD.format("D3", "text")})
    watched.wait_until(lambda: heard(watched, stays, "resources/list_changed"), 4)
    assert heard(watched, gone, "resources/list_changed") == []
    assert watched.answers(gone) == []


@requirement("subscriptions")
def test_a_new_subscription_after_the_last_was_cancelled_is_served(watched):
    cancel(watched, listen(watched, resourcesListChanged=True))
    request_id = listen(watched, resourcesListChanged=True)
    write_records(watched.root, {"content/p/adr/0003-x.md": RECORD.format("D3", "text")})
    watched.wait_until(lambda: heard(watched, request_id, "resources/list_changed"), 4)


@requirement("subscriptions", "eof-answers")
def test_the_end_of_input_closes_subscriptions_with_a_result(watched):
    early = listen(watched, resourcesListChanged=True)
    late = watched.start("subscriptions/listen", modern_params(notifications={}))
    watched.close()
    for request_id in (early, late):
        (answer,) = watched.answers(request_id)
        assert answer["result"]["resultType"] == "complete"
        assert answer["result"]["_meta"][SUBSCRIPTION] == request_id


@requirement("subscriptions")
@pytest.mark.parametrize(
    "notifications",
    [None, 5, {"resourceSubscriptions": "x"}, {"resourceSubscriptions": [5]}, []],
    ids=json.dumps,
)
def test_a_filter_that_is_none_is_invalid_params(watched, notifications):
    params = modern_params(notifications=notifications)
    request_id = watched.start("subscriptions/listen", params)
    assert watched.answer(request_id)["error"]["code"] == -32602


@requirement("subscriptions")
def test_watching_writes_nothing_and_tells_nothing_without_a_change(watched):
    request_id = listen(watched, resourcesListChanged=True, resourceSubscriptions=[ONE])
    os.utime(watched.root / "content/p/adr/0001-x.md")
    other = listen(watched, resourceSubscriptions=["decision://p/adr/0002-x"])
    write_records(watched.root, {"content/p/adr/0002-x.md": RECORD.format("D2", "other text")})
    watched.wait_until(lambda: heard(watched, other, "resources/updated"), 4)
    assert heard(watched, request_id, "resources/updated") == []
    assert heard(watched, request_id, "resources/list_changed") == []
