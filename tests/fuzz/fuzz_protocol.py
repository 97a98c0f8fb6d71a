"""Send lines that nobody would send, and see that each is answered exactly as often as it must be.

    python tests/fuzz/fuzz_protocol.py [LINES] [SEED]

The lines are mutations of the recorded sessions and of requests made at random. What is due is
worked out here, apart from the server. A fault is told with its seed and the lines of its round.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS), str(TESTS.parent)]

from helpers import DATA, SAMPLE, Server, modern_params, refuse_constant  # noqa: E402

ROUND = 200  # lines between two looks at what came
METHODS = [
    *("initialize", "ping", "server/discover", "tools/list", "tools/call", "resources/list"),
    *("resources/templates/list", "resources/read", "completion/complete", "notifications/x"),
    *("notifications/cancelled", "prompts/list", "", "tools/call", "tools/call"),
]
TOOLS = [
    *("list_projects", "search_records", "get_record", "list_tags", "list_fields"),
    *("list_authors", "due_reviews", "rfc_reviews", "nothing"),
]
WORDS = [
    *("id", "limit", "offset", "query", "project", "status", "tag", "author", "field", "since"),
    *("within", "all", "reviewer", "current_only", "body_offset", "uri", "name", "arguments"),
    *("cursor", "_meta", "ref", "argument", "value", "protocolVersion", "progressToken"),
]
VALUES = [
    *(None, True, False, 0, 1, -1, 5, 2**63, 10**400, 1.5, 1e308, -0.0, "", " ", "x", "kafka"),
    *("risk=high", "=", "payments", "payments/adr/1", "2026-01-01", "2026-13-99", "a" * 300),
    *("decision://payments/adr/0001-double-entry-ledger", "decision://%", "after:", "\u2028", "\0"),
    *("\ud800", "ž✓🎉", [], [1], {}, {"a": None}, [[[]]], "2026-07-28", "2025-03-26"),
]
NOISE = [b"{", b"}", b"[", b"]", b'"', b",", b":", b"\\", b"\xff", b"\x00", b"NaN", b"1e999", b" "]


def sessions() -> list[bytes]:
    """Return every line that a client of the recorded sessions sends."""
    return [
        line[2:].encode("utf-8")
        for path in sorted((DATA / "sessions").glob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith("> ")
    ]


class Lines:
    """An endless row of lines from one seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.recorded = sessions()

    def line(self) -> bytes:
        """Return the next line, without its end."""
        chance = self.random.random()
        if chance < 0.35:
            return self.mutated(self.random.choice(self.recorded))
        if chance < 0.45:
            return self.mutated(self.dumped(self.request()))
        if chance < 0.55:
            batch = [self.element() for _ in range(self.random.randrange(5))]
            return self.dumped(batch)
        return self.dumped(self.request())

    def dumped(self, value: Any) -> bytes:
        text = json.dumps(value, ensure_ascii=self.random.random() < 0.5)
        return text.encode("utf-8", "surrogatepass")

    def element(self) -> Any:
        return self.random.choice(VALUES) if self.random.random() < 0.2 else self.request()

    def request(self) -> dict[str, Any]:
        """Return a message that is nearly, or wholly, a request."""
        pick = self.random.choice
        method = pick(METHODS)
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": self.params(method)}
        if self.random.random() < 0.85:
            message["id"] = pick([self.random.randrange(10**6), "t", "", 0, -1, 1.0, 1.5, None])
        if self.random.random() < 0.1:
            message[pick(["jsonrpc", "method", "params", "id", "result"])] = pick(VALUES)
        if self.random.random() < 0.05:
            del message[pick(list(message))]
        return message

    def params(self, method: str) -> dict[str, Any]:
        pick = self.random.choice
        params: dict[str, Any] = {pick(WORDS): pick(VALUES) for _ in range(pick([0, 1, 2]))}
        if method == "tools/call":
            arguments = {pick(WORDS): pick(VALUES) for _ in range(pick([0, 1, 2, 3]))}
            params.update(name=pick(TOOLS), arguments=arguments)
        if self.random.random() < 0.3:
            params.pop("_meta", None)
            params = modern_params(**params)
            if self.random.random() < 0.2:
                params["_meta"][pick(list(params["_meta"]))] = pick(VALUES)
        return params

    def mutated(self, data: bytes) -> bytes:
        """Return a line with some bytes cut out, doubled, replaced or put in."""
        for _ in range(self.random.randrange(1, 4)):
            start = self.random.randrange(len(data) + 1)
            end = min(len(data), start + self.random.randrange(12))
            piece = self.random.choice([b"", data[start:end] * 2, self.random.choice(NOISE)])
            data = data[:start] + piece + data[end:]
        return data.replace(b"\n", b" ")


