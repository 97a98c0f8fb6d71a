"""Times the reading of a 300-line TypeScript configuration against `json.loads` of its data.

Run it with `python tests/bench/bench_config.py` from the top folder. It fails when the best of the
runs takes longer than three times `json.loads` and 5 ms.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from inkan_mcp import read_script_config

HEAD = """\
import { defineConfig } from 'inkan'
import type { Config } from 'inkan'

// Where the records are, and where those of other teams come from.
const owner: string = 'https://github.com/example/'
const label = { label: 'A label', color: '#2da44e' } as const

const config: Config<'adr' | 'rfc', Record<string, unknown>> = {
  title: "Decisions",
  url: 'https://decisions.example.com',
  contentDir: 'content',
  sources: [
"""
SOURCE = """\
    {
      repo: owner + 'team-%d.git', // cloned at start
      ref: 'main',
      path: `docs/decisions`,
      project: 'team-%d',
    },
"""
STATUS = """\
    'status-%d': {
      ...label,
      current: true,
      open: false,
    },
"""
FIELD = """\
    field%d: { type: 'list', options: ['a', "b", `c`], required: false, weight: 1_000 },
"""
HOOK = """\
  hook%d: (record) => ({ ...record, title: record.title.replace(/^\\[.*\\]/, (x) => `${x}`) }),
"""


def script() -> str:
    """Write the configuration."""
    parts = [HEAD]
    parts += [SOURCE % (n, n) for n in range(25)]
    parts += ["  ],\n  statuses: {\n", *(STATUS % n for n in range(18))]
    parts += ["  },\n  fields: {\n", *(FIELD % n for n in range(20)), "  },\n"]
    parts += [*(HOOK % n for n in range(6)), "}\n\nexport default defineConfig(config)\n"]
    return "".join(parts)


def milliseconds(function: object, text: str) -> float:
    """Give the best time of many runs."""
    best = float("inf")
    for _ in range(100):
        start = time.perf_counter()
        function(text)
        best = min(best, time.perf_counter() - start)
    return best * 1000


def main() -> int:
    """Compare the two."""
    text = script()
    data = json.dumps(read_script_config(text).value, default=str)
    ours, theirs = milliseconds(read_script_config, text), milliseconds(json.loads, data)
    lines = text.count("\n")
    sys.stdout.write(f"{lines} lines: {ours:.2f} ms, json.loads {theirs:.3f} ms\n")
    return int(ours > 3 * theirs + 5)


if __name__ == "__main__":
    sys.exit(main())
