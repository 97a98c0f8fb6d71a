"""From front matter to the fields of a record."""

from __future__ import annotations

import pytest
from helpers import Local

KEY = "sre/adr/0001-a"


@pytest.fixture
def read(tmp_path):
    """Return a function that writes one record and says what ``get_record`` makes of it."""

    def read_one(config=None, record_id=KEY, /, **front):
        return Local.of(tmp_path, {record_id: front}, config).get(record_id)

    return read_one


@pytest.fixture
def read_text(tmp_path):
    """The same for the whole text of a file."""

    def read_one(text, record_id=KEY, config=None):
        return Local.of(tmp_path, {record_id: text}, config).get(record_id)

    return read_one


# Id, project, type, number and ref


@pytest.mark.parametrize(
    ("record_id", "project", "type_", "ref"),
    [
        ("sre/adr/0001-define-slos", "sre", "adr", "SRE-ADR-0001"),
        ("sre/adr/12-short", "sre", "adr", "SRE-ADR-12"),
        ("sre/adr/0007", "sre", "adr", "SRE-ADR-0007"),
        ("sre/adr/20240105-dated", "sre", "adr", None),
        ("sre/adr/2024-01-05-dated", "sre", "adr", None),
        ("sre/adr/no-number", "sre", "adr", None),
        ("sre/0001-beside", "sre", None, None),
        ("0001-alone", None, None, None),
        ("sre/adr/2024/0003-deep", "sre", "2024", "SRE-2024-0003"),
    ],
)
def test_the_path_gives_project_type_and_ref(read, record_id, project, type_, ref):
    found = read(None, record_id, title="A")
    assert [found[key] for key in ("id", "project", "type", "ref")] == [
        record_id, project, type_, ref,
    ]  # fmt: skip


def test_the_type_of_the_front_matter_beats_the_folder(read):
    found = read(title="A", type="rfc")
    assert (found["type"], found["ref"]) == ("rfc", "SRE-RFC-0001")


def test_a_type_gives_a_ref_to_a_record_beside_its_project_file(read):
    assert read(None, "sre/0001-a", title="A", type="adr")["ref"] == "SRE-ADR-0001"


def test_the_key_of_a_project_begins_its_refs(tmp_path):
    files = {KEY: {"title": "A"}, "sre/_project.yml": "key: ops\n"}
    assert Local.of(tmp_path, files).get(KEY)["ref"] == "OPS-ADR-0001"


def test_mdx_files_are_records(tmp_path):
    archive = Local.of(tmp_path, {"sre/adr/0001-a.mdx": "---\ntitle: A\n---\n"})
    assert archive.get(KEY)["path"] == "content/sre/adr/0001-a.mdx"


def test_the_path_is_relative_to_the_root(read):
    assert read(title="A")["path"] == "content/sre/adr/0001-a.md"


def test_a_configured_address_gives_records_their_url(read):
    found = read({"url": "https://d.example/base/"}, "sre/adr/0001-ä b", title="A")
    assert found["url"] == "https://d.example/base/sre/adr/0001-%C3%A4%20b"


def test_without_a_configured_address_there_is_no_url(read):
    assert "url" not in read(title="A")


# Title and description


def test_the_title_of_the_front_matter_comes_first(read):
    assert read(title="Front", body="# Heading\n")["title"] == "Front"


def test_the_first_heading_is_the_title_where_none_is_stated(read):
    assert read(status="accepted", body="\ntext\n\n## Heading ##\n")["title"] == "Heading"


@pytest.mark.parametrize("title", [None, "", "  "])
def test_an_empty_title_counts_as_none(read, title):
    assert read(title=title, body="# Heading\n")["title"] == "Heading"


def test_a_heading_in_a_code_block_is_no_title(read):
    assert read(body="```\n# no\n```\n# yes\n")["title"] == "yes"


def test_the_slug_is_the_title_where_there_is_no_heading(read):
    assert read(None, "sre/adr/0001-define-slos", body="text\n")["title"] == "0001-define-slos"


@pytest.mark.parametrize(("value", "title"), [(2024, "2024"), (True, "true"), (1.5, "1.5")])
def test_a_title_that_yaml_takes_for_a_value_is_its_text(read, value, title):
    assert read(title=value)["title"] == title


