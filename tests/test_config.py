"""The configuration as JSON, YAML and TOML: what is read, what is refused, and where it stands."""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path
from typing import Any

import pytest
from helpers import Server, ToolError, run_server, write_records

import inkan_mcp as server

RECORD = "---\ntitle: A\nstatus: on trial\n---\n\nBody\n"
HAS_TOML = importlib.util.find_spec("tomllib") is not None

needs_toml = pytest.mark.skipif(not HAS_TOML, reason="tomllib came with Python 3.11")

WHOLE: dict[str, Any] = {
    "title": "Our decisions",
    "url": "https://decisions.example/",
    "contentDir": "docs/decisions",
    "sources": [{"dir": "more"}, {"dir": "pay", "project": "payments"}],
    "statuses": {"On-Trial": {"current": True, "open": False, "label": "On trial"}},
    "fields": {"risk": {"type": "enum", "values": ["high", "low"]}},
    "types": {"rfc": {"requiredApprovals": 2}, "adr": {"template": "x"}},
    "review": {"every": "6 months"},
}
WHOLE_YAML = """
# our settings
title: Our decisions
url: https://decisions.example/
contentDir: docs/decisions
sources:
  - dir: more
  - dir: pay
    project: payments
statuses:
  On-Trial: { current: true, open: false, label: On trial }
fields:
  risk: { type: enum, values: [high, low] }
types:
  rfc: { requiredApprovals: 2 }
  adr: { template: x }
review:
  every: 6 months
"""
WHOLE_TOML = """
# our settings
title = "Our decisions"
url = "https://decisions.example/"
contentDir = "docs/decisions"

[[sources]]
dir = "more"

[[sources]]
dir = "pay"
project = "payments"

[statuses.On-Trial]
current = true
open = false
label = "On trial"

[fields.risk]
type = "enum"
values = ["high", "low"]

[types]
rfc = { requiredApprovals = 2 }
adr = { template = "x" }

[review]
every = "6 months"
"""
TEXTS = [
    ("json", json.dumps(WHOLE)),
    ("yml", WHOLE_YAML),
    ("yaml", WHOLE_YAML),
    pytest.param("toml", WHOLE_TOML, marks=needs_toml),
]


def config_of(name: str, text: str) -> server.Config:
    """Return the checked configuration that a text makes."""
    return server.config_from_mapping(server.read_config(name, text))


def fault_of(name: str, text: str) -> str:
    """Return the sentence of the fault that a text is refused with."""
    with pytest.raises(server.ConfigError) as caught:
        config_of(name, text)
    return str(caught.value)


def look(root: Path) -> server.Snapshot:
    """Return what the archive in a folder holds."""
    source = server.FolderSource(os.fspath(root), lambda _: None, {})
    return source.snapshot(server.Call("2026-12-01"))


# What is read


@pytest.mark.parametrize(("ending", "text"), TEXTS)
def test_every_key_is_read_in_every_format(ending, text):
    config = config_of(f"inkan.config.{ending}", text)
    assert (config.title, config.url) == ("Our decisions", "https://decisions.example/")
    assert config.content_dir == "docs/decisions"
    assert [(entry.dir, entry.project) for entry in config.sources] == [
        ("more", None), ("pay", "payments"),
    ]  # fmt: skip
    (status,) = config.rules.statuses.values()
    assert (status.name, status.current, status.open, status.label) == (
        "On-Trial", True, False, "On trial",
    )  # fmt: skip
    assert config.declared["risk"].values == ["high", "low"]
    assert config.rules.approvals == {"rfc": 2}
    assert config.rules.review_every == "6 months"
    assert config.problems == []


