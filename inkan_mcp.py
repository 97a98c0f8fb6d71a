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


class Reader(Protocol):
    """How the files of one folder become records: inkan's own form, or a foreign one.

    All answers but `parse` are made of names alone; `folder` and `relative` are `/`-separated
    paths below the folder that is read, `""` for itself.
    """

    def enters(self, name: str) -> bool:
        """Whether a sub-folder of that name may hold records."""

    def refuses(self, folder: str, name: str) -> str | None:
        """Why that file is no record; `None` where it may be one."""

    def sidecar(self, folder: str, name: str) -> str | None:
        """The name of the file beside it that holds its metadata; see `with_metadata`."""

    def origin(self, relative: str, location: str) -> Origin:
        """The id, project, type and number of the file at that path."""

    def parse(self, text: str, origin: Origin, rules: Rules) -> Record | None:
        """The record of one file; `None` for a draft or a template that was not filled in."""

    def settle(self, records: Sequence[Record]) -> None:
        """Decide what only all records together can; may be called again after any change."""


# ── 4c Records that are not inkan's ───────────────────────────────────────────────────────────
#
# Decision records as teams keep them: a Markdown, reStructuredText or AsciiDoc text whose
# facts stand in front matter, in a mail-like header, in labels between the title and the first
# section, or in sections of their own. Names tell which files are records. A text is read in
# three steps: `_read_head` and the `_read_…` functions gather what it states into `_Stated`;
# `_record_of` decides between the statements; `record_from_fields` checks them as it does for
# inkan's own records. Relations come from stated phrases; prose is never mined.

FOREIGN_ENDINGS = (".md", ".markdown", ".mdx", ".rst", ".adoc")
PREAMBLE_LINES = 90  # of labels below the title; real ones have fewer than 30
LABEL_CHARS = 2_000  # of one line that is searched; longer lines are inlined images
SECTION_LINES = 40  # of a section that holds one fact

_COMPILED: dict[str, re.Pattern[str]] = {}


def _re(pattern: str) -> re.Pattern[str]:
    """`pattern` without case and for ASCII, compiled at first use: start-up pays for none."""
    found = _COMPILED.get(pattern)
    if found is None:
        found = _COMPILED[pattern] = re.compile(pattern, re.ASCII | re.IGNORECASE)
    return found


# File names. The kinds of record that a letter prefix may name, as in `ADR-0001` or `pep-0008`.
_KINDS = r"(?:[a-z]dr|adrs?|dr|rfc|rfd|[a-z]?kep|pep|eip|nep|cep|tep|oep|bip|fip|hip|aip|cip|slep)"
_DATED_NAME = (
    r"(?:(?P<prefix>[a-z][a-z_-]*)[-_ ])?(?P<year>(?:19|20)[0-9]{2})"
    r"(?:(?P<m>[01][0-9])(?P<d>[0-3][0-9])|[-_](?P<month>[0-9]{2})(?:[-_](?P<day>[0-9]{2}))?)"
    r"(?=[-_. ]|$)(?:[-_. ](?P<number>[0-9]{3,5})(?=[-_. ]|$))?"
)
_NUMBERED_NAME = r"(?P<prefix>[a-z][a-z_-]*[-_ ]?)?(?P<number>[0-9]{1,5})(?=[-_. ]|$)"
_BARE_NUMBER = r"[0-9]{1,3}"  # `404.md` is a page, not a record
_TEMPLATE_NAME = (
    rf"_?(?:{_KINDS}[-. ]*)?(?:(?:[0-9]{{1,5}}|[0-9]{{4}}-?[0-9]{{2}}-?[0-9]{{2}})[-. ]*)?"
    r"(?:(?:m?adr|rfc|decision|(?:architecture-)?decision-record)-)?templates?"
    r"(?:-(?:short|long|minimal|bare|full))*"
)
_PLACEHOLDER_NUMBER = (
    rf"_?(?:{_KINDS}[-_. ]*)?"
    r"(?:n{3,5}|x{3,5}|y{4}-?mm-?dd|(?:19|20)?xx-xx-xx)(?![a-z0-9])"
)
_INDEX_STEMS = frozenset(("readme", "index", "_index", "proposal"))
SKIPPED_STEMS = frozenset((
    "readme", "index", "_index", "summary", "contributing", "code_of_conduct", "security",
    "changelog", "license", "glossary", "agents", "claude", "copilot", "gemini", "accepted-log",
    "decision-log", "adr-log", "toc",
))  # fmt: skip
_CLOSED_FOLDERS = frozenset((
    "node_modules", "vendor", "third_party", "dist", "build", "assets", "images", "attachments",
    "test", "tests", "testdata", "fixtures", "integration-tests", "templates", "versioned_docs",
    "__pycache__", "site-packages", "venv",
))  # fmt: skip
# Words of a path that do not tell one archive from another (SPEC 5).
_COMMON_PARTS = frozenset(("docs", "doc", "architecture", "archgate"))
_HOLDERS = frozenset((
    "src", "packages", "apps", "services", "libs", "modules", "components", "projects",
))  # fmt: skip
_FOLDER_NAME = (
    r"adrs?|adl|decisions?(?:-(?:records?|log))?|ddrs?|design-decisions?|(?:active-)?rfcs?|rfds?"
    r"|architectur(?:e|al)-decisions?(?:-(?:records?|log))?|records|keps"
)


class FileName:
    """What a file's stem says: its number, its date, the kind of record that its prefix names."""

    __slots__ = ("date", "dated", "kind", "number")

    def __init__(self, *, number: str | None, date: str | None, dated: bool, prefix: str) -> None:
        self.number, self.date, self.dated = number, date, dated
        self.kind: str | None = None
        for word in _re(r"[-_ ]+").split(prefix.lower()):
            if _re(r"[a-z]dr|rf[cd]").fullmatch(word):
                self.kind = "rfc" if word == "rfd" else word


def read_file_name(stem: str) -> FileName | None:
    """The number or date that begins a record's stem; `None` where it is not named like one."""
    found = _re(_DATED_NAME).match(stem)
    if found:
        month, day = found["m"] or found["month"], found["d"] or found["day"]
        text = "-".join(part for part in (found["year"], month, day) if part)
        prefix = found["prefix"] or ""
        return FileName(number=found["number"], date=parse_date(text), dated=True, prefix=prefix)
    found = _re(_NUMBERED_NAME).match(stem)
    if not found or _re(_BARE_NUMBER).fullmatch(stem):
        return None
    prefix, number = found["prefix"] or "", found["number"]
    # `use-http2-for-x` is named like a record, but its digits are no number of it
    meant = not prefix or len(number) > 2 or _re(_KINDS + r"[-_ ]?").fullmatch(prefix)
    named = meant or len(prefix) <= 6
    return FileName(number=number if named else None, date=None, dated=False, prefix=prefix)


def is_template(stem: str) -> bool:
    """Whether the whole stem, a number or prefix aside, names a template (SPEC 5)."""
    folded = stem.lower().replace("_", "-").replace(" ", "-")
    named = _re(_TEMPLATE_NAME).fullmatch(folded) or _re(_PLACEHOLDER_NUMBER).match(folded)
    return named is not None


def is_skipped(stem: str) -> bool:
    """Whether a file of that stem accompanies records and is none: `README`, `readme.ko`."""
    return stem.lower() in SKIPPED_STEMS or stem.lower().startswith("readme.")


def split_ending(name: str) -> tuple[str, str]:
    """Stem and ending of a file's name, the ending in lower case; `""` where none is known."""
    stem, dot, ending = name.rpartition(".")
    ending = dot + ending.lower()
    return (stem, ending) if dot and stem and ending in FOREIGN_ENDINGS else (name, "")


def fold_folder(name: str) -> str:
    """A folder's name as it is compared: case, `_`, `-` and space do not matter."""
    return name.lower().strip("_-. ").replace("_", "-").replace(" ", "-")


def is_archive_name(name: str) -> bool:
    """Whether a folder of that name is made for decision records: `adr`, `decisions`, `rfcs`."""
    return bool(_re(_FOLDER_NAME).fullmatch(fold_folder(name)))


def may_enter(name: str) -> bool:
    """Whether a folder of that name can lead to records."""
    folded = name.lower()
    return not (
        folded in _CLOSED_FOLDERS or folded.startswith(".") or folded.endswith("_versioned_docs")
    )


def with_metadata(text: str, metadata: str) -> str:
    """`text` with the metadata file beside it as its front matter."""
    lines = metadata.replace("\r\n", "\n").strip("\n").split("\n")
    block = "\n".join(line for line in lines if line.rstrip() not in ("---", "..."))
    return f"---\n{block}\n---\n{text}"


