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
    from subprocess import Popen
    from threading import Event
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

GIT_SECONDS = 120  # one fetch of a repository, all its git commands together
GIT_RETRY_SECONDS = 60  # a repository that could not be had is tried again no sooner
GIT_LEFTOVER_SECONDS = 3600  # what a killed fetch left is older than any fetch can be
GIT_TRANSPORTS = ("https", "http", "ssh", "git", "file")  # none of them runs a command given
MAX_GIT_OUTPUT = 4 * 1024 * 1024  # names of refs and folders, for hints

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


# ── 6b Other repositories ─────────────────────────────────────────────────────────────────────
#
# The system's git fetches a repository in a thread of its own into the user's cache folder:
#
#   repositories/<name>-<hash>/2/records/…          what stands below `path`
#                             /2/stamp.json         where it came from, its commit, the time
#                             /partial-<random>/…   a fetch under way, or what is left of one
#
# A finished fetch becomes readable by one rename, to the number after those there were when it
# began. Nothing can be renamed over a filled folder, so of two servers that fetch at once the
# first wins and the other uses its folder. The greatest number is the one served: a refresh is
# seen whole or not at all, and the one before it stays for readers that are still within it.

_SCHEME = re.compile(r"([A-Za-z0-9+.-]{1,30})://")
_HELPER = re.compile(r"([A-Za-z0-9+.-]{1,30})::")  # `ext::sh -c …` runs a command
_DASHED_HOST = re.compile(r"(?:[a-z]{1,9}://)?(?:[^/@]*@)?-")  # ssh would take it for an option
_SLASHED_LOGIN = re.compile(r"[a-z]{1,9}://[^/@]*:(?![0-9]*/)[^/@]*/[^@]*@")
_REF_SYNTAX = re.compile(r"[ :^~?*\[\\]|\.\.|@\{|^[+/]|/$|//")  # what no branch or tag may hold
_HEX = re.compile(r"[0-9a-fA-F]{4,64}", re.ASCII)


def check_repository(url: str, ref: str | None, path: str | None) -> str | None:
    """What forbids to fetch such a `repo` entry, in one sentence, or `None`.

    Refused are options of git in disguise, transports that run commands, and paths that lead
    out of the checkout.
    """
    for key, value in (("repo", url), ("ref", ref), ("path", path)):
        problem = _check_text(key, value)
        if problem:
            return problem
    return _check_address(url) or _check_ref(ref) or _check_path(path)


def _check_text(key: str, value: str | None) -> str | None:
    if value is None:
        return None
    if not value.strip():
        return f"{key} is empty; write a value or leave it out"
    named = f"{key} {quoted(without_secrets(value))}"
    if value.startswith("-"):
        return f"{named} begins with `-`, which git takes for an option; write another value"
    if any(ord(letter) < 32 or ord(letter) == 127 for letter in value):
        return f"{named} holds a control character; take it out"
    return None


def _check_address(url: str) -> str | None:
    if _SLASHED_LOGIN.match(url):
        return "repo has a `/` within its user or password; write it as %2F"
    named = f"repo {quoted(without_secrets(url))}"
    kinds = ", ".join(GIT_TRANSPORTS)
    found = _HELPER.match(url) or _SCHEME.match(url)
    if found and (found[0].endswith("::") or found[1] not in GIT_TRANSPORTS):
        return f"{named} uses the transport {found[1]}; write {kinds} or a local path"
    if _DASHED_HOST.match(url):
        return f"{named} has a host that begins with `-`; check the address"
    return None


def _check_ref(ref: str | None) -> str | None:
    if ref is not None and _REF_SYNTAX.search(ref):
        return f"ref {quoted(ref)} is no name of a branch, tag or commit; write one of these"
    return None


def _check_path(path: str | None) -> str | None:
    if path is None:
        return None
    parts = path.split("/")
    if "\\" in path:
        return f"path {quoted(path)} holds a backslash; write `/` between folders"
    if path.startswith("/") or ".." in parts or ":" in parts[0]:
        return f"path {quoted(path)} leads out of the repository; write it from the top folder"
    if any(part.lower().rstrip(". ") == ".git" for part in parts):
        return f"path {quoted(path)} leads into .git; name a folder of records"
    return None


