"""Records of other repositories in a real server process: fetched with git, served, and ended."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time

import pytest
from helpers import (
    EXIT_SECONDS,
    MEASURED,
    Server,
    record_source,
    requirement,
    run_server,
    write_records,
)

GIT = shutil.which("git")
pytestmark = pytest.mark.skipif(GIT is None, reason="git is not installed")
posix = pytest.mark.skipif(os.name == "nt", reason="needs a POSIX system")

LISTS = (
    "list_projects", "search_records", "list_tags", "list_fields", "list_authors", "due_reviews",
    "rfc_reviews",
)  # fmt: skip
LEDGER, OPEN = "payments/adr/0001-ledger", "payments/rfc/0002-split"
RECORDS = {
    f"docs/decisions/{LEDGER}.md": record_source(
        "\n# Ledger\n\nWords of the ledger.\n", title="Ledger", status="accepted", tags=["money"],
        authors=["ada"], reviewBy="2026-12-10", cost=3,
    ),
    f"docs/decisions/{OPEN}.md": record_source(
        title="Split", status="in-review", authors=["bo"], reviewers=["cy"],
    ),
    "docs/decisions/payments/_project.yml": "name: Payments\nfields: { cost: { type: number } }\n",
    "src/0009-not-wanted.md": record_source(title="Not wanted"),
}  # fmt: skip
LOCAL = {"content/sre/adr/0001-slo.md": record_source(title="SLO", status="accepted")}


# Coverage is written as a process ends, in the midst of the threads that a signal or the end of the
# input stops; that is another program than the one that is tested.
unmeasured = pytest.mark.skipif(MEASURED, reason="measured processes end in another way")


def git(folder, *arguments):
    """Run git as a person would."""
    who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgSign=false"]
    command = [GIT, *who, "-c", "init.defaultBranch=main", *arguments]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


def commit(folder, files):
    write_records(folder, files)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "Write records")


@pytest.fixture
def origin(tmp_path):
    """The other repository."""
    folder = tmp_path / "origin"
    folder.mkdir()
    git(folder, "init", "--quiet")
    commit(folder, RECORDS)
    return folder


@pytest.fixture
def env(tmp_path):
    """A cache of its own."""
    cache = str(tmp_path / "cache")
    return {"XDG_CACHE_HOME": cache, "LOCALAPPDATA": cache, "GIT_CONFIG_NOSYSTEM": "1"}


@pytest.fixture
def archive(tmp_path):
    """Write an archive whose configuration names sources."""

    def write(*sources, **files):
        config = json.dumps({"sources": list(sources)}, indent=1)
        return write_records(tmp_path / "root", {**LOCAL, **files, "inkan.config.json": config})

    return write


def of(url, **members):
    return {"repo": str(url), "ref": "main", "path": "docs/decisions", **members}


@pytest.fixture
def slow_git(tmp_path, env):
    """A git whose fetches wait for `open()`, and write to standard output meanwhile."""

    class Gate:
        path = tmp_path / "open"

        def open(self):
            self.path.write_bytes(b"")

    script = f"""#!/bin/sh
case "$*" in *fetch*)
    echo "$*" >> '{tmp_path}/fetches'
    echo '{{"jsonrpc":"2.0","method":"noise"}}'
    while [ ! -e '{Gate.path}' ]; do sleep 0.02; done
esac
exec '{GIT}' "$@"
"""
    tools = write_records(tmp_path / "bin", {"git": script})
    (tools / "git").chmod(0o755)
    env["PATH"] = f"{tools}{os.pathsep}{os.environ['PATH']}"
    return Gate()


@pytest.fixture
def silent():
    """A server that takes connections and never answers; git waits for it without end."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(20)
        yield server


def silent_repo(server):
    return of(f"http://127.0.0.1:{server.getsockname()[1]}/origin")


# ── What is served ────────────────────────────────────────────────────────────────────────────


def names(rows):
    return [row["name"] for row in rows]