# Statuses, the first line that matches wins (archives.md 3).
_STATUS_WORDS = (
    ("superseded", r"super[sc]ee?ded|replaced|obsoleted?|moved"),
    ("rejected", r"rejected|declined|abandoned|reverted|closed|no go"),
    ("withdrawn", r"withdrawn"),
    ("deprecated", r"deprecated|retired|inactive|historic(?:al)?|archived?|discontinued"
     r"|no longer relevant"),
    ("draft", r"draft|wip|predraft|idea"),
    ("proposed", r"proposed|pending|in review|review|(?:under|in) (?:discussion|consideration)"
     r"|provisional|open|last call|deferred|on hold|stalled|stagnant|ongoing|incomplete|tbd"
     r"|partially implemented|not (?:yet )?(?:implemented|accepted|approved|decided)"),
    ("accepted", r"accepted|app+r+oved|agreed|adopted|decided|active|implementable|published?"
     r"|recommended|living|stable|ratified"),
    ("implemented", r"implemented|implementing|final|done|released|deployed|completed?|activated"),
)  # fmt: skip
_STATUS_RANK = {name: rank for rank, (name, _) in enumerate(_STATUS_WORDS)}
_STATUS_WORD = rf"\b(?:{'|'.join(f'(?P<{name}>{words})' for name, words in _STATUS_WORDS)})\b"
_CLOSING = frozenset(("accepted", "implemented", "proposed", "draft", None))  # may be superseded
_EMOJI = "[\u2190-\u21ff\u2300-\u27bf\u2b00-\u2bff\ufe0f\U0001f000-\U0001faff]"
_PARTIAL = r"\b(?:partly|partially|partial|parts? of|in part|some aspects|aspects of)\b"
_PARTLY_SUPERSEDED = _PARTIAL + r"[^.;|]{0,60}?\b(?:super[sc]ee?d|replac|obsolet)[a-z]*(?: by\b.*)?"
_SUPERSEDED_BY = r"\b(?:super[sc]ee?ded|replaced|obsoleted)\b[^.;]{0,60}?\bby\b"
_ADVICE = (
    r"\b(?:may be|such as|what is the|one of|e\.g\.|choose|if it hasn't)|\[ \]|[{\[][^|]{0,80}\|"
)


def canonical_status(text: str) -> str | None:
    """The status of the common eight that `text` states in its own words, or `None`.

    `Accepted (lazy consensus)` is accepted, `Partly superseded` stays accepted, a choice between
    statuses that nobody made (`proposed | accepted`) is none.
    """
    plain = _plain(text[:LABEL_CHARS]).replace("-", " ").replace("_", " ")
    whole = _re(_PARTLY_SUPERSEDED).sub(" ", plain)
    words = [(found.lastgroup, found.span()) for found in _re(_STATUS_WORD).finditer(whole)]
    if _is_choice(whole, words):
        return None
    for segment in _re(r"[.;,(]|->|\b(?:by|with|see)\b").split(whole):
        known = [found.lastgroup or "" for found in _re(_STATUS_WORD).finditer(segment)]
        if known:
            first = min(known, key=_STATUS_RANK.__getitem__)
            by = first in _CLOSING and _re(_SUPERSEDED_BY).search(whole)
            return "superseded" if by else first
    return "accepted" if whole != plain else None


def _is_choice(text: str, words: list[tuple[str | None, tuple[int, int]]]) -> bool:
    """Whether a template's statuses still stand side by side, none of them chosen."""
    for (name, (_, end)), (other, (start, _)) in zip(words, words[1:]):
        if name != other and text[end:start].strip(" \t,*`'\"") in ("or", "|", "/"):
            return True
    return len({name for name, _ in words}) > 3


def _plain(text: str) -> str:
    """Markdown without links, emphasis, emoji and brackets: the words alone."""
    text = _re(r"\[([^\[\]]*)\](?:\([^()\s]*\)|\[[^\[\]]*\])").sub(r"\1", text)
    text = _re(r":ref:`([^`<]*)[^`]*`").sub(r"\1", text)
    text = text.translate({ord(c): None for c in "*`~[]{}<>"})
    return (text if text.isascii() else _re(_EMOJI).sub(" ", text)).strip(" \t_:")


# Dates, in any order of a text; the earliest that the calendar has is the one meant.
_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
_DATE_FORMS = (
    r"(?<![0-9./-])(?P<y>[0-9]{4})(?P<s>[-/.\u2010-\u2013])(?P<m>[0-9]{1,2})(?P=s)(?P<d>[0-9]{1,2})"
    r"(?![0-9])",
    r"(?<![0-9])(?P<y>(?:19|20)[0-9]{2})(?P<m>[01][0-9])(?P<d>[0-3][0-9])(?![0-9])",
    r"(?<![0-9])(?P<d>[0-9]{1,2})(?:st|nd|rd|th)?(?: of)?[ -](?P<m>[a-z]{3,9})\.?,?[ -]"
    r"(?P<y>[0-9]{4})(?![0-9])",
    r"\b(?P<m>[a-z]{3,9})\.?[ -](?P<d>[0-9]{1,2})(?:st|nd|rd|th)?,? ?[ -](?P<y>[0-9]{4})(?![0-9])",
    r"\b(?P<m>[a-z]{3,9})\.?,? (?P<y>[0-9]{4})(?![0-9])",
    r"(?<![0-9./-])(?P<y>[0-9]{4})[-/](?P<m>[0-9]{1,2})(?![0-9/-])",
    r"(?<![0-9./-])(?P<a>[0-9]{1,2})(?P<s>[-/.])(?P<b>[0-9]{1,2})(?P=s)(?P<y>[0-9]{4})(?![0-9])",
)


class FoundDate:
    """A date found in a text: ISO where it is certain, its two numbers where it is not.

    `parts` is `(first, second, year)` of `3/4/2020`, whose order an archive decides as a whole.
    """

    __slots__ = ("iso", "parts", "span")

    def __init__(
        self, iso: str | None, parts: tuple[int, int, int] | None, span: tuple[int, int]
    ) -> None:
        self.iso, self.parts, self.span = iso, parts, span


def find_date(text: str) -> FoundDate | None:
    """The first date in `text`, in any of the forms that people write.

    `None` where there is none, or none of the calendar.
    """
    text = text[:300]
    iso = parse_date(text)
    if iso:
        return FoundDate(iso, None, (0, len(text)))
    found = [hit for form in _DATE_FORMS for hit in _date_hits(form, text)]
    first = min(found, key=lambda hit: hit.span[0], default=None)
    return first if first and (first.iso or first.parts) else None


def _date_hits(form: str, text: str) -> Iterator[FoundDate]:
    for found in _re(form).finditer(text):
        groups = found.groupdict()
        year = int(groups["y"])
        if "a" in groups:
            parts = (int(groups["a"]), int(groups["b"]), year)
            iso = ordered_date(parts, True if groups["s"] == "." else None)
            possible = iso or ordered_date(parts, False) or ordered_date(parts, True)
            yield FoundDate(iso, parts if possible else None, found.span())
            return
        month = _month_number(groups["m"])
        if month is None:
            continue
        day = groups.get("d")
        if day is not None:
            yield FoundDate(iso_date(year, month, int(day)), None, found.span())
        elif iso_date(year, month, 1):
            yield FoundDate(f"{year:04}-{month:02}", None, found.span())
        return


def _month_number(text: str) -> int | None:
    if text.isdigit():
        return int(text)
    name = "sep" if text.lower() == "sept" else text.lower()
    return next((n for n, month in enumerate(_MONTHS, 1) if month.startswith(name)), None)


def ordered_date(parts: tuple[int, int, int], day_first: bool | None) -> str | None:
    """`3/4/2020` as ISO; `None` where neither its numbers nor `day_first` decide the order."""
    first, second, year = parts
    if first > 12 or second > 12 or first == second:
        day_first = first > 12 or first == second
    if day_first is None:
        return None
    return iso_date(year, second, first) if day_first else iso_date(year, first, second)


# Keys and labels: the native key, and the folded spellings from the most to the least telling.
_SPELLINGS = {
    "title": "title featurename",
    "description": "description summary abstract",
    "status": "status state stage adrstatus rfcstatus decisionstatus",
    "date": "date datedecided decisiondate dateaccepted dateapproved created datecreated "
    "createddate creationdate createdon introduced startdate datestarted datedocumented revdate",
    "deciders": "deciders decider decisionmakers decisionmaker decidedby approvers",
    "authors": "authors author proposedby owners owner contact",
    "tags": "tags topics labels keywords",
    "supersedes": "supersedes supercedes replaces obsoletes",
    "supersededby": "supersededby supercededby replacedby obsoletedby",
    "related": "related seealso relatesto links amends amendedby extends extendedby clarifies "
    "partiallysupersedes partiallysupersededby",
}
_KEYS = {
    spelling: (field, rank)
    for field, spellings in _SPELLINGS.items()
    for rank, spelling in enumerate(spellings.split())
}
_LABELS = {
    **{spelling: field for spelling, (field, _) in _KEYS.items()},
    "name": "title", "reviewers": "reviewers", "reviewer": "reviewers",
    "reviewmanager": "reviewers", "review": "review", "reviewdate": "reviewdate",
    "lastreviewed": "lastreviewed", "nextreview": "nextreview",
}  # fmt: skip
for _prose in ("description", "summary", "abstract", "links", "labels"):
    _LABELS.pop(_prose)  # before the first section these begin prose or lists of their own
_RELATIONS = ("supersedes", "supersededby", "related")
_OTHER_DATES = frozenset((
    "update", "updated", "modified", "review", "reviewed", "due", "expiry", "expires", "release",
    "released", "last", "end", "target",
))  # fmt: skip
_NOTHING = frozenset((
    "", "n/a", "na", "none", "-", "--", "—", "–", "null", "nil", "tbd", "tba", "no", "nothing",
    "~", "?", "...", "…",
))  # fmt: skip


