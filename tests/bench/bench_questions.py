"""Ten questions that a developer asks, answered with the tools alone: calls and tokens of each.

    python tests/bench/bench_questions.py [--json]

Each question has the calls that an agent needs who reads only the tool descriptions, and the ids
that the answer must name; a wrong answer ends the command with 1. Tokens are counted as bytes of
answer text divided by four.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from helpers import SAMPLE, Server

Calls = list[tuple[str, dict[str, Any]]]

QUESTIONS: list[tuple[str, Calls, list[str]]] = [
    (
        "Which accepted decisions mention Kafka and are tagged events?",
        [("search_records", {"query": "kafka", "tag": "events", "current_only": True})],
        ["platform/adr/0006-event-schemas-in-a-registry"],
    ),
    (
        "What replaced the synchronous call to the ledger, and why?",
        [
            ("search_records", {"query": "ledger synchronously"}),
            ("get_record", {"id": "PAY-ADR-0002"}),
            ("get_record", {"id": "payments/adr/0007-kafka-as-the-payment-event-log"}),
        ],
        ["payments/adr/0007-kafka-as-the-payment-event-log"],
    ),
    (
        "Whose review is overdue in the project payments?",
        [("due_reviews", {"project": "payments", "within": 0})],
        ["payments/adr/0001-double-entry-ledger"],
    ),
    (
        "Which open proposals wait for henrik?",
        [("rfc_reviews", {"reviewer": "@henrik"})],
        ["payments/rfc/0002-instant-sepa-payouts"],
    ),
    (
        "Is RabbitMQ still what we use between checkout and ledger?",
        [
            ("search_records", {"query": "rabbitmq"}),
            ("get_record", {"id": "PAY-ADR-0005"}),
        ],
        ["payments/adr/0005-rabbitmq-between-checkout-and-ledger"],
    ),
    (
        "Which decisions of high risk are in force?",
        [("search_records", {"field": "risk=high", "current_only": True})],
        ["platform/adr/0002-one-cluster-across-two-zones"],
    ),
    (
        "What did we decide about databases?",
        [("search_records", {"tag": "database", "current_only": True})],
        ["platform/adr/0001-postgresql-unless-there-is-a-reason"],
    ),
    (
        "What has sofia decided since the start of 2025?",
        [("search_records", {"author": "sofia", "since": "2025-01-01"})],
        [],
    ),
    (
        "Which projects keep records, and who owns them?",
        [("list_projects", {})],
        ["payments", "platform", "storefront"],
    ),
    (
        "Which RFCs are still open in the storefront?",
        [("search_records", {"project": "storefront", "type": "rfc", "status": "proposed"})],
        ["storefront/rfc/0003-reviews-by-customers"],
    ),
]


def ask(server: Server, calls: Calls) -> tuple[int, str]:
    """Make the calls; return the tokens of their answers, and the last text."""
    size, text = 0, ""
    for tool, arguments in calls:
        text = server.call_text(tool, **arguments)
        size += len(text.encode("utf-8"))
    return size // 4, text


def main() -> int:
    rows = []
    with Server("--root", SAMPLE) as server:
        server.initialize()
        listed = server.request("tools/list")
        for question, calls, wanted in QUESTIONS:
            tokens, text = ask(server, calls)
            right = all(f'"{name}"' in text or f": {name}\n" in text for name in wanted)
            rows.append(
                {"question": question, "calls": len(calls), "tokens": tokens, "right": right}
            )
    fixed = len(json.dumps(listed).encode("utf-8")) // 4
    if "--json" in sys.argv:
        sys.stdout.write(json.dumps({"tools_list_tokens": fixed, "questions": rows}) + "\n")
    else:
        for row in rows:
            mark = "" if row["right"] else "  WRONG"
            sys.stdout.write(
                f"{row['calls']} calls {row['tokens']:6,} tokens  {row['question']}{mark}\n"
            )
        total = sum(row["tokens"] for row in rows), sum(row["calls"] for row in rows)
        sys.stdout.write(
            f"{total[1]} calls {total[0]:,} tokens in all; tools/list is {fixed:,} more\n"
        )
    return 0 if all(row["right"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