@pytest.mark.parametrize(("ending", "text"), TEXTS)
def test_configured_archive_is_served_alike_in_every_format(tmp_path, ending, text):
    files = {"docs/decisions/sre/adr/1-a.md": RECORD, "pay/rfc/2-b.md": RECORD}
    write_records(tmp_path, {**files, "more/web/adr/3-c.md": RECORD})
    write_records(tmp_path, {f"inkan.config.{ending}": text})
    found = {record.id: record for record in look(tmp_path).records}
    assert sorted(found) == ["payments/rfc/2-b", "sre/adr/1-a", "web/adr/3-c"]
    assert found["sre/adr/1-a"].status == "On-Trial"
    assert found["sre/adr/1-a"].current
    assert found["sre/adr/1-a"].url == "https://decisions.example/sre/adr/1-a"


def test_without_a_config_the_content_folder_and_the_default_statuses_hold(tmp_path):
    write_records(tmp_path, {"content/sre/adr/1-a.md": "---\nstatus: Accepted\n---\n"})
    (found,) = look(tmp_path).records
    assert (found.status, found.current) == ("accepted", True)


@pytest.mark.parametrize("text", ["{}", '{"contentDir": null, "sources": null, "review": null}'])
def test_absent_and_null_keys_take_their_defaults(text):
    config = config_of("inkan.config.json", text)
    assert (config.content_dir, config.sources, config.title) == ("content", [], None)
    assert config.rules.review_every is None
    assert "accepted" in config.rules.statuses


@pytest.mark.parametrize(
    ("value", "every"),
    [("1 year", "1 year"), ({"every": 90}, "90"), (False, None), ({}, None), (None, None)],
)
def test_review_is_a_cycle_or_holds_one(value, every):
    config = config_of("inkan.config.json", json.dumps({"review": value}))
    assert config.rules.review_every == every


def test_review_that_states_no_cycle_is_a_warning():
    config = config_of("inkan.config.json", '{"review": {"every": "sometimes"}}')
    assert [str(problem) for problem in config.problems] == [
        'inkan.config.json:1:13: review.every is "sometimes", no cycle; write one such as '
        "'6 months'"
    ]


@pytest.mark.parametrize("name", ["inkan.config.json", "inkan.config.yml", "inkan.config.toml"])
def test_byte_order_mark_and_windows_line_ends_are_read(tmp_path, name):
    if name.endswith("toml") and not HAS_TOML:
        pytest.skip("tomllib came with Python 3.11")
    texts = {"json": '{\r\n "title": "T"\r\n}', "yml": "title: T\r\n", "toml": 'title = "T"\r\n'}
    write_records(tmp_path, {name: "\ufeff" + texts[name.rpartition(".")[2]]})
    assert look(tmp_path).title == "T"


def test_title_becomes_that_of_the_server(tmp_path):
    write_records(tmp_path, {"inkan.config.json": '{"title": "Our decisions"}'})
    with Server("--root", tmp_path) as client:
        assert client.initialize()["serverInfo"]["title"] == "Our decisions"


@pytest.mark.parametrize("given", [".", "./", "docs/..", "./docs/../"])
def test_content_folder_may_be_the_root_itself(tmp_path, given):
    write_records(tmp_path, {"sre/adr/1-a.md": RECORD, "docs/x.txt": ""})
    write_records(tmp_path, {"inkan.config.json": json.dumps({"contentDir": given})})
    (found,) = look(tmp_path).records
    assert (found.id, found.path) == ("sre/adr/1-a", "sre/adr/1-a.md")


def test_absolute_content_folder_is_served(tmp_path):
    write_records(tmp_path, {"away/sre/adr/1-a.md": RECORD})
    away = json.dumps({"contentDir": os.fspath(tmp_path / "away")})
    root = write_records(tmp_path / "root", {"inkan.config.json": away})
    (found,) = look(root).records
    assert (found.id, found.path) == ("sre/adr/1-a", "../away/sre/adr/1-a.md")


# Which file is read


def test_first_ending_wins_and_the_other_is_named(tmp_path):
    files = {"inkan.config.json": '{"title": "J"}', "inkan.config.yml": "title: Y\n"}
    write_records(tmp_path, {**files, "content/a/1-a.md": RECORD})
    snapshot = look(tmp_path)
    assert snapshot.title == "J"
    assert [str(problem) for problem in snapshot.problems] == [
        "inkan.config.yml: inkan.config.yml is not read, since inkan.config.json comes first; "
        "remove one"
    ]
    done = run_server("--root", tmp_path, "--check")
    assert (done.returncode, "inkan.config.yml: warning: " in done.stdout) == (0, True)


