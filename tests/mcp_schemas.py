"""Checks what a server sends against the protocol's official JSON Schemas.

They stand in the folder ``mcp-schemas`` of the one that ``INKAN_CASES`` names; without it only
what needs no schema is checked.
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import jsonschema

META = "io.modelcontextprotocol/"
CHECKED_MESSAGES = 300  # of one server; more of the same shows nothing new
RESULTS = {
    "initialize": "InitializeResult",
    "ping": "EmptyResult",
    "server/discover": "DiscoverResult",
    "tools/list": "ListToolsResult",
    "tools/call": "CallToolResult",
    "resources/list": "ListResourcesResult",
    "resources/templates/list": "ListResourceTemplatesResult",
    "resources/read": "ReadResourceResult",
    "completion/complete": "CompleteResult",
    "subscriptions/listen": "SubscriptionsListenResult",
}
NOTIFICATIONS = {
    "notifications/progress": "ProgressNotification",
    "notifications/resources/list_changed": "ResourceListChangedNotification",
    "notifications/resources/updated": "ResourceUpdatedNotification",
    "notifications/subscriptions/acknowledged": "SubscriptionsAcknowledgedNotification",
}


@functools.cache
def official_schema(revision: str) -> dict[str, Any] | None:
    """Return the official JSON Schema of a revision, where it is at hand."""
    folder = os.environ.get("INKAN_CASES")
    path = Path(folder or "", "mcp-schemas", f"{revision}.json")
    return json.loads(path.read_text(encoding="utf-8")) if folder and path.exists() else None


@functools.cache
def official_validator(revision: str, name: str) -> Any:
    """Return what checks one type of the official schema, or ``None`` without the schema."""
    schema = official_schema(revision)
    if schema is None:
        return None
    key = "$defs" if "$defs" in schema else "definitions"
    if name not in schema[key]:  # the type came with another revision
        return None
    kind = jsonschema.validators.validator_for(schema)
    return kind({"$ref": f"#/{key}/{name}", key: schema[key]})


def check_type(revision: str, name: str, value: object) -> None:
    """Raise ``ValidationError`` where a value is not what the official schema says of the type."""
    validator = official_validator(revision, name)
    if validator is not None:
        validator.validate(value)


def revision_of(request: Mapping[str, Any]) -> str:
    """Return the revision whose types answer a request."""
    params = request.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    modern = isinstance(meta, dict) and f"{META}protocolVersion" in meta
    return "2026-07-28" if modern or request["method"] == "server/discover" else "2025-06-18"


def check_exchange(requests: Mapping[str, Mapping[str, Any]], messages: Iterable[Any]) -> None:
    """Check messages from a server whose requests are known by their ids as JSON."""
    for number, message in enumerate(messages):
        if number < CHECKED_MESSAGES and isinstance(message, dict):
            check_message(requests.get(json.dumps(message.get("id"))), message)


def check_message(request: Mapping[str, Any] | None, message: dict[str, Any]) -> None:
    """Check one message: a notification, an error, or the result of the request."""
    assert set(message) in (
        {"jsonrpc", "id", "result"},
        {"jsonrpc", "id", "error"},
        {"jsonrpc", "method", "params"},
    ), message.keys()
    if "method" in message:
        modern = f"{META}subscriptionId" in message["params"].get("_meta", {})
        revision = "2026-07-28" if modern else "2025-06-18"
        check_type(revision, NOTIFICATIONS[message["method"]], message)
    elif "error" in message:
        error = {key: value for key, value in message.items() if key != "id" or value is not None}
        check_type("2026-07-28", "JSONRPCErrorResponse", error)
    elif request is not None and request["method"] in RESULTS:
        check_type(revision_of(request), RESULTS[request["method"]], message["result"])
        check_no_null(request["method"], message["result"])


def check_no_null(method: str, result: dict[str, Any]) -> None:
    """Optional members of the protocol are left out; only a tool's own data may hold ``null``."""
    checked = {key: value for key, value in result.items() if key != "structuredContent"}
    if method != "tools/list":  # its output schemas hold the word, not the value
        assert holds_no_null(checked), checked


def holds_no_null(value: object) -> bool:
    """Tell whether there is no ``None`` in a value, however deep."""
    if isinstance(value, dict):
        return all(map(holds_no_null, value.values()))
    if isinstance(value, list):
        return all(map(holds_no_null, value))
    return value is not None
