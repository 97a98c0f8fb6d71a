"""The tools: what they take, what they answer, and in which order."""

from __future__ import annotations

import json
import re
import unicodedata

import pytest
import site_publisher
from helpers import (
    DATA,
    SAMPLE,
    TODAY,
    TOOL_BYTES,
    TOOL_NAMES,
    Local,
    Server,
    ToolError,
    closed,
    record_source,
)

from inkan_mcp import MAX_ANSWER_BYTES, Call, ProtocolError, call_tool

LISTS = tuple(name for name in TOOL_NAMES if name != "get_record")
PAGED = ("search_records", "due_reviews", "rfc_reviews")


@pytest.fixture(scope="module")
def server():
    with Server("--root", SAMPLE) as started:
        started.initialize()
        yield started


@pytest.fixture(scope="module")
def sample():
    return Local(SAMPLE)


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """Return what an independent reader says of the sample: records by id."""
    index = site_publisher.publish(SAMPLE, tmp_path_factory.mktemp("site"))
    return {record["id"]: record for record in index["records"]}


@pytest.fixture
def archive(tmp_path):
    def opened(records, config=None):
        return Local.of(tmp_path, records, config)

    return opened


def words(text):
    return text.split()


def one(**front):
    return {"a/adr/0001-x": front}


# tools/list


@pytest.fixture(scope="module")
def listed(server):
    return server.request("tools/list")["tools"]


def walk(schema):
    """Return every schema within a schema."""
    yield schema
    for part in schema.get("properties", {}).values():
        yield from walk(part)
    if "items" in schema:
        yield from walk(schema["items"])


def test_the_tools_are_listed_in_a_fixed_order(listed):
    assert [tool["name"] for tool in listed] == TOOL_NAMES


def test_a_tool_is_listed_with_these_members_alone(listed):
    members = {"name", "title", "description", "inputSchema", "outputSchema", "annotations"}
    assert all(set(tool) == members for tool in listed)
    assert all(tool["title"] and tool["description"] for tool in listed)


def test_every_tool_only_reads(listed):
    for tool in listed:
        assert tool["annotations"] == {
            "readOnlyHint": True,
            "destructiveHint": False,
            "idempotentHint": True,
            "openWorldHint": False,
        }


def test_input_schemas_use_the_plain_keywords_alone(listed):
    keywords = {"type", "properties", "required", "enum", "minimum", "maximum", "default"}
    keywords |= {"description", "additionalProperties"}
    for tool in listed:
        schema = tool["inputSchema"]
        assert schema["type"] == "object"
        assert schema["additionalProperties"] is False
        assert all(set(part) <= keywords for part in walk(schema))
        assert all(isinstance(part["type"], str) for part in walk(schema))
        assert all("description" in part for part in schema["properties"].values())


def test_output_schemas_use_the_plain_keywords_alone(listed):
    keywords = {"type", "properties", "required", "enum", "items", "description"}
    keywords |= {"minimum", "maximum", "additionalProperties"}
    for tool in listed:
        assert tool["outputSchema"]["type"] == "object"
        for part in walk(tool["outputSchema"]):
            assert set(part) <= keywords
            kinds = part["type"] if isinstance(part["type"], list) else [part["type"], "null"]
            assert len(kinds) == 2
            assert kinds[1] == "null"
            assert "items" in part or "array" not in kinds


def test_schemas_are_valid_json_schema(listed):
    import jsonschema

    for tool in listed:
        jsonschema.Draft202012Validator.check_schema(tool["inputSchema"])
        jsonschema.Draft202012Validator.check_schema(tool["outputSchema"])


def test_the_list_of_tools_is_small_enough_for_any_context(listed):
    head = [{k: v for k, v in t.items() if not k.startswith(("out", "ann"))} for t in listed]
    assert len(json.dumps(head, separators=(",", ":"))) < 5_000
    assert len(json.dumps({"tools": listed}, separators=(",", ":"))) < TOOL_BYTES * len(listed)
    assert all(len(tool["description"].encode()) <= 700 for tool in listed)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("list_projects", {}),
        (
            "search_records",
            dict.fromkeys(words("project type status tag author field query since current_only"))
            | {"limit": 20, "offset": 0},
        ),
        ("get_record", {"id": None, "body_offset": 0}),
        ("list_tags", {"project": None}),
        ("list_fields", {}),
        ("list_authors", {"project": None}),
        ("due_reviews", {"project": None, "within": 30, "all": None, "limit": 100, "offset": 0}),
        ("rfc_reviews", {"reviewer": None, "limit": 100, "offset": 0}),
    ],
)
def test_a_tool_takes_these_arguments_with_these_defaults(listed, tool, arguments):
    schema = next(entry["inputSchema"] for entry in listed if entry["name"] == tool)
    assert set(schema["properties"]) == set(arguments)
    defaults = {key: value for key, value in arguments.items() if value is not None}
    found = {key: value.get("default") for key, value in schema["properties"].items()}
    assert {k: v for k, v in found.items() if v is not None and v is not False} == defaults
    assert schema.get("required", []) == (["id"] if tool == "get_record" else [])


# Arguments


@pytest.mark.parametrize("tool", LISTS)
@pytest.mark.parametrize("arguments", [None, {}])
def test_a_list_needs_no_arguments(sample, tool, arguments):
    assert not sample.result(tool, arguments).is_error


def test_null_and_blank_arguments_count_as_absent(sample):
    plain = sample.call("search_records")
    names = words("project type status tag author field query since current_only limit offset")
    for blank in (None, "", "  ", "\t\n"):
        assert sample.call("search_records", **dict.fromkeys(names, blank)) == plain