def test_endings_are_tried_in_the_documented_order(tmp_path):
    order = ("json", "yml", "yaml", "toml")
    for ending in reversed(order[:-1]):
        text = '{"title": "json"}' if ending == "json" else f"title: {ending}\n"
        write_records(tmp_path, {f"inkan.config.{ending}": text})
        assert look(tmp_path).title == ending


@pytest.mark.skipif(HAS_TOML, reason="TOML is read here")
def test_toml_on_an_old_python_is_refused_with_a_way_out():
    assert fault_of("inkan.config.toml", "") == (
        "inkan.config.toml:1:1: TOML is read from Python 3.11 on; use inkan.config.json or a "
        "newer Python"
    )


@pytest.mark.skipif(os.name == "nt", reason="no pipes in folders on Windows")
def test_config_that_is_a_pipe_or_a_folder_is_refused(tmp_path):
    (tmp_path / "inkan.config.yml").mkdir()
    with pytest.raises(server.ConfigError, match="no regular file"):
        look(tmp_path)
    os.mkfifo(tmp_path / "inkan.config.json")
    with pytest.raises(server.ConfigError, match=r"inkan\.config\.json:1:1: .*no regular file"):
        look(tmp_path)


# What is refused, and where it stands

JSON_FAULTS = [
    ("{", "1:2", "is no JSON: "),
    ('{"a": 1,\n "b" 2}', "2:6", "is no JSON: "),
    ("[]", "1:1", "the configuration is a list; write an object with keys"),
    ('"x"', "1:1", "the configuration is one value; write an object with keys"),
    ("null", "1:1", "the configuration is nothing; write an object with keys"),
    ('{\n  "contentDir": 5\n}', "2:3", "contentDir is 5; write it as a text in quotes"),
    ('{"contentDir": ""}', "1:2", "contentDir is empty; write it as a text in quotes"),
    ('{"contentDir": []}', "1:2", "contentDir is a list; "),
    ('{"contentDir": true}', "1:2", "contentDir is true; "),
    ('{"title": {}}', "1:2", "title is an object; "),
    ('{"title": 3}', "1:2", "title is 3; "),
    ('{"url": ["x"]}', "1:2", "url is a list; "),
    ('{"sources": {}}', "1:2", "sources is an object; write a list of { dir } or { repo }"),
    ('{"sources": "x"}', "1:2", "sources is x; write a list"),
    ('{"sources": [\n {"dir": "a"},\n {"dir": 5}\n]}', "3:3", "sources[1].dir is 5; "),
    ('{"sources": [{"dir": "a", "project": ""}]}', "1:27", "sources[0].project is empty; "),
    ('{"sources": [{"dir": "a"}, {}]}', "1:28", "sources[1] needs either dir (a folder) or repo"),
    ('{"sources": [{"dir": "a", "repo": "b"}]}', "1:14", "sources[0] needs either dir"),
    ('{"sources": [\n {"repo": "ext::x"}]}', "2:3", 'sources[0].repo "ext::x" uses the transport'),
    ('{"sources": [{"repo": "a", "ref": "a..b"}]}', "1:28", 'sources[0].ref "a..b" is no name of'),
    ('{"sources": [{"repo": "a", "path": "../b"}]}', "1:28", 'sources[0].path "../b" leads out of'),
    ('{"sources": [3]}', "1:14", "sources[0] is 3; write it as an object"),
    ('{"sources": [{"dir": "a", "project": "a/b"}]}', "1:27", 'sources[0].project is "a/b"; '),
    ('{"sources": [{"dir": "a", "project": ".."}]}', "1:27", 'sources[0].project is ".."; '),
    ('{"statuses": []}', "1:2", "statuses is a list; write it as an object"),
    ('{"statuses": {"ok": 1}}', "1:15", "statuses.ok is 1; write it as an object"),
    ('{"statuses": {"ok": {"open": "no"}}}', "1:22", "statuses.ok.open is no; write true or false"),
    ('{"types": 1}', "1:2", "types is 1; write it as an object"),
    (
        '{"title": "requiredApprovals: types",\n "types": {"rfc": {"requiredApprovals": "2"}}}',
        "2:20", "types.rfc.requiredApprovals is 2; write a whole number from 0 on",
    ),
    ('{"types": {"rfc": {"requiredApprovals": -1}}}', "1:20", "types.rfc.requiredApprovals is -1"),
    ('{"types": {"rfc": {"requiredApprovals": true}}}', "1:20", "types.rfc.requiredApprovals is t"),
    ('{"types": {"rfc": {"review": 1}},\n "review": {"every": []}}', "2:13", "review.every is a l"),
    ('{"review": true}', "1:2", "review.every is true; write a cycle such as '6 months'"),
]  # fmt: skip
YAML_FAULTS = [
    ("contentDir: 5\n", "1:1", "contentDir is 5; "),
    ("# contentDir: x\ntitle: T\ncontentDir: 5\n", "3:1", "contentDir is 5; "),
    ("sources:\n  - dir: a\n  - dir: 5\n", "3:5", "sources[1].dir is 5; "),
    ("sources:\n- dir: a\n- project: x\n  dir: [1]\n", "4:3", "sources[1].dir is a list; "),
    ("sources: [{dir: a}, {dir: 5}]\n", "1:22", "sources[1].dir is 5; "),
    ("statuses:\n  ok:\n    current: maybe\n", "3:5", "statuses.ok.current is maybe; "),
    ("types:\n  rfc:\n    requiredApprovals: two\n", "3:5", "types.rfc.requiredApprovals is two"),
    ("- a\n", "1:1", "the configuration is a list; "),
    ("", "1:1", "the configuration is nothing; "),
    ("title: [\n", None, ""),
]
TOML_FAULTS = [
    ("contentDir = 5\n", "1:1", "contentDir is 5; "),
    ('[[sources]]\ndir = "a"\n\n[[sources]]\ndir = 5\n', "5:1", "sources[1].dir is 5; "),
    ('sources = [{dir = "a"}, {dir = 5}]\n', "1:26", "sources[1].dir is 5; "),
    ("[statuses.ok]\ncurrent = 1\n", "2:1", "statuses.ok.current is 1; "),
    ("title = \n", "1:9", "is no TOML: "),
]


