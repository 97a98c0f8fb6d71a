"""How texts find records, links in both directions, chains, and what an archive warns of."""

from __future__ import annotations

import unicodedata

import pytest
from helpers import BROKEN, Local, ToolError, run_server, write_records


@pytest.fixture
def archive(tmp_path):
    """Return a function that writes an archive of records by id and opens it."""

    def opened(records, config=None):
        return Local.of(tmp_path, records, config)

    return opened


def titled(*ids, **front):
    return {record_id: {"title": f"Title of {record_id}", **front} for record_id in ids}


NONE = 'No record matches "{}". Use search_records to find ids.'

# Ids in all their forms

SLOS = "sre/adr/0001-define-slos"
MANY = {
    **titled(SLOS, "sre/adr/0002-page-on-burn", "web/rfc/0010-new-basket"),
    "sre/adr/20240105-dated": {"title": "Dated"},
    "sre/_project.yml": "key: ops\n",
    "web/adr/0009-carts": {"title": "Use carts: really"},
}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (SLOS, SLOS),
        ("SRE/ADR/0001-Define-SLOs", SLOS),
        (f"  {SLOS}  ", SLOS),
        (f"/{SLOS}/", SLOS),
        (f"{SLOS}.md", SLOS),
        (f"{SLOS}.MD", SLOS),
        (f"{SLOS}.mdx", SLOS),
        ("sre/adr/0001", SLOS),
        ("sre/adr/1", SLOS),
        ("SRE/adr/01", SLOS),
        ("sre/adr/000000001", SLOS),
        ("OPS-ADR-0001", SLOS),
        ("ops-adr-0001", SLOS),
        ("ops-adr-1", SLOS),
        ("0001-define-slos", SLOS),
        ("0001-DEFINE-slos.md", SLOS),
        (f"decision://{SLOS}", SLOS),
        ("DECISION://sre%2Fadr%2F0001-define-slos", SLOS),
        ("decision://sre/adr/0001%2Ddefine%2Dslos", SLOS),
        ("ADR-9", "web/adr/0009-carts"),
        ("adr 0009", "web/adr/0009-carts"),
        ("Adr_9", "web/adr/0009-carts"),
        ("rfc #10", "web/rfc/0010-new-basket"),
        ("use carts: REALLY", "web/adr/0009-carts"),
        (f"title of {SLOS}", SLOS),
        ("20240105-dated", "sre/adr/20240105-dated"),
    ],
)
def test_a_record_is_found_by_every_form_of_its_name(archive, text, found):
    assert archive(MANY).get(text)["id"] == found


@pytest.mark.parametrize(
    "text",
    [
        *("0001", "1", "#1", "0009", "9", "20240105", "sre/adr", "sre/adr/3", "sre", "define-slos"),
        *("adr/", "SRE-ADR-0001", "Title", "../sre/adr/0001-define-slos", "sre/adr/20240105"),
        *("decision://", "decision://sre", "sre/rfc/1", "-", "/", "%", "*", "ADR-", "ADR-99999999"),
    ],
)
def test_what_names_no_record_is_answered_with_the_way_to_find_ids(archive, text):
    assert archive(MANY).error("get_record", id=text) == NONE.format(text)


def test_a_bare_number_does_not_match_even_as_file_name_or_title(archive):
    records = {"a/adr/0001": {"body": "text\n"}, "b/adr/0002-x": {"title": "7"}}
    opened = archive(records)
    assert [opened.error("get_record", id=text) for text in ("0001", "7")] == [
        NONE.format("0001"),
        NONE.format("7"),
    ]
    assert opened.get("a/adr/1")["id"] == "a/adr/0001"


def test_a_type_that_ends_in_a_digit_has_refs_that_are_found(archive):
    opened = archive(titled("a/v2/0001-x", "a/2024/0002-y"))
    assert opened.get("A-V2-0001")["id"] == opened.get("a-v2-1")["id"] == "a/v2/0001-x"
    assert opened.get("a-2024-0002")["id"] == "a/2024/0002-y"


def test_every_ref_that_is_answered_finds_its_record(archive):
    names = ("a/adr/0001-x", "a b/adr/1-y", "ä/adr/2-z", "a/my type/3-z", "k8s/web3/004-q")
    opened = archive(titled(*names))
    for record in opened.call("search_records")["records"]:
        assert opened.get(record["ref"])["id"] == record["id"]