@pytest.mark.parametrize(("limit", "served"), [(5.0, 5), (1, 1), (200, 200), (201, 200)])
def test_a_whole_number_may_be_written_as_a_fraction_and_is_at_most_200(sample, limit, served):
    assert sample.call("search_records", limit=limit)["limit"] == served


@pytest.mark.parametrize("tool", PAGED)
def test_a_limit_above_200_is_served_as_200_in_every_tool(sample, tool):
    assert sample.call(tool, limit=10**30)["limit"] == 200


@pytest.mark.parametrize(
    ("tool", "name", "value"),
    [
        ("search_records", "limit", "5"),
        ("search_records", "limit", 0),
        ("search_records", "limit", -1),
        ("search_records", "limit", 0.0),
        ("search_records", "limit", 1.5),
        ("search_records", "limit", True),
        ("search_records", "limit", [5]),
        ("search_records", "limit", {}),
        ("search_records", "limit", float("inf")),
        ("search_records", "offset", -1),
        ("search_records", "offset", -(10**400)),
        ("search_records", "offset", "0"),
        ("search_records", "project", 5),
        ("search_records", "project", False),
        ("search_records", "tag", ["a"]),
        ("search_records", "query", {"a": 1}),
        ("search_records", "query", float("-inf")),
        ("search_records", "current_only", "true"),
        ("search_records", "current_only", 1),
        ("get_record", "id", 5),
        ("get_record", "id", ["a"]),
        ("get_record", "body_offset", -1),
        ("list_tags", "project", 1),
        ("list_authors", "project", []),
        ("due_reviews", "within", -1),
        ("due_reviews", "within", "30"),
        ("due_reviews", "all", "yes"),
        ("due_reviews", "limit", 0),
        ("due_reviews", "offset", -2),
        ("rfc_reviews", "reviewer", 3),
        ("rfc_reviews", "limit", 0),
        ("rfc_reviews", "offset", True),
    ],
)
def test_a_wrong_value_is_a_tool_error_that_names_the_argument(sample, tool, name, value):
    more = {"id": "payments/adr/1"} if tool == "get_record" and name != "id" else {}
    sentence = sample.error(tool, **more, **{name: value})
    assert f'"{name}"' in sentence
    assert tool in sentence
    assert len(sentence) < 400


@pytest.mark.parametrize("arguments", [{}, {"id": None}, {"id": ""}, {"id": "  "}])
def test_a_missing_id_is_a_tool_error(sample, arguments):
    assert '"id"' in sample.error("get_record", **arguments)


def test_an_unknown_argument_is_a_tool_error_with_the_near_miss(sample):
    sentence = 'search_records has no argument "tags". Did you mean "tag"?'
    assert sample.error("search_records", tags="x") == sentence
    assert sample.error("search_records", tags=None) == sentence


def test_an_unknown_argument_that_is_like_none_is_answered_with_the_arguments_there_are(sample):
    assert "reviewer, limit, offset" in sample.error("rfc_reviews", zzz=1)
    assert "no arguments" in sample.error("list_projects", limit=5)


@pytest.mark.parametrize("arguments", [[], "x", 5, True])
def test_arguments_that_are_no_object_are_a_tool_error(sample, arguments):
    assert sample.result("search_records", arguments).is_error


def test_an_unknown_tool_is_a_protocol_error(sample):
    with pytest.raises(ProtocolError, match="search_records") as caught:
        call_tool(sample.catalog, "search_record", {}, Call(TODAY))
    assert caught.value.code == -32602


def test_a_tool_error_carries_text_alone(server):
    result = server.call_result("get_record", {"id": "nowhere"})
    assert set(result) == {"content", "isError"}
    assert result["isError"] is True
    assert result["content"] == [
        {"type": "text", "text": 'No record matches "nowhere". Use search_records to find ids.'}
    ]


def test_an_error_names_no_control_characters_and_no_endless_values(sample):
    sentence = sample.error("search_records", limit="\x1b]0;x\x07" + "9" * 10_000)
    assert sentence.isprintable()
    assert len(sentence) < 400
    assert len(sample.error("search_records", **{"\x1b" * 5000: 1})) < 800


# list_projects


def test_projects_come_by_order_then_name_then_id(archive):
    files = {
        "d/_project.yml": "name: beta\n",
        "c/_project.yml": "name: Alpha\n",
        "b/_project.yml": "name: alpha\n",
        "z/_project.yml": "order: 2\n",
        "y/_project.yml": "order: -1\n",
        "x/_project.yml": "order: 1.5\n",
        "a/adr/0001-x": {"title": "X"},
    }
    found = archive(files).call("list_projects")["projects"]
    assert [project["id"] for project in found] == ["y", "x", "z", "a", "b", "c", "d"]


def test_a_project_is_listed_with_what_its_file_says(archive):
    files = {
        "a/_project.yml": 'name: Team A\ndescription: What it does\nowners: "@x @y"\n',
        "a/adr/0001-x": {},
        "a/rfc/0001-y": {},
        "b/0001-z": {},
        "0001-nowhere": {},
        "c/_project.yml": "",
    }
    rows = archive(files).call("list_projects")["projects"]
    none = {"description": None, "owners": []}
    assert rows == [
        {"id": "b", "name": "b", **none, "records": 1},
        {"id": "c", "name": "c", **none, "records": 0},
        {
            "id": "a", "name": "Team A", "description": "What it does", "owners": ["@x", "@y"],
            "records": 2,
        },
    ]  # fmt: skip


def test_projects_that_differ_in_case_count_their_own_records(archive, tmp_path):
    (tmp_path / "probe").mkdir()
    if (tmp_path / "PROBE").exists():
        pytest.skip("the file system does not tell names by case")
    rows = archive({"A/adr/1-x": {}, "a/adr/1-y": {}, "a/adr/2-z": {}}).call("list_projects")
    assert [(row["id"], row["records"]) for row in rows["projects"]] == [("A", 1), ("a", 2)]