def check_fault(name: str, text: str, place: str | None, words: str) -> None:
    """Check the sentence of a fault, and its place where that is known."""
    fault = fault_of(name, text)
    assert words in fault
    assert fault.startswith(f"{name}:{place}: " if place else f"{name}:"), fault


@pytest.mark.parametrize(("text", "place", "words"), JSON_FAULTS)
def test_fault_in_json_names_the_key_and_its_place(text, place, words):
    check_fault("inkan.config.json", text, place, words)


@pytest.mark.parametrize(("text", "place", "words"), YAML_FAULTS)
def test_fault_in_yaml_names_the_key_and_its_place(text, place, words):
    check_fault("inkan.config.yml", text, place, words)


@needs_toml
@pytest.mark.parametrize(("text", "place", "words"), TOML_FAULTS)
def test_fault_in_toml_names_the_key_and_its_place(text, place, words):
    check_fault("inkan.config.toml", text, place, words)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b'{"title": "caf\xe9"}', "inkan.config.json:1:15: byte 15 of the file (0xe9) is not"),
        (b'{"title": "\0"}', "NUL"),
        (b" " * (4 * 2**20 + 1), "inkan.config.json:1:1: the file is larger than 4 MiB"),
        (b"[" * 100_000, "inkan.config.json:1:1: is no JSON: "),
    ],
    ids=["latin1", "nul", "large", "deep"],
)
def test_hostile_file_is_refused_with_a_sentence(tmp_path, data, words):
    write_records(tmp_path, {"inkan.config.json": data})
    with pytest.raises(server.ConfigError) as caught:
        look(tmp_path)
    assert words in str(caught.value)