def test_two_records_with_one_number_are_ambiguous_by_short_id(archive):
    opened = archive(titled("sre/adr/0001-b", "sre/adr/0001-a", "sre/adr/1-c"))
    sentence = '"sre/adr/1" is ambiguous: sre/adr/0001-a, sre/adr/0001-b, sre/adr/1-c.'
    assert opened.error("get_record", id="sre/adr/1") == sentence
    assert opened.get("sre/adr/0001-b")["id"] == "sre/adr/0001-b"


def test_the_ambiguity_of_two_records_is_told_to_the_letter(archive):
    opened = archive(titled("sre/adr/0001-a", "sre/adr/0001-b"))
    sentence = '"sre/adr/1" is ambiguous: sre/adr/0001-a, sre/adr/0001-b.'
    assert opened.error("get_record", id="sre/adr/1") == sentence
    assert "is ambiguous: sre/adr/0001-a, sre/adr/0001-b." in opened.error(
        "get_record", id="SRE-ADR-0001"
    )


def test_a_slug_in_two_projects_is_ambiguous(archive):
    opened = archive(titled("b/adr/0001-x", "a/adr/0001-x"))
    assert (
        opened.error("get_record", id="0001-x")
        == '"0001-x" is ambiguous: a/adr/0001-x, b/adr/0001-x.'
    )


def test_a_number_of_a_type_in_two_projects_is_ambiguous(archive):
    opened = archive(titled("a/adr/0001-x", "b/adr/0001-y"))
    assert "ambiguous" in opened.error("get_record", id="ADR-1")


def test_a_title_of_two_records_is_ambiguous(archive):
    opened = archive({"a/adr/1-x": {"title": "Same"}, "a/adr/2-y": {"title": "same"}})
    assert opened.error("get_record", id="SAME") == '"SAME" is ambiguous: a/adr/1-x, a/adr/2-y.'


def test_a_full_id_that_matches_exactly_is_never_ambiguous(archive):
    opened = archive({**titled("a/adr/0001", "a/adr/1-x"), "b/adr/2-z": {"title": "a/adr/0001"}})
    assert opened.get("a/adr/0001")["id"] == "a/adr/0001"


def test_a_record_without_a_project_is_found_by_id_and_slug(archive):
    opened = archive(titled("0001-alone"))
    assert opened.get("0001-alone")["id"] == opened.get("0001-ALONE.md")["id"] == "0001-alone"
    assert opened.error("get_record", id="0001") == NONE.format("0001")


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_composed_and_decomposed_letters_find_the_same_record(archive, form):
    name = unicodedata.normalize(form, "zürich/adr/0001-löschfristen-für-äpfel")
    opened = archive({name: {"title": unicodedata.normalize(form, "Über Äpfel")}})
    for asked in ("NFC", "NFD"):
        for text in (name, "0001-löschfristen-für-äpfel", "ÜBER ÄPFEL", "ZÜRICH-ADR-0001"):
            found = opened.get(unicodedata.normalize(asked, text))
            assert found["id"] == "zürich/adr/0001-löschfristen-für-äpfel"


@pytest.mark.parametrize(
    ("slug", "asked"),
    [("0001-straße", "0001-STRASSE"), ("0001-λόγος", "0001-ΛΌΓΟΣ"), ("0001-İz", "0001-İZ")],
)
def test_letters_are_compared_by_unicode_case_folding(archive, slug, asked):
    assert archive(titled(f"a/adr/{slug}")).get(asked)["id"] == f"a/adr/{slug}"


def test_a_name_that_is_asked_for_is_quoted_without_control_characters(archive):
    sentence = archive(MANY).error("get_record", id="a\x1b[31m\nb")
    assert "\x1b" not in sentence
    assert "\\x1b" in sentence


def test_an_exact_heading_finds_a_record_whose_title_differs(archive):
    opened = archive({"a/adr/1-x": {"title": "Short", "body": "# The long heading\n"}})
    assert opened.get("the LONG heading")["id"] == "a/adr/1-x"


# Links


def links(record, key):
    return [link["id"] for link in record[key]]


def test_a_link_is_resolved_to_id_ref_title_and_status(archive):
    records = {
        "a/adr/0001-x": {"title": "X", "status": "superseded"},
        "a/adr/0002-y": {"title": "Y", "supersedes": "a/adr/0001-x"},
    }
    assert archive(records).get("a/adr/2")["supersedes"] == [
        {"id": "a/adr/0001-x", "ref": "A-ADR-0001", "title": "X", "status": "superseded"}
    ]