def test_the_projects_of_the_sample_are_listed_in_their_order(server, published):
    rows = server.call("list_projects")["projects"]
    assert [row["id"] for row in rows] == ["payments", "storefront", "platform"]
    for row in rows:
        members = [r for r in published.values() if r["project"] == row["id"]]
        assert row["records"] == len(members)


# search_records: filters

RECORDS = {
    "sre/adr/0001-a": {
        "title": "Kafka", "status": "accepted", "date": "2024-01-05", "tags": ["Messaging", "x"],
        "authors": ["@Ada"], "risk": "High", "cost": 3,
    },
    "sre/rfc/0002-b": {
        "title": "Queues", "status": "In Review", "date": "2024-03-01", "tags": ["messaging"],
        "authors": ["ada", "Bob Ross"], "deciders": ["carl"], "risk": "low", "on": True,
        "description": "Instead of kafka topics",
    },
    "web/adr/0003-c": {
        "title": "Straße", "status": "superseded", "date": "2024-02", "body": "KAFKA in a body\n",
        "teams": ["Core", "Edge"], "ratio": 0.5, "big": 9007199254740993, "day": "2024-01-05",
    },
    "web/adr/0004-d": {"title": "Undated", "type": "RFC", "status": "accepted"},
}  # fmt: skip
A, B, C, D = RECORDS


@pytest.fixture
def four(archive):
    return archive({**RECORDS, "web/_project.yml": "name: The Web Team\n"})


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({}, [B, C, A, D]),
        ({"project": "sre"}, [B, A]),
        ({"project": " SRE "}, [B, A]),
        ({"type": "rfc"}, [B, D]),
        ({"type": "Adr"}, [C, A]),
        ({"status": "ACCEPTED"}, [A, D]),
        ({"status": "in-review"}, [B]),
        ({"tag": "messaging"}, [B, A]),
        ({"tag": "MESSAGING "}, [B, A]),
        ({"tag": "mess"}, []),
        ({"author": "ada"}, [B, A]),
        ({"author": "@ADA"}, [B, A]),
        ({"author": "bob ross"}, [B]),
        ({"author": "carl"}, []),
        ({"current_only": True}, [A, D]),
        ({"current_only": False}, [B, C, A, D]),
        ({"current_only": True, "type": "rfc"}, [D]),
        ({"project": "sre", "status": "accepted", "tag": "x", "author": "ada"}, [A]),
        ({"project": "sre", "status": "superseded"}, []),
        ({"since": "2024-01-05"}, [B, C, A]),
        ({"since": "2024-01-06"}, [B, C]),
        ({"since": "2024-02-01"}, [B, C]),
        ({"since": "2024-03-02"}, []),
        ({"field": "risk=high"}, [A]),
        ({"field": "RISK = HIGH "}, [A]),
        ({"field": "cost=3"}, [A]),
        ({"field": "cost=3.0"}, [A]),
        ({"field": "cost=3.5"}, []),
        ({"field": "on=true"}, [B]),
        ({"field": "on=True"}, [B]),
        ({"field": "on=1"}, []),
        ({"field": "teams=edge"}, [C]),
        ({"field": "teams=core"}, [C]),
        ({"field": "ratio=.5"}, [C]),
        ({"field": "ratio=0.50"}, [C]),
        ({"field": "big=9007199254740993"}, [C]),
        ({"field": "big=9007199254740992"}, []),
        ({"field": "day=2024-01-05"}, [C]),
        ({"query": "kafka"}, [B, C, A]),
        ({"query": " KAFKA "}, [B, C, A]),
        ({"query": "STRASSE"}, [C]),
        ({"query": "mess"}, [B, A]),
        ({"query": "kafka", "project": "web"}, [C]),
        ({"query": "kafka", "current_only": True}, [A]),
        ({"query": "ada"}, []),
        ({"query": "accepted"}, []),
    ],
)
def test_a_search_finds_what_passes_every_filter(four, filters, found):
    result = four.call("search_records", **filters)
    assert [record["id"] for record in result["records"]] == found
    assert result["total"] == len(found)
    assert "matched" not in result


def test_a_project_is_found_by_its_name_too(four):
    assert four.ids(project="the web team") == [C, D]


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("asked", ["NFC", "NFD"])
def test_filters_compare_text_however_its_letters_are_composed(archive, form, asked):
    words = {"status": "Größe", "tags": ["größe"], "authors": ["größe"], "größe": "größe"}
    made = {
        unicodedata.normalize(form, k): json.loads(
            unicodedata.normalize(form, json.dumps(v, ensure_ascii=False))
        )
        for k, v in {**words, "type": "größe", "body": "Die Größe.\n"}.items()
    }
    opened = archive({unicodedata.normalize(form, "größe/adr/0001-x"): made})
    value = unicodedata.normalize(asked, "GRÖßE")
    for name in ("project", "type", "status", "tag", "author", "query"):
        assert opened.call("search_records", **{name: value})["total"] == 1, name
    assert opened.call("search_records", field=f"{value}={value}")["total"] == 1


@pytest.mark.parametrize(
    ("written", "asked"),
    [("ß", "SS"), ("ẞ", "ß"), ("İ", "İ"), ("Σς", "σΣ"), ("ﬁ", "FI"), ("K", "k"), ("Ǆ", "ǆ")],
)
def test_case_is_folded_as_unicode_says(archive, written, asked):
    opened = archive(one(tags=[written], body=f"x{written}y\n"))
    assert opened.call("search_records", tag=asked)["total"] == 1
    assert opened.call("search_records", query=f"x{asked}Y")["total"] == 1


