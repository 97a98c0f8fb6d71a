"""What goes wrong with a text, as one sentence with its place and, where there is one, the fix."""

from __future__ import annotations


class YAMLError(ValueError):
    """A text that is no YAML, or outside the subset; `line` and `column` count from 1."""

    def __init__(self, problem: str, line: int, column: int, hint: str | None = None) -> None:
        self.problem = problem
        self.line = line
        self.column = column
        self.hint = hint
        super().__init__(problem, line, column, hint)

    def __str__(self) -> str:
        end = f"; {self.hint}" if self.hint else ""
        return f"line {self.line}, column {self.column}: {self.problem}{end}"


class UnsupportedError(YAMLError):
    """Valid YAML that the subset leaves out on purpose: tags, directives, merge keys, ..."""


class Repair:
    """One value that `load_lenient` read as text because only its quotes were missing."""

    __slots__ = ("column", "hint", "key", "line", "problem")

    def __init__(self, key: str, error: YAMLError) -> None:
        self.line = error.line
        self.column = error.column
        self.key = key
        self.problem = error.problem
        self.hint = error.hint

    def __repr__(self) -> str:
        return f"Repair({self.key!r}, line {self.line}, column {self.column}: {self.problem})"