def test_an_absent_description_is_null(read):
    assert read(title="A")["description"] is None


def test_absent_lists_are_empty_and_absent_values_are_null(read):
    found = read()
    lists = "tags authors deciders related reviewers supersedes supersededBy"
    assert [found[key] for key in lists.split()] == [[]] * 7
    values = "status date description review rfcReview currentRecord"
    assert [found[key] for key in values.split()] == [None] * 6
    assert found["fields"] == {}
    assert found["current"] is False


def test_an_empty_block_of_front_matter_is_a_record_of_its_body(read_text):
    found = read_text("---\n---\n# Heading\n")
    assert (found["title"], found["status"]) == ("Heading", None)


# Spellings of keys


@pytest.mark.parametrize("key", ["supersededBy", "superseded_by", "superseded-by", "SupersededBy"])
def test_keys_are_one_in_camel_snake_and_kebab_case(read, key):
    found = read(title="A", **{key: "0002"})
    assert found["supersededBy"] == [{"id": "0002", "missing": True}]
    assert found["fields"] == {}


def test_a_key_stated_twice_in_two_spellings_is_a_warning(read):
    found = read(superseded_by="0002", supersededBy="0003")
    assert [link["id"] for link in found["supersededBy"]] == ["0002"]
    assert any("supersededBy" in warning for warning in found["warnings"])


# Status


@pytest.mark.parametrize(
    "status", ["in-review", "In Review", "IN_REVIEW", "inreview", " in-Review "]
)
def test_a_known_status_is_answered_in_the_configured_spelling(read, status):
    assert read(status=status)["status"] == "in-review"


def test_the_words_of_a_status_in_another_spelling_stay_at_hand(read):
    assert read(status="In Review")["statusText"] == "In Review"


def test_a_status_as_configured_has_no_second_text(read):
    assert "statusText" not in read(status="accepted")


def test_an_unknown_status_is_kept_as_written_and_not_current(tmp_path):
    archive = Local.of(tmp_path, {KEY: {"status": "Half Done", "reviewers": ["@a"]}})
    found = archive.get(KEY)
    assert (found["status"], found["current"]) == ("Half Done", False)
    assert archive.call("rfc_reviews")["total"] == 0


@pytest.mark.parametrize(
    ("status", "current", "is_open"),
    [
        ("draft", False, True),
        ("proposed", False, True),
        ("in-review", False, True),
        ("accepted", True, False),
        ("implemented", True, False),
        ("rejected", False, False),
        ("deprecated", False, False),
        ("withdrawn", False, False),
        ("superseded", False, False),
        (None, False, False),
    ],
)
def test_a_default_status_says_whether_a_record_is_current_or_open(
    tmp_path, status, current, is_open
):
    archive = Local.of(tmp_path, {KEY: {"status": status, "reviewers": ["@a"]}})
    assert archive.get(KEY)["current"] is current
    assert archive.call("rfc_reviews")["total"] == int(is_open)


def test_configured_statuses_replace_the_default_ones(tmp_path):
    statuses = {"Live": {"current": True}, "Talking": {"open": True}}
    records = {
        "a/adr/1-a": {"status": "live"},
        "a/adr/2-b": {"status": "accepted"},
        "a/adr/3-c": {"status": "talking", "reviewers": ["@x"]},
    }
    archive = Local.of(tmp_path, records, {"statuses": statuses})
    assert archive.ids(current_only=True) == ["a/adr/1-a"]
    assert archive.get("a/adr/1")["status"] == "Live"
    assert archive.get("a/adr/2")["status"] == "accepted"
    assert [r["status"] for r in archive.call("rfc_reviews")["records"]] == ["Talking"]


# Dates


@pytest.mark.parametrize(
    ("written", "date"),
    [
        ("2024-01-05", "2024-01-05"),
        ("2024-1-5", "2024-01-05"),
        ("2024-01", "2024-01"),
        ("2024-1", "2024-01"),
        ("2024-01-05T10:11:12Z", "2024-01-05"),
        ("2024-01-05 10:11:12 +02:00", "2024-01-05"),
        ("2024-02-29", "2024-02-29"),
        ('"2024-01-05"', "2024-01-05"),
        ("", None),
    ],
)
def test_a_date_is_answered_as_its_day(read_text, written, date):
    found = read_text(f"---\ntitle: A\ndate: {written}\n---\n")
    assert found["date"] == date
    assert "warnings" not in found


