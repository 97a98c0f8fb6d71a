"""A published site as the source: real requests to a server on this machine."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import socket
import ssl
import subprocess
import sys
import threading
import time
import zlib

import pytest
from site_server import HTML, SIGN_IN, Proxy, Reply, SiteServer, as_json

import inkan_mcp
from inkan_mcp import Call, Cancelled, DistSource, SiteSource, SiteTimes, SourceError, UsageError

SLOS = {
    "id": "sre/adr/0001-define-slos",
    "ref": "SRE-ADR-0001",
    "title": "Define SLOs",
    "status": "accepted",
    "date": "2024-05-01",
    "tags": ["slo"],
    "authors": ["ana"],
    "fields": {"risk": "high"},
    "colour": "blue",
}
KAFKA = {"id": "pay/adr/0002-kafka", "title": "Use Kafka", "status": "proposed"}


def call():
    return Call("2026-01-15")


class Cancelling(Call):
    """A call that is cancelled while what it asked for is being read."""

    __slots__ = ("asked",)

    def check(self):
        self.asked = getattr(self, "asked", 0) + 1
        self.cancelled = self.asked > 5
        super().check()


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self):
        self.seconds = 1000.0

    def __call__(self):
        return self.seconds


@pytest.fixture
def site():
    server = SiteServer()
    server.pages["/decisions.json"] = as_json([SLOS, KAFKA], etag='"1"')
    server.pages["/sre/adr/0001-define-slos.md"] = Reply("---\ntitle: x\n---\n\nWe set SLOs.\n")
    server.pages["/pay/adr/0002-kafka.md"] = Reply("Events go through Kafka.\n")
    yield server
    server.close()


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def opened():
    """Make sources that are closed at the end of the test."""
    sources = []

    def make(address, headers=(), environ=os.environ, times=None, log=lambda line: None):
        source = SiteSource(address, list(headers), environ, log, times=times)
        sources.append(source)
        return source

    yield make
    for source in sources:
        source.stop()


def quick(seconds=0.3):
    times = SiteTimes()
    times.fetch = seconds
    return times


def fault(source, record=None):
    """The sentence with which a source says that it cannot be read."""
    with pytest.raises(SourceError) as refused:
        source.read_body(record, call()) if record else source.snapshot(call())
    return str(refused.value)


def ids(snapshot):
    return [record.id for record in snapshot.records]


# ── the address and the headers of the command line


@pytest.mark.parametrize(
    "address",
    ["", "decisions.acme.dev", "file:///etc/passwd", "ftp://x/", "data:,x", "http://", "https:///x",
     "http://a b/", "http://host:99999/", "http:\\\\host\\", "//host/x", "http://ho\nst/"],
)  # fmt: skip
def test_what_is_no_site_address_is_a_usage_fault(address):
    with pytest.raises(UsageError, match=r"^--url must be the address of a published site$"):
        SiteSource(address, [], {}, print)


@pytest.mark.parametrize("ending", ["", "/", "//", "/decisions.json", "/?x=1", "/#top"])
def test_every_spelling_of_the_address_leads_to_the_same_site(site, opened, ending):
    assert ids(opened(site.url + ending).snapshot(call())) == [SLOS["id"], KAFKA["id"]]


def test_a_base_path_is_part_of_the_address(site, opened):
    site.pages["/docs/v1/decisions.json"] = as_json([SLOS])
    site.pages["/docs/v1/sre/adr/0001-define-slos.md"] = Reply("under a base path")
    source = opened(site.url + "/docs/v1/")
    record = source.snapshot(call()).records[0]
    assert source.read_body(record, call()) == "under a base path"


def test_a_json_address_is_the_index_and_its_folder_the_site(site, opened):
    site.pages["/archive/adrs.json"] = as_json({"adrs": [SLOS]})
    site.pages["/archive/sre/adr/0001-define-slos.md"] = Reply("beside the index")
    source = opened(site.url + "/archive/adrs.json")
    assert source.read_body(source.snapshot(call()).records[0], call()) == "beside the index"


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("Authorization Bearer hunter2", "with a colon"),
        ("X: ${MISSING}hunter2", "MISSING"),
        ("X: ${BROKEN}hunter2", "line break"),
        ("X: hunter2\r\nHost: evil", "line break"),
        ("X: hunter2é", "ASCII"),
        ("Host: hunter2", "cannot set"),
        ("bad name: hunter2", "NAME: VALUE"),
    ],
)
def test_a_wrong_header_is_a_usage_fault_that_keeps_the_secret(header, words):
    with pytest.raises(UsageError, match=words) as refused:
        SiteSource("http://x/", [header], {"BROKEN": "a\nb"}, print)
    assert "hunter2" not in str(refused.value)


def test_headers_are_sent_with_their_variables_replaced(site, opened):
    source = opened(site.url, ["Authorization: Bearer ${TOKEN}"], {"TOKEN": "s3cret"})
    source.snapshot(call())
    assert {sent["Authorization"] for _, sent in site.requests} == {"Bearer s3cret"}
    assert {sent["User-Agent"] for _, sent in site.requests} == {
        f"inkan-mcp/{inkan_mcp.__version__}"
    }


def test_a_login_in_the_address_is_sent_and_never_shown(site, opened):
    source = opened(site.url.replace("//", "//me:s3cret@"))
    source.snapshot(call())
    assert site.requests[0][1]["Authorization"] == "Basic bWU6czNjcmV0"
    site.pages.clear()
    assert "s3cret" not in fault(opened(site.url.replace("//", "//me:s3cret@")))


def test_nothing_is_asked_or_imported_before_a_call(site):
    code = (
        "import sys, inkan_mcp\n"
        f"inkan_mcp.SiteSource({site.url!r}, [], {{}}, print).start()\n"
        "print(sorted({'urllib.request', 'ssl', 'http.client', 'socket'} & set(sys.modules)))\n"
    )
    run = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, check=True)
    assert run.stdout.split() == [b"[]"]
    assert site.requests == []


# ── the records


def test_an_entry_becomes_a_record(site, opened):
    record = opened(site.url).snapshot(call()).records[0]
    assert (record.id, record.ref, record.title) == (SLOS["id"], "SRE-ADR-0001", "Define SLOs")
    assert (record.project, record.type, record.number) == ("sre", "adr", "0001")
    assert (record.status, record.current, record.date) == ("accepted", True, "2024-05-01")
    assert (record.tags, record.authors) == (["slo"], ["ana"])
    assert record.fields == {"risk": "high"}
    assert record.url == f"{site.url}/{SLOS['id']}"


def test_what_an_entry_leaves_out_is_derived(site, opened):
    site.pages["/decisions.json"] = as_json([{"id": "sre/adr/0007-x"}])
    record = opened(site.url).snapshot(call()).records[0]
    assert (record.title, record.ref, record.type) == ("0007-x", "SRE-ADR-0007", "adr")
    assert (record.status, record.date, record.current) == (None, None, False)


def test_statuses_fields_and_projects_of_the_index_hold(site, opened):
    site.pages["/decisions.json"] = as_json(
        {
            "statuses": {"ratified": {"current": True}, "accepted": {"current": False}},
            "projects": [{"id": "sre", "name": "Reliability", "key": "REL", "owners": ["ana"]}],
            "records": [{**SLOS, "ref": None, "status": "Ratified"}, {**KAFKA, "draft": True}],
        }
    )
    snapshot = opened(site.url).snapshot(call())
    (record,) = snapshot.records
    assert (record.status, record.current, record.ref) == ("ratified", True, "REL-ADR-0001")
    assert snapshot.projects["sre"].name == "Reliability"
    assert snapshot.drafts == {KAFKA["id"]}


def test_a_stated_approval_is_taken(site, opened):
    review = {"status": "pending", "approved": 1, "required": 2, "waitingOn": ["bo"]}
    site.pages["/decisions.json"] = as_json([{**SLOS, "rfcReview": review}])
    approval = opened(site.url).snapshot(call()).records[0].approval
    assert (approval.approved, approval.required, approval.waiting_on) == (1, 2, ["bo"])


INDEXES = {
    "bare array": [SLOS],
    "records": {"records": [SLOS]},
    "decisions": {"decisions": [SLOS]},
    "items": {"items": [SLOS]},
    "nested": {"data": {"records": [SLOS]}},
    "by id": {SLOS["id"]: {"title": "Define SLOs", "status": "accepted"}},
    "single": {"adr": SLOS},
    "front matter": {
        "files": [{"path": SLOS["id"] + ".md", "frontmatter": {"title": "Define SLOs"}}]
    },
    "log4brains": [
        {"slug": SLOS["id"], "package": "sre", "title": "Define SLOs", "creationDate": "2024-05-01"}
    ],
    "json feed": {"version": "1.1", "title": "x", "items": [SLOS]},
}


@pytest.mark.parametrize("shape", INDEXES)
def test_an_index_is_read_in_any_published_shape(site, opened, shape):
    site.pages["/decisions.json"] = as_json(INDEXES[shape])
    (record,) = opened(site.url).snapshot(call()).records
    assert (record.id, record.title) == (SLOS["id"], "Define SLOs")


def test_lines_of_objects_are_an_index(site, opened):
    text = "\n".join(json.dumps(entry) for entry in (SLOS, KAFKA)) + "\n"
    site.pages["/decisions.json"] = Reply(text, media="application/x-ndjson")
    assert len(opened(site.url).snapshot(call()).records) == 2


def test_peps_are_read_by_number_with_their_own_date(site, opened):
    site.pages["/decisions.json"] = as_json(
        {
            "8": {"number": 8, "title": "Style", "status": "Active", "created": "05-Jul-2001",
                  "superseded_by": "1, 2", "type": "Process"},
        }
    )  # fmt: skip
    (record,) = opened(site.url).snapshot(call()).records
    assert (record.id, record.date, record.superseded_by) == ("8", "2001-07-05", ["1", "2"])


NO_INDEXES = {
    "badge": {"schemaVersion": 1, "label": "decisions", "message": "151 frozen"},
    "game": [{"id": f"grow-{n}", "decisionNumber": n, "name": "x", "brief": "y"} for n in range(9)],
    "numbers": [1, 2, 3],
    "text": "hello",
    "empty object": {},
    "null": None,
}


@pytest.mark.parametrize("shape", NO_INDEXES)
def test_what_is_no_record_index_is_refused_with_a_sentence(site, opened, shape):
    site.pages["/decisions.json"] = as_json(NO_INDEXES[shape])
    assert fault(opened(site.url)).startswith(f"{site.url}/decisions.json is no index of records")


def test_an_empty_list_is_an_index_without_records(site, opened):
    site.pages["/decisions.json"] = as_json([])
    snapshot = opened(site.url).snapshot(call())
    assert snapshot.records == []
    assert snapshot.looked == f"{site.url}/decisions.json lists no record"


HOSTILE = [
    "../../etc/passwd", "/etc/passwd", "a//b", "a/../b", "a/./b", "a\\b", "C:/x", "a/b\x00",
    "a\nb", "http://evil/x", "javascript:x", "", None, 1.5e400, True, ["a"], {"a": 1}, "\ud800",
    "x" * 2000,
]  # fmt: skip


@pytest.mark.parametrize("hostile", HOSTILE)
def test_an_entry_with_a_hostile_id_loses_nothing_but_itself(site, opened, hostile):
    entry = {"id": hostile, "title": "x", "status": "accepted"}
    site.pages["/decisions.json"] = as_json([entry, SLOS])
    snapshot = opened(site.url).snapshot(call())
    assert ids(snapshot) in ([SLOS["id"]], ["inf", SLOS["id"]])
    assert len(snapshot.missing) + len(snapshot.records) == 2


def test_values_of_a_wrong_kind_cost_no_record(site, opened):
    wrong = {key: [[{"a": [1]}], 7] for key in SLOS if key != "id"}
    site.pages["/decisions.json"] = as_json([SLOS, {**wrong, "id": "a/b/1"}, 3, None, [], "x"])
    snapshot = opened(site.url).snapshot(call())
    assert ids(snapshot) == [SLOS["id"], "a/b/1"]
    assert len(snapshot.missing) == 4


def test_the_first_of_two_equal_ids_wins_with_a_warning(site, opened):
    site.pages["/decisions.json"] = as_json([SLOS, {**SLOS, "title": "Other"}])
    snapshot = opened(site.url).snapshot(call())
    assert [record.title for record in snapshot.records] == ["Define SLOs"]
    assert [problem.kind for problem in snapshot.missing] == ["double id"]


def test_ten_thousand_levels_are_refused_with_a_sentence(site, opened):
    site.pages["/decisions.json"] = Reply("[" * 10_000 + "]" * 10_000, media="application/json")
    assert "nested too deeply" in fault(opened(site.url))


def test_a_deep_entry_loses_nothing_but_itself(site, opened):
    deep = json.loads("[" * 200 + "]" * 200)
    site.pages["/decisions.json"] = as_json([SLOS, {**KAFKA, "fields": {"x": deep}}])
    assert ids(opened(site.url).snapshot(call())) == [SLOS["id"]]


def test_a_flood_of_entries_is_bounded(site, opened):
    entries = [{}] * 300_000 + [SLOS]
    site.pages["/decisions.json"] = as_json({"records": entries})
    snapshot = opened(site.url).snapshot(call())
    assert ids(snapshot) == [SLOS["id"]]
    assert len(snapshot.missing) <= inkan_mcp.MAX_INDEX_PROBLEMS + 1


# ── bodies


def test_a_body_comes_without_its_own_front_matter(site, opened):
    source = opened(site.url)
    assert source.read_body(source.snapshot(call()).records[0], call()) == "\nWe set SLOs.\n"


def test_a_body_in_the_index_is_not_asked_for(site, opened):
    site.pages["/decisions.json"] = as_json([{**SLOS, "markdown": "# In the index\n\nText.\n"}])
    source = opened(site.url)
    record = source.snapshot(call()).records[0]
    assert source.read_body(record, call()) == "# In the index\n\nText.\n"
    assert source.search_bodies([record], ["text", "slo"], call()) == ([(True, False)], [])
    assert site.asked("/sre/adr/0001-define-slos.md") == 0


def test_a_link_to_the_body_on_another_host_is_not_followed(site, opened):
    link = "http://localhost:4321/sre/adr/0001-define-slos.md"
    site.pages["/decisions.json"] = as_json([{**SLOS, "markdown": link}])
    source = opened(site.url)
    assert source.read_body(source.snapshot(call()).records[0], call()) == "\nWe set SLOs.\n"


def test_a_stated_path_is_asked_for_where_the_id_is_no_path(site, opened):
    entry = {"id": "ADR-0001", "title": "T", "status": "accepted", "path": "adr/0001-t.md"}
    site.pages["/decisions.json"] = as_json({"adrs": [entry]})
    site.pages["/adr/0001-t.md"] = Reply("by its path")
    source = opened(site.url)
    assert source.read_body(source.snapshot(call()).records[0], call()) == "by its path"


def test_an_id_with_odd_characters_is_encoded_in_its_address(site, opened):
    site.pages["/decisions.json"] = as_json([{"id": "ä/adr/0001 50%?#", "title": "T"}])
    site.pages["/%C3%A4/adr/0001%2050%25%3F%23.md"] = Reply("odd")
    source = opened(site.url)
    assert source.read_body(source.snapshot(call()).records[0], call()) == "odd"


@pytest.mark.parametrize(("page", "words"), [(HTML, "was not found"), (SIGN_IN, "asks to sign in")])
def test_a_web_page_is_no_body(site, opened, page, words):
    site.pages["/pay/adr/0002-kafka.md"] = Reply(page, media="text/html")
    source = opened(site.url)
    assert words in fault(source, source.snapshot(call()).records[1])


def test_a_page_that_is_gone_has_the_index_read_again_once(site, opened, clock):
    source = opened(site.url, times=SiteTimes(clock))
    record = source.snapshot(call()).records[1]
    clock.seconds += 5
    del site.pages["/pay/adr/0002-kafka.md"]
    assert fault(source, record) == f"{site.url}/pay/adr/0002-kafka.md answered 404 Not Found"
    assert site.asked("/decisions.json") == 2
    site.pages["/decisions.json"] = as_json([SLOS])
    clock.seconds += 5
    assert "no longer lists pay/adr/0002-kafka" in fault(source, record)


# ── what goes wrong


STATUSES = [
    (404, {}, "answered 404 Not Found"),
    (500, {}, "answered 500 Internal Server Error"),
    (401, {}, "answered 401 Unauthorized; the site asks to sign in"),
    (403, {}, "answered 403 Forbidden; the site asks to sign in"),
    (429, {"Retry-After": "12"}, "answered 429 Too Many Requests; try again after 12 seconds"),
    (204, {}, "answered 204 No Content"),
]


@pytest.mark.parametrize(("status", "headers", "words"), STATUSES)
def test_a_status_is_a_sentence(site, opened, status, headers, words):
    site.pages["/decisions.json"] = Reply("", status, headers)
    assert fault(opened(site.url)).startswith(f"{site.url}/decisions.json {words}")


def test_html_for_the_index_asks_about_the_address(site, opened):
    site.pages["/decisions.json"] = Reply(HTML, media="text/html; charset=utf-8")
    sentence = fault(opened(site.url))
    assert sentence.startswith(f"{site.url}/decisions.json is not JSON (text/html, ")
    assert sentence.endswith("): is this the site's address, base path included?")


def test_a_sign_in_page_for_the_index_says_so(site, opened):
    site.pages["/decisions.json"] = Reply(SIGN_IN, media="text/html")
    assert "asks to sign in" in fault(opened(site.url))


def test_a_server_that_hangs_is_given_up_after_the_limit(site, opened):
    site.pages["/decisions.json"] = Reply(hang=True)
    begin = time.monotonic()
    sentence = fault(opened(site.url, times=quick()))
    assert sentence == f"{site.url}/decisions.json did not answer within 0.3s"
    assert time.monotonic() - begin < 2


def test_the_limit_is_ten_seconds_in_its_sentence(clock, opened):
    assert SiteTimes().fetch == 10
    page = inkan_mcp.Page("http://x/decisions.json", inkan_mcp.read_markdown)
    sentence = inkan_mcp.Job(page, SiteTimes()).late
    assert sentence == "http://x/decisions.json did not answer within 10s"


@pytest.mark.parametrize("dripping", [
    Reply("x" * 1000, drip=0.05),
    Reply(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n"),
])  # fmt: skip
def test_a_server_that_drips_is_given_up_after_the_limit(site, opened, dripping):
    site.pages["/decisions.json"] = dripping
    begin = time.monotonic()
    sentence = fault(opened(site.url, times=quick()))
    assert "did not answer" in sentence or "broke off" in sentence or "is not JSON" in sentence
    assert time.monotonic() - begin < 2


def test_a_server_that_drips_headers_is_given_up_after_the_limit(opened):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        stop = threading.Event()

        def drip():
            connection, _ = listener.accept()
            with connection:
                try:
                    while not stop.wait(0.05):
                        connection.sendall(b"H")
                except OSError:
                    return

        thread = threading.Thread(target=drip)
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        begin = time.monotonic()
        assert fault(opened(url, times=quick())).endswith("did not answer within 0.3s")
        assert time.monotonic() - begin < 2
        stop.set()
        thread.join()


def test_slow_name_resolution_is_given_up_and_delays_nobody_else(site, opened, monkeypatch):
    stuck = threading.Event()
    real = socket.getaddrinfo

    def resolve(host, *args, **kwargs):
        if host == "slow.invalid":
            stuck.wait(10)
        return real("127.0.0.1", *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    port = site.server_port
    assert fault(opened(f"http://slow.invalid:{port}", times=quick())).endswith("within 0.3s")
    assert len(opened(site.url).snapshot(call()).records) == 2
    stuck.set()


def test_a_refused_connection_is_a_sentence(opened):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    sentence = fault(opened(f"http://127.0.0.1:{port}"))
    assert sentence.startswith(f"http://127.0.0.1:{port}/decisions.json cannot be reached (")


@pytest.mark.parametrize("reply", [
    Reply(json.dumps([SLOS]), media="application/json", cut=20),
    Reply(gzip.compress(json.dumps([SLOS]).encode())[:-12], headers={"Content-Encoding": "gzip"}),
])  # fmt: skip
def test_an_answer_that_breaks_off_is_not_data(site, opened, reply):
    site.pages["/decisions.json"] = reply
    assert "broke off before the answer was complete" in fault(opened(site.url))


def test_what_is_not_http_is_a_sentence(site, opened):
    site.pages["/decisions.json"] = Reply(raw=b"SSH-2.0-OpenSSH_9\r\n")
    assert "did not answer as HTTP does" in fault(opened(site.url))


def test_text_that_is_not_utf_8_is_a_sentence_with_its_byte(site, opened):
    site.pages["/pay/adr/0002-kafka.md"] = Reply(b"caf\xe9")
    source = opened(site.url)
    assert "is not UTF-8 (byte 4)" in fault(source, source.snapshot(call()).records[1])


# ── connections


def plain(body, headers="Content-Length: {}", extra=""):
    head = "HTTP/1.1 200 OK\r\nContent-Type: text/markdown\r\n" + headers.format(len(body))
    return Reply(raw=f"{head}\r\n\r\n{body}{extra}".encode())


def test_connections_are_kept_over_tls(tls_site, authority, opened, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(authority / "ca.pem"))
    crowd(tls_site, 60)
    source = opened(tls_site.url)
    source.search_bodies(source.snapshot(call()).records, ["x"], call())
    assert tls_site.connections <= 10


@pytest.mark.parametrize("extra", ["", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nJUNK"])
def test_a_kept_connection_that_is_closed_or_dirty_is_not_used(site, opened, extra):
    crowd(site, 4)
    for n in range(4):
        site.pages[f"/p/adr/{n:04}.md"] = plain(f"number {n}", extra=extra)
    source = opened(site.url)
    records = source.snapshot(call()).records
    texts = [source.read_body(record, call()) for record in records]
    assert texts == [f"number {n}" for n in range(4)]


def test_chunks_are_read_and_a_broken_chunk_is_not_data(site, opened):
    crowd(site, 2)
    chunked = "Transfer-Encoding: chunked"
    site.pages["/p/adr/0000.md"] = plain("4\r\nfour\r\n3\r\n ok\r\n0\r\n\r\n", chunked)
    site.pages["/p/adr/0001.md"] = plain("4\r\nfour\r\nff\r\n ok", chunked)
    source = opened(site.url)
    good, broken = source.snapshot(call()).records
    assert source.read_body(good, call()) == "four ok"
    assert "broke off" in fault(source, broken)


# ── packed answers


@pytest.mark.parametrize("coding", ["gzip", "deflate", "raw deflate", "unnamed gzip"])
def test_packed_answers_are_read(site, opened, coding):
    text = json.dumps([SLOS, {**KAFKA, "title": "Žluťoučký kůň"}]).encode()
    raw = zlib.compressobj(wbits=-15)
    packed = {
        "gzip": gzip.compress(text),
        "deflate": zlib.compress(text),
        "raw deflate": raw.compress(text) + raw.flush(),
        "unnamed gzip": gzip.compress(text),
    }[coding]
    headers = {} if "unnamed" in coding else {"Content-Encoding": coding.replace("raw ", "")}
    site.pages["/decisions.json"] = Reply(packed, headers=headers, media="application/json")
    assert opened(site.url).snapshot(call()).records[1].title == "Žluťoučký kůň"
    assert "gzip" in site.requests[0][1]["Accept-Encoding"]


def test_a_bomb_is_refused_before_it_fills_memory(site, opened):
    packer = zlib.compressobj(9, wbits=31)
    bomb = b"".join(packer.compress(bytes(1 << 20)) for _ in range(200)) + packer.flush()
    site.pages["/decisions.json"] = Reply(bomb, headers={"Content-Encoding": "gzip"})
    assert "holds more than 32 MiB" in fault(opened(site.url))


def test_a_body_beyond_the_limit_is_refused(site, opened, monkeypatch):
    monkeypatch.setattr(inkan_mcp, "MAX_BODY_BYTES", 1 << 20)
    site.pages["/decisions.json"] = Reply(" " * ((1 << 20) + 1), media="application/json")
    assert "holds more than 1 MiB" in fault(opened(site.url))


def test_an_unknown_packing_is_a_sentence(site, opened):
    site.pages["/decisions.json"] = Reply("x", headers={"Content-Encoding": "br"})
    assert 'is packed as "br"' in fault(opened(site.url))


# ── redirects


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_followed(site, opened, status):
    site.pages["/old/decisions.json"] = Reply("", status, {"Location": "../decisions.json"})
    assert len(opened(site.url + "/old").snapshot(call()).records) == 2


def redirect(site, hops):
    for hop in range(hops):
        site.pages[f"/{hop}/decisions.json"] = Reply(
            "", 302, {"Location": f"/{hop + 1}/decisions.json"}
        )
    site.pages[f"/{hops}/decisions.json"] = as_json([SLOS])


def test_five_redirects_are_followed_and_no_more(site, opened):
    redirect(site, 5)
    assert len(opened(site.url + "/0").snapshot(call()).records) == 1
    redirect(site, 6)
    assert "is redirected more than 5 times" in fault(opened(site.url + "/0"))


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://x/", "data:,[]", "", "http:// x/"])
def test_redirects_lead_to_http_only(site, opened, target):
    site.pages["/decisions.json"] = Reply("", 302, {"Location": target})
    assert "which is no http(s) address" in fault(opened(site.url))


def test_a_secret_is_not_sent_to_another_origin(site, opened):
    other = SiteServer()
    try:
        other.pages["/decisions.json"] = as_json([SLOS])
        site.pages["/decisions.json"] = Reply("", 308, {"Location": other.url + "/decisions.json"})
        source = opened(site.url, ["Authorization: Bearer s3cret", "X-Key: s3cret"])
        assert len(source.snapshot(call()).records) == 1
        assert "s3cret" in str(site.requests)
        assert "s3cret" not in str(other.requests)
    finally:
        other.close()


# ── TLS and proxies


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    """A private certificate authority's file, and a certificate of its for localhost."""
    if shutil.which("openssl") is None:
        pytest.skip("needs the openssl command to make certificates")
    folder = tmp_path_factory.mktemp("tls")
    (folder / "ext").write_text("subjectAltName=DNS:localhost\n", encoding="utf-8")
    for arguments in (
        "req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 2 -subj /CN=Test-CA",
        "req -newkey rsa:2048 -nodes -keyout site.key -out site.csr -subj /CN=localhost",
        "x509 -req -in site.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile ext "
        "-out site.pem",
    ):
        subprocess.run(["openssl", *arguments.split()], cwd=folder, check=True, capture_output=True)
    return folder


