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

import io
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

FETCH_SECONDS = 10.0  # one request in all: names, connection, redirects, headers and body
CACHE_SECONDS = 30.0  # how long a response of a site is taken as it is
STALE_SECONDS = 600.0  # how old the last good copy of a failing site may be
RETRY_SECONDS = 30.0  # between two attempts in the background at a site that fails
FAULT_SECONDS = 2.0  # how long the same fault is answered without asking again
SEARCH_SECONDS = 30.0  # a search of bodies; clients give up on a call after a minute
POLL_SECONDS = 0.05  # how soon a waiting call notices that it was cancelled
BODY_READERS = 8  # bodies read at once (SPEC 6)
IDLE_SECONDS = 20.0  # a kept connection; many servers close theirs after 30 s or more
MAX_REDIRECTS = 5
MAX_BODY_BYTES = 32 * 1024 * 1024  # one response, unpacked
MAX_CACHED_BYTES = 128 * 1024 * 1024  # bodies kept in memory, the text and its folded copy
MAX_INDEX_RECORDS = 200_000  # ten times the largest archive it is made for
MAX_INDEX_PROBLEMS = 1000  # entries of an index that are named one by one
MAX_ENTRY_DEPTH = 50  # levels within one entry; an answer nests them three levels deeper
MAX_ID_LENGTH = 1000  # longer paths exist on no file system and in no address
MAX_SUMMARY = 1000  # characters of a description out of llms.txt

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
    """A custom field as the configuration declares it; the six members that `list_fields` has."""

    __slots__ = ("description", "label", "name", "type", "unit", "values")

    def __init__(self, name: str, kind: str = "string") -> None:
        self.name = name
        self.type = kind
        self.label: str | None = None
        self.description: str | None = None
        self.unit: str | None = None
        self.values: list[str] = []


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


def parse_review(fields: FieldSet, date: str | None, cycle: str | None) -> Review | None:
    """The periodic review that `fields` state in any of the field's spellings (SPEC 7).

    `date` is the record's own date, `cycle` what holds for records that state no cycle.
    """
    return None


def parse_reviewers(fields: FieldSet) -> tuple[list[Reviewer], int | None]:
    """The reviewers that `fields` name, and how many approvals they say are required."""
    return [], None


def approval_of(reviewers: list[Reviewer], required: int | None) -> Approval | None:
    """Where the approval stands; `None` without reviewers (SPEC 7, `rfcReview`)."""
    return None


def parse_declarations(
    value: object, note: Callable[[str, str], None]
) -> dict[str, Declaration]:
    """Declared custom fields by their name; `note(name, sentence)` hears what cannot be read."""
    return {}


def checked_value(
    declaration: Declaration, value: object, note: Callable[[str], None]
) -> object:
    """`value` as its declaration means it, or as written with a note where it does not fit."""
    return value


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


# ── 6c Published sites ────────────────────────────────────────────────────────────────────────
#
# A call asks the source, the source asks `Pages` for an address, and `Pages` has a worker ask
# `Transport`. Calls never touch a socket: they wait for a job, look every 50 ms whether they are
# still wanted, and leave a job behind that is over its time, even one stuck in name resolution.


class SiteError(SourceError):
    """One address cannot be read; the sentence names it.

    `kind` is `gone` (nothing is there), `refused` (the site asks to sign in), `unusable` (what
    came is not what was asked for) or `down` (no answer, or none for the moment).
    """

    def __init__(self, sentence: str, kind: str = "down") -> None:
        super().__init__(sentence)
        self.kind = kind


class SiteTimes:
    """The clock of a site's copies and its limits in seconds; tests set shorter ones."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self.now = now
        self.fetch, self.cache, self.stale = FETCH_SECONDS, CACHE_SECONDS, STALE_SECONDS
        self.retry, self.fault, self.search = RETRY_SECONDS, FAULT_SECONDS, SEARCH_SECONDS


_ADDRESS = re.compile(
    r"(https?)://(?:([^/?#@\\]*)@)?(\[[0-9a-f:.]+\]|[^/?#@:\[\]\\]+)(?::([0-9]{0,5}))?"
    r"(/[^?#\\]*)?(\?[^#]*)?(?:#.*)?",
    re.IGNORECASE,
)
_DEFAULT_PORTS = {"http": 80, "https": 443}


class Address:
    """An `http(s)` address in its parts. `login` is what stood before `@`; it is never shown."""

    __slots__ = ("host", "login", "path", "port", "query", "scheme")

    def __init__(self, scheme: str, host: str, port: int) -> None:
        self.scheme, self.host, self.port = scheme, host, port
        self.path = self.query = self.login = ""

    @property
    def origin(self) -> str:
        """Scheme, host and port; the port is left out where it is the scheme's own."""
        port = "" if self.port == _DEFAULT_PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{self.host}{port}"

    def __str__(self) -> str:
        return f"{self.origin}{self.path}{self.query}"


def parse_address(text: str) -> Address | None:
    """The parts of an absolute `http(s)` address; `None` for anything else."""
    found = None if any(c <= " " or c == "\x7f" for c in text) else _ADDRESS.fullmatch(text)
    if not found:
        return None
    scheme = found[1].lower()
    port = int(found[4] or _DEFAULT_PORTS[scheme])
    if not 0 < port < 65536:
        return None
    address = Address(scheme, found[3].lower(), port)
    address.path, address.query, address.login = found[5] or "", found[6] or "", found[2] or ""
    return address


_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_OWN_HEADERS = frozenset({"connection", "content-length", "host", "te", "transfer-encoding"})


def parse_headers(texts: Iterable[str], environ: Mapping[str, str]) -> dict[str, str]:
    """The `--header` options by name, `${NAME}` replaced. Raises `UsageError`, never with a value.

    What CR or LF would do to a request is in RFC 9112, section 11.1.
    """
    headers = {}
    for text in texts:
        name, colon, value = text.partition(":")
        name = name.strip(" \t")
        if not colon or not _HEADER_NAME.fullmatch(name):
            raise UsageError("--header must be written as 'NAME: VALUE', with a colon")
        if name.lower() in _OWN_HEADERS:
            raise UsageError(f"--header cannot set {name}; it is set for every request")
        value = _with_variables(value, name, environ).strip(" \t")
        if any(c == "\x7f" or (c < " " and c != "\t") for c in value):
            raise UsageError(f"the value of --header {name} holds a line break or the like")
        if not value.isascii():
            raise UsageError(f"the value of --header {name} holds a character beyond ASCII")
        headers[name] = value
    return headers


def _with_variables(value: str, header: str, environ: Mapping[str, str]) -> str:
    def replaced(found: re.Match[str]) -> str:
        if found[1] not in environ:
            raise UsageError(
                f"--header {header} uses ${{{found[1]}}}, which the environment does not set"
            )
        return environ[found[1]]

    return _VARIABLE.sub(replaced, value)


# ── 6c.1 Requests ─────────────────────────────────────────────────────────────────────────────