class _Stated:
    """What one file says about itself, before anything is decided.

    `statuses` maps the source to the words; `dates` are texts with their lines; `links` map a
    relation to its targets; `hints` are texts whose date counts where none is stated; `rest` are
    the keys that no field takes. Relations of `closed` are settled by the front matter.
    """

    __slots__ = (
        "closed", "dates", "hints", "lines", "links", "problems", "rest", "statuses",
        "superseding", "values",
    )  # fmt: skip

    def __init__(self) -> None:
        self.values: dict[str, object] = {}
        self.rest: dict[str, object] = {}
        self.statuses: dict[str, str] = {}
        self.superseding: str | None = None  # the line of the body that says "superseded by"
        self.dates: list[tuple[str, int]] = []
        self.hints: dict[str, tuple[str, int]] = {}
        self.links: dict[str, list[str]] = {}
        self.lines: Mapping[str, int] = {}
        self.closed: frozenset[str] = frozenset()
        self.problems: list[Problem] = []

    def link(self, relation: str, targets: Iterable[str]) -> None:
        """Add targets, each once."""
        if relation in self.closed:
            return
        known = self.links.setdefault(relation, [])
        known.extend(target for target in targets if target not in known)


class Page:
    """A text as it is searched: its lines without fences and comments, and its headings.

    A heading is `(line, level, text, first line below it)`; lines count from 0.
    """

    __slots__ = ("first_line", "headings", "lines")

    def __init__(self, text: str, ending: str, first_line: int = 1) -> None:
        self.first_line = first_line
        self.lines = _visible_lines(text, _FENCES.get(ending, ()))
        self.headings = list(_list_headings(self.lines, ending, text))

    def below(self, index: int, most: int = SECTION_LINES) -> list[tuple[int, str]]:
        """The lines of the section under that heading, with their line numbers in the file."""
        start = self.headings[index][3]
        stop = self.headings[index + 1][0] if index + 1 < len(self.headings) else len(self.lines)
        return self.span(start, min(stop, start + most))

    def span(self, start: int, stop: int) -> list[tuple[int, str]]:
        """Lines that are not blank, cut to what a label can be, with their line numbers."""
        return [
            (number + self.first_line, line[:LABEL_CHARS])
            for number, line in enumerate(self.lines[start:stop], start)
            if line and not line.isspace()
        ]


_FENCES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys((".md", ".markdown", ".mdx", ""), ("```", "~~~")),
    ".adoc": ("----", "....", "////", "```"),
}


def _visible_lines(text: str, fences: tuple[str, ...]) -> list[str]:
    """The lines of `text`, those within fences and comments emptied."""
    lines = text.split("\n")
    if "<!--" not in text and not any(fence in text for fence in fences):
        return lines
    visible: list[str] = []
    fence = ""
    comment = False
    for line in lines:
        stripped = line.strip(" \t\r")
        rest = ""
        if fence:
            if stripped.startswith(fence) and not stripped.strip(fence[0]):
                fence = ""
        elif comment or "<!--" in line:
            rest, comment = _without_comments(line, comment)
        elif fences and stripped.startswith(fences):
            fence = stripped[: len(stripped) - len(stripped.lstrip(stripped[0]))]
        else:
            rest = line
        visible.append(rest)
    return visible


def _without_comments(line: str, inside: bool) -> tuple[str, bool]:
    """`line` without its comments, and whether one is still open at its end."""
    kept: list[str] = []
    at = 0
    while at < len(line):
        mark = line.find("-->" if inside else "<!--", at)
        if not inside:
            kept.append(line[at:] if mark < 0 else line[at:mark])
        if mark < 0:
            break
        at = mark + (3 if inside else 4)
        inside = not inside
    return "".join(kept), inside


def _list_headings(
    lines: list[str], ending: str, text: str
) -> Iterator[tuple[int, int, str, int]]:
    mark = "=" if ending == ".adoc" else "#"
    underlined = ending == ".rst" or "\n===" in text or "\n---" in text
    levels: list[str] = []
    for number, line in enumerate(lines):
        if line.startswith(mark) and ending != ".rst":
            rest = line[:600].lstrip(mark)
            level = len(line) - len(line.lstrip(mark))
            first = not levels and mark == "#" and rest[:1].isdigit() and not any(lines[:number])
            if level <= 6 and (rest[:1] in (" ", "\t") or first) and rest.strip(" \t\r#"):
                levels.append(mark)
                yield number, level, rest.strip(" \t\r").rstrip("#").rstrip(), number + 1
        elif underlined and number and _is_underline(line, lines, number, ending):
            over = number > 1 and lines[number - 2].rstrip() == line.rstrip()
            style = line[0] * (1 + over)
            if style not in levels:
                levels.append(style)
            level = levels.index(style) + 1 if ending == ".rst" else 1 if line[0] == "=" else 2
            yield number - 1 - over, level, lines[number - 1].strip(), number + 1


def _is_underline(line: str, lines: list[str], number: int, ending: str) -> bool:
    """Whether `line` makes the one above it a heading."""
    mark, above = line[:1], lines[number - 1].rstrip()
    known = "=-~^\"'*+#`:._" if ending == ".rst" else "=-"
    if not mark or mark not in known or len(line) < 3 or line.strip(mark + " \t\r"):
        return False
    if not above or len(above) > 300 or above[0] in " \t|>#-*+" or not above.strip(mark + " "):
        return False
    if ending == ".rst":
        return len(line.rstrip()) >= min(len(above), 4)
    # `Status: accepted` above a rule is a label, although Markdown calls it a heading
    return ":" not in above and (number == 1 or not lines[number - 2].strip())


# Headings: which are sections, which are titles, which were never filled in.
_SECTION_NAMES = frozenset((
    "status", "context", "summary", "decision", "proposal", "motivation", "abstract",
    "introduction", "overview", "background", "problem", "meta", "metadata", "date", "changelog",
    "contents", "description", "goals", "consequences", "deciders", "author", "authors", "tl;dr",
    "context and problem statement", "problem statement", "table of contents", "general info",
    "decision outcome", "considered options", "decision drivers", "executive summary",
    "decision makers", "change log", "context & problem statement", "proposed decision",
))  # fmt: skip
_PLACEHOLDER_TITLE = (
    rf"[\W_]*(?:{_KINDS}?[-_ #]*"
    r"(?:[0-9]{1,5}|n{1,5}|x{1,5}|y{4}|<[^<>]*>|\{[^{}]*\})?[-:. ]*)?"
    r"(?:[{<\[(][^\]}>)]*\b(?:title|name)\b[^\]}>)]*[\]}>)]*"
    r"|(?:short )?title(?: of (?:the )?(?:decision|solved|adr|rfc)[^.]*)?"
    r"|(?:architecture )?decision record title|(?:short|your|adr|rfc) title[^.]*"
    r"|title of[^.]*|\{[^{}]*\}?)[\W_]*"
)
_ORDINAL = (
    rf"\[?(?:(?P<kind>{_KINDS}|(?:architectur(?:e|al) )?decision(?: record)?)[ #_-]*)?#?"
    r"(?P<number>[0-9]{1,5})\]?(?P<mark>[ \t]*[:.)|\u2010-\u2014-]+[ \t]*|[ \t]+)"
)
_KIND_WORD = (
    rf"(?:{_KINDS}|(?:architectur(?:e|al) )?decision(?: record)?(?: \(adr\))?)[ \t]*"
    r"[:\u2010-\u2014-][ \t]+"
)
_SECTION_NUMBER = r"[0-9]{1,2}(?:\.[0-9]{1,2})*[.)]? +"


def section_name(heading: str) -> str:
    """A heading as sections are told apart: without number, markup, colon and case."""
    plain = _plain(heading[:200]).lower()
    numbered = _re(_SECTION_NUMBER).match(plain)
    return plain[numbered.end() if numbered else 0 :].rstrip(" \t:.")


def is_placeholder(heading: str, *, template: bool = False) -> bool:
    """Whether a heading is the one a template came with; in a `template` any such words are."""
    heading = heading[:300]
    if template and _re(r".*\b(?:template|title|name)\b.*").fullmatch(heading):
        return True
    return bool(_re(_PLACEHOLDER_TITLE).fullmatch(heading))


def bare_title(heading: str, number: str | None) -> str:
    """A heading without the number or `ADR-7:` in front; itself where nothing else is left."""
    text = heading.strip(" \t*_")
    found = _re(_ORDINAL).match(text)
    if found:
        rest = text[found.end() :]
        mark = found["mark"]
        own = found["number"].startswith("0") or int(found["number"]) == int(number or -1)
        spaced = " " in mark or "\t" in mark
        told = spaced or (mark in (".", ":", ")") and not rest[:1].isdigit())
        ordinal = found["kind"] or (own and spaced) or (mark.strip() and told)
        return rest.strip(" \t*") if rest and ordinal else text
    found = _re(_KIND_WORD).match(text)
    return text[found.end() :].strip() if found and found.end() < len(text) else text


def _title_heading(page: Page, stem: str) -> int | None:
    """The index of the heading that is the title; `None` where the first one is not."""
    if not page.headings:
        return None
    _, level, text, _ = page.headings[0]
    name = section_name(text)
    usable = level <= 2 and name and name not in _SECTION_NAMES and name.split(":")[0] != "status"
    return 0 if usable and not is_placeholder(text, template=is_template(stem)) else None


# Labels, in all the shapes in which they stand between the title and the first section.