@pytest.mark.parametrize(
    "written",
    [
        *("a/adr/0001-x", "A/adr/0001-X", "a/adr/1", "a/adr/0001", "A-ADR-0001", "a-adr-1"),
        *("0001-x", "0001-x.md", "./0001-x.md", "../adr/0001-x.md", "../../a/adr/0001-x.md"),
        *("1", 1, "0001", "#1", "[0001]", ["0001"], "ADR-1", "ADR 0001", "adr-0001"),
        *("[1. X](0001-x.md)", "[X](../adr/0001-x.md#context)", "Superseded by [X](0001-x.md)"),
        *("[[0001-x]]", "[[0001-x|alias]]", "[[a/adr/0001-x]]", "decision://a/adr/0001-x"),
        *("a/adr/0001-x.md", "/a/adr/0001-x", "<0001-x.md>", "0001-x.md?y#z", "0001%2Dx.md"),
        "Title of a/adr/0001-x",
    ],
)
def test_a_link_is_resolved_however_it_is_written(archive, written):
    records = titled("a/adr/0001-x", "b/adr/0001-other", "a/rfc/0001-z")
    opened = archive({**records, "a/adr/0002-y": {"title": "Y", "supersedes": written}})
    found = opened.get("a/adr/2")
    assert links(found, "supersedes") == ["a/adr/0001-x"]
    assert "warnings" not in found


def test_a_number_means_the_same_folder_first_then_the_archive(archive):
    records = titled("a/adr/0001-x", "a/rfc/0001-z", "b/adr/0007-far")
    records |= {
        "a/adr/0002-y": {"title": "Y", "related": ["1", "7"]},
        "a/rfc/0003-r": {"title": "R", "related": ["ADR-1", "ADR-7"]},
    }
    opened = archive(records)
    assert opened.get("a/adr/2")["related"] == ["a/adr/0001-x", "b/adr/0007-far"]
    assert opened.get("a/rfc/3")["related"] == ["a/adr/0001-x", "b/adr/0007-far"]


def test_a_number_of_two_records_elsewhere_is_missing(archive):
    records = titled("b/adr/0001-x", "c/adr/0001-x")
    found = archive({**records, "a/adr/9-y": {"title": "Y", "supersedes": "1"}}).get("a/adr/9")
    assert found["supersedes"] == [{"id": "1", "missing": True}]
    (warning,) = found["warnings"]
    assert "b/adr/0001-x" in warning
    assert "c/adr/0001-x" in warning


def test_a_link_that_leads_nowhere_is_missing_with_its_text_and_a_warning(archive):
    text = "Superseded by the Big One (maybe)"
    found = archive({"a/adr/1-x": {"title": "X", "supersededBy": [text, "0099"]}}).get("a/adr/1")
    assert found["supersededBy"] == [
        {"id": text, "missing": True},
        {"id": "0099", "missing": True},
    ]
    assert len(found["warnings"]) == 2
    assert all(w.startswith("content/a/adr/1-x.md") for w in found["warnings"])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({}, {"supersedes": "0001"}),
        ({"supersededBy": "0002"}, {}),
        ({"supersededBy": "0002"}, {"supersedes": "0001"}),
    ],
)
def test_a_link_that_one_side_states_holds_in_both_directions(archive, old, new):
    records = {"a/adr/0001-x": {"title": "X", **old}, "a/adr/0002-y": {"title": "Y", **new}}
    opened = archive(records)
    assert links(opened.get("a/adr/1"), "supersededBy") == ["a/adr/0002-y"]
    assert links(opened.get("a/adr/2"), "supersedes") == ["a/adr/0001-x"]
    assert opened.get("a/adr/1")["supersedes"] == opened.get("a/adr/2")["supersededBy"] == []


def test_links_as_written_come_before_those_of_other_records(archive):
    records = {
        "a/adr/0001-x": {"title": "X", "supersededBy": ["0004", "0099"]},
        "a/adr/0002-b": {"title": "B", "supersedes": "0001"},
        "a/adr/0003-c": {"title": "C", "supersedes": "0001"},
        "a/adr/0004-d": {"title": "D", "supersedes": "0001"},
    }
    expected = ["a/adr/0004-d", "0099", "a/adr/0002-b", "a/adr/0003-c"]
    opened = archive(records)
    assert links(opened.get("a/adr/1"), "supersededBy") == expected
    (summary,) = opened.call("search_records", query="title: x", limit=1)["records"] or [
        r for r in opened.call("search_records")["records"] if r["id"] == "a/adr/0001-x"
    ]
    assert summary["supersededBy"] == expected


