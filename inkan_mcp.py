"""Ask a team's decision records (ADRs, RFCs) precise questions over the Model Context Protocol.

One module, standard library only. Its sections, each using only those above it:

 1  Limits and constants   every number once, with its reason
 2  Errors                 one sentence for people, attributes for programs
 3  Values                 text to checked values: dates, durations, people, lists
 4  Records                one file's text to a `Record`; its problems are gathered
 5  Configuration          `inkan.config.*` read (never run) and checked
 6  Sources                the only code that touches disk, network or child processes
 7  Archive and queries    what is known now, and pure functions over it
 8  Tools                  rows of data: name, arguments, result, function
 9  Resources              the same records under `decision://` addresses
10  Protocol               messages in, messages out, for both eras of the protocol
11  Standard streams       the loop, workers, cancellation, end of input
12  Command line           options and exit codes

Start at `main` at the foot. A call's path: `main` -> `serve` -> `Session` -> `METHODS` ->
`call_tool` -> the tool's function -> a query -> `Archive` -> `Source` -> `parse_record`.
"""

from __future__ import annotations

import os
import re
import sys
import time

TYPE_CHECKING = False  # `typing` costs milliseconds at start-up, and only checkers need it
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any, Protocol
else:
    Protocol = object

# ── 1 Limits and constants ────────────────────────────────────────────────────────────────────

__version__ = "0.1.0"

LEGACY_VERSIONS = ("2025-06-18", "2025-03-26")  # the first answers every version that is unknown
MODERN_VERSIONS = ("2026-07-28",)

MAX_RECORD_BYTES = 4 * 1024 * 1024  # a record is text that people read; more is a mistake
MAX_LINE_BYTES = 64 * 1024 * 1024  # an input line; far above what any client sends
MAX_ANSWER_BYTES = 1_000_000  # an answer line; some clients refuse more, all hang up at 10 MiB
MAX_LIMIT = 200  # records in one page of a list
DEFAULT_LIMIT = 20
DEFAULT_REVIEW_LIMIT = 100
DEFAULT_WITHIN_DAYS = 30
RESOURCE_PAGE = 500  # resources in one page of resources/list
MISSING_SHOWN = 5  # files or sources that a list names before it says "and N more"
HOT_NANOSECONDS = 2_000_000_000  # some file systems count in steps of two seconds
CHAIN_LIMIT = 1000  # successors followed from one record
DRAIN_SECONDS = 1.5  # how long requests already read may take after the end of input
WORKERS = 4  # per lane: quick calls and calls that read bodies do not share workers
MAX_PENDING = 10_000  # requests read and not yet answered, before reading waits

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
RESOURCE_NOT_FOUND = -32002  # legacy era only; the modern one answers INVALID_PARAMS
UNSUPPORTED_VERSION = -32022  # modern era only

# ── 2 Errors ──────────────────────────────────────────────────────────────────────────────────


class InkanError(Exception):
    """A fault told in one sentence that says what was found and what to do next."""


class UsageError(InkanError):
    """The command line cannot be served; the process exits with 2."""


class ToolError(InkanError):
    """A tool cannot answer; the agent reads the sentence and can correct its call."""


class SourceError(InkanError):
    """A folder, site or repository cannot be read."""


class ConfigError(InkanError):
    """The configuration cannot be used. `path`, `line` and `column` (1-based) say where."""

    def __init__(self, path: str, line: int, column: int, problem: str) -> None:
        super().__init__(f"{path}:{line}:{column}: {problem}")
        self.path, self.line, self.column, self.problem = path, line, column, problem


class ProtocolError(InkanError):
    """A message cannot be served: a JSON-RPC error `code`, a sentence, and optional `data`."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data


class Cancelled(Exception):  # noqa: N818 - an order to stop, not a fault
    """The client no longer wants the answer, or the process is ending."""


class Problem:
    """One fault of one file: where it is, whether it is an error, and a sentence about it.

    `line` and `column` are 1-based; 0 means that the fault has no place in the file. `kind` is
    one of `left out`, `repair`, `date`, `link`, `double id`, `source`, `value`, `note`.
    """

    __slots__ = ("column", "kind", "line", "path", "sentence")

    # A file left out, a repair, a dead link, a double id and a missing source fail `--check`.
    ERRORS = frozenset({"left out", "repair", "link", "double id", "source"})

    def __init__(self, path: str, line: int, column: int, kind: str, sentence: str) -> None:
        self.path, self.line, self.column = path, line, column
        self.kind, self.sentence = kind, sentence

    @property
    def is_error(self) -> bool:
        """Whether `--check` exits 1 for it (SPEC 2)."""
        return self.kind in self.ERRORS

    @property
    def place(self) -> str:
        """`path:line:column`, or what of it is known."""
        if not self.line:
            return shown(self.path)
        return f"{shown(self.path)}:{self.line}:{self.column or 1}"

    def __str__(self) -> str:
        return f"{self.place}: {self.sentence}" if self.path else self.sentence


class Call:
    """What one call may ask of its surroundings: is it cancelled, what day is it, who listens.

    `today` is a `YYYY-MM-DD` text. `report(done, total, message)` sends progress to the client
    where it asked for it. Sources call `check` between files, bodies and requests.
    """

    __slots__ = ("cancelled", "report", "today")

    def __init__(
        self, today: str, report: Callable[[int, int | None, str], None] | None = None
    ) -> None:
        self.today = today
        self.report = report
        self.cancelled = False

    def check(self) -> None:
        """Raise `Cancelled` once the call is no longer wanted."""
        if self.cancelled:
            raise Cancelled

    def progress(self, done: int, total: int | None, message: str) -> None:
        """Tell the client how far the call has come, if it asked to be told."""
        self.check()
        if self.report is not None:
            self.report(done, total, message)


# ── 3 Values ──────────────────────────────────────────────────────────────────────────────────


def fold(text: str) -> str:
    """`text` as it is compared: trimmed, in NFC, case-folded (SPEC 7)."""
    text = text.strip()
    if text.isascii():
        return text.lower()
    return to_nfc(text).casefold()


def to_nfc(text: str) -> str:
    """`text` in the composed normal form of Unicode, so that equal letters are equal text."""
    if text.isascii():
        return text
    import unicodedata  # only text beyond ASCII needs it

    return unicodedata.normalize("NFC", text)


def fold_key(key: str) -> str:
    """A front matter key without case, `_`, `-` and space: one key in every spelling (SPEC 5)."""
    return key.lower().replace("_", "").replace("-", "").replace(" ", "")


def fold_handle(name: str) -> str:
    """A person's name or handle as it is compared: `@` and case do not matter (SPEC 7)."""
    return fold(name).lstrip("@")


def shown(text: str) -> str:
    """`text` with control characters escaped, for a line that a person reads (SPEC 5)."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\u00a0" else repr(c)[1:-1] for c in text)


def quoted(value: object) -> str:
    """A value as a message names it: its text in double quotes, at most 80 characters."""
    text = value if isinstance(value, str) else str(value)
    text = shown(text if len(text) <= 80 else text[:79] + "…")
    return f'"{text}"'


def counted(number: int, noun: str) -> str:
    """`1 file`, `2 files`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def near_misses(word: str, known: Iterable[str], most: int = 3) -> list[str]:
    """Those of `known` that `word` may have meant, the nearest first."""
    import difflib  # only a mistake needs it

    folded = {fold(name): name for name in known}
    return [folded[m] for m in difflib.get_close_matches(fold(word), folded, n=most, cutoff=0.6)]


_MONTH_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_ISO_DATE = re.compile(
    r"([0-9]{4})-([0-9]{1,2})(?:-([0-9]{1,2})(?:[Tt \u00a0].*)?)?", re.ASCII | re.DOTALL
)


def days_in_month(year: int, month: int) -> int:
    """28 to 31."""
    leap = month == 2 and (year % 4 == 0 and year % 100 != 0 or year % 400 == 0)
    return 29 if leap else _MONTH_DAYS[month - 1]


def iso_date(year: int, month: int, day: int) -> str | None:
    """`YYYY-MM-DD`, or `None` where the calendar has no such day."""
    if not (1 <= year <= 9999 and 1 <= month <= 12 and 1 <= day <= days_in_month(year, month)):
        return None
    return f"{year:04}-{month:02}-{day:02}"


def parse_date(text: str) -> str | None:
    """The ISO date that `text` states, without its time of day; a month alone as `YYYY-MM`.

    `2024-1-5` is `2024-01-05`. `None` where it states no date of the calendar (SPEC 5).
    """
    found = _ISO_DATE.fullmatch(text.strip())
    if not found:
        return None
    year, month = int(found[1]), int(found[2])
    if found[3] is None:
        return f"{year:04}-{month:02}" if iso_date(year, month, 1) else None
    return iso_date(year, month, int(found[3]))


def day_number(date: str) -> int:
    """A `YYYY-MM-DD` as a count of days, for differences (days of the proleptic calendar)."""
    year, month, day = (int(part) for part in date.split("-"))
    if month <= 2:
        year, month = year - 1, month + 12
    return 365 * year + year // 4 - year // 100 + year // 400 + (153 * month - 457) // 5 + day


def add_days(date: str, days: int) -> str | None:
    """The day that many days after `date`; `None` outside the years 1 to 9999."""
    import datetime  # only a stated cycle needs it

    try:
        return (datetime.date.fromisoformat(date) + datetime.timedelta(days=days)).isoformat()
    except (OverflowError, ValueError):
        return None