def test_records_of_a_repository_show_in_all_eight_tools(origin, archive, env):
    with Server("--root", archive(of(origin)), env=env) as server:
        projects = server.call("list_projects")["projects"]
        assert [(p["id"], p["name"], p["records"]) for p in projects] == [
            ("payments", "Payments", 2), ("sre", "sre", 1),
        ]  # fmt: skip
        found = server.call("search_records", query="words of the ledger")
        assert [record["id"] for record in found["records"]] == [LEDGER]
        assert "warnings" not in found
        record = server.call("get_record", id="PAYMENTS-ADR-0001")
        assert record["path"] == f"{origin}@main:docs/decisions/{LEDGER}.md"
        assert "Words of the ledger." in record["body"]
        assert names(server.call("list_tags")["tags"]) == ["money"]
        assert names(server.call("list_fields")["projects"]["payments"]) == ["cost"]
        assert names(server.call("list_authors")["authors"]) == ["ada", "bo"]
        assert [r["id"] for r in server.call("due_reviews")["records"]] == [LEDGER]
        assert [r["id"] for r in server.call("rfc_reviews", reviewer="cy")["records"]] == [OPEN]


def test_records_of_a_repository_are_resources(origin, archive, env):
    with Server("--root", archive(of(origin)), env=env) as server:
        listed = [resource["uri"] for resource in server.request("resources/list")["resources"]]
        assert f"decision://{LEDGER}" in listed
        (content,) = server.request("resources/read", {"uri": f"decision://{LEDGER}"})["contents"]
        assert "Words of the ledger." in content["text"]


def test_project_of_an_entry_takes_the_whole_folder(origin, archive, env):
    entry = of(origin, path="./docs/decisions/payments/", project="money")
    with Server("--root", archive(entry), env=env) as server:
        record = server.call("get_record", id="money/adr/1")
        assert (record["id"], record["project"]) == ("money/adr/0001-ledger", "money")
        assert record["path"] == f"{origin}@main:docs/decisions/payments/adr/0001-ledger.md"


def test_content_folder_wins_where_ids_meet(origin, archive, env):
    mine = record_source(title="Mine", status="accepted")
    root = archive(of(origin), **{f"content/{LEDGER}.md": mine})
    with Server("--root", root, env=env) as server:
        assert server.call("get_record", id=LEDGER)["title"] == "Mine"
        (warning,) = server.call("search_records")["warnings"]
        assert warning.startswith(f"{origin}@main:docs/decisions/{LEDGER}.md: the id {LEDGER} is")
        assert f"taken by content/{LEDGER}.md" in warning
    assert run_server("--root", root, "--check", env=env).returncode == 1


# ── While it is fetched ───────────────────────────────────────────────────────────────────────


@posix
def test_initialize_is_answered_and_calls_are_told_while_git_fetches(
    origin, archive, env, slow_git
):
    with Server("--root", archive(of(origin), of(origin, ref="HEAD")), env=env) as server:
        assert server.initialize()["serverInfo"]["name"] == "inkan"
        assert server.request("ping") == {}
        assert server.request("tools/list")["tools"]
        tools = ("list_projects", "search_records")
        params = ({"name": name, "_meta": {"progressToken": name}} for name in tools)
        calls = [server.start("tools/call", one) for one in params]
        server.wait_until(lambda: all(len(told(server, name)) > 1 for name in tools))
        assert not any(server.answers(call) for call in calls)
        slow_git.open()
        for call in calls:
            assert not server.answer(call)["result"].get("isError")
        for name in tools:
            values = [params["progress"] for params in told(server, name)]
            assert values == sorted(set(values))
            assert f"fetching {origin}@" in told(server, name)[0]["message"]
        assert [line for line in server.errors if "fetching" in line] == [
            f"inkan mcp: fetching {origin}@main", f"inkan mcp: fetching {origin}@HEAD",
        ]  # fmt: skip
        assert not server.notifications("noise")


def told(server, token):
    """The progress that a call heard of so far."""
    heard = [message["params"] for message in server.notifications("notifications/progress")]
    return [params for params in heard if params["progressToken"] == token]