def due(line: bytes) -> list[Any] | None:
    """Return the answers that a line must get, each as its id, or a list of ids for a batch.

    ``None`` stands for a line whose answers depend on when it comes: it is not sent.
    """
    line = line.strip(b" \t\r")
    if not line:
        return []
    try:
        text = line.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
        message = json.loads(text, parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        return [None]
    if not isinstance(message, list):
        return one_due(message)
    parts = [one_due(part) for part in message]
    if any(part is None for part in parts):
        return None
    ids = [request_id for part in parts if part for request_id in part]
    return ([ids] if ids else []) if message else [None]


def one_due(message: Any) -> list[Any] | None:
    """Return what one message must get, as ``due`` does."""
    if not isinstance(message, dict):
        return [None]
    if "method" not in message and ("result" in message or "error" in message):
        return []
    if message.get("method") in ("notifications/cancelled", "subscriptions/listen"):
        params = message.get("params")
        target = params.get("requestId") if isinstance(params, dict) else None
        if target is not None or "id" in message:
            return None
    if "id" in message:
        return [usable(message["id"])]
    is_valid = message.get("jsonrpc") == "2.0" and isinstance(message.get("method"), str)
    return [] if is_valid else [None]


def usable(value: Any) -> Any:
    """Return the id that an answer to this id must have."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def came(messages: list[Any]) -> list[Any]:
    """Return the ids of the answers among messages, those of a batch as a list."""
    return [
        [part["id"] for part in message] if isinstance(message, list) else message["id"]
        for message in messages
        if isinstance(message, list) or "id" in message
    ]


def run(count: int, seed: int) -> int:
    """Send so many lines; return how many of them were due an answer. Raise what is wrong."""
    lines, answered = Lines(seed), 0
    with Server("--root", SAMPLE) as server:
        for _ in range(0, count, ROUND):
            sent, expected = [], []
            while len(sent) < ROUND:
                line = lines.line()
                answers = due(line)
                if answers is not None:
                    sent.append(line)
                    expected += answers
            server.send_bytes(b"\n".join(sent) + b"\n")
            check_round(server, expected, sent)
            answered += len(expected)
    assert not server.stderr.count("Traceback"), server.stderr[-4000:]
    return answered


def check_round(server: Server, expected: list[Any], sent: list[bytes]) -> None:
    """Wait for the answers of one round, and compare their ids with those that are due."""
    start = b"\n".join(sent[:ROUND]).decode("utf-8", "backslashreplace")
    try:
        server.wait_until(lambda: len(came(server.messages)) >= len(expected), 30)
        assert server.request("ping") == {}
        found = [i for i in came(server.messages) if i != server._last_id]
        kinds = [Counter(map(json.dumps, ids)) for ids in (found, expected)]
        assert kinds[0] == kinds[1], (kinds[0] - kinds[1], kinds[1] - kinds[0])
    except AssertionError as error:
        raise AssertionError(f"{error}\nthe lines were:\n{start}") from error
    server.messages.clear()
    server.lines.clear()


def main() -> None:
    """Run as a command."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(10**6)
    sys.stdout.write(f"{count:,} lines from seed {seed}\n")
    answered = run(count, seed)
    sys.stdout.write(f"{answered:,} answers were due, and came\n")


if __name__ == "__main__":
    main()