@pytest.mark.parametrize("written", ["TBD", "2023-02-29", "2024-13-01", "soon", "[2024]", "2024"])
def test_what_is_no_date_is_null_with_a_warning(read_text, written):
    found = read_text(f"---\ntitle: A\ndate: {written}\n---\n")
    assert found["date"] is None
    (warning,) = found["warnings"]
    assert warning.startswith("content/sre/adr/0001-a.md:3:")


# Lists


@pytest.mark.parametrize(
    ("written", "tags"),
    [
        ("one", ["one"]),
        ("a, b", ["a", "b"]),
        ("a b", ["a", "b"]),
        ("two words, b", ["two words", "b"]),
        ("[x, two words]", ["x", "two words"]),
        ("[1, true, null, '']", ["1", "true"]),
        ("", []),
        ("[]", []),
    ],
)
def test_tags_are_a_list_however_they_are_written(read_text, written, tags):
    assert read_text(f"---\ntags: {written}\n---\n")["tags"] == tags


@pytest.mark.parametrize("key", ["authors", "deciders"])
@pytest.mark.parametrize(
    ("written", "people"),
    [
        ("Ada Lovelace", ["Ada Lovelace"]),
        ("Lovelace, Ada", ["Lovelace, Ada"]),
        ('"@ada @bob"', ["@ada", "@bob"]),
        ('"@ada, @bob"', ["@ada", "@bob"]),
        ('["@ada", Bob Ross]', ["@ada", "Bob Ross"]),
    ],
)
def test_people_are_a_list_however_they_are_written(read_text, key, written, people):
    assert read_text(f"---\n{key}: {written}\n---\n")[key] == people


# Drafts


@pytest.mark.parametrize("written", ["true", "True", "TRUE", '"true"', "yes", "Yes", "on"])
def test_a_draft_is_left_out_everywhere(tmp_path, written):
    records = {
        KEY: f"---\ntitle: A\ndraft: {written}\ntags: [t]\nauthors: [x]\n---\nword\n",
        "sre/adr/0002-b": {"title": "B"},
    }
    archive = Local.of(tmp_path, records)
    assert archive.ids() == archive.ids(query="b") == ["sre/adr/0002-b"]
    assert archive.call("list_tags")["tags"] == archive.call("list_authors")["authors"] == []
    assert archive.call("list_projects")["projects"][0]["records"] == 1
    assert archive.error("get_record", id=KEY).startswith(f'No record matches "{KEY}".')


@pytest.mark.parametrize("written", ["false", "no", '"false"', ""])
def test_a_record_that_says_it_is_no_draft_is_served(read_text, written):
    assert read_text(f"---\ntitle: A\ndraft: {written}\n---\n")["fields"] == {}


# Custom fields


def test_every_other_key_is_a_custom_field_under_its_own_name(read):
    found = read(title="A", risk="high", ownerTeam="x", **{"cost-centre": 7})
    assert found["fields"] == {"risk": "high", "ownerTeam": "x", "cost-centre": 7}


def test_a_nested_map_of_fields_is_read_like_the_keys_beside_it(read):
    found = read(title="A", risk="high", fields={"cost": 3, "risk": "low", "deep": {"x": [1]}})
    assert found["fields"] == {"risk": "high", "cost": 3, "deep": {"x": [1]}}


def test_fields_that_are_no_map_are_a_field_themselves(read):
    assert read(title="A", fields="many")["fields"] == {"fields": "many"}


def test_a_field_without_a_value_is_null(read_text):
    assert read_text("---\ntitle: A\nowner:\n---\n")["fields"] == {"owner": None}


def test_a_declared_field_is_custom_whatever_it_is_called(read):
    config = {"fields": {"audience": "string", "reviewers": "list", "expires": "string"}}
    found = read(config, title="A", reviewers=["@x"], expires="2027-01-01")
    assert found["fields"] == {"reviewers": ["@x"], "expires": "2027-01-01"}
    assert (found["reviewers"], found["review"]) == ([], None)