def test_server_does_not_start_with_a_broken_config(tmp_path):
    write_records(tmp_path, {"inkan.config.json": '{\n  "contentDir": 5\n}'})
    done = run_server("--root", tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "inkan mcp: inkan.config.json:2:3: contentDir is 5; write it as a text in quotes\n"
    )


def test_places_of_a_large_config_are_found_in_linear_time():
    many = ", ".join(f'"k{number}": [{{"a": 1}}]' for number in range(50_000))
    assert fault_of("inkan.config.json", f'{{{many}, "contentDir": 5}}').endswith("in quotes")


# Scripts: what is computed

COMPUTED = [
    ("export default { contentDir: process.env.DIR }", "1:18", "contentDir is computed "
     "(process.env.DIR); write it as a literal or add inkan.config.json"),
    ("export default {\n  ...base,\n}", "2:6", "contentDir may be set by base (a name that this "
     "file does not define); below that, write it as a literal or add inkan.config.json"),
    ("export default () => { f(); return {} }", "1:16", "the configuration is computed "
     "(a function); export it as an object literal or add inkan.config.json"),
    ("export default { sources: [{ dir: f() }] }", "1:30", "sources[0].dir is computed "),
    ("export default { sources: [{ ...x }] }", "1:33", "sources[0].dir may be set by x "),
    ("export default { sources: [...x] }", "1:28", "sources[0] is computed "),
    ("export default { statuses: x }", "1:18", "statuses is computed "),
    ("export default { statuses: { ...x, ok: {} } }", "1:18", "statuses is computed "),
    ("export default { statuses: { ok: { open: !x } } }", "1:36", "statuses.ok.open is computed "),
    ("export default { types: { rfc: { requiredApprovals: x } } }", "1:34", "types.rfc.required"),
    ("export default { review: { every: x } }", "1:28", "review.every is computed "),
    ("export default { fields: x }", "1:18", "fields is computed "),
]  # fmt: skip


@pytest.mark.parametrize(("text", "place", "words"), COMPUTED)
def test_what_is_computed_and_needed_is_refused_with_the_reason(text, place, words):
    check_fault("inkan.config.ts", text, place, words)


def test_computed_title_and_url_are_done_without():
    config = config_of("inkan.config.ts", "export default { title: f(), url: process.env.URL }")
    assert (config.title, config.url, config.problems) == (None, None, [])


def test_keys_that_a_spread_may_set_are_a_warning():
    text = "export default { contentDir: 'a', types: { ...t }, fields: { ...f } }"
    told = [str(problem) for problem in config_of("inkan.config.ts", text).problems]
    assert told == [
        "inkan.config.ts:1:47: keys that t may set are not seen; write them out as literals",
        "inkan.config.ts:1:65: keys that f may set are not seen; write them out as literals",
    ]


def test_literal_config_beside_a_computed_one_is_read_instead(tmp_path):
    write_records(tmp_path, {"docs/sre/adr/1-a.md": RECORD, "more/web/adr/2-b.md": RECORD})
    write_records(tmp_path, {"inkan.config.ts": "export default {\n contentDir: f() }"})
    with pytest.raises(server.ConfigError, match=r"or add inkan\.config\.json"):
        look(tmp_path)
    write_records(tmp_path, {"inkan.config.json": '{"contentDir": "docs"}'})
    snapshot = look(tmp_path)
    assert [record.id for record in snapshot.records] == ["sre/adr/1-a"]
    assert [str(problem) for problem in snapshot.problems] == [
        "inkan.config.ts:2:2: inkan.config.json is read instead, since contentDir is computed "
        "(a call of f())"
    ]