_USER_PART = re.compile(r"(ssh)?://([^\s/'\"]*)@")
_LOGIN = re.compile(r"(?<![^\s'\"])([^\s/:@'\"]+):[^\s/@'\"]+@")  # user:password@host:path
_WORD = re.compile(r"[^\s'\"]+")
_SECRET_WORD = re.compile(
    r"(authorization: *(?:basic |bearer )?|(?:token|password|secret|key)=)[^\s&'\"]+", re.I
)


def without_secrets(text: str, secrets: Sequence[str] = ()) -> str:
    """`text` without the user names, passwords, queries and tokens of addresses, and `secrets`."""
    for secret in secrets:
        text = text.replace(secret, "***")
    text = _USER_PART.sub(_kept_user, text)
    text = _LOGIN.sub(r"\1@", text)
    text = _WORD.sub(_without_query, text)
    return _SECRET_WORD.sub(r"\1***", text)


def _without_query(found: re.Match[str]) -> str:
    start, mark, rest = found[0].partition("://")
    return start + mark + re.split(r"[?#]", rest, maxsplit=1)[0]


def _kept_user(found: re.Match[str]) -> str:
    """The user of an ssh address is needed to make sense of it; elsewhere it may be a token."""
    user = found[2].split(":")[0] + "@" if found[1] else ""
    return f"{found[1] or ''}://{user}"


def cache_folder(environ: Mapping[str, str]) -> str:
    """The folder for what can be fetched again, by the habit of the platform (SPEC 5)."""
    place = environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(place):  # the XDG specification wants a relative one ignored
        home = environ.get("USERPROFILE" if os.name == "nt" else "HOME") or os.path.expanduser("~")
        if os.name == "nt":
            place = environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
        elif sys.platform == "darwin":
            place = os.path.join(home, "Library", "Caches")
        else:
            place = os.path.join(home, ".cache")
    return os.path.join(place, "inkan-mcp")


class Wanted:
    """What is to be fetched: `url` as git gets it, `ref`, `path`, and the `name` people read."""

    __slots__ = ("name", "path", "ref", "secrets", "url")

    def __init__(self, url: str, ref: str | None, path: str | None, base: str) -> None:
        problem = check_repository(url, ref, path)
        if problem:
            raise SourceError(problem)
        self.url = git_address(url, base)
        self.ref = ref
        self.path = "/".join(part for part in (path or "").split("/") if part not in ("", "."))
        self.name = shown(f"{without_secrets(url)}@{ref or 'HEAD'}")
        self.secrets = _secrets_of(url)

    @property
    def folder_name(self) -> str:
        """A folder name that people recognise and that no other source shares."""
        import hashlib
        import json

        url = _USER_PART.sub(_kept_user, self.url)  # a new password is not another repository
        key = json.dumps([url, self.ref, self.path]).encode()
        last = re.split(r"[/:\\]", url.rstrip("/\\"))[-1]
        readable = re.sub(r"[^A-Za-z0-9_-]+", "-", last.split(".git")[0]).strip("-")[:40]
        return f"{readable or 'repository'}-{hashlib.sha256(key).hexdigest()[:20]}"


def git_address(url: str, base: str) -> str:
    """The address as git understands it from any folder: local paths are made absolute."""
    if url.startswith("file:") and not url.startswith("file://"):
        url = url[len("file:") :]
    elif _transport_of(url):
        return url
    return os.path.abspath(os.path.join(base, os.path.expanduser(url)))


def _transport_of(url: str) -> str:
    """`https`, `ssh` for `user@host:path` too, and `""` for a local path; git's own rule."""
    found = _SCHEME.match(url)
    if found:
        return found[1]
    if os.name == "nt" and url[1:2] == ":":
        return ""
    return "ssh" if ":" in url.split("/", 1)[0] else ""