def _label_pairs(line: str) -> list[tuple[str, str]]:
    """`(label, value)` of one line: `* **Status:** x`, `| Status | x |`, `Status: x | Date: y`."""
    table = line.lstrip(" \t>").startswith("|")
    text = line.strip(" \t\r>|").lstrip(" \t>*+-_`:•")
    cells = text.split("|") if "|" in text else [text]
    if len(cells) > 1 and (table or _folded_label(cells[0]) in _LABELS):
        return [(_folded_label(cells[0]), _clean_value(cells[1]))]
    pairs: list[tuple[str, str]] = []
    for cell in cells:
        label, value = _split_label(cell)
        if label or not pairs:
            pairs.append((label, value))
        else:  # a bar within a value: a choice that nobody made
            pairs[-1] = (pairs[-1][0], f"{pairs[-1][1]} | {cell.strip()}")
    return pairs


def _split_label(cell: str) -> tuple[str, str]:
    """The folded label and the value of one `Label: value`; `""` where there is no known label."""
    colon = cell.find(":", 0, 60)
    if colon > 0 and not cell.startswith(":ref:", colon):
        label = _folded_label(cell[:colon])
        if label in _LABELS:
            return label, _clean_value(cell[colon + 1 :])
    found = _re(r"[\W_]*(date|created|status)\b[*_` \t]*(?:[\u2010-\u2014-]+[ \t]+)?").match(cell)
    if found and found.end() < len(cell):
        rest = cell[found.end() :]
        is_date = found[1].lower() != "status"
        head = rest.split(None, 1)[0] if rest.split() else ""
        if find_date(rest[:40]) if is_date else canonical_status(head):
            return found[1].lower(), _clean_value(rest)
    return "", cell


def _folded_label(text: str) -> str:
    if len(text) > 60:
        return ""
    folded = _re(_EMOJI).sub("", text) if not text.isascii() else text
    return fold_key(folded.strip(" \t*_`[]").lower().replace("(s)", "s")).strip("*_`:")


def _clean_value(text: str) -> str:
    return text.strip(" \t\r*_`|").rstrip("\\").rstrip()


def _list_labels(lines: list[tuple[int, str]]) -> Iterator[tuple[str, str, int]]:
    """`(field, value, line)` of every known label; nested bullets are a value of many lines."""
    for index, (number, line) in enumerate(lines):
        for label, value in _label_pairs(line):
            field = _LABELS.get(label)
            if field is None:
                continue
            more = _nested(lines, index) if not value or value.endswith(",") else ()
            yield field, "\n".join([value, *more]).strip("\n"), number


def _nested(lines: list[tuple[int, str]], index: int) -> Iterator[str]:
    """The bullets, or the wrapped lines, that belong to the label of line `index`."""
    depth = _indent(lines[index][1])
    bulleted = lines[index][1].lstrip()[:1] in ("-", "*", "+") and ":" in lines[index][1]
    for _, line in lines[index + 1 : index + 1 + SECTION_LINES]:
        bullet = line.lstrip()[:2] in ("- ", "* ", "+ ")
        beside = _indent(line) <= depth and (bulleted or not bullet)
        if beside or _LABELS.get(_label_pairs(line)[0][0]):
            return
        yield line.strip(" \t\r*+-").rstrip(",")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _html_pairs(lines: list[tuple[int, str]]) -> Iterator[tuple[str, str, int]]:
    """Labels and values of an HTML table of two columns."""
    cells: list[str] = []
    text = "\n".join(line for _, line in lines)
    for part in text.split("<t")[1:]:
        if part[:1] in ("d", "h") and part[1:2] in (">", " "):
            inner = part.partition(">")[2].partition("</t")[0]
            cells.append(_unescaped(_re(r"<[^<>]*>").sub("", inner)).strip())
    for label, value in zip(cells, cells[1:]):
        field = _LABELS.get(_folded_label(label.rstrip(":")))
        if field:
            yield field, value, lines[0][0]


def _unescaped(text: str) -> str:
    if "&" not in text:
        return text
    import html  # only tables written in HTML need it

    return html.unescape(text)


# Relations: stated phrases, and the targets that follow them.
_PHRASE = (
    r"(?P<supersededby>\b(?:super[sc]ee?ded|replaced|obsoleted|deprecated|reverted)\b"
    r"(?:[^.;\[\]\n]{0,60}?\bby\b|:?[ \t]+(?=\[)))"
    r"|(?P<supersedes>\b(?:super[sc]ee?des|replaces|obsoletes)\b)"
    r"|(?P<related>\b(?:amends|amended by|clarifies|clarified by|extends|extended by|relates to"
    r"|see also)\b)"
)
_TARGET = (
    r"\[\[[^\[\]]{1,200}\]\]|\[[^\[\]]{0,300}\]\([^()\s]{1,500}\)|:ref:`[^`]{1,200}`"
    r"|https?://[^\s)>\]]+|(?<![\w./-])[\w./-]{1,200}\.(?:mdx?|rst|adoc|html)\b"
    rf"|\b(?:{_KINDS}|(?-i:[A-Z]{{2,6}})(?=-[0-9]))[-_ #]{{0,2}}[0-9]{{1,5}}\b(?!-[0-9])"
    r"|(?<![\w./-])(?:[0-9]{8}|[0-9]{4})-[a-z][\w-]{1,200}"
)
_LEADING_NUMBERS = r"[\s:*_(\[]*#?([0-9]{1,5})(?![0-9./-])\]?(?:[\s,;&]|and\b)*"


def list_targets(text: str, *, whole: bool = False) -> list[str]:
    """The records that `text` points at, as written; `whole` says that it names nothing else."""
    text = text[:LABEL_CHARS].strip(" \t*_`\n\"'")
    if text.lower().strip(" .()") in _NOTHING or (whole and text.startswith(("{", "("))):
        return []
    targets: list[str] = []
    at = 0
    for found in _re(_TARGET).finditer(text):
        gap = text[at : found.start()]
        if targets and not _re(r"[\s,;&/()*_.]*(?:and|or)?[\s,(*_]*").fullmatch(gap):
            break
        if len(gap) > 80 or ". " in gap:
            break
        targets.append(_re(r":ref:`([^`<]*)[^`]*`").sub(r"\1", found[0]).strip().rstrip(".,"))
        at = found.end()
    if targets:
        return targets
    while True:
        number = _re(_LEADING_NUMBERS).match(text, at)
        if number is None:
            break
        targets.append(number[1])
        at = number.end()
    if targets or not whole:
        return targets
    return [part.strip() for part in _re(r"[,;\n]").split(text) if part.strip()]


_LEAD_WORDS = r"|\b(?:this|adr|rfc|decision|record|was|were|is|are|has|been|we)\b"


def _read_phrases(line: str, stated: _Stated, *, begins: bool) -> str | None:
    """Gather the relations that a line states; with `begins` it must begin with the phrase.

    The relation is handed back, for the bullets below a line that ends in a colon.
    """
    hits = list(_re(_PHRASE).finditer(line))
    if not hits:
        return None
    partial = bool(_re(_PARTIAL).search(line))
    lead = _re(_PARTIAL + _LEAD_WORDS).sub("", line[: hits[0].start()])
    if begins and lead.strip(" \t>*+-_`:•|0123456789."):
        return None
    relation = None
    for hit, following in zip(hits, [*hits[1:], None]):
        rest = line[hit.end() : following.start() if following else len(line)]
        relation = "related" if partial else hit.lastgroup or "related"
        stated.link(relation, list_targets(rest))
        if relation == "supersededby" and _re(r"super|repl|obs").match(hit[0]):
            stated.superseding = line.strip(" \t>*+-")
    return relation


def _read_phrase_lines(
    lines: Iterable[tuple[int, str]], stated: _Stated, *, begins: bool
) -> None:
    carried: str | None = None
    for _, line in lines:
        bullet = line.lstrip()[:2] in ("- ", "* ", "+ ")
        found = _read_phrases(line, stated, begins=begins)
        if found is None and carried and bullet:
            stated.link(carried, list_targets(line.lstrip(" \t*+-")))
        elif not bullet:
            carried = found if line.rstrip(" \t\r*_").endswith(":") else None


# What one text states, gathered from its places.


def _read_head(text: str, origin: Origin, stated: _Stated) -> tuple[str, int]:
    """Read front matter or a mail-like header; the text below it, and its line in the file."""
    import vendored_yaml

    front = vendored_yaml.split_front_matter(text)
    if front.block is not None:
        lines = vendored_yaml.key_lines(front.block)
        mapping = _front_mapping(front, origin, stated)
        stated.lines = {key: front.line + line - 1 for key, line in lines.items()}
        _read_keys(mapping, stated)
        return front.body, front.body_line
    if front.problem:
        stated.problems.append(Problem(origin.path, 1, 1, "value", front.problem))
    mapping, below = _mail_header(text)
    if mapping:
        _read_keys(mapping, stated)
        rest = text.split("\n", below)[below:] if below else [text]
        return "\n".join(rest), below + 1
    return text, 1


def _front_mapping(front: Any, origin: Origin, stated: _Stated) -> dict[str, Any]:
    """The front matter, read line by line where it is no YAML: no record is lost by it."""
    try:
        mapping, repairs = read_front_matter(front, origin)
    except RecordError as fault:
        problem = fault.problem
        sentence = f"{problem.sentence}; the front matter was read line by line"
        stated.problems.append(
            Problem(problem.path, problem.line, problem.column, "repair", sentence)
        )
        return _loose_mapping(front.block)
    stated.problems.extend(repairs)
    return mapping


