"""What a hostile file, folder, client or machine tries, each in its smallest form."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time

import pytest
from helpers import (
    MEASURED,
    TODAY,
    Local,
    RpcError,
    Server,
    child_environment,
    modern_params,
    parse_line,
    record_source,
    run_server,
    server_command,
    tree_hash,
    write_records,
)

import inkan_mcp

SECONDS = 30.0 if MEASURED else 10.0  # a busy machine is slow; what is not linear takes minutes
POSIX = pytest.mark.skipif(os.name != "posix", reason="descriptors and links as POSIX has them")
ONE = "p/adr/0001-a"
SEARCH = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_records"}}\n'


@pytest.fixture
def archive(tmp_path):
    """Return a function that opens an archive of the records given."""
    return lambda records, config=None: Local.of(tmp_path / "archive", records, config)


def front(text, body="body\n"):
    return f"---\n{text}\n---\n{body}"


def timed(function):
    start = time.monotonic()
    value = function()
    assert time.monotonic() - start < SECONDS
    return value


# Files


@pytest.mark.parametrize("line", ["# a{blanks}b", "# a{blanks}#{blanks}b", "#{blanks}#"])
def test_a_heading_of_blanks_is_read_in_linear_time(archive, line):
    body = line.format(blanks=" " * 100_000)
    assert timed(lambda: archive({ONE: front("status: x", body)}).ids()) == [ONE]


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("# Use C#", "Use C#"),
        ("# Use F# ##", "Use F#"),
        ("## Plain ##", "Plain"),
        ("# a # b", "a # b"),
        ("####### seven", "0001-a"),
        ("# #", "0001-a"),
        ("#tag", "0001-a"),
    ],
)
def test_a_heading_keeps_the_signs_that_do_not_close_it(archive, line, title):
    assert archive({ONE: front("status: x", line)}).get(ONE)["title"] == title


@pytest.mark.parametrize(
    "piece", ["[[", "[](x", "[x](<", "[[a|", "[[a|]", "a/", "../", "%5B", "](", "/readme.a"]
)
def test_a_link_of_a_million_brackets_is_read_in_linear_time(archive, piece):
    text = piece * (400_000 // len(piece))
    local = archive({ONE: front(f'supersedes: "{text}"\nrelated: "{text}"')})
    assert timed(lambda: local.get(ONE))["supersedes"][0]["missing"] is True


def test_many_links_to_one_record_and_from_one_record_are_joined_in_linear_time(archive):
    records = {f"p/adr/{i:05}-a": front("supersedes: 99999-z") for i in range(2500)}
    records["p/adr/99999-z"] = front("status: superseded\nsupersedes: [x]")
    end = timed(lambda: archive(records).get("99999-z"))
    assert end["supersedes"][0] == {"id": "x", "missing": True}
    assert len(end["supersededBy"]) >= 1000  # of all, since an answer has an end


def test_links_by_a_number_that_thousands_have_are_resolved_in_linear_time(archive):
    records = {f"p{i}/adr/0001-a": front("supersedes: 1") for i in range(2000)}
    (warning,) = timed(lambda: archive(records).get("p7/adr/0001-a"))["warnings"]
    assert "may be p0/adr/0001-a" in warning


def test_a_loop_of_supersession_over_thousands_of_records_ends_with_a_warning(archive):
    records = {
        f"p/adr/{i:04}-a": front(f"status: superseded\nsupersededBy: {(i + 1) % 3000:04}-a")
        for i in range(3000)
    }
    first = timed(lambda: archive(records).get("p/adr/0000-a"))
    assert first["currentRecord"] is None
    assert "runs in a loop" in first["warnings"][0]


def nested(depth, width):
    item = "y"
    for _ in range(depth):
        item = f"[{','.join([item] * width)}]"
    return item


@pytest.mark.parametrize(
    "text",
    [
        "type: " + "x" * 900_000,
        "status: " + "x" * 900_000,
        "description: " + "\u2028" * 250_000,
        "x: " + nested(3, 40),
        "x: " + nested(60, 1)[:-60] + "," + ",".join("y" * 60_000) + "]" * 60,
        "a: {" + ",".join(f"k{i}: {{b: [1, 2, 3]}}" for i in range(20_000)) + "}",
        "authors: [" + ",".join(f"a{i}" for i in range(90_000)) + "]",
        "x" * 900_000 + ": 1",
    ],
    ids=["type", "status", "separators", "lists", "deep", "maps", "authors", "key"],
)
def test_no_field_makes_an_answer_longer_than_a_megabyte(archive, text):
    local = archive({ONE: front(text), "p/adr/0002-b": front("title: B")})
    assert len(local.ids()) == 2
    assert local.get(ONE)["id"] == ONE
    listed = inkan_mcp.list_resources(local.catalog.archive(inkan_mcp.Call(TODAY)), None)
    assert len(inkan_mcp.encode(listed)) < 100_000


def test_a_long_heading_is_cut_in_lists_of_resources(archive):
    local = archive({ONE: front("status: x", "# " + "\u2028" * 1_000_000)})
    listed = inkan_mcp.list_resources(local.catalog.archive(inkan_mcp.Call(TODAY)), None)
    assert len(inkan_mcp.encode(listed)) < 100_000


def test_declared_fields_of_projects_are_cut_with_a_warning(archive):
    fields = "".join(f"  f{i}:\n    description: {'d' * 60}\n" for i in range(9000))
    local = archive({"p/_project.yml": f"fields:\n{fields}", ONE: front("title: A")})
    assert "0 of 1 projects are in it" in local.warnings("list_fields")[0]


@pytest.mark.parametrize("key", ["x" * 2000, "\\e" * 400])
def test_a_long_key_is_answered_in_yaml_that_every_parser_reads(archive, key):
    assert len(archive({ONE: front(f'"{key}": [1, {{a: b}}]')}).get(ONE)["fields"]) == 1


def test_a_faulty_key_is_named_in_one_short_line_without_control_characters(archive):
    key = "a\\x1b[31m\\n" + "b" * 5000
    (warning,) = archive({ONE: front(f'"{key}": 1\n"_{key}": 2')}).get(ONE)["warnings"]
    assert warning.isprintable()
    assert len(warning) < 2200


@POSIX
def test_control_characters_in_names_are_escaped_in_every_sentence(archive, tmp_path):
    name = "p/adr/0002-\x1b[31m\n"
    records = {name + "x": front("title: A"), name + "y": front("title: B")}
    other = {"other/" + name + "x.md": front("title: C")}
    write_records(tmp_path / "archive", other)
    local = archive(records, {"sources": [{"dir": "other"}]})
    sentences = [*local.warnings(), local.error("get_record", id="p/adr/2")]
    assert all(sentence.isprintable() for sentence in sentences)
    assert "is ambiguous" in sentences[-1]


def test_keys_like_those_of_prototypes_and_results_are_plain_fields(archive):
    text = "__proto__: 1\nconstructor: {prototype: 1}\n__class__: x\nid: evil\npath: /etc/passwd"
    record = archive({ONE: front(f"{text}\nbody: z\ncurrent: true")}).get(ONE)
    assert (record["id"], record["current"], record["body"]) == (ONE, False, "body\n")
    assert record["path"] == f"content/{ONE}.md"
    assert set(record["fields"]) >= {"__proto__", "constructor", "__class__", "path"}


@pytest.mark.parametrize("date", ["9999-99-99", "0000-00-00", "2026-02-30", "10000-01-01"])
def test_dates_that_no_calendar_has_are_null_with_a_warning(archive, date):
    record = archive({ONE: front(f"date: {date}")}).get(ONE)
    assert record["date"] is None
    assert "which is no date" in record["warnings"][0]


@pytest.mark.parametrize("every", ["9" * 60 + " years", "9999 years", "P99999999D"])
def test_a_cycle_beyond_the_calendar_has_no_due_date(archive, every):
    local = archive({ONE: front(f"status: accepted\ndate: 9999-12-31\nreview_every: {every}")})
    assert local.get(ONE)["review"]["due"] is None
    assert local.call("due_reviews", all=True)["total"] == 0


# Clients


def test_a_query_of_thousands_of_words_costs_one_comparison_per_record(archive):
    local = archive({f"p/adr/{i:04}-a": front("title: A") for i in range(300)})
    query = " ".join(f"w{i}" for i in range(100_000))
    (warning,) = timed(lambda: local.warnings(query=query))
    assert "looked for as a whole" in warning


def test_the_names_near_a_misspelt_tag_are_found_in_bounded_time(archive):
    tags = ",".join(f"{'ab' * 20}{i}" for i in range(20_000))
    local = archive({ONE: front(f"tags: [{tags}]")})
    assert "Tags: " in timed(lambda: local.warnings(tag="ab" * 40))[0]


def test_long_arguments_are_not_kept_for_the_next_call(archive):
    local = archive({ONE: front("title: A")})
    for number in range(3):
        local.call("search_records", tag=f"{number}{'x' * 1000}")
    assert not local.catalog.archive(inkan_mcp.Call(TODAY)).answers


@pytest.fixture
def server(tmp_path):
    body = ("x" * 99 + "\n") * 4000
    write_records(tmp_path, {f"content/{ONE}.md": front("title: A", body)})
    write_records(tmp_path, {"inkan.config.json": "{}"})
    with Server("--root", tmp_path) as running:
        yield running


def test_a_batch_of_too_many_messages_is_one_error(server):
    server.send([{}] * 1001)
    message = server.answer(None)
    assert "send at most 1,000" in message["error"]["message"]


def test_a_batch_whose_answers_would_pass_a_megabyte_answers_the_rest_with_errors(server):
    call = {"name": "get_record", "arguments": {"id": ONE}}
    requests = [
        {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call}
        for number in range(100)
    ]
    server.send(requests)
    server.answer(99)
    (line,) = server.lines
    assert len(line) <= 1_000_000
    assert [answer["id"] for answer in json.loads(line)] == list(range(100))
    assert "result" in server.answer(0)
    assert "send this request alone" in server.answer(99)["error"]["message"]


def test_a_subscription_to_a_megabyte_of_addresses_is_refused(server):
    uris = [f"decision://{number}" for number in range(70_000)]
    with pytest.raises(RpcError, match="too long"):
        server.modern("subscriptions/listen", notifications={"resourceSubscriptions": uris})


def test_a_thousand_subscriptions_hear_of_a_change_each_once(server, tmp_path):
    asked = modern_params(notifications={"resourcesListChanged": True})
    ids = [server.start("subscriptions/listen", asked) for _ in range(1000)]
    acknowledged = "notifications/subscriptions/acknowledged"
    server.wait_until(lambda: len(server.notifications(acknowledged)) == len(ids))
    write_records(tmp_path, {"content/p/adr/0002-b.md": front("title: B")})
    changed = "notifications/resources/list_changed"
    server.wait_until(lambda: len(server.notifications(changed)) == len(ids))
    for request_id in ids:
        server.notify("notifications/cancelled", {"requestId": request_id})
    assert server.request("ping") == {}


def test_a_storm_of_cancels_leaves_one_answer_at_most_for_each_request(server):
    call = {"name": "search_records", "arguments": {"query": "x y"}}
    ids = [server.start("tools/call", call) for _ in range(300)]
    for request_id in ids * 3:
        server.notify("notifications/cancelled", {"requestId": request_id})
    assert server.call("search_records")["total"] == 1
    assert all(len(server.answers(request_id)) <= 1 for request_id in ids)


# Folders


@POSIX
def test_nothing_from_outside_is_read_while_folders_turn_into_links(archive, tmp_path):
    names = ["p/adr/0001-a", "p/adr/0002-b", "p/rfc/0003-c"]
    local = archive({name: record_source("inside", title="in") for name in names})
    outside = write_records(
        tmp_path / "outside", {f"{name[6:]}.md": front("title: SECRET") for name in names}
    )
    content = tmp_path / "archive" / "content" / "p"
    (content / "rfc" / "0007-link.md").symlink_to(content / "adr" / "0001-a.md")
    (content / "linked").symlink_to(content / "adr")
    (content / "_link").symlink_to(outside)
    stop = threading.Event()

    def exchange():
        while not stop.is_set():
            (content / "adr").rename(content / "_aside")
            (content / "_link").rename(content / "adr")
            (content / "adr").rename(content / "_link")
            (content / "_aside").rename(content / "adr")

    thread = threading.Thread(target=exchange)
    thread.start()
    try:
        calls = [("search_records", {}), ("search_records", {"query": "secret"})]
        calls += [("get_record", {"id": name}) for name in (*names, "p/rfc/0007-link")]
        texts = [local.result(*call).text for _ in range(150) for call in calls]
    finally:
        stop.set()
        thread.join()
    assert not [text for text in texts if "SECRET" in text]
    assert set(local.ids()) == {*names, "p/rfc/0007-link", "p/linked/0001-a", "p/linked/0002-b"}


@POSIX
def test_a_path_with_a_link_on_its_way_is_not_opened(tmp_path):
    root = os.path.realpath(tmp_path)
    write_records(tmp_path, {"in/a/x.md": "x", "out/x.md": "secret"})
    os.close(inkan_mcp.open_below(f"{root}/in/a/x.md", [f"{root}/in"]))
    (tmp_path / "in" / "b").symlink_to(tmp_path / "out")
    with pytest.raises(OSError, match="b"):
        inkan_mcp.open_below(f"{root}/in/b/x.md", [f"{root}/in"])


# The machine


@POSIX
@pytest.mark.parametrize("closed", ["2>&-", "<&- 2>&-"])
def test_nothing_but_messages_reaches_the_client_where_stderr_is_closed(tmp_path, closed):
    write_records(tmp_path, {"inkan.config.json": "{}", "content/p/adr/0001-a.md": "---\na: [\n"})
    words = server_command("--root", tmp_path, "--call", "search_records")
    if "<" not in closed:
        words = words[:-2]
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}', "sh", *words],
        input=SEARCH, capture_output=True, env=child_environment(), timeout=20, check=False,
        cwd=os.path.dirname(inkan_mcp.__file__),
    )  # fmt: skip
    (line,) = done.stdout.splitlines(keepends=True)
    assert json.loads(line)
    assert "<" in closed or parse_line(line)[1] is None
    assert done.returncode == 0


@POSIX
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds the address space")
@pytest.mark.parametrize("limit", ["-v 60000", "-v 100000", "-n 20"])
def test_tight_limits_end_in_answers_or_one_sentence(tmp_path, limit):
    write_records(tmp_path, {"inkan.config.json": "{}", "content/p/adr/0001-a.md": front("a: b")})
    done = subprocess.run(
        ["sh", "-c", f'ulimit {limit}; exec "$@"', "sh", *server_command("--root", tmp_path)],
        input=SEARCH, capture_output=True, env=child_environment(), timeout=20, check=False,
        cwd=os.path.dirname(inkan_mcp.__file__),
    )  # fmt: skip
    assert all(parse_line(line)[1] is None for line in done.stdout.splitlines(keepends=True))
    assert not done.stderr.startswith(b"Traceback")


@pytest.mark.parametrize("failing", [True, False])
def test_requests_are_answered_one_after_the_other_where_no_thread_starts(monkeypatch, failing):
    class Threadless(threading.Thread):
        def start(self):
            raise RuntimeError("can't start new thread")

    if failing:
        monkeypatch.setattr(threading, "Thread", Threadless)
    assert inkan_mcp.start_thread(lambda: None) is not failing
    lines = []
    session = inkan_mcp.Session(inkan_mcp.Catalog(Empty()), lines.append)
    running = inkan_mcp.Server(session, lines.append, today=lambda: TODAY)
    running.take(SEARCH)
    running.finish()
    (line,) = lines
    assert json.loads(line)["result"]["structuredContent"]["total"] == 0


class Empty:
    """A source without records."""

    is_site = False

    def snapshot(self, call):
        return inkan_mcp.Snapshot()


@pytest.mark.parametrize("today", ["junk", "9999-99-99", "2026-12", "a\nb", "2026-12-01; x"])
def test_a_day_that_is_none_is_not_taken_for_today(today):
    assert inkan_mcp.local_date({"INKAN_MCP_TODAY": today}) == time.strftime("%Y-%m-%d")


def test_a_clock_that_goes_backwards_neither_ends_calls_nor_hides_edits(archive, monkeypatch):
    local = archive({ONE: front("title: A")})
    assert local.ids()
    monkeypatch.setattr(time, "time_ns", lambda: 1)
    path = local.root / "content" / f"{ONE}.md"
    path.write_text(front("title: B"), encoding="utf-8")
    os.utime(path, (1, 1))
    assert local.get(ONE)["title"] == "B"


def test_a_slow_disk_holds_up_no_ping(tmp_path):
    write_records(tmp_path / "root", {"inkan.config.json": "{}"})
    records = {f"content/p/adr/{i:04}-a.md": front("title: A") for i in range(8)}
    write_records(tmp_path / "root", records)
    slow = (
        "import os, time\nread = os.read\n\n\n"
        "def slow_read(descriptor, size):\n"
        "    time.sleep(0.1 if descriptor > 2 and size > 1 << 17 else 0)\n"
        "    return read(descriptor, size)\n\n\nos.read = slow_read\n"
    )
    write_records(tmp_path, {"sitecustomize.py": slow})
    before = tree_hash(tmp_path / "root")
    env = {"PYTHONPATH": os.fspath(tmp_path)}
    with Server("--root", tmp_path / "root", env=env) as running:
        asked = running.start("tools/call", {"name": "search_records"})
        assert running.request("ping") == {}
        assert not running.answers(asked)
        assert running.answer(asked)["result"]["structuredContent"]["total"] == 8
    assert tree_hash(tmp_path / "root") == before


def test_no_answer_holds_a_value_of_the_environment(tmp_path):
    text = front("title: ${SECRET_TOKEN} %SECRET_TOKEN%", "{{ env.SECRET_TOKEN }}\n")
    write_records(tmp_path, {"inkan.config.json": "{}", f"content/{ONE}.md": text})
    words = ("--root", tmp_path, "--call", "get_record", f"id={ONE}")
    done = run_server(*words, env={"SECRET_TOKEN": "hunter2"})
    assert "hunter2" not in done.stdout + done.stderr
    assert "${SECRET_TOKEN} %" in done.stdout