def _secrets_of(url: str) -> list[str]:
    """Those parts of an address that may be a password or token, also as git decodes them."""
    scheme, _, rest = url.partition("://")
    login, _, _ = rest.rpartition("@")
    if not login:
        return []
    from urllib.parse import unquote

    user, _, password = login.partition(":")
    parts = {password, unquote(password)}
    if scheme != "ssh":
        parts |= {login, user, unquote(user)}
    return sorted((part for part in parts if len(part) > 3), key=len, reverse=True)


# Variables of git that say how to reach a server; all others belong to another repository or
# would write traces into the output.
_GIT_KEPT = (
    "GIT_SSL_", "GIT_PROXY_", "GIT_HTTP_", "GIT_CURL_", "GIT_CONFIG_", "GIT_SSH", "GIT_EXEC_PATH",
)  # fmt: skip
_GIT_SET = {
    "GCM_INTERACTIVE": "never",
    "GIT_ADVICE": "0",
    "GIT_ALLOW_PROTOCOL": ":".join(GIT_TRANSPORTS),
    "GIT_ASKPASS": "",  # set and empty: git then asks no other program either
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_DEFAULT_HASH": "sha1",
    "GIT_LFS_SKIP_SMUDGE": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",  # its messages are compared
    "SSH_ASKPASS_REQUIRE": "never",
}

# The repository's own settings go before the user's, whose proxies and credential helpers hold.
_GIT_CONFIG = """
[core]
\thooksPath = {nowhere}
\tattributesFile = {nowhere}
\taskPass =
\tfsmonitor = false
\tautocrlf = false
\tlongpaths = true
\tsparseCheckout = {sparse}
\tsparseCheckoutCone = false
[protocol]
\tversion = 2
[protocol "ext"]
\tallow = never
[submodule]
\trecurse = false
[fetch]
\trecurseSubmodules = false
[transfer]
\tbundleURI = false
[gc]
\tauto = 0
[maintenance]
\tauto = false
[remote "inkan"]
\turl = "{url}"
"""
_NO_FILTERS = "* -filter -text -ident -working-tree-encoding\n"  # files as they were committed


def find_git(environ: Mapping[str, str]) -> str | None:
    """The path of git, never one in the current folder, which Windows would prefer."""
    program = "git.exe" if os.name == "nt" else "git"
    for folder in environ.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.join(folder, program)
        if os.path.isabs(path) and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