def _loose_mapping(block: str) -> dict[str, Any]:
    """`key: value` and `- item` lines of a block that is no YAML."""
    mapping: dict[str, Any] = {}
    key = ""
    for line in block.split("\n"):
        item = line.strip(" \t\r")
        if item.startswith("- ") and key:
            if not isinstance(mapping[key], list):
                mapping[key] = [mapping[key]] if mapping[key] else []
            mapping[key].append(item[2:].strip(" \t'\""))
        elif line[:1] not in (" ", "\t", "#", "-", ""):
            name, colon, value = item.partition(":")
            if colon and len(name) < 60:
                key = name.strip(" \t'\"")
                mapping.setdefault(key, value.strip(" \t'\""))
    return mapping


def _mail_header(text: str) -> tuple[dict[str, Any], int]:
    """A block of `Key: value` lines at the top, as PEPs have it, and the lines that it takes."""
    lines = text.split("\n", 80)[:80]
    mapping: dict[str, Any] = {}
    at = next((n for n, line in enumerate(lines) if line.strip(" \t\r")), 0)
    if lines[at].strip(" \t\r").lower() in ("<pre>", "```"):
        at += 1
    depth = _indent(lines[at]) if at < len(lines) else 0
    key = ""
    while at < len(lines) and lines[at].strip(" \t\r") not in ("", "</pre>", "```"):
        line = lines[at].rstrip(" \t\r")
        found = _re(r"([a-z][a-z-]{0,30}):(?:[ \t]+(.*))?").fullmatch(line[depth:LABEL_CHARS])
        if found and _indent(line) == depth:
            key = found[1]
            mapping[key] = found[2] or ""
        elif key and _indent(line) > depth:
            mapping[key] += " " + line.strip(" \t")
        else:
            return {}, 0
        at += 1
    names = {fold_key(name) for name in mapping}
    return (mapping, at) if len(names) >= 3 and {"title", "status"} <= names else ({}, 0)


def _read_keys(mapping: Mapping[str, Any], stated: _Stated) -> None:
    """Sort the keys of a header by the field they state; what no field takes stays custom."""
    ranked: dict[str, list[tuple[int, str, object]]] = {}
    for name, value in mapping.items():
        key = str(name)
        folded = fold_key(key).replace("(s)", "s")
        known = _KEYS.get(folded) or _date_key(key)
        nested = isinstance(value, dict) and any(item is not None for item in value.values())
        if folded == "relations":
            _read_relations(value, stated)
        elif known is None or nested:
            stated.rest[key] = value
        elif not _is_nothing(value):
            ranked.setdefault(known[0], []).append((known[1], key, value))
    for field, found in ranked.items():
        found.sort(key=lambda entry: entry[0])
        _take_key(field, [(key, value) for _, key, value in found], stated)
    for tag in split_words(stated.values.get("tags"), spaces=True):
        if fold_key(tag) in DEFAULT_STATUSES:
            stated.statuses["tag"] = tag


def _take_key(field: str, found: list[tuple[str, object]], stated: _Stated) -> None:
    """Keep what the keys of one field state: all relations and dates, else the most telling."""
    if field in _RELATIONS:
        for item in [item for _, value in found for item in text_list(value)]:
            stated.link(field, list_targets(item, whole=True))
        return
    if field == "date":
        stated.dates += [(_item_text(value), stated.lines.get(key, 1)) for key, value in found]
        return
    if field == "status":
        stated.statuses["front matter"] = words = _status_text(found[0][1])
        _read_phrases(words, stated, begins=False)
    else:
        stated.values[field] = found[0][1]
    stated.rest.update(found[1:])


def _date_key(key: str) -> tuple[str, int] | None:
    words = _re(r"[-_ ]+").split(key.lower())
    return ("date", 99) if "date" in words and not _OTHER_DATES.intersection(words) else None


def _is_nothing(value: object) -> bool:
    texts = text_list(value)
    return all(text.strip().lower() in _NOTHING for text in texts)


def _read_relations(value: object, stated: _Stated) -> None:
    """`relations: [{type: supersedes, target: 0003-x}]`."""
    for item in value if isinstance(value, list) else []:
        if isinstance(item, dict):
            kind = text_of(item.get("type")).replace("-", " ").replace("_", " ")
            found = _re(_PHRASE).search(kind)
            full = found and not _re(_PARTIAL).search(kind)
            relation = found.lastgroup or "related" if found and full else "related"
            stated.link(relation, list_targets(_item_text(item), whole=True))


def _read_preamble(page: Page, title: int | None, stated: _Stated) -> None:
    """The labels, the dates and the relations between the title and the first section."""
    following = 0 if title is None else title + 1
    start = 0 if title is None else page.headings[title][3]
    stop = len(page.lines)
    for line, _, text, _ in page.headings[following:]:
        if section_name(text) not in ("meta", "metadata"):
            stop = line
            break
    lines = page.span(start, min(stop, start + PREAMBLE_LINES))
    if any("<td" in line for _, line in lines):
        _read_labels(_html_pairs(lines), stated)
    _read_labels(_list_labels(lines), stated)
    bare = next(((line, n) for n, line in lines if _is_bare_date(line)), None)
    if bare:
        stated.hints["bare"] = bare
    _read_phrase_lines(
        ((n, line) for n, line in lines if _LABELS.get(_label_pairs(line)[0][0]) not in _RELATIONS),
        stated, begins=True,
    )  # fmt: skip


def _read_labels(labels: Iterable[tuple[str, str, int]], stated: _Stated) -> None:
    for field, value, line in labels:
        if value.lower() in _NOTHING:
            continue
        if field == "date":
            stated.dates.append((value, line))
        elif field in _RELATIONS:
            stated.link(field, list_targets(value, whole=True))
            if field == "supersededby" and stated.links.get(field):
                stated.superseding = value
        elif field == "status":
            stated.statuses.setdefault("label", value)
            _read_phrases(value, stated, begins=False)
        elif field in stated.values or field in stated.rest:
            continue
        elif field in _KEYS:
            stated.values[field] = value
        else:
            stated.rest[field] = _people(value) if "reviewer" in field else value


def _read_sections(page: Page, stated: _Stated) -> None:
    """The sections that hold one fact each: status, date, people, links."""
    for index, (line, level, text, _) in enumerate(page.headings):
        name, _, value = section_name(text).partition(":")
        read = _FACT_SECTIONS.get(name)
        if read is not None and level <= 3:
            read(page.below(index), stated)
        elif name == "status":
            lines = page.below(index)
            if value.strip():  # `## Status: Accepted`
                lines = [(line + page.first_line, value), *lines]
            near = level <= 3 and index <= 4
            if near or (level <= 2 and _begins_with_status(lines)):
                _read_status_section(lines, stated)


def _begins_with_status(lines: list[tuple[int, str]]) -> bool:
    head = _plain(lines[0][1]) if lines else ""
    return len(head) < 80 and canonical_status(" ".join(head.split()[:2])) is not None


def _read_status_section(lines: list[tuple[int, str]], stated: _Stated) -> None:
    if "section" in stated.statuses or not lines:
        return
    words = [_status_words(line) for _, line in lines]
    words = [text for text in words if text and not _re(_ADVICE).search(text)]
    known = next((text for text in words if canonical_status(text)), None)
    if known or words:
        stated.statuses["section"] = known or words[0]
    _read_labels(
        ((field, value, n) for field, value, n in _list_labels(lines) if field != "status"), stated
    )
    _read_phrase_lines(lines, stated, begins=False)


def _status_words(line: str) -> str:
    """A line of a status section as its words were written."""
    text = line.strip(" \t\r>").lstrip("-*+ \t").replace("**", "").strip(" \t*_`")
    found = _re(r"(?:(?:adr|rfc)[ \t]+)?status[*_` \t]*[:\u2013-][*_` \t]*").match(text)
    return text[found.end() :] if found else text


def _read_date_section(lines: list[tuple[int, str]], stated: _Stated) -> None:
    stated.dates += [(line, number) for number, line in lines[:1]]


def _read_changelog(lines: list[tuple[int, str]], stated: _Stated) -> None:
    dated = next(((line, n) for n, line in lines if find_date(line)), None)
    if dated:
        stated.hints.setdefault("changelog", dated)


def _people_section(field: str) -> Callable[[list[tuple[int, str]], _Stated], None]:
    def read(lines: list[tuple[int, str]], stated: _Stated) -> None:
        text = "\n".join(line.strip(" \t\r*+-") for _, line in lines)
        if len(text) < 600:
            stated.values.setdefault(field, text)

    return read


def _read_links(lines: list[tuple[int, str]], stated: _Stated) -> None:
    """Bullets that begin with the phrase; the rest of these sections is prose."""
    bullets = ((n, line) for n, line in lines if line.lstrip()[:2] in ("- ", "* ", "+ "))
    for _, line in bullets:
        _read_phrases(line, stated, begins=True)


_FACT_SECTIONS: dict[str, Callable[[list[tuple[int, str]], _Stated], None]] = {
    **dict.fromkeys(("date", "decision date"), _read_date_section),
    **dict.fromkeys(("changelog", "change log"), _read_changelog),
    **dict.fromkeys(("decision makers", "deciders"), _people_section("deciders")),
    **dict.fromkeys(("author", "authors"), _people_section("authors")),
    **dict.fromkeys(
        ("links", "more information", "consequences", "related decisions"), _read_links
    ),
}


