"""Reading of JavaScript and TypeScript configurations without running them.

The file is cut into tokens, the declarations at its top level are listed, and the default export is
worked out from literals alone. What only a JavaScript engine could know becomes an `Unknown` in its
place. Order: values, tokens, TypeScript's types, declarations, changes, evaluation, the entry.
Every pass looks at a token a bounded number of times, so the time is linear in the file.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MAX_SCRIPT_CHARS = 1 << 20  # a configuration is written by hand
MAX_SCRIPT_DEPTH = 200  # brackets within brackets
MAX_VALUE_DEPTH = 100  # values within values; five calls each stay well under Python's limit
MAX_SCRIPT_COPIES = 50_000  # names may multiply values (a = [b, b], b = [c, c], …)
MAX_SCRIPT_TEXT = 1 << 20  # so may `+`


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Patterns are compiled at their first use: few servers have a script for a configuration.
_LEXEME = (
    r"(?:[\t-\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+"
    r"|//[^\n\r\u2028\u2029]*|/\*[\s\S]*?\*/)*"
    r"(?:(?P<number>0[xX][0-9a-fA-F_]+n?|0[oO][0-7_]+n?|0[bB][01_]+n?"
    r"|(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9_]+)?n?)"
    r"|(?P<name>#?(?:[\w$\u200c\u200d]|\\u[0-9a-fA-F]{4}|\\u\{[0-9a-fA-F]+\})+)"
    r"|(?P<string>\"[^\"\\\r\n]*(?:\\(?:\r\n|[\s\S])[^\"\\\r\n]*)*\""
    r"|'[^'\\\r\n]*(?:\\(?:\r\n|[\s\S])[^'\\\r\n]*)*')"
    r"|(?P<mark>=>|\.\.\.|/\*|\?\.(?![0-9])|\?\?=?|\|\|=?|&&=?|\*\*=?|[=!]==?|<<=?|<=|>>>?="
    r"|\+\+|--|[-+*/%&|^]=?|[\s\S])|\Z)"
)
_TEMPLATE = r"[^`\\$]*(?:(?:\\[\s\S]|\$(?!\{))[^`\\$]*)*(?:`|\$\{)"
_REGEX = r"/(?:[^/\\\[\r\n]|\\[^\r\n]|\[(?:[^\]\\\r\n]|\\[^\r\n])*\])+/[\w$]*"
_ESCAPE = (
    r"\\(?:u\{([0-9a-fA-F]+)\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([0-3]?[0-7]{1,2})"
    r"|(\r\n|[\s\S]))"
)
_LINE = r"\r\n?|\n"

_PARTNERS = {"(": ")", "[": "]", "{": "}"}
_CLOSERS = frozenset(")]}")
_ENDS = frozenset([",", ";", ""])
_SPECIAL = frozenset(["/", "/=", "/*", "`", '"', "'", "}"])
_TYPE_WORDS = _words("keyof readonly typeof unique infer asserts abstract new is . | & -")
_BEFORE_REGEX = _words(
    "return typeof case in of delete void instanceof new do else await yield throw default"
)
_CONTROL = frozenset(["if", "for", "while", "switch", "with"])
_DECLARERS = frozenset(["const", "let", "var", "function", "class"])
_STATEMENTS = _DECLARERS | _words(
    "export import type interface enum namespace declare abstract async module exports if for"
)
_ASSIGNMENTS = _words("= += -= *= /= %= **= <<= >>= >>>= &= |= ^= &&= ||= ??= ++ --")
_LEVELS = ("?? ||", "&&", "|", "^", "&", "== != === !==", "< > <= in instanceof", "<<", "+ -")
_PRECEDENCE = {
    word: level
    for level, words in enumerate((*_LEVELS, "* / %", "**"), 1)
    for word in _words(words)
}
_PREFIXES = _words("! - + ~ typeof void await delete ++ -- yield")
_AFTER_KEY = frozenset([":", ",", "}", "(", "<", "="])
_LITERALS = {"true": True, "false": False, "null": None, "undefined": None}
_NO_WRAPPERS = _words("require import Object Array JSON Reflect new function class")
_STRANGE = "an expression"
_CHANGED = "a name whose value is changed later"
_ENVIRONMENTS = frozenset(["process", "import", "Deno", "Bun", "globalThis"])
_SIMPLE_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v"}
_NOT_IN_TYPES = _words("; + * / % && || ?? == != === !== <= << ++ -- ? ! ?.")
# Calls that read what they are given; every other call may change it.
_READING_CALLS = _words(
    "freeze seal keys values entries stringify isArray log info warn error debug map filter slice "
    "concat join includes indexOf find some every flat flatMap forEach has get String Number "
    "Boolean"
)


# Values


class ScriptError(Exception):
    """A script that cannot be read as a whole; lines and columns count from 1."""

    def __init__(self, problem: str, line: int, column: int) -> None:
        super().__init__(f"{line}:{column}: {problem}")
        self.problem = problem
        self.line = line
        self.column = column


class Unknown:
    """A value that only running the script would tell: why (a noun), where, its source."""

    __slots__ = ("column", "line", "reason", "text")

    def __init__(self, reason: str, line: int, column: int, text: str) -> None:
        self.reason = reason
        self.line = line
        self.column = column
        self.text = text

    def __repr__(self) -> str:
        return f"Unknown({self.reason!r}, {self.line}, {self.column}, {self.text!r})"


class ScriptObject(dict[str, object]):
    """An object literal: a dictionary that knows where its keys stand.

    `rest` is set when a spread or a computed key is unknown: any key that is not in the dictionary
    may then exist. Keys before it are not in the dictionary either, since it may replace them.
    """

    __slots__ = ("offsets", "rest")

    def __init__(self) -> None:
        super().__init__()
        self.offsets: dict[str, int] = {}
        self.rest: Unknown | None = None

    def find(self, key: str, default: object = None) -> object:
        """Give the value of a key; `rest` when it may exist unseen; else the default."""
        if key in self:
            return self[key]
        return default if self.rest is None else self.rest

    def obscure(self, unknown: Unknown) -> None:
        """Note that any key may have been set here: what is known so far is known no longer."""
        self.rest = unknown
        self.clear()


class ScriptList(list[object]):
    """An array literal: a list that knows where its elements stand."""

    __slots__ = ("offsets",)

    def __init__(self) -> None:
        super().__init__()
        self.offsets: list[int] = []

    def add(self, value: object, offset: int) -> None:
        """Append an element."""
        self.append(value)
        self.offsets.append(offset)


class ScriptValue:
    """What a script exports: plain data with `Unknown` in it, and the place of every key."""

    __slots__ = ("_offset", "_tokens", "value")

    def __init__(self, value: object, tokens: _Tokens, offset: int) -> None:
        self.value = value
        self._tokens = tokens
        self._offset = offset

    def where(self, *path: str | int) -> tuple[int, int]:
        """Line and column of the key at the end of a path, or of the last part that exists."""
        value, offset = self.value, self._offset
        for step in path:
            if isinstance(value, ScriptObject) and step in value.offsets:
                offset, value = value.offsets[str(step)], value.find(str(step))
            elif isinstance(value, ScriptList) and isinstance(step, int) and step < len(value):
                offset, value = value.offsets[step], value[step]
            else:
                break
        return self._tokens.locate(offset)


# Tokens


class _Tokens:
    """A script as parallel lists; `close` maps an opening bracket to its partner, `opens` back.

    The pieces of a template with holes are brackets too: each closes the one before it. A few empty
    tokens at the end let every reader look ahead without a check.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.kinds: list[str] = []
        self.texts: list[str] = []
        self.starts: list[int] = []
        self.parents: list[int] = []  # the bracket a token stands in, or -1
        self.close: dict[int, int] = {}
        self.opens: dict[int, int] = {}
        self.angles: dict[int, int] = {}  # `<` to `>` where they may hold type arguments
        self.stack: list[int] = []
        self.scope_ends: dict[int, tuple[int, int]] = {}
        self.misread = 0  # slashes that looked like regular expressions
        self._lines: list[int] = []

    def add(self, kind: str, word: str, start: int) -> None:
        """Append a token and keep the brackets' books."""
        index = len(self.kinds)
        stack = self.stack
        if word in _CLOSERS or kind in ("middle", "tail"):
            opener = stack.pop() if stack else -1
            expected = _PARTNERS.get(self.texts[opener], "}") if opener >= 0 else ""
            if word[0] != expected:
                wanted = f"stands where `{expected}` is due" if expected else "closes nothing"
                raise self.error(f"`{word[0]}` {wanted}", start)
            self.close[opener] = index
            self.opens[index] = opener
        self.parents.append(stack[-1] if stack else -1)
        if word in _PARTNERS or kind in ("head", "middle"):
            stack.append(index)
            if len(stack) > MAX_SCRIPT_DEPTH:
                raise self.error(f"brackets are nested more than {MAX_SCRIPT_DEPTH} deep", start)
        self.kinds.append(kind)
        self.texts.append(word)
        self.starts.append(start)

    def is_end(self, i: int) -> bool:
        """Whether token `i` ends any expression."""
        return i in self.opens or self.texts[i] in _ENDS

    def locate(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset."""
        if not self._lines:
            self._lines = [0, *(found.end() for found in re.compile(_LINE).finditer(self.text))]
        low, high = 0, len(self._lines)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._lines[middle] <= offset else (low, middle)
        bom = low == 0 and self.text.startswith("\ufeff")
        return low + 1, offset - self._lines[low] + 1 - bom

    def error(self, problem: str, offset: int) -> ScriptError:
        """Make the error that says what is wrong with the whole file."""
        return ScriptError(problem, *self.locate(offset))

    def unknown(self, reason: str, i: int) -> Unknown:
        """Make the unknown value that begins at a token."""
        start = end = self.starts[i]
        first = i
        while end - start <= 40 and self.opens.get(i, i) >= first and self.texts[i]:
            if self.texts[i] in _ENDS and self.parents[i] == self.parents[first]:
                break
            end = self.starts[i] + len(self.texts[i])
            i += 1
        text = re.compile(_LINE).split(self.text[start:end][:41])[0]
        return Unknown(reason, *self.locate(start), text if len(text) < 41 else text[:39] + "…")

    def after(self, i: int) -> int:
        """Find the token behind token `i`, or behind the group or template that it opens."""
        while i in self.close:
            i = self.close[i]
        return i + 1

    def begins_line(self, i: int) -> bool:
        """Whether a line break stands between token `i` and the one before it."""
        end = self.starts[i - 1] + len(self.texts[i - 1])
        return i == 0 or re.compile(_LINE).search(self.text, end, self.starts[i]) is not None


def _tokenize(text: str) -> _Tokens:
    """Cut a script into tokens and match its brackets; raises `ScriptError`."""
    tokens = _Tokens(text)
    match = re.compile(_LEXEME).match
    position = 1 if text.startswith("\ufeff") else 0
    if text.startswith("#!", position):
        line_end = re.compile(_LINE).search(text)
        position = line_end.start() if line_end else len(text)
    while (found := match(text, position)) and (kind := found.lastgroup):
        start, position = found.span(kind)
        word = found[kind]
        if word in _SPECIAL:
            kind, word = _special_token(tokens, word, start)
            position = start + len(word)
        tokens.add(kind, word, start)
    if tokens.stack:
        opener = tokens.stack[-1]
        raise tokens.error(f"`{tokens.texts[opener][0]}` is never closed", tokens.starts[opener])
    for _ in range(4):
        tokens.add("end", "", len(text))
    if "<" in tokens.texts:
        _match_angles(tokens)
    return tokens


def _special_token(tokens: _Tokens, word: str, start: int) -> tuple[str, str]:
    """Give kind and text of a token that depends on its surroundings or has no end."""
    if word == "}":
        inside = tokens.stack and tokens.kinds[tokens.stack[-1]] in ("head", "middle")
        return _template_piece(tokens, start, ("tail", "middle")) if inside else ("mark", word)
    if word == "`":
        return _template_piece(tokens, start, ("template", "head"))
    if word == "/*":
        raise tokens.error("a comment is never closed", start)
    if word in ('"', "'"):
        raise tokens.error("a string is not closed on its line", start)
    if _regex_may_start(tokens):
        found = re.compile(_REGEX).match(tokens.text, start)
        if found:
            return "regex", found[0]
        tokens.misread += 1
        if tokens.misread > 20:  # each miss has cost a walk to the end of the line
            raise tokens.error("a regular expression is not closed", start)
    return "mark", word


def _template_piece(tokens: _Tokens, start: int, kinds: tuple[str, str]) -> tuple[str, str]:
    """Read a piece of a template literal; it has the first kind when it ends the literal."""
    found = re.compile(_TEMPLATE).match(tokens.text, start + 1)
    if not found:
        raise tokens.error("a template literal is never closed", start)
    return kinds[0 if found[0][-1] == "`" else 1], tokens.text[start : found.end()]


def _regex_may_start(tokens: _Tokens) -> bool:
    """Whether a slash begins a regular expression here: where an operand is due."""
    texts = tokens.texts
    last = len(texts) - 1
    if last < 0:
        return True
    kind, word = tokens.kinds[last], texts[last]
    before = texts[last - 1] if last else ""
    if word == "!":  # TypeScript's assertion behind a value, else a negation
        value = last and tokens.kinds[last - 1] not in ("mark", "head", "middle")
        return before not in (")", "]") and (not value or before in _BEFORE_REGEX)
    if kind == "name":
        return word in _BEFORE_REGEX and before not in (".", "?.")
    if word == ")":
        opener = tokens.opens[last]
        return opener > 0 and texts[opener - 1] in _CONTROL
    if word == "}":  # of a block, unless its brace stood where a value was due
        opener = tokens.opens[last]
        before = texts[opener - 1] if opener else ""
        return before in ("", ")", ";", "{", "}", "=>") or tokens.kinds[opener - 1] == "name"
    return kind in ("mark", "head", "middle") and word not in ("]", "++", "--")


def _match_angles(tokens: _Tokens) -> None:
    """Pair `<` with `>` where what lies between could be TypeScript's type arguments."""
    stack: list[int] = []
    for i, word in enumerate(tokens.texts):
        if word == "<":
            stack.append(i)
        elif word == ">":
            if stack and stack[-1] >= 0:
                tokens.angles[stack.pop()] = i
        elif i in tokens.opens or word in _NOT_IN_TYPES:
            while stack and stack[-1] >= 0:
                stack.pop()
            if i in tokens.opens and stack:
                stack.pop()
        if i in tokens.close:
            stack.append(-1)


# TypeScript's types, and the ends of expressions


def _type_arguments(tokens: _Tokens, i: int) -> int:
    """Find the token behind the type arguments at `i`; `i` itself when they are none."""
    end = tokens.angles.get(i)
    if end is None or tokens.kinds[end + 1] in ("name", "string", "number"):
        return i
    return end + 1


def _skip_type(tokens: _Tokens, i: int) -> int:
    """Find the token behind a type."""
    texts, due = tokens.texts, True  # whether an operand is due
    while True:
        word = texts[i]
        if word == "<" and i in tokens.angles:
            i = tokens.angles[i] + 1
        elif word in _TYPE_WORDS or (word == "=>" and texts[i - 1] == ")" and not due):
            i, due = i + 1, True
        elif due and (tokens.kinds[i] not in ("mark", "end") or i in tokens.close):
            i, due = tokens.after(i), texts[tokens.after(i)] == "is"
        elif word == "[" and not tokens.begins_line(i):
            i = tokens.after(i)
        else:
            return i


def _skip_expression(tokens: _Tokens, i: int, *, colon: bool = False) -> int:
    """Find the `,`, `;` or bracket that ends an expression; with `colon` also a lone `:`."""
    questions = 0
    while not tokens.is_end(i):
        word = tokens.texts[i]
        if word == "?":
            questions += 1
        elif word == ":" and colon:
            questions -= 1
            if questions < 0:
                return i
        i = max(_type_arguments(tokens, i), tokens.after(i)) if word == "<" else tokens.after(i)
    return i


def _body_of_arrow(tokens: _Tokens, i: int, *, colon: bool = False) -> int:
    """Find the body of the arrow function that begins at `i`; 0 when there is none."""
    texts = tokens.texts
    if texts[i] == "async" and not tokens.begins_line(i + 1):
        i += 1 if texts[i + 1] == "(" or tokens.kinds[i + 1] == "name" else 0
    if texts[i] == "<":
        i = _type_arguments(tokens, i)
    if texts[i] != "(" and tokens.kinds[i] != "name":
        return 0
    end = tokens.after(i)
    if texts[end] == ":" and texts[i] == "(" and not colon:
        end = _skip_type(tokens, end + 1)
    return end + 1 if texts[end] == "=>" else 0


# Declarations


class _Binding:
    """A name of the top level: where its value begins, or why it is unknown."""

    __slots__ = ("changed", "fixed", "reason", "start")

    def __init__(self, start: int, reason: str, *, fixed: bool) -> None:
        self.start = start
        self.reason = reason
        self.fixed = fixed  # declared with const
        self.changed = False  # something in its value is set somewhere


class _Outline:
    """What the top level of a script declares, and where its default export begins."""

    def __init__(self, tokens: _Tokens) -> None:
        self.tokens = tokens
        self.names: dict[str, _Binding] = {}
        self.parameters: set[str] = set()  # of a function whose result is exported
        self.declared: set[int] = set()  # the mentions that declare a name
        self.root = -1
        self.root_reason = ""
        self.module = -1  # the `module` of `module.exports = …`
        self.wrappers: list[int] = []  # brackets of the calls that the default export goes through
        self.path: list[int] = []  # and the mentions of names

    def declare(self, i: int, start: int, reason: str = "", *, fixed: bool = True) -> None:
        """Add the name at token `i`; a second declaration makes it unknown."""
        name = self.tokens.texts[i]
        self.declared.add(i)
        if name in self.names:
            start, reason = -1, "a name that is declared twice"
        self.names[name] = _Binding(start, reason, fixed=fixed)

    def export(self, start: int, reason: str = "") -> None:
        """Note the default export; a second one leaves it unknown."""
        if self.root >= 0:
            reason = "one of two default exports"
        self.root, self.root_reason = start, reason


def _outline(tokens: _Tokens) -> _Outline:
    """List the declarations and exports of the top level."""
    outline = _Outline(tokens)
    texts, kinds = tokens.texts, tokens.kinds
    keyword = ""  # of the declaration that a comma may go on
    i = 0
    while kinds[i] != "end":
        word = texts[i]
        handler = _STATEMENT_HANDLERS.get(word)
        if handler and kinds[i] == "name" and texts[i - 1] not in (".", "?.", "as"):
            keyword = word if word in ("const", "let", "var") else ""
            i = handler(outline, i)
        elif word == "," and keyword and _is_declarator(tokens, i + 1):
            i = _declare_variable(outline, i + 1, keyword)
        else:
            keyword = "" if word == ";" else keyword
            i = max(_type_arguments(tokens, i), tokens.after(i)) if word == "<" else tokens.after(i)
    return outline


def _is_declarator(tokens: _Tokens, i: int) -> bool:
    after = tokens.texts[tokens.after(i)]
    return after in ("=", ":") or (tokens.kinds[i] == "name" and after in ("!", *_ENDS))


def _declare_variables(outline: _Outline, i: int) -> int:
    """`const`, `let` and `var`; gives the token at which the first value begins."""
    texts = outline.tokens.texts
    if texts[i + 1] == "enum":
        return _declare_opaque(outline, i + 1)
    return _declare_variable(outline, i + 1, texts[i])


def _declare_variable(outline: _Outline, i: int, keyword: str) -> int:
    tokens = outline.tokens
    names = [i] if tokens.kinds[i] == "name" else _names_in_pattern(tokens, i)
    simple = tokens.kinds[i] == "name"
    i = tokens.after(i) if not tokens.is_end(i) else i
    i += tokens.texts[i] == "!"
    if tokens.texts[i] == ":":
        i = _skip_type(tokens, i + 1)
    valued = tokens.texts[i] == "="
    for name in names:
        reason = "" if simple else "a name taken out of another value"
        reason = reason if valued else "a name that is declared without a value"
        start = -1 if reason else i + 1
        outline.declare(name, start, reason, fixed=keyword == "const")
    return i + valued


def _names_in_pattern(tokens: _Tokens, i: int) -> list[int]:
    """List the names that parameters or a destructuring pattern bind."""
    texts = tokens.texts
    found = []
    for j in range(i + 1, tokens.close.get(i, i)):
        before = texts[j - 1]
        binds = before in ("(", ",", "{", "[", "...") or (
            before == ":" and texts[tokens.parents[j]] == "{"
        )
        if binds and tokens.kinds[j] == "name":
            found.append(j)
    return found


def _declare_opaque(outline: _Outline, i: int) -> int:
    """Functions, classes, enums and namespaces: names without a value that could be known."""
    tokens = outline.tokens
    name = i + 1 + (tokens.texts[i + 1] == "*")
    if tokens.kinds[name] == "name":
        article = "an" if tokens.texts[i] == "enum" else "a"
        outline.declare(name, -1, f"{article} {tokens.texts[i]}")
        return name + 1
    return i + 1


def _declare_imports(outline: _Outline, i: int) -> int:
    """Note the names of an import line, up to the file it imports from."""
    tokens = outline.tokens
    i += 1
    if tokens.texts[i] in ("(", "."):
        return i
    while tokens.kinds[i] in ("name", "mark") and tokens.texts[i] not in (";", "=", "import"):
        if tokens.kinds[i] == "name" and tokens.texts[i] not in ("from", "type", "as"):
            outline.names[tokens.texts[i]] = _Binding(-1, "an imported name", fixed=True)
        i += 1
    return i


def _note_export(outline: _Outline, i: int) -> int:
    """`export default X`, `export = X` and `export { x as default }`."""
    tokens = outline.tokens
    texts = tokens.texts
    if texts[i + 1] in ("default", "="):
        outline.export(i + 2)
        return i + 2
    if texts[i + 1] != "{":
        return i + 1
    end = tokens.after(i + 1)
    for j in range(i + 2, end):
        if texts[j] == "default" and texts[j + 1] in (",", "}"):
            elsewhere = texts[end] == "from" or texts[j - 1] != "as"
            outline.export(j - 2, "a value of another file" if elsewhere else "")
    return end


def _note_assigned_export(outline: _Outline, i: int) -> int:
    """`module.exports = X`, `module.exports.default = X` and `exports.default = X`."""
    texts = outline.tokens.texts
    whole = texts[i] == "module"
    if whole and texts[i + 1 : i + 3] != [".", "exports"]:
        return i + 1
    equals = i + 3 if whole else i + 1
    named = texts[equals : equals + 2] == [".", "default"]
    equals += 2 * named
    if texts[equals] != "=" or not (whole or named):
        return i + 1
    equals += 2 * (texts[equals + 1 : equals + 3] == ["exports", "="])
    if not named:
        outline.export(equals + 1)
        outline.module = i
        outline.names.setdefault("module", _Binding(-1, "the module itself", fixed=True))
    elif outline.module < 0:
        outline.root = equals + 1
    return equals + 1


_STATEMENT_HANDLERS = {
    "const": _declare_variables,
    "let": _declare_variables,
    "var": _declare_variables,
    "function": _declare_opaque,
    "class": _declare_opaque,
    "enum": _declare_opaque,
    "namespace": _declare_opaque,
    "import": _declare_imports,
    "export": _note_export,
    "module": _note_assigned_export,
    "exports": _note_assigned_export,
}


# The way from the default export to its object


def _unwrap(outline: _Outline) -> int:
    """Where the exported object begins: through names, brackets, functions and `defineConfig(…)`.

    A call with one argument is taken to give that argument back, and a function to be called:
    that is what site builders do with a default export, whatever the helper's name.
    """
    tokens = outline.tokens
    i, seen = outline.root, set()
    while i not in seen:
        seen.add(i)
        if tokens.texts[i] == "await":
            i += 1
        elif body := _returned(tokens, i):
            outline.parameters.update(tokens.texts[i:body])
            i = body
        elif _is_bracketed(tokens, i):
            i += 1
        elif (bracket := _only_argument(tokens, i)) > 0:
            outline.wrappers.append(bracket)
            i = bracket + 1
        elif tokens.texts[i] in outline.names and _is_whole(tokens, i + 1):
            outline.path.append(i)
            start = outline.names[tokens.texts[i]].start
            i = start if start >= 0 else i
    return i


def _is_whole(tokens: _Tokens, i: int) -> bool:
    """Whether an expression may end before token `i`."""
    if tokens.is_end(i) or tokens.texts[i] in ("as", "satisfies"):
        return True
    return tokens.kinds[i] in ("name", "string") and tokens.begins_line(i)


def _is_bracketed(tokens: _Tokens, i: int) -> bool:
    """Tell whether brackets around one expression are all there is."""
    if tokens.texts[i] != "(" or not _is_whole(tokens, tokens.after(i)):
        return False
    return _skip_expression(tokens, i + 1) == tokens.close[i]


def _only_argument(tokens: _Tokens, i: int) -> int:
    """Find the bracket of a call that is all there is and has one argument; 0 for none."""
    texts = tokens.texts
    if tokens.kinds[i] != "name" or texts[i] in _NO_WRAPPERS:
        return 0
    i += 1
    while texts[i] == "." and tokens.kinds[i + 1] == "name":
        i += 2
    i = _type_arguments(tokens, i)
    if texts[i] != "(" or not _is_whole(tokens, tokens.after(i)):
        return 0
    end = _skip_expression(tokens, i + 1)
    end += texts[end] == ","
    alone = end == tokens.close[i] and end > i + 1 and texts[i + 1] != "..."
    return i if alone else 0


def _returned(tokens: _Tokens, i: int) -> int:
    """Find the expression that a function gives back at once; 0 for none."""
    texts = tokens.texts
    body = _body_of_arrow(tokens, i)
    if not body:
        i += texts[i] == "async"
        if texts[i] != "function" or texts[i + 1] == "*":
            return 0
        body = tokens.after(i + 1 + (tokens.kinds[i + 1] == "name"))
        body = _skip_type(tokens, body + 1) if texts[body] == ":" else body
        if texts[body] != "{":
            return 0
    if texts[body] != "{":
        return body
    whole = texts[body + 1] == "return" and _is_whole(tokens, tokens.after(body))
    return body + 2 if whole else 0


# Changes


def _mark_changes(outline: _Outline) -> None:
    """Find the mentions that change what a name holds.

    A parameter or inner declaration of the same name hides it: `(config) => { config.x = 1 }` is
    how plugins work.
    """
    tokens, names = outline.tokens, outline.names
    hidden: dict[str, int] = {}  # how many open scopes bind a name anew
    endings: dict[int, list[str]] = {}
    for i, word in enumerate(tokens.texts):
        for name in endings.pop(i, ()):
            hidden[name] -= 1
        known = word in names and tokens.kinds[i] == "name"
        if word == "(" or word in _DECLARERS or (known and tokens.texts[i + 1] == "=>"):
            found, end = _scope(tokens, i)
            bound = [tokens.texts[j] for j in found if tokens.texts[j] in names]
            endings.setdefault(end, []).extend(bound)
            for name in bound:
                hidden[name] = hidden.get(name, 0) + 1
        if known and not hidden.get(word) and tokens.texts[i - 1] not in (".", "?."):
            _mark_mention(outline, i)
    _spread_changes(outline)


def _scope(tokens: _Tokens, i: int) -> tuple[list[int], int]:
    """List the names that parameters or an inner declaration bind, with the end of their scope."""
    texts, parent = tokens.texts, tokens.parents[i]
    named = tokens.kinds[i + 1] == "name"
    if texts[i + 1] == "=>":
        return [i], _scope_end(tokens, i + 2)
    if texts[i] == "(":
        body = tokens.close[i] + 1
        body = _skip_type(tokens, body + 1) if texts[body] == ":" else body
        if texts[body] in ("{", "=>") and texts[i - 1] not in _CONTROL:
            return _names_in_pattern(tokens, i), _scope_end(tokens, body + (texts[body] == "=>"))
    elif parent >= 0 and (named or texts[i] in ("const", "let", "var")):
        end = tokens.close[parent]
        if texts[parent] == "(":  # for (const x of y) {
            end = tokens.close.get(end + 1, end)
        return [i + 1] if named else _names_in_pattern(tokens, i + 1), end
    return [], i


def _scope_end(tokens: _Tokens, i: int) -> int:
    """Find the end of a function's body; arrows in a row share one walk to it."""
    if tokens.texts[i] == "{":
        return tokens.close[i]
    start, end = tokens.scope_ends.get(tokens.parents[i], (0, 0))
    if not start <= i < end:
        end = _skip_expression(tokens, i)
        tokens.scope_ends[tokens.parents[i]] = (i, end)
    return end


def _mark_mention(outline: _Outline, i: int) -> None:
    """Note what one mention of a name does to its value."""
    tokens = outline.tokens
    texts = tokens.texts
    if i in outline.declared:
        return
    binding = outline.names[texts[i]]
    end = _member_end(tokens, i + 1)
    member, after, before = end > i + 1, texts[end], texts[i - 1]
    if after in _ASSIGNMENTS or before in ("++", "--", "delete"):
        if member:
            own = i == outline.module or (texts[i] == "module" and texts[end - 1] == "default")
            binding.changed = binding.changed or not own
        elif not binding.fixed:
            _mark_assigned(binding)
    elif after == "(":
        reading = texts[end - 1] in _READING_CALLS
        binding.changed = binding.changed or (member and not reading)
    elif tokens.parents[i] >= 0 and _may_be_changed_by_group(outline, i, after):
        binding.changed = True
        if not binding.fixed and texts[tokens.parents[i]] != "(":
            _mark_assigned(binding)


def _mark_assigned(binding: _Binding) -> None:
    if binding.start >= 0:
        binding.start, binding.reason = -1, "a name that is assigned more than once"


def _member_end(tokens: _Tokens, i: int) -> int:
    """Find the token behind a chain of member accesses."""
    texts = tokens.texts
    while True:
        if texts[i] in (".", "?.") and tokens.kinds[i + 1] == "name":
            i += 2
        elif texts[i] == "[":
            i = tokens.after(i)
        elif (texts[i] == "?." and texts[i + 1] == "[") or texts[i] == "!":
            i += 1
        else:
            return i


def _may_be_changed_by_group(outline: _Outline, i: int, after: str) -> bool:
    """Whether a mention is an argument of a call that may change it, or the target of a pattern."""
    tokens = outline.tokens
    texts = tokens.texts
    bracket = tokens.parents[i]
    if texts[bracket] != "(":
        return texts[tokens.after(bracket)] == "=" and texts[bracket - 1] not in _DECLARERS
    if after in ("of", "in"):
        return texts[bracket - 1] in ("for", "await")
    callee = texts[bracket - 1]
    called = tokens.kinds[bracket - 1] == "name" or callee in (")", "]", ">", "?.")
    if not called or callee in _CONTROL or callee in _READING_CALLS or after not in (",", ")"):
        return False
    copied = callee == "assign" and texts[i - 1] != "("
    return bracket not in outline.wrappers and not copied and texts[i - 1] in ("(", ",")


def _spread_changes(outline: _Outline) -> None:
    """Mark what a changed name was made from: both may be the same object."""
    tokens, names = outline.tokens, outline.names
    pending = [name for name in names if names[name].changed]
    while pending:
        start = names[pending.pop()].start
        if start < 0:
            continue
        for i in range(start, _value_end(tokens, start)):
            binding = names.get(tokens.texts[i])
            if binding and not binding.changed and tokens.kinds[i] == "name":
                binding.changed = True
                pending.append(tokens.texts[i])


def _value_end(tokens: _Tokens, i: int) -> int:
    """Find the end of a declared value, also where no semicolon ends it."""
    i = tokens.after(i)
    while not tokens.is_end(i):
        if tokens.texts[i] in _STATEMENTS and tokens.begins_line(i):
            break
        i = tokens.after(i)
    return i


# Evaluation


class _Operators:
    """Works out expressions around the literals and names that `primaries` reads.

    A method takes a token and gives a value and the token behind it.
    """

    def __init__(self, outline: _Outline) -> None:
        self.outline = outline
        self.tokens = outline.tokens
        self.busy: list[str] = []
        self.steps = len(outline.tokens.kinds) + MAX_SCRIPT_COPIES
        self.letters = MAX_SCRIPT_TEXT
        self.primaries: dict[str, Callable[[int, int], tuple[object, int]]] = {}

    def expression(self, i: int, depth: int, *, colon: bool = False) -> tuple[object, int]:
        """Work out an expression without commas; `colon` says that a `:` ends it."""
        if depth > MAX_VALUE_DEPTH:
            unknown = self.tokens.unknown("a value that is nested too deeply", i)
            return unknown, _skip_expression(self.tokens, i, colon=colon)
        value, end = self._binary(i, depth, colon=colon)
        if self.tokens.is_end(end):
            return value, end
        if self.tokens.texts[end] == "?":
            value, end = self._conditional(value, end, depth, colon=colon)
        word = self.tokens.texts[end]
        counted = word in ("++", "--") and self.tokens.begins_line(end)  # the next statement's
        if word in _ASSIGNMENTS and not counted:
            value = self.tokens.unknown("an assignment", i)
            end = _skip_expression(self.tokens, end, colon=colon)
        return value, end

    def _conditional(self, test: object, i: int, depth: int, *, colon: bool) -> tuple[object, int]:
        chosen, i = self.expression(i + 1, depth + 1, colon=True)
        if self.tokens.texts[i] != ":":
            return self.tokens.unknown(_STRANGE, i), _skip_expression(self.tokens, i, colon=colon)
        other, i = self.expression(i + 1, depth + 1, colon=colon)
        if isinstance(test, Unknown):
            return test, i
        return (chosen if _is_true(test) else other), i

    def _binary(self, first: int, depth: int, *, colon: bool) -> tuple[object, int]:
        """Work out operands and the operators between them, by precedence without recursion."""
        texts = self.tokens.texts
        value, i = self._operand(first, depth, colon=colon)
        if self.tokens.is_end(i):
            return value, i
        values, operators = [value], [""]
        while True:
            word = texts[i]
            if word in ("as", "satisfies"):
                i = _skip_type(self.tokens, i + 1)
                continue
            level = _PRECEDENCE.get(word, 0)
            while operators[-1] and _PRECEDENCE[operators[-1]] >= level:
                right = values.pop()
                values[-1] = self._apply(operators.pop(), values[-1], right, first)
            if not level:
                return values[0], i
            operators.append(word)
            value, i = self._operand(i + 1, depth, colon=colon)
            values.append(value)

    def _apply(self, operator: str, left: object, right: object, i: int) -> object:
        """Apply one operator as far as literals decide it."""
        if isinstance(left, Unknown):
            return left
        if operator == "??":
            return right if left is None else left
        if operator in ("||", "&&"):
            return left if _is_true(left) == (operator == "||") else right
        if isinstance(right, Unknown):
            return right
        if operator == "+" and _is_number(left) and _is_number(right):
            total = _whole_number(float(left) + float(right))  # type: ignore[arg-type]
            return self.tokens.unknown("a number too large", i) if total is None else total
        if operator == "+" and (isinstance(left, str) or isinstance(right, str)):
            return self._joined([_as_text(left), _as_text(right)], i)
        return self.tokens.unknown(_STRANGE, i)

    def _joined(self, parts: list[str | None], i: int, reason: str = _STRANGE) -> object:
        """Put texts together, unless one is unknown or the file has joined too much."""
        known = [part for part in parts if part is not None]
        self.letters -= sum(map(len, known)) // 16
        if len(known) < len(parts):
            return self.tokens.unknown(reason, i)
        return "".join(known) if self.letters > 0 else self.tokens.unknown("a text too long", i)

    def _operand(self, i: int, depth: int, *, colon: bool) -> tuple[object, int]:
        """Work out a primary expression with its prefixes, members and calls."""
        tokens = self.tokens
        prefixes = []
        while tokens.texts[i] in _PREFIXES:
            prefixes.append(i)
            i += 1
        self.steps -= 1
        if self.steps < 0:
            unknown = tokens.unknown("a value that is too large", i)
            return unknown, _skip_expression(tokens, i, colon=colon)
        word, kind, first = tokens.texts[i], tokens.kinds[i], i
        maybe_arrow = word in ("(", "<", "async") or tokens.texts[i + 1] == "=>"
        body = _body_of_arrow(tokens, i, colon=colon) if maybe_arrow else 0
        if body:
            block = tokens.texts[body] == "{"
            end = tokens.after(body) if block else _skip_expression(tokens, body, colon=colon)
            return tokens.unknown("a function", i), end
        primary = self.primaries.get(word if kind == "mark" else kind, self._strange)
        value, i = primary(i, depth)
        if not tokens.is_end(i):
            value, i = self._suffixes(value, first, i, depth)
        for prefix in reversed(prefixes):
            value = self._prefixed(value, prefix)
        return value, i

    def _strange(self, i: int, _depth: int) -> tuple[object, int]:
        regex = self.tokens.kinds[i] == "regex"
        reason = "a regular expression" if regex else _STRANGE
        return self.tokens.unknown(reason, i), i + 1 if regex else _skip_expression(self.tokens, i)

    def _prefixed(self, value: object, i: int) -> object:
        word = self.tokens.texts[i]
        if word == "void":
            return None
        if word == "await" or isinstance(value, Unknown):
            return value
        if word == "!":
            return not _is_true(value)
        if word in ("-", "+") and isinstance(value, (int, float)) and _is_number(value):
            return -value if word == "-" else value
        return self.tokens.unknown(_STRANGE, i)

    def _suffixes(self, value: object, first: int, i: int, depth: int) -> tuple[object, int]:
        """Follow the members, calls and assertions behind a primary expression."""
        tokens, texts = self.tokens, self.tokens.texts
        while True:
            word = texts[i]
            if word == "?." and texts[i + 1] in ("(", "["):
                i += 1
            elif word in (".", "?.") and tokens.kinds[i + 1] == "name":
                value = self._member(value, texts[i + 1], first, i + 2)
                i += 2
            elif word == "[":
                key, end = self.expression(i + 1, depth + 1)
                i = tokens.after(i)
                value = self._member(value, key if end == i - 1 else None, first, i)
            elif word == "(":
                value, i = self._call(value, first, i, depth), tokens.after(i)
            elif word == "!" and not tokens.begins_line(i):
                i += 1
            elif word == "<" and texts[_type_arguments(tokens, i)] == "(":
                i = _type_arguments(tokens, i)
            elif tokens.kinds[i] in ("template", "head"):
                value, i = tokens.unknown("a tagged template", first), tokens.after(i)
            else:
                return value, i

    def _member(self, value: object, key: object, first: int, end: int) -> object:
        """Look up a member; tokens `first` to `end` are the chain so far."""
        name = _as_text(key)
        if isinstance(value, ScriptObject) and name is not None:
            if name in value or value.rest:
                return value.find(name)
        elif isinstance(value, ScriptList) and isinstance(key, int) and 0 <= key < len(value):
            return value[key]
        elif isinstance(value, Unknown):
            if self.tokens.texts[first] not in _ENVIRONMENTS:
                return value
            return self.tokens.unknown(self._source(first, end), first)
        return self.tokens.unknown("a member that no literal has", first)

    def _source(self, first: int, end: int) -> str:
        """Give the source of a chain of members, without spaces."""
        text = "".join(self.tokens.texts[first : min(end, first + 20)])
        return text if len(text) <= 40 else text[:39] + "…"

    def _call(self, value: object, first: int, i: int, depth: int) -> object:
        """Work out a call: unknown, but for `Object.freeze`."""
        tokens = self.tokens
        callee = tokens.texts[first : min(i, first + 20)]
        if callee in (["Object", ".", "freeze"], ["Object", ".", "seal"]):
            argument, end = self.expression(i + 1, depth + 1)
            end += tokens.texts[end] == ","
            if end == tokens.close[i]:
                return argument
        chain = tokens.kinds[first] == "name" and "(" not in callee
        if isinstance(value, Unknown) and value.reason.startswith("a call"):
            return value
        return tokens.unknown(f"a call of {self._source(first, i)}()" if chain else "a call", first)


class _Evaluator(_Operators):
    """Works out literals, names and the default export."""

    def __init__(self, outline: _Outline) -> None:
        super().__init__(outline)
        self.primaries = {
            "string": self._string,
            "number": self._number,
            "template": self._string,
            "head": self._template,
            "name": self._name,
            "{": self._object,
            "[": self._array,
            "(": self._group,
        }

    def exported(self, i: int) -> object:
        """Work out the default export, whose object begins at token `i`."""
        outline, tokens = self.outline, self.tokens
        if outline.root_reason:
            return tokens.unknown(outline.root_reason, outline.root)
        for mention in outline.path:
            binding = outline.names[tokens.texts[mention]]
            if binding.changed or binding.reason:
                return tokens.unknown(binding.reason or _CHANGED, mention)
        if outline.module >= 0 and outline.names["module"].changed:
            return tokens.unknown("module.exports, which is changed later", outline.module)
        value, end = self.expression(i, 0)
        if not (tokens.is_end(end) or tokens.begins_line(end)):
            return tokens.unknown(_STRANGE, i)
        if outline.wrappers and not isinstance(value, (ScriptObject, Unknown)):
            return tokens.unknown("a call", outline.root)
        return value

    def _group(self, i: int, depth: int) -> tuple[object, int]:
        value, end = self.expression(i + 1, depth + 1)
        close = self.tokens.close[i]
        return (value if end == close else self.tokens.unknown(_STRANGE, i)), close + 1

    def _name(self, i: int, depth: int) -> tuple[object, int]:
        """Work out a keyword or a name."""
        tokens = self.tokens
        word = tokens.texts[i]
        if word in _LITERALS:
            return _LITERALS[word], i + 1
        if word in ("function", "class") or (word, tokens.texts[i + 1]) == ("async", "function"):
            reason = "a class" if word == "class" else "a function"
            return tokens.unknown(reason, i), self._body_end(i)
        if word == "new":
            end = _member_end(tokens, i + 2)
            reason = f"an object made by new {self._source(i + 1, end)}()"
            end = _type_arguments(tokens, end)
            end = tokens.after(end) if tokens.texts[end] == "(" else end
            return tokens.unknown(reason, i), end
        binding = self.outline.names.get(word)
        if word in self.outline.parameters:
            return tokens.unknown("a parameter", i), i + 1
        if binding is None or binding.reason:
            reason = binding.reason if binding else "a name that this file does not define"
            return tokens.unknown(reason, i), i + 1
        return self._bound(word, i, depth), i + 1

    def _bound(self, name: str, i: int, depth: int) -> object:
        """Work out a declared name, anew so that every use has its own copy."""
        tokens, binding = self.tokens, self.outline.names[name]
        if name in self.busy:
            return tokens.unknown("a name that is defined by itself", i)
        self.busy.append(name)
        value, end = self.expression(binding.start, depth + 1)
        self.busy.pop()
        if not (tokens.is_end(end) or tokens.begins_line(end)):
            return tokens.unknown(_STRANGE, binding.start)
        if binding.changed and isinstance(value, (ScriptObject, ScriptList)):
            return tokens.unknown(_CHANGED, i)
        return value

    def _body_end(self, i: int) -> int:
        """Find the token behind a function or class that begins at `i`."""
        tokens = self.tokens
        is_class = tokens.texts[i] == "class"
        while tokens.texts[i] != "{" and not tokens.is_end(i):
            i = max(_type_arguments(tokens, i), tokens.after(i))
            if tokens.texts[i] == ":" and not is_class:
                i = _skip_type(tokens, i + 1)
        return tokens.after(i) if tokens.texts[i] == "{" else i

    def _string(self, i: int, _depth: int) -> tuple[object, int]:
        text = _unquoted(self.tokens.texts[i][1:-1], template=self.tokens.kinds[i] == "template")
        if text is None:
            return self.tokens.unknown("a string with a malformed escape", i), i + 1
        return text, i + 1

    def _template(self, i: int, depth: int) -> tuple[object, int]:
        """Work out a template literal with holes."""
        tokens, first = self.tokens, i
        parts = [_unquoted(tokens.texts[i][1:-2], template=True)]
        while tokens.kinds[i] != "tail":
            value, end = self.expression(i + 1, depth + 1)
            i = tokens.close[i]
            piece = tokens.texts[i][1 : -1 if tokens.kinds[i] == "tail" else -2]
            parts += [_as_text(value) if end == i else None, _unquoted(piece, template=True)]
        return self._joined(parts, first, "a template with ${…}"), i + 1

    def _number(self, i: int, _depth: int) -> tuple[object, int]:
        number = _parsed_number(self.tokens.texts[i])
        if number is None:
            return self.tokens.unknown("a number too large", i), i + 1
        return number, i + 1

    def _array(self, i: int, depth: int) -> tuple[object, int]:
        tokens, result = self.tokens, ScriptList()
        end = tokens.close[i]
        i += 1
        while i < end:
            offset = tokens.starts[i]
            if tokens.texts[i] == ",":  # a hole
                result.add(None, offset)
                i += 1
                continue
            spread = tokens.texts[i] == "..."
            value, i = self._settled(*self.expression(i + spread, depth + 1))
            if spread and isinstance(value, str):
                for letter in value:
                    result.add(letter, offset)
            elif spread and isinstance(value, ScriptList):
                self.steps -= len(value)
                result.extend(value)
                result.offsets.extend(value.offsets)
            elif spread and not isinstance(value, Unknown):
                result.add(tokens.unknown(_STRANGE, i - 1), offset)
            else:
                result.add(value, offset)
            i += i < end
        return result, end + 1

    def _settled(self, value: object, i: int) -> tuple[object, int]:
        """Give a value that is whole, else an unknown one up to the next comma."""
        if self.tokens.is_end(i):
            return value, i
        return self.tokens.unknown(_STRANGE, i), _skip_expression(self.tokens, i)

    def _object(self, i: int, depth: int) -> tuple[object, int]:
        result = ScriptObject()
        end = self.tokens.close[i]
        i += 1
        while i < end:
            if self.tokens.texts[i] == "...":
                value, i = self._settled(*self.expression(i + 1, depth + 1))
                self._spread(result, value, i - 1)
            else:
                i = self._property(result, i, depth)
            i += i < end
        return result, end + 1

    def _spread(self, target: ScriptObject, value: object, i: int) -> None:
        """Put another object's members into one."""
        if isinstance(value, ScriptObject):
            if value.rest:
                target.obscure(value.rest)
            self.steps -= len(value)
            target.update(value)
            target.offsets.update(value.offsets)
        elif isinstance(value, Unknown) or (value and isinstance(value, (list, str))):
            unknown = value if isinstance(value, Unknown) else self.tokens.unknown(_STRANGE, i)
            target.obscure(unknown)

    def _property(self, target: ScriptObject, i: int, depth: int) -> int:
        """Add one member of an object; gives the comma or bracket behind it."""
        tokens, texts = self.tokens, self.tokens.texts
        first, method = i, False
        while texts[i] in ("get", "set", "async", "*") and texts[i + 1] not in _AFTER_KEY:
            i, method = i + 1, True
        key, end = self._key(i, depth)
        value: object
        prototype = key == "__proto__" and texts[end] == ":" and texts[i] != "["
        if method or texts[end] in ("(", "<"):
            value, end = tokens.unknown("a function", first), _skip_expression(tokens, end)
        elif texts[end] == ":":
            value, end = self.expression(end + 1, depth + 1)
        elif tokens.kinds[i] == "name":
            value, end = self._name(i, depth + 1)
        else:
            value = tokens.unknown(_STRANGE, first)
        value, end = self._settled(value, end)
        if key is None:
            target.obscure(tokens.unknown("a computed key", first))
        elif not prototype:
            target[key] = value
            target.offsets[key] = tokens.starts[first]
        return end

    def _key(self, i: int, depth: int) -> tuple[str | None, int]:
        """Give the text of a key, None when it is unknown."""
        tokens = self.tokens
        if tokens.kinds[i] == "name":
            word = tokens.texts[i]
            return (word if "\\" not in word else _unquoted(word)), i + 1
        if tokens.kinds[i] in ("string", "number"):
            return _as_text(self.primaries[tokens.kinds[i]](i, depth)[0]), i + 1
        if tokens.texts[i] != "[":
            return None, i
        value, end = self.expression(i + 1, depth + 1)
        return (_as_text(value) if end == tokens.close[i] else None), tokens.after(i)


def _is_true(value: object) -> bool:
    return isinstance(value, (ScriptObject, ScriptList)) or bool(value)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _as_text(value: object) -> str | None:
    """Give the text JavaScript makes of a value, None where that is not certain."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if abs(value) < 10**21 else None
    if isinstance(value, float) and 1e-6 <= abs(value) < 1e16:  # outside, exponents differ
        return repr(value)
    return None


def _whole_number(number: float) -> int | float | None:
    """Make a JavaScript number an integer where it is one; None when it is infinite."""
    if number - number != 0:
        return None
    return int(number) if number == int(number) else number


def _parsed_number(word: str) -> int | float | None:
    """Read a numeric literal; None when it is malformed or beyond all use."""
    plain = word.replace("_", "")
    if len(plain) > 200:
        return None
    try:
        if plain[:2] in ("0x", "0X", "0o", "0O", "0b", "0B") or plain[-1] == "n":
            number = int(plain.rstrip("n"), 0)
            return number if plain[-1] == "n" else _whole_number(float(number))
        if plain[0] == "0" and len(plain) > 1 and not plain.strip("01234567"):
            return int(plain, 8)
        return _whole_number(float(plain))
    except (ValueError, OverflowError):
        return None


def _unquoted(text: str, *, template: bool = False) -> str | None:
    """Read the inside of a string literal; None when an escape is malformed."""
    if template:
        text = re.compile(_LINE).sub("\n", text)
    if "\\" not in text:
        return text
    try:
        text = re.compile(_ESCAPE).sub(_unescaped, text)
    except (ValueError, OverflowError):
        return None
    if any("\ud800" <= letter <= "\udfff" for letter in text):  # pairs written as two escapes
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return text


def _unescaped(found: re.Match[str]) -> str:
    code = found[1] or found[2] or found[3]
    if code:
        return chr(int(code, 16))
    if found[4]:
        return chr(int(found[4], 8))
    letter = found[5]
    if letter in ("u", "x"):
        raise ValueError(found[0])
    if letter in ("\n", "\r\n", "\r", "\u2028", "\u2029"):
        return ""
    return _SIMPLE_ESCAPES.get(letter, letter)


# The entry


def read_script_config(text: str) -> ScriptValue:
    """Work out the default export of a script without running it.

    Objects and arrays become `ScriptObject` and `ScriptList`, null and undefined None, numbers int
    where they are whole, and what cannot be known `Unknown`. Raises `ScriptError` when the text is
    no script (a string, comment or bracket that never ends), too long, or exports nothing.
    """
    if len(text) > MAX_SCRIPT_CHARS:
        raise ScriptError(f"the file has more than {MAX_SCRIPT_CHARS} characters", 1, 1)
    tokens = _tokenize(text)
    outline = _outline(tokens)
    if outline.root < 0:
        raise ScriptError(
            "nothing is exported at the top level; write `export default { … }`", 1, 1
        )
    start = _unwrap(outline)
    _mark_changes(outline)
    value = _Evaluator(outline).exported(start)
    return ScriptValue(value, tokens, tokens.starts[start])