class GitFault(Exception):  # noqa: N818 - named for what it is, like the other kinds
    """A git command failed; `text` is what it wrote to its standard error."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text

    def tells(self, phrases: Sequence[str]) -> bool:
        """Whether git wrote one of the phrases."""
        return any(phrase in self.text for phrase in phrases)


class Git:
    """Runs the git commands of one fetch in `folder`, under one time limit; `stop` ends them."""

    __slots__ = ("_deadline", "_lock", "_process", "_program", "environ", "folder", "stopped")

    def __init__(self, program: str, environ: Mapping[str, str], folder: str) -> None:
        import threading

        self.folder = folder
        self.environ = {
            name: value
            for name, value in environ.items()
            if not name.startswith("GIT_") or name.startswith(_GIT_KEPT)
        }
        self.environ.pop("GIT_CONFIG_PARAMETERS", None)
        self.environ.update(_GIT_SET, GIT_CEILING_DIRECTORIES=folder)
        self.stopped = False
        self._program = program
        self._deadline = time.monotonic() + GIT_SECONDS
        self._lock = threading.Lock()
        self._process: Popen[bytes] | None = None

    def run(self, *arguments: str) -> str:
        """What the command wrote to its standard output. Raises `GitFault` or `SourceError`."""
        # Files, not pipes: a background ssh that keeps a pipe open would hold up its reader.
        out, err = os.path.join(self.folder, "stdout"), os.path.join(self.folder, "stderr")
        with open(out, "wb") as stdout, open(err, "wb") as stderr:
            process = self._begin(arguments, stdout.fileno(), stderr.fileno())
            code = self._wait(process)
        if self.stopped:
            raise GitFault("it was stopped")
        if code != 0:
            raise GitFault(_last_lines(err) or f"git {arguments[0]} ended with {code}")
        with open(out, "rb") as written:
            return written.read(MAX_GIT_OUTPUT).decode("utf-8", "replace")

    def _begin(self, arguments: Sequence[str], stdout: int, stderr: int) -> Popen[bytes]:
        import subprocess

        flags = 0
        if os.name == "nt":
            flags = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
            flags |= getattr(subprocess, "CREATE_NO_WINDOW", 0)
        with self._lock:
            if self.stopped:
                raise GitFault("it was stopped")
            try:
                self._process = subprocess.Popen(  # noqa: S603 - every argument was checked
                    [self._program, *arguments],
                    stdin=subprocess.DEVNULL,  # or it would eat messages of the protocol
                    stdout=stdout,
                    stderr=stderr,
                    cwd=self.folder,
                    env=self.environ,
                    creationflags=flags,
                    start_new_session=os.name != "nt",  # no terminal to ask on, and one group
                )
            except OSError as fault:
                raise GitFault(f"{self._program} cannot be run ({fault.strerror})") from fault
            return self._process

    def _wait(self, process: Popen[bytes]) -> int:
        import contextlib
        import subprocess

        try:
            return process.wait(max(0.0, self._deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            self._kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(5)  # longer only if it hangs in the kernel
        raise GitFault(_TOO_SLOW.format(GIT_SECONDS))

    def stop(self) -> None:
        """End the running command with all its children; later ones are not begun."""
        with self._lock:
            self.stopped = True
        self._kill()

    def _kill(self) -> None:
        process = self._process
        if process is None or process.poll() is not None:
            return
        try:
            if sys.platform == "win32":
                _kill_tree(process.pid)
            else:
                import signal

                os.killpg(process.pid, signal.SIGKILL)
        except OSError:
            process.kill()


def _kill_tree(pid: int) -> None:
    import subprocess

    taskkill = os.path.join(os.environ.get("SYSTEMROOT", r"C:\Windows"), "System32", "taskkill.exe")
    quiet = subprocess.DEVNULL
    subprocess.run(  # noqa: S603 - nothing in it comes from outside
        [taskkill, "/T", "/F", "/PID", str(pid)],
        check=False, stdin=quiet, stdout=quiet, stderr=quiet,
    )  # fmt: skip


def _last_lines(path: str) -> str:
    with open(path, "rb") as written:
        size = written.seek(0, os.SEEK_END)
        written.seek(max(0, size - 16_384))
        text = written.read().decode("utf-8", "replace")
    return text if size <= 16_384 else text.partition("\n")[2]


# Each is tried when a server does not go along with the one before.
_NARROWINGS = (("--depth=1", "--filter=blob:none"), ("--depth=1",), ())
_TOO_NARROW = ("filter", "promisor", "shallow", "depth", "not our ref")
_NO_SUCH_REF = ("find remote ref", "not our ref", "unadvertised object", "no such remote ref")
_TOO_SLOW = "it took longer than {} s"


def fetch_tree(
    git: Git, wanted: Wanted, narrowings: Sequence[tuple[str, ...]] = _NARROWINGS
) -> str:
    """Fetch `wanted` into the folder `tree` below `git.folder`; its commit.

    Raises `GitFault` with git's words, `SourceError` where the ref or path does not exist.
    """
    try:
        return _fetch_narrowed(git, wanted, narrowings[0])
    except GitFault as fault:
        if fault.tells(["mismatched algorithms"]) and git.environ["GIT_DEFAULT_HASH"] == "sha1":
            git.environ["GIT_DEFAULT_HASH"] = "sha256"
        elif len(narrowings) > 1 and fault.tells(_TOO_NARROW):
            narrowings = narrowings[1:]
        else:
            raise
    return fetch_tree(git, wanted, narrowings)


def _fetch_narrowed(git: Git, wanted: Wanted, narrowing: tuple[str, ...]) -> str:
    remove_folder(os.path.join(git.folder, "tree"))
    git.run("init", "--quiet", "--template=", "tree")
    _configure(os.path.join(git.folder, "tree", ".git"), wanted)
    _quiet_ssh(git, wanted.url)
    commit = _fetch_ref(git, wanted, narrowing)
    _check_folder(git, wanted, commit)
    git.run("-C", "tree", "read-tree", "-m", "-u", commit)
    return commit


def _configure(git_dir: str, wanted: Wanted) -> None:
    url = wanted.url.replace("\\", "\\\\").replace('"', '\\"')
    text = _GIT_CONFIG.format(
        nowhere=os.devnull, url=url, sparse="true" if wanted.path else "false"
    )
    os.makedirs(os.path.join(git_dir, "info"), exist_ok=True)
    pattern = re.sub(r"([*?\[\]\\])", r"\\\1", wanted.path)
    for name, added in (
        ("config", text),
        (os.path.join("info", "attributes"), _NO_FILTERS),
        (os.path.join("info", "sparse-checkout"), f"/{pattern}/\n"),
    ):
        with open(os.path.join(git_dir, name), "a", encoding="utf-8", newline="\n") as file:
            file.write(added)


def _quiet_ssh(git: Git, url: str) -> None:
    """Have ssh fail where it would ask, with the command that the user chose for it."""
    if _transport_of(url) != "ssh" or "GIT_SSH" in git.environ:
        return
    command = git.environ.get("GIT_SSH_COMMAND", "")
    if not command:
        try:
            command = git.run("-C", "tree", "config", "--get", "core.sshCommand").strip()
        except GitFault:
            command = "ssh"
    option = " -batch" if "plink" in command.lower() else " -oBatchMode=yes"
    if not command.endswith(option):
        git.environ["GIT_SSH_COMMAND"] = command + option


def _fetch_ref(git: Git, wanted: Wanted, narrowing: tuple[str, ...]) -> str:
    """The commit that `ref` names: a branch, else a tag, else a commit in full or abbreviated."""
    fetch = ("-C", "tree", "fetch", "--quiet", "--no-tags", "--no-recurse-submodules")
    for name in _ref_names(wanted.ref):
        if _runs(git, *fetch, *narrowing, "inkan", name):
            return _commit(git, "FETCH_HEAD")
    if wanted.ref and _HEX.fullmatch(wanted.ref):
        # A server gives out only what it knows by name; the rest is found in the whole history.
        filters = [option for option in narrowing if option.startswith("--filter")]
        whole = ("+refs/heads/*:refs/inkan/heads/*", "+refs/tags/*:refs/inkan/tags/*")
        git.run(*fetch, *filters, "inkan", *whole)
        try:
            return _commit(git, wanted.ref)
        except GitFault:
            pass  # told below, with the names that there are
    raise SourceError(_ref_missing(git, wanted))


def _runs(git: Git, *fetch: str) -> bool:
    """Fetch one ref; whether the repository has it."""
    try:
        git.run(*fetch)
    except GitFault as fault:
        if fault.tells(_NO_SUCH_REF):
            return False
        raise
    return True


def _commit(git: Git, name: str) -> str:
    return git.run("-C", "tree", "rev-parse", "--verify", "--quiet", name + "^{commit}").strip()


def _ref_names(ref: str | None) -> list[str]:
    if ref is None or ref == "HEAD" or ref.startswith("refs/"):
        return [ref or "HEAD"]
    if len(ref) in (40, 64) and _HEX.fullmatch(ref):
        return [ref.lower()]
    return [f"refs/heads/{ref}", f"refs/tags/{ref}"]


def _ref_missing(git: Git, wanted: Wanted) -> str:
    try:
        listed = git.run("-C", "tree", "ls-remote", "--heads", "--tags", "--refs", "inkan")
    except GitFault:
        listed = ""
    names = [line.split("/", 2)[-1] for line in listed.split("\n")[:2000] if "\trefs/" in line]
    if not names:
        return f"{wanted.name} cannot be fetched: the repository has no branch yet; commit to it"
    if wanted.ref is None:
        return f"{wanted.name} cannot be fetched: the repository has no default branch; write a ref"
    near = near_misses(wanted.ref, names) or names[:3]
    return (
        f"{wanted.name} cannot be fetched: the repository has no branch, tag or commit "
        f"{quoted(wanted.ref)}; write another ref, such as {', '.join(map(shown, near))}"
    )


def _check_folder(git: Git, wanted: Wanted, commit: str) -> None:
    """Raise `SourceError` where the commit has no folder `path`, with the folder it may mean."""
    if not wanted.path:
        return
    listed = git.run("-C", "tree", "ls-tree", "-z", commit, "--", wanted.path)
    kind = listed.split(" ")[1:2]
    if kind == ["tree"]:
        return
    fault = "is no folder of" if kind else "does not exist in"
    folders = git.run("-C", "tree", "ls-tree", "-r", "-d", "-z", "--name-only", commit)
    near = near_misses(wanted.path, folders.split("\0")[:2000], most=1)
    hint = f"did you mean {quoted(near[0])}?" if near else "check the path"
    raise SourceError(
        f"{wanted.name} cannot be used: {quoted(wanted.path)} {fault} the repository; {hint}"
    )


_ADVICE = (
    (("could not read Username", "could not read Password", "terminal prompts disabled",
      "Authentication failed", "Permission denied", "returned error: 403"),
     "sign in once with `git ls-remote` in a terminal, and have git keep the credentials"),
    (("Host key verification failed",), "connect once with ssh in a terminal"),
    (("dubious ownership",), "add the folder to safe.directory in the git configuration"),
    (("resolve host", "Failed to connect", "Couldn't connect", "unable to connect", "timed out",
      "Connection refused", "unable to look up"), "check the network, its proxy and the address"),
    (("not found", "does not exist", "does not appear to be a git repository"),
     "check the address in `repo`, and whether you may read it"),
    (("longer than",), "check the network, or name a smaller part of the repository in `path`"),
    (("No space left",), "make room on the disk"),
)  # fmt: skip


def git_reason(text: str, wanted: Wanted) -> str:
    """Git's words about a failure as one sentence without secrets, and what to try."""
    scrubbed = without_secrets(text, wanted.secrets)
    lines = [shown(line.strip()) for line in re.split(r"[\r\n]+", scrubbed)]
    noise = ("warning:", "hint:", "From ", "Please make sure", "and the repository exists")
    told = [line for line in lines if line and not line.startswith(noise)]
    reason = "; ".join(told[:3]).rstrip(".")
    if len(reason) > 400:
        reason = reason[:399] + "…"
    advice = "try `git ls-remote` with the same address in a terminal"
    for phrases, better in _ADVICE:
        if any(phrase in text for phrase in phrases):
            advice = better
            break
    return f"{wanted.name} cannot be fetched: {reason or 'git gave no reason'}; {advice}"