def test_a_search_finds_emoji(archive):
    opened = archive(one(title="🧑‍💻 at work", body="🎉\n"))
    assert opened.call("search_records", query="🧑‍💻")["total"] == 1
    assert opened.call("search_records", query="🎉")["total"] == 1


@pytest.mark.parametrize("query", [".*", "[", "(a+)+$", "\\", '"', "%", "\x00", "a" * 100_000])
def test_a_query_is_taken_literally(four, query):
    assert four.call("search_records", query=query)["total"] == 0


def test_a_field_without_a_value_is_found_by_nothing_behind_the_sign(archive):
    opened = archive({"a/adr/1-x": "---\nowner:\n---\n", "a/adr/2-y": {"owner": "z"}})
    assert opened.ids(field="owner=") == ["a/adr/1-x"]


def test_a_field_is_found_under_every_spelling_of_its_name(archive):
    opened = archive(one(ownerTeam="core"))
    for name in ("ownerTeam", "owner_team", "owner-team", "OWNER TEAM"):
        assert opened.ids(field=f"{name}=core") == ["a/adr/0001-x"]


def test_a_value_of_a_field_may_hold_an_equals_sign(archive):
    assert archive(one(link="https://x.example/?a=b")).ids(field="link=https://x.example/?a=b") == [
        "a/adr/0001-x"
    ]


@pytest.mark.parametrize("field", ["risk", "risk: high", "=high", " = "])
def test_a_field_without_name_and_value_is_a_tool_error(four, field):
    assert "name=value" in four.error("search_records", field=field)


@pytest.mark.parametrize("since", ["yesterday", "2024-02-30", "05.01.2024", "2024"])
def test_since_that_is_no_day_is_a_tool_error(four, since):
    assert "YYYY-MM-DD" in four.error("search_records", since=since)


# search_records: all words


def test_several_words_are_looked_for_one_by_one_where_the_phrase_matches_nothing(four):
    result = four.call("search_records", query="topics QUEUES  messaging")
    assert [record["id"] for record in result["records"]] == [B]
    assert result["matched"] == "all words"


def test_all_words_may_stand_in_title_tags_and_body_together(four):
    result = four.call("search_records", query="body straße")
    assert [record["id"] for record in result["records"]] == [C]
    assert result["matched"] == "all words"


def test_a_phrase_that_matches_is_not_taken_apart(four):
    result = four.call("search_records", query="kafka topics")
    assert [record["id"] for record in result["records"]] == [B]
    assert "matched" not in result


def test_words_are_looked_for_within_the_same_filters(four):
    assert four.call("search_records", query="queues topics", project="web")["total"] == 0


def test_words_that_nothing_holds_all_of_find_nothing(four):
    result = four.call("search_records", query="kafka zebra")
    assert (result["total"], result["records"]) == (0, [])
    assert "matched" not in result


# search_records: order and pages


def test_records_come_newest_first_undated_last_and_equal_dates_by_id(archive):
    dates = {
        "b/adr/1-x": "2024-02-01", "a/adr/2-x": "2024-02-01", "a/adr/1-x": "2024-02-01",
        "c/adr/1-x": "2024-02", "c/adr/2-x": "2024-02-29", "d/adr/1-x": "2024-01-31",
        "e/adr/2-x": None, "e/adr/1-x": "TBD", "f/adr/1-x": "2025-01-01",
    }  # fmt: skip
    opened = archive({key: {"date": date} for key, date in dates.items()})
    assert [key.replace("/adr", "").replace("-x", "") for key in opened.ids()] == (
        words("f/1 c/2 a/1 a/2 b/1 c/1 d/1 e/1 e/2")
    )


def test_pages_together_are_the_whole_list(sample):
    whole = sample.ids(limit=200)
    pages = []
    for offset in range(0, len(whole) + 7, 7):
        page = sample.call("search_records", limit=7, offset=offset)
        assert (page["total"], page["offset"], page["limit"]) == (len(whole), offset, 7)
        pages += [record["id"] for record in page["records"]]
    assert pages == whole


def test_a_page_holds_20_records_unless_told_otherwise(sample):
    result = sample.call("search_records")
    assert (result["offset"], result["limit"], len(result["records"])) == (0, 20, 20)
    assert result["total"] > 20


@pytest.mark.parametrize("offset", [10**6, 10**30])
def test_a_page_behind_the_end_is_empty(sample, offset):
    result = sample.call("search_records", offset=offset)
    assert (result["records"], result["offset"]) == ([], offset)


def test_at_most_200_records_come_at_once(archive):
    opened = archive({f"a/adr/{n:04}-x": {"title": "X"} for n in range(230)})
    result = opened.call("search_records", limit=1000)
    assert (result["total"], result["limit"], len(result["records"])) == (230, 200, 200)


def test_a_default_page_is_small(server):
    assert len(server.call_text("search_records").encode()) < 12_000


def test_a_summary_has_these_members_in_this_order(sample):
    record = sample.call("search_records", query="Kafka as the log")["records"][0]
    assert list(record) == words("id ref title status date project type tags description fields")


def test_the_sample_is_summed_up_as_an_independent_reader_does(server, published):
    rows = server.call("search_records", limit=200)["records"]
    assert {row["id"] for row in rows} == set(published)
    for row in rows:
        other = published[row["id"]]
        successors = row.pop("supersededBy", [])
        assert row == {key: other[key] for key in row}
        assert set(other["supersededBy"]) <= set(successors)


# search_records: warnings