def test_one_record_named_twice_is_one_link(archive):
    records = {**titled("a/adr/0001-x"), "a/adr/0002-y": {"supersedes": ["0001", "A-ADR-0001"]}}
    assert links(archive(records).get("a/adr/2"), "supersedes") == ["a/adr/0001-x"]


def test_a_summary_names_successors_only_where_there_are_some(archive):
    records = {
        **titled("a/adr/0001-x"),
        "a/adr/0002-y": {"title": "Y", "date": "2020-01-01", "supersedes": "0001"},
    }
    newer, older = archive(records).call("search_records")["records"]
    assert "supersededBy" not in newer
    assert older["supersededBy"] == ["a/adr/0002-y"]


def test_a_draft_counts_as_missing_and_fills_no_inverse(archive):
    records = {
        "a/adr/0001-x": {"title": "X", "supersededBy": "0002"},
        "a/adr/0002-y": {"title": "Y", "draft": True, "supersedes": ["0001", "0003"]},
        "a/adr/0003-z": {"title": "Z"},
    }
    opened = archive(records)
    assert opened.get("a/adr/1")["supersededBy"] == [{"id": "0002", "missing": True}]
    assert opened.get("a/adr/3")["supersededBy"] == []


def test_a_broken_record_counts_as_missing(archive):
    records = {"a/adr/1-x": {"title": "X", "related": "0002"}, "a/adr/0002-y": "---\nx: [\n---\n"}
    assert archive(records).get("a/adr/1")["related"] == ["0002"]


def test_related_holds_ids_where_they_are_found_and_is_not_mirrored(archive):
    address = "https://avro.apache.org/docs/"
    records = {
        "a/adr/0001-x": {"title": "X", "related": ["0002", "nowhere", address, "A-ADR-2"]},
        "a/adr/0002-y": {"title": "Y"},
    }
    opened = archive(records)
    found = opened.get("a/adr/1")
    assert found["related"] == ["a/adr/0002-y", "nowhere", address]
    assert [w for w in found["warnings"] if "nowhere" in w] == found["warnings"]
    assert opened.get("a/adr/2")["related"] == []


def test_links_follow_an_edit_of_the_other_side(archive, tmp_path):
    opened = archive({"a/adr/0001-x": {"title": "X"}, "a/adr/0002-y": {"supersedes": "0001"}})
    assert links(opened.get("a/adr/1"), "supersededBy") == ["a/adr/0002-y"]
    write_records(tmp_path, {"content/a/adr/0002-y.md": "---\ntitle: Y\n---\n"})
    assert links(opened.get("a/adr/1"), "supersededBy") == []


# Chains


def chain(statuses, links_of):
    """Return records 1, 2 … with these statuses and successors."""
    return {
        f"a/adr/{n:04}-x": {"status": status, "supersededBy": links_of.get(n, [])}
        for n, status in enumerate(statuses, 1)
    }


def end(opened, number=1):
    found = opened.get(f"a/adr/{number}")
    return found["currentRecord"] and found["currentRecord"]["id"], found.get("warnings", [])


OLD, NOW = "superseded", "accepted"


def test_a_current_record_has_no_current_record(archive):
    assert end(archive(chain([NOW, NOW], {1: ["2"]}))) == (None, [])


def test_a_record_without_a_successor_has_no_current_record(archive):
    assert end(archive(chain([OLD], {}))) == (None, [])


def test_the_current_record_is_the_end_of_the_chain(archive):
    opened = archive(chain([OLD, NOW, NOW], {1: ["2"], 2: ["3"]}))
    assert opened.get("a/adr/1")["currentRecord"] == {
        "id": "a/adr/0003-x", "ref": "A-ADR-0003", "title": "0003-x", "status": "accepted",
    }  # fmt: skip


def test_the_end_of_a_chain_need_not_be_current(archive):
    assert end(archive(chain([OLD, "rejected"], {1: ["2"]}))) == ("a/adr/0002-x", [])


def test_a_chain_is_followed_through_links_of_the_other_side(archive):
    records = chain([OLD, OLD, NOW], {1: ["2"]})
    records["a/adr/0003-x"]["supersedes"] = "0002"
    assert end(archive(records))[0] == "a/adr/0003-x"