def add_months(date: str, months: int) -> str | None:
    """The same day that many months later, clamped to that month's last day (SPEC 7)."""
    year, month, day = (int(part) for part in date.split("-"))
    year, month = year + (month - 1 + months) // 12, (month - 1 + months) % 12 + 1
    if not 1 <= year <= 9999:
        return None
    return iso_date(year, month, min(day, days_in_month(year, month)))


_UNITS = {
    "day": (0, 1), "d": (0, 1),
    "week": (0, 7), "wk": (0, 7), "w": (0, 7), "fortnight": (0, 14),
    "month": (1, 0), "mth": (1, 0), "mo": (1, 0), "m": (1, 0),
    "quarter": (3, 0), "qtr": (3, 0), "q": (3, 0),
    "year": (12, 0), "yr": (12, 0), "y": (12, 0),
}  # fmt: skip
_CYCLES = {
    "daily": (0, 1), "weekly": (0, 7), "fortnightly": (0, 14), "biweekly": (0, 14),
    "monthly": (1, 0), "bimonthly": (2, 0), "quarterly": (3, 0),
    "halfyearly": (6, 0), "halfyear": (6, 0), "semiannual": (6, 0), "semiannually": (6, 0),
    "annual": (12, 0), "annually": (12, 0), "yearly": (12, 0),
    "biennial": (24, 0), "biennially": (24, 0),
}  # fmt: skip
_COUNTS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
}  # fmt: skip
_ISO_DURATION = r"p(?:([0-9]+)y)?(?:([0-9]+)m)?(?:([0-9]+)w)?(?:([0-9]+)d)?(?:t[0-9hms]*)?"
_DURATION_WORDS = r"[0-9]+|[a-z]+|[^ ,0-9a-z]"


def parse_duration(text: str) -> tuple[int, int] | None:
    """The (months, days) of a cycle: `P6M`, `6 months`, `90d`, `quarterly`; `None` for no cycle.

    A number alone counts days from 30 on and months below, as people write them.
    """
    text = text.strip().lower().rstrip(".")
    if len(text) > 64 or not text.isascii():  # no cycle is that long, and hostile text may be
        return None
    if text.isdigit():
        months, days = (0, int(text)) if int(text) >= 30 else (int(text), 0)
    elif (iso := re.fullmatch(_ISO_DURATION, text)) is not None:
        year, month, week, day = (int(part or 0) for part in iso.groups())
        months, days = 12 * year + month, 7 * week + day
    else:
        months, days = _CYCLES.get(fold_key(text)) or _spoken_duration(text)
    return (months, days) if months or days else None


def _spoken_duration(text: str) -> tuple[int, int]:
    """`6 months`, `every year`, `1y 6m`, `six months`; (0, 0) where any part is something else."""
    words = re.findall(_DURATION_WORDS, re.sub(r"(?<=[0-9a-z])-(?=[a-z])", " ", text))
    if words and words[0] in ("every", "each", "in", "after"):
        words = words[1:]
    words = [word for word in words if word != "and"]
    if len(words) == 1 and len(words[0]) > 2:
        return _CYCLES.get(words[0]) or _UNITS.get(words[0], (0, 0))
    months = days = 0
    for count, unit in zip(words[::2], words[1::2]):
        number = int(count) if count.isdigit() else _COUNTS.get(count, 0)
        per = _UNITS.get(unit if len(unit) == 1 else unit.rstrip("s"))
        if per is None or not number:
            return 0, 0
        months, days = months + number * per[0], days + number * per[1]
    return (0, 0) if len(words) % 2 else (months, days)


def add_duration(date: str, duration: tuple[int, int]) -> str | None:
    """`date` that many (months, days) later; `None` outside the years 1 to 9999."""
    later = add_months(date, duration[0])
    return add_days(later, duration[1]) if later and duration[1] else later


_GROUPED = "[-+]?[0-9]{1,3}([ ,_'\u2019\u00a0\u2009\u202f])[0-9]{3}(?:\\1[0-9]{3})*(?:\\.[0-9]+)?"
_PLAIN_NUMBER = r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?"


def parse_number(text: str, unit: str | None = None) -> int | float | None:
    """The number that `text` states, thousands separators and its declared `unit` aside."""
    text = text.strip()
    if len(text) > 80:
        return None
    if unit:
        text = _without_unit(text, unit)
    grouped = re.fullmatch(_GROUPED, text)
    if grouped:
        text = text.replace(grouped[1], "")
    elif not re.fullmatch(_PLAIN_NUMBER, text):
        return None
    if text.lstrip("+-").isdigit():
        return int(text)
    number = float(text)
    return None if number in (float("inf"), -float("inf")) else number


def _without_unit(text: str, unit: str) -> str:
    """`text` without that unit before or behind the number; `day` and `days` are one unit."""
    lower = text.lower()
    for form in (unit.lower() + "s", unit.lower(), unit.lower().rstrip("s")):
        if form and lower.endswith(form):
            return text[: -len(form)].rstrip()
        if form and lower.startswith(form):
            return text[len(form) :].lstrip()
    return text


def text_of(value: object) -> str:
    """A scalar of front matter or JSON as text: `true`, `3`, `1.5`; `""` for nothing."""
    if isinstance(value, str):
        return value.strip()
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def text_list(value: object) -> list[str]:
    """One or many as a list of texts, empty ones left out; `[[wiki]]` links keep their brackets."""
    if isinstance(value, dict):
        items: list[object] = [value]
    elif isinstance(value, (list, tuple)):
        items = list(value)
    else:
        items = [value]
    texts = (_item_text(item) for item in items)
    return [text for text in texts if text]


def _item_text(item: object) -> str:
    if isinstance(item, list):  # an unquoted [[link]] is a list within a list to YAML
        return "[[" + ", ".join(_item_text(part) for part in _flat(item)) + "]]" if item else ""
    if isinstance(item, dict):
        for key, value in item.items():
            if fold_key(key) in ("id", "ref", "target", "to", "name", "handle", "user", "path"):
                return text_of(value)
        if all(value is None for value in item.values()):  # `{a}`, a placeholder filled in
            return ", ".join(item)
        return ", ".join(f"{key}: {_item_text(value)}" for key, value in item.items())
    return text_of(item)


def _flat(items: list[Any]) -> list[Any]:
    while len(items) == 1 and isinstance(items[0], list):
        items = items[0]
    return items


def split_words(value: object, *, spaces: bool) -> list[str]:
    """`text_list`, with one text split at commas, else, where `spaces`, at white space."""
    if not isinstance(value, str):
        return text_list(value)
    parts = value.split(",") if "," in value or not spaces else value.split()
    return [part.strip() for part in parts if part.strip()]


def people_list(value: object) -> list[str]:
    """People as a list; one text made only of `@handles` is split (SPEC 5)."""
    if isinstance(value, str):
        parts = value.replace(",", " ").split()
        if len(parts) > 1 and all(part.startswith("@") for part in parts):
            return parts
    return text_list(value)


# ── 4 Records ─────────────────────────────────────────────────────────────────────────────────


class Status:
    """A status that the archive knows: its spelling, whether it is in force or still open."""

    __slots__ = ("current", "label", "name", "open")

    def __init__(
        self, name: str, *, current: bool = False, is_open: bool = False, label: str | None = None
    ) -> None:
        self.name, self.current, self.open, self.label = name, current, is_open, label


DEFAULT_STATUSES = {
    fold_key(name): Status(name, current=current, is_open=is_open)
    for name, current, is_open in (
        ("draft", False, True),
        ("proposed", False, True),
        ("in-review", False, True),
        ("accepted", True, False),
        ("implemented", True, False),
        ("rejected", False, False),
        ("deprecated", False, False),
        ("withdrawn", False, False),
        ("superseded", False, False),
    )
}


class Declaration:
    """A custom field as the configuration declares it; the six members that `list_fields` has.

    The others serve to check values: the type of a list's items, bounds, what values are called
    besides, and whether many values are one as well.
    """

    __slots__ = (
        "description", "integral", "item", "label", "labels", "many", "maximum", "minimum", "name",
        "type", "unit", "values",
    )  # fmt: skip

    def __init__(self, name: str, kind: str = "string") -> None:
        self.name = name
        self.type = kind
        self.label: str | None = None
        self.description: str | None = None
        self.unit: str | None = None
        self.values: list[str] = []
        self.item = "string"
        self.integral = self.many = False
        self.labels: dict[str, str] = {}
        self.minimum: float | None = None
        self.maximum: float | None = None


class Project:
    """One project of the archive: a first-level folder, with what its `_project.yml` says."""

    __slots__ = ("description", "fields", "id", "key", "name", "order", "owners", "review_every")

    def __init__(self, project_id: str) -> None:
        self.id = project_id
        self.name = project_id
        self.description: str | None = None
        self.owners: list[str] = []
        self.order: float | None = None
        self.key: str | None = None
        self.fields: dict[str, Declaration] = {}
        self.review_every: str | None = None


class Rules:
    """What configuration and project say about reading records; one set per project.

    `statuses` and `declared` are keyed by `fold_key`; `approvals` by the folded record type.
    """

    __slots__ = ("approvals", "declared", "key", "review_every", "statuses")

    def __init__(
        self,
        statuses: dict[str, Status] | None = None,
        declared: dict[str, Declaration] | None = None,
        approvals: dict[str, int] | None = None,
    ) -> None:
        self.statuses = DEFAULT_STATUSES if statuses is None else statuses
        self.declared = declared or {}
        self.approvals = approvals or {}
        self.review_every: str | None = None
        self.key: str | None = None

    def for_project(self, project: Project | None) -> Rules:
        """These rules with what `project` adds: its key, its fields, its review cycle."""
        if project is None:
            return self
        own = Rules(self.statuses, {**self.declared}, self.approvals)
        own.declared.update({fold_key(name): field for name, field in project.fields.items()})
        own.review_every = project.review_every or self.review_every
        own.key = project.key or project.id
        return own


