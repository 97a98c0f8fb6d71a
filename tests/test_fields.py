"""Custom fields: how they are declared, and how values are read by their declarations."""

from __future__ import annotations

import math

import pytest

from inkan_mcp import (
    Declaration,
    FieldSet,
    Origin,
    Rules,
    checked_value,
    fold_key,
    parse_declarations,
    parse_number,
    parse_review,
    parse_reviewers,
    record_from_fields,
)


def declare(value):
    notes = []
    return parse_declarations(value, lambda name, sentence: notes.append((name, sentence))), notes


def one(detail):
    declared, notes = declare({"x": detail})
    assert notes == []
    return declared["x"]


def check(detail, value):
    notes = []
    return checked_value(one(detail), value, notes.append), notes


def six(declaration):
    return {
        key: getattr(declaration, key)
        for key in ("name", "label", "type", "values", "unit", "description")
    }


WORDS = {
    "string": "string str text markdown slug uuid",
    "number": "number float decimal int integer money currency Number",
    "boolean": "boolean bool checkbox toggle flag",
    "date": "date datetime date-time timestamp day",
    "url": "url uri link href URL",
    "enum": "enum select choice choices option oneOf",
    "list": "list array multi multiselect multi-select tags string[] list<string> array<number>",
    "user": "user person people owner",
    "reference": "reference ref relation record",
}


@pytest.mark.parametrize(("kind", "word"), [(k, word) for k in WORDS for word in WORDS[k].split()])
def test_a_type_word_is_known(kind, word):
    assert one(word).type == kind
    assert one({"type": word}).type == kind


LEVELS = ["low", "high"]
DECLARATIONS = [
    ("null", None, "string", []),
    ("empty", {}, "string", []),
    ("values alone", LEVELS, "enum", LEVELS),
    ("bars", "low | high", "enum", LEVELS),
    ("enum", {"type": "enum", "values": LEVELS}, "enum", LEVELS),
    ("no type", {"options": LEVELS}, "enum", LEVELS),
    ("choices", {"type": "choice", "choices": LEVELS}, "enum", LEVELS),
    ("allowed", {"allowed": LEVELS}, "enum", LEVELS),
    ("widget", {"widget": "select", "options": [{"label": "Low", "value": "low"}, "high"]},
     "enum", LEVELS),
    ("pages cms", {"type": "select", "options": {"values": LEVELS}}, "enum", LEVELS),
    ("labels by value", {"type": "enum", "values": {"low": "Low", "high": "High"}}, "enum", LEVELS),
    ("one text", {"type": "enum", "values": "low, high"}, "enum", LEVELS),
    ("json schema", {"type": "string", "enum": LEVELS}, "enum", LEVELS),
    ("json one of", {"oneOf": [{"const": "low", "title": "L"}, {"const": "high"}]}, "enum", LEVELS),
    ("json date", {"type": "string", "format": "date"}, "date", []),
    ("json date-time", {"type": "string", "format": "date-time"}, "date", []),
    ("json uri", {"type": "string", "format": "uri"}, "url", []),
    ("json null", {"type": ["string", "null"]}, "string", []),
    ("json array", {"type": "array", "items": {"type": "string", "enum": LEVELS}}, "list", LEVELS),
    ("items alone", {"items": "number"}, "list", []),
    ("list of enum", {"type": "list", "values": LEVELS}, "list", LEVELS),
    ("list true", {"type": "select", "values": LEVELS, "list": True}, "list", LEVELS),
    ("multiple", {"type": "string", "multiple": True}, "list", []),
    ("many", {"type": "date", "many": True}, "list", []),
    ("numbers", {"type": "integer", "enum": [1, 2]}, "enum", ["1", "2"]),
    ("twice", ["low", "low", "high"], "enum", LEVELS),
    ("optional", "string?", "string", []),
]  # fmt: skip