@pytest.mark.parametrize(
    ("filters", "warning"),
    [
        (
            {"status": "acepted"},
            'No record has the status "acepted". '
            "Statuses: accepted (2), in-review (1), superseded (1)",
        ),
        ({"project": "srr"}, 'No record has the project "srr". Projects: sre (2), web (2)'),
        ({"type": "adrs"}, 'No record has the type "adrs". Types: adr (2), RFC (1)'),
        ({"tag": "mesaging"}, 'No record has the tag "mesaging". Tags: Messaging (2), x (1)'),
        ({"author": "adda"}, 'No record has the author "adda". Authors: '),
        ({"field": "risk=hgh"}, 'No record has the field value "risk=hgh". Values: High (1)'),
        ({"field": "rsik=high"}, 'No record has the field "rsik". Fields: risk (2)'),
    ],
)
def test_a_value_that_exists_nowhere_is_a_warning_with_the_nearest(four, filters, warning):
    result = four.call("search_records", **filters)
    assert result["total"] == 0
    (found,) = result["warnings"]
    if "type" not in filters:
        assert found.startswith(warning)
    assert found.startswith(warning.partition(". ")[0])
    assert "(2)" in found or "(1)" in found


def test_each_filter_has_a_warning_of_its_own(four):
    warnings = four.warnings(status="x", tag="y", author="z", field="q=1", project="p", type="t")
    assert len(warnings) == 6


def test_a_filter_of_values_that_exist_is_no_warning_where_they_do_not_meet(four):
    assert four.warnings(project="sre", status="superseded") == []


def test_a_project_without_records_is_no_warning(archive):
    opened = archive({**one(title="X"), "b/_project.yml": "name: B\n"})
    assert opened.warnings(project="b") == []
    assert opened.call("search_records", project="b")["total"] == 0


def test_a_warning_about_a_value_that_no_record_states_says_so(archive):
    (warning,) = archive(one(title="X")).warnings(tag="x")
    assert warning.startswith('No record has the tag "x".')


@pytest.mark.parametrize("tool", ["list_tags", "list_authors", "due_reviews"])
def test_an_unknown_project_is_a_warning_in_every_tool(four, tool):
    (warning,) = four.warnings(tool, project="srr")
    assert warning == 'No record has the project "srr". Projects: sre (2), web (2)'


def test_a_warning_shows_no_control_characters(archive):
    opened = archive(one(tags=["a\x1b[31mb"]))
    (warning,) = opened.warnings(tag="a\x1b[31mc")
    assert warning.isprintable()


def test_endless_values_are_compared_and_shown_in_no_time(archive):
    opened = archive({f"a/adr/{n}-x": {"tags": [f"{n}ab" * 50_000]} for n in range(5)})
    (warning,) = opened.warnings(tag="ba" * 75_000)
    assert len(warning) < 1000


# get_record


def test_the_members_of_a_record(sample):
    found = sample.get("payments/adr/0007-kafka-as-the-payment-event-log")
    assert list(found) == words(
        "id ref title status date project type description tags authors deciders fields "
        "related current review reviewers rfcReview supersedes supersededBy currentRecord "
        "url path body"
    )


def test_every_record_of_the_sample_is_what_an_independent_reader_says(server, published):
    for record_id, other in published.items():
        found = server.call("get_record", id=record_id)
        links = {key: [link["id"] for link in found[key]] for key in ("supersedes", "supersededBy")}
        plain = {
            key: found[key]
            for key in other
            if key not in ("supersedes", "supersededBy", "markdown")
        }
        assert plain == {key: other[key] for key in plain}
        assert set(other["supersedes"]) <= set(links["supersedes"])
        assert set(other["supersededBy"]) <= set(links["supersededBy"])
        text = (SAMPLE / found["path"]).read_bytes().decode("utf-8")
        assert text.endswith(found["body"])
        assert text[: len(text) - len(found["body"])].count("---\n") == 2


def test_the_text_of_a_record_is_yaml_that_reads_back_then_its_body(archive):
    words = ["yes", "no", "null", "~", "1", "0x1F", "1e3", "2024-01-05", "12:30:00", ".inf", ""]
    words += ["- x", "a: b", "# c", "'q'", '"q"', "@a", "`b`", "%c", "&d", "*e", "!f", "|", ">"]
    words += [" lead", "trail ", "two\nlines", "tab\there", "=", "<<", "é", "🎉", "\x07", "0o17"]
    opened = archive(one(title="a: b # c", words=words, deep={"x": {"y: z": [[1, None], {}]}}))
    found = opened.get("a/adr/1")  # the client's side of the test reads the block again
    assert found["fields"]["words"] == words
    assert found["fields"]["deep"] == {"x": {"y: z": [[1, None], {}]}}


def test_structured_content_and_text_are_both_whole(server):
    result = server.call_result("get_record", {"id": "payments/adr/1"})
    body = result["structuredContent"]["body"]
    assert body
    assert result["content"][0]["text"].endswith(f"\n---\n\n{body}")


# Long bodies


def read_on(opened, record_id):
    """Return the parts in which a long body comes, following ``bodyTruncated``."""
    parts, offset = [], 0
    while True:
        found = opened.get(record_id, body_offset=offset)
        parts.append(found["body"])
        if "bodyTruncated" not in found:
            return parts
        assert found["bodyTruncated"]["shown"] == offset + len(found["body"])
        assert found["bodyTruncated"]["shown"] > offset
        text = opened.text("get_record", id=record_id, body_offset=offset)
        offset = found["bodyTruncated"]["shown"]
        assert re.fullmatch(rf"\[.* body_offset {offset}\]", text.rpartition("\n")[2])


LINE = "A line of ordinary words, long enough to be cut behind.\n"


@pytest.mark.parametrize(
    "body",
    [
        LINE * 40_000,
        LINE.replace("\n", "\r\n") * 20_000,
        'Größe 🎉 \\ "quoted" \t\n' * 60_000,
        "\x01" * 124_000,
        "🎉" * 300_000,
        "x" * 1_200_000,
        "\n" * 700_000,
        "\u2028\x85" * 100_000,
    ],
    ids=["lines", "crlf", "mixed", "control", "emoji", "one-line", "newlines", "separators"],
)
def test_a_body_too_long_for_one_answer_is_read_on_to_its_end(archive, body):
    parts = read_on(archive(one(title="X", body=body)), "a/adr/1")
    assert "".join(parts) == body
    assert len(parts) < 12