class Origin:
    """Where a record comes from, before its text is read.

    `path` is what people are shown; `location` is what the source opens; `number` is as written
    in the file name, or `None`.
    """

    __slots__ = ("id", "location", "number", "path", "project", "type")

    def __init__(self, record_id: str, path: str, location: str = "") -> None:
        self.id, self.path, self.location = record_id, path, location
        parts = record_id.split("/")
        self.project: str | None = parts[0] if len(parts) > 1 else None
        self.type: str | None = parts[-2] if len(parts) > 2 else None
        self.number = number_of(parts[-1])


class Review:
    """A periodic review: ISO dates `due` and `reviewed`, and the cycle `every` as written."""

    __slots__ = ("due", "every", "reviewed")

    def __init__(self, due: str | None, reviewed: str | None, every: str | None) -> None:
        self.due, self.reviewed, self.every = due, reviewed, every


class Reviewer:
    """One reviewer: the handle without `@`, a state, whether their approval is required.

    `state` is `approved`, `changes-requested`, `commented` or `pending`.
    """

    __slots__ = ("name", "optional", "required", "state")

    def __init__(
        self, name: str, state: str, *, required: bool = False, optional: bool = False
    ) -> None:
        self.name, self.state, self.required, self.optional = name, state, required, optional


class Approval:
    """Where the approval of an open record stands (SPEC 7, `rfcReview`)."""

    __slots__ = ("approved", "required", "status", "waiting_on")

    def __init__(self, status: str, approved: int, required: int, waiting_on: list[str]) -> None:
        self.status, self.approved, self.required = status, approved, required
        self.waiting_on = waiting_on


class Record:
    """One decision: every field checked, links as written (the archive resolves them).

    `current` and `open` are what its status says. `aliases` are further names that
    `get_record` accepts: the heading as written, where it is not the title.
    """

    __slots__ = (
        "aliases", "approval", "authors", "current", "date", "deciders", "description", "fields",
        "folded", "id", "location", "number", "open", "path", "problems", "project", "ref",
        "related", "review", "reviewers", "status", "status_text", "superseded_by", "supersedes",
        "tags", "title", "type", "url",
    )  # fmt: skip

    def __init__(self, origin: Origin) -> None:
        self.id, self.path, self.location = origin.id, origin.path, origin.location
        self.project, self.type, self.number = origin.project, origin.type, origin.number
        self.ref: str | None = None
        self.title = ""
        self.description: str | None = None
        self.status: str | None = None
        self.status_text: str | None = None
        self.current = self.open = False
        self.date: str | None = None
        self.url: str | None = None
        self.tags: list[str] = []
        self.authors: list[str] = []
        self.deciders: list[str] = []
        self.related: list[str] = []
        self.supersedes: list[str] = []
        self.superseded_by: list[str] = []
        self.fields: dict[str, object] = {}
        self.review: Review | None = None
        self.reviewers: list[Reviewer] = []
        self.approval: Approval | None = None
        self.aliases: tuple[str, ...] = ()
        self.problems: list[Problem] = []
        self.folded: str | None = None  # title, description and tags, folded, on first search


class FieldSet:
    """The front matter of one record: values by folded key, each taken once; the rest is custom.

    `note(key, kind, sentence)` gathers a problem at the line of that key.
    """

    __slots__ = ("_notes", "_values", "written")

    def __init__(self, mapping: Mapping[str, object], declared: Iterable[str] = ()) -> None:
        self._values: dict[str, object] = {}
        self.written: dict[str, str] = {}
        self._notes: list[tuple[str, str, str]] = []
        custom = frozenset(declared)
        for key, value in mapping.items():
            folded = fold_key(key)
            if folded in custom:
                folded = "\0" + key  # a declared field is custom, whatever it is called (SPEC 5)
            if folded in self._values:
                if self._values[folded] not in (None, "", []):
                    if value not in (None, "", []):
                        other = self.written[folded]
                        self.note(key, "value", f"{key} says the same as {other}, which is used")
                    continue
            self._values[folded], self.written[folded] = value, key

    def note(self, key: str, kind: str, sentence: str) -> None:
        """Gather a problem; `key` as written says where it stands."""
        self._notes.append((key, kind, sentence))

    @property
    def notes(self) -> list[tuple[str, str, str]]:
        """What was gathered: (key, kind, sentence)."""
        return self._notes

    def __contains__(self, folded: str) -> bool:
        return folded in self._values

    def take(self, folded: str) -> object:
        """The value of that key, which then is no custom field; `None` where it is absent."""
        return self._values.pop(folded, None)

    def peek(self, folded: str) -> object:
        """The value of that key, left where it is; `None` where it is absent."""
        return self._values.get(folded)

    def put(self, folded: str, left: Mapping[str, object]) -> None:
        """Keep of the mapping under that key what nobody took from it; nothing takes the key."""
        if left:
            self._values[folded] = left
        else:
            self._values.pop(folded, None)

    def rest(self) -> dict[str, object]:
        """What nobody took, under its own name."""
        return {self.written[key]: value for key, value in self._values.items()}


_NUMBER = re.compile(r"(?!(?:19|20)[0-9]{2}-(?:0[1-9]|1[0-2])(?![0-9]))([0-9]+)", re.ASCII)


def number_of(stem: str) -> str | None:
    """The leading digits of a file name, as written; `None` for a dated name (SPEC 5)."""
    found = _NUMBER.match(stem)
    return found[1] if found and len(found[1]) not in (8,) and len(found[1]) < 16 else None


