"""The records as resources: listed, addressed and read as every client needs it."""

from __future__ import annotations

import json
import re

import pytest
from helpers import SAMPLE, RpcError, Server, requirement, write_records

import inkan_mcp


@pytest.fixture(scope="module")
def sample():
    with Server("--root", SAMPLE) as server:
        server.initialize()
        yield server


def record(**fields):
    lines = "".join(f"{key}: {json.dumps(value)}\n" for key, value in fields.items())
    return f"---\n{lines}---\n\nThe text.\n"


@pytest.fixture
def archive(tmp_path):
    """Return what opens a server over the records given by their paths below the content folder."""
    servers = []

    def opened(**records):
        files = {f"content/{name}": text for name, text in records.items()}
        servers.append(
            Server("--root", write_records(tmp_path, {"inkan.config.json": "{}", **files}))
        )
        return servers[-1]

    yield opened
    for server in servers:
        server.close()


def listed(server):
    """Return all resources, page by page."""
    found, params = [], {}
    while True:
        page = server.request("resources/list", params)
        found += page["resources"]
        if "nextCursor" not in page:
            return found
        params = {"cursor": page["nextCursor"]}


def read(server, uri):
    (content,) = server.request("resources/read", {"uri": uri})["contents"]
    return content


@requirement("resources-list")
def test_every_record_is_one_resource_in_the_order_of_ids(sample):
    ids = [r["id"] for r in sample.call("search_records", limit=200)["records"]]
    resources = listed(sample)
    assert [inkan_mcp.percent_decode(r["uri"]) for r in resources] == [
        f"decision://{record_id}" for record_id in sorted(ids)
    ]


@requirement("resources-list")
def test_a_resource_has_what_the_record_has(archive):
    server = archive(**{
        "sre/_project.yml": "key: sre",
        "sre/adr/0001-define-slos.md": record(
            title="Define SLOs", description="What we promise.", status="accepted",
            date="2026-02-03", type="adr",
        ),
    })  # fmt: skip
    assert listed(server) == [
        {
            "uri": "decision://sre/adr/0001-define-slos",
            "name": "SRE-ADR-0001",
            "title": "Define SLOs",
            "description": "accepted: What we promise.",
            "mimeType": "text/markdown",
            "annotations": {"lastModified": "2026-02-03T00:00:00Z"},
        }
    ]


@requirement("resources-list")
@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"status": "accepted", "description": "D"}, {"description": "accepted: D"}),
        ({"status": "accepted"}, {"description": "accepted"}),
        ({"description": "D"}, {"description": "D"}),
        ({}, {}),
        ({"date": "2026-02"}, {"annotations": {"lastModified": "2026-02-01T00:00:00Z"}}),
        ({"date": "some day"}, {}),
    ],
)
def test_what_a_record_lacks_is_left_out_of_its_resource(archive, fields, expected):
    (resource,) = listed(archive(**{"p/adr/slug.md": record(title="T", **fields)}))
    plain = {"uri": "decision://p/adr/slug", "name": "p/adr/slug", "title": "T"}
    assert resource == {**plain, "mimeType": "text/markdown", **expected}


ODD = {
    "p/adr/0001-žluťoučký": "p/adr/0001-%C5%BElu%C5%A5ou%C4%8Dk%C3%BD",
    "a b/adr/0002-c d": "a%20b/adr/0002-c%20d",
    "p/adr/0003-[x]^|`{y}": "p/adr/0003-%5Bx%5D%5E%7C%60%7By%7D",
    "p/adr/0004-100%": "p/adr/0004-100%25",
    "p/adr/0005-a%20b": "p/adr/0005-a%2520b",
    "p/adr/0006-what?#now": "p/adr/0006-what%3F%23now",
    "p/adr/0007-~._-": "p/adr/0007-~._-",
}


@requirement("resource-uris")
def test_a_uri_holds_only_what_every_client_takes_and_is_read_back_either_way(archive):
    files = {f"{record_id}.md": record(title=record_id) for record_id in ODD}
    server = archive(**files)
    uris = {resource["title"]: resource["uri"] for resource in listed(server)}
    assert uris == {record_id: f"decision://{path}" for record_id, path in ODD.items()}
    for record_id, uri in uris.items():
        assert re.fullmatch(r"decision://([A-Za-z0-9._~/-]|%[0-9A-F]{2})+", uri)
        for form in (uri, re.sub("%..", lambda found: found[0].lower(), uri)):
            content = read(server, form)
            assert (content["uri"], content["mimeType"]) == (form, "text/markdown")
            assert record_id in content["text"]
        if "%" not in record_id:
            assert record_id in read(server, f"decision://{record_id}")["text"]


@requirement("resource-uris")
def test_a_colon_in_a_name_is_encoded(archive):
    name = "a:b/adr/0001-c:d"
    try:
        server = archive(**{f"{name}.md": record(title="T")})
    except OSError:
        pytest.skip("this file system takes no colon")
    assert [r["uri"] for r in listed(server)] == ["decision://a%3Ab/adr/0001-c%3Ad"]


@requirement("resource-uris")
@pytest.mark.parametrize("uri", [
    "decision://payments%2Fadr%2F0001-double-entry-ledger",
    "DECISION://payments/adr/0001-double-entry-ledger",
    "decision://payments/adr/%30001-double-entry-ledger",
])  # fmt: skip
def test_other_spellings_of_an_address_are_read(sample, uri):
    assert "double-entry ledger" in read(sample, uri)["text"]