def test_a_long_body_is_cut_at_line_ends(archive):
    parts = read_on(archive(one(title="X", body=LINE * 40_000)), "a/adr/1")
    assert len(parts) > 1
    assert all(part.endswith("\n") for part in parts)
    assert len(parts[0]) > 300_000


def test_a_cut_body_says_how_many_of_its_characters_were_shown(archive):
    body = LINE * 40_000
    found = archive(one(title="X", body=body)).get("a/adr/1")
    assert found["bodyTruncated"] == {"shown": len(found["body"]), "total": len(body)}


def test_a_body_that_fits_is_whole(archive):
    assert "bodyTruncated" not in archive(one(title="X", body=LINE * 5000)).get("a/adr/1")


def test_a_body_may_be_read_from_any_character_on(archive):
    opened = archive(one(title="X", body="0123456789🎉é"))
    assert opened.get("a/adr/1", body_offset=10)["body"] == "🎉é"
    assert opened.get("a/adr/1", body_offset=11)["body"] == "é"
    assert opened.get("a/adr/1", body_offset=10**30)["body"] == ""


# Long lists and long fields


def test_a_list_that_would_pass_one_megabyte_is_cut_with_a_warning(archive):
    opened = archive({f"a/adr/{n:04}-x": {"description": "é" * 5000} for n in range(200)})
    result = opened.call("search_records", limit=200)
    assert result["total"] == 200
    assert 20 < len(result["records"]) < 200
    assert f"offset {len(result['records'])}" in result["warnings"][0]


@pytest.mark.parametrize("filling", ["🎉", "\x01", '"', "\\", "x"])
def test_an_answer_line_is_short_whatever_it_holds(archive, filling):
    opened = archive({f"a/adr/{n:04}-x": {"description": filling * 4000} for n in range(60)})
    for tool in ("search_records", "rfc_reviews"):
        opened.call(tool, limit=200)  # the client's side of the test measures the line


def test_pages_of_a_cut_list_lead_to_its_end(archive):
    opened = archive({f"a/adr/{n:04}-x": {"description": "é" * 5000} for n in range(200)})
    seen = []
    while len(seen) < 200:
        page = opened.ids(limit=200, offset=len(seen))
        assert page
        seen += page
    assert len(set(seen)) == 200


def test_tags_too_many_for_one_answer_are_cut_with_a_warning(archive):
    opened = archive(
        {
            f"a/adr/{n:04}-x": {"tags": [f"t{n}-{i}-{'x' * 40}" for i in range(300)]}
            for n in range(40)
        }
    )
    result = opened.call("list_tags")
    assert 1000 < len(result["tags"]) < 12_000
    assert "1 MB" in result["warnings"][0]


@pytest.mark.parametrize("tool", ["search_records", "due_reviews"])
def test_one_record_too_long_for_a_list_does_not_hide_the_others(archive, tool):
    many = {f"a/adr/{n:04}-x": {"date": f"2024-01-{n:02}"} for n in (1, 3)}
    many["a/adr/0002-long"] = {"date": "2024-01-02", "title": "L", "description": "y" * 700_000}
    for front in many.values():
        front.update(status="accepted", review_by="2026-12-01")
    opened = archive(many)
    result = opened.call(tool)
    assert sorted(row["id"] for row in result["records"]) == sorted(many)
    assert [w for w in result["warnings"] if "a/adr/0002-long" in w]


def test_a_record_with_a_field_too_long_for_an_answer_is_answered_with_a_warning(archive):
    opened = archive(one(title="X", description="y" * 500_000, note=["z" * 400_000], body="text\n"))
    found = opened.get("a/adr/1")
    assert found["title"] == "X"
    assert found["body"] == "text\n"
    assert found["warnings"]


def test_a_record_with_very_many_dead_links_is_answered(archive):
    opened = archive(one(title="X", related=[f"nowhere-{n}-{'x' * 100}" for n in range(5000)]))
    assert opened.get("a/adr/1")["title"] == "X"


# list_tags and list_authors


def test_tags_come_most_used_first_then_by_name(archive):
    tags = [["b", "c", "a"], ["c", "a"], ["a"], ["b"], ["z"]]
    opened = archive({f"a/adr/{n}-x": {"tags": t} for n, t in enumerate(tags)})
    assert [(t["name"], t["count"]) for t in opened.call("list_tags")["tags"]] == [
        ("a", 3), ("b", 2), ("c", 2), ("z", 1),
    ]  # fmt: skip


def test_spellings_that_differ_in_case_are_one_under_the_most_frequent(archive):
    tags = [["Kafka"], ["kafka"], ["kafka"], ["KAFKA", "kafka"], ["straße"], ["STRASSE"]]
    opened = archive({f"a/adr/{n}-x": {"tags": t} for n, t in enumerate(tags)})
    rows = opened.call("list_tags")["tags"]
    assert [(row["name"], row["count"]) for row in rows] == [("kafka", 4), ("STRASSE", 2)]


def test_a_tag_stated_twice_by_a_record_counts_once(archive):
    assert archive(one(tags=["a", "A", "a"])).call("list_tags")["tags"] == [
        {"name": "a", "count": 1}
    ]


def test_authors_come_from_authors_alone(archive):
    opened = archive(one(authors=["@ada"], deciders=["bob"], reviewers=["carl"]))
    assert opened.call("list_authors")["authors"] == [{"name": "@ada", "count": 1}]