class RecordError(InkanError):
    """One file cannot be read as a record; `problem` says where and why."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


def parse_record(text: str, origin: Origin, rules: Rules) -> Record | None:
    """One Markdown file with front matter as a record; `None` for a draft (SPEC 5).

    Raises `RecordError` where the file has no readable front matter. Lesser faults are gathered
    in the record's `problems`.
    """
    import vendored_yaml

    front = vendored_yaml.split_front_matter(text)
    if front.block is None:
        raise RecordError(Problem(origin.path, 1, 1, "left out", _no_front_matter(front.problem)))
    mapping, repairs = read_front_matter(front, origin)
    fields = FieldSet(mapping, rules.declared)
    heading, _ = first_heading(front.body)
    record = record_from_fields(fields, origin, rules, heading)
    if record is None:
        return None
    _warn_of_cut_title(fields, record, heading, front.block)
    if heading and heading != record.title:
        record.aliases = (heading,)
    record.problems = [*repairs, *_placed(fields, origin, front)]
    return record


def _no_front_matter(problem: str | None) -> str:
    return problem or (
        "the file has no front matter; begin it with a block between two --- lines "
        "that holds title and status"
    )


def read_front_matter(front: Any, origin: Origin) -> tuple[dict[str, Any], list[Problem]]:
    """The mapping of a front matter block, and the repairs that made it readable.

    Raises `RecordError` with the place in the file where it is no YAML, or no mapping.
    """
    import vendored_yaml

    try:
        value, repairs = vendored_yaml.load_lenient(front.block)
    except vendored_yaml.YAMLError as fault:
        sentence = f"{fault.problem}; {fault.hint}" if fault.hint else fault.problem
        line = front.line + fault.line - 1
        raise RecordError(Problem(origin.path, line, fault.column, "left out", sentence)) from None
    if value is None:
        value = {}
    if not isinstance(value, dict):
        what = "a list" if isinstance(value, list) else "one text"
        sentence = f"the front matter is {what}; write it as `key: value` lines"
        raise RecordError(Problem(origin.path, front.line, 1, "left out", sentence))
    return value, [
        Problem(
            origin.path, front.line + repair.line - 1, repair.column, "repair",
            f"{repair.problem}; the rest of the line was taken as its text; "
            f"{repair.hint or 'quote the value'}",
        )
        for repair in repairs
    ]  # fmt: skip


def _placed(fields: FieldSet, origin: Origin, front: Any) -> list[Problem]:
    """The notes of `fields` as problems at the lines of their keys."""
    if not fields.notes:
        return []
    import vendored_yaml

    lines = vendored_yaml.key_lines(front.block)
    return [
        Problem(origin.path, front.line + lines.get(key, 1) - 1, 1, kind, sentence)
        for key, kind, sentence in fields.notes
    ]


_HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*", re.ASCII)


def first_heading(body: str) -> tuple[str | None, int]:
    """The first heading of a Markdown text outside fences and comments, and its level."""
    fence = ""
    comment = False
    for line in body.splitlines():
        stripped = line.strip()
        if comment or fence:
            comment = comment and "-->" not in line
            if fence and stripped.startswith(fence) and not stripped.strip(fence[0]):
                fence = ""
        elif stripped.startswith(("```", "~~~")):
            fence = stripped[: len(stripped) - len(stripped.lstrip(stripped[0]))]
        elif stripped.startswith("<!--"):
            comment = "-->" not in stripped
        elif line.startswith("#"):
            found = _HEADING.fullmatch(line)
            if found and found[2]:
                return found[2], len(found[1])
    return None, 0


def _warn_of_cut_title(
    fields: FieldSet, record: Record, heading: str | None, block: str
) -> None:
    """YAML ends an unquoted title at ` #`; say so where the heading shows that it was meant."""
    if heading and " #" in block and len(heading) > len(record.title) > 0:
        rest = heading[len(record.title) :]
        if heading.startswith(record.title) and rest.lstrip().startswith("#"):
            fields.note(
                "title", "value",
                f"the title ends before {quoted(rest.strip())}, since YAML takes ` #` for a "
                "comment; put the title in quotes",
            )  # fmt: skip


def record_from_fields(
    fields: FieldSet, origin: Origin, rules: Rules, heading: str | None = None
) -> Record | None:
    """The record that checked fields make; `None` for a draft. What is wrong is noted in `fields`.

    The same for front matter, for the labels of foreign archives and for an index entry.
    """
    if fields.take("draft") in (True, "true", "True", "yes"):
        return None
    record = Record(origin)
    record.title = text_of(fields.take("title")) or heading or origin.id.rsplit("/", 1)[-1]
    record.description = text_of(fields.take("description")) or None
    record.type = text_of(fields.take("type")) or origin.type
    record.ref = _ref(record, rules)
    _read_status(record, _status_text(fields.take("status")), rules)
    record.date = _read_date(fields, "date")
    record.tags = split_words(fields.take("tags"), spaces=True)
    record.authors = people_list(fields.take("authors"))
    record.deciders = people_list(fields.take("deciders"))
    record.related = text_list(fields.take("related"))
    record.supersedes = text_list(fields.take("supersedes"))
    record.superseded_by = text_list(fields.take("supersededby"))
    cycle = rules.review_every if record.current else None
    record.review = parse_review(fields, record.date, cycle)
    record.reviewers, required = parse_reviewers(fields)
    by_type = rules.approvals.get(fold(record.type or ""))
    record.approval = approval_of(record.reviewers, required if required is not None else by_type)
    record.fields = _custom_fields(fields, rules)
    return record


def _ref(record: Record, rules: Rules) -> str | None:
    key = rules.key or record.project
    if not (key and record.type and record.number):
        return None
    return f"{key}-{record.type}-{record.number}".upper()


def _status_text(value: object) -> str:
    return _item_text(value) if isinstance(value, (dict, list)) else text_of(value)


def _read_status(record: Record, text: str, rules: Rules) -> None:
    """Known statuses in the configured spelling; others as written, neither open nor current."""
    known = rules.statuses.get(fold_key(text))
    record.status = known.name if known else text or None
    if known:
        record.current, record.open = known.current, known.open


def _read_date(fields: FieldSet, key: str) -> str | None:
    value = fields.take(key)
    text = text_of(value)
    if not text:
        return None
    date = parse_date(text)
    if date is None:
        fields.note(
            fields.written[key], "date",
            f"{fields.written[key]} is {quoted(text)}, which is no date; write it as YYYY-MM-DD",
        )  # fmt: skip
    return date


def _custom_fields(fields: FieldSet, rules: Rules) -> dict[str, object]:
    """Every key that nobody took, and what a nested `fields:` map holds; declared ones checked."""
    rest = fields.rest()
    nested = next((key for key in rest if fold_key(key) == "fields"), None)
    if nested is not None and isinstance(rest[nested], dict):
        inner = rest.pop(nested)
        assert isinstance(inner, dict)
        rest = {**inner, **rest}
    for key, value in rest.items():
        declaration = rules.declared.get(fold_key(key))
        if declaration is not None and value is not None:
            rest[key] = checked_value(declaration, value, lambda s, key=key: fields.note(key, "value", s))  # type: ignore[misc]  # noqa: E501
    return {key: plain(value) for key, value in rest.items()}


def plain(value: object) -> object:
    """A value as JSON can carry it: `.inf` and `.nan` as their text (SPEC 5)."""
    if isinstance(value, float) and (value != value or value in (float("inf"), -float("inf"))):
        return ".nan" if value != value else ".inf" if value > 0 else "-.inf"
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


# ── 4b Reviews, reviewers and declared fields ─────────────────────────────────────────────────

# How archives spell it, folded; the first that stands in a record is used. Most spellings say by
# themselves what they mean. A loose one is taken only where its value fits: what else people
# write under such a key (`revisit: when traffic doubles`) stays a custom field.
# Patterns are texts here, compiled on first use: most records have no such key.

_REVIEW_KEYS = {
    **dict.fromkeys(
        ("reviewby", "reviewdue", "reviewduedate", "dueforreview", "nextreview", "nextreviewdate",
         "nextreviewdue", "nextreviewon", "reviewon", "reviewafter"), "due"),
    **dict.fromkeys(
        ("lastreviewed", "lastreviewedon", "lastreviewedat", "lastrevieweddate", "lastreview",
         "lastreviewdate", "reviewedon", "reviewedat", "statuslastreviewed",
         "freshnessreviewedon", "lastverified", "lastverifiedon"), "reviewed"),
    **dict.fromkeys(
        ("reviewevery", "reviewin", "reviewcycle", "reviewcadence", "reviewinterval",
         "reviewfrequency", "reviewperiod", "reviewafterdays"), "every"),
    "reviewdate": "either",
    "reviewed": "reviewed",
    "ms.date": "reviewed",
    **dict.fromkeys(
        ("revisit", "revisiton", "revisitby", "resubmission", "validuntil", "expires", "expireson",
         "expireby", "expirydate", "expirationdate"), "due"),
}  # fmt: skip
_NESTED_REVIEW_KEYS = {
    **_REVIEW_KEYS,
    **dict.fromkeys(("due", "next", "by"), "due"),
    **dict.fromkeys(("last", "on"), "reviewed"),
    **dict.fromkeys(("every", "in", "cycle", "cadence", "interval", "frequency"), "every"),
    "date": "either",
}
_LOOSE_REVIEW_KEYS = frozenset(
    ("reviewed", "ms.date", "revisit", "revisiton", "revisitby", "resubmission", "validuntil",
     "expires", "expireson", "expireby", "expirydate", "expirationdate", "by", "on")
)  # fmt: skip
_NO_REVIEW = frozenset(("", "no", "none", "never", "false", "off", "n/a", "na", "tbd", "-"))
_REVIEW_LEAD = r"(?ai)\A(?:until|till|by|before|on)[ \t:]+"
_US_DATE = r"([0-9]{1,2})/([0-9]{1,2})/([0-9]{4})"
_DATE_ATTEMPT = r"[0-9]{1,4}[-/.][0-9]{1,2}"
_MOST_PEOPLE = 1000  # mentions in one key that are read; more are no reviewers but a mistake
_MOST_VALUES = 5000  # values of one declared field that are read
_DRIFT_DAYS = 31  # a stated due date may differ that much from its cycle without a word


class _ReviewReader:
    """What the keys of one record say about its review; the first of each kind holds.

    `either` is a `review-date`, which is used for both the next and the last review.
    """

    __slots__ = ("days", "fields", "found", "never")

    def __init__(self, fields: FieldSet) -> None:
        self.fields = fields
        self.found: dict[str, str] = {}
        self.days = False  # whether a bare number counts days, since the key says so
        self.never = False

    def read_all(self) -> None:
        """Read every review key of the record and take those that were understood."""
        review = self.fields.peek("review")
        if isinstance(review, dict):
            written = self.fields.written["review"]
            left = {
                key: value
                for key, value in review.items()
                if not self._read(_NESTED_REVIEW_KEYS, (written, str(key)), value)
            }
            self.fields.put("review", left)
        elif "review" in self.fields and self._read_scalar(review):
            self.fields.take("review")
        for folded in _present(self.fields, _REVIEW_KEYS):
            place = (self.fields.written[folded], "")
            if self._read(_REVIEW_KEYS, place, self.fields.peek(folded)):
                self.fields.take(folded)

    def _note(self, place: tuple[str, str], kind: str, what: str) -> None:
        self.fields.note(place[0], kind, f"{'.'.join(filter(None, place))} {what}")

    def _read_scalar(self, value: object) -> bool:
        """`review:` with one value: a day it is due, or a cycle. True where it was understood."""
        text = _one_text(value)
        place = (self.fields.written["review"], "")
        if value in (None, "", [], False) or fold(text or "") in _NO_REVIEW - {""}:
            self.never = value not in (None, "", [])
        elif text and not isinstance(value, bool) and _review_day(text, last=True):
            self.found["due"] = text
        elif text and not isinstance(value, bool) and parse_duration(text):
            self.found["every"] = text
        else:
            self._note(
                place, "value",
                f"is {_named(value)}, which is neither a date nor a cycle; "
                "write a date as YYYY-MM-DD or a cycle like 6 months",
            )  # fmt: skip
            return False
        return True

    def _read(self, keys: Mapping[str, str], place: tuple[str, str], value: object) -> bool:
        """One key. True where it was understood, or could mean nothing but a review."""
        folded = fold_key(place[1] or place[0])
        sense, loose = keys.get(folded), folded in _LOOSE_REVIEW_KEYS
        if sense is None:
            return False
        text = _one_text(value)
        if text is None or isinstance(value, bool):
            return self._read_misfit(sense, place, value, loose=loose)
        if not text or (sense != "every" and fold(text) in _NO_REVIEW):
            return not (loose and text)
        if loose and (sense in self.found or self._is_expiry_beside_review(folded)):
            return False
        if sense != "every" and _review_day(text, last=sense == "due"):
            return self._keep(sense, text, place)
        if sense == "every" or self._is_cycle(folded, text):
            self.days = self.days or folded == "reviewafterdays"
            return self._keep("every", text, place)
        if not loose or re.search(_DATE_ATTEMPT, text[:200]):
            self._note_unread(place, value)
        return not loose

    def _read_misfit(
        self, sense: str, place: tuple[str, str], value: object, *, loose: bool
    ) -> bool:
        """A boolean, list or mapping: it stays a custom field, but `every: false` is an answer."""
        if sense == "every" and value is False:
            self.never = True
            return True
        if sense == "every":
            self._note(place, "value", f"is {_named(value)}, which is no cycle; write 6 months")
        elif not loose or (sense == "reviewed" and isinstance(value, bool)):
            self._note_unread(place, value)
        return value in ([], {})

    def _is_expiry_beside_review(self, folded: str) -> bool:
        """Where a `review-date` stands, the end of validity is not what the review waits for."""
        return "either" in self.found and folded.startswith(("expir", "valid"))

    def _is_cycle(self, folded: str, text: str) -> bool:
        """`next-review: quarterly` states a cycle; a token's `expires: 30d` does not."""
        if folded.startswith("revisit") or folded not in _LOOSE_REVIEW_KEYS:
            return not text.isdigit() and parse_duration(text) is not None
        return False

    def _keep(self, sense: str, text: str, place: tuple[str, str]) -> bool:
        first = self.found.setdefault(sense, text)
        if fold(first) != fold(text):
            what = f"says {quoted(text)} besides {quoted(first)}, which is used"
            self._note(place, "value", what)
        return True

    def _note_unread(self, place: tuple[str, str], value: object) -> None:
        what = f"is {_named(value)}, which is no date; write it as YYYY-MM-DD"
        self._note(place, "date", what)


