"""What every Python client does: use all there is, and report what came as one line of JSON."""

from __future__ import annotations

import json
import sys
import time

CALLS = [
    ("list_projects", {}),
    ("search_records", {"query": "kafka", "limit": 2}),
    ("get_record", {"id": "payments/adr/1"}),
    ("list_tags", {}),
    ("list_fields", {}),
    ("list_authors", {"project": "payments"}),
    ("due_reviews", {"all": True}),
    ("rfc_reviews", {}),
]


async def fault(awaitable):
    """Return the code and the message of the error that is raised."""
    try:
        await awaitable
    except Exception as error:
        detail = getattr(error, "error", error)
        return {"code": getattr(detail, "code", None), "message": str(error)}
    return None


async def use(client):
    """Use every tool and resource, make mistakes, give one call up; return what came."""
    report = {"version": client.version, "tools": [tool.name for tool in await client.tools()]}
    report["calls"] = {name: await client.call(name, arguments) for name, arguments in CALLS}
    report["toolError"] = await client.call("search_records", {"limit": 0})
    report["unknownTool"] = await fault(client.call("nothing", {}))
    report["uris"] = [str(resource.uri) for resource in await client.resources()]
    report["templates"] = [template.name for template in await client.templates()]
    report["texts"] = {uri: await client.read(uri) for uri in report["uris"]}
    report["unknownResource"] = await fault(client.read("decision://no/such"))
    report["completion"] = await client.complete("ledger") if client.is_modern else None
    report["timeout"] = await fault(client.call("search_records", {"query": "wait"}, timeout=0.5))
    report["after"] = await client.call("list_tags", {})
    report["ended"] = time.time()
    return report


def tell(report):
    """Write the report to the tests, with the seconds that closing took."""
    report["closing"] = time.time() - report.pop("ended")
    sys.stdout.write(json.dumps(report) + "\n")