def _is_bare_date(line: str) -> bool:
    text = line.strip(" \t\r>*_`()[]+-.")
    if len(text) > 30 or not _re(r"[0-9]{4}").search(text):
        return False
    found = find_date(text)
    return found is not None and found.span == (0, len(text))


# What was stated becomes a record.

_STATUS_SOURCES = ("front matter", "section", "label", "title", "folder", "tag")


def parse_plain_record(text: str, origin: Origin, rules: Rules) -> Record | None:
    """A decision record that is not in inkan's form, read by the rules of foreign archives.

    `None` for a draft (`draft: true`) or a template that was not filled in. A record that states
    no status has none and counts as current. Faults are gathered in the record's `problems`.
    """
    return _read_plain(text, origin, rules)[0]


def _read_plain(
    text: str, origin: Origin, rules: Rules
) -> tuple[Record | None, tuple[int, int, int] | None]:
    """The record, and the two numbers and the year of a date written like `3/4/2020`."""
    text = text.lstrip("\ufeff")
    text = text.replace("\r\n", "\n") if "\r" in text else text
    stated = _Stated()
    ending = split_ending(origin.path)[1]
    stem = origin.id.rpartition("/")[2]
    body, first_line = _read_head(text, origin, stated)
    stated.closed = frozenset(relation for relation, found in stated.links.items() if found)
    page = Page(body, ending, first_line)
    title = _title_heading(page, stem)
    _read_preamble(page, title, stated)
    _read_sections(page, stated)
    heading = None if title is None else page.headings[title][2]
    named = _title_of(heading, stem, origin, stated)
    if heading is None and is_template(stem):
        return None, None
    return _record_of(stated, named, origin, rules)


def _title_of(heading: str | None, stem: str, origin: Origin, stated: _Stated) -> tuple[str, str]:
    """The title, and the words as they were written; a status in front of it is taken off."""
    written = " ".join(_item_text(stated.values.get("title")).split())
    if not written or is_placeholder(written):
        written = " ".join((heading or "").split())
    plain = _re(r"\[([^\[\]]*)\]\([^()\s]*\)").sub(r"\1", written).replace("**", "")
    title = bare_title(plain, origin.number)
    first, colon, rest = title.partition(": ")
    if colon and rest and len(first) < 25 and _re(_STATUS_WORD).fullmatch(first.strip("[]* ")):
        stated.statuses["title"] = first
        title = bare_title(rest, origin.number)
    return title or _slug_words(stem), written


def _slug_words(stem: str) -> str:
    """The words of a file's name, without its number or date."""
    name = read_file_name(stem)
    if name and (name.number or name.dated):
        found = _re(_DATED_NAME if name.dated else _NUMBERED_NAME).match(stem)
        rest = stem[found.end() :].lstrip("-_. ") if found else ""
        stem = rest or stem
    return stem.replace("-", " ").replace("_", " ")


def _record_of(
    stated: _Stated, named: tuple[str, str], origin: Origin, rules: Rules
) -> tuple[Record | None, tuple[int, int, int] | None]:
    title, written_title = named
    status, words = _decide_status(stated, origin, rules)
    date, parts, problem = _decide_date(stated, words, origin)
    mapping: dict[str, object] = {**stated.rest, **stated.values, "title": title}
    mapping.update({key: _people(mapping.get(key)) for key in ("authors", "deciders")})
    mapping["tags"] = _tags(mapping.get("tags"))
    mapping["status"], mapping["date"] = status, date
    mapping["description"] = _only_text(mapping.get("description"))
    mapping.update({relation: stated.links.get(relation, []) for relation in _RELATIONS})
    fields = FieldSet(mapping, {*rules.declared, "type"})  # a foreign `type` names no folder
    record = record_from_fields(fields, origin, rules)
    if record is None:
        return None, None
    if words != record.status:
        record.status_text = words
    record.current = record.current or not words
    if written_title and written_title != title:
        record.aliases = (written_title,)
    if _is_dated(origin):
        record.ref = None
    record.problems = [*stated.problems, *([problem] if problem else [])]
    record.problems += [
        Problem(origin.path, stated.lines.get(key, 0), 1, kind, sentence)
        for key, kind, sentence in fields.notes
    ]
    return record, parts


def _is_dated(origin: Origin) -> bool:
    name = read_file_name(origin.id.rpartition("/")[2])
    return name is not None and name.dated


def _only_text(value: object) -> str | None:
    return " ".join(value.split()) if isinstance(value, str) else None


def _tags(value: object) -> object:
    if isinstance(value, str):
        value = value.replace("\n", ",").strip(" \t[]").replace("`", "")
        return split_words(value, spaces=True)
    return [tag for tag in text_list(value) if tag.lower() not in _NOTHING]


def _people(value: object) -> list[str]:
    """People as they are written in foreign records: separated by commas, `and`, `;`, `&`."""
    items = [value] if isinstance(value, str) else []
    if isinstance(value, dict) and all(name is None for name in value.values()):
        items = list(value)
    people: list[str] = []
    for item in items:
        text = _re(r"\[([^\[\]]*)\]\([^()\s]*\)").sub(r"\1", item[:LABEL_CHARS])
        parts = _re(r"[,;\n](?![^()\n]{0,200}\))|[ \t]+(?:and|&)[ \t]+").split(text)
        people += parts
    people += [] if items else text_list(value)
    cleaned = (_re(_EMOJI).sub("", name).strip(" \t*_`.-") for name in people)
    handles = (name for text in cleaned for name in people_list(text))
    return [n for n in handles if n.lower() not in _NOTHING and n[0] not in "{[<" and len(n) < 200]


def _decide_status(stated: _Stated, origin: Origin, rules: Rules) -> tuple[str | None, str | None]:
    """The status, canonical or as configured, and the words that state it."""
    folder = next((f for f in map(_folder_status, origin.path.split("/")[-2::-1]) if f), None)
    if folder:
        stated.statuses["folder"] = folder
    own = rules.statuses is not DEFAULT_STATUSES
    found = [(s, stated.statuses[s]) for s in _STATUS_SOURCES if s in stated.statuses]
    source, status, words = "", None, next((w for _, w in found if w.lower() not in _NOTHING), None)
    for place, text in found:
        status = text if own and fold_key(text) in rules.statuses else canonical_status(text)
        if status:
            source, words = place, text
            break
    if stated.superseding and source != "front matter" and status in _CLOSING:
        return "superseded", stated.superseding
    return status, words


def _folder_status(name: str) -> str | None:
    """The status that a folder's name states: `accepted`, `_superseded`, `archive`."""
    word = fold_folder(name)
    if word in ("archive", "archived"):
        return "deprecated"
    return word if word in _STATUS_RANK else None


def _decide_date(
    stated: _Stated, words: str | None, origin: Origin
) -> tuple[str | None, tuple[int, int, int] | None, Problem | None]:
    """The record's date, the numbers of one whose order is open, and what is wrong with it."""
    unreadable: tuple[str, int] | None = None
    for text, line in stated.dates:
        found = find_date(text)
        if found:
            return found.iso, found.parts, _open_date(found, text, line, origin)
        if unreadable is None and _re(r"[0-9]").search(text):
            unreadable = (text, line)
    if unreadable:
        return None, None, _date_problem(origin, *unreadable, _NO_DATE)
    name = read_file_name(origin.id.rpartition("/")[2])
    if name and name.date:
        return name.date, None, None
    hints = (stated.hints.get(place) for place in ("changelog", "bare"))
    for text, line in ((words or "", 0), *(hint for hint in hints if hint)):
        found = find_date(text)
        if found:
            return found.iso, found.parts, _open_date(found, text, line, origin)
    return None, None, None


_NO_DATE = "which is no date"
_UNDECIDED = "whose day and month nothing in the archive tells apart"


def _open_date(found: FoundDate, text: str, line: int, origin: Origin) -> Problem | None:
    return None if found.iso else _date_problem(origin, text, line, _UNDECIDED)


def _date_problem(origin: Origin, text: str, line: int, what: str) -> Problem:
    sentence = f"the date is {quoted(text.strip())}, {what}; write it as YYYY-MM-DD"
    return Problem(origin.path, line, 1, "date", sentence)