def _present(fields: FieldSet, keys: Iterable[str]) -> list[str]:
    """Those of `keys` that nobody took yet, in their order."""
    written = fields.written  # asked first, since nearly all records have none of them
    return [key for key in keys if key in written and key in fields]


def _one_text(value: object) -> str | None:
    """A scalar, or the only item of a list, as text; `None` for what holds more than one."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return None if isinstance(value, (dict, list)) else text_of(value)


def _named(value: object) -> str:
    """A value as a message names it, however deep it is."""
    if isinstance(value, dict):
        return "a mapping"
    return "a list" if isinstance(value, list) else quoted(text_of(value))


def _review_day(text: str, *, last: bool) -> str | None:
    """The day that `text` states; of a month alone its last day, or else its first."""
    text = re.sub(_REVIEW_LEAD, "", text[:80], count=1)
    american = re.fullmatch(_US_DATE, text)  # how `ms.date` is written
    if american:
        return iso_date(int(american[3]), int(american[1]), int(american[2]))
    date = parse_date(text)
    if date is None or len(date) != 7:
        return date
    year, month = int(date[:4]), int(date[5:])
    return iso_date(year, month, days_in_month(year, month) if last else 1)


def parse_review(
    fields: FieldSet, date: str | None, cycle: str | None, *, today: str | None = None
) -> Review | None:
    """The periodic review that `fields` state in any of the field's spellings (SPEC 7).

    `date` is the record's own date, `cycle` what holds for records that state no cycle. With
    `today` a `review-date` to come is known from one that is past. Understood keys are taken.
    """
    reader = _ReviewReader(fields)
    reader.read_all()
    found = reader.found
    own = found.get("every")
    every = own if own is not None or reader.never else cycle
    numbered = reader.days and (own or "").isdigit()
    duration = parse_duration(f"{own} days" if numbered else every or "")
    start = _review_day(date, last=False) if date else None
    _settle_review_date(found, start, duration if own else None, today)
    reviewed = _review_day(found.get("reviewed", ""), last=False)
    base = reviewed or start
    computed = add_duration(base, duration) if base and duration else None
    due = _review_day(found.get("due", ""), last=True)
    if due and computed and own and abs(day_number(due) - day_number(computed)) > _DRIFT_DAYS:
        fields.note(
            _review_key(fields), "value",
            f"the review is due on {due} as written, but {quoted(own)} after {base} is {computed}; "
            "correct the one that is wrong",
        )  # fmt: skip
    due = due or computed
    return Review(due, reviewed, every) if due or reviewed or every else None


def _review_key(fields: FieldSet) -> str:
    """The key, as written, that a message about the due date points at."""
    known = (fields.written[key] for key in ("review", *_REVIEW_KEYS) if key in fields.written)
    return next(known, "review")


def _settle_review_date(
    found: dict[str, str], start: str | None, cycle: tuple[int, int] | None, today: str | None
) -> None:
    """Decide whether a `review-date` is the next review or the last one.

    A day to come is the next one. A past one is the last where another key says when the next is
    or a cycle leads to it, unless it is the very day that the cycle gives; alone it is the next.
    """
    text = found.pop("either", None)
    if text is None:
        return
    last, first = _review_day(text, last=True) or "", _review_day(text, last=False) or ""
    other = _review_day(found.get("due", ""), last=True)
    if today and last > today:
        found["due"] = text if not other or last < other else found["due"]
    elif other or ("reviewed" not in found and cycle and not _is_on_cycle(last, start, cycle)):
        found.setdefault("reviewed", text)
    elif cycle or not start or first > start:
        found["due"] = text
    else:
        found.setdefault("reviewed", text)


def _is_on_cycle(day: str, start: str | None, cycle: tuple[int, int]) -> bool:
    return start is not None and add_duration(start, cycle) == day


_APPROVED, _CHANGES, _COMMENTED, _PENDING = "approved", "changes-requested", "commented", "pending"
_STATES = {
    **dict.fromkeys(
        ("approved", "approve", "approves", "accepted", "accept", "lgtm", "+1", "yes", "ok", "okay",
         "signedoff", "signoff", "ratified", "agreed", "done", "aprovado"), _APPROVED),
    **dict.fromkeys(
        ("changesrequested", "requestchanges", "requestedchanges", "requestschanges", "rejected",
         "reject", "rejects", "no", "nack", "blocked", "block", "objection", "objected", "declined",
         "needswork", "needschanges", "revise", "veto"), _CHANGES),
    **dict.fromkeys(
        ("commented", "comment", "comments", "reviewed", "abstain", "abstained", "neutral",
         "discussed"), _COMMENTED),
    **dict.fromkeys(
        ("pending", "requested", "reviewrequested", "reviewrequired", "waiting", "awaiting", "open",
         "todo", "inreview", "tbd", "notstarted", "dismissed"), _PENDING),
}  # fmt: skip
_MARKS = {
    **dict.fromkeys("✅✔☑👍", _APPROVED),
    **dict.fromkeys("❌🚫✗✘👎", _CHANGES),
    "💬": _COMMENTED,
    **dict.fromkeys("⏳⌛", _PENDING),
}
_NOBODY = frozenset(("", "tbd", "tba", "todo", "none", "n/a", "na", "?", "-", "unassigned"))
_PERSON_KEYS = ("handle", "github", "login", "user", "username", "reviewer", "approver", "person",
                "name", "id", "email", "team", "group")  # fmt: skip
_STATE_KEYS = ("state", "status", "vote", "decision", "verdict", "review", "result")
_WHEN_KEYS = ("date", "at", "on", "submittedat", "approvedat", "approvedon", "reviewedat")
_CHECKBOX = r"\[([ xX])\](?!\()"
_MARKDOWN_LINK = r"\[([^\[\]]*)\]\([^()]*\)"
_EMAIL = r"<([^<>]*)>"
_NAME_END = r"[(,;:=→]| [-–—]+ "
_PHRASE_END = r"[(),;:]| [-–—]+ "
_SEPARATORS = r"\A(?:[:=→ \t]|[-–—]+ )*"
_HANDLE_END = r"[(,;:=→ \t]"
_DAY = r"(?a)(?:\b(?:on|at) )?\b([0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9:.]+Z?)?)"
_CONDITION = r"(?a)\b(?:if|unless|once|but|when|except|until|pending|provided|not|conditional\w*)\b"


class _Role:
    """What an entry of one key means: its state where it states none, and whether it counts.

    `loose` keys hold other things too, so they are taken only where every entry is a person.
    """

    __slots__ = ("dated", "loose", "optional", "required", "state")

    def __init__(
        self, state: str | None = None, *, required: bool = False, loose: bool = False
    ) -> None:
        self.state, self.required, self.loose = state, required, loose
        self.optional = False
        self.dated = required or state == _APPROVED  # a date alone is an approval


_ROLES = {
    "reviewers": _Role(),
    "reviews": _Role(loose=True),
    "approvers": _Role(required=True),
    "humanapprovers": _Role(required=True),
    "requiredreviewers": _Role(required=True),
    "requiredapprovers": _Role(required=True),
    "approvals": _Role(_APPROVED, loose=True),
    "approvedby": _Role(_APPROVED),
    "objections": _Role(_CHANGES, loose=True),
    "rejectedby": _Role(_CHANGES),
}
_REQUIRED_KEYS = ("requiredapprovals", "approvalsrequired", "minapprovals", "quorum", "required")


class _Entry:
    """One mention of a person: names to know them by, and what it says of them."""

    __slots__ = ("ids", "name", "optional", "required", "state", "when")

    def __init__(self, name: str) -> None:
        self.name = name
        self.ids = [fold_handle(name)]
        self.state: str | None = None
        self.when = ""
        self.required = self.optional = False

    def absorb(self, later: _Entry) -> None:
        """Another mention of the same person: the last dated one wins, else the last listed."""
        self.ids += later.ids
        self.required = self.required or later.required
        self.optional = self.optional or later.optional
        if later.state is not None and (self.state is None or later.when >= self.when):
            self.state, self.when = later.state, later.when


def parse_reviewers(fields: FieldSet) -> tuple[list[Reviewer], int | None]:
    """The reviewers that `fields` name, and how many approvals they say are required.

    The keys that were understood are taken, also from within a `review:` mapping.
    """
    entries = _read_roles(fields)
    review, published = fields.peek("review"), fields.peek("rfcreview")
    inner = FieldSet({str(key): value for key, value in _mapping(review).items()})
    entries += _read_roles(inner)
    if published is None or isinstance(published, dict):
        fields.take("rfcreview")  # what a site publishes; its counts are worked out again
    if not entries and not inner.written:
        return [], None
    reviewers = [
        Reviewer(
            entry.name, entry.state or _PENDING,
            required=entry.required, optional=entry.optional and not entry.required,
        )
        for entry in _one_per_person(entries)
    ]  # fmt: skip
    places = (fields, inner, FieldSet({"required": _mapping(published).get("required")}))
    required = _stated_required(places, reviewers) if reviewers else None
    if isinstance(review, dict):
        left = {key: item for key, item in review.items() if fold_key(str(key)) in inner}
        fields.put("review", left)
    for _, kind, sentence in inner.notes:
        fields.note(fields.written["review"], kind, f"review: {sentence}")
    return reviewers, required


def _mapping(value: object) -> dict[Any, Any]:
    return value if isinstance(value, dict) else {}


def _read_roles(fields: FieldSet) -> list[_Entry]:
    """The entries of every key that names people; those keys are taken."""
    entries: list[_Entry] = []
    for folded in _present(fields, _ROLES):
        role, value, written = _ROLES[folded], fields.peek(folded), fields.written[folded]
        notes: list[str] = []
        found = _read_people(value, role, notes)
        if found is not None:
            fields.take(folded)
            entries += found
        else:
            what = f"is {_named(value)}, which names nobody; write a list of handles"
            notes = [] if role.loose else [what]
        for sentence in notes:
            fields.note(written, "value", f"{written} {sentence}")
    return entries


def _read_people(value: object, role: _Role, notes: list[str]) -> list[_Entry] | None:
    """The entries of one value; `None` where it names no people."""
    if isinstance(value, (bool, int, float)):
        return None
    entries: list[_Entry] = []
    for count, (text, details) in enumerate(_people_items(value, 0)):
        if count == _MOST_PEOPLE:
            notes.append(f"names more than {count:,} people; the rest are left out")
            break
        noted = len(notes)
        entry = _read_entry(text, details, notes)
        if role.loose and (len(notes) > noted or not _is_sure(text, details, entry, role)):
            return None
        if entry.state is None:
            entry.state = _APPROVED if role.dated and entry.when else role.state
        entry.required = entry.required or (role.required and not entry.optional)
        if fold(entry.name).strip("[]()<> .") not in _NOBODY:
            entries.append(entry)
    return entries


def _is_sure(text: str, details: dict[str, object], entry: _Entry, role: _Role) -> bool:
    """Whether an entry of a key with several uses is a person (`reviews: 5 stars` is none)."""
    if text.startswith("@") or any(key in details for key in _PERSON_KEYS):
        return True
    if _phrase_state(text)[0] is not None:  # `approvals: pending`
        return False
    return entry.state is not None or (role.state == _APPROVED and len(text) <= 60)


def _people_items(value: object, depth: int) -> Iterator[tuple[str, dict[str, object]]]:
    """Each person in one value: the text that names them, and what a mapping says besides."""
    if isinstance(value, dict):
        folded = {fold_key(str(key)): item for key, item in value.items()}
        if _person_text(folded):
            yield _person_text(folded), folded
            return
        for name, detail in value.items():
            yield from _pair_items(str(name), detail, depth)
    elif isinstance(value, list):
        for item in value if depth < 3 else []:
            yield from _people_items(item, depth + 1)
    elif not isinstance(value, bool):
        for part in _split_people(text_of(value), in_list=depth > 0):
            yield part, {}


def _person_text(details: dict[str, object]) -> str:
    """Who a mapping is about, by handle rather than by name; `""` where it names nobody."""
    for key in _PERSON_KEYS:
        value = details.get(key)
        if isinstance(value, dict):  # as in `user: {login: ana}`
            value = next((value[inner] for inner in _PERSON_KEYS if inner in value), None)
        if value is not None and not isinstance(value, (bool, dict, list)) and text_of(value):
            return text_of(value)
    return ""


def _pair_items(
    name: str, detail: object, depth: int
) -> Iterator[tuple[str, dict[str, object]]]:
    """`"@ana": approved`, `"@ana": {state: …}`, or a group: `approved: ["@ana"]`."""
    group = fold_key(name)
    if isinstance(detail, list):
        known = group in _STATES or group in ("required", "optional")
        more: dict[str, object] = {"state": group} if group in _STATES else {group: True}
        for text, own in _people_items(detail, depth + 1):
            yield (text, {**more, **own}) if known else (text, own)
    elif isinstance(detail, dict):
        yield name, {fold_key(str(key)): value for key, value in detail.items()}
    elif isinstance(detail, bool) or parse_date(text_of(detail)):
        yield name, {"approved": detail}
    else:
        yield name, {"state": detail}


def _split_people(text: str, *, in_list: bool) -> list[str]:
    """One text as its people: at lines and commas, or at spaces between `@handles` alone."""
    words = text.replace(",", " ").split()
    if len(words) > 1 and all(word.startswith("@") for word in words):
        return words
    if in_list:  # a comma within an item leads to a role: `@sam, for operations`
        return [text] if text else []
    parts, depth, start = [], 0, 0
    for at, char in enumerate(text):
        depth = max(0, depth + (char == "(") - (char == ")"))
        if char in ";\n" or (char == "," and not depth):
            parts.append(text[start:at])
            start = at + 1
    parts.append(text[start:])
    return [part.strip(" \t\r*") for part in parts if part.strip(" \t\r*-")]


def _read_entry(text: str, details: dict[str, object], notes: list[str]) -> _Entry:
    """One mention of a person; a state that is unknown is noted, and never an approval."""
    entry = _read_person(text.lstrip("-* \t"), notes)
    entry.ids += [
        fold_handle(other)
        for key in _PERSON_KEYS
        if (other := _one_text(details.get(key))) and other != text
    ]
    approved = details.get("approved")
    if approved is not None:
        when = parse_date(text_of(approved)) if not isinstance(approved, (dict, list)) else None
        known = _phrase_state(_one_text(approved) or "")[0]
        entry.state = _APPROVED if approved is True or when or known == _APPROVED else _PENDING
        entry.when = text_of(approved) if when else ""
    for key in _STATE_KEYS:
        if details.get(key) not in (None, "", [], {}):
            entry.state = _stated(details[key], entry, notes)
    for key in _WHEN_KEYS:
        when_text = _one_text(details.get(key)) or ""
        if parse_date(when_text):
            entry.when = when_text
            if entry.state is None and key.startswith("approved"):
                entry.state = _APPROVED
    entry.required = entry.required or _is_true(details.get("required"))
    entry.optional = entry.optional or _is_true(details.get("optional"))
    entry.optional = entry.optional or _one_text(details.get("required")) in ("false", "no")
    return entry


def _is_true(value: object) -> bool:
    return value is True or value in ("true", "yes")


def _stated(value: object, entry: _Entry, notes: list[str]) -> str:
    """The state that a value means; `pending` with a note where it is no known word."""
    text = _one_text(value)
    if isinstance(value, bool):
        return _APPROVED if value else _PENDING
    if isinstance(value, int) and value in (1, -1):  # an unquoted +1 or -1
        return _APPROVED if value == 1 else _CHANGES
    state, when = _phrase_state(text or "")
    entry.when = when or entry.when
    if state is None:
        near = near_misses(text or "", _STATES, 1) if len(text or "") < 40 else []
        advice = f"did you mean {near[0]}?" if near else (
            "write approved, pending, commented or changes-requested"
        )  # fmt: skip
        notes.append(
            f"gives {quoted(entry.name)} the state {_named(value)}, which is unknown and counts as "
            f"pending; {advice}"
        )
    return state or _PENDING


def _phrase_state(text: str) -> tuple[str | None, str]:
    """The state that a few words mean, and the date among them."""
    text = text[:200].replace("\ufe0f", "").strip()
    dated = re.search(_DAY, text)
    words = fold(re.sub(_DAY, " ", text, count=1).strip(" ,()"))
    mark = next((_MARKS[char] for char in words if char in _MARKS), None)
    if words in ("+1", "-1"):
        return (_APPROVED if words == "+1" else _CHANGES), dated[1] if dated else ""
    return _STATES.get(fold_key(words), mark), dated[1] if dated else ""


def _read_person(text: str, notes: list[str]) -> _Entry:
    """`@handle`, `Name`, `Name <email>` or `[Name](url)`, and a state, role or mark behind it."""
    box = re.search(_CHECKBOX, text)
    mark = next((_MARKS[char] for char in text if char in _MARKS), None)
    if box:
        mark = mark or (_PENDING if box[1] == " " else _APPROVED)
        text = text[: box.start()] + text[box.end() :]
    text = "".join(char for char in text if char not in _MARKS and char != "\ufe0f").strip()
    text = re.sub(_MARKDOWN_LINK, r"\1", text)
    emails = re.findall(_EMAIL, text)
    text = re.sub(_EMAIL, "", text).strip()
    if text.startswith(("https://", "http://")):  # a profile is its owner
        text = text.rstrip("/").rsplit("/", 1)[-1]
    end = re.search(_HANDLE_END if text.startswith("@") else _NAME_END, text)
    name = text[: end.start()].strip() if end else text
    entry = _Entry(name.lstrip("@") or (emails[0] if emails else ""))
    entry.ids += [fold(email) for email in emails]
    entry.state = mark
    if end:
        _read_suffix(text[end.start() :].strip(), entry, notes)
    return entry


def _read_suffix(rest: str, entry: _Entry, notes: list[str]) -> None:
    """What stands behind a name: a state or a role. After a colon a state is expected."""
    phrase = re.sub(_SEPARATORS, "", rest)
    phrases = [phrase]
    if not re.search(_CONDITION, phrase.lower()):  # `yes, if the budget holds` is no approval yet
        phrases += re.split(_PHRASE_END, phrase)
    for part in phrases:
        state, when = _phrase_state(part)
        if state is not None:
            entry.state, entry.when = state, when or entry.when
            break
    flags = [fold(part) for part in phrases]
    entry.required = entry.required or "required" in flags
    entry.optional = entry.optional or "optional" in flags
    expected = rest.startswith((":", "=")) and phrase and not (entry.required or entry.optional)
    if expected and entry.state is None:
        entry.state = _stated(phrase, entry, notes)


def _one_per_person(entries: list[_Entry]) -> list[_Entry]:
    """Mentions of one person made one, in the order of the first (handle, e-mail, name)."""
    people: list[_Entry] = []
    known: dict[str, _Entry] = {}
    for entry in entries:
        person = next((known[name] for name in entry.ids if name in known), None)
        if person is None:
            people.append(entry)
        else:
            person.absorb(entry)
        for name in entry.ids:
            known.setdefault(name, person or entry)
    return people


def _stated_required(places: Iterable[FieldSet], reviewers: list[Reviewer]) -> int | None:
    """How many approvals the record itself asks for: a number, `all` or `majority`."""
    people = sum(not reviewer.optional for reviewer in reviewers)
    stated = [(place, key) for place in places for key in _present(place, _REQUIRED_KEYS)]
    for place, key in stated:
        value, written = place.peek(key), place.written[key]
        number = _approval_count(value, people)
        if number is not None:
            place.take(key)
            return number
        if key not in ("required", "quorum"):  # these two have other uses
            place.note(
                written, "value",
                f"{written} is {_named(value)}, which is no number of approvals; "
                "write a number, all or majority",
            )  # fmt: skip
    return None


def _approval_count(value: object, people: int) -> int | None:
    if isinstance(value, bool):
        return None
    text = fold(_one_text(value) or "")
    if text in ("all", "majority"):
        return people if text == "all" else people // 2 + 1
    found = re.fullmatch(r"([0-9]{1,6})(?:\.0)?(?: ?(?:of|/) ?[0-9]{1,6})?", text)
    return int(found[1]) if found else None


def approval_of(reviewers: list[Reviewer], required: int | None) -> Approval | None:
    """Where the approval stands; `None` without reviewers (SPEC 7, `rfcReview`).

    `required` is what the record or else its type asks for; without it all reviewers count.
    """
    if not reviewers:
        return None
    counting = [reviewer for reviewer in reviewers if not reviewer.optional]
    if required is None:
        required = max(1, len(counting))  # optional reviewers alone still have to be asked
    approved = sum(reviewer.state == _APPROVED for reviewer in reviewers)
    if any(reviewer.state == _CHANGES for reviewer in reviewers):
        status = _CHANGES
    elif approved >= required and all(r.state == _APPROVED for r in reviewers if r.required):
        status = _APPROVED
    else:
        status = _PENDING
    waiting = [r.name for r in counting if r.state in (_PENDING, _COMMENTED)]
    return Approval(status, approved, required, [] if status == _APPROVED else waiting)


BUILT_IN_FIELDS = frozenset(
    ("title", "description", "status", "date", "authors", "deciders", "tags", "related",
     "supersedes", "supersededby", "draft", "type")
)  # fmt: skip
_TYPE_WORDS = {
    **dict.fromkeys(
        ("string", "str", "text", "markdown", "slug", "uuid", "email", "textarea"), "string"),
    **dict.fromkeys(
        ("number", "float", "decimal", "int", "integer", "money", "currency"), "number"),
    **dict.fromkeys(("boolean", "bool", "checkbox", "toggle", "flag"), "boolean"),
    **dict.fromkeys(("date", "datetime", "timestamp", "day", "date&time"), "date"),
    **dict.fromkeys(("url", "uri", "link", "href"), "url"),
    **dict.fromkeys(("enum", "select", "choice", "choices", "option", "oneof"), "enum"),
    **dict.fromkeys(("list", "array", "multi", "multiselect", "tags"), "list"),
    **dict.fromkeys(("user", "person", "people", "owner"), "user"),
    **dict.fromkeys(("reference", "ref", "relation", "record"), "reference"),
}  # fmt: skip
_TYPES = "string, number, boolean, date, url, enum, list, user or reference"
_VALUE_KEYS = ("values", "options", "choices", "enum", "allowed", "oneof")


def parse_declarations(
    value: object, note: Callable[[str, str], None]
) -> dict[str, Declaration]:
    """Declared custom fields by their name; `note(name, sentence)` hears what cannot be read.

    `value` is a mapping of names to declarations, or a list of declarations with their names.
    """
    declared: dict[str, Declaration] = {}
    seen: set[str] = set()
    for name, detail in _declaration_items(value, note):
        folded = fold_key(name)
        if folded in BUILT_IN_FIELDS:
            note(name, f"the field {quoted(name)} is built in and cannot be declared; rename it")
        elif folded in seen:
            note(name, f"the field {quoted(name)} is declared twice; the first one is used")
        else:
            seen.add(folded)
            declared[name] = _read_declaration(name, detail, note)
    return declared


def _declaration_items(
    value: object, note: Callable[[str, str], None]
) -> Iterator[tuple[str, object]]:
    """Name and declaration of each field, in order."""
    if isinstance(value, dict):
        schema = value.get("properties")
        if value.get("type") == "object" and isinstance(schema, dict):  # a JSON Schema
            value = schema
        for name, detail in value.items():
            if str(name).strip():
                yield str(name).strip(), detail
    elif isinstance(value, list):
        for item in value:
            yield from _listed_declaration(item, note)
    elif value not in (None, ""):
        note("fields", f"fields is {_named(value)}; write a mapping of names to declarations")


def _listed_declaration(
    item: object, note: Callable[[str, str], None]
) -> Iterator[tuple[str, object]]:
    if isinstance(item, dict):
        named = _members(item)
        name = next((t for k in ("name", "key", "id") if (t := _one_text(named.get(k)))), "")
        if name:
            yield name, item
            return
        if len(item) == 1:  # `- risk: enum`
            yield from ((str(key), detail) for key, detail in item.items())
            return
    elif not isinstance(item, list) and text_of(item):
        yield text_of(item), None
        return
    note("fields", f"an item of fields is {_named(item)} without a name; add its name")


def _members(mapping: Mapping[Any, object]) -> dict[str, object]:
    """A mapping under folded keys, the first of two equal ones."""
    folded: dict[str, object] = {}
    for key, value in mapping.items():
        folded.setdefault(fold_key(str(key)), value)
    return folded


def _read_declaration(
    name: str, detail: object, note: Callable[[str, str], None]
) -> Declaration:
    """One declaration: a type word, a list of values, or a mapping (JSON Schema included)."""
    declaration = Declaration(name)
    members = _members(detail) if isinstance(detail, dict) else _short_form(detail)
    kind = _set_type(declaration, members, note)
    _set_values(declaration, members, note)
    if declaration.values and kind in (None, "string", "number"):
        declaration.type = "enum"
    _set_items(declaration, members, note)
    declaration.label = _first_text(members, ("label", "title", "display", "displayname"))
    if declaration.label is None and isinstance(detail, dict):
        own_name = _first_text(members, ("name",))
        declaration.label = own_name if own_name != name else None
    declaration.description = _first_text(members, ("description", "help", "hint"))
    declaration.unit = _first_text(members, ("unit", "units", "suffix"))
    declaration.minimum = _bound(members, ("min", "minimum"))
    declaration.maximum = _bound(members, ("max", "maximum"))
    return declaration


def _short_form(detail: object) -> dict[str, object]:
    """A declaration that is no mapping, as one: `enum`, `low | high`, `[low, high]`."""
    if isinstance(detail, list):
        return {"values": detail}
    if isinstance(detail, str) and "|" in detail:
        return {"values": [part.strip(" \t'\"") for part in detail.split("|")]}
    return {} if detail is None else {"type": detail}


def _first_text(members: dict[str, object], keys: tuple[str, ...]) -> str | None:
    return next((text for key in keys if (text := _one_text(members.get(key)))), None)


def _bound(members: dict[str, object], keys: tuple[str, ...]) -> float | None:
    for key in keys:
        value = members.get(key)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return value
    return None


def _set_type(
    declaration: Declaration, members: dict[str, object], note: Callable[[str, str], None]
) -> str | None:
    """Set the type that `type` and `format` state; `None` where they state none."""
    stated = next((members[key] for key in ("type", "kind", "widget") if members.get(key)), None)
    if isinstance(stated, list):  # ["string", "null"] of JSON Schema
        stated = next((word for word in stated if word != "null"), None)
    text = _one_text(stated)
    if text is None:
        note(declaration.name, f"the type of the field {quoted(declaration.name)} is "
             f"{_named(stated)}; write {_TYPES}")  # fmt: skip
        return None
    word = fold_key(text).rstrip("?!")
    item = re.fullmatch(r"(?:list|array)[<(\[](.{1,40})[>)\]]|(.{1,40})\[\]", word)
    if item:
        declaration.type, word = "list", item[1] or item[2]
        declaration.item = _type_word(declaration.name, word, note)
        return "list"
    form = fold_key(_one_text(members.get("format")) or "")
    if word in ("", "string") and form in _TYPE_WORDS:
        word = form
    if not word:
        return None
    declaration.type = _type_word(declaration.name, word, note)
    declaration.integral = word in ("int", "integer")
    declaration.many = word in ("people", "user", "reference", "relation", "ref", "record")
    return declaration.type


def _type_word(name: str, word: str, note: Callable[[str, str], None]) -> str:
    known = _TYPE_WORDS.get(word)
    if known is None:
        near = near_misses(word, _TYPE_WORDS, 1) if len(word) < 40 else []
        advice = f"did you mean {near[0]}?" if near else f"write {_TYPES}"
        note(
            name,
            f"the field {quoted(name)} has the type {quoted(word)}, which is unknown and read as "
            f"text; {advice}",
        )
    return known or "string"


def _set_values(
    declaration: Declaration, members: dict[str, object], note: Callable[[str, str], None]
) -> None:
    """The values that a field may have, and the labels by which they are also known."""
    stated = next((members[key] for key in _VALUE_KEYS if members.get(key)), None)
    if isinstance(stated, dict):
        inner = _members(stated).get("values")
        stated = inner if isinstance(inner, list) else [
            {"value": value, "label": label} for value, label in stated.items()
        ]  # fmt: skip
    if isinstance(stated, str):
        stated = split_words(stated, spaces=False)
    items = stated if isinstance(stated, list) else [] if stated is None else [stated]
    if len(items) > _MOST_VALUES:
        note(declaration.name, f"the field {quoted(declaration.name)} has more than "
             f"{_MOST_VALUES:,} values; the rest are left out")  # fmt: skip
    seen: set[str] = set()
    for item in items[:_MOST_VALUES]:
        parts = _members(item) if isinstance(item, dict) else {"value": item}
        value = _first_text(parts, ("value", "id", "const", "key", "name", "label", "title"))
        if value is None:
            note(declaration.name, f"a value of the field {quoted(declaration.name)} is "
                 f"{_named(item)}; write it as text or with the key value")  # fmt: skip
        elif value not in seen:
            seen.add(value)
            declaration.values.append(value)
            for label in (_first_text(parts, (key,)) for key in ("label", "title", "name")):
                declaration.labels.setdefault(fold_key(label or value), value)


def _set_items(
    declaration: Declaration, members: dict[str, object], note: Callable[[str, str], None]
) -> None:
    """`items`, and any type with `list: true`: a list, whose items have a type of their own."""
    items = members.get("items")
    if items is not None and (declaration.type == "list" or not members.get("type")):
        parts = _members(items) if isinstance(items, dict) else _short_form(items)
        inner = Declaration(declaration.name)
        _set_type(inner, parts, note)
        _set_values(inner, parts, note)
        if inner.values:
            declaration.values, declaration.labels = inner.values, inner.labels
        declaration.type, declaration.item = "list", inner.type
        declaration.integral = inner.integral
    elif declaration.type != "list" and any(
        _is_true(members.get(key)) for key in ("list", "multiple", "many")
    ):
        declaration.item, declaration.type = declaration.type, "list"
    if declaration.type == "list" and declaration.values:
        declaration.item = "enum"


def checked_value(
    declaration: Declaration, value: object, note: Callable[[str], None]
) -> object:
    """`value` as its declaration means it, or as written with a note where it does not fit."""
    if declaration.type == "list":
        return _checked_list(declaration, value, note)
    if declaration.many and isinstance(value, list):
        return value
    return _checked_scalar(declaration, declaration.type, value, note)


def _checked_list(
    declaration: Declaration, value: object, note: Callable[[str], None]
) -> object:
    """One or many; one text is split at its commas."""
    if isinstance(value, dict):
        return _unfit(declaration, "list", value, note)
    items = split_words(value, spaces=False) if isinstance(value, str) else value
    if not isinstance(items, list):
        items = [items]
    kind = declaration.item
    return [_checked_scalar(declaration, kind, item, note) for item in items if item is not None]


def _checked_scalar(
    declaration: Declaration, kind: str, value: object, note: Callable[[str], None]
) -> object:
    checked = None
    if not isinstance(value, (dict, list)):
        checked = _CHECKS.get(kind, _as_text)(declaration, value)
    return _unfit(declaration, kind, value, note) if checked is None else checked


_ADVICE = {
    "number": "write a number that is within its bounds",
    "boolean": "write true or false",
    "date": "write it as YYYY-MM-DD",
    "url": "write it with its scheme",
    "list": "write it as a list",
}


def _unfit(
    declaration: Declaration, kind: str, value: object, note: Callable[[str], None]
) -> object:
    """Say why a value does not fit, and keep it."""
    advice = _ADVICE.get(kind, "write it as one text")
    if kind == "enum":
        near = near_misses(_named(value).strip('"')[:80], declaration.values[:200], 1)
        known = shown(", ".join(declaration.values[:12]))
        advice = f"did you mean {near[0]}?" if near else f"write one of {known}"
    note(f"{declaration.name} is {_named(value)}, which does not fit its type {kind}; {advice}")
    return value


def _as_text(_: Declaration, value: object) -> object:
    if isinstance(value, str) or (isinstance(value, float) and not abs(value) < float("inf")):
        return value
    return text_of(value)


def _as_number(declaration: Declaration, value: object) -> object:
    number: object = value
    if isinstance(value, str):
        number = parse_number(value, declaration.unit)
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        return None
    if not abs(number) < float("inf"):  # a NaN is not below it either
        return None
    if isinstance(number, float) and declaration.integral:
        if not number.is_integer():
            return None
        number = int(number)
    low, high = declaration.minimum, declaration.maximum
    if (low is not None and number < low) or (high is not None and number > high):
        return None
    return number


def _as_boolean(_: Declaration, value: object) -> object:
    if isinstance(value, bool):
        return value
    word = fold(value) if isinstance(value, str) else ""
    return {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}.get(
        word
    )


def _as_date(_: Declaration, value: object) -> object:
    return parse_date(text_of(value))


_SCHEME = r"(?ai)[a-z][a-z0-9+.-]+:[^ ]"


def _as_url(_: Declaration, value: object) -> object:
    text = text_of(value)
    fits = text.startswith(("www.", "/")) or re.match(_SCHEME, text)
    return text if fits and not any(char in text for char in " \t\n") else None


def _as_enum(declaration: Declaration, value: object) -> object:
    """The declared spelling; case, `_`, `-` and space do not matter, and labels count too."""
    text = text_of(value)
    words = [text]
    if isinstance(value, bool):  # an unquoted yes or off is a boolean to some YAML readers
        words = ["true", "yes", "on"] if value else ["false", "no", "off"]
    if not declaration.values:
        return text
    for same in (str, fold, fold_key):
        for word in words:
            for known in declaration.values:
                if same(known) == same(word):
                    return known if isinstance(value, str) or known != text else value
    return declaration.labels.get(fold_key(text))


_CHECKS: dict[str, Callable[[Declaration, object], object]] = {
    "number": _as_number,
    "boolean": _as_boolean,
    "date": _as_date,
    "url": _as_url,
    "enum": _as_enum,
}


# ── 5 Configuration ───────────────────────────────────────────────────────────────────────────


# ── 6 Sources ─────────────────────────────────────────────────────────────────────────────────


class Snapshot:
    """What a source holds at one moment. A source hands out the same object while nothing changed.

    `records` have unique ids. `broken` maps the id of a file that was left out to its problem.
    `missing` are the problems of files and sources that are missing from every answer; `problems`
    are all, in the order of their paths. `looked` says where records were looked for and what
    was seen, for an archive without any.
    """

    __slots__ = (
        "broken", "declared", "drafts", "is_site", "looked", "missing", "problems", "projects",
        "records", "rules", "title",
    )  # fmt: skip

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.projects: dict[str, Project] = {}
        self.declared: dict[str, Declaration] = {}
        self.rules = Rules()
        self.broken: dict[str, Problem] = {}
        self.drafts: set[str] = set()
        self.missing: list[Problem] = []
        self.problems: list[Problem] = []
        self.looked = ""
        self.title: str | None = None
        self.is_site = False


class BodySearch:
    """What a search of bodies found: ids that match each needle set, and what was not read."""

    __slots__ = ("matched", "warnings")

    def __init__(self) -> None:
        self.matched: set[str] = set()
        self.warnings: list[str] = []


class Source(Protocol):
    """A place that records come from: a content folder, a published site, a built folder."""

    def start(self) -> None:
        """Begin what takes time (fetching repositories) without waiting for it."""

    def snapshot(self, call: Call) -> Snapshot:
        """What is there now. Raises `InkanError` where nothing can be said, or `Cancelled`."""

    def read_body(self, record: Record, call: Call) -> str:
        """The Markdown of one record without its front matter. Raises `SourceError`."""

    def search_bodies(
        self, records: Sequence[Record], needles: Sequence[str], call: Call
    ) -> tuple[list[tuple[bool, ...]], list[str]]:
        """For each record, which of the folded `needles` its folded body holds; and warnings."""