def test_broken_script_does_not_give_way_to_another_config(tmp_path):
    write_records(tmp_path, {"inkan.config.ts": "export default {", "inkan.config.json": "{}"})
    with pytest.raises(server.ConfigError, match=r"inkan\.config\.ts:1:16: `\{` is never closed"):
        look(tmp_path)


def test_config_edited_while_the_server_runs_takes_effect_on_the_next_call(tmp_path):
    write_records(tmp_path, {"a/sre/adr/1-a.md": RECORD, "b/web/adr/2-b.md": RECORD})
    config = tmp_path / "inkan.config.ts"

    def ids() -> list[str]:
        return [record["id"] for record in client.call("search_records")["records"]]

    config.write_text("export default { contentDir: 'a' }", encoding="utf-8")
    with Server("--root", tmp_path) as client:
        assert ids() == ["sre/adr/1-a"]
        config.write_text("export default { contentDir: 'b' }", encoding="utf-8")
        assert ids() == ["web/adr/2-b"]
        config.write_text("export default { contentDir: }'b' }", encoding="utf-8")
        for _ in range(2):
            with pytest.raises(ToolError, match=r"inkan\.config\.ts:1:35: `\}` closes nothing"):
                ids()
        config.write_text("export default { contentDir: DIR }", encoding="utf-8")
        with pytest.raises(ToolError, match=r"inkan\.config\.ts:1:18: contentDir is computed"):
            ids()
        for folder in ("a", "b"):  # what is read instead is watched too
            write_records(tmp_path, {"inkan.config.json": json.dumps({"contentDir": folder})})
            assert [identity[-1] for identity in ids()] == [folder]
        config.unlink()
        assert ids() == ["web/adr/2-b"]


# Near misses and what is left alone


@pytest.mark.parametrize(
    ("key", "meant"),
    [("contentdir", "contentDir"), ("content_dir", "contentDir"), ("source", "sources"),
     ("status", "statuses"), ("Fields", "fields"), ("reviews", "review")],
)  # fmt: skip
def test_key_that_is_nearly_known_is_a_warning_with_its_place(key, meant):
    config = config_of("inkan.config.json", f'{{\n  "{key}": "x"\n}}')
    (problem,) = config.problems
    assert str(problem) == (
        f'inkan.config.json:2:3: the key "{key}" is not read; did you mean {meant}?'
    )
    assert not problem.is_error


def test_keys_that_build_the_site_are_left_alone():
    extra = {"theme": {"contentDir": 5}, "plugins": [1], "base": "/x", "i18n": None, "srcDir": 1}
    config = config_of("inkan.config.json", json.dumps({**WHOLE, **extra}))
    assert config.problems == []


def test_members_that_build_the_site_are_left_alone():
    text = '{"types": {"adr": "x", "rfc": {"label": 1}}, "statuses": {"ok": {"color": "red"}}}'
    assert config_of("inkan.config.json", text).problems == []


def test_unreadable_field_declaration_is_a_warning_and_not_a_fault():
    config = config_of("inkan.config.json", '{\n  "fields": {\n    "status": {}\n  }\n}')
    assert str(config.problems[0]).startswith("inkan.config.json:3:5: ")


def test_config_with_a_near_miss_is_named_once_on_stderr(tmp_path):
    write_records(tmp_path, {"inkan.config.json": '{"contentdir": "x"}'})
    write_records(tmp_path, {"content/a/1-a.md": RECORD})
    with Server("--root", tmp_path) as client:
        client.call("search_records")
        client.call("search_records")
        told = [line for line in client.errors if "did you mean contentDir?" in line]
    assert len(told) == 1


def test_names_of_environment_variables_are_not_replaced(tmp_path):
    write_records(tmp_path, {"inkan.config.json": '{"contentDir": "$HOME"}'})
    assert "$HOME" in str(look(tmp_path).missing[0])


@needs_toml
def test_date_in_toml_is_refused_by_name():
    fault = fault_of("inkan.config.toml", "contentDir = 2024-01-05\n")
    assert "contentDir is 2024-01-05; " in fault