class Response:
    """What an address answered: status, headers by lower-case name, the body unpacked."""

    __slots__ = ("address", "body", "headers", "status")

    def __init__(self, address: str, status: int, headers: dict[str, str], body: bytes) -> None:
        self.address, self.status, self.headers, self.body = address, status, headers, body

    @property
    def media(self) -> str:
        """The media type, without its parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


class Wire:
    """One open connection; each read and write ends when the job's time does, drip or not."""

    __slots__ = ("job", "now", "proxied", "since", "sock")

    def __init__(self, sock: Any, job: Job, now: Callable[[], float]) -> None:
        self.sock, self.job, self.now = sock, job, now
        self.proxied = ""
        self.since = 0.0
        job.wire = self

    def remaining(self) -> float:
        """The seconds that the job still has. Raises `TimeoutError` when there are none."""
        left = self.job.deadline - self.now()
        if left <= 0 or self.job.done:
            raise TimeoutError
        return left

    def sendall(self, data: bytes) -> None:
        """Send everything, within the job's time."""
        self.sock.settimeout(self.remaining())
        self.sock.sendall(data)

    def makefile(self, _mode: str) -> io.BufferedReader:
        """What `http.client` reads the answer from."""
        return io.BufferedReader(_WireReader(self), 65536)

    def end(self) -> None:
        """Close the connection."""
        try:
            self.sock.close()
        except OSError:
            return

    def abort(self) -> None:
        """Wake the thread that reads or writes, which then closes the connection.

        The plain method: that of a TLS socket takes the layer away under the reader's hands.
        """
        import socket

        try:
            socket.socket.shutdown(self.sock, socket.SHUT_RDWR)
        except OSError:
            return

    def is_quiet(self) -> bool:
        """Whether a kept connection is still open and holds nothing that nobody asked for."""
        import socket

        try:
            self.sock.settimeout(0)
            socket.socket.recv(self.sock, 1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False


class _WireReader(io.RawIOBase):
    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._wire.sock.settimeout(self._wire.remaining())
        return int(self._wire.sock.recv_into(buffer))


class Transport:
    """Requests over kept connections, with the proxies and certificates of the environment.

    Not `urllib.request`: it opens a connection per request, sends `Authorization` along with a
    redirect to another host, and starts its time limit anew with every byte.
    """

    def __init__(self, origin: str, secrets: dict[str, str], times: SiteTimes) -> None:
        import threading

        self._origin, self._secrets, self._times = origin, secrets, times
        self._lock = threading.Lock()
        self._idle: dict[tuple[str, str], list[Wire]] = {}
        self._closed = False
        self._context: Any = None

    def fetch(self, job: Job) -> Response:
        """The answer to a job's address, redirects followed. Raises `SiteError`."""
        import http.client

        try:
            address = _encoded(job.address)
            for _ in range(MAX_REDIRECTS + 1):
                response = self._exchange(address, job)
                if response.status not in (301, 302, 303, 307, 308):
                    return response
                address = self._redirected(address, response, job)
        except (OSError, http.client.HTTPException, ValueError) as fault:
            raise self._fault(fault, job) from fault
        raise SiteError(f"{job.address} is redirected more than {MAX_REDIRECTS} times", "unusable")

    def close(self) -> None:
        """Close the connections that are kept."""
        with self._lock:
            self._closed = True
            kept = [wire for wires in self._idle.values() for wire in wires]
            self._idle.clear()
        for wire in kept:
            wire.end()

    def _redirected(self, address: Address, response: Response, job: Job) -> Address:
        import urllib.parse

        place = response.headers.get("location", "")
        target = parse_address(urllib.parse.urljoin(str(address), place)) if place else None
        if target is None:
            raise SiteError(
                f"{job.address} is redirected to {quoted(place)}, which is no http(s) address",
                "unusable",
            )
        if self._secrets and address.scheme == "https" and target.scheme == "http":
            raise SiteError(
                f"{job.address} is redirected from https to http, which is not followed with a "
                "--header",
                "unusable",
            )
        return _encoded(str(target))

    def _exchange(self, address: Address, job: Job) -> Response:
        import http.client

        key = (address.origin, self._proxy(address))
        wire = self._kept(key, job)
        if wire is not None:
            try:
                return self._ask(wire, key, address)
            except (OSError, http.client.HTTPException):
                # The server may have closed the connection at that moment; a new one will tell.
                wire.end()
                if job.done or job.deadline <= self._times.now():
                    raise
        return self._ask(self._connected(key, address, job), key, address)

    def _ask(self, wire: Wire, key: tuple[str, str], address: Address) -> Response:
        """Send one request and read its answer; the connection is kept if nothing is left in it."""
        complete = False
        try:
            wire.sendall(self._request(wire, address))
            answer = _answer_on(wire, "GET")
            headers = {name.lower(): value for name, value in answer.getheaders()}
            most = MAX_BODY_BYTES if answer.status == 200 else 65536
            raw = _read_answer(answer, most, str(address))
            complete = answer.isclosed() and not answer.will_close
        finally:
            if complete:
                self._keep(key, wire)
            else:
                wire.end()
        body = unpacked(raw, headers, str(address)) if answer.status == 200 else b""
        return Response(str(address), answer.status, headers, body)

    def _request(self, wire: Wire, address: Address) -> bytes:
        headers = {
            "Host": address.origin.partition("//")[2],
            "User-Agent": f"inkan-mcp/{__version__}",
            "Accept": "application/json, text/markdown, text/plain, */*",
            "Accept-Encoding": "gzip, deflate",
            **wire.job.conditions,
        }
        target = (address.path or "/") + address.query
        if wire.proxied and address.scheme == "http":
            target = address.origin + target
            headers.update(_proxy_login(wire.proxied))
        if address.origin == self._origin:  # a secret goes to no other origin (SPEC 2)
            replaced = {name.lower() for name in self._secrets}
            headers = {name: v for name, v in headers.items() if name.lower() not in replaced}
            headers.update(self._secrets)
        lines = [f"GET {target} HTTP/1.1", *(f"{name}: {v}" for name, v in headers.items())]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("ascii")

    def _kept(self, key: tuple[str, str], job: Job) -> Wire | None:
        while True:
            with self._lock:
                kept = self._idle.get(key)
                if not kept:
                    return None
                wire = kept.pop()
            if self._times.now() - wire.since < IDLE_SECONDS and wire.is_quiet():
                wire.job, job.wire = job, wire
                return wire
            wire.end()

    def _keep(self, key: tuple[str, str], wire: Wire) -> None:
        wire.since = self._times.now()
        wire.job.wire = None  # whoever gives that job up must not cut the next one short
        with self._lock:
            kept = self._idle.setdefault(key, [])
            if len(kept) < BODY_READERS + 2 and not self._closed:
                kept.append(wire)
                return
        wire.end()

    def _connected(self, key: tuple[str, str], address: Address, job: Job) -> Wire:
        proxy = parse_address(key[1]) if key[1] else None
        wire = self._dialled(proxy or address, job)
        wire.proxied = key[1]
        try:
            if proxy is not None and address.scheme == "https":
                _tunnel(wire, address)
            if address.scheme == "https":
                wire.sock.settimeout(wire.remaining())
                host = address.host.strip("[]")
                wire.sock = self._tls().wrap_socket(wire.sock, server_hostname=host)
        except BaseException:
            wire.end()
            raise
        return wire

    def _dialled(self, address: Address, job: Job) -> Wire:
        """A connection to the first address of that host which answers within its share of time."""
        import socket

        host = address.host.strip("[]")
        found = socket.getaddrinfo(host, address.port, 0, socket.SOCK_STREAM)
        fault: OSError = OSError("the name has no address")
        for nth, (family, kind, protocol, _, where) in enumerate(found):
            sock = socket.socket(family, kind, protocol)
            try:
                wire = Wire(sock, job, self._times.now)
                sock.settimeout(wire.remaining() / (len(found) - nth))
                sock.connect(where)
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return wire
            except OSError as refused:
                sock.close()
                fault = refused
        raise fault

    def _proxy(self, address: Address) -> str:
        """The address of the environment's proxy for that address, or `""`."""
        import urllib.request

        proxies = urllib.request.getproxies()
        proxy = proxies.get(address.scheme) or proxies.get("all")
        host = address.origin.partition("//")[2]
        if not proxy or urllib.request.proxy_bypass(host):
            return ""
        if "://" not in proxy:
            proxy = f"http://{proxy}"
        if parse_address(proxy) is None:
            raise SiteError(
                f"{address} cannot be asked for: the {address.scheme} proxy of the environment is "
                "no http address",
                "unusable",
            )
        return proxy

    def _tls(self) -> Any:
        import ssl

        with self._lock:
            if self._context is None:  # reads the system's certificates once, or SSL_CERT_FILE
                self._context = ssl.create_default_context()
                # Python 3.13 also refuses what is untidy in a company's own certificate of old.
                self._context.verify_flags &= ~ssl.VERIFY_X509_STRICT
                self._context.set_alpn_protocols(["http/1.1"])
            return self._context

    def _fault(self, fault: Exception, job: Job) -> SiteError:
        """A foreign exception as a sentence about the job's address."""
        import http.client
        import socket
        import ssl

        address = job.address
        if isinstance(fault, (TimeoutError, socket.timeout)):
            return _no_answer(job, self._times)
        if isinstance(fault, ssl.SSLCertVerificationError):
            return SiteError(f"{address} {_untrusted(fault)}")
        if isinstance(fault, http.client.IncompleteRead):
            return SiteError(f"{address} broke off before the answer was complete; try again")
        if isinstance(fault, http.client.HTTPException):
            return SiteError(f"{address} did not answer as HTTP does ({type(fault).__name__})")
        reason = getattr(fault, "strerror", None) or str(fault) or type(fault).__name__
        if isinstance(fault, socket.gaierror):
            reason = f"its host name is not known: {reason}"
        through = job.wire.proxied if job.wire is not None else ""
        proxy = parse_address(through) if through else None
        by = f" through the proxy {proxy.origin}" if proxy else ""
        return SiteError(f"{address} cannot be reached{by} ({shown(reason)})")


def _no_answer(job: Job, times: SiteTimes) -> SiteError:
    return SiteError(f"{job.address} did not answer within {times.fetch:g}s")


def _encoded(text: str) -> Address:
    """An address as it stands in a request: host and path in ASCII."""
    import urllib.parse

    address = parse_address(text)
    if address is None:
        raise SiteError(f"{shown(text)} is no http(s) address", "unusable")
    if not address.host.isascii():
        address.host = address.host.encode("idna").decode("ascii")
    address.path = urllib.parse.quote(address.path, safe="/%:@!$&'()*+,;=~")
    address.query = urllib.parse.quote(address.query, safe="/%:@!$&'()*+,;=~?")
    return address


def _proxy_login(proxy: str) -> dict[str, str]:
    address = parse_address(proxy)
    if address is None or not address.login:
        return {}
    return {"Proxy-Authorization": basic_login(address.login)}


def basic_login(login: str) -> str:
    """The value of an `Authorization` header for the `user:password` of an address."""
    import base64
    import urllib.parse

    return "Basic " + base64.b64encode(urllib.parse.unquote(login).encode()).decode("ascii")


def _tunnel(wire: Wire, address: Address) -> None:
    """Have the proxy connect to the address; what follows is between us and the site."""
    host = f"{address.host}:{address.port}"
    headers = {"Host": host, **_proxy_login(wire.proxied)}
    lines = [f"CONNECT {host} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    wire.sendall(("\r\n".join(lines) + "\r\n\r\n").encode("ascii"))
    answer = _answer_on(wire, "CONNECT")
    if answer.status != 200:
        raise OSError(f"the proxy answered {_status_words(answer.status)}")


def _answer_on(wire: Any, method: str) -> Any:
    """The status and headers of the answer on a connection, its body still to be read."""
    import http.client

    answer = http.client.HTTPResponse(wire, method=method)
    answer.begin()
    return answer


def _read_answer(answer: Any, most: int, address: str) -> bytes:
    """The body as sent, up to `most` bytes; more of a good answer is a fault."""
    import http.client

    chunks: list[bytes] = []
    size = 0
    while size <= most:
        chunk = answer.read(65536)
        if not chunk:
            break
        chunks.append(chunk)
        size += len(chunk)
    if size > most:
        if answer.status == 200:
            raise _too_large(address)
        return b""
    if answer.length:  # `read` with a size does not tell of an early end
        raise http.client.IncompleteRead(b"", answer.length)
    return b"".join(chunks)


def _too_large(address: str) -> SiteError:
    most = MAX_BODY_BYTES // (1024 * 1024)
    return SiteError(f"{address} holds more than {most} MiB, which is not read", "unusable")


def unpacked(raw: bytes, headers: Mapping[str, str], address: str) -> bytes:
    """A body without its `Content-Encoding`, bounded while it is unpacked. Raises `SiteError`."""
    named = headers.get("content-encoding", "").lower().replace(" ", "").split(",")
    codings = [name for name in named if name not in ("", "identity")]
    if not codings and raw[:2] == b"\x1f\x8b":  # packed files that a server sends as they are
        codings = ["gzip"]
    if not codings:
        return raw
    if len(codings) > 1 or codings[0] not in ("gzip", "x-gzip", "deflate"):
        raise SiteError(
            f"{address} is packed as {quoted(','.join(codings))}, and only gzip and deflate were "
            "asked for",
            "unusable",
        )
    import zlib

    bits = 47 if codings[0] != "deflate" or raw[:1] in (b"\x78", b"\x58", b"\x1f") else -15
    try:
        return _inflated(raw, bits, address)
    except zlib.error as fault:
        raise SiteError(f"{address} cannot be unpacked ({fault})", "unusable") from fault


def _inflated(raw: bytes, bits: int, address: str) -> bytes:
    import zlib

    parts: list[bytes] = []
    size = 0
    while raw:  # a gzip file may hold several members
        stream = zlib.decompressobj(bits)
        while not stream.eof:
            part = stream.decompress(raw, 1 << 20)
            raw = stream.unconsumed_tail
            size += len(part)
            if size > MAX_BODY_BYTES:
                raise _too_large(address)
            parts.append(part)
            if not stream.eof and not raw and not part:
                raise SiteError(f"{address} broke off before the answer was complete; try again")
        raw = stream.unused_data if bits == 47 and stream.unused_data[:2] == b"\x1f\x8b" else b""
    return b"".join(parts)


def _untrusted(fault: Any) -> str:
    """What is wrong with a certificate, and what helps: never switching the check off."""
    reason = shown(getattr(fault, "verify_message", "") or str(fault))
    if getattr(fault, "verify_code", 0) not in (2, 18, 19, 20, 21, 27):  # no trusted issuer
        return f"shows a certificate that does not hold ({reason}); the site has to renew it"
    named = os.environ.get("SSL_CERT_FILE")
    if named and not os.path.isfile(named):
        return (
            f"shows a certificate of an unknown issuer ({reason}), and SSL_CERT_FILE names "
            f"{shown(named)}, which is no file"
        )
    return (
        f"shows a certificate of an unknown issuer ({reason}); name the file that holds the "
        "issuer's certificate in SSL_CERT_FILE"
    )


# ── 6c.2 What came, checked ───────────────────────────────────────────────────────────────────


def _status_words(status: int) -> str:
    import http.client

    words = http.client.responses.get(status, "")
    return f"{status} {words}".rstrip()


def check_status(response: Response, address: str) -> None:
    """Raise `SiteError` for any answer but 200, with what helps."""
    status = response.status
    if status == 200:
        return
    sentence, kind = f"{address} answered {_status_words(status)}", "unusable"
    if status in (401, 403):
        sentence += "; the site asks to sign in, so send what it wants with --header"
        kind = "refused"
    elif status == 407:
        sentence += "; write the proxy's user and password into the proxy variable"
    elif status in (404, 410):
        kind = "gone"
    elif status in (408, 425, 429) or status >= 500:
        kind = "down"
        after = response.headers.get("retry-after", "").strip()
        if after:
            unit = " seconds" if after.isascii() and after.isdigit() else ""
            sentence += f"; try again after {shown(after[:40])}{unit} (Retry-After)"
    raise SiteError(sentence, kind)


_PASSWORD = re.compile(r"""type\s*=\s*["']?password""", re.IGNORECASE | re.ASCII)


def is_html(response: Response, start: str) -> bool:
    """Whether a web page came where data or Markdown was due."""
    head = start.lstrip("\ufeff \t\r\n")[:200].lower()
    if head.startswith(("<!doctype html", "<html")):
        return True
    return response.media in ("text/html", "application/xhtml+xml") and head.startswith("<")


def asks_to_sign_in(response: Response, text: str) -> bool:
    """Whether a web page is a form to sign in with, by its fields and its address."""
    where = response.address.lower().partition("//")[2].partition("/")
    words = ("login", "signin", "sign-in", "sso", "oauth", "saml", "/auth")
    return any(word in where[2] or where[0].startswith(word + ".") for word in words) or bool(
        _PASSWORD.search(text[:100_000])
    )


def decoded(response: Response, address: str) -> str:
    """A body as text: UTF-8, or the character set that the answer names. Raises `SiteError`."""
    try:
        return response.body.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        charset = response.headers.get("content-type", "").lower().partition("charset=")[2]
        try:
            return response.body.decode(charset.partition(";")[0].strip(' "') or "utf-8")
        except (LookupError, UnicodeDecodeError):
            raise SiteError(
                f"{address} is not UTF-8 (byte {fault.start + 1}); publish it as UTF-8", "unusable"
            ) from fault


def read_markdown(response: Response, address: str) -> str:
    """The Markdown that an address answered, without its front matter. Raises `SiteError`."""
    check_status(response, address)
    text = decoded(response, address)
    if is_html(response, text):
        if asks_to_sign_in(response, text):
            raise SiteError(
                f"{address} asks to sign in; send what the site wants with --header", "refused"
            )
        raise SiteError(f"{address} was not found: the site answered with a web page", "gone")
    return without_front_matter(text)


def without_front_matter(text: str) -> str:
    """A Markdown text without the block between `---` lines that it begins with."""
    if not text.startswith(("---", "\ufeff")):
        return text
    import vendored_yaml

    front = vendored_yaml.split_front_matter(text)
    return text if front.block is None else str(front.body)


def decode_index(response: Response, address: str) -> object:
    """The JSON that an address answered; lines of objects are a list. Raises `SiteError`."""
    check_status(response, address)
    text = decoded(response, address)
    if is_html(response, text) and asks_to_sign_in(response, text):
        raise SiteError(
            f"{address} asks to sign in; send what the site wants with --header", "refused"
        )
    try:
        return parse_json_text(text)
    except (ValueError, RecursionError) as fault:
        raise SiteError(_no_json(response, text, fault, address), "unusable") from fault


def parse_json_text(text: str) -> object:
    """A JSON value, or several on a line each as a list. Raises `ValueError`, `RecursionError`."""
    import json

    try:
        return json.loads(text)
    except json.JSONDecodeError as fault:
        lines = [line for line in text.split("\n") if line.strip()]
        if fault.msg != "Extra data" or not all(line.lstrip()[:1] == "{" for line in lines):
            raise
        return [json.loads(line) for line in lines]


def _no_json(response: Response, text: str, fault: Exception, address: str) -> str:
    if isinstance(fault, RecursionError):
        return f"{address} is nested too deeply to be an index of records"
    media = shown(response.media or "no media type")
    if is_html(response, text) or text.lstrip()[:1] not in ("{", "["):
        start = quoted(" ".join(text[:200].split())[:40]) if text.strip() else "an empty answer"
        begins = f"it begins with {start}" if text.strip() else start
        return (
            f"{address} is not JSON ({media}, {begins}): is this the site's address, base path "
            "included?"
        )
    return (
        f"{address} is not JSON ({media}, {shown(str(fault))}): is this the site's address, base "
        "path included?"
    )


# ── 6c.3 Copies of what came, and the jobs that fetch them ────────────────────────────────────


class Page:
    """One address: the last good copy of what `read` made of it, and how asking for it stands."""

    __slots__ = (
        "address", "checked", "conditions", "fault", "folded", "job", "keeps", "mark", "optional",
        "patience", "read", "size", "tried", "value",
    )  # fmt: skip

    def __init__(self, address: str, read: Callable[[Response, str], object]) -> None:
        self.address, self.read = address, read
        self.keeps = False  # the copy stands in whatever the fault, not only when the site is down
        self.optional = False  # a call waits for it once; while it fails it does without
        self.patience = 0.0  # the seconds for which a fault is answered without asking again
        self.size = 0
        self.value: Any = None
        self.folded: str | None = None
        self.mark: tuple[int, int, int] | None = None
        self.conditions: dict[str, str] = {}
        self.checked = self.tried = 0.0
        self.fault: SiteError | None = None
        self.job: Job | None = None


class Job:
    """One request under way. `waiters` are the calls that want it; without any it is given up."""

    __slots__ = (
        "address", "conditions", "counted", "deadline", "done", "page", "unattended", "waiters",
        "wire",
    )  # fmt: skip

    def __init__(self, page: Page, deadline: float) -> None:
        self.page, self.address, self.deadline = page, page.address, deadline
        self.conditions = page.conditions if page.value is not None else {}
        self.wire: Wire | None = None
        self.waiters = 0
        self.done = self.counted = self.unattended = False

    def check(self) -> None:
        """Raise `Cancelled` once nobody wants the answer."""
        if self.done:
            raise Cancelled


class Workers:
    """Threads that run jobs: as many as are busy; one that is stuck is simply not used again.

    They are daemons, so that none holds up the end of the process.
    """

    def __init__(self) -> None:
        import queue
        import threading

        self._tasks: Any = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._idle = 0

    def run(self, task: Callable[[Job], None], job: Job) -> None:
        """Have `task(job)` run soon, on a thread of its own."""
        import threading

        self._tasks.put((task, job))
        with self._lock:
            if self._idle > 0:
                self._idle -= 1
                return
        threading.Thread(target=self._loop, name="inkan-reader", daemon=True).start()

    def _loop(self) -> None:
        import queue

        while True:
            try:
                task, job = self._tasks.get(timeout=IDLE_SECONDS)
            except queue.Empty:
                with self._lock:
                    if self._idle > 0:
                        self._idle -= 1
                        return
                continue  # somebody counts on this thread: a task is on its way
            task(job)
            with self._lock:
                self._idle += 1


class Pages:
    """The copies of a site's responses, and the one place that decides when to ask again.

    `condition` guards everything here and is notified when a job ends.
    """

    def __init__(self, transport: Transport, times: SiteTimes) -> None:
        import threading

        self.transport, self._times = transport, times
        self._workers = Workers()
        self._bodies: dict[str, Page] = {}
        self._bytes = 0
        self.condition = threading.Condition()
        self.reading = 0  # bodies under way, of all searches together

    def body(self, address: str) -> Page:
        """The page of a body, the longest unused ones forgotten beyond the bound of memory."""
        with self.condition:
            page = self._bodies.pop(address, None)
            if page is None:
                page = Page(address, read_markdown)
                page.patience = self._times.fault
            self._bodies[address] = page
            return page

    def is_fresh(self, page: Page) -> bool:
        """Whether the copy needs no request."""
        return (
            page.value is not None
            and page.fault is None
            and self._times.now() - page.checked < self._times.cache
        )

    def is_usable(self, page: Page) -> bool:
        """Whether the last good copy may stand in for a site that fails."""
        if page.value is None or self._times.now() - page.checked > self._times.stale:
            return False
        return page.keeps or page.fault is None or page.fault.kind == "down"

    def age(self, page: Page) -> float:
        """The seconds since the site last confirmed the copy."""
        return self._times.now() - page.checked

    def hold(self, page: Page, *, counted: bool = False) -> Job | None:
        """A job that this caller waits for and must `release`; `None` when none is needed.

        Then the copy is fresh, or the fault is to be answered as it is (`outcome` says which).
        `counted` jobs are bodies of a search, which run only `BODY_READERS` at a time.
        """
        with self.condition:
            if self.is_fresh(page):
                return None
            job = self._under_way(page)
            if page.fault is not None:
                failing = self._times.now() - page.tried
                if self.is_usable(page) or page.optional:
                    if job is None and failing >= self._times.retry:
                        self._begin(page).unattended = True
                    return None
                if job is None and failing < page.patience:
                    return None
            job = job or self._begin(page)
            if counted and not job.counted:
                job.counted = True
                self.reading += 1
            job.waiters += 1
            return job

    def wait(self, job: Job, call: Call) -> None:
        """Return when the job has ended, by its time at the latest. Raises `Cancelled`."""
        while True:
            call.check()
            with self.condition:
                if self.has_ended(job):
                    return
                self.condition.wait(POLL_SECONDS)

    def has_ended(self, job: Job) -> bool:
        """Whether the job is over; one beyond its time is ended here, stuck as it may be."""
        with self.condition:
            if not job.done and self._times.now() >= job.deadline:
                self._end(job, _no_answer(job, self._times))
                _abort(job)
            return job.done

    def release(self, job: Job) -> None:
        """No longer wait for a job; what nobody waits for is given up."""
        with self.condition:
            job.waiters -= 1
            if job.waiters <= 0 and not job.done and not job.unattended:
                self._end(job, None)
                _abort(job)

    def outcome(self, page: Page) -> bool:
        """False when the copy is good, True when it is an old one that stands in.

        Raises `SiteError` where there is none.
        """
        with self.condition:
            fault = page.fault
            if fault is None and page.value is not None:
                return False
            if self.is_usable(page):
                return True
        if fault is None:
            raise SiteError(f"{page.address} was not read; try again")
        raise SiteError(str(fault), fault.kind)

    def settle(self, page: Page, call: Call) -> bool:
        """`outcome`, after the request that it may need. Raises `SiteError`, `Cancelled`."""
        job = self.hold(page)
        if job is not None:
            try:
                self.wait(job, call)
            finally:
                self.release(job)
        return self.outcome(page)

    def expire(self, page: Page) -> bool:
        """Have the next call ask again; False where the copy is only a moment old."""
        with self.condition:
            if self.age(page) < self._times.fault:
                return False
            page.checked = min(page.checked, self._times.now() - self._times.cache)
            return True

    def fold(self, page: Page) -> str:
        """The text of a body as it is searched, kept as long as the copy."""
        folded, value = page.folded, page.value
        if folded is None:
            folded = fold_text(value)
            with self.condition:
                if page.value is value:
                    page.folded = folded
                    self._account(page)
        return folded

    def _under_way(self, page: Page) -> Job | None:
        job = page.job
        if job is not None and self.has_ended(job):
            return None
        return job

    def _begin(self, page: Page) -> Job:
        job = page.job = Job(page, self._times.now() + self._times.fetch)
        self._workers.run(self._work, job)
        return job

    def _work(self, job: Job) -> None:
        """Run by a worker: fetch, read, file the result. Whatever happens, the job ends."""
        fault: SiteError | None = SiteError(f"{job.address} could not be read; see stderr")
        try:
            response = self.transport.fetch(job)
            job.deadline = float("inf")  # what follows is reading, and is not the site's time
            job.check()
            self._file(job, response)
            fault = None
        except SiteError as refused:
            fault = refused
        except Cancelled:
            fault = None
        finally:
            with self.condition:
                self._end(job, fault)

    def _file(self, job: Job, response: Response) -> None:
        page = job.page
        mark = (response.status, len(response.body), hash(response.body))
        same = response.status == 304 and bool(job.conditions)
        if not same and page.mark != mark:
            value = page.read(response, page.address)
            job.check()
            with self.condition:
                page.value, page.folded = value, None
                page.mark = mark
                self._account(page)
        with self.condition:
            if not same:
                page.conditions = _conditions(response)
            page.checked = self._times.now()
            page.fault = None

    def _end(self, job: Job, fault: SiteError | None) -> None:
        if job.done:
            return
        job.done = True
        if job.counted:
            self.reading -= 1
        if job.page.job is job:
            job.page.job = None
        if fault is not None:
            job.page.fault, job.page.tried = fault, self._times.now()
        self.condition.notify_all()

    def _account(self, page: Page) -> None:
        """Keep the bodies within their bound; a page in use keeps its copy for its user."""
        if self._bodies.get(page.address) is not page:
            return
        size = sum(sys.getsizeof(text) for text in (page.value, page.folded) if text is not None)
        self._bytes += size - page.size
        page.size = size
        while self._bytes > MAX_CACHED_BYTES and len(self._bodies) > 1:
            oldest = self._bodies.pop(next(iter(self._bodies)))
            self._bytes -= oldest.size
            oldest.size = 0


def _abort(job: Job) -> None:
    if job.wire is not None:
        job.wire.abort()


def _conditions(response: Response) -> dict[str, str]:
    """The headers that ask next time whether a response still holds (RFC 9110, section 13)."""
    asked = {}
    for validator, condition in (("etag", "If-None-Match"), ("last-modified", "If-Modified-Since")):
        value = response.headers.get(validator, "")
        if value and value.isascii() and value.isprintable():
            asked[condition] = value
    return asked


def fold_text(text: str) -> str:
    """A body as it is searched: in NFC, case-folded."""
    return text.lower() if text.isascii() else to_nfc(text).casefold()


# ── 6c.4 The index ────────────────────────────────────────────────────────────────────────────


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_CONTAINERS = (
    "records", "decisions", "items", "adrs", "entries", "documents", "docs", "results", "result",
    "data", "pages", "files", "rfcs",
)  # fmt: skip
_OWN_CONTAINERS = frozenset({"records", "decisions", "items"})

# The names under which published indexes give each value, the first one present being taken.
_ENTRY_KEYS = {
    "title": ("title", "name", "heading", "subject"),
    "id": ("id", "adrid", "key", "identifier"),
    "ref": ("ref",),
    "slug": ("slug",),
    "number": ("number", "adr", "pep", "rfc", "num", "seq"),
    "project": (
        "project", "package", "repo", "repository", "namespace", "team", "collection",
    ),
    "type": ("type", "kind", "category"),
    "description": ("description", "summary", "excerpt", "abstract", "brief"),
    "status": ("status", "state"),
    "date": (
        "date", "decisiondate", "publicationdate", "published", "datepublished", "created",
        "createdat", "creationdate", "timestamp", "updated", "lasteditdate", "datemodified",
        "lastmodified", "modified",
    ),
    "authors": ("authors", "author", "authornames"),
    "deciders": ("deciders", "decisionmakers"),
    "tags": ("tags", "topics", "labels", "keywords", "domains"),
    "body": ("body", "markdown", "content", "contenttext", "text", "contenthtml"),
    "path": ("path", "file", "filename", "filepath", "relativepath", "source"),
    "url": ("url", "href", "link", "permalink", "sourceuri", "viewurl", "externalurl"),
    "supersedes": ("supersedes", "replaces"),
    "supersededBy": ("supersededby", "replacedby"),
    "related": ("related",),
    "links": ("links", "relations", "relationships"),
    "fields": ("fields",),
    "draft": ("draft",),
    "rfcReview": ("rfcreview",),
    "nested": ("frontmatter", "metadata", "attributes"),
}  # fmt: skip
_ENTRY_ALIASES = {
    alias: (name, rank) for name, row in _ENTRY_KEYS.items() for rank, alias in enumerate(row)
}
_EVIDENCE = ("status", "date", "path", "url", "number", "ref", "body", "project", "type")
_REVIEW_KEYS = _words(
    "review reviewby reviewdue dueforreview nextreview nextreviewdate nextreviewdue reviewdate "
    "reviewon revisit revisiton expires expirydate expireby validuntil resubmission lastreviewed "
    "lastreviewedon lastreviewedat lastrevieweddate lastreview lastreviewdate reviewedon "
    "reviewedat reviewed statuslastreviewed freshnessreviewedon lastverified ms.date reviewin "
    "reviewevery reviewcycle reviewcadence reviewinterval reviewfrequency reviewperiod reviewafterdays "
    "reviewers reviews approvers approvals approvedby objections rejectedby requiredapprovals "
    "approvalsrequired required minapprovals quorum"
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_MARKDOWN_ENDING = re.compile(r"\.(?:mdx?|markdown)\Z", re.IGNORECASE)


class SiteIndex:
    """An index as read: its records, the bodies it holds itself, and what it says of the archive.

    `elsewhere` maps an id to a second place where its body may be.
    """

    __slots__ = (
        "bodies", "declared", "drafts", "elsewhere", "folded", "problems", "projects", "records",
        "rules",
    )  # fmt: skip

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.bodies: dict[str, str] = {}
        self.folded: dict[str, str] = {}
        self.elsewhere: dict[str, str] = {}
        self.declared: dict[str, Declaration] = {}
        self.projects: dict[str, Project] = {}
        self.problems: list[Problem] = []
        self.drafts: set[str] = set()
        self.rules = Rules()


class SitePlaces:
    """How an index's ids and links become addresses of the site."""

    def __init__(self, index: str, base: str) -> None:
        self.index, self.base = index, base

    def body(self, record_id: str) -> str:
        """Where the body of that id is published."""
        import urllib.parse

        return f"{self.base}/{urllib.parse.quote(record_id, safe=_PATH_SAFE)}.md"

    def stated(self, link: str) -> str | None:
        """The address of a body that an entry names; `None` where it is not the site's own."""
        import urllib.parse

        try:
            target = parse_address(urllib.parse.urljoin(self.index, link))
        except ValueError:
            return None
        own = parse_address(self.base)
        if target is None or own is None or target.origin != own.origin:
            return None
        target.login = ""
        return str(target)

    def page(self, link: str, record_id: str) -> str | None:
        """The address of the page that people read."""
        import urllib.parse

        try:
            target = parse_address(link)
            if target is None and link:
                target = parse_address(urllib.parse.urljoin(self.index, link))
        except ValueError:
            target = None
        if target is not None:
            return str(target)
        return f"{self.base}/{urllib.parse.quote(record_id, safe=_PATH_SAFE)}"


_PATH_SAFE = "/:@!$&'()*+,;=~"


class FolderPlaces(SitePlaces):
    """The same for a built folder: bodies are files, and only full addresses are pages."""

    def body(self, record_id: str) -> str:
        """The file of that id, relative to the folder."""
        return record_id + ".md"

    def stated(self, link: str) -> str | None:
        """A file that an entry names; `None` where its path would leave the folder."""
        return link if id_fault(link) is None else None

    def page(self, link: str, record_id: str) -> str | None:  # noqa: ARG002 - the same interface
        """The address that the entry gives, where it is one."""
        return link if parse_address(link) is not None else None


def id_fault(record_id: str) -> str | None:
    """Why a text is no id, a relative path (SPEC 6); `None` where it is one."""
    if not record_id:
        return "is empty"
    if len(record_id) > MAX_ID_LENGTH:
        return f"is longer than {MAX_ID_LENGTH} characters"
    if "\\" in record_id:
        return "holds a backslash"
    parts = record_id.split("/")
    if "" in parts or "." in parts or ".." in parts:
        return "leads out of the site or has an empty part"
    if _SCHEME.match(record_id):
        return "begins with a scheme"
    if record_id.isprintable():
        return None
    if any(c < " " or "\x7f" <= c <= "\x9f" or "\ud800" <= c <= "\udfff" for c in record_id):
        return "holds a control character"
    return None


def read_index(value: object, places: SitePlaces, check: Callable[[], None]) -> SiteIndex:
    """The records of a published index in any of the shapes that sites publish.

    `check` is asked now and then whether to go on. Raises `SiteError` for what is no record index;
    an entry that cannot be read loses nothing but itself.
    """
    return _IndexReader(places, check).read(value)


class _IndexReader:
    def __init__(self, places: SitePlaces, check: Callable[[], None]) -> None:
        self.places, self.check = places, check
        self.index = SiteIndex()
        self._names: dict[str, tuple[str, int] | None] = {}
        self._rules: dict[str | None, Rules] = {}
        self._seen: set[str] = set()
        self._unnamed = 0  # entries left out beyond those named
        self._misnamed = 0  # entries that would be records, were it not for their ids

    def read(self, value: object) -> SiteIndex:
        entries, own = _entries(value)
        if entries is None:
            raise self._refused("it holds no list of records")
        if isinstance(value, dict):
            self._read_settings(value)
        rows = self._rows(entries)
        likely = sum(1 for _, record_id, values in rows if _is_likely(record_id, values))
        enough = likely > 0 if own else likely * 2 >= len(rows) > 0
        if entries and not enough and (rows or not self._misnamed):
            raise self._refused(f"{likely:,} of {len(entries):,} entries look like records")
        for nth, record_id, values in rows:
            if not nth % 100:
                self.check()
            try:
                self._read_entry(nth, record_id, values)
            except RecursionError:
                self._leave_out(nth, "is nested too deeply")
        self._finish()
        return self.index

    def _refused(self, reason: str) -> SiteError:
        hint = f"; {self.index.problems[0].sentence}" if self.index.problems else ""
        return SiteError(
            f"{self.places.index} is no index of records ({reason}){hint}: a record has an id and "
            "a title, and a status or date",
            "unusable",
        )

    def _finish(self) -> None:
        if self._unnamed:
            sentence = f"{self.places.index}: {self._unnamed:,} more entries were left out"
            self.index.problems.append(Problem("", 0, 0, "left out", sentence))

    def _leave_out(self, nth: int, reason: str, kind: str = "left out") -> None:
        if len(self.index.problems) >= MAX_INDEX_PROBLEMS:
            self._unnamed += 1
            return
        sentence = f"{self.places.index}: entry {nth} {reason}; it is left out"
        self.index.problems.append(Problem("", 0, 0, kind, sentence))

    def _read_settings(self, value: Mapping[str, object]) -> None:
        """`statuses`, `fields` and `projects` beside the records."""
        index = self.index

        def note(name: str, sentence: str) -> None:
            text = f"{self.places.index}: {quoted(name)}: {sentence}"
            index.problems.append(Problem("", 0, 0, "value", text))

        statuses = read_statuses(value.get("statuses"))
        if "fields" in value and not _is_deep(value["fields"], MAX_ENTRY_DEPTH):
            index.declared = parse_declarations(value["fields"], note)
        declared = {fold_key(name): field for name, field in index.declared.items()}
        index.rules = Rules(statuses or None, declared)
        index.projects = read_projects(value.get("projects"))

    def _rows(self, entries: Sequence[object]) -> list[tuple[int, str, dict[str, object]]]:
        """(position, id, values) of each entry that is an object with an id."""
        rows: list[tuple[int, str, dict[str, object]]] = []
        for nth, entry in enumerate(entries, 1):
            if not nth % 1000:
                self.check()
            if not isinstance(entry, dict):
                self._leave_out(nth, f"is {_kind_of(entry)}, not an object")
            elif len(rows) >= MAX_INDEX_RECORDS:
                self._leave_out(nth, f"is beyond the first {MAX_INDEX_RECORDS:,}")
            elif _is_deep(entry, MAX_ENTRY_DEPTH):
                self._leave_out(nth, "is nested too deeply")
            else:
                values = self._values(entry)
                record_id, fault = self._id(values)
                if fault:
                    self._misnamed += _is_likely("", values)
                    self._leave_out(nth, fault)
                else:
                    rows.append((nth, record_id, values))
        return rows

    def _values(self, entry: Mapping[str, object]) -> dict[str, object]:
        """An entry's values under our own names; what stands nested in it is merged under it."""
        values: dict[str, object] = {}
        ranks: dict[str, int] = {}
        names = self._names
        layers = [entry]
        for depth, layer in enumerate(layers):
            for key, value in layer.items():
                if value is None or value in ("", []):
                    continue
                try:
                    known = names[key]
                except KeyError:
                    known = names[key] = _entry_name(key)
                if known is None:
                    continue
                name, rank = known
                rank += 1000 * depth
                if name == "nested":
                    if not depth and isinstance(value, dict):
                        layers.append(value)
                elif name not in ranks or rank < ranks[name]:
                    values[name], ranks[name] = value, rank
        return values

    def _id(self, values: dict[str, object]) -> tuple[str, str]:
        """(id, "") or ("", why there is none). An `id` that is none is not replaced by a guess."""
        for name in ("id", "path", "slug", "ref", "number"):
            text = _scalar(values.get(name))
            if not text:
                continue
            if name == "path":
                text = text[2:] if text.startswith("./") else text.lstrip("/")
            if text.startswith(self.places.base + "/"):
                text = text[len(self.places.base) + 1 :].rstrip("/")
            if name in ("path", "id"):
                text = _MARKDOWN_ENDING.sub("", text)
            project = _named(values.get("project"))
            if name in ("slug", "number") and project and "/" not in text:
                text = f"{project}/{text}"
            fault = id_fault(text)
            return (text, "") if not fault else ("", f"has the id {quoted(text)}, which {fault}")
        return "", "has no id"

    def _read_entry(self, nth: int, record_id: str, values: dict[str, object]) -> None:
        if record_id in self._seen:
            self._leave_out(nth, f"has the id {quoted(record_id)} of an earlier one", "double id")
            return
        self._seen.add(record_id)
        origin = self._origin(record_id, values)
        fields = FieldSet(_field_values(values))
        record = record_from_fields(fields, origin, self._rules_for(origin.project))
        if record is None:
            self.index.drafts.add(record_id)
            return
        named = values.get("fields")
        if not isinstance(named, dict):
            record.fields = {}
        elif len(record.fields) > len(named):
            record.fields = {key: record.fields[key] for key in named if key in record.fields}
        record.ref = _scalar(values.get("ref")) or record.ref
        record.url = self.places.page(_scalar(values.get("url")), record_id)
        record.approval = _stated_approval(values.get("rfcReview")) or record.approval
        _set_status_flags(record, values.get("status"))
        if fields.notes:
            record.problems = [
                Problem(record.path, 0, 0, kind, sentence) for _, kind, sentence in fields.notes
            ]
        self._place_body(record, values)
        self.index.records.append(record)

    def _origin(self, record_id: str, values: Mapping[str, object]) -> Origin:
        location = self.places.body(record_id)
        origin = Origin(record_id, location, location)
        origin.project = _named(values.get("project")) or origin.project
        if origin.number is None:
            origin.number = _number(values.get("number"), record_id)
        return origin

    def _rules_for(self, project_id: str | None) -> Rules:
        rules = self._rules.get(project_id)
        if rules is None:
            project = self.index.projects.get(project_id or "")
            rules = self._rules[project_id] = self.index.rules.for_project(project)
        return rules

    def _place_body(self, record: Record, values: Mapping[str, object]) -> None:
        """The entry's own body where it has one, else where it says that the body is."""
        body = values.get("body")
        if isinstance(body, dict):
            found = (body.get(key) for key in ("rawMarkdown", "markdown", "html"))
            body = next((text for text in found if isinstance(text, str) and text), None)
        link = _scalar(values.get("path"))
        if isinstance(body, str):
            if not _is_link(body):
                self.index.bodies[record.id] = without_front_matter(body)
                return
            link = body.strip()
        if not _MARKDOWN_ENDING.search(link):
            return
        stated = self.places.stated(link)
        if stated is not None and stated != record.location:
            if "/" not in record.id:  # `ADR-0001` beside `adr/0001-x.md`: the path is the file
                record.location, stated = stated, record.location
            self.index.elsewhere[record.id] = stated


def _entries(value: object, *, inner: bool = False) -> tuple[Sequence[object] | None, bool]:
    """The entries of an index, and whether they stand under a name that only records have."""
    if isinstance(value, list):
        return value, False
    if not isinstance(value, dict):
        return None, False
    names = {fold_key(key): key for key in value}
    for name in _CONTAINERS:
        held = value.get(names.get(name, name))
        own = name in _OWN_CONTAINERS
        if held in ([], {}) and (own or name in ("adrs", "rfcs")):
            return [], own
        if isinstance(held, list) and (own or any(map(_is_object, held))):
            return held, own
        if isinstance(held, dict):
            found = _entries(held, inner=True) if _is_wrapper(name) and not inner else (None, own)
            if found[0] is None:
                found = _keyed(held), own
            if found[0] is not None:
                return found
    single = value.get("adr") if isinstance(value.get("adr"), dict) else value
    if isinstance(single, dict) and "title" in single and "status" in single:
        return [single], False
    return _keyed(value), False


def _keyed(value: Mapping[str, object]) -> list[object] | None:
    """The objects of an object by their keys, which are the ids of those that have none."""
    titled = sum(1 for item in value.values() if isinstance(item, dict) and "title" in item)
    if not titled or titled < 0.6 * len(value):
        return None
    return [
        item if not isinstance(item, dict) or "id" in item else {"id": key, **item}
        for key, item in value.items()
    ]


def _is_wrapper(name: str) -> bool:
    return name in ("data", "results", "result")


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


def _is_likely(record_id: str, values: Mapping[str, object]) -> bool:
    """Whether an entry is about a record; other data has ids and names as well."""
    evidence = any(name in values for name in _EVIDENCE)
    if "title" in values and evidence:
        return True
    named = "title" in values or evidence or number_of(record_id.rsplit("/", 1)[-1]) is not None
    return "/" in record_id and named


def _entry_name(key: str) -> tuple[str, int] | None:
    folded = fold_key(key)
    if folded in _REVIEW_KEYS:
        return key, 0
    return _ENTRY_ALIASES.get(folded)


_KINDS = {str: "a text", bool: "true or false", int: "a number", float: "a number", list: "a list"}


def _kind_of(value: object) -> str:
    return _KINDS.get(type(value), "null")


def _is_deep(value: object, levels: int) -> bool:
    if isinstance(value, dict):
        return not levels or any(_is_deep(item, levels - 1) for item in value.values())
    if isinstance(value, list):
        return not levels or any(_is_deep(item, levels - 1) for item in value)
    return False


def _scalar(value: object) -> str:
    """A text or number as text; `""` for anything else."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    return ""


def _named(value: object) -> str:
    """A text, or the id or name of an object."""
    if isinstance(value, dict):
        found = (_scalar(value.get(key)) for key in ("id", "slug", "key", "name", "label", "title"))
        return next((text for text in found if text), "")
    return _scalar(value)


def _number(value: object, record_id: str) -> str | None:
    text = _scalar(value)
    if text.isascii() and text.isdigit() and len(text) < 16:
        return text
    found = re.fullmatch(r"[A-Za-z]+[-_ ]?([0-9]{1,7})", record_id.rsplit("/", 1)[-1])
    return found[1] if found else None


def _field_values(values: Mapping[str, object]) -> dict[str, object]:
    """What of an entry is read as front matter would be, values of a wrong kind left out."""
    fields = {
        key: value
        for key, value in values.items()
        if key in _ENTRY_LISTS or key not in _ENTRY_KEYS  # then it is one of _REVIEW_KEYS
    }
    for key in ("title", "description", "type"):
        text = _scalar(values.get(key))
        if text:
            fields[key] = text
    status = values.get("status")
    fields["status"] = _named(status) if isinstance(status, dict) else _scalar(status)
    fields["date"] = entry_date(values.get("date"))
    fields["draft"] = values.get("draft")
    if isinstance(values.get("fields"), dict):
        fields["fields"] = values["fields"]
    for key in ("supersedes", "supersededBy"):
        written = fields.get(key)
        if isinstance(written, str) and re.fullmatch(r"[0-9]+(?:[, ]+[0-9]+)+", written):
            fields[key] = re.split(r"[, ]+", written)
    _add_links(fields, values.get("links"))
    return fields


_ENTRY_LISTS = frozenset({"authors", "deciders", "tags", "supersedes", "supersededBy", "related"})
_LINK_KINDS = {
    "supersedes": "supersedes", "replaces": "supersedes", "supersededby": "supersededBy",
    "replacedby": "supersededBy", "related": "related", "relatesto": "related",
}  # fmt: skip


def _add_links(fields: dict[str, object], links: object) -> None:
    """`[{type, target}]`, where the entry says nothing under the relation's own name."""
    if not isinstance(links, list):
        return
    found: dict[str, list[object]] = {}
    for link in links:
        if isinstance(link, dict):
            kind = _scalar(link.get("type") or link.get("rel") or link.get("kind"))
            targets = (_scalar(link.get(key)) for key in ("target", "to", "id", "ref"))
            target = next(filter(None, targets), "")
            name = _LINK_KINDS.get(fold_key(kind))
            if name and target:
                found.setdefault(name, []).append(target)
    for name, linked in found.items():
        fields.setdefault(name, linked)


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAY_FIRST = re.compile(r"([0-9]{1,2})[- ]([A-Za-z]{3})[a-z]*[- ]([0-9]{4})")


def entry_date(value: object) -> object:
    """The date of an entry; `11-Aug-2017` and a count of seconds since 1970 are read as well."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value > 100_000_000:
        seconds = value / 1000 if value > 100_000_000_000 else value
        if seconds < 100_000_000_000:
            moment = time.gmtime(seconds)
            return iso_date(moment.tm_year, moment.tm_mon, moment.tm_mday)
    text = _scalar(value)
    found = _DAY_FIRST.fullmatch(text)
    if found and found[2].lower() in _MONTHS:
        month = _MONTHS.index(found[2].lower()) + 1
        return iso_date(int(found[3]), month, int(found[1])) or text
    return text


def _is_link(text: str) -> bool:
    """Whether what stands for a body is the address of one."""
    text = text.strip()
    if not text or len(text) > 2000 or any(c <= " " for c in text):
        return False
    return text.startswith(("http://", "https://", "/", "./")) or bool(
        _MARKDOWN_ENDING.search(text)
    )


def _set_status_flags(record: Record, status: object) -> None:
    """A status that is an object may say itself whether it is in force."""
    if isinstance(status, dict) and isinstance(status.get("current"), bool):
        record.current = status["current"]
        record.open = record.open and not record.current


def _stated_approval(value: object) -> Approval | None:
    """`rfcReview` as an index gives it; `None` where it is not well-formed."""
    if not isinstance(value, dict):
        return None
    status, waiting = value.get("status"), value.get("waitingOn", [])
    counts = [value.get("approved"), value.get("required")]
    if status not in ("approved", "changes-requested", "pending") or not isinstance(waiting, list):
        return None
    if any(isinstance(count, bool) or not isinstance(count, int) for count in counts):
        return None
    names = [name.lstrip("@") for name in waiting if isinstance(name, str)]
    return Approval(status, value["approved"], value["required"], names)


def read_statuses(value: object) -> dict[str, Status]:
    """`{name: {current, open, label}}`, a list of such objects, or of names, by folded name."""
    rows: list[tuple[str, object]]
    if isinstance(value, dict):
        rows = list(value.items())
    elif isinstance(value, list):
        rows = [(_named(item), item) for item in value]
    else:
        return {}
    statuses = {}
    for name, said in rows:
        if not name.strip():
            continue
        known = DEFAULT_STATUSES.get(fold_key(name)) or Status(name)
        row = said if isinstance(said, dict) else {"current": said}
        flags = [row.get(key) for key in ("current", "open")]
        current, is_open = (
            flag if isinstance(flag, bool) else default
            for flag, default in zip(flags, (known.current, known.open))
        )
        label = _scalar(row.get("label")) or None
        statuses[fold_key(name)] = Status(name, current=current, is_open=is_open, label=label)
    return statuses


def read_projects(value: object) -> dict[str, Project]:
    """`projects` of an index, a list or an object by id, each with what it says of itself."""
    if isinstance(value, dict):
        rows = [
            {"id": key, **item} if isinstance(item, dict) else {"id": key, "name": item}
            for key, item in value.items()
        ]
    elif isinstance(value, list):
        rows = [item if isinstance(item, dict) else {"id": item} for item in value]
    else:
        return {}
    projects: dict[str, Project] = {}
    for row in rows:
        project_id = next((_scalar(row.get(k)) for k in ("id", "slug", "name") if row.get(k)), "")
        if project_id and project_id not in projects and id_fault(project_id) is None:
            projects[project_id] = _project(project_id, row)
    return projects


def _project(project_id: str, row: Mapping[str, object]) -> Project:
    project = Project(project_id)
    project.name = _scalar(row.get("name")) or _scalar(row.get("title")) or project_id
    project.description = _scalar(row.get("description") or row.get("summary")) or None
    project.owners = people_list(row.get("owners") or row.get("owner"))
    project.key = _scalar(row.get("key")) or None
    order = row.get("order")
    if isinstance(order, (int, float)) and not isinstance(order, bool) and abs(order) < 1e9:
        project.order = order
    return project


# ── 6c.5 llms.txt ─────────────────────────────────────────────────────────────────────────────


class Section:
    """A heading of `llms.txt`: the text under it, and its list as (name, link, notes)."""

    __slots__ = ("entries", "level", "name", "text")

    def __init__(self, level: int, name: str) -> None:
        self.level, self.name = level, name
        self.text = ""
        self.entries: list[tuple[str, str, str]] = []


def read_llms(response: Response, address: str) -> list[Section]:
    """The sections of a site's `llms.txt`; none where it has no such file (SPEC 6)."""
    if response.status in (401, 403, 404, 410):
        return []
    check_status(response, address)
    text = response.body.decode("utf-8-sig", "replace")
    return [] if is_html(response, text) else parse_llms(text)


_ITEM = re.compile(r"[ \t]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]+(.*)")
_LABEL = re.compile(r"\[([^\[\]]*)\]\(")
_BARE_LINK = re.compile(r"https?://[^\s<>)\]]+")


def parse_llms(text: str) -> list[Section]:
    """The sections of an `llms.txt`: the first is what stands under its title. Never raises."""
    section = Section(1, "")
    sections = [section]
    for kind, content in _llms_blocks(text):
        if kind == "heading":
            level = len(content) - len(content.lstrip("#"))
            name = re.sub(r"[ \t]#+\Z", "", content.lstrip("#").strip())
            section = Section(level, plain_text(name))
            sections.append(section)
        elif kind == "text":
            if not section.text and not section.entries:
                section.text = plain_text(content)[:MAX_SUMMARY]
        else:
            entry = _llms_entry(content)
            if entry:
                section.entries.append(entry)
    return sections


def _llms_blocks(text: str) -> list[tuple[str, str]]:
    """Headings, items and paragraphs, each on one line; fences, comments and rules are left out."""
    blocks: list[tuple[str, str]] = []
    fence = ""
    open_block = False  # whether the next line may go on with the last block
    for line in _without_comments(text):
        bare = line.strip()
        if bare.startswith(("```", "~~~")):
            fence = "" if fence and bare.startswith(fence) else fence or bare[:3]
            open_block = False
            continue
        kind, content = _llms_line(line, bare)
        if fence or not bare or kind == "rule":
            if kind == "rule" and bare[0] == "=" and open_block and blocks[-1][0] == "text":
                blocks[-1] = ("heading", "# " + blocks[-1][1])
            open_block = False
        elif kind == "text" and open_block:
            blocks[-1] = (blocks[-1][0], f"{blocks[-1][1]} {content}")
        else:
            blocks.append((kind, content))
            open_block = kind != "heading"
    return blocks


def _llms_line(line: str, bare: str) -> tuple[str, str]:
    if bare.startswith("#"):
        return "heading", bare
    if len(bare) > 2 and not bare.strip("-=*_ "):
        return "rule", bare
    item = _ITEM.fullmatch(line)
    if item:
        return "item", item[1]
    if bare.startswith("|"):
        return "item", bare.strip("| \t")
    return "text", bare.lstrip("> \t")


def _without_comments(text: str) -> list[str]:
    """The lines of a text without HTML comments and the front matter that it may begin with."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    parts = []
    start = 0
    while True:
        opened = text.find("<!--", start)
        closed = text.find("-->", opened) if opened >= 0 else -1
        if closed < 0:
            parts.append(text[start:])
            break
        parts.append(text[start:opened])
        start = closed + 3
    lines = "".join(parts).lstrip("\n").split("\n")
    if lines[0].rstrip() == "---" and "---" in (line.rstrip() for line in lines[1:]):
        end = next(nth for nth, line in enumerate(lines[1:], 1) if line.rstrip() == "---")
        return lines[end + 1 :]
    return lines


def _llms_entry(text: str) -> tuple[str, str, str] | None:
    """(name, link, notes) of a list item or table row; `None` for one without a link."""
    found = _first_link(text, 0)
    if found:
        name, link, _, end = found
        notes = text[end:]
    else:
        bare = _BARE_LINK.search(text)
        if not bare:
            return None
        name, link = text[: bare.start()], bare[0].rstrip(".,;")
        notes = text[bare.end() :]
    name = plain_text(name).strip(" \t:-–—<(")
    notes = plain_text(notes.strip(" \t*_>)").lstrip(":-–—| \t"))
    return name, link, notes.rstrip("| \t")[:MAX_SUMMARY]


def _first_link(text: str, start: int) -> tuple[str, str, int, int] | None:
    """(label, target, begin, end) of the first Markdown link from there on."""
    label = _LABEL.search(text, start)
    close = text.find(")", label.end()) if label else -1
    if label is None or close < 0:
        return None
    target = text[label.end() : close].split()
    return label[1], target[0].strip("<>") if target else "", label.start(), close + 1


def plain_text(text: str) -> str:
    """One line of Markdown without emphasis, code marks and link targets."""
    parts = []
    start = 0
    found = _first_link(text, 0)
    while found:
        parts += [text[start : found[2]], found[0]]
        start = found[3]
        found = _first_link(text, start)
    text = "".join(parts) + text[start:]
    text = re.sub(r"\*\*|__|`", "", text)
    text = re.sub(r"(?<![\w*])[*_](?=\S)|(?<=\S)[*_](?![\w*])", "", text)
    return " ".join(text.split())


_GENERAL_HEADINGS = _words(
    "projects project decisions decision decisionrecords records record adrs adr rfcs rfc optional "
    "docs documentation pages links index all alldecisions architecturedecisionrecords"
)


def llms_projects(
    sections: Sequence[Section], bases: Sequence[str], ids: Iterable[str]
) -> dict[str, tuple[str, str]]:
    """(name, description) of each project that `llms.txt` tells of, by id (SPEC 6).

    The page of the project itself counts most, then the shallowest section whose links all lead
    into the project, then a single entry that leads into it and is no record.
    """
    wanted = frozenset(ids)
    found: dict[str, tuple[int, str, str]] = {}

    def offer(project: str, rank: int, name: str, text: str) -> None:
        if project in wanted and name and (project not in found or rank < found[project][0]):
            found[project] = (rank, name, text)

    paths = [[_site_path(link, bases) for _, link, _ in section.entries] for section in sections]
    for nth, section in enumerate(sections):
        for (name, _, notes), path in zip(section.entries, paths[nth]):
            if path and len(path) == 1:
                offer(path[0], 0, name, notes)
            elif path and path[-1] == "":
                offer(path[0], 10, name, notes)
        led = _leads_into(sections, paths, nth)
        if led is not None and fold_key(section.name) not in _GENERAL_HEADINGS:
            offer(led, section.level, section.name, section.text)
    return {project: (name, text) for project, (_, name, text) in found.items()}


def _leads_into(
    sections: Sequence[Section], paths: Sequence[Sequence[Sequence[str]]], nth: int
) -> str | None:
    """The one project that all links of a section and of those below it lead into."""
    led: set[str] = set()
    for at in range(nth, len(sections)):
        if at > nth and sections[at].level <= sections[nth].level:
            break
        led.update(path[0] for path in paths[at] if path)
        if len(led) > 1:
            return None
    return led.pop() if led and sections[nth].level > 1 else None


_PAGE_ENDING = re.compile(r"(?:\A|/)(?:index\.(?:md|html?)|llms\.txt|README\.md)\Z", re.IGNORECASE)


def _site_path(link: str, bases: Sequence[str]) -> list[str]:
    """The parts of a link below the site; `[""]` ends one that is a folder; `[]` leads elsewhere.

    `/sre/` and `sre.md` are `["sre"]`: the project's own page.
    """
    import urllib.parse

    try:
        target = urllib.parse.urljoin(bases[0] + "/", link)
    except ValueError:
        return []
    base = next((base for base in bases if target.startswith(base + "/")), None)
    if base is None:
        return []
    path = target[len(base) + 1 :].partition("#")[0].partition("?")[0]
    folder = _PAGE_ENDING.sub("/", path)
    parts = urllib.parse.unquote(folder).split("/")
    if len(parts) == 2 and not parts[1]:
        parts.pop()
    if len(parts) == 1:
        parts[0] = re.sub(r"\.(?:md|html?)\Z", "", parts[0])
    return parts if parts[0] else []


def published_bases(base: str, records: Sequence[Record]) -> list[str]:
    """The site's address, and the one it gives itself in the links of its records, if another."""
    bases = [base]
    for record in records[:20]:
        url = _MARKDOWN_ENDING.sub("", (record.url or "").rstrip("/"))
        if url.endswith("/" + record.id) and url[: -len(record.id) - 1] not in bases:
            bases.append(url[: -len(record.id) - 1])
    return bases


def site_snapshot(index: SiteIndex, sections: Sequence[Section], base: str, where: str) -> Snapshot:
    """What a published index and its `llms.txt` say together."""
    snapshot = Snapshot()
    snapshot.is_site = True
    snapshot.records = index.records
    snapshot.rules, snapshot.declared, snapshot.drafts = index.rules, index.declared, index.drafts
    snapshot.missing = [problem for problem in index.problems if problem.is_error]
    snapshot.problems = index.problems + [p for r in index.records for p in r.problems]
    ids = {record.project for record in index.records if record.project} | set(index.projects)
    told = llms_projects(sections, published_bases(base, index.records), ids)
    for project_id in sorted(ids):
        project = _copied(index.projects.get(project_id) or Project(project_id))
        name, text = told.get(project_id, ("", ""))
        if project.name == project_id and name:
            project.name = name
        project.description = project.description or text or None
        snapshot.projects[project_id] = project
    snapshot.title = next((section.name for section in sections if section.name), None)
    snapshot.looked = f"{where} lists no record"
    if index.drafts:
        snapshot.looked += f", and {counted(len(index.drafts), 'draft')}"
    return snapshot


def _copied(project: Project) -> Project:
    """The same project again, so that one snapshot does not change under another's reader."""
    import copy

    return copy.copy(project)


# ── 6c.6 The sources ──────────────────────────────────────────────────────────────────────────


class SiteSource:
    """A published site (SPEC 6). Nothing is asked of it, or imported for it, before a call.

    The records list stays the same object while the index does not change, also where a failing
    site makes `snapshot` hand out a new `Snapshot` that says how old its copy is.
    """

    is_site = True

    def __init__(
        self,
        address: str,
        headers: Sequence[str],
        environ: Mapping[str, str],
        log: Callable[[str], None],
        *,
        times: SiteTimes | None = None,
    ) -> None:
        import threading

        place = parse_address(address.strip())
        if place is None:
            raise UsageError("--url must be the address of a published site")
        secrets = parse_headers(headers, environ)
        if place.login and "authorization" not in map(str.lower, secrets):
            secrets["Authorization"] = basic_login(place.login)
        path = place.path.rstrip("/")
        name = "decisions.json"
        if path.lower().endswith(".json"):
            path, _, name = path.rpartition("/")
        self._base = place.origin + path
        index = f"{self._base}/{name}"
        self._places = SitePlaces(index, self._base)
        self._times, self._log = times or SiteTimes(), log
        self._pages = Pages(Transport(_ascii_origin(place), secrets, self._times), self._times)
        self._index = Page(index, self._read_index)
        self._llms = Page(f"{self._base}/llms.txt", read_llms)
        self._index.keeps = self._llms.keeps = self._llms.optional = True
        self._lock = threading.Lock()
        self._built: tuple[object, object, Snapshot] | None = None
        self._aged: tuple[Snapshot, str, Snapshot] | None = None

    def start(self) -> None:
        """Nothing: no request is made before a call needs one."""

    def close(self) -> None:
        """Close the connections that are kept."""
        self._pages.transport.close()

    def snapshot(self, call: Call) -> Snapshot:
        """The records that the index lists now. Raises `SiteError`, `Cancelled`."""
        names = self._pages.hold(self._llms)  # beside the index, not after it
        try:
            aged = self._pages.settle(self._index, call)
            if names is not None:
                self._pages.wait(names, call)
        finally:
            if names is not None:
                self._pages.release(names)
        snapshot = self._current()
        return self._with_age(snapshot) if aged else snapshot

    def read_body(self, record: Record, call: Call) -> str:
        """The Markdown of one record. Raises `SiteError`, `Cancelled`.

        A page that is gone may have moved with a deploy: the index is then read again, once.
        """
        try:
            return self._body(record, call)
        except SiteError as fault:
            if fault.kind != "gone" or not self._pages.expire(self._index):
                raise
            before = self._index.value
            snapshot = self.snapshot(call)
            if self._index.value is before:
                raise
            found = next((other for other in snapshot.records if other.id == record.id), None)
            if found is None:
                raise SiteError(
                    f"{fault}, and the site's index no longer lists {shown(record.id)}", "gone"
                ) from None
            return self._body(found, call)

    def search_bodies(
        self, records: Sequence[Record], needles: Sequence[str], call: Call
    ) -> tuple[list[tuple[bool, ...]], list[str]]:
        """For each record, which of the folded `needles` its folded body holds; and warnings."""
        search = _SiteSearch(self._pages, self._times, needles, call)
        index = self._index.value or SiteIndex()
        for nth, record in enumerate(records):
            if not nth % 100:
                call.check()
            own = own_folded(index, record.id)
            if own is not None:
                search.hits[nth] = hits(own, needles)
            else:
                search.ask(nth, self._places_of(record))
        search.run()
        none = (False,) * len(needles)
        return [search.hits.get(nth, none) for nth in range(len(records))], search.warnings()

    def _read_index(self, response: Response, address: str) -> SiteIndex:
        value = decode_index(response, address)
        job = self._index.job
        return read_index(value, self._places, job.check if job is not None else lambda: None)

    def _places_of(self, record: Record) -> list[str]:
        index = self._index.value
        other = index.elsewhere.get(record.id) if index is not None else None
        return [record.location, other] if other else [record.location]

    def _body(self, record: Record, call: Call) -> str:
        index = self._index.value
        if index is not None and record.id in index.bodies:
            return str(index.bodies[record.id])
        first: SiteError | None = None
        for address in self._places_of(record):
            page = self._pages.body(address)
            try:
                self._pages.settle(page, call)
                self._prefer(record, address)
                return str(page.value)
            except SiteError as fault:
                first = first or fault
                if fault.kind != "gone":
                    raise
        raise first or SiteError(f"{record.location} was not read; try again")

    def _prefer(self, record: Record, address: str) -> None:
        """Ask first, from now on, where the body was found."""
        index = self._index.value
        if index is not None and index.elsewhere.get(record.id) == address != record.location:
            index.elsewhere[record.id], record.location = record.location, address

    def _current(self) -> Snapshot:
        index, sections = self._index.value, self._llms.value
        with self._lock:
            built = self._built
            if built is None or built[0] is not index or built[1] is not sections:
                snapshot = site_snapshot(index, sections or [], self._base, self._places.index)
                built = self._built = (index, sections, snapshot)
            return built[2]

    def _with_age(self, snapshot: Snapshot) -> Snapshot:
        """The same, shallowly, with a warning of how old the copy is."""
        age = _age_words(self._pages.age(self._index))
        sentence = f"{self._index.fault or self._index.address}; this is its copy of {age} ago"
        with self._lock:
            if self._aged is None or self._aged[:2] != (snapshot, sentence):
                if self._aged is None or str(self._index.fault) not in self._aged[1]:
                    self._log(sentence)
                aged = Snapshot()
                for name in Snapshot.__slots__:
                    setattr(aged, name, getattr(snapshot, name))
                problem = Problem("", 0, 0, "source", sentence)
                aged.missing = [problem, *snapshot.missing]
                aged.problems = [problem, *snapshot.problems]
                self._aged = (snapshot, sentence, aged)
            return self._aged[2]


def _ascii_origin(place: Address) -> str:
    """The origin as requests have it; only a host beyond ASCII needs more than its text."""
    if place.host.isascii():
        return place.origin
    return _encoded(str(place)).origin


def _age_words(seconds: float) -> str:
    """`40 s`, `3 min`: coarse, so that the warning does not change with every call."""
    if seconds < 90:
        return f"{max(10, int(seconds) // 10 * 10)} s"
    return f"{int(seconds) // 60} min"


def hits(folded: str, needles: Sequence[str]) -> tuple[bool, ...]:
    """Which of the needles a folded text holds."""
    return tuple(needle in folded for needle in needles)


def own_folded(index: SiteIndex, record_id: str) -> str | None:
    """The folded body that the index holds itself, kept as long as the index."""
    folded = index.folded.get(record_id)
    if folded is None and record_id in index.bodies:
        folded = index.folded[record_id] = fold_text(index.bodies[record_id])
    return folded


def body_warnings(faults: Sequence[str]) -> list[str]:
    """The first few bodies that could not be read, and how many more there are."""
    told = [f"{fault}; its body was not searched" for fault in faults[:MISSING_SHOWN]]
    more = len(faults) - len(told)
    if more:
        bodies = "body" if more == 1 else "bodies"
        told.append(f"and {more:,} more {bodies} could not be read")
    return told


class _SiteSearch:
    """One search of bodies: what is still to be asked for, what is under way, what was found."""

    def __init__(self, pages: Pages, times: SiteTimes, needles: Sequence[str], call: Call) -> None:
        import collections

        self._pages, self._times, self._needles, self._call = pages, times, needles, call
        self.hits: dict[int, tuple[bool, ...]] = {}
        self._faults: list[str] = []
        self._waiting: Any = collections.deque()
        self._active: dict[int, tuple[Job, Page, list[str]]] = {}
        self._unread = self._total = self._done = 0
        self._told = 0.0

    def ask(self, nth: int, addresses: list[str]) -> None:
        """Take a copy that is there, or put the body on the list of those to be asked for."""
        page = self._pages.body(addresses[0])
        if self._pages.is_fresh(page):
            self.hits[nth] = hits(self._pages.fold(page), self._needles)
        else:
            self._waiting.append((nth, page, addresses[1:]))

    def run(self) -> None:
        """Read what is on the list, until it is done, cancelled, or out of time."""
        self._total = len(self._waiting)
        deadline = self._times.now() + self._times.search
        try:
            while self._waiting or self._active:
                self._call.check()
                if self._times.now() >= deadline:
                    self._unread = len(self._waiting) + len(self._active)
                    break
                self._fill()
                self._collect()
        finally:
            for job, _, _ in self._active.values():
                self._pages.release(job)

    def warnings(self) -> list[str]:
        """What the answer has to say about bodies that were not searched."""
        told = body_warnings(self._faults)
        if self._unread:
            were = "body was" if self._unread == 1 else "bodies were"
            told.insert(
                0,
                f"the search ended after {self._times.search:g}s; {self._unread:,} {were} not "
                "read: narrow it with project, type, status or tag",
            )
        return told

    def _fill(self) -> None:
        pages = self._pages
        while self._waiting and len(self._active) < BODY_READERS:
            with pages.condition:
                nth, page, others = self._waiting[0]
                if page.job is None and pages.reading >= BODY_READERS:
                    return
                self._waiting.popleft()
                job = pages.hold(page, counted=True)
                if job is not None:
                    self._active[nth] = (job, page, others)
            if job is None:
                self._settle(nth, page, others)

    def _collect(self) -> None:
        """Take what has ended; wait a moment if nothing has."""
        pages = self._pages
        with pages.condition:
            ended = [nth for nth, (job, _, _) in self._active.items() if pages.has_ended(job)]
            if not ended and (self._active or self._waiting):
                pages.condition.wait(POLL_SECONDS)
        for nth in ended:
            job, page, others = self._active.pop(nth)
            pages.release(job)
            self._settle(nth, page, others)

    def _settle(self, nth: int, page: Page, others: list[str]) -> None:
        try:
            self._pages.outcome(page)
            self.hits[nth] = hits(self._pages.fold(page), self._needles)
        except SiteError as fault:
            if fault.kind == "gone" and others:
                self._waiting.appendleft((nth, self._pages.body(others[0]), others[1:]))
                return
            self._faults.append(str(fault))
        self._done += 1
        now = self._times.now()
        if now - self._told >= 0.1 or self._done == self._total:
            self._told = now
            self._call.progress(
                self._done, self._total, f"{self._done:,} of {self._total:,} bodies read"
            )


class FileCopy:
    """A file as it was read, and the signature by which it is known (SPEC 5, *Live*)."""

    __slots__ = ("folded", "hot", "mark", "signature", "value")

    def __init__(self, status: os.stat_result, value: Any, mark: int) -> None:
        self.signature = _signature(status)
        # An edit within one tick of the file system's clock leaves no trace: read it again.
        self.hot = max(status.st_mtime_ns, status.st_ctime_ns) > time.time_ns() - HOT_NANOSECONDS
        self.value, self.mark = value, mark
        self.folded: str | None = None


def _signature(status: os.stat_result) -> tuple[int, int, int, int]:
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino


class DistSource:
    """The same files as a published site, read from a built folder on every call (SPEC 6)."""

    is_site = True

    def __init__(self, folder: str, log: Callable[[str], None]) -> None:
        import threading

        folder = os.path.abspath(os.path.expanduser(folder))
        name = "decisions.json"
        if folder.lower().endswith(".json") and not os.path.isdir(folder):
            folder, name = os.path.split(folder)
        self._folder, self._name, self._log = folder, name, log
        self._places = FolderPlaces(os.path.join(folder, name), folder)
        self._lock = threading.Lock()
        self._copies: dict[str, FileCopy] = {}
        self._built: tuple[object, object, Snapshot] | None = None

    def start(self) -> None:
        """Nothing: the folder is read by the call that needs it."""

    def snapshot(self, call: Call) -> Snapshot:
        """The records that the folder's index lists now. Raises `SiteError`, `Cancelled`."""
        index = self._index(call)
        try:
            sections = self._copy("llms.txt", _llms_of_file).value
        except SiteError:
            sections = None
        built = self._built
        if built is None or built[0] is not index or built[1] is not sections:
            where = self._places.index
            snapshot = site_snapshot(index, sections or [], "http://localhost", where)
            built = self._built = (index, sections, snapshot)
        return built[2]

    def read_body(self, record: Record, call: Call) -> str:
        """The Markdown of one record. Raises `SiteError`, `Cancelled`."""
        index = self._index(call)
        if record.id in index.bodies:
            return str(index.bodies[record.id])
        return str(self._body(index, record).value)

    def search_bodies(
        self, records: Sequence[Record], needles: Sequence[str], call: Call
    ) -> tuple[list[tuple[bool, ...]], list[str]]:
        """For each record, which of the folded `needles` its folded body holds; and warnings."""
        index = self._index(call)
        found: list[tuple[bool, ...]] = []
        faults: list[str] = []
        for nth, record in enumerate(records, 1):
            call.check()
            if not nth % 500:
                message = f"{nth:,} of {len(records):,} bodies read"
                call.progress(nth, len(records), message)
            try:
                found.append(hits(self._folded(index, record), needles))
            except SiteError as fault:
                faults.append(str(fault))
                found.append((False,) * len(needles))
        return found, body_warnings(faults)

    def _index(self, call: Call) -> SiteIndex:
        while not self._lock.acquire(timeout=POLL_SECONDS):
            call.check()
        try:
            copy = self._copy(self._name, lambda text: self._index_of_file(text, call))
        finally:
            self._lock.release()
        index: SiteIndex = copy.value
        return index

    def _index_of_file(self, text: str, call: Call) -> SiteIndex:
        try:
            value = parse_json_text(text)
        except (ValueError, RecursionError) as fault:
            reason = str(fault) if isinstance(fault, ValueError) else "it is nested too deeply"
            raise SiteError(
                f"{self._places.index} is not JSON ({shown(reason)}): is this the folder of a "
                "built site?",
                "unusable",
            ) from fault
        return read_index(value, self._places, call.check)

    def _body(self, index: SiteIndex, record: Record) -> FileCopy:
        try:
            return self._copy(record.location, without_front_matter)
        except SiteError as fault:
            other = index.elsewhere.get(record.id)
            if other is None or fault.kind != "gone":
                raise
            return self._copy(other, without_front_matter)

    def _folded(self, index: SiteIndex, record: Record) -> str:
        own = own_folded(index, record.id)
        if own is not None:
            return own
        copy = self._body(index, record)
        if copy.folded is None:
            copy.folded = fold_text(copy.value)
        return copy.folded

    def _copy(self, name: str, read: Callable[[str], object]) -> FileCopy:
        """A file of the folder, read again where it may have changed. Raises `SiteError`."""
        path = self._inside(name)
        try:
            status = os.stat(path)
            copy = self._copies.get(name)
            if copy is not None and not copy.hot and copy.signature == _signature(status):
                return copy
            data = _file_bytes(path, status)
        except OSError as fault:
            reason = fault.strerror or type(fault).__name__
            kind = "gone" if isinstance(fault, (FileNotFoundError, NotADirectoryError)) else "down"
            raise SiteError(f"{shown(path)} cannot be read ({reason})", kind) from fault
        mark = hash(data)
        if copy is None or copy.value is None or copy.mark != mark:
            try:
                text = data.decode("utf-8-sig")
            except UnicodeDecodeError as fault:
                sentence = f"{shown(path)} is not UTF-8 (byte {fault.start + 1})"
                raise SiteError(sentence, "unusable") from fault
            fresh = FileCopy(status, read(text), mark)
        else:
            fresh = FileCopy(status, copy.value, mark)
            fresh.folded = copy.folded
        self._copies[name] = fresh
        return fresh

    def _inside(self, name: str) -> str:
        """The real path of a file below the folder. Raises `SiteError` where it leads out."""
        root = os.path.realpath(self._folder)
        path = os.path.realpath(os.path.join(root, name))
        try:
            inside = os.path.commonpath([root, path]) == root
        except ValueError:  # another drive
            inside = False
        if not inside or (os.name == "nt" and ":" in name):
            raise SiteError(f"{shown(name)} leads out of {shown(self._folder)}", "unusable")
        return path


def _llms_of_file(text: str) -> list[Section]:
    return parse_llms(text)


def _file_bytes(path: str, status: os.stat_result) -> bytes:
    import stat

    if not stat.S_ISREG(status.st_mode):  # a pipe would never end
        raise OSError(0, "it is no file")
    if status.st_size > MAX_BODY_BYTES:
        raise _too_large(shown(path))
    with open(path, "rb") as file:
        return file.read(MAX_BODY_BYTES + 1)
