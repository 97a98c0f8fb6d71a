"""Sources with `repo`: real git over local paths, `file:`, `git:` and `http:` on loopback."""

from __future__ import annotations

import base64
import http.server
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import inkan_mcp

GIT = shutil.which("git")
pytestmark = pytest.mark.skipif(GIT is None, reason="git is not installed")
posix = pytest.mark.skipif(os.name == "nt", reason="needs a POSIX system")

RECORD = "---\ntitle: Define SLOs\nstatus: accepted\n---\n\n# Define SLOs\n"
TODAY = "2026-01-15"


@pytest.fixture
def environ(tmp_path):
    """What a user's environment may hold, without that of this machine."""
    home = tmp_path / "home"
    home.mkdir()
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "TEMP") if name in os.environ}
    return {
        **kept,
        "HOME": str(home),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "no_proxy": "127.0.0.1",
    }


@pytest.fixture
def git(environ):
    """Runs git as a person would and gives back what it says."""

    def run(folder, *arguments):
        who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
        quiet = ["-c", "init.defaultBranch=main", "-c", "commit.gpgSign=false"]
        return subprocess.run(
            [GIT, *who, *quiet, *arguments],
            cwd=folder,
            env=environ,
            check=True,
            capture_output=True,
            encoding="utf-8",
        ).stdout.strip()

    return run


def write(folder, name, text):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())  # line ends as they are, on every platform


def commit(git, folder, name, text):
    write(folder, name, text)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", f"Write {name}")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def origin(tmp_path, git):
    """A repository with records, other folders, a branch and a tag."""
    folder = tmp_path / "origin"
    folder.mkdir()
    git(folder, "init", "--quiet")
    write(folder, "src/big.txt", "not wanted\n" * 1000)
    write(folder, "docs/other/notes.md", "notes\n")
    commit(git, folder, "docs/decisions/sre/adr/0001-define-slos.md", RECORD)
    git(folder, "tag", "-a", "v1.0", "-m", "First")
    commit(git, folder, "docs/decisions/sre/adr/0002-second.md", RECORD)
    git(folder, "checkout", "--quiet", "-b", "feature/next")
    commit(git, folder, "docs/decisions/sre/adr/0003-third.md", RECORD)
    git(folder, "checkout", "--quiet", "main")
    return folder


class Clock:
    """A clock that a test moves."""

    def __init__(self):
        self.time = 1000.0

    def __call__(self):
        return self.time


@pytest.fixture
def repository(environ, tmp_path):
    """Makes repositories whose log is the list `repository.log`, and ends their gits."""
    made = []

    def make(url, ref=None, path=None, **options):
        options.setdefault("environ", environ)
        made.append(
            inkan_mcp.Repository(str(url), ref, path, str(tmp_path), log=make.log.append, **options)
        )
        return made[-1]

    make.log = []
    yield make
    for one in made:
        one.stop()


def call(report=None):
    return inkan_mcp.Call(TODAY, report)


def files_of(folder):
    found = (path for path in Path(folder).rglob("*") if not path.is_dir())
    return sorted(path.relative_to(folder).as_posix() for path in found)


def failure_of(repository):
    with pytest.raises(inkan_mcp.SourceError) as caught:
        repository.folder(call())
    return str(caught.value)


FIRST, SECOND, THIRD = (
    "sre/adr/0001-define-slos.md",
    "sre/adr/0002-second.md",
    "sre/adr/0003-third.md",
)

# ── Which version ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("ref", "expected"),
    [
        (None, [FIRST, SECOND]),
        ("HEAD", [FIRST, SECOND]),
        ("main", [FIRST, SECOND]),
        ("feature/next", [FIRST, SECOND, THIRD]),
        ("refs/heads/feature/next", [FIRST, SECOND, THIRD]),
        ("v1.0", [FIRST]),
    ],
)
def test_branch_tag_or_default_branch_is_fetched(repository, origin, ref, expected):
    one = repository(origin, ref, "docs/decisions")
    assert files_of(one.folder(call())) == expected
    assert one.name == f"{origin}@{ref or 'HEAD'}"


@pytest.mark.parametrize("length", [40, 10])
def test_commit_in_full_or_abbreviated_is_fetched(repository, origin, git, length):
    first = git(origin, "rev-parse", "v1.0^{commit}")
    one = repository(origin.as_uri(), first[:length], "docs/decisions/")
    assert files_of(one.folder(call())) == [FIRST]
    assert f"(commit {first[:12]})" in one.fetched()