def test_of_several_successors_the_one_that_ends_current_is_taken(archive):
    opened = archive(chain([OLD, OLD, OLD, NOW], {1: ["2", "3"], 3: ["4"]}))
    assert end(opened)[0] == "a/adr/0004-x"


def test_of_several_that_end_current_the_first_written_is_taken(archive):
    assert end(archive(chain([OLD, NOW, NOW], {1: ["3", "2"]})))[0] == "a/adr/0003-x"


def test_of_several_that_end_elsewhere_the_first_written_is_taken(archive):
    assert end(archive(chain([OLD, OLD, "rejected"], {1: ["3", "2"]})))[0] == "a/adr/0003-x"


def test_a_missing_successor_ends_the_chain_before_it(archive):
    opened = archive(chain([OLD, OLD], {1: ["2"], 2: ["0099"]}))
    assert end(opened)[0] == "a/adr/0002-x"
    assert end(opened, 2)[0] is None


@pytest.mark.parametrize(
    "links_of", [{1: ["a/adr/0001-x"]}, {1: ["2"], 2: ["1"]}, {1: ["2"], 2: ["3"], 3: ["2"]}]
)
def test_a_loop_gives_null_and_a_warning(archive, links_of):
    found, warnings = end(archive(chain([OLD, OLD, OLD], links_of)))
    assert found is None
    assert [w for w in warnings if "loop" in w]


def test_a_loop_beside_a_way_out_does_no_harm(archive):
    opened = archive(chain([OLD, OLD, NOW], {1: ["2"], 2: ["1", "3"]}))
    assert end(opened) == ("a/adr/0003-x", [])
    assert end(opened, 2) == ("a/adr/0003-x", [])


def test_a_chain_of_any_length_is_followed_to_its_end(archive):
    count = 1500
    opened = archive(chain([OLD] * (count - 1) + [NOW], {n: [str(n + 1)] for n in range(1, count)}))
    assert end(opened)[0] == f"a/adr/{count}-x"


def test_a_chain_that_forks_at_every_step_is_followed_to_its_end(archive):
    count = 600
    forks = {n: [str(n + 1), str(min(n + 2, count))] for n in range(1, count)}
    opened = archive(chain([OLD] * count, forks))
    assert end(opened)[0] == f"a/adr/{count:04}-x"


# Broken files

BAD = "---\ntitle: X\ntags: [a\n---\nbody\n"
LISTS = (
    *("list_projects", "search_records", "list_tags", "list_fields", "list_authors"),
    *("due_reviews", "rfc_reviews"),
)


@pytest.mark.parametrize("text", ["a/adr/0002-bad", "A/ADR/0002-BAD", "a/adr/2", "a/adr/0002"])
def test_a_broken_record_is_answered_with_its_reason_by_id_and_short_id(archive, text):
    sentence = archive({**titled("a/adr/0001-x"), "a/adr/0002-bad": BAD}).error(
        "get_record", id=text
    )
    assert text in sentence
    assert "content/a/adr/0002-bad.md:" in sentence


@pytest.mark.parametrize("text", ["0002-bad", "0002-bad.md", "decision://a/adr/0002-bad"])
def test_a_broken_record_is_answered_with_its_reason_by_its_other_names(archive, text):
    opened = archive({"a/adr/0002-bad": BAD})
    assert "content/a/adr/0002-bad.md:" in opened.error("get_record", id=text)


def test_a_short_id_of_a_sound_and_a_broken_record_lists_both_ids(archive):
    opened = archive({**titled("a/adr/0002-x"), "a/adr/0002-bad": BAD})
    sentence = '"a/adr/2" is ambiguous: a/adr/0002-bad, a/adr/0002-x.'
    assert opened.error("get_record", id="a/adr/2") == sentence


@pytest.mark.parametrize("tool", LISTS)
def test_every_list_names_what_is_missing_from_it(archive, tool):
    opened = archive({**titled("a/adr/0001-x"), "a/adr/0002-bad": BAD})
    (warning,) = opened.warnings(tool)
    assert warning.startswith("content/a/adr/0002-bad.md:")


@pytest.mark.parametrize("tool", LISTS)
def test_a_list_of_a_sound_archive_has_no_warnings(archive, tool):
    assert "warnings" not in archive(titled("a/adr/0001-x")).call(tool)