class ForeignReader:
    """Reads one archive that is not inkan's: the answers of `Reader` by the rules of names.

    `prefix` is the archive's folder below `--root`, `projects` the project of each folder with
    records below the archive, `record_folders` the folders that are one record each. With
    `deep` every sub-folder may hold records; without it only those that are records.
    """

    __slots__ = ("_deep", "_folders", "_prefix", "_projects", "_slashed")

    def __init__(
        self, prefix: str, projects: Mapping[str, str], record_folders: Iterable[str], *, deep: bool
    ) -> None:
        self._prefix, self._projects, self._deep = prefix, dict(projects), deep
        self._folders = frozenset(record_folders)
        self._slashed: dict[str, tuple[tuple[int, int, int], Problem | None]] = {}

    def enters(self, name: str) -> bool:
        """Every folder but the closed ones; only record folders where the archive is not deep."""
        return may_enter(name) and (self._deep or read_file_name(name) is not None)

    def refuses(self, folder: str, name: str) -> str | None:
        """Judge the name alone; a numbered template is judged by its heading, in `parse`."""
        stem, ending = split_ending(name)
        if not ending:
            return "its ending is none of " + " ".join(FOREIGN_ENDINGS)
        if folder in self._folders:
            own = is_record_page(folder.rpartition("/")[2], stem)
            return None if own else "it is attached to the record of its folder"
        if name.startswith((".", "_")):
            return "its name begins with _ or ."
        if is_skipped(stem):
            return "its name is one that accompanies records"
        named = read_file_name(stem)
        if is_template(stem) and not (named and named.number):
            return "it is a template"
        return None if named else "its name has no number or date"

    def sidecar(self, folder: str, name: str) -> str | None:  # noqa: ARG002
        """`kep.yaml`, which stands beside the text of an enhancement proposal."""
        return "kep.yaml" if folder in self._folders else None

    def origin(self, relative: str, location: str) -> Origin:
        """`<project>/<type>/<stem>`; the stem of a record folder is the folder's name."""
        folder, _, name = relative.rpartition("/")
        stem = split_ending(name)[0]
        if folder in self._folders:
            folder, _, stem = folder.rpartition("/")
        path = f"{self._prefix}/{relative}" if self._prefix else relative
        named = read_file_name(stem)
        kind = (named.kind if named else None) or _kind_of_folder(f"{self._prefix}/{folder}")
        project = self._projects.get(folder) or self._projects[""]
        origin = Origin(f"{project}/{kind}/{stem}", path, location)
        origin.project, origin.type = project, kind
        origin.number = named.number if named else None
        return origin

    def parse(self, text: str, origin: Origin, rules: Rules) -> Record | None:
        """Read one file; see `parse_plain_record`."""
        record, parts = _read_plain(text, origin, rules)
        self._slashed.pop(origin.id, None)
        if record is not None and parts:
            undecided = next((p for p in record.problems if p.kind == "date"), None)
            self._slashed[origin.id] = (parts, undecided)
        return record

    def settle(self, records: Sequence[Record]) -> None:
        """Day or month first in `3/4/2020`: what any date of the archive says (archives.md 3)."""
        open_dates = [(r, *self._slashed[r.id]) for r in records if r.id in self._slashed]
        day_first = any(parts[0] > 12 for _, parts, _ in open_dates)
        month_first = any(parts[1] > 12 for _, parts, _ in open_dates)
        verdict = None if day_first == month_first else day_first
        for record, parts, problem in open_dates:
            if problem is None:
                continue
            record.date = ordered_date(parts, verdict)
            record.problems = [p for p in record.problems if p is not problem]
            if record.date is None:
                record.problems.append(problem)


def is_record_page(folder: str, stem: str) -> bool:
    """Whether that file is the text of the record that its folder is: `0007-x/README.md`."""
    folded = stem.lower()
    slug = _slug_words(folder).replace(" ", "-").lower()
    return folded in _INDEX_STEMS or folded.replace("_", "-") in (slug, folder.lower())


def _kind_of_folder(path: str) -> str:
    """`rfc`, `ddr` or `adr`, as the nearest telling folder says (archives.md 4)."""
    for part in reversed(path.split("/")):
        name = fold_folder(part)
        if _re(r"(?:active-)?rfcs?|rfds?").fullmatch(name):
            return "rfc"
        if _re(r"ddrs?|design-decisions?").fullmatch(name):
            return "ddr"
        if is_archive_name(part):
            break
    return "adr"


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


# ── 6a Finding archives that are not inkan's ──────────────────────────────────────────────────
#
# Pointer files settle where records are; else a folder with records, or made for them, is taken
# whole when it is `--root` itself; else folders are searched by name and, failing that, by what
# their files say (archives.md 1). One walk, shallow folders first, that follows no link.

SEARCH_DEPTH = 16  # folders below `--root`; decision records lie far higher
SEARCH_FOLDERS = 100_000  # looked into before the search ends with what it has
WATCHED_FOLDERS = 1_000  # whose change starts a new search, beside those that lead to an archive
SAMPLE_FILES = 5
SAMPLE_BYTES = 16 * 1024

_EXAMPLES = ("examples", "example", "samples", "sample")
_TELLING = frozenset((
    "status", "context", "decision", "decision outcome", "consequences", "considered options",
    "decision drivers", "context and problem statement",
))  # fmt: skip


class ForeignArchive:
    """A folder of records that are not inkan's, and how to read them."""

    __slots__ = ("convention", "folder", "project", "reader")

    def __init__(
        self, folder: str, project: str, convention: str, reader: ForeignReader
    ) -> None:
        self.folder, self.project = folder, project
        self.convention, self.reader = convention, reader


class _Folder:
    """One folder as the walk saw it; `path` is relative to the root and `/`-separated."""

    __slots__ = ("files", "folders", "pages", "path")

    def __init__(self, path: str) -> None:
        self.path = path
        self.files: list[str] = []  # named like records
        self.pages: list[str] = []  # that are one when their folder is named like one
        self.folders: list[str] = []

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]

    def is_record(self) -> bool:
        """Whether the folder is one record: `0007-x/README.md`."""
        return bool(self.pages) and read_file_name(self.name) is not None


class _Found:
    """An archive in the making: its folder, why it is one, and the folders seen below it."""

    __slots__ = ("convention", "deep", "folders", "name", "path")

    def __init__(self, path: str, convention: str, *, deep: bool = True, name: str = "") -> None:
        self.path, self.convention, self.deep, self.name = path, convention, deep, name
        self.folders: list[_Folder] = []

    def stems(self) -> dict[str, list[str]]:
        """The stems of records by the folder that holds them, relative to the archive."""
        stems: dict[str, list[str]] = {}
        cut = len(self.path) + 1 if self.path else 0
        for folder in self.folders:
            own = folder.path[cut:]
            if folder.is_record() and own:
                stems.setdefault(own.rpartition("/")[0], []).append(folder.name)
            elif folder.files:
                stems.setdefault(own, []).extend(split_ending(name)[0] for name in folder.files)
        return stems

    def record_folders(self) -> list[str]:
        """The folders that are one record each, relative to the archive."""
        cut = len(self.path) + 1 if self.path else 0
        return [folder.path[cut:] for folder in self.folders if folder.is_record()]


def find_foreign_archives(root: str, call: Call) -> tuple[list[ForeignArchive], list[str]]:
    """The archives below `root`, and the files and folders whose change asks for a new search.

    Nothing outside `root` is read but the name of the repository that it belongs to.
    """
    pointers, watched = _read_pointers(root)
    found = [archive for archive in pointers if os.path.isdir(_absolute(root, archive.path))]
    if found:
        for archive in found:
            archive.folders = list(_walk(root, archive.path, call))
        seen = [folder for archive in found for folder in archive.folders]
    else:
        found, seen = _search(root, call)
    found = [archive for archive in found if archive.stems()]
    paths = {folder.path for archive in found for folder in archive.folders}
    paths.update(_parents(paths), (folder.path for folder in seen[:WATCHED_FOLDERS]))
    watched += [_absolute(root, path) for path in sorted(paths)]
    return _name_archives(root, found), watched


def _absolute(root: str, path: str) -> str:
    return os.path.join(root, *path.split("/")) if path else root


def _parents(paths: Iterable[str]) -> set[str]:
    found = {""}
    for path in paths:
        while path and path not in found:
            found.add(path)
            path = path.rpartition("/")[0]  # noqa: PLW2901
    return found


# Pointer files: what a tool wrote down about where its records are.


def _read_pointers(root: str) -> tuple[list[_Found], list[str]]:
    """The folders that the first pointer file names, and the pointer files that exist."""
    named: list[_Found] = []
    present: list[str] = []
    for name, read in _POINTERS:
        path = os.path.join(root, name)
        text = _read_start(path)
        if text is None:
            continue
        present.append(path)
        if not named:
            named = [
                _Found(inside, f"{tool} ({name})", name=project)
                for tool, folder, project in read(text)
                for inside in [_inside(root, folder)]
                if inside is not None
            ]
    if not named and os.path.isdir(os.path.join(root, ".archgate", "adrs")):
        named = [_Found(".archgate/adrs", "archgate (.archgate/adrs)")]
    return named, present


def _read_start(path: str, most: int = SAMPLE_BYTES) -> str | None:
    """The first bytes of a regular file as text; `None` where it cannot be read."""
    if not os.path.isfile(path):
        return None
    try:
        with open(path, "rb") as file:
            return file.read(most).decode("utf-8", "replace").lstrip("\ufeff")
    except OSError:
        return None


def _inside(root: str, folder: str) -> str | None:
    """A folder that a pointer names, relative to `root`; `None` where it lies outside of it."""
    base = os.path.realpath(root)
    full = os.path.realpath(os.path.join(base, folder.strip() or "."))
    if full != base and not full.startswith(base.rstrip(os.sep) + os.sep):
        return None
    return "" if full == base else os.path.relpath(full, base).replace(os.sep, "/")


def _adr_tools(text: str) -> Iterator[tuple[str, str, str]]:
    first = text.strip().split("\n", 1)[0].strip()
    if first:
        yield "adr-tools", first, ""


def _log4brains(text: str) -> Iterator[tuple[str, str, str]]:
    project = _yaml_mapping(text).get("project")
    if not isinstance(project, dict):
        return
    if project.get("adrFolder"):
        yield "log4brains", text_of(project["adrFolder"]), ""
    packages = project.get("packages")
    for package in packages if isinstance(packages, list) else []:
        if isinstance(package, dict) and package.get("adrFolder"):
            yield "log4brains", text_of(package["adrFolder"]), text_of(package.get("name"))


def _yaml_mapping(text: str) -> dict[str, Any]:
    import vendored_yaml

    block = "\n".join(line for line in text.split("\n") if line.rstrip() not in ("---", "..."))
    try:
        value, _ = vendored_yaml.load_lenient(block)
    except vendored_yaml.YAMLError:
        return {}
    return value if isinstance(value, dict) else {}