def test_handles_with_and_without_an_at_sign_are_one_author(archive):
    names = [["@ada"], ["Ada"], ["@ada", "ada"], ["bob"]]
    opened = archive({f"a/adr/{n}-x": {"authors": a} for n, a in enumerate(names)})
    assert opened.call("list_authors")["authors"] == [
        {"name": "@ada", "count": 3},
        {"name": "bob", "count": 1},
    ]


@pytest.mark.parametrize("project", [None, "payments", "PLATFORM", "Storefront"])
@pytest.mark.parametrize(("tool", "kind"), [("list_authors", "author"), ("list_tags", "tag")])
def test_counts_are_the_totals_of_searches(sample, project, tool, kind):
    rows = sample.call(tool, project=project)[f"{kind}s"]
    assert rows
    for row in rows:
        found = sample.call("search_records", project=project, **{kind: row["name"]})
        assert found["total"] == row["count"]


def test_the_authors_of_the_sample_are_counted_as_an_independent_reader_does(server, published):
    for row in server.call("list_authors")["authors"]:
        name = row["name"].lstrip("@")
        wrote = [r for r in published.values() if name in [a.lstrip("@") for a in r["authors"]]]
        assert row["count"] == len(wrote)


# list_fields


def test_declared_fields_are_listed_with_six_members(archive):
    config = {
        "fields": {
            "risk": {"type": "enum", "label": "Risk", "values": ["high", "low"], "default": "low"},
            "cost": {"type": "number", "unit": "EUR", "description": "Yearly"},
            "owner": "string",
        }
    }
    none = {"label": None, "values": [], "unit": None, "description": None}
    result = archive(one(title="X"), config).call("list_fields")
    assert result == {
        "fields": [
            {"name": "risk", **none, "type": "enum", "label": "Risk", "values": ["high", "low"]},
            {"name": "cost", **none, "type": "number", "unit": "EUR", "description": "Yearly"},
            {"name": "owner", **none, "type": "string"},
        ],
        "projects": {},
    }


def test_the_own_fields_of_projects_are_listed_by_project(server):
    result = server.call("list_fields")
    assert [field["name"] for field in result["fields"]] == ["risk", "cost"]
    assert list(result["projects"]) == ["payments"]
    assert [field["name"] for field in result["projects"]["payments"]] == ["pciScope", "schemes"]
    assert list(result["projects"]["payments"][0]) == (
        words("name label type values unit description")
    )


def test_without_declarations_there_are_no_fields(archive):
    assert archive(one(risk="high")).call("list_fields") == {"fields": [], "projects": {}}


# due_reviews


def due(day, **front):
    return {"status": "accepted", "date": "2020-01-01", "reviewBy": day, **front}


DUE = {
    "a/adr/0001-yesterday": due("2026-11-30"),
    "a/adr/0002-today": due("2026-12-01"),
    "a/adr/0003-tomorrow": due("2026-12-02"),
    "b/adr/0004-last-of-window": due("2026-12-31"),
    "b/adr/0005-after-window": due("2027-01-01"),
    "b/adr/0006-long-ago": due("2020-05-05", status="implemented"),
    "b/adr/0007-open": due("2020-01-01", status="proposed"),
    "b/adr/0008-old": due("2020-01-01", status="superseded"),
    "b/adr/0009-unscheduled": {"status": "accepted", "date": "2020-01-01"},
    "b/adr/0010-ad-hoc": {"status": "accepted", "date": "2020-01-01", "review_cadence": "Ad-Hoc"},
}


def numbers(result):
    return [int(row["id"].partition("/adr/")[2][:4]) for row in result["records"]]


def test_reviews_that_are_overdue_or_due_within_30_days_come_soonest_first(archive):
    result = archive(DUE).call("due_reviews")
    assert numbers(result) == [6, 1, 2, 3, 4]
    assert {k: v for k, v in result.items() if k != "records"} == {
        "today": TODAY, "within": 30, "total": 5, "offset": 0, "limit": 100,
    }  # fmt: skip


def test_a_review_is_overdue_from_the_day_after(archive):
    rows = archive(DUE).call("due_reviews")["records"]
    assert [row["overdue"] for row in rows] == [True, True, False, False, False]


@pytest.mark.parametrize(
    ("within", "found"), [(0, [6, 1, 2]), (1, [6, 1, 2, 3]), (31, [6, 1, 2, 3, 4, 5])]
)
def test_the_window_is_counted_in_days(archive, within, found):
    result = archive(DUE).call("due_reviews", within=within)
    assert numbers(result) == found
    assert result["within"] == within


@pytest.mark.parametrize("arguments", [{"all": True}, {"within": 10**6}, {"within": 10**30}])
def test_all_lifts_the_window_alone(archive, arguments):
    assert numbers(archive(DUE).call("due_reviews", **arguments)) == [6, 1, 2, 3, 4, 5]


def test_reviews_of_one_project(archive):
    assert numbers(archive(DUE).call("due_reviews", project="B")) == [6, 4]


def test_reviews_come_in_pages(archive):
    result = archive(DUE).call("due_reviews", limit=2, offset=1)
    assert (numbers(result), result["total"], result["offset"], result["limit"]) == (
        [1, 2], 5, 1, 2,
    )  # fmt: skip


def test_a_due_review_is_a_summary_with_review_and_overdue(archive):
    row = archive(DUE).call("due_reviews")["records"][0]
    assert list(row) == (
        words("id ref title status date project type tags description fields review overdue")
    )
    assert row["review"] == {"due": "2020-05-05", "reviewed": None, "every": None}


def test_reviews_due_on_one_day_come_by_id(archive):
    opened = archive({f"{p}/adr/0001-x": due("2026-12-01") for p in "cab"})
    ids = [row["id"] for row in opened.call("due_reviews")["records"]]
    assert ids == ["a/adr/0001-x", "b/adr/0001-x", "c/adr/0001-x"]