@pytest.mark.parametrize(("broken", "more"), [(5, None), (6, "and 1 more"), (260, "and 255 more")])
def test_five_missing_files_are_named_and_the_others_counted(archive, broken, more):
    bad = {f"a/adr/{n:04}-bad": BAD for n in range(1, broken + 1)}
    warnings = archive({**titled("a/adr/9999-x"), **bad}).warnings()
    assert [w.split(":")[0] for w in warnings[:5]] == [
        f"content/a/adr/{n:04}-bad.md" for n in range(1, 6)
    ]
    assert warnings[5:] == ([f"{more}: run --check"] if more else [])


def test_a_lists_own_warnings_come_before_what_is_missing(archive):
    opened = archive({**titled("a/adr/0001-x", status="accepted"), "a/adr/0002-bad": BAD})
    own, missing = opened.warnings(status="acepted")
    assert own == 'No record has the status "acepted". Statuses: accepted (1)'
    assert missing.startswith("content/a/adr/0002-bad.md:")


def test_the_same_missing_file_is_said_once_on_stderr(archive):
    opened = archive({**titled("a/adr/0001-x"), "a/adr/0002-bad": BAD})
    for tool in LISTS:
        opened.call(tool)
    assert len([line for line in opened.said if "0002-bad" in line]) == 1


def test_a_mended_file_is_served_at_once(archive, tmp_path):
    opened = archive({"a/adr/0002-bad": BAD})
    assert opened.warnings()
    write_records(tmp_path, {"content/a/adr/0002-bad.md": "---\ntitle: Good\n---\n"})
    assert opened.get("a/adr/2")["title"] == "Good"
    assert opened.warnings() == []


@pytest.mark.parametrize("tool", LISTS)
def test_every_list_of_an_empty_archive_says_where_it_looked(archive, tmp_path, tool):
    opened = archive({"README.md": "# no\n", "a/adr/0001-x": {"draft": True}})
    write_records(tmp_path, {"content/a/picture.png": b"x"})
    warnings = opened.warnings(tool)
    assert len(warnings) == 1
    assert str(tmp_path.resolve() / "content") in warnings[0]
    assert "3 files" in warnings[0]


def test_a_broken_project_file_keeps_its_records(archive):
    opened = archive({**titled("a/adr/0001-x"), "a/_project.yml": "name: [\n"})
    assert opened.ids() == ["a/adr/0001-x"]
    assert opened.warnings()[0].startswith("content/a/_project.yml:")


@pytest.mark.parametrize("text", ["2024: x\nname: A\n", "true: x\nname: A\nreview: {1: x}\n"])
def test_odd_keys_of_a_project_file_do_no_harm(archive, text):
    opened = archive({**titled("a/adr/0001-x"), "a/_project.yml": text})
    assert opened.call("list_projects")["projects"][0]["name"] == "A"


@pytest.fixture
def broken():
    return Local(BROKEN)


def test_the_broken_sample_serves_all_that_is_sound(broken):
    assert broken.ids() == [
        "shop/adr/0005-pack-by-hand",
        "shop/adr/0005-pack-by-robot",
        "shop/adr/0004-dead-link",
        "shop/adr/0001-ship-from-two-warehouses",
        "shop/adr/0006-impossible-date",
    ]
    assert [w.split(":")[0] for w in broken.warnings()] == [
        "decisions/shop/adr/0002-unclosed-bracket.md",
        "decisions/shop/adr/0003-latin-1.md",
    ]


def test_a_file_that_is_not_utf_8_is_named_with_its_byte_position(broken):
    (warning,) = [w for w in broken.warnings() if "latin-1" in w]
    assert "byte 13" in warning


def test_an_impossible_date_is_null_and_told_with_the_record(broken):
    found = broken.get("shop/adr/6")
    assert found["date"] is None
    assert "2025-02-30" in found["warnings"][0]


def test_check_reports_every_fault_with_its_place():
    done = run_server("--root", BROKEN, "--check")
    assert done.returncode == 1
    for place in (
        "0002-unclosed-bracket.md:",
        "0003-latin-1.md:",
        "0004-dead-link.md",
        "0006-impossible-date.md:",
    ):
        assert f"decisions/shop/adr/{place}" in done.stdout


def test_a_failed_call_says_why(broken):
    with pytest.raises(ToolError, match="0003-latin-1"):
        broken.get("shop/adr/0003-latin-1")