@posix
def test_cancelled_call_gets_no_answer_and_the_next_one_is_served(origin, archive, env, slow_git):
    with Server("--root", archive(of(origin)), env=env) as server:
        params = {"name": "list_projects", "_meta": {"progressToken": "x"}}
        call = server.start("tools/call", params)
        server.wait_until(lambda: told(server, "x"))
        server.notify("notifications/cancelled", {"requestId": call})
        slow_git.open()
        assert len(server.call("list_projects")["projects"]) == 2
        assert not server.answers(call)


def test_cached_records_are_served_without_the_repository_until_a_refresh(
    origin, archive, env, tmp_path
):
    root = archive(of(origin))
    assert run_server("--root", root, "--call", "list_tags", env=env).returncode == 0
    commit(origin, {"docs/decisions/payments/adr/0003-new.md": record_source(title="New")})
    with Server("--root", root, env=env) as server:
        said = server.wait_for_stderr(f"{origin}@main is used as fetched on 20")
        assert said.endswith("--refresh-sources fetches it again")
        assert server.call("search_records", query="new")["total"] == 0
    with Server("--root", root, "--refresh-sources", env=env) as server:
        assert server.call("search_records", query="new")["total"] == 1
        assert f"inkan mcp: fetching {origin}@main" in server.errors
    origin.rename(tmp_path / "away")
    done = run_server("--root", root, "--check", env=env)
    assert f"\n{origin}@main: fetched on 20" in f"\n{done.stdout}"
    assert done.returncode == 0


def test_two_servers_starting_at_once_serve_the_same_records(origin, archive, env):
    root = archive(of(origin))
    with Server("--root", root, env=env) as one, Server("--root", root, env=env) as other:
        calls = [(server, server.start("tools/call", {"name": "list_projects"}))
                 for server in (one, other)]  # fmt: skip
        texts = [server.answer(call)["result"]["content"] for server, call in calls]
        assert texts[0] == texts[1]
        assert '"records":2' in texts[0][0]["text"]


def test_source_that_is_added_while_the_server_runs_is_fetched(origin, archive, env):
    root = archive()
    with Server("--root", root, env=env) as server:
        assert len(server.call("list_projects")["projects"]) == 1
        archive(of(origin))
        assert len(server.call("list_projects")["projects"]) == 2


# ── What fails ────────────────────────────────────────────────────────────────────────────────


def test_failing_source_is_a_warning_in_every_list_and_the_rest_is_served(
    origin, archive, env, tmp_path
):
    root = archive(of(tmp_path / "nowhere"), of(origin, ref="mian"))
    with Server("--root", root, env=env) as server:
        for tool in LISTS:
            nowhere, ref = server.call(tool)["warnings"]
            assert nowhere.startswith(f"{tmp_path / 'nowhere'}@main cannot be fetched: fatal: ")
            assert nowhere.endswith("check the address in `repo`, and whether you may read it")
            assert ref.endswith('or commit "mian"; write another ref, such as main')
        assert server.call("get_record", id="sre/adr/1")["title"] == "SLO"
        assert len([line for line in server.errors if "fetching" in line]) == 2
        assert len([line for line in server.errors if "cannot be fetched" in line]) == 2
    done = run_server("--root", root, "--check", env=env)
    assert done.returncode == 1
    assert f"error: {tmp_path / 'nowhere'}@main cannot be fetched: " in done.stdout
    assert done.stderr == ""


def test_archive_without_any_record_tells_the_reason_of_git(archive, env, tmp_path):
    root = archive(of(tmp_path / "nowhere"))
    (root / "content/sre/adr/0001-slo.md").unlink()
    with Server("--root", root, env=env) as server:
        looked, reason = server.call("search_records")["warnings"]
        assert looked.startswith("No record was found in ")
        assert "nowhere@main cannot be fetched: fatal: " in reason


@posix
def test_failing_source_is_asked_for_once_a_minute_and_heals(
    origin, archive, env, slow_git, tmp_path
):
    slow_git.open()
    root = archive(of(tmp_path / "later"))
    script = "import sys, inkan_mcp\ninkan_mcp.GIT_RETRY_SECONDS = 2\nsys.exit(inkan_mcp.main())\n"
    path = write_records(tmp_path, {"soon.py": script}) / "soon.py"
    env["PYTHONPATH"] = os.pathsep.join(sys.path)
    with Server("--root", root, path=path, env=env) as server:
        for _ in range(3):
            assert server.call("list_tags")["warnings"]
        assert (tmp_path / "fetches").read_text(encoding="utf-8").count("refs/heads/main") == 1
        origin.rename(tmp_path / "later")
        end = time.monotonic() + 20
        while "warnings" in server.call("search_records"):
            assert time.monotonic() < end
        assert server.call("search_records")["total"] == 3