def _adr_json(text: str) -> Iterator[tuple[str, str, str]]:
    import json

    try:
        value = json.loads(text)
    except ValueError:
        return
    if isinstance(value, dict) and isinstance(value.get("path"), str):
        yield "adr", value["path"], ""


def _adrs_toml(text: str) -> Iterator[tuple[str, str, str]]:
    found = _re(r"(?m)^[ \t]*adr_dir[ \t]*=[ \t]*[\"']([^\"'\n]+)[\"']").search(text)
    if found:
        yield "adrs", found[1], ""


def _backstage(text: str) -> Iterator[tuple[str, str, str]]:
    found = _re(r"(?m)^[ \t]*backstage\.io/adr-location:[ \t]*[\"']?([^\"'\n#]+)").search(text)
    if found:
        place = _re(r"https?://.*/(?:blob|tree)/[^/]+/").sub("", found[1].strip())
        if "://" not in place:
            yield "Backstage", place, ""


_POINTERS: tuple[tuple[str, Callable[[str], Iterator[tuple[str, str, str]]]], ...] = (
    (".adr-dir", _adr_tools),
    (".log4brains.yml", _log4brains),
    (".adr.json", _adr_json),
    ("adrs.toml", _adrs_toml),
    ("catalog-info.yaml", _backstage),
)


# The walk.


def _walk(root: str, start: str, call: Call) -> Iterator[_Folder]:
    """`start` and the folders below it that can hold records, shallow ones first."""
    import collections

    waiting = collections.deque([(start, 0)])
    seen = 0
    while waiting and seen < SEARCH_FOLDERS:
        path, depth = waiting.popleft()
        folder = _list_folder(root, path)
        seen += 1
        if seen % 64 == 0:
            call.check()
        yield folder
        if depth < SEARCH_DEPTH:
            base = path + "/" if path else ""
            waiting.extend((base + name, depth + 1) for name in folder.folders)


def _list_folder(root: str, path: str) -> _Folder:
    """One folder's entries by what their names say; nothing where it cannot be listed."""
    folder = _Folder(path)
    own = folder.name
    named = read_file_name(own) is not None
    try:
        with os.scandir(_absolute(root, path)) as entries:
            for entry in entries:
                name = entry.name
                if name.endswith(FOREIGN_ENDINGS):
                    stem = split_ending(name)[0]
                    if named and is_record_page(own, stem):
                        folder.pages.append(name)
                    elif _is_record_name(stem) and entry.is_file(follow_symlinks=False):
                        folder.files.append(name)
                elif entry.is_dir(follow_symlinks=False) and may_enter(name):
                    folder.folders.append(name)
    except OSError:
        folder.folders.clear()
    folder.folders.sort()
    return folder


def _is_record_name(stem: str) -> bool:
    return not (
        stem.startswith((".", "_"))
        or read_file_name(stem) is None
        or is_skipped(stem)
        or is_template(stem)
    )


def _search(root: str, call: Call) -> tuple[list[_Found], list[_Folder]]:
    """Archives by the names of folders and by what their files say, and all folders seen."""
    found: list[_Found] = []
    seen: list[_Folder] = []
    owners: dict[str, _Found] = {}
    for folder in _walk(root, "", call):
        seen.append(folder)
        owner = owners.get(folder.path.rpartition("/")[0]) if folder.path else None
        if owner is None or not (owner.deep or folder.is_record()):
            owner = _archive_at(root, folder)
            if owner is None:
                folder.folders = [name for name in folder.folders if name not in _EXAMPLES]
                continue
            found.append(owner)
        owner.folders.append(folder)
        owners[folder.path] = owner
    return found, seen


def _archive_at(root: str, folder: _Folder) -> _Found | None:
    """The archive that begins at that folder, by its name or its files; `None` without one."""
    name = folder.name or os.path.basename(os.path.abspath(root))
    if is_archive_name(name) or (not folder.path and _holds_records(folder.files)):
        return _Found(folder.path, "")
    if len(folder.files) < 3:
        return None
    sample = [os.path.join(_absolute(root, folder.path), n) for n in sorted(folder.files)]
    texts = [_read_start(path) or "" for path in sample[:SAMPLE_FILES]]
    telling = sum(len(_telling_sections(t)) >= 2 or bool(_mail_header(t)[0]) for t in texts)
    return _Found(folder.path, "", deep=False) if 2 * telling >= len(texts) else None


def _holds_records(files: list[str]) -> bool:
    """Whether names alone make a root an archive: one `0001-x.md`, but no `UPGRADE-6.1.md`."""
    if any(_re(rf"[0-9]|{_KINDS}[-_ ]?[0-9]").match(name) for name in files):
        return True
    padded = [m[1] for m in map(_re(r"([a-z_-]+)[0-9]{3,5}[-_. ]").match, files) if m]
    return any(padded.count(prefix) >= 3 for prefix in set(padded))


def _telling_sections(text: str) -> set[str]:
    """Which sections or labels of a decision record a text has."""
    lines = (line[:80].strip(" \t\r#*-_>|").partition(":")[0] for line in text.split("\n"))
    return {name for name in (line.strip(" *_|").lower() for line in lines) if name in _TELLING}


def _convention(root: str, found: _Found) -> str:
    """What a sample of the archive's files looks like, in a word or two for people."""
    paths = [(f, name) for f in found.folders for name in sorted(f.files or f.pages)]
    texts = [_read_start(os.path.join(_absolute(root, f.path), n)) or "" for f, n in paths[:3]]
    sections: set[str] = set().union(*map(_telling_sections, texts))
    if sections & {"considered options", "decision outcome"}:
        return "MADR"
    if {"status", "context"} <= sections:
        return "Nygard"
    return "front matter" if any(t.startswith("---") for t in texts) else "records by name"


# Their names.


def _name_archives(root: str, found: list[_Found]) -> list[ForeignArchive]:
    """Archives with the project of each of their folders (SPEC 5)."""
    own = repository_name(root) or os.path.basename(os.path.abspath(root)) or "archive"
    stems = {archive.path: archive.stems() for archive in found}
    places = [(a.path, rel) for a in found for rel in {"": [], **stems[a.path]}]
    full = {place: [part for part in "/".join(place).split("/") if part] for place in places}
    holding = [parts for (path, rel), parts in full.items() if rel in stems[path]]
    shared = _shared_length(holding)
    packages = {archive.path: archive.name for archive in found}
    projects = {
        place: packages[place[0]] or _project_name(parts[shared:]) or own
        for place, parts in full.items()
    }
    for place in _meeting(projects, stems, full):
        projects[place] = "-".join(full[place]).strip("._-") or own
    return [
        ForeignArchive(
            _absolute(root, archive.path),
            projects[archive.path, ""],
            archive.convention or _convention(root, archive),
            ForeignReader(
                archive.path,
                {rel: name for (path, rel), name in projects.items() if path == archive.path},
                archive.record_folders(),
                deep=archive.deep,
            ),
        )
        for archive in found
    ]


def _shared_length(paths: list[list[str]]) -> int:
    """How many leading parts all `paths` share; those of a single one tell nothing either."""
    first, last = (min(paths), max(paths)) if paths else ([], [])
    return next((n for n, (a, b) in enumerate(zip(first, last)) if a != b), len(first))


def _project_name(parts: list[str]) -> str:
    """Those of the path's parts that tell its folder from the others, joined by `-`."""
    telling = [
        part
        for part in parts
        if fold_folder(part) not in _COMMON_PARTS
        and not is_archive_name(part)
        and not _folder_status(part)
    ]
    return "-".join([part for part in telling if part.lower() not in _HOLDERS] or telling)


def _meeting(
    projects: dict[tuple[str, str], str],
    stems: dict[str, dict[str, list[str]]],
    full: dict[tuple[str, str], list[str]],
) -> set[tuple[str, str]]:
    """The folders whose records would share an id with those of another folder."""
    holders: dict[tuple[str, str, str], set[tuple[str, str]]] = {}
    for place, project in projects.items():
        for stem in stems[place[0]].get(place[1], ()):
            named = read_file_name(stem)
            kind = (named.kind if named else None) or _kind_of_folder("/".join(full[place]))
            holders.setdefault((project, kind, stem), set()).add(place)
    return {place for met in holders.values() if len(met) > 1 for place in met}


def repository_name(root: str) -> str | None:
    """The name in the address of the remote `origin`, read from `.git/config` as text."""
    folder = os.path.abspath(root)
    while not os.path.exists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
    text = _read_start(os.path.join(_git_folder(os.path.join(folder, ".git")), "config")) or ""
    section = text.partition('[remote "origin"]')[2].partition("\n[")[0]
    found = _re(r"(?m)^[ \t]*url[ \t]*=[ \t]*(\S+)").search(section)
    if not found:
        return None
    return found[1].rstrip("/").removesuffix(".git").replace(":", "/").rpartition("/")[2] or None


def _git_folder(path: str) -> str:
    """The folder with the configuration: of a worktree, the one of its main repository."""
    pointer = _read_start(path)
    if pointer is None:
        return path
    folder = os.path.join(os.path.dirname(path), pointer.partition("gitdir:")[2].strip())
    common = _read_start(os.path.join(folder, "commondir"))
    return os.path.join(folder, common.strip()) if common else folder