@pytest.mark.parametrize(
    "front",
    [
        {"reviewBy": "soonish"},
        {"reviewBy": "2026-02-30"},
        {"date": "TBD", "reviewBy": None, "review_in": "6 months"},
    ],
)
def test_a_review_whose_date_cannot_be_read_is_a_warning_of_the_list(archive, front):
    opened = archive(one(**{"status": "accepted", "date": "2020-01-01", **front}))
    result = opened.call("due_reviews", all=True)
    assert result["total"] == 0
    assert result["warnings"][0].startswith("content/a/adr/0001-x.md:")


def test_the_due_reviews_of_the_sample_are_those_of_an_independent_reader(server, published):
    rows = server.call("due_reviews", all=True)["records"]
    current = [r for r in published.values() if r["status"] in ("accepted", "implemented")]
    scheduled = {r["id"]: r["review"] for r in current if r["review"] and r["review"]["due"]}
    assert {row["id"]: row["review"] for row in rows} == scheduled
    assert [row["review"]["due"] for row in rows] == sorted(r["due"] for r in scheduled.values())
    assert all(row["overdue"] is (row["review"]["due"] < TODAY) for row in rows)


# rfc_reviews

OPEN = {
    "a/rfc/0001-x": {"status": "proposed", "date": "2024-01-01", "reviewers": ["@Ada", "@bob"]},
    "a/rfc/0002-y": {
        "status": "in-review", "date": "2024-02-01",
        "reviewers": [
            {"name": "@ada", "state": "approved"}, {"name": "carl", "state": "commented"},
        ],
    },
    "a/rfc/0003-no-reviewers": {"status": "proposed"},
    "a/rfc/0004-decided": {"status": "accepted", "reviewers": ["@ada"]},
    "a/rfc/0005-approved": {
        "status": "proposed", "date": "2023-01-01", "requiredApprovals": 1,
        "reviewers": ["@ada: approved", "@bob"],
    },
}  # fmt: skip


def test_open_records_with_reviewers_are_listed(archive):
    result = archive(OPEN).call("rfc_reviews")
    assert [row["id"] for row in result["records"]] == [
        "a/rfc/0002-y", "a/rfc/0001-x", "a/rfc/0005-approved",
    ]  # fmt: skip
    assert (result["total"], result["offset"], result["limit"]) == (3, 0, 100)
    assert result["records"][0] == {
        "id": "a/rfc/0002-y",
        "ref": "A-RFC-0002",
        "title": "0002-y",
        "status": "in-review",
        "reviewers": [{"name": "ada", "state": "approved"}, {"name": "carl", "state": "commented"}],
        "rfcReview": {"status": "pending", "approved": 1, "required": 2, "waitingOn": ["carl"]},
    }


@pytest.mark.parametrize(
    ("reviewer", "found"),
    [
        ("ada", ["a/rfc/0001-x"]),
        ("@ADA ", ["a/rfc/0001-x"]),
        ("bob", ["a/rfc/0001-x"]),
        ("@Carl", ["a/rfc/0002-y"]),
    ],
)
def test_with_a_reviewer_only_what_waits_on_that_person_is_listed(archive, reviewer, found):
    result = archive(OPEN).call("rfc_reviews", reviewer=reviewer)
    assert [row["id"] for row in result["records"]] == found
    assert result["total"] == len(found)


def test_a_reviewer_that_nobody_waits_on_is_no_warning(archive):
    only = {"a/rfc/0002-y": OPEN["a/rfc/0002-y"]}
    result = archive(only).call("rfc_reviews", reviewer="ada")
    assert result == {"total": 0, "offset": 0, "limit": 100, "records": []}


def test_an_unknown_reviewer_is_a_warning_with_the_nearest(archive):
    (warning,) = archive(OPEN).warnings("rfc_reviews", reviewer="@adda")
    assert warning.startswith('No record has the reviewer "@adda". Reviewers: ')
    assert "(3)" in warning or "ada" in warning.lower()


def test_rfc_reviews_come_in_pages(archive):
    result = archive(OPEN).call("rfc_reviews", limit=1, offset=1)
    assert [row["id"] for row in result["records"]] == ["a/rfc/0001-x"]
    assert (result["total"], result["offset"], result["limit"]) == (3, 1, 1)


def test_the_open_reviews_of_the_sample_are_those_of_an_independent_reader(server, published):
    rows = server.call("rfc_reviews")["records"]
    is_open = ("draft", "proposed", "in-review")
    expected = {
        key: (r["reviewers"], r["rfcReview"])
        for key, r in published.items()
        if r["status"] in is_open and r["rfcReview"]
    }
    assert {row["id"]: (row["reviewers"], row["rfcReview"]) for row in rows} == expected


# Both kinds of archive in one process, and the whole of the data


def test_results_name_no_member_that_their_schema_does_not(sample):
    assert closed({"type": "object", "properties": {}})["additionalProperties"] is False
    for tool in LISTS:
        sample.call(tool)


def test_a_failed_tool_is_raised_by_the_client(server):
    with pytest.raises(ToolError, match="limit"):
        server.call("search_records", limit=0)


def test_reading_changes_no_answer(sample):
    before = [sample.call(tool) for tool in LISTS]
    sample.ids(query="a phrase that stands nowhere")
    assert [sample.call(tool) for tool in LISTS] == before


def test_the_limit_of_an_answer_is_one_megabyte():
    assert MAX_ANSWER_BYTES == 1_000_000


def test_a_record_written_as_json_values_is_what_the_tests_mean(tmp_path):
    text = record_source("body", title="X", tags=["a"])
    assert text == '---\ntitle: "X"\ntags: ["a"]\n---\nbody'
    assert DATA.is_dir()
