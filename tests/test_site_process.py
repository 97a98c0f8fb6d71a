"""One archive as a folder, as a published site and as a built folder: equal answers."""

from __future__ import annotations

import http.server
import json
import threading
import time

import pytest
from helpers import SAMPLE, Server, run_server
from site_publisher import publish
from site_server import Reply, SiteServer, as_json

SLOW = 30.0  # longer than any limit of the server


class Pages(http.server.SimpleHTTPRequestHandler):
    """Serves files, but holds on to what lies below `/slow/`; notes the paths asked for."""

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        if self.path.startswith("/slow/"):
            self.server.released.wait(SLOW)
        super().do_GET()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The sample as it is published, and a server of it."""
    folder = tmp_path_factory.mktemp("site")
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), lambda *words: Pages(*words, directory=str(folder))
    )
    server.asked, server.released, server.folder = [], threading.Event(), folder
    server.url = f"http://127.0.0.1:{server.server_address[1]}"
    publish(SAMPLE, folder, url=server.url)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.released.set()
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module", params=["site", "dist"])
def both(request, site):
    """A server of the folder, and one of the published files."""
    published = ("--url", site.url) if request.param == "site" else ("--dist", site.folder)
    with Server("--root", SAMPLE) as local, Server(*published) as other:
        local.initialize()
        other.initialize()
        yield local, other


CALLS = [
    ("search_records", {"limit": 200}),
    ("search_records", {"query": "kafka"}),
    ("search_records", {"query": "ledger kafka"}),
    ("search_records", {"query": "the", "limit": 5, "offset": 10}),
    ("search_records", {"query": "zzz nowhere"}),
    ("search_records", {"project": "payments", "type": "adr", "status": "accepted"}),
    ("search_records", {"tag": "events"}),
    ("search_records", {"author": "@sofia", "since": "2025-01-01"}),
    ("search_records", {"field": "risk=high", "current_only": True}),
    ("list_tags", {}),
    ("list_tags", {"project": "platform"}),
    ("list_authors", {}),
    ("due_reviews", {"all": True}),
    ("due_reviews", {"within": 0, "project": "payments"}),
    ("rfc_reviews", {}),
    ("rfc_reviews", {"reviewer": "henrik"}),
]


@pytest.mark.parametrize(("tool", "arguments"), CALLS, ids=[str(call) for call in CALLS])
def test_answers_are_the_same_wherever_the_records_come_from(both, tool, arguments):
    local, other = (server.call(tool, **arguments) for server in both)
    local.pop("warnings", None)
    other.pop("warnings", None)
    assert other == local


def test_projects_are_the_same_but_for_their_order(both):
    local, other = (server.call("list_projects")["projects"] for server in both)
    assert sorted(p["id"] for p in other) == sorted(p["id"] for p in local)
    assert {p["id"]: p["records"] for p in other} == {p["id"]: p["records"] for p in local}


def test_records_are_the_same_but_for_their_place(both):
    for found in both[0].call("search_records", limit=200)["records"]:
        local, other = (server.call("get_record", id=found["id"]) for server in both)
        for member in ("url", "path", "warnings", "statusText"):
            local.pop(member, None)
            other.pop(member, None)
        assert other == local


def test_declared_fields_are_the_same(both):
    local, other = (server.call("list_fields")["fields"] for server in both)
    declared = {field["name"]: field for field in local}
    assert other
    assert all(declared[field["name"]] == field for field in other)


@pytest.fixture
def hanging():
    """A site whose index is answered, and whose bodies never are."""
    server = SiteServer()
    ids = [f"p/adr/{number:04}-x" for number in range(20)]
    server.pages["/decisions.json"] = as_json([{"id": id_, "title": "T"} for id_ in ids])
    for id_ in ids:
        server.pages[f"/{id_}.md"] = Reply(hang=True)
    yield server
    server.close()


def search(server, hanging):
    """Begin a search, and return its id once eight bodies are asked for."""
    request = server.start("tools/call", {"name": "search_records", "arguments": {"query": "word"}})
    for number in range(8):
        hanging.wait_for(f"/p/adr/{number:04}-x.md")
    return request


def test_other_calls_are_answered_while_bodies_hang(hanging):
    with Server("--url", hanging.url) as server:
        server.initialize()
        search(server, hanging)
        assert server.request("ping", timeout=5) == {}
        assert server.call("list_projects")["projects"][0]["records"] == 20


def test_a_cancelled_search_asks_for_no_more_bodies(hanging):
    with Server("--url", hanging.url) as server:
        server.initialize()
        request = search(server, hanging)
        server.notify("notifications/cancelled", {"requestId": request})
        assert server.call("list_projects")["projects"][0]["records"] == 20
        assert sum(path.endswith(".md") for path, _ in hanging.requests) == 8
        assert server.answers(request) == []


def test_secret_of_a_header_is_sent_and_said_nowhere_by_a_server(hanging):
    header = ["--header", "Authorization: Bearer ${SECRET}"]
    hanging.pages["/p/adr/0001-x.md"] = Reply("", 500)
    with Server("--url", hanging.url, *header, env={"SECRET": "s3cret-word"}) as server:
        server.initialize()
        result = server.call_result("get_record", {"id": "p/adr/0001-x"})
        assert result["isError"]
        said = server.stderr + b"".join(server.lines).decode()
    assert all("s3cret-word" in str(headers) for _, headers in hanging.requests)
    assert "s3cret-word" not in said


def test_ping_is_answered_while_a_site_is_slow_and_the_end_is_noticed(site):
    with Server("--url", f"{site.url}/slow") as server:
        server.initialize()
        server.start("tools/call", {"name": "list_projects", "arguments": {}})
        assert server.request("ping", timeout=5) == {}
        begin = time.monotonic()
    assert time.monotonic() - begin < 4


def test_no_request_is_made_before_a_call_needs_one(site):
    before = len(site.asked)
    with Server("--url", site.url) as server:
        server.initialize()
        server.request("tools/list")
        server.request("ping")
    assert len(site.asked) == before


def test_secret_of_a_header_is_said_nowhere(site):
    header = ["--header", "Authorization: Bearer ${SECRET}"]
    done = run_server(
        "--url", f"{site.url}/none", *header, "--call", "list_projects",
        env={"SECRET": "s3cret-word"},
    )  # fmt: skip
    assert done.returncode == 1
    assert "404" in done.stderr
    assert "s3cret-word" not in done.stdout + done.stderr


def test_answer_of_a_site_is_the_same_from_a_shell(site):
    done = run_server("--url", site.url, "--call", "search_records", "query=kafka")
    assert json.loads(done.stdout)["total"] == 7