def test_branch_wins_over_a_tag_of_the_same_name(repository, origin, git):
    git(origin, "branch", "twice", "feature/next")
    git(origin, "tag", "twice", "v1.0^{commit}")
    assert THIRD in files_of(repository(origin, "twice", "docs/decisions").folder(call()))


def test_branch_that_looks_like_a_commit_is_a_branch(repository, origin, git):
    git(origin, "branch", "cafe", "feature/next")
    assert THIRD in files_of(repository(origin, "cafe", "docs/decisions").folder(call()))


def test_missing_ref_is_told_with_the_nearest_name(repository, origin):
    assert failure_of(repository(origin, "feature/nxt")) == (
        f"{origin}@feature/nxt cannot be fetched: the repository has no branch, tag or commit "
        '"feature/nxt"; write another ref, such as feature/next'
    )


@pytest.mark.parametrize("ref", ["0123456789", "0123456789" * 4])
def test_missing_commit_is_told(repository, origin, ref):
    assert f'no branch, tag or commit "{ref}"' in failure_of(repository(origin.as_uri(), ref))


def test_repository_without_commits_is_told(repository, tmp_path, git):
    git(tmp_path, "init", "--quiet", "empty")
    assert "has no branch yet" in failure_of(repository(tmp_path / "empty"))


def test_repository_with_long_hashes_is_fetched(repository, tmp_path, git):
    folder = tmp_path / "long"
    try:
        git(tmp_path, "init", "--quiet", "--object-format=sha256", "long")
    except subprocess.CalledProcessError:
        pytest.skip("this git knows one object format only")
    commit(git, folder, "0001-a.md", RECORD)
    assert files_of(repository(folder.as_uri()).folder(call())) == ["0001-a.md"]


# ── Which files ───────────────────────────────────────────────────────────────────────────────


def test_only_the_folder_is_kept_without_any_git_folder(repository, origin, tmp_path):
    folder = repository(origin, None, "./docs/decisions/").folder(call())
    assert files_of(folder) == [FIRST, SECOND]
    assert not [name for name in files_of(tmp_path / "cache") if ".git" in name.split("/")]
    assert not list((tmp_path / "cache").rglob("partial-*"))


def test_whole_repository_is_kept_without_a_path(repository, origin):
    assert "src/big.txt" in files_of(repository(origin).folder(call()))


@pytest.mark.parametrize("name", ["a [b]*", "naïve", " spaced ", "!x", "#x"])
def test_folder_with_an_unusual_name_is_fetched(repository, tmp_path, git, name):
    if os.name == "nt" and not name.isalnum():
        pytest.skip("not a name there")
    origin = tmp_path / "origin"
    git(tmp_path, "init", "--quiet", "origin")
    write(origin, "a b*/0002-b.md", RECORD)
    commit(git, origin, f"{name}/0001-a.md", RECORD)
    assert files_of(repository(origin, None, name).folder(call())) == ["0001-a.md"]


def test_missing_path_is_told_with_the_nearest_folder(repository, origin):
    assert failure_of(repository(origin, "main", "docs/decision")) == (
        f'{origin}@main cannot be used: "docs/decision" does not exist in the repository; '
        'did you mean "docs/decisions"?'
    )


def test_path_of_a_file_is_told(repository, origin):
    assert '"src/big.txt" is no folder of' in failure_of(repository(origin, None, "src/big.txt"))


def test_local_path_starts_from_the_folder_of_the_config(repository, origin):
    assert files_of(repository("./origin", None, "docs/decisions").folder(call()))
    assert files_of(repository("file:origin", None, "docs/decisions").folder(call()))


# ── The cache ─────────────────────────────────────────────────────────────────────────────────


def test_cached_copy_is_used_without_git(repository, origin, environ):
    first = repository(origin, "main", "docs/decisions")
    assert first.fetched() == "never"
    first.start()
    folder = first.folder(call())
    again = repository(origin, "main", "docs/decisions", environ={**environ, "PATH": ""})
    again.start()
    assert again.folder(call()) == folder
    assert re.match(r"20\d\d-\d\d-\d\d \d\d:\d\d \(commit [0-9a-f]{12}\)", again.fetched())
    assert repository.log == [
        f"fetching {first.name}",
        f"{first.name} is used as fetched on {again.fetched()}; --refresh-sources fetches it again",
    ]