@requirement("resource-uris")
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_composed_and_decomposed_letters_are_the_same(archive, form):
    import unicodedata

    server = archive(**{"p/adr/0001-kůň.md": record(title="T")})
    uri = "decision://" + unicodedata.normalize(form, "p/adr/0001-kůň")
    assert "title: T" in read(server, uri)["text"]


@requirement("resources-read")
def test_a_resource_is_the_text_of_get_record(sample):
    for resource in listed(sample):
        record_id = inkan_mcp.percent_decode(resource["uri"].partition("://")[2])
        assert read(sample, resource["uri"])["text"] == sample.call_text("get_record", id=record_id)


@requirement("unknown-resource")
@pytest.mark.parametrize(
    "uri",
    [
        *("decision://no/such", "decision://", "", "x", "decision:payments", "http://example.org/"),
        *(
            "decision://../../etc/passwd",
            "decision://%2e%2e/%2e%2e/etc/passwd",
            "file:///etc/passwd",
        ),
        *(
            "decision://payments/adr",
            "decision://payments/adr/1",
            "decision://payments/../payments",
        ),
        *("decision://%ff%fe", "decision://%", "decision://%zz", "decision://payments/adr/README"),
        "decision://storefront/rfc/0000-template",
    ],
)
def test_an_address_of_no_record_is_not_found_and_named(sample, uri):
    with pytest.raises(RpcError) as caught:
        read(sample, uri)
    assert (caught.value.code, caught.value.message) == (-32002, "Resource not found")
    assert caught.value.data == {"uri": uri}


@requirement("unknown-resource")
@pytest.mark.parametrize("params", [{}, {"uri": None}, {"uri": 5}, {"uri": ["decision://x"]}])
def test_a_read_without_an_address_is_invalid_params(sample, params):
    with pytest.raises(RpcError, match=r"-32602.*uri"):
        sample.request("resources/read", params)


@requirement("broken-resource")
def test_a_broken_record_is_not_found_with_the_reason(archive):
    server = archive(**{"p/adr/0001-kůň.md": b"---\ntitle: \xff\n---\n"})
    with pytest.raises(RpcError) as caught:
        read(server, "decision://p/adr/0001-k%C5%AF%C5%88")
    assert caught.value.code == -32002
    assert "0001-kůň.md" in caught.value.data["reason"]
    assert listed(server) == []


@requirement("broken-resource")
def test_a_draft_is_no_resource(archive):
    server = archive(**{"p/adr/0001-x.md": record(title="T", draft=True)})
    assert listed(server) == []
    with pytest.raises(RpcError, match="-32002"):
        read(server, "decision://p/adr/0001-x")


@requirement("templates-list")
def test_one_template_says_how_records_are_addressed(sample):
    (template,) = sample.request("resources/templates/list")["resourceTemplates"]
    assert template["uriTemplate"] == "decision://{id}"
    assert template["mimeType"] == "text/markdown"


@requirement("pagination")
def test_pages_hold_500_and_the_last_has_no_cursor(archive):
    server = archive(**{f"p/adr/{n:04}-x.md": record(title=f"D{n}") for n in range(1, 1203)})
    sizes, params = [], {}
    while True:
        page = server.request("resources/list", params)
        sizes.append(len(page["resources"]))
        if "nextCursor" not in page:
            break
        params = {"cursor": page["nextCursor"]}
    assert sizes == [500, 500, 202]
    assert len({resource["uri"] for resource in listed(server)}) == 1202


@requirement("pagination")
def test_a_change_between_pages_loses_nothing(archive, tmp_path):
    server = archive(**{f"p/adr/{n:04}-x.md": record(title=f"D{n}") for n in range(1, 1003)})
    first = server.request("resources/list")
    for gone in ("0001", "0300", "0500"):
        (tmp_path / f"content/p/adr/{gone}-x.md").unlink()
    write_records(tmp_path, {"content/a/adr/0001-new.md": record(title="New")})
    second = server.request("resources/list", {"cursor": first["nextCursor"]})
    assert second["resources"][0]["uri"] == "decision://p/adr/0501-x"
    assert len(second["resources"]) == 500


@requirement("pagination")
def test_a_page_of_long_descriptions_stays_under_a_megabyte(archive):
    long = {f"p/adr/{n:04}-x.md": record(title=f"D{n}", description="d" * 9000) for n in range(200)}
    server = archive(**long)
    assert len(listed(server)) == 200
    assert max(len(line) for line in server.lines) < 1_000_000


@requirement("pagination")
def test_a_cursor_of_an_id_beyond_ascii_is_read_back(archive):
    files = {f"ž/adr/{n:04}-ů.md": record(title=f"D{n}") for n in range(1, 502)}
    assert len(listed(archive(**files))) == 501


@requirement("resources-live")
def test_resources_follow_the_folder_without_a_restart(archive, tmp_path):
    server = archive(**{"p/adr/0001-x.md": record(title="One")})
    assert [r["title"] for r in listed(server)] == ["One"]
    write_records(tmp_path, {"content/p/adr/0001-x.md": record(title="Two")})
    assert [r["title"] for r in listed(server)] == ["Two"]
    assert "title: Two" in read(server, "decision://p/adr/0001-x")["text"]
    (tmp_path / "content/p/adr/0001-x.md").unlink()
    assert listed(server) == []
