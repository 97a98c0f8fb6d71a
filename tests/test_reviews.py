"""Review schedules and reviewers, in the spellings in which people write them."""

from __future__ import annotations

import pytest

from inkan_mcp import (
    FieldSet,
    Origin,
    Rules,
    add_duration,
    approval_of,
    parse_duration,
    parse_review,
    parse_reviewers,
    record_from_fields,
)


def review(mapping, date=None, cycle=None):
    fields = FieldSet(mapping)
    found = parse_review(fields, date, cycle)
    return fields, (found.due, found.reviewed, found.every) if found else None


def people(mapping):
    fields = FieldSet(mapping)
    reviewers, required = parse_reviewers(fields)
    return fields, reviewers, required


def states(mapping):
    return {reviewer.name: reviewer.state for reviewer in people(mapping)[1]}


def approval(mapping, by_type=None):
    _, reviewers, required = people(mapping)
    found = approval_of(reviewers, required if required is not None else by_type)
    return (found.status, found.approved, found.required, found.waiting_on) if found else None


def kinds(fields):
    return [kind for _, kind, _ in fields.notes]


DURATIONS = {
    "P6M": (6, 0), "P90D": (0, 90), "P1Y": (12, 0), "P2W": (0, 14), "P1Y6M": (18, 0),
    "p3m": (3, 0), "P1M2W": (1, 14), "P1DT12H": (0, 1),
    "1 day": (0, 1), "90 days": (0, 90), "2 weeks": (0, 14), "1 months": (1, 0),
    "6 months": (6, 0), "6 month": (6, 0), "2 quarters": (6, 0), "1 year": (12, 0),
    "6m": (6, 0), "6mo": (6, 0), "180d": (0, 180), "2w": (0, 14), "1y": (12, 0),
    "6-month": (6, 0), "1y 6m": (18, 0), "1 year and 6 months": (18, 0),
    "1 year, 2 weeks": (12, 14),
    "every 6 months": (6, 0), "every year": (12, 0), "Every quarter": (3, 0), "six months": (6, 0),
    "a year": (12, 0),
    "30": (0, 30), "90": (0, 90), "29": (29, 0), "6": (6, 0), "12": (12, 0),
    "daily": (0, 1), "weekly": (0, 7), "fortnightly": (0, 14), "biweekly": (0, 14),
    "bi-weekly": (0, 14), "monthly": (1, 0), "bimonthly": (2, 0), "Quarterly": (3, 0),
    "half-yearly": (6, 0), "semiannually": (6, 0), "semi-annual": (6, 0), "annual": (12, 0),
    "Annually": (12, 0), "yearly": (12, 0), "biennial": (24, 0), "biennially": (24, 0),
}  # fmt: skip


@pytest.mark.parametrize("text", DURATIONS)
def test_a_cycle_is_read_in_every_spelling(text):
    assert parse_duration(text) == DURATIONS[text]


@pytest.mark.parametrize(
    "text",
    ["", " ", "0", "P", "PT24H", "P0D", "0 days", "-6 months", "-90", "P-6M", "1.5 years",
     "6 parsecs", "months 6", "6 6 months", "6 months 3", "m", "d", "Ad-Hoc", "event-driven",
     "on-change-of:EV-0175", "on command change", "Anual", "٦ months", "６ months", "٩٠", "²",
     "9" * 5000, "6 " * 5000, "1y" * 5000, "P" + "9" * 5000 + "D", "every", "every and", "every s"],
    ids=lambda text: repr(text[:20]),
)  # fmt: skip
def test_what_is_no_cycle_is_none(text):
    assert parse_duration(text) is None


@pytest.mark.parametrize(
    ("start", "cycle", "due"),
    [
        ("2024-01-31", "1 month", "2024-02-29"),
        ("2025-08-31", "P6M", "2026-02-28"),
        ("2024-02-29", "1y", "2025-02-28"),
        ("2024-12-31", "P1M2W", "2025-02-14"),
        ("2024-12-31", "1d", "2025-01-01"),
        ("9999-12-31", "1 day", None),
        ("2024-01-01", "999999999 years", None),
        ("2024-01-01", "999999999999999999999999 days", None),
    ],
)
def test_months_are_clamped_and_the_calendar_ends(start, cycle, due):
    assert add_duration(start, parse_duration(cycle)) == due