@pytest.fixture
def tls_site(authority):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority / "site.pem", authority / "site.key")
    server = SiteServer(context)
    server.pages["/decisions.json"] = as_json([SLOS, KAFKA])
    server.pages["/pay/adr/0002-kafka.md"] = Reply("Events go through Kafka.\n")
    yield server
    server.close()


def test_a_private_authority_is_trusted_through_ssl_cert_file(
    tls_site, authority, opened, monkeypatch
):
    monkeypatch.setenv("SSL_CERT_FILE", str(authority / "ca.pem"))
    source = opened(tls_site.url)
    record = source.snapshot(call()).records[1]
    assert "Kafka" in source.read_body(record, call())


def test_an_untrusted_certificate_names_the_variable_that_helps(tls_site, opened, monkeypatch):
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    assert "SSL_CERT_FILE" in fault(opened(tls_site.url))
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere/ca.pem")
    assert "/nowhere/ca.pem, which is no file" in fault(opened(tls_site.url))


def test_a_handshake_that_hangs_is_given_up_after_the_limit(opened):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"https://127.0.0.1:{listener.getsockname()[1]}"
        assert fault(opened(url, times=quick())).endswith("did not answer within 0.3s")


def test_a_secret_does_not_step_down_to_http(tls_site, authority, site, opened, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(authority / "ca.pem"))
    target = {"Location": site.url + "/decisions.json"}
    tls_site.pages["/decisions.json"] = Reply("", 302, target)
    assert "from https to http" in fault(opened(tls_site.url, ["X-Key: s3cret"]))
    assert site.requests == []
    assert len(opened(tls_site.url).snapshot(call()).records) == 2