def test_refresh_shows_new_records_and_keeps_the_old_copy_for_its_readers(repository, origin, git):
    reader = repository(origin, None, "docs/decisions")
    old = reader.folder(call())
    commit(git, origin, "docs/decisions/" + THIRD, RECORD)
    fresh = repository(origin, None, "docs/decisions", refresh=True)
    fresh.start()
    assert files_of(fresh.folder(call())) == [FIRST, SECOND, THIRD]
    assert files_of(old) == [FIRST, SECOND]
    assert reader.folder(call()) == fresh.folder(call())


def test_refreshes_do_not_pile_up(repository, origin, tmp_path):
    for _ in range(4):
        repository(origin, None, "docs/decisions", refresh=True).folder(call())
    assert len(list((tmp_path / "cache").rglob("records"))) == 2


def test_failed_refresh_keeps_the_old_copy_and_heals(repository, origin, tmp_path):
    repository(origin, None, "docs/decisions").folder(call())
    origin.rename(tmp_path / "away")
    clock = Clock()
    one = repository(origin, None, "docs/decisions", refresh=True, now=clock)
    assert files_of(one.folder(call())) == [FIRST, SECOND]
    assert "cannot be fetched" in one.problem
    assert "the copy of 20" in one.problem
    (tmp_path / "away").rename(origin)
    clock.time += 61
    for _ in wait_until(lambda: one.problem is None):
        assert files_of(one.folder(call())) == [FIRST, SECOND]


def test_sources_that_differ_never_share_a_folder(repository, origin):
    folders = {
        repository(url, ref, path).folder(call())
        for url in (origin, origin.as_uri())
        for ref in (None, "main")
        for path in (None, "docs")
    }
    assert len(folders) == 8


def test_new_password_finds_the_copy_fetched_with_the_old_one(environ):
    def place(url):
        wanted = inkan_mcp.Wanted(url, None, None, ".")
        return inkan_mcp.RepositoryCache(wanted, environ).place

    assert place("https://ada:old@example.org/a.git") == place("https://b:new@example.org/a.git")
    assert place("https://example.org/a.git") != place("https://example.org/b.git")


def test_damaged_copy_is_fetched_again(repository, origin, tmp_path):
    repository(origin, None, "docs").folder(call())
    next((tmp_path / "cache").rglob("stamp.json")).write_text("{", encoding="utf-8")
    assert files_of(repository(origin, None, "docs/").folder(call()))


def test_old_leftovers_of_killed_fetches_are_removed_and_young_ones_kept(
    repository, origin, tmp_path
):
    place = Path(repository(origin).folder(call())).parents[1]
    for name, age in (("partial-1-old", 7200), ("partial-2-young", 10)):
        write(place / name, "tree/0001-half.md", RECORD)
        os.utime(place / name, (time.time() - age,) * 2)
    repository(origin, refresh=True).folder(call())
    assert [path.name for path in place.glob("partial-*")] == ["partial-2-young"]


def test_cache_that_cannot_be_written_is_told(repository, origin, environ, tmp_path):
    write(tmp_path, "blocked", "a file where the folder should be")
    environ["XDG_CACHE_HOME"] = environ["LOCALAPPDATA"] = str(tmp_path / "blocked")
    told = failure_of(repository(origin))
    assert f"{origin}@HEAD cannot be stored in {tmp_path / 'blocked'}" in told
    assert told.endswith("to one that is")


@posix
@pytest.mark.skipif(hasattr(os, "getuid") and os.getuid() == 0, reason="root writes everywhere")
def test_read_only_cache_is_told(repository, origin, environ, tmp_path):
    (tmp_path / "cache").mkdir(mode=0o500)
    assert "Permission denied" in failure_of(repository(origin))


@posix
def test_cache_folder_follows_the_platform(monkeypatch):
    environ = {"HOME": "/home/ada", "XDG_CACHE_HOME": "relative"}
    monkeypatch.setattr(sys, "platform", "linux")
    assert inkan_mcp.cache_folder(environ) == "/home/ada/.cache/inkan-mcp"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert inkan_mcp.cache_folder(environ) == "/home/ada/Library/Caches/inkan-mcp"
    environ["XDG_CACHE_HOME"] = "/var/cache/ada"
    assert inkan_mcp.cache_folder(environ) == "/var/cache/ada/inkan-mcp"


FETCH_IN_A_PROCESS = """
import json, os, sys
sys.path.insert(0, sys.argv[1])
import inkan_mcp
one = inkan_mcp.Repository(*json.loads(sys.argv[2]), ".", environ=os.environ, log=lambda line: None)
sys.stdin.readline()
sys.stdout.write(one.folder(inkan_mcp.Call("2026-01-15")))
"""