SCHEDULES = [
    # (name, front matter, date of the record, (due, reviewed, every))
    ("gov.uk", {"last_reviewed_on": "2024-01-31", "review_in": "1 month"}, None,
     ("2024-02-29", "2024-01-31", "1 month")),
    ("stated due", {"last-reviewed": "2026-09-01", "review-cycle": "90 days",
                    "next-review": "2026-11-30"}, None, ("2026-11-30", "2026-09-01", "90 days")),
    ("bare number", {"review_cycle": 90, "next_review": "2026-09-09"}, None,
     ("2026-09-09", None, "90")),
    ("camel case", {"reviewBy": "2027-07-18"}, None, ("2027-07-18", None, None)),
    ("nested every", {"review": {"every": "P6M"}}, "2025-08-31", ("2026-02-28", None, "P6M")),
    ("ad hoc", {"review_cadence": "Ad-Hoc", "last_reviewed": "2025-09-30"}, "2025-01-01",
     (None, "2025-09-30", "Ad-Hoc")),
    ("ms.date", {"ms.date": "06/02/2026", "review_in": "6 months"}, None,
     ("2026-12-02", "2026-06-02", "6 months")),
    ("ms.date iso", {"ms.date": "2026-06-02"}, None, (None, "2026-06-02", None)),
    ("month due", {"review_by": "2028-02"}, None, ("2028-02-29", None, None)),
    ("month reviewed", {"last_reviewed": "2028-02"}, None, (None, "2028-02-01", None)),
    ("month of the record", {"review-in": "1 month"}, "2025-03", ("2025-04-01", None, "1 month")),
    ("scalar date", {"review": "2026-07-29"}, None, ("2026-07-29", None, None)),
    ("scalar cycle", {"review": "quarterly"}, "2025-01-15", ("2025-04-15", None, "quarterly")),
    ("scalar number", {"review": 90}, "2025-01-01", ("2025-04-01", None, "90")),
    ("list of one", {"review": ["yearly"]}, "2025-01-01", ("2026-01-01", None, "yearly")),
    ("after days", {"review_after_days": 14}, "2025-01-01", ("2025-01-15", None, "14")),
    ("until", {"resubmission": "Until 2023-12-31"}, None, ("2023-12-31", None, None)),
    ("by", {"next review": "by 2027-02"}, None, ("2027-02-28", None, None)),
    ("revisit", {"revisit": "2026-01-01"}, None, ("2026-01-01", None, None)),
    ("revisit in", {"revisit": "6 months"}, "2025-01-01", ("2025-07-01", None, "6 months")),
    ("expires", {"expires": "2026-01-01"}, None, ("2026-01-01", None, None)),
    ("time of day", {"next_review_due": "2026-1-5T10:00:00Z"}, None, ("2026-01-05", None, None)),
    ("reviewed before date", {"reviewed": "2025-06-01", "review_interval": "180d"}, "2024-01-01",
     ("2025-11-28", "2025-06-01", "180d")),
    ("nested short", {"review": {"next": "2026-01-01", "last": "2025-01-01", "cycle": "1y"}}, None,
     ("2026-01-01", "2025-01-01", "1y")),
    ("nested long", {"review": {"last_reviewed": "2025-01-01", "next_review": "2026-01-01"}}, None,
     ("2026-01-01", "2025-01-01", None)),
    ("nested in", {"review": {"in": "6 months"}}, "2025-01-01", ("2025-07-01", None, "6 months")),
    ("as published", {"review": {"due": "2026-01-01", "reviewed": None, "every": "12 months"}},
     "2025-01-01", ("2026-01-01", None, "12 months")),
    ("cycle in due", {"next_review": "quarterly"}, "2025-01-01",
     ("2025-04-01", None, "quarterly")),
    ("too far", {"review_in": "999999999 years"}, "2025-01-01",
     (None, None, "999999999 years")),
    ("zero", {"review_in": "0 days"}, "2025-01-01", (None, None, "0 days")),
    ("no start", {"review_in": "6 months"}, None, (None, None, "6 months")),
    ("status_last_reviewed", {"status_last_reviewed": "2024-03-06"}, None,
     (None, "2024-03-06", None)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("mapping", "date", "expected"), [row[1:] for row in SCHEDULES], ids=[r[0] for r in SCHEDULES]
)
def test_a_schedule_is_read_as_it_is_written(mapping, date, expected):
    fields, found = review(mapping, date)
    assert found == expected
    assert fields.rest() == {}
    assert fields.notes == []


KEYS = {
    "due": ["review-by", "review-due", "due-for-review", "next-review", "next-review-date",
            "next-review-due", "review-date", "review-on", "revisit", "revisit-on", "expires",
            "expiry-date", "expire-by", "valid-until", "resubmission"],
    "reviewed": ["last-reviewed", "last-reviewed-on", "last-reviewed-at", "last-reviewed-date",
                 "last-review", "last-review-date", "reviewed-on", "reviewed-at", "reviewed",
                 "status-last-reviewed", "freshness-reviewed-on", "last-verified", "ms.date"],
    "every": ["review-in", "review-every", "review-cycle", "review-cadence", "review-interval",
              "review-frequency", "review-period", "review-after-days"],
}  # fmt: skip
NESTED = {
    "due": ["due", "next", "by", "date"],
    "reviewed": ["reviewed", "last", "on"],
    "every": ["every", "in", "cycle", "cadence", "interval", "frequency"],
}


def member(found, sense):
    return dict(zip(("due", "reviewed", "every"), found))[sense]


@pytest.mark.parametrize("spell", [str, str.upper, lambda k: k.replace("-", "_")])
@pytest.mark.parametrize(("sense", "key"), [(s, key) for s in KEYS for key in KEYS[s]])
def test_each_key_is_read_in_every_spelling(sense, key, spell):
    value = "90d" if sense == "every" else "2026-03-01"
    fields, found = review({spell(key): value}, "2025-01-01")
    assert member(found, sense) == value
    assert fields.rest() == {}


@pytest.mark.parametrize(
    ("sense", "key"), [(s, key) for s in NESTED for key in NESTED[s] + KEYS[s]]
)
def test_a_nested_review_has_the_same_keys_and_short_ones(sense, key):
    value = "90d" if sense == "every" else "2026-03-01"
    fields, found = review({"review": {key: value}}, "2025-01-01")
    assert member(found, sense) == value
    assert fields.rest() == {}


REVIEW_DATES = [
    ("alone and later", {}, "2026-06-01", ("2026-06-01", None, None)),
    ("alone and earlier", {}, "2024-06-01", (None, "2024-06-01", None)),
    ("with a next review", {"next-review": "2027-01-01"}, "2026-01-01",
     ("2027-01-01", "2026-01-01", None)),
    ("with a last review", {"last-reviewed": "2025-03-01"}, "2026-01-01",
     ("2026-01-01", "2025-03-01", None)),
    ("sooner than its cycle", {"review-cycle": "1y"}, "2025-06-01",
     ("2026-06-01", "2025-06-01", "1y")),
    ("later than its cycle", {"review-cycle": "1y"}, "2027-06-01", ("2027-06-01", None, "1y")),
    ("on its cycle", {"review-cycle": "1y"}, "2026-01-01", ("2026-01-01", None, "1y")),
    ("before its expiry", {"expires": "2030-01-01"}, "2026-01-01", ("2026-01-01", None, None)),
    ("before a stated due", {"review-by": "2030-01-01"}, "2026-01-01",
     ("2030-01-01", "2026-01-01", None)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("more", "day", "expected"), [row[1:] for row in REVIEW_DATES], ids=[r[0] for r in REVIEW_DATES]
)
def test_a_review_date_is_the_next_or_the_last_review(more, day, expected):
    assert review({"review-date": day, **more}, "2025-01-01")[1] == expected


UNREAD = [
    ("boolean", {"reviewed": True}, ["date"], {"reviewed": True}),
    ("no boolean", {"reviewed": False}, ["date"], {"reviewed": False}),
    ("misspelt", {"next_review": "Anual"}, ["date"], {}),
    ("impossible", {"review-by": "2025-02-30"}, ["date"], {}),
    ("month 13", {"last-reviewed": "2025-13"}, ["date"], {}),
    ("five digits", {"review-by": "12025-01-01"}, ["date"], {}),
    ("unicode digits", {"review-by": "２０２５-01-01"}, ["date"], {}),
    ("list", {"review-by": ["2025-01-01", "2026-01-01"]}, ["date"],
     {"review-by": ["2025-01-01", "2026-01-01"]}),
    ("mapping", {"review-in": {"months": 6}}, ["value"], {"review-in": {"months": 6}}),
    ("scalar", {"review": "on-change-of:EV-0175"}, ["value"],
     {"review": "on-change-of:EV-0175"}),
    ("scalar list", {"review": ["a", "b"]}, ["value"], {"review": ["a", "b"]}),
    ("true", {"review": True}, ["value"], {"review": True}),
    ("nested", {"review": {"due": "soon", "tier": 2}}, ["date"], {"review": {"tier": 2}}),
    ("us date elsewhere", {"ms.date": "13/32/2025"}, ["date"], {"ms.date": "13/32/2025"}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("mapping", "noted", "rest"), [row[1:] for row in UNREAD], ids=[row[0] for row in UNREAD]
)
def test_what_cannot_be_read_is_noted_and_gives_no_review(mapping, noted, rest):
    fields, found = review(mapping, "2025-01-01")
    assert found is None
    assert kinds(fields) == noted
    assert fields.rest() == rest


@pytest.mark.parametrize(
    "mapping",
    [{"revisit": "when traffic doubles"}, {"expires": "never"}, {"expires": 3600},
     {"expires": "30d"}, {"review_status": "accepted"}, {"review": {"by": "@ana", "tier": 1}},
     {"required": True}, {"quorum": 2}, {"reviews": 5}, {"approvals": 2}, {"revisit": False},
     {"reviews": [{"rating": 5, "text": "good"}]}, {"reviews": "good all round"},
     {"approvals": "pending"}, {"objections": ["too costly for us"]}, {"required": ["api"]},
     {"required_approvals": 2}],
    ids=str,
)  # fmt: skip
def test_a_key_with_another_meaning_stays_a_custom_field(mapping):
    fields, found = review(mapping, "2025-01-01")
    assert found is None
    assert parse_reviewers(fields) == ([], None)
    assert fields.rest() == mapping
    assert fields.notes == []


def test_the_configured_cycle_holds_for_records_that_state_none():
    assert review({}, "2025-01-31", "1 month")[1] == ("2025-02-28", None, "1 month")
    assert review({"reviewed": "2025-06-01"}, "2025-01-31", "1y")[1] == (
        "2026-06-01", "2025-06-01", "1y",
    )  # fmt: skip


def test_an_own_cycle_beats_the_configured_one():
    assert review({"review": {"every": "ad-hoc"}}, "2025-01-31", "1y")[1] == (None, None, "ad-hoc")


def test_a_stated_due_date_beats_the_configured_cycle_without_a_note():
    fields, found = review({"review-by": "2030-01-01"}, "2025-01-01", "1y")
    assert found == ("2030-01-01", None, "1y")
    assert fields.notes == []


@pytest.mark.parametrize("mapping", [{"review": False}, {"review": "never"}, {"review": "none"}])
def test_a_record_can_opt_out_of_the_configured_cycle(mapping):
    assert review(mapping, "2025-01-01", "1y")[1] is None


@pytest.mark.parametrize("mapping", [{}, {"review": None}, {"review": {}}, {"review-by": ""}])
def test_without_a_review_key_there_is_no_review(mapping):
    fields, found = review(mapping, "2025-01-01")
    assert found is None
    assert fields.notes == []


@pytest.mark.parametrize(("due", "noted"), [("2025-08-01", []), ("2025-08-02", ["value"])])
def test_a_due_date_far_from_its_cycle_is_noted(due, noted):
    fields, found = review({"Review-By": due, "review-in": "6 months"}, "2025-01-01")
    assert found == (due, None, "6 months")
    assert kinds(fields) == noted
    assert all(key == "Review-By" for key, _, _ in fields.notes)


def test_two_keys_that_disagree_are_noted_and_the_first_is_used():
    fields, found = review({"review-by": "2025-01-01", "next-review": "2026-01-01"})
    assert found == ("2025-01-01", None, None)
    assert fields.notes == [
        ("next-review", "value",
         'next-review says "2026-01-01" besides "2025-01-01", which is used')
    ]  # fmt: skip


def test_an_unreadable_date_is_told_with_the_key_as_written():
    fields, _ = review({"Last_Reviewed": "last spring"})
    assert fields.notes == [
        ("Last_Reviewed", "date",
         'Last_Reviewed is "last spring", which is no date; write it as YYYY-MM-DD')
    ]  # fmt: skip


def test_what_a_nested_review_says_besides_stays_a_custom_field():
    fields, found = review({"review": {"every": "1y", "tier": 2, "slaDays": 5}}, "2025-01-01")
    assert found == ("2026-01-01", None, "1y")
    assert fields.rest() == {"review": {"tier": 2, "slaDays": 5}}


def test_a_declared_key_is_never_read_as_a_review():
    fields = FieldSet({"reviewBy": "2027-01-01", "reviewers": ["@a"]}, ["reviewby", "reviewers"])
    assert parse_review(fields, None, None) is None
    assert parse_reviewers(fields) == ([], None)
    assert fields.rest() == {"reviewBy": "2027-01-01", "reviewers": ["@a"]}


APPROVALS = [
    ("handles", {"reviewers": ["@a", "@b"]}, ("pending", 0, 2, ["a", "b"])),
    ("github states", {"reviewers": [{"name": "a", "state": "APPROVED"},
                                     {"name": "b", "state": "commented"}],
                       "required_approvals": 1}, ("approved", 1, 1, [])),
    ("pairs", {"reviewers": [{"a": "approved"}, {"b": "changes_requested"}]},
     ("changes-requested", 1, 2, [])),
    ("quorum", {"approvals": ["@a"], "quorum": 2}, ("pending", 1, 2, [])),
    ("two keys", {"reviewers": "@a @b", "approvedBy": "@a"}, ("pending", 1, 2, ["b"])),
    ("one person", {"reviewers": {"@a": "lgtm", "@A": "changes-requested"}},
     ("changes-requested", 0, 1, [])),
    ("commented waits", {"reviewers": {"a": "commented", "b": "approved"}},
     ("pending", 1, 2, ["a"])),
    ("required one waits", {"reviewers": [{"name": "a", "state": "approved"},
                                          {"name": "b", "required": True}],
                            "requiredApprovals": 1}, ("pending", 1, 1, ["b"])),
    ("approvers are required", {"reviewers": {"a": "approved"}, "approvers": ["@b"],
                                "min-approvals": 1}, ("pending", 1, 1, ["b"])),
    ("optional", {"reviewers": [{"name": "a", "state": "approved"},
                                {"name": "b", "optional": True}]}, ("approved", 1, 1, [])),
    ("optional alone", {"reviewers": ["@b (optional)"]}, ("pending", 0, 1, [])),
    ("optional objects", {"reviewers": {"optional": ["@b: no"], "required": ["@a: yes"]}},
     ("changes-requested", 1, 1, [])),
    ("dismissed", {"reviews": [{"user": {"login": "a"}, "state": "CHANGES_REQUESTED"},
                               {"user": {"login": "a"}, "state": "DISMISSED"}]},
     ("pending", 0, 1, ["a"])),
    ("all", {"reviewers": ["a", "b", "c"], "required": "all"}, ("pending", 0, 3, ["a", "b", "c"])),
    ("majority", {"reviewers": {"a": "ok", "b": "+1", "c": None}, "quorum": "majority"},
     ("approved", 2, 2, [])),
    ("as text", {"reviewers": ["a", "b"], "approvals-required": "2 of 2"},
     ("pending", 0, 2, ["a", "b"])),
    ("more than listed", {"reviewers": ["a"], "quorum": 3}, ("pending", 0, 3, ["a"])),
    ("adrkit", {"review": {"approvals": ["@x"], "objections": ["@y"], "quorum": 2, "tier": 1}},
     ("changes-requested", 1, 2, [])),
    ("as published", {"reviewers": [{"name": "a", "state": "approved"},
                                    {"name": "b", "state": "pending"}],
                      "rfcReview": {"status": "approved", "required": 1}},
     ("approved", 1, 1, [])),
    ("empty mapping", {"reviewers": {}}, None),
    ("empty list", {"reviewers": []}, None),
    ("null", {"reviewers": None}, None),
    ("nobody", {"reviewers": ["TBD", "none", "-", ""]}, None),
    ("nobody as text", {"reviewers": "TBD"}, None),
    ("published without", {"reviewers": [], "rfcReview": None}, None),
]  # fmt: skip


@pytest.mark.parametrize(
    ("mapping", "expected"), [row[1:] for row in APPROVALS], ids=[row[0] for row in APPROVALS]
)
def test_where_an_approval_stands(mapping, expected):
    assert approval(mapping) == expected


def test_the_type_says_how_many_approvals_unless_the_record_does():
    assert approval({"reviewers": {"a": "approved", "b": None}}, 1) == ("approved", 1, 1, [])
    assert approval({"reviewers": {"a": "approved", "b": None}, "quorum": 2}, 1)[2] == 2


PEOPLE = [
    ("@ana", "ana", "pending"),
    ("Ana Silva", "Ana Silva", "pending"),
    ("Ana Silva <ana@x.org>", "Ana Silva", "pending"),
    ("<ana@x.org>", "ana@x.org", "pending"),
    ("[Ana](https://x.org/ana)", "Ana", "pending"),
    ("[@ana](https://x.org/ana): approved", "ana", "approved"),
    ("https://github.com/ana", "ana", "pending"),
    ("@ana: approved", "ana", "approved"),
    ("@ana - LGTM", "ana", "approved"),
    ("@ana – changes requested", "ana", "changes-requested"),
    ("@ana (approved)", "ana", "approved"),
    ("@ana (approved 2025-03-01)", "ana", "approved"),
    ("@ana approved", "ana", "approved"),
    ("@ana, approved", "ana", "approved"),
    ("@ana, for overall architecture", "ana", "pending"),
    ("@ana (security)", "ana", "pending"),
    ("@ana (security): approved", "ana", "approved"),
    ("@ana ✅", "ana", "approved"),
    ("@ana ✔️", "ana", "approved"),
    ("☑ Ana", "Ana", "approved"),
    ("csadilek for the mobile teams ✔️", "csadilek for the mobile teams", "approved"),
    ("[x] @ana", "ana", "approved"),
    ("[X] Ana", "Ana", "approved"),
    ("[ ] @ana", "ana", "pending"),
    ("@ana ❌", "ana", "changes-requested"),
    ("@ana 🚫", "ana", "changes-requested"),
    ("@ana 💬", "ana", "commented"),
    ("@ana ⏳", "ana", "pending"),
    ("Ana ⌛", "Ana", "pending"),
    ("- @ana", "ana", "pending"),
    ("@org/team-a: yes", "org/team-a", "approved"),
    ("Jean-Luc Ng: signed off", "Jean-Luc Ng", "approved"),
    ("CEO (Aprovado)", "CEO", "approved"),
    ("@ana: not started", "ana", "pending"),
    ("@ana (approved if the budget holds)", "ana", "pending"),
]


@pytest.mark.parametrize(("text", "name", "state"), PEOPLE, ids=[row[0] for row in PEOPLE])
def test_a_reviewer_is_read_from_text(text, name, state):
    fields, reviewers, _ = people({"reviewers": [text]})
    assert [(r.name, r.state) for r in reviewers] == [(name, state)]
    assert fields.notes == []
    assert fields.rest() == {}


MAPPINGS = [
    ("handle before name", {"name": "A B", "handle": "@ana", "state": "ok"}, "ana", "approved"),
    ("login", {"login": "ana", "vote": "-1"}, "ana", "changes-requested"),
    ("number as vote", {"user": "ana", "vote": 1}, "ana", "approved"),
    ("e-mail", {"email": "ana@x.org", "verdict": "abstain"}, "ana@x.org", "commented"),
    ("approved", {"name": "ana", "role": "CTO", "approved": True}, "ana", "approved"),
    ("not approved", {"name": "ana", "approved": False}, "ana", "pending"),
    ("approved null", {"name": "ana", "approved": None, "state": "lgtm"}, "ana", "approved"),
    ("approved when", {"name": "A <a@x>", "approved": "2025-12-27T14:00:00Z"}, "A", "approved"),
    ("approved at", {"name": "ana", "approved_at": "2025-12-27"}, "ana", "approved"),
    ("a date is no approval", {"name": "ana", "date": "2025-12-27"}, "ana", "pending"),
    ("decision", {"id": "ana", "decision": "REQUEST_CHANGES"}, "ana", "changes-requested"),
    ("conditions", {"name": "ana", "vote": "approved", "conditions": ["x"]}, "ana", "approved"),
    ("empty state", {"name": "ana", "state": ""}, "ana", "pending"),
    ("pair with details", {"@ana": {"state": "approved", "at": "2025-01-01"}}, "ana", "approved"),
    ("pair with a date", {"@ana": "2025-01-01"}, "ana", "approved"),
    ("pair with true", {"@ana": True}, "ana", "approved"),
    ("team", {"team": "platform"}, "platform", "pending"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("mapping", "name", "state"), [row[1:] for row in MAPPINGS], ids=[row[0] for row in MAPPINGS]
)
def test_a_reviewer_is_read_from_a_mapping(mapping, name, state):
    fields, reviewers, _ = people({"reviewers": [mapping]})
    assert [(r.name, r.state) for r in reviewers] == [(name, state)]
    assert fields.notes == []


WORDS = {
    "approved": "approved approve approves accepted lgtm +1 yes ok signed-off ratified done "
                "aprovado",
    "changes-requested": "changes-requested request-changes CHANGES_REQUESTED rejected reject -1 "
                         "no blocked objection needs-work revise",
    "commented": "commented comment COMMENTED reviewed abstain neutral discussed",
    "pending": "pending requested waiting open todo in-review tbd not-started dismissed "
               "REVIEW_REQUIRED",
}  # fmt: skip


@pytest.mark.parametrize(
    ("state", "word"), [(state, word) for state in WORDS for word in WORDS[state].split()]
)
def test_each_word_for_a_state_is_known(state, word):
    assert states({"reviewers": {"@ana": word}}) == {"ana": state}
    assert states({"reviewers": [f"@ana: {word}"]}) == {"ana": state}


@pytest.mark.parametrize(
    "value",
    ["aproved", "approved-ish", "maybe", "yes, if the budget holds", "approved pending legal",
     "1.0", 2, ["a", "b"], {"x": 1}, "APPROVED" * 9999],
    ids=lambda value: str(value)[:20],
)  # fmt: skip
def test_an_unknown_state_is_pending_and_noted(value):
    fields, reviewers, _ = people({"reviewers": [{"name": "ana", "state": value}]})
    assert [r.state for r in reviewers] == ["pending"]
    assert kinds(fields) == ["value"]


def test_a_misspelt_state_names_the_nearest_one():
    fields, _, _ = people({"reviewers": ["@ana: aproved"]})
    assert fields.notes == [
        ("reviewers", "value",
         'reviewers gives "ana" the state "aproved", which is unknown and counts as pending; '
         "did you mean approved?")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("@a @b", ["a", "b"]),
        ("@a, @b", ["a", "b"]),
        ("@a,@b", ["a", "b"]),
        ("Ana Silva, Bo Li", ["Ana Silva", "Bo Li"]),
        ("Ana Silva", ["Ana Silva"]),
        ("@a (approved, 2025-01-01), @b", ["a", "b"]),
        ("- @a: approved\n- @b", ["a", "b"]),
        ("Ana; Bo", ["Ana", "Bo"]),
        (" , ,", []),
    ],
)
def test_one_text_is_split_into_people(text, names):
    assert list(states({"reviewers": text})) == names


@pytest.mark.parametrize(
    ("mentions", "state"),
    [
        ([{"name": "a", "state": "approved", "date": "2025-02-01"},
          {"name": "a", "state": "rejected", "date": "2025-01-01"}], "approved"),
        ([{"name": "a", "state": "approved", "date": "2025-02-01"},
          {"name": "a", "state": "rejected"}], "approved"),
        ([{"name": "a", "state": "approved"}, {"name": "a", "state": "rejected"}],
         "changes-requested"),
        ([{"name": "a", "state": "rejected"}, "@A"], "changes-requested"),
        ([{"name": "Ana", "email": "a@x", "state": "ok"}, {"email": "A@X", "state": "no"}],
         "changes-requested"),
        ([{"name": "Ana", "handle": "@ana"}, "Ana: approved"], "approved"),
        (["Ana <a@x>", "Ana S <A@x>: ok"], "approved"),
    ],
    ids=["dates", "dated beats undated", "last listed", "no state", "e-mail", "name", "address"],
)  # fmt: skip
def test_a_person_named_twice_is_one(mentions, state):
    _, reviewers, _ = people({"reviewers": mentions})
    assert [reviewer.state for reviewer in reviewers] == [state]


def test_people_of_one_team_are_not_one_person():
    found = [{"name": "Ana", "team": "core", "state": "ok"}, {"name": "Bo", "team": "Core"}]
    assert states({"reviewers": found}) == {"Ana": "approved", "Bo": "pending"}


@pytest.mark.parametrize("key", ["approvals", "reviews"])
def test_a_name_with_a_mark_is_a_person_under_a_key_with_other_uses(key):
    assert states({key: ["Ana Silva ✅", "@bo"]})["Ana Silva"] == "approved"


@pytest.mark.parametrize("value", ["-1", ["+1"], "pending"], ids=str)
def test_a_vote_without_a_name_is_nobody(value):
    assert states({"approvals": value}) == {}


def test_a_date_alone_is_an_approval_among_approvers():
    assert states({"Approvers": [{"Name": "Ana", "Email": "a@x", "Date": "2025-01-01"}]}) == {
        "Ana": "approved"
    }


def test_human_approvers_are_required():
    _, reviewers, _ = people({"human_approvers": [{"name": "A", "approved": "2025-12-27"}, "B"]})
    assert [(r.name, r.state, r.required) for r in reviewers] == [
        ("A", "approved", True), ("B", "pending", True),
    ]  # fmt: skip


def test_what_names_nobody_is_noted():
    fields, reviewers, _ = people({"Reviewers": 5})
    assert reviewers == []
    assert fields.notes == [
        ("Reviewers", "value", 'Reviewers is "5", which names nobody; write a list of handles')
    ]
    assert fields.rest() == {"Reviewers": 5}


def test_an_unreadable_number_of_approvals_is_noted():
    fields, _, required = people({"reviewers": ["@a"], "required_approvals": "many"})
    assert required is None
    assert kinds(fields) == ["value"]


def test_a_quorum_of_another_kind_is_left_alone():
    fields, _, required = people({"reviewers": ["@a"], "quorum": "both sites", "required": True})
    assert required is None
    assert fields.notes == []
    assert fields.rest() == {"quorum": "both sites", "required": True}


def test_a_record_carries_its_review_and_approval():
    fields = FieldSet(
        {"status": "accepted", "date": "2025-08-31", "type": "RFC", "reviewers": ["@a", "@b: ok"],
         "risk": "high"}
    )  # fmt: skip
    rules = Rules(approvals={"rfc": 1})
    rules.review_every = "P6M"
    record = record_from_fields(fields, Origin("x/rfc/0001-a", "a.md"), rules)
    assert record is not None
    assert (record.review.due, record.review.every) == ("2026-02-28", "P6M")
    assert (record.approval.status, record.approval.required) == ("approved", 1)
    assert record.fields == {"risk": "high"}


def test_the_configured_cycle_is_for_current_records_alone():
    fields = FieldSet({"status": "proposed", "date": "2025-08-31"})
    rules = Rules()
    rules.review_every = "P6M"
    assert record_from_fields(fields, Origin("x/rfc/0001-a", "a.md"), rules).review is None


def test_people_beyond_all_measure_are_left_out_with_a_note():
    fields, reviewers, _ = people({"reviewers": "@a, " * 5 + "b, " * 300_000})
    assert [reviewer.name for reviewer in reviewers] == ["a", "b"]
    assert fields.notes == [
        ("reviewers", "value", "reviewers names more than 1,000 people; the rest are left out")
    ]
