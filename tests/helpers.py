"""What the tests share: the sample archives, and a client that drives a real server process."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parent
TOP = TESTS.parent
DATA = TESTS / "data"
SAMPLE = DATA / "sample"
BROKEN = DATA / "broken"

TODAY = "2026-12-01"
ANSWER_SECONDS = 20.0  # a busy machine is slow; a test that waits this long has found a hang
MEASURED = any(name.startswith("COVERAGE_PROCESS") for name in os.environ)
EXIT_SECONDS = 8.0 if MEASURED else 2.0  # a measured process writes its coverage before it ends
KEPT_VARIABLES = (
    *("PATH", "HOME", "TMPDIR", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT"),
    *("TEMP", "TMP", "USERPROFILE", "APPDATA", "LOCALAPPDATA"),
)


class RpcError(Exception):
    """The server answered a request with an error."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(f"{error['code']}: {error['message']}")
        self.code: int = error["code"]
        self.message: str = error["message"]
        self.data = error.get("data")


class ToolError(Exception):
    """A tool answered with ``isError``; the text of the exception is the answer's."""


def child_environment(extra: Mapping[str, str | None] | None = None) -> dict[str, str]:
    """Return the environment of a child: little of ours, a fixed day, strict about encodings.

    ``extra`` adds variables; one whose value is ``None`` is taken away.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if name.upper() in KEPT_VARIABLES or name.startswith("COVERAGE_")
    }
    kept |= {"INKAN_MCP_TODAY": TODAY, "PYTHONWARNDEFAULTENCODING": "1"}
    for name, value in (extra or {}).items():
        kept.pop(name, None)
        if value is not None:
            kept[name] = value
    return kept


def server_command(*arguments: object, path: str | os.PathLike[str] | None = None) -> list[str]:
    """Return the command that starts the server: the module, or the file or folder at ``path``."""
    start = ["-m", "inkan_mcp"] if path is None else [os.fspath(path)]
    return [sys.executable, *start, *map(str, arguments)]


def run_server(
    *arguments: object,
    stdin: bytes = b"",
    path: str | os.PathLike[str] | None = None,
    env: Mapping[str, str | None] | None = None,
    cwd: str | os.PathLike[str] = TOP,
) -> subprocess.CompletedProcess[str]:
    """Run the server to its end with this input; stdout and stderr of the result are text."""
    done = subprocess.run(
        server_command(*arguments, path=path),
        input=stdin,
        capture_output=True,
        env=child_environment(env),
        cwd=os.fspath(cwd),
        timeout=ANSWER_SECONDS * 2,
        check=False,
    )
    texts = done.stdout.decode("utf-8"), done.stderr.decode("utf-8").replace("\r\n", "\n")
    return subprocess.CompletedProcess(done.args, done.returncode, *texts)


class Server:
    """A server process and the client's side of its streams.

    ``with Server("--root", SAMPLE) as server: server.call("list_projects")``. Two threads read its
    output, so that no pipe fills up; that works on every platform, which ``select`` does not.
    """

    def __init__(
        self,
        *arguments: object,
        path: str | os.PathLike[str] | None = None,
        env: Mapping[str, str | None] | None = None,
        cwd: str | os.PathLike[str] = TOP,
    ) -> None:
        self.lines: list[bytes] = []  # stdout as it came, one message each
        self.messages: list[Any] = []  # the same, parsed
        self.errors: list[str] = []  # lines of stderr
        self._faults: list[str] = []  # what a client could not have read
        self._news = threading.Condition()
        self._last_id = 0
        self.process = subprocess.Popen(
            server_command(*arguments, path=path),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=child_environment(env),
            cwd=os.fspath(cwd),
        )
        readers = (self._read_stdout, self._read_stderr)
        self._threads = [threading.Thread(target=reader, daemon=True) for reader in readers]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self.kill()

    @property
    def stderr(self) -> str:
        """Everything that came on stderr so far."""
        return "\n".join(self.errors)

    # Reading

    def _read_stdout(self) -> None:
        for line in iter(self.process.stdout.readline, b""):
            message, fault = parse_line(line)
            with self._news:
                self.lines.append(line)
                self._faults += [fault] if fault else []
                self.messages += [] if fault else [message]
                self._news.notify_all()
        with self._news:
            self._news.notify_all()

    def _read_stderr(self) -> None:
        for line in iter(self.process.stderr.readline, b""):
            with self._news:
                self.errors.append(line.decode("utf-8", "backslashreplace").rstrip("\r\n"))
                self._news.notify_all()

    def wait_until(self, condition: Callable[[], Any], timeout: float = ANSWER_SECONDS) -> Any:
        """Wait until the condition holds, look again at each line read, and return its value."""
        end = time.monotonic() + timeout
        with self._news:
            while not (value := condition()):
                left = end - time.monotonic()
                assert left > 0, f"nothing came within {timeout:g} s; stderr: {self.stderr}"
                assert self._threads[0].is_alive(), f"the server ended; stderr: {self.stderr}"
                self._news.wait(min(left, 0.25))
        return value

    def wait_for_stderr(self, text: str, timeout: float = ANSWER_SECONDS) -> str:
        """Wait for a line of stderr that holds the text, and return the line."""
        found = self.wait_until(lambda: [e for e in self.errors if text in e], timeout)
        return str(found[0])

    def answer(self, request_id: object, timeout: float = ANSWER_SECONDS) -> dict[str, Any]:
        """Wait for the answer to the request with this id and return the whole message."""
        found = self.wait_until(lambda: self.answers(request_id), timeout)
        return dict(found[0])

    def answers(self, request_id: object) -> list[dict[str, Any]]:
        """Return the answers to this id that have come so far, those in batches too."""
        single = [m for m in self.messages if isinstance(m, dict)]
        batched = [m for batch in self.messages if isinstance(batch, list) for m in batch]
        return [
            message
            for message in single + batched
            if ("result" in message or "error" in message) and same_id(message, request_id)
        ]

    def notifications(self, method: str) -> list[dict[str, Any]]:
        """Return the notifications of this method that have come so far."""
        return [m for m in self.messages if isinstance(m, dict) and m.get("method") == method]

    # Writing

    def send_bytes(self, data: bytes) -> None:
        """Write bytes to the server as they are."""
        try:
            self.process.stdin.write(data)
            self.process.stdin.flush()
        except OSError as error:  # broken pipe; EINVAL on Windows
            raise AssertionError(f"the server is gone: {error}; {self.stderr}") from error

    def send(self, message: object) -> None:
        """Write one message, a line of JSON."""
        self.send_bytes(json.dumps(message, ensure_ascii=False).encode("utf-8") + b"\n")

    def start(self, method: str, params: object = None) -> int:
        """Send a request and return its id without waiting for the answer."""
        self._last_id += 1
        message = {"jsonrpc": "2.0", "id": self._last_id, "method": method}
        self.send(message if params is None else {**message, "params": params})
        return self._last_id

    def notify(self, method: str, params: object = None) -> None:
        """Send a notification."""
        message = {"jsonrpc": "2.0", "method": method}
        self.send(message if params is None else {**message, "params": params})

    def request(
        self, method: str, params: object = None, timeout: float = ANSWER_SECONDS
    ) -> dict[str, Any]:
        """Send a request and return its result; raise ``RpcError`` if the answer is an error."""
        message = self.answer(self.start(method, params), timeout)
        if "error" in message:
            raise RpcError(message["error"])
        return dict(message["result"])

    def initialize(self, version: str = "2025-06-18") -> dict[str, Any]:
        """Shake hands as a legacy client and return the result of ``initialize``."""
        client = {"name": "tests", "version": "1"}
        params = {"protocolVersion": version, "capabilities": {}, "clientInfo": client}
        result = self.request("initialize", params)
        self.notify("notifications/initialized")
        return result

    def call_result(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Call a tool and return the whole result, be it an error or not."""
        return self.request("tools/call", {"name": tool, "arguments": dict(arguments)})

    def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its structured content; raise ``ToolError`` if it failed.

        The text content must be the same object as JSON, but for ``get_record``, whose text is
        Markdown.
        """
        result = self.call_result(tool, arguments)
        (content,) = result["content"]
        assert content["type"] == "text"
        if result.get("isError"):
            assert "structuredContent" not in result
            raise ToolError(content["text"])
        structured = result["structuredContent"]
        if tool != "get_record":
            assert json.loads(content["text"]) == structured
        return dict(structured)

    def call_text(self, tool: str, /, **arguments: Any) -> str:
        """Call a tool and return its text; raise ``ToolError`` if it failed."""
        result = self.call_result(tool, arguments)
        text = str(result["content"][0]["text"])
        if result.get("isError"):
            raise ToolError(text)
        return text

    # Ending

    def close(self) -> None:
        """End the input; the server must be gone in time, with exit 0 and a clean stdout."""
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        try:
            self.process.wait(EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"still there {EXIT_SECONDS:g} s after its input ended") from None
        self._release()
        assert self.process.returncode == 0, f"exit {self.process.returncode}: {self.stderr}"
        assert not self._faults, self._faults
        assert "EncodingWarning" not in self.stderr, self.stderr

    def kill(self) -> None:
        """End the process whatever it does."""
        self.process.kill()
        self.process.wait(ANSWER_SECONDS)
        self._release()

    def _release(self) -> None:
        for thread in self._threads:
            thread.join(ANSWER_SECONDS)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            with contextlib.suppress(OSError):
                stream.close()


def parse_line(line: bytes) -> tuple[Any, str | None]:
    """Return the message in a line of stdout, and what is wrong with the line, if something is."""
    if not line.endswith(b"\n") or b"\r" in line:
        return None, f"the line does not end in a plain newline: {line[-80:]!r}"
    try:
        message = json.loads(line.decode("utf-8"), parse_constant=refuse_constant)
    except ValueError as error:
        return None, f"stdout holds what is no JSON ({error}): {line[:200]!r}"
    batch = message if isinstance(message, list) else [message]
    if batch and all(isinstance(m, dict) and m.get("jsonrpc") == "2.0" for m in batch):
        return message, None
    return None, f"stdout holds JSON that is no message: {line[:200]!r}"


def refuse_constant(name: str) -> None:
    """Refuse NaN and the infinities, which Python reads and other clients do not."""
    raise ValueError(f"{name} is not JSON")


def same_id(message: dict[str, Any], request_id: object) -> bool:
    """Tell whether a message has this id; 1, 1.0, True and "1" are four different ids."""
    return "id" in message and json.dumps(message["id"]) == json.dumps(request_id)


def write_records(
    folder: str | os.PathLike[str], files: Mapping[str, str | bytes], age: float = 0.0
) -> Path:
    """Write files, given their paths below the folder with ``/``, and return the folder.

    With ``age`` their modification times are set so many seconds back.
    """
    root = Path(folder)
    for name, content in files.items():
        path = root.joinpath(*name.split("/"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
        if age:
            moment = time.time() - age
            os.utime(path, (moment, moment))
    return root


def tree_hash(folder: str | os.PathLike[str]) -> str:
    """Return a hash of all names, kinds, link targets, times and bytes below a folder.

    Times are those of the last modification, so that a file written anew with the same bytes shows.
    """
    digest = hashlib.sha256()
    for path in sorted(Path(folder).rglob("*")):
        link = os.readlink(path) if path.is_symlink() else ""
        plain = path.is_file() and not link
        content = hashlib.sha256(path.read_bytes()).hexdigest() if plain else ""
        name = path.relative_to(folder).as_posix()
        fact = (name, link, path.is_dir(), content, path.lstat().st_mtime_ns)
        digest.update(repr(fact).encode("utf-8", "surrogateescape"))
    return digest.hexdigest()