@pytest.mark.parametrize(
    ("detail", "kind", "values"), [d[1:] for d in DECLARATIONS], ids=[d[0] for d in DECLARATIONS]
)
def test_a_declaration_is_read_in_every_form(detail, kind, values):
    assert (one(detail).type, one(detail).values) == (kind, values)


def test_a_declaration_has_six_members():
    detail = {"type": "number", "label": "Cost", "description": "per year", "unit": "EUR",
              "required": True, "default": 0, "deprecated": False}  # fmt: skip
    assert six(one(detail)) == {
        "name": "x", "label": "Cost", "type": "number", "values": [], "unit": "EUR",
        "description": "per year",
    }  # fmt: skip


def test_members_go_by_other_names_too():
    found = one({"kind": "string", "title": "T", "help": "H", "suffix": "kg"})
    assert (found.label, found.description, found.unit) == ("T", "H", "kg")


@pytest.mark.parametrize(
    "value",
    [
        {"risk": LEVELS, "cost": "number"},
        [{"name": "risk", "values": LEVELS}, {"key": "cost", "type": "number"}],
        [{"id": "risk", "values": LEVELS}, {"cost": "number"}],
        {"type": "object", "properties": {"risk": {"enum": LEVELS}, "cost": {"type": "number"}}},
    ],
    ids=["mapping", "list", "single keys", "json schema"],
)
def test_fields_are_declared_in_a_mapping_or_a_list(value):
    declared, notes = declare(value)
    assert {name: found.type for name, found in declared.items()} == {
        "risk": "enum", "cost": "number",
    }  # fmt: skip
    assert notes == []