@pytest.fixture
def proxy(monkeypatch):
    server = Proxy()
    for name in ("http_proxy", "https_proxy", "no_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    yield server
    server.close()


def test_the_proxy_of_the_environment_is_used(proxy, opened, monkeypatch):
    monkeypatch.setenv("http_proxy", proxy.url.replace("//", "//me:pw@"))
    proxy.pages["http://decisions.acme.dev/decisions.json"] = as_json([SLOS])
    snapshot = opened("http://decisions.acme.dev", ["X-Key: k"]).snapshot(call())
    assert ids(snapshot) == [SLOS["id"]]
    assert proxy.requests[0][1]["Host"] == "decisions.acme.dev"
    assert proxy.requests[0][1]["Proxy-Authorization"].startswith("Basic ")


def test_no_proxy_names_hosts_that_are_asked_directly(proxy, site, opened, monkeypatch):
    monkeypatch.setenv("http_proxy", proxy.url)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    assert len(opened(site.url).snapshot(call()).records) == 2
    assert proxy.requests == []


def test_tls_goes_through_the_proxy_in_a_tunnel(proxy, tls_site, authority, opened, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(authority / "ca.pem"))
    monkeypatch.setenv("https_proxy", proxy.url)
    source = opened(tls_site.url, ["X-Key: s3cret"])
    assert len(source.snapshot(call()).records) == 2
    assert proxy.requests[0][0] == f"localhost:{tls_site.server_port}"
    assert "s3cret" not in str(proxy.requests)


def test_a_proxy_that_refuses_is_named_without_its_login(opened, monkeypatch, proxy):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    monkeypatch.setenv("http_proxy", f"http://me:s3cret@127.0.0.1:{port}")
    sentence = fault(opened("http://decisions.acme.dev"))
    assert "cannot be reached" in sentence
    assert "s3cret" not in sentence


# ── copies, and a site that fails after it worked


def test_within_thirty_seconds_nothing_is_asked_twice(site, opened, clock):
    source = opened(site.url, times=SiteTimes(clock))
    first = source.snapshot(call())
    source.read_body(first.records[0], call())
    count = len(site.requests)
    clock.seconds += 29
    assert source.snapshot(call()) is first
    source.read_body(first.records[0], call())
    assert len(site.requests) == count


@pytest.mark.parametrize("validator", [
    {"etag": '"7"'}, {"modified": "Mon, 01 Jan 2024 00:00:00 GMT"}, {},
])  # fmt: skip
def test_an_unchanged_index_gives_the_same_snapshot_after_revalidation(
    site, opened, clock, validator
):
    site.pages["/decisions.json"] = as_json([SLOS], **validator)
    source = opened(site.url, times=SiteTimes(clock))
    first = source.snapshot(call())
    clock.seconds += 31
    assert source.snapshot(call()) is first
    assert site.asked("/decisions.json") == 2
    sent = [headers for path, headers in site.requests if path == "/decisions.json"][1]
    assert bool({"If-None-Match", "If-Modified-Since"} & set(sent)) == bool(validator)


def test_a_changed_index_is_seen_after_thirty_seconds(site, opened, clock):
    source = opened(site.url, times=SiteTimes(clock))
    assert len(source.snapshot(call()).records) == 2
    site.pages["/decisions.json"] = as_json([SLOS], etag='"2"')
    clock.seconds += 31
    assert len(source.snapshot(call()).records) == 1


def test_the_last_good_copy_stands_in_with_its_age(site, opened, clock):
    said = []
    source = opened(site.url, times=SiteTimes(clock), log=said.append)
    first = source.snapshot(call())
    site.pages["/decisions.json"] = Reply("", 503)
    clock.seconds += 65
    aged = source.snapshot(call())
    assert aged.records is first.records
    assert str(aged.missing[0]) == (
        f"{site.url}/decisions.json answered 503 Service Unavailable; this is its copy of 60 s ago"
    )
    assert aged.missing[0].kind == "source"
    assert source.snapshot(call()) is aged
    assert len(said) == 1
    assert site.asked("/decisions.json") == 2


def test_one_retry_runs_in_the_background_per_thirty_seconds(site, opened, clock):
    source = opened(site.url, times=SiteTimes(clock))
    source.snapshot(call())
    site.pages["/decisions.json"] = Reply(hang=True)
    source._times.fetch = 0.2
    real_wait = time.monotonic()
    clock.seconds += 31

    def tick():
        while time.monotonic() - real_wait < 0.3:
            time.sleep(0.01)
        clock.seconds += 1

    ticking = threading.Thread(target=tick)
    ticking.start()
    assert source.snapshot(call()).missing
    ticking.join()
    clock.seconds += 31
    source._times.fetch = 10
    begin = time.monotonic()
    for _ in range(5):
        assert source.snapshot(call()).missing
    assert time.monotonic() - begin < 0.5
    site.wait_for("/decisions.json", 3)
    assert site.asked("/decisions.json") == 3


def test_a_copy_older_than_ten_minutes_is_not_served(site, opened, clock):
    source = opened(site.url, times=SiteTimes(clock))
    source.snapshot(call())
    site.pages["/decisions.json"] = Reply("", 503)
    clock.seconds += 601
    assert "503" in fault(source)


def test_a_site_that_works_again_is_served_without_a_warning(site, opened, clock):
    source = opened(site.url, times=SiteTimes(clock))
    first = source.snapshot(call())
    good, site.pages["/decisions.json"] = site.pages["/decisions.json"], Reply("", 503)
    clock.seconds += 31
    assert source.snapshot(call()).missing
    site.pages["/decisions.json"] = good
    clock.seconds += 31
    source.snapshot(call())
    site.wait_for("/decisions.json", 3)
    until = time.monotonic() + 5
    while source.snapshot(call()) is not first and time.monotonic() < until:
        time.sleep(0.01)
    assert source.snapshot(call()) is first


def test_a_record_out_of_a_copy_says_how_old_the_copy_is(site, opened, clock):
    catalog = inkan_mcp.Catalog(opened(site.url, times=SiteTimes(clock)))
    whole = inkan_mcp.call_tool(catalog, "get_record", {"id": SLOS["id"]}, call())
    assert "warnings" not in whole.structured
    site.pages["/decisions.json"] = Reply("", 503)
    clock.seconds += 31
    copy = inkan_mcp.call_tool(catalog, "get_record", {"id": SLOS["id"]}, call())
    assert "503" in copy.structured["warnings"][0]
    assert copy.structured["title"] == whole.structured["title"]


def test_a_body_out_of_a_copy_says_how_old_the_copy_is(site, opened, clock):
    catalog = inkan_mcp.Catalog(opened(site.url, times=SiteTimes(clock)))
    inkan_mcp.call_tool(catalog, "get_record", {"id": KAFKA["id"]}, call())
    site.pages["/pay/adr/0002-kafka.md"] = Reply("", 503)
    clock.seconds += 65
    copy = inkan_mcp.call_tool(catalog, "get_record", {"id": KAFKA["id"]}, call())
    (warning,) = copy.structured["warnings"]
    assert warning.startswith(f"{site.url}/pay/adr/0002-kafka.md answered 503")
    assert warning.endswith("; this is its copy of 60 s ago")
    assert copy.structured["body"] == "Events go through Kafka.\n"


def test_a_failing_llms_txt_never_holds_up_a_call_twice(site, opened, clock):
    source = opened(site.url, times=SiteTimes(clock))
    site.pages["/llms.txt"] = Reply("", 500)
    source.snapshot(call())
    site.pages["/llms.txt"] = Reply(hang=True)
    for _ in range(4):
        clock.seconds += 200
        assert len(source.snapshot(call()).records) == 2


# ── searching bodies


def crowd(site, count, delay=0.0, **options):
    ids = [f"p/adr/{n:04}" for n in range(count)]
    site.pages["/decisions.json"] = as_json([{"id": name, "title": name} for name in ids])
    for n in range(count):
        site.pages[f"/p/adr/{n:04}.md"] = Reply(f"Body {n} Straße", delay=delay, **options)


def test_bodies_are_searched_folded(site, opened):
    crowd(site, 20)
    source = opened(site.url)
    records = source.snapshot(call()).records
    found, warnings = source.search_bodies(records, ["body 7 strasse", "body"], call())
    assert [hit for hit, _ in found].index(True) == 7
    assert all(hit for _, hit in found)
    assert warnings == []


def test_eight_bodies_are_read_at_once_and_each_once(site, opened):
    crowd(site, 40, delay=0.02)
    source = opened(site.url)
    records = source.snapshot(call()).records
    site.most_at_once = 0
    threads = [
        threading.Thread(target=source.search_bodies, args=(records, ["x"], call()))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert site.most_at_once == 8
    assert {site.asked(f"/p/adr/{n:04}.md") for n in range(40)} == {1}
    assert site.connections <= 20


def test_unreadable_bodies_are_named_and_do_not_end_the_search(site, opened):
    crowd(site, 20)
    for n in range(8):
        del site.pages[f"/p/adr/{n:04}.md"]
    source = opened(site.url)
    found, warnings = source.search_bodies(source.snapshot(call()).records, ["body"], call())
    assert [hit for (hit,) in found] == [False] * 8 + [True] * 12
    assert len(warnings) == 6
    assert all(" answered 404 Not Found; its body was not searched" in w for w in warnings[:5])
    assert warnings[5] == "and 3 more bodies could not be read"


def test_a_search_ends_after_its_limit_and_says_how_many_were_not_read(site, opened):
    crowd(site, 30)
    for n in range(10, 30):
        site.pages[f"/p/adr/{n:04}.md"] = Reply(hang=True)
    times = SiteTimes()
    times.search = 0.4
    source = opened(site.url, times=times)
    found, warnings = source.search_bodies(source.snapshot(call()).records, ["body"], call())
    assert sum(hit for (hit,) in found) == 10
    assert warnings[0].startswith("the search ended after 0.4s; 20 bodies were not read")


def test_a_cancelled_search_ends_soon_and_stops_its_readers(site, opened):
    crowd(site, 30)
    for n in range(30):
        site.pages[f"/p/adr/{n:04}.md"] = Reply(hang=True)
    source = opened(site.url)
    records = source.snapshot(call()).records
    cancelled = call()
    ended = []

    def search():
        with pytest.raises(Cancelled):
            source.search_bodies(records, ["x"], cancelled)
        ended.append(time.monotonic())

    thread = threading.Thread(target=search)
    thread.start()
    site.wait_for("/p/adr/0007.md")
    begin = time.monotonic()
    cancelled.cancelled = True
    thread.join(5)
    assert ended[0] - begin < 0.5
    assert [page.job for page in source._pages._bodies.values()] == [None] * 30
    assert sum("/p/adr" in path for path, _ in site.requests) == 8


def test_a_cancelled_call_does_not_take_a_body_from_another(site, opened):
    site.pages["/pay/adr/0002-kafka.md"] = Reply("Kafka", delay=0.3)
    source = opened(site.url)
    record = source.snapshot(call()).records[1]
    first, answers = call(), []

    def wanted():
        answers.append(source.read_body(record, call()))

    def unwanted():
        with pytest.raises(Cancelled):
            source.read_body(record, first)

    threads = [threading.Thread(target=run) for run in (unwanted, wanted)]
    for thread in threads:
        thread.start()
    site.wait_for("/pay/adr/0002-kafka.md")
    first.cancelled = True
    for thread in threads:
        thread.join()
    assert answers == ["Kafka"]
    assert site.asked("/pay/adr/0002-kafka.md") == 1


def test_progress_is_told_while_bodies_are_read(site, opened):
    crowd(site, 20)
    told = []
    source = opened(site.url)
    records = source.snapshot(call()).records
    source.search_bodies(
        records, ["x"], Call("2026-01-15", lambda done, total, text: told.append((done, total)))
    )
    assert told[-1] == (20, 20)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


# ── llms.txt


LLMS = {
    "the project's own page": "# Site\n\n## Projects\n\n- [Platform SRE](/sre/): keeps it up\n",
    "one section per project": (
        "# Site\n\n## Platform SRE\n\n> keeps it up\n\n- [One](/sre/adr/0001-define-slos.md)\n\n"
        "## Pay\n\n- [Two](/pay/adr/0002-kafka.md)\n"
    ),
    "headings within a list of projects": (
        "# Site\n\n## Projects\n\n### Platform SRE\nkeeps it up\n- [x](sre/adr/0001-define-slos)\n"
        "### Pay\n- [y](pay/adr/0002-kafka)\n"
    ),
    "a bare address": "# Site\n## Projects\n- **Platform SRE** — {url}/sre/ keeps it up\n",
    "addresses of another host": (
        "# Site\n\n## Platform SRE\n\nkeeps it up\n\n"
        "- [One](https://acme.dev/docs/sre/adr/0001-define-slos.md): x\n\n"
        "## Pay\n- [Two](https://acme.dev/docs/pay/adr/0002-kafka.md)\n"
    ),
    "a table": "## Projects\n\n| P | D |\n|---|---|\n| [Platform SRE](sre/) | keeps it up |\n",
    "windows line ends and a mark": (
        "\ufeff# Site\r\n\r\n## Projects\r\n\r\n- [Platform\r\n  SRE](sre/index.md)\r\n"
        "  : keeps it up\r\n"
    ),
}


@pytest.mark.parametrize("form", LLMS)
def test_names_and_descriptions_come_from_llms_txt(site, opened, form):
    url = "https://acme.dev/docs/sre/adr/0001-define-slos/"
    site.pages["/decisions.json"] = as_json([{**SLOS, "url": url}, KAFKA])
    site.pages["/llms.txt"] = Reply(LLMS[form].replace("{url}", site.url), media="text/plain")
    project = opened(site.url).snapshot(call()).projects["sre"]
    assert (project.name, project.description) == ("Platform SRE", "keeps it up")


@pytest.mark.parametrize("reply", [
    None, Reply("", 500), Reply(HTML, media="text/html"), Reply(b"\xff\xfe"), Reply("xx", cut=1),
])  # fmt: skip
def test_without_llms_txt_the_folder_is_the_name(site, opened, reply):
    if reply is not None:
        site.pages["/llms.txt"] = reply
    snapshot = opened(site.url).snapshot(call())
    assert {project.name for project in snapshot.projects.values()} == {"sre", "pay"}
    assert snapshot.missing == []


def test_links_of_llms_txt_are_never_followed(site, opened):
    site.pages["/llms.txt"] = Reply(LLMS["the project's own page"], media="text/plain")
    opened(site.url).snapshot(call())
    assert {path for path, _ in site.requests} == {"/decisions.json", "/llms.txt"}


HOSTILE_TEXTS = [
    "[" * 200_000, "[a](" * 50_000, "- [x](" + "a" * 200_000, "<!--" * 50_000, "`" * 200_000,
    "> " * 100_000, "\\[" * 99_999, "* " * 99_999, "_a" * 99_999, "- " + "http://a " * 30_000,
]  # fmt: skip


@pytest.mark.parametrize("hostile", HOSTILE_TEXTS)
def test_a_hostile_llms_txt_is_read_in_linear_time(hostile):
    begin = time.monotonic()
    inkan_mcp.llms_projects("# x\n\n## y\n\n" + hostile, ["http://x"], ["a"])
    assert time.monotonic() - begin < 2


# ── a built folder


@pytest.fixture
def dist(tmp_path):
    folder = tmp_path / "dist"
    (folder / "sre/adr").mkdir(parents=True)
    (folder / "decisions.json").write_text(json.dumps([SLOS, KAFKA]), encoding="utf-8")
    (folder / "sre/adr/0001-define-slos.md").write_text("We set SLOs.\n", encoding="utf-8")
    (folder / "llms.txt").write_text(
        "# S\n\n## Projects\n\n- [Platform SRE](sre/): keeps it up\n", encoding="utf-8"
    )
    return folder


def test_a_built_folder_is_read_like_a_site(dist):
    source = DistSource(str(dist), print)
    snapshot = source.snapshot(call())
    assert ids(snapshot) == [SLOS["id"], KAFKA["id"]]
    assert snapshot.projects["sre"].name == "Platform SRE"
    assert snapshot.is_site
    assert source.read_body(snapshot.records[0], call()) == "We set SLOs.\n"
    found, warnings = source.search_bodies(snapshot.records, ["slos"], call())
    assert found == [(True,), (False,)]
    assert "0002-kafka.md" in warnings[0]


def test_a_built_folder_is_read_anew_on_every_call(dist):
    source = DistSource(str(dist), print)
    first = source.snapshot(call())
    assert source.snapshot(call()) is first
    text = json.dumps([SLOS, {**KAFKA, "title": "Use Pulse"}])
    (dist / "decisions.json").write_text(text, encoding="utf-8")
    assert source.snapshot(call()).records[1].title == "Use Pulse"
    (dist / "sre/adr/0001-define-slos.md").write_text("We get SLOs.\n", encoding="utf-8")
    assert source.read_body(first.records[0], call()) == "We get SLOs.\n"


def test_a_change_whose_reading_was_cancelled_is_seen_by_the_next_call(dist):
    source = DistSource(str(dist), print)
    source.snapshot(call())
    (dist / "decisions.json").write_text(json.dumps([KAFKA] + [{}] * 1000), encoding="utf-8")
    os.utime(dist / "decisions.json", (1e9, 1e9))
    cancelled = Cancelling("2026-01-15")
    with pytest.raises(Cancelled):
        source.snapshot(cancelled)
    assert ids(source.snapshot(call())) == [KAFKA["id"]]


def test_a_file_that_was_away_and_is_back_is_read_again(dist):
    source = DistSource(str(dist), print)
    record = source.snapshot(call()).records[0]
    path = dist / "sre/adr/0001-define-slos.md"
    os.utime(path, (1e9, 1e9))
    source.read_body(record, call())
    path.rename(dist / "away.md")
    assert "cannot be read" in fault(source, record)
    (dist / "away.md").rename(path)
    assert source.read_body(record, call()) == "We set SLOs.\n"


def test_a_link_out_of_the_built_folder_is_not_followed(dist, tmp_path):
    (tmp_path / "secret.md").write_text("secret", encoding="utf-8")
    (dist / "pay/adr").mkdir(parents=True)
    try:
        (dist / "pay/adr/0002-kafka.md").symlink_to(tmp_path / "secret.md")
    except OSError:
        pytest.skip("needs symbolic links")
    source = DistSource(str(dist), print)
    assert "leads out of" in fault(source, source.snapshot(call()).records[1])


def test_a_folder_without_an_index_is_a_sentence(tmp_path):
    sentence = fault(DistSource(str(tmp_path), print))
    assert "decisions.json cannot be read (No such file or directory)" in sentence


def test_a_built_index_that_is_no_json_is_a_sentence(dist):
    (dist / "decisions.json").write_text(HTML, encoding="utf-8")
    assert "is this the folder of a built site?" in fault(DistSource(str(dist), print))