def test_git_that_is_missing_is_told(origin, archive, env, tmp_path):
    env["PATH"] = str(tmp_path)
    with Server("--root", archive(of(origin)), env=env) as server:
        (warning,) = server.call("list_projects")["warnings"]
        assert warning == (
            f"{origin}@main cannot be fetched: git was not found; install git or set PATH"
        )


@pytest.mark.parametrize("arguments", [(), ("--check",), ("--call", "list_tags")])
def test_refused_entry_ends_the_start_with_its_place(archive, env, arguments):
    root = archive({"repo": "ext::sh -c 'touch x'"})
    done = run_server("--root", root, *arguments, env=env)
    assert done.returncode == 1
    told = "sources[0].repo \"ext::sh -c 'touch x'\" uses the transport ext; write https, "
    where = "inkan.config.json:4:4: " + ("error: " if "--check" in arguments else "")
    assert where + told in (done.stdout if "--check" in arguments else done.stderr)


# ── The end ───────────────────────────────────────────────────────────────────────────────────


def wait_for_the_end(connection):
    """Wait until nothing of git holds the connection any more."""
    connection.settimeout(EXIT_SECONDS)
    try:
        while connection.recv(65536):
            pass
    except ConnectionError:
        return


@unmeasured
@requirement("eof-gone")
@pytest.mark.parametrize("state", ["untouched", "idle", "waiting"])
def test_end_of_input_during_a_fetch_ends_the_server_and_git(archive, env, silent, state):
    server = Server("--root", archive(silent_repo(silent)), env=env)
    connection, _ = silent.accept()
    with connection:
        if state != "untouched":
            server.initialize()
        if state == "waiting":
            server.start("tools/call", {"name": "list_projects"})
        server.close()  # which asserts the time, exit 0 and a clean stdout
        wait_for_the_end(connection)
    assert "Traceback" not in server.stderr


@requirement("signals")
@posix
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["TERM", "INT"])
@pytest.mark.parametrize("state", ["untouched", "idle", "waiting"])
def test_a_signal_during_a_fetch_ends_the_server_and_git(archive, env, silent, state, number):
    server = Server("--root", archive(silent_repo(silent)), env=env)
    connection, _ = silent.accept()
    with connection:
        if state != "untouched":
            server.initialize()
        if state == "waiting":
            server.start("tools/call", {"name": "list_projects"})
        start = time.monotonic()
        server.process.send_signal(number)
        assert server.process.wait(EXIT_SECONDS) == 128 + number
        assert time.monotonic() - start < (5 if MEASURED else 1)
        wait_for_the_end(connection)
    server.kill()
    assert "Traceback" not in server.stderr


@unmeasured
@requirement("signals")
@posix
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["TERM", "INT"])
@pytest.mark.parametrize("arguments", [("--check",), ("--call", "list_tags")])
def test_a_signal_during_one_call_ends_git_too(archive, env, silent, arguments, number):
    with Server("--root", archive(silent_repo(silent)), *arguments, env=env) as server:
        connection, _ = silent.accept()
        with connection:
            server.process.send_signal(number)
            assert server.process.wait(EXIT_SECONDS) == 128 + number
            wait_for_the_end(connection)
        server.process.returncode = 0
        assert "Traceback" not in server.stderr


def test_call_that_needs_no_record_ends_git_as_it_ends(archive, env, silent):
    root = archive(silent_repo(silent))
    done = run_server("--root", root, "--call", "search_records", "limit=0", env=env)
    assert done.returncode == 1
    assert "limit" in done.stderr
    silent.settimeout(0.2)
    try:
        connection, _ = silent.accept()
    except OSError:
        return  # it had not even begun
    with connection:
        wait_for_the_end(connection)
