"""Every message that a person can meet on the command line, provoked once; each says what to do."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import (
    BROKEN,
    SAMPLE,
    TOP,
    child_environment,
    run_server,
    server_command,
    write_records,
)

import inkan_mcp

S = ("--root", str(SAMPLE))
CALL = (*S, "--call")
SITE = ("--url", "http://127.0.0.1:1")
EVERY_CLIENT = ", ".join(inkan_mcp.CLIENTS)
EVERY_TOOL = ", ".join(inkan_mcp.TOOLS)
SEARCH_ARGUMENTS = ", ".join(a.name for a in inkan_mcp.TOOLS["search_records"].arguments)
BAD_JSON = "the JSON of --call cannot be read"

# Exit code 2: the command line says what cannot be. Arguments, and the whole sentence.
USAGE_FAULTS = [
    # words that are no options
    (["--rot", "x"], 'there is no option "--rot"; did you mean --root?'),
    (["--rott=x"], 'there is no option "--rott"; did you mean --root?'),
    (["-r", "x"], 'there is no option "-r"; see --help'),
    (["--qqqqqqqq"], 'there is no option "--qqqqqqqq"; see --help'),
    (["root", "x"], "root lacks its dashes; write --root"),
    (["--check=1"], "--check takes no value; leave out what follows its name"),
    (["tests"], 'the folder "tests" stands alone; name it with --root before it'),
    (
        ["https://example.org"],
        "an address stands alone; name a published site with --url before it",
    ),
    (["list_tags"], "list_tags is a tool; run it with --call list_tags"),
    (["query=x"], 'the argument "query" stands alone; write it after --call and a tool'),
    (["Accept: x"], 'the header "Accept" stands alone; give it with --header'),
    (["nonsense"], '"nonsense" is no option; see --help'),
    ([""], '"" is no option; see --help'),
    # options without their value, twice, or against each other
    (["--root"], "--root needs a folder, such as --root ."),
    (["--root="], "--root needs a folder, such as --root ."),
    (["--root", "--check"], "--root needs a folder, such as --root ."),
    (["--dist", ""], "--dist needs the built folder of a site, such as --dist build"),
    (
        ["--url"],
        "--url needs the address of a published site, such as --url https://decisions.example.com",
    ),
    (
        ["--site"],
        "--site needs the address of a published site, such as --site https://decisions.example.com",
    ),
    (
        [*SITE, "--header"],
        "--header needs a header, such as --header 'Authorization: Bearer ${TOKEN}'",
    ),
    (["--call"], "--call needs a tool, such as --call list_projects; --help lists them"),
    (
        ["--print-config"],
        "--print-config needs a client, such as --print-config claude-code; --help lists them",
    ),
    ([*S, *S], "--root is given twice; give it once"),
    ([*SITE, "--site", "http://x"], "--site is given twice; give it once"),
    ([*S, *SITE], "--root and --url exclude each other; give one source"),
    ([*SITE, "--dist", "x"], "--url and --dist exclude each other; give one source"),
    (["--check", "--call", "x"], "--check and --call exclude each other; run them one by one"),
    (
        ["--call", "list_tags", "--print-config", "zed"],
        "--call and --print-config exclude each other; run them one by one",
    ),
    (["--header", "A: b"], "--header is sent to a site; give --url too"),
    (
        [*SITE, "--refresh-sources"],
        "--refresh-sources fetches what the configuration of a folder names; "
        "leave it out with --url",
    ),
    # addresses and headers
    (["--url", "example.org"], "--url must be the address of a published site"),
    (["--url", "file:///etc", "--check"], "--url must be the address of a published site"),
    (
        ["--url", "example.org", "--print-config", "zed"],
        "--url must be the address of a published site",
    ),
    ([*SITE, "--header", "x"], "--header must be written as 'NAME: VALUE', with a colon"),
    (
        [*SITE, "--header", "Authorization:", "Bearer", "x"],
        "there is a word too many after --header; put quotes around the whole header",
    ),
    # clients
    (["--print-config", "cursr"], 'there is no client "cursr"; did you mean cursor?'),
    (["--print-config", "x"], f'there is no client "x"; write one of {EVERY_CLIENT}'),
    (
        [*SITE, "--header", "A: b", "--print-config", "zed"],
        'the value of the header "A" would stand in the file for all to read; '
        "write it as ${NAME} and set that variable for the client",
    ),
    # tools and their arguments
    ([*CALL, "serch_records"], 'there is no tool "serch_records"; did you mean search_records?'),
    ([*CALL, "x"], f'there is no tool "x"; write one of {EVERY_TOOL}'),
    (
        [*CALL, "search_records", "event bus"],
        '"event bus" is no argument; write NAME=VALUE, such as "query=event bus"',
    ),
    ([*CALL, "get_record", "=7"], '"=7" is no argument; write NAME=VALUE, such as "id=7"'),
    (
        [*CALL, "list_fields", "x=1"],
        "list_fields takes no arguments; leave out what follows it",
    ),
    (
        [*CALL, "search_records", "--limit", "3"],
        'there is no option "--limit"; write the argument as limit=VALUE',
    ),
    (
        [*CALL, "due_reviews", "all=true", '{"all": false}'],
        'the argument "all" is given twice; give it once',
    ),
    (
        [*CALL, "get_record", "{'id': 1}"],
        f"{BAD_JSON} (Expecting property name enclosed in double quotes at character 2); "
        """write it as '{"id": "kafka"}', quoted""",
    ),
    (
        [*CALL, "search_records", '{"a":' + "[" * 30_000],
        f"""{BAD_JSON} (it is too large); write it as '{{"query": "kafka"}}', quoted""",
    ),
]

# Exit code 1: the source cannot be read, or the tool cannot answer. Arguments, and the sentence;
# {top} stands for the folder of the project.
FAILURES = [
    (
        ["--root", "nowhere", "--check"],
        "--root {top}/nowhere does not exist; name the folder of the archive",
    ),
    (["--root", "nowhere"], "--root {top}/nowhere does not exist; name the folder of the archive"),
    (
        ["--root", "LICENSE", "--call", "list_tags"],
        "--root {top}/LICENSE is no folder; name the folder of the archive",
    ),
    (
        ["--root", "nowhere", "--print-config", "zed"],
        "--root {top}/nowhere does not exist; name the folder of the archive",
    ),
    (
        ["--dist", "nowhere", "--print-config", "zed"],
        "--dist {top}/nowhere does not exist; name the folder of the archive",
    ),
    (
        [*CALL, "search_records", "tags=x"],
        'search_records has no argument "tags". Did you mean "tag"?',
    ),
    (
        [*CALL, "search_records", "xxxx=1"],
        f'search_records has no argument "xxxx". Its arguments are {SEARCH_ARGUMENTS}.',
    ),
    (
        [*CALL, "search_records", "limit=five"],
        '"limit" of search_records is "five"; give a whole number, for example 20.',
    ),
    ([*CALL, "search_records", "limit=0"], '"limit" of search_records is 0; give 1 or more.'),
    (
        [*CALL, "due_reviews", "all=yes"],
        '"all" of due_reviews is "yes"; give true or false, for example true.',
    ),
    (
        [*CALL, "search_records", '{"query": 5}'],
        '"query" of search_records is 5; give a text, for example "kafka".',
    ),
    (
        [*CALL, "search_records", '{"query": ["a"]}'],
        '"query" of search_records is a list; give a text, for example "kafka".',
    ),
    (
        [*CALL, "search_records", "field=risk"],
        '"field" is "risk"; write it as name=value, such as risk=high.',
    ),
    (
        [*CALL, "search_records", "since=monday"],
        '"since" is "monday"; write a day as YYYY-MM-DD, such as 2026-01-31.',
    ),
    ([*CALL, "get_record", "id=x"], 'No record matches "x". Use search_records to find ids.'),
    (
        [*CALL, "get_record"],
        'get_record needs "id": Id (sre/adr/0001-define-slos), short id (sre/adr/1), '
        "ref (SRE-ADR-0001), slug or exact title.",
    ),
]

# How a sentence says what to do. The one without is fixed by the contract, word for word.
NEXT_STEP = re.compile(
    r"(?i)(; |\. |: |\bsuch as )(did you mean|see|write|leave|name|run|give|put|use|its arguments|"
    r"id \()|needs .* such as |must be written as"
)
NO_NEXT_STEP = {"--url must be the address of a published site"}


def name_of(case):
    if not isinstance(case, list):
        return str(case)
    return " ".join(word if len(word) < 40 else "…" for word in case if word not in S) or "nothing"


def last_word(done):
    """The last line of stderr, without its prefix; nothing else may be there but repairs."""
    *repairs, last = done.stderr.splitlines()
    assert all("2:14: ': ' inside a value" in line for line in repairs), repairs
    assert last.startswith("inkan mcp: ")
    return last[len("inkan mcp: ") :]


@pytest.mark.parametrize(
    ("arguments", "sentence"), USAGE_FAULTS, ids=[name_of(case[0]) for case in USAGE_FAULTS]
)
def test_wrong_usage_exits_with_2_and_one_sentence(arguments, sentence):
    done = run_server(*arguments)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"inkan mcp: {sentence}\n")


@pytest.mark.parametrize(
    ("arguments", "sentence"), FAILURES, ids=[name_of(case[0]) for case in FAILURES]
)
def test_what_cannot_be_answered_exits_with_1_and_one_sentence(arguments, sentence):
    done = run_server(*arguments)
    assert (done.returncode, done.stdout) == (1, "")
    assert last_word(done).replace("\\", "/") == sentence.replace("{top}", TOP.as_posix())


@pytest.mark.parametrize("sentence", sorted({case[1] for case in USAGE_FAULTS + FAILURES}))
def test_every_sentence_says_what_to_do(sentence):
    assert NEXT_STEP.search(sentence) or sentence in NO_NEXT_STEP


@pytest.mark.parametrize(
    "arguments",
    [
        ["--heder=Authorization: hunter2"],
        [*SITE, "Authorization: hunter2"],
        [*SITE, "--header", "Authorization:", "hunter2"],
        ["http://me:hunter2@example.org"],
        ["token=hunter2"],
        [*SITE, "--header", "Authorization: hunter2", "--print-config", "codex"],
    ],
    ids=name_of,
)
def test_a_secret_that_lost_its_place_is_not_repeated(arguments):
    done = run_server(*arguments)
    assert done.returncode == 2
    assert "hunter2" not in done.stdout + done.stderr


def test_a_header_of_a_variable_that_is_not_set_names_the_variable():
    done = run_server(*SITE, "--header", "Authorization: Bearer ${NOPE}", "--check")
    assert done.returncode == 2
    assert "${NOPE}" in last_word(done)


def test_a_site_out_of_reach_is_named_with_the_reason():
    done = run_server(*SITE, "--call", "list_projects")
    assert done.returncode == 1
    assert last_word(done).startswith("http://127.0.0.1:1/decisions.json cannot be reached (")


def test_a_built_folder_without_an_index_is_named(tmp_path):
    done = run_server("--dist", tmp_path, "--check")
    assert done.returncode == 1
    assert f"{tmp_path / 'decisions.json'} cannot be read" in last_word(done)


def test_a_broken_configuration_exits_with_1_and_its_place(tmp_path):
    write_records(tmp_path, {"inkan.config.json": '{\n  "contentDir": }'})
    done = run_server("--root", tmp_path)
    assert done.returncode == 1
    assert last_word(done).startswith("inkan.config.json:2:17: ")


@pytest.mark.skipif(os.name == "nt", reason="a folder in use cannot be removed there")
def test_a_current_folder_that_is_gone_is_told(tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    start = f"import os, sys\nos.chdir({str(gone)!r})\nos.rmdir({str(gone)!r})\n"
    start += f"sys.path.insert(0, {str(TOP)!r})\nimport inkan_mcp\nsys.exit(inkan_mcp.main())"
    done = subprocess.run(
        [sys.executable, "-c", start, "--check"],
        capture_output=True, env=child_environment(), check=False,
    )  # fmt: skip
    said = b"inkan mcp: the current folder is gone; name the archive's with --root\n"
    assert (done.returncode, done.stderr) == (2, said)


@pytest.mark.parametrize("arguments", [["--check"], ["--call", "list_projects"]], ids=name_of)
def test_the_home_folder_is_not_searched_unasked(tmp_path, arguments):
    write_records(tmp_path, {"docs/adr/0001-a.md": "# A\n\n## Status\n\nAccepted\n"})
    home = {"HOME": str(tmp_path), "USERPROFILE": str(tmp_path)}
    done = run_server(*arguments, path=TOP / "inkan_mcp.py", env=home, cwd=tmp_path)
    assert "is not searched; start the server with --root" in done.stdout


def test_no_configuration_is_printed_for_the_home_folder_unasked(tmp_path):
    home = {"HOME": str(tmp_path), "USERPROFILE": str(tmp_path)}
    done = run_server("--print-config", "zed", path=TOP / "inkan_mcp.py", env=home, cwd=tmp_path)
    assert done.returncode == 2
    assert last_word(done).endswith(" is no archive; name the archive's folder with --root")


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], [*S, "--check"]], ids=name_of)
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_a_full_disk_is_told_in_one_sentence(arguments):
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            server_command(*arguments), stdout=full, stderr=subprocess.PIPE, cwd=TOP,
            env=child_environment(), check=False,
        )  # fmt: skip
    assert done.returncode == 1
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith("inkan mcp: standard output cannot be written: ")
    assert line.endswith("; give it a file with room, or a program that reads")


@pytest.mark.parametrize(
    "arguments",
    [["--help"], [*S, "--check"], [*CALL, "search_records", "limit=200"]],
    ids=name_of,
)
def test_a_reader_that_leaves_early_is_no_fault(arguments):
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        server_command(*arguments), stdout=writing, stderr=subprocess.PIPE, cwd=TOP,
        env=child_environment(), check=False,
    )  # fmt: skip
    os.close(writing)
    assert done.returncode in (0, 1)
    assert b"Traceback" not in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="there are no pseudo-terminals")
def test_a_person_at_a_terminal_is_told_what_is_waited_for():
    import pty

    main, side = pty.openpty()
    process = subprocess.Popen(
        server_command(*S), stdin=side, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=TOP,
        env=child_environment(),
    )  # fmt: skip
    os.close(side)
    said = process.stderr.readline()
    os.close(main)
    process.communicate(timeout=20)
    assert said == (
        b"inkan mcp: waiting for a client's messages on standard input; press Ctrl-C to stop\n"
    )


# What is printed


def test_the_version_is_one_line():
    done = run_server("--version")
    assert (done.returncode, done.stdout) == (0, f"inkan-mcp {inkan_mcp.__version__}\n")


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_names_every_client_tool_and_argument(flag):
    done = run_server(flag)
    assert (done.returncode, done.stderr) == (0, "")
    assert EVERY_CLIENT in done.stdout
    for tool in inkan_mcp.TOOLS.values():
        arguments = ", ".join(argument.name for argument in tool.arguments)
        assert f"  {tool.name:<15} {arguments}".rstrip() in done.stdout.splitlines()


@pytest.mark.parametrize(
    ("words", "limit"),
    [
        (["limit=3"], 3), (["limit=3.0"], 3), (["limit=+3"], 3), (["limit= 3 "], 3),
        (["limit=300"], 200), (["limit="], 20), ([], 20), (['{"limit": 3}'], 3),
        (['{"limit": 3.0, "offset": 0}'], 3), (['{"limit": 3}', "offset=0"], 3), (["{}"], 20),
    ],
    ids=name_of,
)  # fmt: skip
def test_values_are_read_by_the_type_of_the_argument(words, limit):
    done = run_server(*CALL, "search_records", *words)
    assert done.returncode == 0
    assert json.loads(done.stdout)["limit"] == limit


@pytest.mark.parametrize("value", ["true", "TRUE", " True "])
def test_truth_is_read_in_any_case(value):
    done = run_server(*CALL, "search_records", f"current_only={value}", "limit=1")
    everything = run_server(*CALL, "search_records", "current_only=false", "limit=1")
    assert 0 < json.loads(done.stdout)["total"] < json.loads(everything.stdout)["total"]


def test_only_the_first_equals_sign_splits():
    done = run_server(*CALL, "search_records", "field=risk=high")
    assert {row["fields"]["risk"] for row in json.loads(done.stdout)["records"]} == {"high"}


def test_a_number_for_a_text_stays_a_text():
    assert json.loads(run_server(*CALL, "search_records", "query=2026").stdout)["total"] >= 0


def test_a_record_is_printed_as_yaml_and_body_with_a_line_end():
    done = run_server(*CALL, "get_record", "id=platform/adr/1")
    assert done.stdout.startswith("---\nid: platform/adr/0001-")
    assert done.stdout.endswith("\n")
    assert not done.stdout.endswith("\n\n")


def test_check_reports_every_fault_with_place_level_and_sentence():
    done = run_server("--root", BROKEN, "--check")
    *faults, total = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (1, "")
    assert total == "5 records in 1 project: 3 errors, 1 warning"
    row = re.compile(r"[^:]+\.md(:[0-9]+:[0-9]+)?: (error|warning): \S.*; \S.*")
    assert len(faults) == 4
    assert all(row.fullmatch(line) for line in faults)
    assert faults == sorted(faults)


def test_check_of_a_good_archive_exits_with_0(tmp_path):
    record = "---\ntitle: A\nstatus: accepted\ndate: 2026-01-02\n---\nText.\n"
    write_records(tmp_path, {"inkan.config.json": "{}", "content/sre/adr/0001-a.md": record})
    done = run_server("--root", tmp_path, "--check")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "1 record in 1 project: 0 errors, 0 warnings\n"


def test_check_of_a_broken_configuration_is_in_the_same_form(tmp_path):
    write_records(tmp_path, {"inkan.config.json": '{\n  "contentDir": }'})
    done = run_server("--root", tmp_path, "--check")
    fault, total = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (1, "")
    assert fault.startswith("inkan.config.json:2:17: error: ")
    assert total == "1 error, 0 warnings"


def test_check_of_an_empty_folder_says_where_records_were_looked_for(tmp_path):
    done = run_server("--root", tmp_path, "--check")
    assert done.returncode == 1
    assert done.stdout.startswith(f"error: No decision records were found below {tmp_path}")
    assert done.stdout.endswith("\n0 records in 0 projects: 1 error, 0 warnings\n")
    assert "--root" in done.stdout


def test_options_may_be_joined_to_their_values_by_an_equals_sign():
    done = run_server(f"--root={SAMPLE}", "--call=list_projects")
    assert len(json.loads(done.stdout)["projects"]) == 3


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (["--root", "tests/data/sample"], ["--root", str(SAMPLE)]),
        (["--dist", "tests"], ["--dist", str(TOP / "tests")]),
        (["--site", "https://example.org/x"], ["--url", "https://example.org/x"]),
        (
            ["--url", "https://example.org", "--header", "A: ${B}"],
            ["--header", "A: ${B}", "--url", "https://example.org"],
        ),
    ],
    ids=["folder", "built", "site", "header"],
)
def test_printed_configuration_names_the_source_from_anywhere(source, words):
    done = run_server(*source, "--print-config", "cursor")
    server = json.loads(done.stdout)["mcpServers"]["inkan"]
    assert done.returncode == 0
    assert server["command"] == sys.executable
    assert server["args"] == [str(TOP / "inkan_mcp.py"), *words]
    assert done.stderr.startswith("inkan mcp: put this into .cursor/mcp.json")