def fetch_in_a_process(environ, *entry):
    """Another server, which begins to fetch at the end of its input."""
    root = str(Path(inkan_mcp.__file__).parent)
    return subprocess.Popen(
        [sys.executable, "-c", FETCH_IN_A_PROCESS, root, json.dumps([str(e) for e in entry])],
        env=environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def test_two_servers_starting_at_once_both_serve_whole_records(environ, origin, tmp_path):
    servers = [fetch_in_a_process(environ, origin, "main", "docs/decisions") for _ in range(3)]
    answers = [server.communicate("\n", timeout=60) for server in servers]
    assert [stderr for _, stderr in answers] == ["", "", ""]
    for folder, _ in answers:
        assert files_of(folder) == [FIRST, SECOND]
    assert not list((tmp_path / "cache").rglob("partial-*"))


def test_number_taken_by_another_server_is_its_folder(environ, tmp_path):
    wanted = inkan_mcp.Wanted("https://example.org/a.git", None, None, ".")
    cache = inkan_mcp.RepositoryCache(wanted, environ)
    for text in ("winner", "loser"):
        folder = Path(cache.make_partial())
        write(folder, "records/a.md", text)
        write(folder, "stamp.json", "{}" if text == "loser" else '{"time": 1}')
        cache.publish(str(folder), 1)
    assert (Path(cache.find_newest()) / "records/a.md").read_text(encoding="utf-8") == "winner"


@pytest.mark.parametrize("kill", [True, False])
def test_fetch_killed_in_the_middle_leaves_nothing_half_read(
    repository, environ, silent_server, kill
):
    """The server never answers, the process is killed or ended, and a later fetch is whole."""
    server = fetch_in_a_process(environ, silent_server.url, "main", "docs")
    server.stdin.write("\n")
    server.stdin.flush()
    with silent_server.accept() as connection:
        (server.kill if kill else server.terminate)()
        server.communicate(timeout=10)
        one = repository(silent_server.url, "main", "docs")
        assert one.fetched() == "never"
        connection.close()


# ── Failures ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("path", ["", "relative", None])
def test_missing_git_is_told(repository, origin, environ, path, tmp_path):
    environ["PATH"] = str(tmp_path) if path is None else path
    assert failure_of(repository(origin)) == (
        f"{origin}@HEAD cannot be fetched: git was not found; install git or set PATH"
    )


def test_missing_repository_is_told_in_the_words_of_git(repository, tmp_path):
    told = failure_of(repository("./nowhere"))
    assert told.startswith("./nowhere@HEAD cannot be fetched: fatal: ")
    assert "does not appear to be a git repository" in told
    assert told.endswith("check the address in `repo`, and whether you may read it")
    assert "\n" not in told


def test_failure_is_tried_again_after_a_minute_and_heals(repository, origin, tmp_path):
    clock = Clock()
    one = repository("./later", None, "docs/decisions", now=clock)
    told = failure_of(one)
    origin.rename(tmp_path / "later")
    clock.time += 59
    assert failure_of(one) == told
    assert repository.log == [f"fetching {one.name}"]
    clock.time += 2
    assert files_of(one.folder(call())) == [FIRST, SECOND]
    assert one.problem is None


@posix
def test_program_that_is_no_git_is_told(repository, origin, environ, tmp_path):
    write(tmp_path, "bin/git", "#!/nowhere/interpreter\n")
    (tmp_path / "bin/git").chmod(0o755)
    environ["PATH"] = str(tmp_path / "bin")
    assert "cannot be run" in failure_of(repository(origin))


# ── Servers ───────────────────────────────────────────────────────────────────────────────────


class Backend(http.server.BaseHTTPRequestHandler):
    """Hands requests to `git http-backend`, as a web server would."""

    protocol_version = "HTTP/1.0"

    def do_GET(self):
        self.server.seen.append(dict(self.headers))
        if self.server.password and self.headers.get("Authorization") != self.server.password:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="records"')
            self.end_headers()
            return
        path, _, query = self.path.partition("?")
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        environ = {
            **self.server.environ,
            "GIT_PROJECT_ROOT": str(self.server.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
        }
        done = subprocess.run(
            [GIT, "http-backend"], input=body, env=environ, capture_output=True, check=False
        )
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        status = re.search(rb"Status: (\d+)", head)
        self.send_response(int(status[1]) if status else 200)
        for line in head.decode("latin-1").split("\r\n"):
            name, _, value = line.partition(": ")
            if name and name != "Status":
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def do_POST(self):
        self.do_GET()

    def log_message(self, *arguments):
        """Say nothing."""


@pytest.fixture
def web(tmp_path, environ):
    """An HTTP server for the repositories below `tmp_path`; `password` makes it ask for one."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Backend)
    server.root, server.environ, server.seen, server.password = tmp_path, dict(environ), [], None
    server.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


class Silent:
    """A server that takes connections and never answers."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.socket.settimeout(20)
        self.address = f"127.0.0.1:{self.socket.getsockname()[1]}"
        self.url = f"http://{self.address}/origin"

    def accept(self):
        connection, _ = self.socket.accept()
        connection.settimeout(20)
        return connection


@pytest.fixture
def silent_server():
    server = Silent()
    yield server
    server.socket.close()


def read_to_end(connection):
    """Wait until the other side is gone."""
    try:
        while connection.recv(65536):
            pass
    except ConnectionError:
        return


def wait_until(condition):
    """Yield until `condition` holds, at most 20 seconds."""
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        yield
        time.sleep(0.01)


@pytest.mark.parametrize("filtering", ["true", "false"])
def test_records_come_over_http(repository, origin, git, web, filtering):
    git(origin, "config", "uploadpack.allowFilter", filtering)
    full = git(origin, "rev-parse", "v1.0^{commit}")
    for ref in ("main", "v1.0", full, full[:8], None):
        one = repository(f"{web.url}/origin/.git", ref, "docs/decisions")
        assert files_of(one.folder(call()))[0] == FIRST


def test_only_wanted_files_are_transferred_where_the_server_filters(repository, origin, git, web):
    """The commit's other files are gone from the server, so only a narrow fetch succeeds."""
    git(origin, "config", "uploadpack.allowFilter", "true")
    blob = git(origin, "rev-parse", "main:src/big.txt")
    (origin / ".git/objects" / blob[:2] / blob[2:]).unlink()
    one = repository(f"{web.url}/origin/.git", "main", "docs/decisions")
    assert files_of(one.folder(call())) == [FIRST, SECOND]


def test_history_is_not_transferred(repository, origin, git, web):
    git(origin, "checkout", "--quiet", "main")
    old = git(origin, "rev-parse", "main~1")
    (origin / ".git/objects" / old[:2] / old[2:]).unlink()
    one = repository(f"{web.url}/origin/.git", "main", "docs/decisions")
    assert files_of(one.folder(call())) == [FIRST, SECOND]


def test_server_of_plain_files_is_read_too(repository, origin, git, tmp_path):
    """A web server that knows nothing of git can serve no shallow history."""
    git(tmp_path, "clone", "--quiet", "--bare", "origin", "plain.git")
    git(tmp_path / "plain.git", "update-server-info")

    class Plain(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=str(tmp_path))

        def log_message(self, *arguments):
            """Say nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Plain) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            url = f"http://127.0.0.1:{server.server_address[1]}/plain.git"
            assert files_of(repository(url, "main", "docs/decisions").folder(call()))
        finally:
            server.shutdown()
            thread.join()


@posix
def test_records_come_from_a_git_daemon(repository, origin, environ, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    daemon = subprocess.Popen(
        [GIT, "daemon", "--verbose", "--export-all", "--reuseaddr", "--listen=127.0.0.1",
         f"--port={port}", f"--base-path={tmp_path}"],
        env=environ, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    try:
        assert b"Ready" in daemon.stderr.readline()
        for ref in ("main", "feature/next", "v1.0"):
            one = repository(f"git://127.0.0.1:{port}/origin", ref, "docs/decisions")
            assert FIRST in files_of(one.folder(call()))
    finally:
        os.killpg(daemon.pid, signal.SIGTERM)
        daemon.communicate()


def test_sources_are_fetched_side_by_side(repository, silent_server):
    """Both wait for the same silent server at once."""
    for ref in ("one", "two"):
        repository(silent_server.url, ref).start()
    with silent_server.accept(), silent_server.accept():
        pass


def test_waiting_call_hears_progress_and_can_be_cancelled(repository, silent_server):
    heard = []

    def report(done, total, message):
        heard.append((done, total, message))
        waiting.cancelled = True

    waiting = call(report)
    one = repository(silent_server.url, "main")
    one.start()
    began = time.monotonic()
    with pytest.raises(inkan_mcp.Cancelled):
        one.folder(waiting)
    assert time.monotonic() - began < 5
    assert heard == [(0, inkan_mcp.GIT_SECONDS, f"fetching {one.name}")]


def test_start_returns_at_once(repository, silent_server):
    began = time.monotonic()
    repository(silent_server.url).start()
    assert time.monotonic() - began < 1


def test_stop_ends_git_and_its_children(repository, silent_server):
    one = repository(silent_server.url)
    one.start()
    with silent_server.accept() as connection:
        one.stop()
        read_to_end(connection)
    assert "it was stopped" in failure_of(one)
    one.start()
    assert repository.log == [f"fetching {one.name}"]


def test_time_limit_ends_git_and_its_children(repository, silent_server, monkeypatch, tmp_path):
    monkeypatch.setattr(inkan_mcp, "GIT_SECONDS", 1)
    one = repository(silent_server.url)
    one.start()
    with silent_server.accept() as connection:
        read_to_end(connection)
    told = failure_of(one)
    assert "it took longer than 1 s; check the network" in told
    assert not list((tmp_path / "cache").rglob("partial-*"))


# ── Secrets ───────────────────────────────────────────────────────────────────────────────────

SECRETS = ("sw0rdfish", "sw0rd%66ish", "ghp_abcdef")


@pytest.mark.parametrize(
    "login", ["ada:sw0rdfish", "ada:sw0rd%66ish", "ghp_abcdef", "x:ghp_abcdef"]
)
@pytest.mark.usefixtures("origin")
def test_credentials_reach_the_server_and_nobody_else(repository, web, tmp_path, login):
    web.password = "Basic " + base64.b64encode(b"ada:sw0rdfish").decode()
    one = repository(web.url.replace("//", f"//{login}@") + "/origin/.git", None, "docs")
    if "sw0rd" in login:
        one.folder(call())
    else:
        assert "Authentication failed" in failure_of(one) or "could not read" in one.problem
    kept = [path.read_text(encoding="utf-8") for path in (tmp_path / "cache").rglob("stamp.json")]
    told = " ".join([*repository.log, one.name, one.problem or "", *kept, str(tmp_path / "cache")])
    assert not [secret for secret in SECRETS if secret in told]
    assert "ada" not in told


@pytest.mark.parametrize(
    "url",
    [
        "https://ada:sw0rdfish@127.0.0.1:1/a.git",
        "https://sw0rdfish@127.0.0.1:1/a.git",
        "https://ada:sw0rd%66ish@127.0.0.1:1/a.git",
        "https://127.0.0.1:1/a.git?private_token=sw0rdfish",
        "http://ada:sw0rdfish@nowhere.invalid/a.git",
        "ssh://ada:sw0rdfish@127.0.0.1:1/a.git",
        "git://ada:sw0rdfish@127.0.0.1:1/a.git",
    ],
)
def test_unreachable_address_is_told_without_its_secrets(repository, url):
    one = repository(url)
    told = failure_of(one) + one.name + " ".join(repository.log)
    assert "sw0rd" not in told
    assert "cannot be fetched" in told


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fatal: 'https://a:b@c.org/d?x=y' is", "fatal: 'https://c.org/d' is"),
        ("ssh://git:pw@c.org/d", "ssh://git@c.org/d"),
        ("Authorization: Basic YTpi", "Authorization: Basic ***"),
        ("> authorization: Bearer abc", "> authorization: Bearer ***"),
        ("token=abc&x", "token=***&x"),
        ("git@github.com:a/b.git", "git@github.com:a/b.git"),
        ("git:pw@github.com:a/b.git", "git@github.com:a/b.git"),
        ("ada:p@ss@github.com: Permission denied", "ada@github.com: Permission denied"),
    ],
)
def test_secrets_are_taken_out_of_any_text(text, expected):
    assert inkan_mcp.without_secrets(text) == expected


def test_hostile_text_is_scrubbed_in_linear_time():
    began = time.monotonic()
    for piece in ("://", "a:", "a@", "ssh://", "?", "x", "token=", "authorization: "):
        inkan_mcp.without_secrets(piece * 20_000)
    assert time.monotonic() - began < 2


def test_address_without_a_login_is_told_whole():
    wanted = inkan_mcp.Wanted("https://example.org/@scope/records", None, None, ".")
    told = inkan_mcp.git_reason("fatal: https://example.org/@scope/records is gone", wanted)
    assert "fatal: https://example.org/@scope/records is gone" in told


def test_words_of_a_server_cannot_write_to_the_terminal():
    wanted = inkan_mcp.Wanted("https://example.org/a.git", None, None, ".")
    told = inkan_mcp.git_reason("remote: \x1b[2Jgone\u202e\nfatal: no\n", wanted)
    assert told.isprintable()


@pytest.mark.usefixtures("origin")
def test_password_of_a_server_is_never_asked_for(repository, web, environ, tmp_path):
    asked = tmp_path / "asked"
    write(tmp_path, "ask", f"#!/bin/sh\necho yes >> '{asked}'\necho secret\n")
    (tmp_path / "ask").chmod(0o755)
    web.password = "Basic other"
    environ["GIT_ASKPASS"] = environ["SSH_ASKPASS"] = str(tmp_path / "ask")
    environ["DISPLAY"] = ":0"
    write(tmp_path, "home/.gitconfig", f"[core]\n\taskPass = {(tmp_path / 'ask').as_posix()}\n")
    told = failure_of(repository(f"{web.url}/origin/.git"))
    assert "could not read Username" in told
    assert told.endswith("have git keep the credentials")
    assert not asked.exists()


@posix
def test_credential_helper_of_the_user_is_used(repository, origin, web, tmp_path):
    web.password = "Basic " + base64.b64encode(b"ada:sw0rdfish").decode()
    helper = "!f() { echo username=ada; echo password=sw0rdfish; }; f"
    write(tmp_path, "home/.gitconfig", f'[credential]\n\thelper = "{helper}"\n')
    assert files_of(repository(f"{web.url}/origin/.git", None, "docs").folder(call()))


@posix
@pytest.mark.parametrize("chosen", ["", "core.sshCommand", "GIT_SSH_COMMAND"])
def test_ssh_is_told_not_to_ask_and_keeps_the_command_of_the_user(
    repository, environ, tmp_path, chosen
):
    for name in ("ssh", "own-ssh"):
        said = tmp_path / f"said-{name}"
        write(tmp_path, f"bin/{name}", f"#!/bin/sh\necho \"$*\" >> '{said}'\nexit 255\n")
        (tmp_path / "bin" / name).chmod(0o755)
    environ["PATH"] = f"{tmp_path / 'bin'}{os.pathsep}{environ['PATH']}"
    command = f"{tmp_path / 'bin/own-ssh'} -i key"
    if chosen == "GIT_SSH_COMMAND":
        environ[chosen] = command
    elif chosen:
        write(tmp_path, "home/.gitconfig", f"[core]\n\tsshCommand = {command}\n")
    failure_of(repository("git@example.org:a/b.git"))
    said = (tmp_path / ("said-own-ssh" if chosen else "said-ssh")).read_text(encoding="utf-8")
    assert "-oBatchMode=yes" in said
    assert "git@example.org" in said
    assert ("-i key" in said) == bool(chosen)


# ── Nothing of another repository runs ────────────────────────────────────────────────────────


@posix
def test_hooks_filters_and_submodules_never_run(repository, origin, git, tmp_path):
    ran = tmp_path / "ran"
    script = f"#!/bin/sh\necho \"$0\" >> '{ran}'\ncat\n"
    for name in ("hooks/post-checkout", "hooks/post-index-change", "templates/hooks/post-checkout"):
        write(tmp_path, name, script)
        (tmp_path / name).chmod(0o755)
    write(tmp_path, "filter", script)
    (tmp_path / "filter").chmod(0o755)
    inner = tmp_path / "inner"
    git(tmp_path, "init", "--quiet", "inner")
    commit(git, inner, "0009-inner.md", RECORD)
    git(
        origin,
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        str(inner),
        "docs/sub",
    )
    write(origin, ".gitattributes", "*.md filter=evil ident\n*.bin filter=lfs\n")
    commit(git, origin, "docs/decisions/a.bin", "version https://git-lfs.github.com/spec/v1\n")
    write(
        tmp_path,
        "home/.gitconfig",
        f"[core]\n\thooksPath = {tmp_path}/hooks\n\tfsmonitor = {tmp_path}/filter\n"
        f"[init]\n\ttemplateDir = {tmp_path}/templates\n[submodule]\n\trecurse = true\n"
        f'[filter "evil"]\n\tsmudge = {tmp_path}/filter\n\tprocess = {tmp_path}/filter\n'
        f'\trequired = true\n[filter "lfs"]\n\tsmudge = {tmp_path}/filter\n\trequired = true\n'
        "[protocol]\n\tallow = always\n",
    )
    folder = Path(repository(origin, "main", "docs").folder(call()))
    assert not ran.exists()
    assert "0009-inner.md" not in " ".join(files_of(folder))
    assert (folder / "decisions" / FIRST).read_text(encoding="utf-8") == RECORD


def test_files_come_as_they_were_committed(repository, origin, git, tmp_path):
    write(origin, ".gitattributes", "*.md text eol=crlf ident working-tree-encoding=UTF-16\n")
    git(origin, "config", "core.autocrlf", "false")
    text = "---\ntitle: $Id$ é\n---\n"
    blob = subprocess.run(
        [GIT, "hash-object", "-w", "--stdin", "--no-filters"],
        cwd=origin, input=text.encode(), capture_output=True, check=True,
    ).stdout.decode().strip()  # fmt: skip
    git(origin, "add", ".gitattributes")
    git(origin, "update-index", "--add", "--cacheinfo", f"100644,{blob},docs/0001-a.md")
    git(origin, "commit", "--quiet", "-m", "Write one")
    write(tmp_path, "home/.gitconfig", "[core]\n\tautocrlf = true\n\teol = crlf\n")
    folder = repository(origin, None, "docs").folder(call())
    assert (Path(folder) / "0001-a.md").read_bytes() == text.encode()


def test_variables_of_an_outer_repository_do_not_matter(repository, origin, environ, tmp_path):
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"):
        environ[name] = str(tmp_path / "elsewhere")
    environ["GIT_TRACE"] = str(tmp_path / "trace")
    assert files_of(repository(origin, None, "docs/decisions").folder(call())) == [FIRST, SECOND]
    assert not (tmp_path / "elsewhere").exists()
    assert not (tmp_path / "trace").exists()


REFUSED = [
    ("--upload-pack=touch x", None, None, "begins with `-`"),
    ("", None, None, "repo is empty"),
    ("https://ada:sw0/rdfish@example.org/a", None, None, "within its user or password"),
    ("https://ada:sw0rd'fish@example.org/a", None, None, "within its user or password"),
    ("https://ada:sw0rd fish@example.org/a", None, None, "within its user or password"),
    ("ext::sh -c 'touch x'", None, None, "uses the transport ext"),
    ("fd::3", None, None, "uses the transport fd"),
    ("https::x", None, None, "uses the transport https; write"),
    ("ftp://example.org/a", None, None, "uses the transport ftp"),
    ("ssh://-oProxyCommand=touch/x", None, None, "has a host that begins with `-`"),
    ("git@-oProxyCommand=x:a", None, None, "has a host that begins with `-`"),
    ("https://example.org/a\n", None, None, "holds a control character"),
    ("a", "--upload-pack=x", None, "begins with `-`"),
    ("a", "", None, "ref is empty"),
    ("a", "main:refs/heads/x", None, "is no name of a branch"),
    ("a", "+main", None, "is no name of a branch"),
    ("a", "a..b", None, "is no name of a branch"),
    ("a", "main^{/x}", None, "is no name of a branch"),
    ("a", "a\x00b", None, "holds a control character"),
    ("a", "\ud800", None, "holds a control character"),
    ("a", None, "-x", "begins with `-`"),
    ("a", None, " ", "path is empty"),
    ("a", None, "../x", "leads out of the repository"),
    ("a", None, "docs/../../x", "leads out of the repository"),
    ("a", None, "/etc", "leads out of the repository"),
    ("a", None, "C:/x", "leads out of the repository"),
    ("a", None, "docs\\x", "holds a backslash"),
    ("a", None, "docs/.GIT/hooks", "leads into .git"),
]


@pytest.mark.parametrize(("url", "ref", "path", "reason"), REFUSED)
def test_dangerous_entry_is_refused_in_one_sentence(repository, url, ref, path, reason):
    told = inkan_mcp.check_repository(url, ref, path)
    assert reason in told
    assert told.isprintable()
    with pytest.raises(inkan_mcp.SourceError, match=re.escape(told)):
        repository(url, ref, path)


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/a/b.git", "http://host/x", "ssh://git@host:22/a", "git://host/a",
        "git@github.com:a/b.git", "host:path", "file:///srv/a.git", "file:../a", "../a", "/srv/a",
        "~/a", "C:\\repos\\a", "https://user:p-w@host/-a/b",
        "https://host:8080/@scope/a", "https://[::1]:8080/@scope/a",
    ],
)  # fmt: skip
def test_ordinary_entry_is_accepted(url):
    assert (
        inkan_mcp.check_repository(url, "release/1.x-beta_2", "docs/a b/Entscheidungen ü") is None
    )
    assert inkan_mcp.check_repository(url, None, ".") is None