@pytest.mark.parametrize("written", [".inf", "-.inf", ".nan"])
def test_infinity_is_answered_as_its_text(read_text, written):
    assert read_text(f"---\nx: {written}\ny: [{written}]\n---\n")["fields"] == {
        "x": written,
        "y": [written],
    }


def test_huge_numbers_are_answered(read):
    number = 2**80
    assert read(x=number, y=[-number])["fields"] == {"x": number, "y": [-number]}


def test_a_number_of_thousands_of_digits_harms_no_other_record(tmp_path):
    records = {KEY: f"---\nx: {'9' * 5000}\n---\n", "sre/adr/0002-b": {"title": "B"}}
    archive = Local.of(tmp_path, records)
    assert "sre/adr/0002-b" in archive.ids()
    assert KEY in archive.ids() or "digits" in archive.error("get_record", id=KEY)


@pytest.mark.parametrize(("written", "key"), [("2024", "2024"), ("true", "true"), ("1.5", "1.5")])
def test_a_key_that_yaml_takes_for_a_value_is_its_text(read_text, written, key):
    assert read_text(f"---\ntitle: A\n{written}: x\n---\n")["fields"] == {key: "x"}


def test_keys_within_a_field_are_texts(read_text):
    found = read_text("---\nx: {2: a, true: b, null: c}\n---\n")
    assert list(found["fields"]["x"].values()) == ["a", "b", "c"]
    assert list(found["fields"]["x"])[:2] == ["2", "true"]


def test_what_looks_like_a_date_stays_text_in_a_field(read_text):
    found = read_text("---\nx: 2024-01-05\ny: 2024-01-05T10:00:00Z\nz: 12:30:00\n---\n")
    assert found["fields"]["x"] == "2024-01-05"
    assert found["fields"]["y"] == "2024-01-05T10:00:00Z"


def test_emoji_and_all_scripts_come_through(read):
    text = "💡 Größe – 日本語 – 🧑‍💻"
    found = read(title=text, note=text, tags=[text], body=f"{text}\n")
    assert [found["title"], found["fields"]["note"], found["tags"], found["body"]] == [
        text, text, [text], f"{text}\n",
    ]  # fmt: skip


# Bodies


@pytest.mark.parametrize(
    "body",
    [
        "",
        "\n",
        "text without an end",
        "\n## A\n\n---\n\nmore\n---\n",
        "a\r\nb\r\n",
        "a\rb\n\n\n",
        "\ttabs  and trailing  \n\n",
        "\x0b\x0c\x85\u2028\u2029 odd line ends\n",
        "---\nx: 1\n---\nbody of a body\n",
    ],
)
def test_a_body_is_answered_unchanged(read, body):
    assert read(title="A", body=body)["body"] == body


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_front_matter_is_read_with_any_line_ends(read_text, end):
    lines = ["---", "title: A", "tags:", "  - x", "  - y", "---", "# H", "", "text", ""]
    found = read_text(end.join(lines))
    assert (found["title"], found["tags"]) == ("A", ["x", "y"])
    assert found["body"] == end.join(lines[6:])


def test_a_byte_order_mark_hides_nothing(read_text):
    assert read_text(b"\xef\xbb\xbf---\ntitle: A\n---\nbody\n")["title"] == "A"


def test_the_text_ends_with_the_body_byte_for_byte(tmp_path):
    body = "\r\n# A\r\n\r\n```yaml\r\n---\r\nx: 1\r\n---\r\n```\r\nno end"
    archive = Local.of(tmp_path, {KEY: {"title": "A", "body": body}})
    text = archive.text("get_record", id=KEY)
    assert text.startswith("---\n")
    assert text.endswith(f"\n---\n\n{body}")


# Repairs and cut titles


