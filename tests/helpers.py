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

import pytest
from mcp_schemas import check_exchange

TESTS = Path(__file__).resolve().parent
TOP = TESTS.parent
DATA = TESTS / "data"
SAMPLE = DATA / "sample"
BROKEN = DATA / "broken"

TODAY = "2026-12-01"
MODERN = "2026-07-28"
requirement = pytest.mark.requirement  # names what of requirements.json a test shows
TOOL_NAMES = [  # in the order in which clients see them
    *("list_projects", "search_records", "get_record", "list_tags", "list_fields"),
    *("list_authors", "due_reviews", "rfc_reviews"),
]
TOOL_BYTES = 1500  # what one tool may take of a model's context, schemas and all
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
        self._last_id = 1000  # small ids are left to what a test sends by itself
        self.sent: dict[str, dict[str, Any]] = {}  # requests by their ids as JSON
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
        if isinstance(message, dict) and "method" in message and "id" in message:
            self.sent[json.dumps(message["id"])] = message
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

    def modern(self, method: str, /, **params: Any) -> dict[str, Any]:
        """Send a request of the modern era and return its result, as `request` does."""
        return self.request(method, modern_params(**params))

    def call_result(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Call a tool and return the whole result, be it an error or not."""
        return self.request("tools/call", {"name": tool, "arguments": dict(arguments)})

    def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its structured content; raise ``ToolError`` if it failed.

        Every result is checked as ``check_result`` says.
        """
        result = self.call_result(tool, arguments)
        (content,) = result["content"]
        assert content["type"] == "text"
        if result.get("isError"):
            assert "structuredContent" not in result
            raise ToolError(content["text"])
        structured = result["structuredContent"]
        check_result(tool, content["text"], structured)
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
        check_exchange(self.sent, self.messages)
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


def modern_params(**params: Any) -> dict[str, Any]:
    """Return params with the `_meta` that every request of the modern era carries."""
    prefix = "io.modelcontextprotocol/"
    meta = {
        f"{prefix}protocolVersion": MODERN,
        f"{prefix}clientInfo": {"name": "tests", "version": "1"},
        f"{prefix}clientCapabilities": {},
    }
    return {**params, "_meta": {**meta, **params.get("_meta", {})}}


class Local:
    """An archive in a folder, asked in this process; every answer is checked as a client would.

    ``said`` holds what the archive would have written to stderr.
    """

    def __init__(self, root: str | os.PathLike[str], today: str = TODAY) -> None:
        import inkan_mcp

        self.root = Path(root)
        self.said: list[str] = []
        self.today = today
        self.source = inkan_mcp.FolderSource(os.fspath(root), self.said.append, {})
        self.catalog = inkan_mcp.Catalog(self.source)

    @classmethod
    def of(
        cls,
        folder: Path,
        records: Mapping[str, str | bytes | Mapping[str, Any]],
        config: Mapping[str, Any] | None = None,
    ) -> Local:
        """Write an archive and open it: records by id, as front matter or as a whole text.

        A name with an ending is a file below the content folder, written as it is.
        """
        files: dict[str, str | bytes] = {"inkan.config.json": json.dumps(config or {})}
        for name, content in records.items():
            plain = name if name.rpartition("/")[2].count(".") else f"{name}.md"
            files[f"content/{plain}"] = (
                record_source(**content) if isinstance(content, Mapping) else content
            )
        return cls(write_records(folder, files))

    def result(self, tool: str, arguments: object) -> Any:
        """Call a tool, check what can be checked of any answer, and return its result."""
        import inkan_mcp

        result = inkan_mcp.call_tool(self.catalog, tool, arguments, inkan_mcp.Call(self.today))
        content: dict[str, Any] = {"content": [{"type": "text", "text": result.text}]}
        if not result.is_error:
            content["structuredContent"] = result.structured
            check_result(tool, result.text, result.structured)
        line = inkan_mcp.encode({"jsonrpc": "2.0", "id": 1, "result": content})
        assert len(line) <= 1_000_000, f"the answer line has {len(line):,} bytes"
        return result

    def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its structured content; raise ``ToolError`` if it failed."""
        result = self.result(tool, arguments)
        if result.is_error:
            raise ToolError(result.text)
        return dict(result.structured)

    def text(self, tool: str, /, **arguments: Any) -> str:
        """Call a tool and return its text; raise ``ToolError`` if it failed."""
        self.call(tool, **arguments)
        return str(self.result(tool, arguments).text)

    def error(self, tool: str, /, **arguments: Any) -> str:
        """Call a tool that must fail and return its sentence."""
        result = self.result(tool, arguments)
        assert result.is_error, result.structured
        assert "\n" not in result.text
        assert result.text
        return str(result.text)

    def get(self, record_id: str, **arguments: Any) -> dict[str, Any]:
        """Return what ``get_record`` says of a record."""
        return self.call("get_record", id=record_id, **arguments)

    def ids(self, **filters: Any) -> list[str]:
        """Return the ids that ``search_records`` finds."""
        return [record["id"] for record in self.call("search_records", **filters)["records"]]

    def warnings(self, tool: str = "search_records", /, **arguments: Any) -> list[str]:
        """Return the warnings of a list, none if there are none."""
        return list(self.call(tool, **arguments).get("warnings", []))


def record_source(body: str = "", **front: Any) -> str:
    """Return the text of a record; JSON values are YAML values too."""
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in front.items()]
    return f"---\n{''.join(lines)}---\n{body}"


def check_result(tool: str, text: str, structured: dict[str, Any]) -> None:
    """Check a result against the tool's own output schema, and its text against the result.

    Members that the schema does not name are refused too. The text is the same object as compact
    JSON; that of ``get_record`` is a YAML block, a blank line and the body as it is.
    """
    import jsonschema

    import inkan_mcp

    if tool != "get_record":
        assert json.loads(text) == structured
    if tool not in inkan_mcp.TOOLS:  # a stand-in for the server has tools of its own
        return
    schema = closed(inkan_mcp.TOOLS[tool].output)
    jsonschema.Draft202012Validator(schema).validate(structured)
    if tool != "get_record":
        whole = json.dumps(structured, ensure_ascii=False, separators=(",", ":"))
        assert text.encode("utf-8", "replace") == whole.encode("utf-8", "replace")
        return
    import yaml

    block, _, rest = text.removeprefix("---\n").partition("\n---\n\n")
    fields = {key: value for key, value in structured.items() if key != "body"}
    assert yaml.safe_load(block) == fields
    if "bodyTruncated" in structured:
        assert rest.startswith(structured["body"])
        assert "body_offset" in rest[len(structured["body"]) :].splitlines()[-1]
    else:
        assert rest == structured["body"]


def closed(schema: Any) -> Any:
    """Return a schema in which no object may have members that it does not name."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    copy = {key: closed(part) for key, part in schema.items()}
    if isinstance(schema.get("properties"), dict) and "type" in schema:
        copy["additionalProperties"] = False
    return copy


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