def remove_folder(path: str) -> None:
    """Remove a folder as far as that is possible; the rest is removed some later time."""
    import contextlib
    import shutil

    shutil.rmtree(path, ignore_errors=True)
    if os.name == "nt" and os.path.isdir(path):  # git's objects are read-only there
        for folder, _, names in os.walk(path):
            for name in names:
                with contextlib.suppress(OSError):
                    os.chmod(os.path.join(folder, name), 0o600)
        shutil.rmtree(path, ignore_errors=True)


class RepositoryCache:
    """The folder of the cache that belongs to one wanted repository (see the head of 6b)."""

    __slots__ = ("place",)

    def __init__(self, wanted: Wanted, environ: Mapping[str, str]) -> None:
        self.place = os.path.join(cache_folder(environ), "repositories", wanted.folder_name)

    def numbers(self) -> list[int]:
        """The numbers of all finished fetches, the oldest first."""
        if not os.path.isabs(self.place):  # no home folder is known
            return []
        try:
            names = os.listdir(self.place)
        except OSError:
            return []
        return sorted(int(name) for name in names if name.isascii() and name.isdecimal())

    def find_newest(self) -> str | None:
        """The folder of the newest complete fetch, which holds `records` and `stamp.json`."""
        for number in reversed(self.numbers()):
            folder = os.path.join(self.place, str(number))
            if os.path.isdir(os.path.join(folder, "records")) and read_stamp(folder):
                return folder
        return None

    def make_partial(self) -> str:
        """A new folder for a fetch; what killed fetches left is removed. Raises `OSError`."""
        if not os.path.isabs(self.place):
            raise OSError(2, "no home folder is known")
        os.makedirs(self.place, mode=0o700, exist_ok=True)
        self._remove_leftovers()
        partial = os.path.join(self.place, f"partial-{os.getpid()}-{os.urandom(6).hex()}")
        os.mkdir(partial, 0o700)
        return partial

    def publish(self, folder: str, number: int) -> None:
        """Give a finished fetch its number, unless another process was first with that number."""
        try:
            os.rename(folder, os.path.join(self.place, str(number)))
        except OSError:
            if number not in self.numbers():
                raise
        for old in self.numbers()[:-2]:
            self._remove(str(old))

    def _remove(self, name: str) -> None:
        """Remove in two steps, so that what is half removed is never taken for whole."""
        aside = os.path.join(self.place, f"partial-old-{os.urandom(6).hex()}")
        try:
            os.rename(os.path.join(self.place, name), aside)
        except OSError:
            return
        remove_folder(aside)

    def _remove_leftovers(self) -> None:
        for name in os.listdir(self.place):
            path = os.path.join(self.place, name)
            try:
                old = time.time() - os.stat(path).st_mtime > GIT_LEFTOVER_SECONDS
            except OSError:
                continue
            if name.startswith("partial-") and old:
                remove_folder(path)