@pytest.mark.parametrize(
    ("line", "key", "value"),
    [
        ("title: ADR-1: Use X", "title", "ADR-1: Use X"),
        ("authors: @ada", "authors", ["@ada"]),
        ("authors:\n  - @ada", "authors", ["@ada"]),
    ],
)
def test_a_line_that_lacks_quotes_is_read_with_the_rest_as_its_text(tmp_path, line, key, value):
    archive = Local.of(tmp_path, {KEY: f"---\n{line}\nstatus: accepted\n---\nbody\n"})
    found = archive.get(KEY)
    assert (found[key], found["status"]) == (value, "accepted")
    assert "warnings" not in archive.call("search_records")  # nothing is missing from the list
    assert [said for said in archive.said if "content/sre/adr/0001-a.md:" in said]


def test_a_title_cut_at_a_number_sign_is_a_warning(read_text):
    found = read_text("---\ntitle: Use C #7\n---\n# Use C #7\n")
    assert found["title"] == "Use C"
    assert "quotes" in found["warnings"][0]


# Cycle of the archive


def test_a_current_record_without_a_cycle_has_that_of_the_configuration(read):
    found = read({"review": {"every": "6 months"}}, status="accepted", date="2024-08-31")
    assert found["review"] == {"due": "2025-02-28", "reviewed": None, "every": "6 months"}


def test_the_cycle_of_a_project_beats_that_of_the_configuration(tmp_path):
    records = {
        KEY: {"status": "accepted", "date": "2024-01-01"},
        "sre/_project.yml": "review: {every: 1 year}\n",
    }
    found = Local.of(tmp_path, records, {"review": {"every": "P6M"}}).get(KEY)
    assert found["review"]["due"] == "2025-01-01"


def test_a_record_that_is_not_current_has_no_cycle_of_the_archive(read):
    assert (
        read({"review": {"every": "P6M"}}, status="proposed", date="2024-01-01")["review"] is None
    )


def test_a_stated_due_date_beats_the_cycle(read):
    found = read(status="accepted", date="2024-01-01", reviewBy="2027-07-18", review_in="1 year")
    assert found["review"] == {"due": "2027-07-18", "reviewed": None, "every": "1 year"}


def test_a_cycle_that_is_no_duration_keeps_its_words_and_gives_no_due_date(read):
    found = read(status="accepted", date="2024-01-01", review_cadence="Ad-Hoc")
    assert found["review"] == {"due": None, "reviewed": None, "every": "Ad-Hoc"}


# Reviewers


def test_approvals_that_a_type_requires_come_from_the_configuration(tmp_path):
    records = {"a/rfc/1-x": {"status": "proposed", "reviewers": ["@a", "@b", "@c"]}}
    archive = Local.of(tmp_path, records, {"types": {"rfc": {"requiredApprovals": 2}}})
    assert archive.get("a/rfc/1")["rfcReview"] == {
        "status": "pending",
        "approved": 0,
        "required": 2,
        "waitingOn": ["a", "b", "c"],
    }


def test_a_stated_number_of_approvals_beats_that_of_the_type(tmp_path):
    records = {"a/rfc/1-x": {"reviewers": ["@a: approved", "@b"], "requiredApprovals": 1}}
    archive = Local.of(tmp_path, records, {"types": {"rfc": {"requiredApprovals": 2}}})
    found = archive.get("a/rfc/1")["rfcReview"]
    assert found == {"status": "approved", "approved": 1, "required": 1, "waitingOn": []}


def test_without_a_number_all_reviewers_must_approve(read):
    found = read(
        reviewers=[{"name": "@a", "state": "approved"}, {"name": "b", "state": "commented"}]
    )
    assert found["reviewers"] == [
        {"name": "a", "state": "approved"},
        {"name": "b", "state": "commented"},
    ]
    assert found["rfcReview"] == {
        "status": "pending",
        "approved": 1,
        "required": 2,
        "waitingOn": ["b"],
    }


def test_one_who_asks_for_changes_outweighs_all_approvals(read):
    found = read(reviewers={"a": "approved", "b": "changes-requested"}, requiredApprovals=1)
    assert found["rfcReview"]["status"] == "changes-requested"


def test_a_required_reviewer_must_approve_whatever_the_number(read):
    people = [{"name": "a", "state": "approved"}, {"name": "b", "required": True}]
    found = read(reviewers=people, requiredApprovals=1)
    assert found["rfcReview"]["status"] == "pending"
    assert found["rfcReview"]["waitingOn"] == ["b"]