def test_a_list_of_names_declares_texts():
    assert [(d.name, d.type) for d in declare(["risk", "cost"])[0].values()] == [
        ("risk", "string"), ("cost", "string"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "name",
    ["title", "description", "status", "date", "authors", "deciders", "tags", "related",
     "supersedes", "supersededBy", "superseded_by", "draft", "type", "Title"],
)  # fmt: skip
def test_a_built_in_name_cannot_be_declared(name):
    declared, notes = declare({name: "string", "risk": "string"})
    assert list(declared) == ["risk"]
    assert notes == [(name, f'the field "{name}" is built in and cannot be declared; rename it')]


@pytest.mark.parametrize("name", ["review", "expires", "owner", "reviewers", "project", "id"])
def test_any_other_name_can_be_declared(name):
    declared, notes = declare({name: "string"})
    assert list(declared) == [name]
    assert notes == []


def test_an_unknown_type_is_text_and_names_the_nearest():
    declared, notes = declare({"risk": "enm"})
    assert declared["risk"].type == "string"
    assert notes == [
        ("risk", 'the field "risk" has the type "enm", which is unknown and read as text; '
                 "did you mean enum?")
    ]  # fmt: skip


@pytest.mark.parametrize(
    "value",
    [5, "text", True, {"x": 5}, {"x": True}, {"x": {"type": {"a": 1}}}, {"x": {"values": [[1, 2]]}},
     [{"type": "string", "label": "nameless"}], [[1]], {"a b": "string", "a_b": "string"}],
    ids=str,
)  # fmt: skip
def test_what_cannot_be_read_as_a_declaration_is_noted(value):
    assert len(declare(value)[1]) == 1


@pytest.mark.parametrize("value", [None, "", {}, []], ids=str)
def test_no_declarations_are_no_fault(value):
    assert declare(value) == ({}, [])


LEVEL = {"values": [{"value": "very-high", "label": "Very high!"}, "low", "no"]}
COST = {"type": "number", "unit": "EUR"}
VALUES = [
    ("enum", LEVEL, "low", "low"),
    ("enum case", LEVEL, "LOW", "low"),
    ("enum spelling", LEVEL, "Very High", "very-high"),
    ("enum label", LEVEL, "very high!", "very-high"),
    ("enum boolean", LEVEL, False, "no"),
    ("enum without values", "enum", "any", "any"),
    ("enum number", {"type": "integer", "enum": [1, 2]}, 2, 2),
    ("number", COST, 5, 5),
    ("fraction", COST, 1.5, 1.5),
    ("text", COST, "12", 12),
    ("unit", COST, "1 200 EUR", 1200),
    ("unit before", COST, "EUR 1,200", 1200),
    ("unit case", COST, "1200eur", 1200),
    ("comma", COST, "1,200", 1200),
    ("commas", COST, "1,200,000.50", 1200000.5),
    ("apostrophe", COST, "1'200", 1200),
    ("narrow space", COST, "1\u202f200", 1200),
    ("negative", COST, "-3.5", -3.5),
    ("exponent", COST, "1e3", 1000.0),
    ("percent", {"type": "number", "unit": "%"}, "90 %", 90),
    ("days", {"type": "integer", "unit": "days"}, "1 day", 1),
    ("day", {"type": "integer", "unit": "day"}, "3 days", 3),
    ("integral", "integer", 2.0, 2),
    ("within", {"type": "number", "min": 1, "max": 5}, 5, 5),
    ("true", "boolean", True, True),
    ("yes", "boolean", "Yes", True),
    ("on", "boolean", "on", True),
    ("text true", "boolean", "true", True),
    ("no", "boolean", "no", False),
    ("off", "boolean", "OFF", False),
    ("date", "date", "2024-1-5", "2024-01-05"),
    ("time", "datetime", "2024-01-05T10:00:00Z", "2024-01-05"),
    ("month", "date", "2024-01", "2024-01"),
    ("https", "url", "https://x.org/a b".replace(" ", "%20"), "https://x.org/a%20b"),
    ("mailto", "url", "mailto:a@x.org", "mailto:a@x.org"),
    ("www", "url", "www.x.org", "www.x.org"),
    ("path", "url", "/a/b", "/a/b"),
    ("list", "list", ["a", "b"], ["a", "b"]),
    ("scalar", "list", "a", ["a"]),
    ("number as list", {"type": "list", "items": "number"}, 5, [5]),
    ("commas in a list", "list", "a, b ,c", ["a", "b", "c"]),
    ("list of numbers", "number[]", ["1", 2, None], [1, 2]),
    ("list of levels", {**LEVEL, "list": True}, "LOW, Very High", ["low", "very-high"]),
    ("text", "string", "a", "a"),
    ("text of a number", "string", 1.1, "1.1"),
    ("text of true", "string", True, "true"),
    ("user", "user", "@ana", "@ana"),
    ("people", "people", ["@ana", "@bo"], ["@ana", "@bo"]),
    ("reference", "reference", "ADR-6", "ADR-6"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("detail", "value", "expected"), [v[1:] for v in VALUES], ids=[v[0] for v in VALUES]
)
def test_a_value_is_read_by_its_declaration(detail, value, expected):
    found, notes = check(detail, value)
    assert found == expected
    assert type(found) is type(expected)
    assert notes == []


UNFIT = [
    ("enum", LEVEL, "medium"),
    ("number", COST, "cheap"),
    ("other unit", COST, "1200 USD"),
    ("decimal comma", COST, "1,5"),
    ("mixed separators", COST, "1,200 300"),
    ("boolean as number", COST, True),
    ("nan", COST, "nan"),
    ("infinite", COST, math.inf),
    ("too large", COST, "1e999"),
    ("unicode digits", COST, "١٢"),
    ("endless", COST, "9" * 5000),
    ("fraction", "integer", 2.5),
    ("below", {"type": "number", "min": 1}, 0),
    ("above", {"type": "number", "maximum": 5}, "6"),
    ("boolean", "boolean", "maybe"),
    ("one", "boolean", 1),
    ("date", "date", "soon"),
    ("no day", "date", "2025-02-30"),
    ("url", "url", "x.org"),
    ("words", "url", "see: the wiki"),
    ("list for text", "string", ["a"]),
    ("mapping for text", "string", {"a": 1}),
    ("mapping for list", "list", {"a": 1}),
]


@pytest.mark.parametrize(("detail", "value"), [u[1:] for u in UNFIT], ids=[u[0] for u in UNFIT])
def test_a_value_that_does_not_fit_is_kept_and_noted(detail, value):
    found, notes = check(detail, value)
    assert found == value
    assert len(notes) == 1


def test_an_item_that_does_not_fit_is_kept_among_the_others():
    found, notes = check({"type": "array", "items": "integer"}, [1, "two", [3], "4"])
    assert found == [1, "two", [3], 4]
    assert len(notes) == 2


def test_a_value_outside_an_enum_names_the_nearest():
    assert check(LEVEL, "lo")[1] == [
        'x is "lo", which does not fit its type enum; did you mean low?'
    ]
    assert check(LEVEL, "42")[1] == [
        'x is "42", which does not fit its type enum; write one of very-high, low, no'
    ]


@pytest.mark.parametrize(
    ("text", "number"),
    [("0", 0), ("+7", 7), ("1_000", 1000), (".5", 0.5), ("5.", 5.0), ("12,34", None),
     ("1,234,56", None), ("", None), ("-", None), ("1 2", None), ("0x10", None), ("1,", None)],
)  # fmt: skip
def test_numbers_are_read_as_people_write_them(text, number):
    assert parse_number(text) == number


def test_a_record_answers_declared_fields_checked_and_others_as_written():
    declared = {
        fold_key(name): found
        for name, found in declare({"risk": LEVELS, "cost": COST, "review": "string"})[0].items()
    }
    fields = FieldSet(
        {"Risk": "HIGH", "cost": "1 200 EUR", "review": "2027-01-01", "team": "x",
         "fields": {"area": 5}},
        declared,
    )  # fmt: skip
    record = record_from_fields(fields, Origin("a/adr/0001-x", "x.md"), Rules(declared=declared))
    assert record.fields == {
        "Risk": "high", "cost": 1200, "review": "2027-01-01", "team": "x", "area": 5,
    }  # fmt: skip
    assert record.review is None


def test_a_value_that_does_not_fit_is_noted_at_its_key():
    declared = {"risk": declare({"risk": LEVELS})[0]["risk"]}
    fields = FieldSet({"Risk": "hihg"}, declared)
    record_from_fields(fields, Origin("a/adr/0001-x", "x.md"), Rules(declared=declared))
    assert [(key, kind) for key, kind, _ in fields.notes] == [("Risk", "value")]


def deep(levels, wrap):
    value = "x"
    for _ in range(levels):
        value = wrap(value)
    return value


@pytest.mark.parametrize("wrap", [lambda v: [v], lambda v: {"name": v}, lambda v: {"@a": [v]}])
@pytest.mark.parametrize(
    "key", ["review", "reviewers", "review-by", "review-in", "reviews", "quorum", "approvals"]
)
def test_deep_nesting_is_no_fault(key, wrap):
    fields = FieldSet({key: deep(5000, wrap), "approvers": ["@a"]})
    parse_review(fields, None, None)
    parse_reviewers(fields)


@pytest.mark.parametrize("wrap", [lambda v: [v], lambda v: {"x": v}])
def test_deep_declarations_and_values_are_no_fault(wrap):
    declared, _ = declare({"x": deep(5000, wrap), "y": {"values": deep(5000, wrap)}})
    for kind in ("string", "list", "number"):
        checked_value(Declaration("x", kind), deep(5000, wrap), lambda sentence: None)
    assert list(declared) == ["x", "y"]


REVIEW_KEYS = ["review", "review-by", "reviewed", "review-date", "review-in", "review-after-days",
               "ms.date", "expires", "revisit"]  # fmt: skip
PEOPLE_KEYS = ["reviewers", "reviews", "approvers", "approvals", "approvedBy", "objections",
               "rejected-by", "required", "quorum", "requiredApprovals", "rfcReview"]  # fmt: skip
INNER_KEYS = ["due", "last", "by", "date", "every", "name", "user", "state", "approved", "vote",
              "required", "optional", "at", "@ana", "type", "values", "items", "list", "unit",
              "min", "approvals", "format", "options", "label"]  # fmt: skip
SAMPLES = ["", "@ana", "@a @b", "2026-01-01", "2026-02", "0000-00-00", "9999-12", "12/31/9999",
           "P1Y", "P", "999999999 years", "-1", "90", "approved", "@ana: ✅ (no)", "[x] [a](b) <c>",
           "never",
           "enum", "list<>", "a|b", "yes", "1 200 EUR", "\u0660", "\x00", "\ud800"]  # fmt: skip


def arbitrary():
    strategies = pytest.importorskip("hypothesis.strategies")
    scalars = (
        strategies.none() | strategies.booleans() | strategies.integers() | strategies.floats()
        | strategies.sampled_from(SAMPLES) | strategies.text(max_size=12)
    )  # fmt: skip
    keys = strategies.sampled_from(INNER_KEYS) | strategies.text(max_size=6)
    return strategies.recursive(
        scalars,
        lambda inner: (
            strategies.lists(inner, max_size=4) | strategies.dictionaries(keys, inner, max_size=4)
        ),
        max_leaves=12,
    )


def test_no_value_under_any_key_raises():
    hypothesis = pytest.importorskip("hypothesis")
    keys = hypothesis.strategies.sampled_from(REVIEW_KEYS + PEOPLE_KEYS + ["x"])
    mappings = hypothesis.strategies.dictionaries(keys, arbitrary(), max_size=6)
    dates = hypothesis.strategies.sampled_from([None, "2025-01-31", "2025-02", "9999-12-31"])

    @hypothesis.settings(max_examples=400, deadline=None, derandomize=True)
    @hypothesis.given(mappings, dates, arbitrary())
    def body(mapping, date, declaration):
        declared = {fold_key(k): d for k, d in declare({"x": declaration})[0].items()}
        fields = FieldSet(mapping, declared)
        given = {"status": "accepted", "date": date, **mapping}
        record = record_from_fields(
            FieldSet(given, declared), Origin("a/b/1-c", "c"), Rules(declared=declared)
        )
        found = parse_review(fields, date, "6 months")
        assert found is None or found.every or found.due or found.reviewed
        reviewers, _ = parse_reviewers(fields)
        assert (record.approval is None) == (not reviewers)
        assert all(isinstance(sentence, str) for _, _, sentence in fields.notes)

    body()


def test_any_declaration_checks_any_value():
    hypothesis = pytest.importorskip("hypothesis")

    @hypothesis.settings(max_examples=400, deadline=None, derandomize=True)
    @hypothesis.given(arbitrary(), arbitrary())
    def body(declarations, value):
        for declaration in declare({"x": declarations})[0].values():
            notes = []
            found = checked_value(declaration, value, notes.append)
            assert value is None or found is not None
        declare(declarations)

    body()


def test_a_number_too_long_to_write_is_no_fault():
    huge = 16**5000  # TOML may write it as a hexadecimal number
    declared, _ = declare({"x": [huge, 1], "y": huge, "z": {"min": huge}})
    assert declared["x"].values == [hex(huge), "1"]
    assert check("integer", huge) == (huge, [])


@pytest.mark.parametrize("bound", [True, ".nan", math.nan, None, "low"], ids=str)
def test_what_is_no_number_is_no_bound(bound):
    assert one({"type": "number", "min": bound}).minimum is None


def test_values_beyond_all_measure_are_left_out_with_a_note():
    declared, notes = declare({"x": [str(number) for number in range(6000)]})
    assert len(declared["x"].values) == 5000
    assert notes == [("x", 'the field "x" has more than 5,000 values; the rest are left out')]