def read_stamp(folder: str) -> dict[str, Any] | None:
    """What was noted when `folder` was fetched; `None` where it cannot be read."""
    import json

    try:
        with open(os.path.join(folder, "stamp.json"), encoding="utf-8") as file:
            stamp = json.load(file)
    except (OSError, ValueError):
        return None
    return stamp if isinstance(stamp, dict) else None


class Repository:
    """One `repo` entry of `sources`: a folder of another repository, fetched into the cache.

    `base` is the folder that a local path starts from. `name` is what people read, without
    credentials; `problem` the sentence about the last fetch if it failed, though an older copy
    may be served. Raises `SourceError` for what `check_repository` refuses.
    """

    def __init__(  # noqa: PLR0913 - an entry has three members, and all else comes from outside
        self,
        url: str,
        ref: str | None,
        path: str | None,
        base: str,
        *,
        environ: Mapping[str, str],
        log: Callable[[str], None],
        refresh: bool = False,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        import threading

        self._wanted = Wanted(url, ref, path, base)
        self.name = self._wanted.name
        self.problem: str | None = None
        self._cache = RepositoryCache(self._wanted, environ)
        self._environ, self._log, self._now = environ, log, now
        self._refresh = refresh  # until the first fetch has ended
        self._lock = threading.Lock()
        self._git: Git | None = None
        self._ended: Event | None = None  # of the running fetch, or of the last one
        self._failed_at: float | None = None
        self._stopped = False

    def start(self) -> None:
        """Begin to fetch what is not cached, or all where a refresh is wanted; returns at once."""
        if self._refresh or self._cache.find_newest() is None:
            self._begin()
        else:
            self._log(
                f"{self.name} is used as fetched on {self.fetched()}; "
                "--refresh-sources fetches it again"
            )

    def folder(self, call: Call) -> str:
        """The local folder that holds the records; waits for a running fetch.

        Raises `Cancelled`, or `SourceError` with git's reason. After a failure git is asked
        again a minute later at the earliest; until then the same sentence is the answer.
        """
        found = None if self._refresh else self._cache.find_newest()
        if found is None:
            self._begin()
            self._wait(call)
            found = self._cache.find_newest()
        elif self.problem:  # the refresh failed: once more, while the old copy is served
            self._begin()
        if found is None:
            raise SourceError(self.problem or f"{self.name} cannot be fetched: it was stopped")
        return os.path.join(found, "records")

    def fetched(self) -> str:
        """When the cached copy was fetched, in local time, and its commit; or `never`."""
        newest = self._cache.find_newest()
        stamp = read_stamp(newest) if newest else None
        if stamp is None:
            return "never"
        when, commit = stamp.get("time"), shown(str(stamp.get("commit")))[:12]
        try:
            day = time.strftime("%Y-%m-%d %H:%M", time.localtime(when))
        except (TypeError, ValueError, OverflowError, OSError):
            day = "an unknown day"
        return f"{day} (commit {commit})"

    def stop(self) -> None:
        """End a running git with all its children, for the end of the process."""
        with self._lock:
            self._stopped = True
            git = self._git
        if git is not None:
            git.stop()

    def _begin(self) -> None:
        """Fetch in a thread, unless that is under way or failed less than a minute ago."""
        import threading

        with self._lock:
            if self._stopped or (self._ended is not None and not self._ended.is_set()):
                return
            failed = self._failed_at
            if failed is not None and self._now() - failed < GIT_RETRY_SECONDS:
                return
            self._ended = threading.Event()
        self._log(f"fetching {self.name}")
        threading.Thread(target=self._work, args=(self._ended,), daemon=True).start()

    def _wait(self, call: Call) -> None:
        ended, began, told = self._ended, time.monotonic(), -1
        while ended is not None and not ended.wait(0.04):
            call.check()
            seconds = int(time.monotonic() - began)
            if seconds > told:
                told = seconds
                call.progress(seconds, GIT_SECONDS, f"fetching {self.name}")
        call.check()

    def _work(self, ended: Event) -> None:
        problem: str | None = f"{self.name} cannot be fetched: the fetch broke off; see the log"
        try:
            problem = self._fetch()
        finally:
            if problem and self._refresh and self._cache.find_newest():
                self._log(f"{problem}; the copy of {self.fetched()} is used")
            self.problem, self._refresh = problem, False
            self._failed_at = self._now() if problem else None
            ended.set()

    def _fetch(self) -> str | None:
        """Fetch once and store it; the sentence about what went wrong."""
        program = find_git(self._environ)
        if program is None:
            return f"{self.name} cannot be fetched: git was not found; install git or set PATH"
        number = ([0, *self._cache.numbers()])[-1] + 1
        try:
            partial = self._cache.make_partial()
        except OSError as fault:
            return self._cache_problem(fault)
        try:
            self._store(self._begin_git(program, partial), partial, number)
        except GitFault as fault:
            return git_reason(fault.text, self._wanted)
        except SourceError as fault:
            return str(fault)
        except OSError as fault:
            return self._cache_problem(fault)
        finally:
            self._git = None
            remove_folder(partial)
        return None

    def _begin_git(self, program: str, partial: str) -> Git:
        with self._lock:
            self._git = Git(program, self._environ, partial)
            self._git.stopped = self._stopped
            return self._git

    def _store(self, git: Git, partial: str, number: int) -> None:
        import json

        commit = fetch_tree(git, self._wanted)
        tree, done = os.path.join(partial, "tree"), os.path.join(partial, "done")
        remove_folder(os.path.join(tree, ".git"))
        os.mkdir(done, 0o700)
        os.rename(os.path.join(tree, *self._wanted.path.split("/")), os.path.join(done, "records"))
        stamp = {
            "url": without_secrets(self._wanted.url),
            "ref": self._wanted.ref,
            "path": self._wanted.path,
            "commit": commit,
            "time": int(time.time()),
        }
        with open(os.path.join(done, "stamp.json"), "w", encoding="utf-8") as file:
            json.dump(stamp, file)
        self._cache.publish(done, number)

    def _cache_problem(self, fault: OSError) -> str:
        variable = "LOCALAPPDATA" if os.name == "nt" else "XDG_CACHE_HOME"
        return (
            f"{self.name} cannot be stored in {shown(self._cache.place)} "
            f"({fault.strerror or fault}); make that folder writable or set {variable} to one "
            "that is"
        )
