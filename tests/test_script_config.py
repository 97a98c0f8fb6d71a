"""The reader of JavaScript and TypeScript configurations, held to files as people write them."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inkan_mcp import ScriptError, ScriptObject, Unknown, read_script_config

DATA = Path(__file__).parent / "data" / "config"
SUFFIXES = {".ts", ".mts", ".mjs", ".cjs", ".js"}
VALID = sorted(path for path in (DATA / "valid").iterdir() if path.suffix in SUFFIXES)
INVALID = sorted(path for path in (DATA / "invalid").iterdir() if path.suffix in SUFFIXES)
UNKNOWN = "$unknown"


def text_of(path):
    return path.read_bytes().decode("utf-8")


def plain(value):
    """Write unknown values as the data files do."""
    if isinstance(value, Unknown):
        return {UNKNOWN: value.reason}
    if isinstance(value, ScriptObject):
        rest = {"$rest": value.rest.reason} if value.rest else {}
        return {**{key: plain(item) for key, item in value.items()}, **rest}
    return [plain(item) for item in value] if isinstance(value, list) else value


def read(text):
    return plain(read_script_config(text).value)


def exported(expression):
    return read(f"export default {expression}")


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.name)
def test_config_is_read_as_its_json_says(path):
    expected = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    assert read(text_of(path)) == expected


@pytest.mark.parametrize("path", INVALID, ids=lambda path: path.name)
def test_unreadable_config_is_refused_with_its_place(path):
    with pytest.raises(ScriptError) as caught:
        read_script_config(text_of(path))
    assert str(caught.value) == path.with_suffix(".txt").read_text(encoding="utf-8").rstrip("\n")


# What a JavaScript engine makes of the same files

ENGINE = """
const { pathToFileURL } = require('url');
const tidy = (value, depth) => {
  if (depth > 20) return '$opaque';
  if (typeof value === 'bigint') return { $bigint: String(value) };
  if (value === undefined || value === null) return null;
  if (typeof value === 'number' && !Number.isFinite(value)) return '$opaque';
  if (Array.isArray(value)) return Array.from(value, (item) => tidy(item, depth + 1));
  if (typeof value !== 'object') return typeof value === 'function' ? '$opaque' : value;
  const made = Object.getPrototypeOf(value);
  if (made !== Object.prototype && made !== null && !value.url) return '$opaque';
  return { $object: Object.keys(value).map((key) => {
    const got = Object.getOwnPropertyDescriptor(value, key);
    return [key, 'value' in got ? tidy(got.value, depth + 1) : '$opaque'];
  }) };
};
process.on('unhandledRejection', () => {});
(async () => {
  console.log = () => {};
  const results = {};
  for (const file of JSON.parse(require('fs').readFileSync(0, 'utf8'))) {
    try {
      const module = await import(pathToFileURL(file).href);
      let value = module.default;
      if (value && value.__esModule && value.default) value = value.default;
      if (typeof value === 'function') value = await value({ mode: 'test', command: 'build' });
      results[file] = tidy(value, 0);
    } catch (error) { results[file] = { $error: String(error) }; }
  }
  process.stdout.write(JSON.stringify(results));
})();
"""
STUBS = {
    "inkan": "export const defineConfig = (x) => x; export default {};",
    "inkan/config": "export const defineConfig = (x) => x;",
    "vite": "export const defineConfig = (x) => x; export const loadEnv = () => ({});",
    "vitepress": "export const defineConfig = (x) => x;",
    "vitepress-plugin-mermaid": "export const withMermaid = (x) => x;",
    "astro/config": "export const defineConfig = (x) => x;",
    "@astrojs/mdx": "export default () => ({});",
    "@astrojs/sitemap": "export default () => ({});",
    "a": "export default 1;",
}


def engine_values(folder, paths):
    """Let node evaluate copies of the files, beside stubs of what they import."""
    entries = '{"type": "module", "exports": {".": "./index.js", "./config": "./config/index.js"}}'
    for name, source in STUBS.items():
        target = folder / "node_modules" / name
        target.mkdir(parents=True, exist_ok=True)
        (target / "index.js").write_text(source, encoding="utf-8")
        for place in (target, target.parent):
            (place / "package.json").write_text(entries, encoding="utf-8")
    copies = []
    for path in paths:
        text = text_of(path)
        module = path.suffix == ".js" and (
            "export default" in text and "module.exports" not in text
        )
        copy = folder / (path.stem + (".mjs" if module else path.suffix))
        copy.write_bytes(path.read_bytes())
        copies.append(str(copy))
    done = subprocess.run(
        ["node", "-e", ENGINE],
        input=json.dumps(copies).encode(),
        capture_output=True,
        timeout=60,
        check=True,
        env={key: value for key, value in os.environ.items() if key in ("PATH", "SystemRoot")},
    )
    return dict(zip(paths, map(json.loads(done.stdout).get, copies)))


def contradictions(ours, theirs, where=""):
    """List the places where a value read here is not the value that the engine worked out."""
    if isinstance(ours, Unknown) or (isinstance(theirs, dict) and "$error" in theirs):
        return
    if isinstance(ours, ScriptObject):
        members = dict(theirs["$object"])
        for key, item in ours.items():
            yield from contradictions(item, members.get(key, "$missing"), f"{where}.{key}")
        unseen = set(members) - set(ours) - {"default"}  # module.exports.default = module.exports
        if unseen and not ours.rest:
            yield where, "keys missing here", sorted(unseen)
    elif isinstance(ours, list):
        if len(ours) != len(theirs):
            if not any(isinstance(item, Unknown) for item in ours):
                yield where, ours, theirs
            return  # an unknown spread moves what follows
        for index, (item, other) in enumerate(zip(ours, theirs)):
            yield from contradictions(item, other, f"{where}[{index}]")
    elif isinstance(theirs, dict) and "$bigint" in theirs:
        if ours != int(theirs["$bigint"]):
            yield where, ours, theirs
    elif ours != theirs or isinstance(ours, bool) != isinstance(theirs, bool):
        yield where, ours, theirs


@pytest.mark.skipif(not shutil.which("node"), reason="node is not on PATH")
def test_known_values_are_those_that_node_works_out(tmp_path):
    paths = [path for path in VALID if path.suffix in (".mjs", ".cjs", ".js")]
    values = engine_values(tmp_path, paths)
    evaluated = [p for p in paths if not (isinstance(values[p], dict) and "$error" in values[p])]
    wrong = {
        path.name: list(contradictions(read_script_config(text_of(path)).value, values[path]))
        for path in evaluated
    }
    assert {name: found for name, found in wrong.items() if found} == {}
    assert len(evaluated) > 30, {p.name: values[p] for p in paths if p not in evaluated}


# JSON written as JavaScript

WHITE = st.sampled_from(
    ["", " ", "\n", "\r\n", "\t", " // note }] \" ' `\n", "/* , ] ' */", "\u00a0"]
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**53), 2**53),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(blacklist_categories=["Cs"]), max_size=12),
)
KEYS = st.text(st.characters(blacklist_categories=["Cs"]), max_size=6).filter("__proto__".__ne__)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(KEYS, inner, max_size=4)),
    max_leaves=12,
)


class Writer:
    """Writes a value as JavaScript in a style that it draws anew at every choice."""

    def __init__(self, data):
        self.data = data

    def pick(self, *choices):
        return self.data.draw(st.sampled_from(choices))

    def space(self):
        return self.data.draw(WHITE)

    def text(self, value):
        quote = self.pick("'", '"', "`")
        written = "".join(self.letter(letter, quote) for letter in value)
        return quote + written + quote

    def letter(self, letter, quote):
        code = ord(letter)
        if letter in ("\\", quote) or (quote == "`" and letter == "$"):
            return "\\" + letter
        if letter in "\n\r" or self.pick(*[False] * 9, True):
            units = letter.encode("utf-16-be").hex()
            pairs = "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
            return self.pick(f"\\u{{{code:x}}}", pairs)
        return letter

    def number(self, value):
        if isinstance(value, float):
            return repr(value)
        sign = "-" if value < 0 else self.pick("", "+")
        size = abs(value)
        return sign + self.pick(str(size), hex(size), oct(size), bin(size), f"{size:_}", f"{size}n")

    def key(self, name):
        plain = name.isascii() and name.isidentifier()
        computed = f"[{self.space()}{self.text(name)}{self.space()}]"
        return self.pick(*([name] if plain else []), json.dumps(name), computed)

    def value(self, value):
        if value is None:
            written = self.pick("null", "undefined", "void 0")
        elif isinstance(value, bool):
            written = self.pick(str(value).lower(), "!1" if not value else "!0")
        elif isinstance(value, str):
            written = self.text(value)
        elif isinstance(value, (int, float)):
            written = self.number(value)
        elif isinstance(value, list):
            written = self.members("[", [self.value(item) for item in value], "]")
        else:
            pairs = [
                f"{self.key(name)}{self.space()}:{self.space()}{self.value(item)}"
                for name, item in value.items()
            ]
            written = self.members("{", pairs, "}")
        return self.pick(written, written, f"({self.space()}{written}{self.space()})")

    def members(self, opener, members, closer):
        between = f"{self.space()},{self.space()}"
        last = self.pick("", ",") if members else ""
        return f"{opener}{self.space()}{between.join(members)}{self.space()}{last}{closer}"

    def script(self, value):
        written = self.value(value)
        end = self.pick(";", "", " as const", "\n", " satisfies Config<'a', B[]>")
        return self.pick(
            f"export default {written}{end}",
            f"module.exports = {written}{end}",
            f"const config: Config<A, B> = {written}{end}\nexport default config",
            f"let x = 1, y = {written}{end}\nexport {{ x, y as default }}",
            f"import {{ a }} from 'a'\nexport default Object.freeze({written})",
        )


@settings(deadline=None, max_examples=150)
@given(st.data(), VALUES)
def test_json_written_as_javascript_reads_back_equal(data, value):
    assert read(Writer(data).script(value)) == value


@settings(deadline=None, max_examples=60)
@given(st.data(), st.dictionaries(KEYS, VALUES, max_size=4))
def test_an_object_reads_back_through_a_call_and_a_function(data, value):
    written = Writer(data).value(value)
    assert read(f"export default defineConfig<T>({written})") == value
    assert read(f"export default wrap(async (): Promise<T> => ({written}))") == value
    assert read(f"module.exports = function () {{ return {written}\n}}") == value


# What is changed, and what is only read

CHANGES = [
    "o.l.n = 2",
    "o.l.n++",
    "delete (o.l.n)",
    "o.l ||= {}",
    "o.push?.(2)",
    "o['push'](2)",
    "(o as any).l.n = 2",
    "(<any>o).l.n = 2",
    "o!.l.n = 2",
    "(o || p).l.n = 2",
    "({ a: { b: o.l.n } } = p)",
    "[o.l.n] = [2]",
    "for (o.l.n of [2]) {}",
    "for (const x of Object.values(o)) x.n = 2",
    "o.m.forEach((x) => { x.n = 2 })",
    "Object.values(o).forEach((x) => { x.n = 2 })",
    "Object.assign(o, { l: 2 })",
    "Object.assign({}, o).l.n = 2",
    "f(o)",
    "f<T>(o.l)",
    "f(o as any)",
    "f(...[o])",
    "f({ a: [1, o] })",
    "f({ ...o })",
    "f(p ?? o)",
    "f.call(null, o)",
    "new F(o)",
    "const { l } = o; l.n = 2",
    "const q = p ? o : null; q.l = 2",
    "let q = o, r = q; r.l = 2",
    "let q; q = o.l; q.n = 2",
    "const q = {}; q.a = o; q.a.l.n = 2",
    "{ const q = o.l; q.n = 2 }",
    "function g() { const q = o.l; q.n = 2 }",
    "const g = (x = o) => { x.l.n = 2 }",
    "const g = () => o; g().l.n = 2",
    "function* g() { yield o }; for (const x of g()) x.l = 2",
    "if (p) { o.l.n = 2 }",
    "class A { static { o.l = 2 } }",
]


@pytest.mark.parametrize("change", CHANGES)
def test_an_object_that_may_be_changed_is_unknown(change):
    assert read(f"const o = {{ l: {{ n: 1 }}, m: [{{}}] }}\n;{change}\nexport default o") == {
        UNKNOWN: "a name whose value is changed later"
    }


@pytest.mark.parametrize(
    "change",
    ["t = 'y'", "if (p) t = 'y'", "function f() { t = 'y' }", "[t] = ['y']", "for (t of p) {}",
     "({ a: t = 1 } = p)", "t += 'y'", "if (p) { var t = 'y' }"],
)  # fmt: skip
def test_a_name_that_is_assigned_again_is_unknown(change):
    values = read(f"var t = 'x'\n;{change}\nexport default {{ t }}")
    assert values == {"t": {UNKNOWN: "a name that is assigned more than once"}}


@pytest.mark.parametrize(
    "use",
    ["path.resolve(o.t)", "f({ title: o.t, ...{ a: o.t } })", "f({ ...s })", "console.log(o)",
     "JSON.stringify(o)", "const { t } = o", "const t = o.t.toUpperCase()", "f({ o: 1 })",
     "exports.o = o", "if (o.t) { f() }", "type T = typeof o", "type L = (typeof o)['l']",
     "const x: O = o", "Object.keys(o).map((k) => k)", "function f() { return `${o.t}` }",
     "const f = (o) => { o.l.n = 2 }", "function f({ o }) { o.l.n = 2 }", "f(g)",
     "{ let o = {}; o.l = 2 }", "for (const o of p) { o.l = 2 }", "f(function () { return o.t })",
     "f(() => o.t)",
     "const x = { ...o.l, n: o.l.n }"],
)  # fmt: skip
def test_a_name_that_is_only_read_stays_known(use):
    head = "const o = { t: 'x', l: { n: 1 } }, s = { t: 'x' }\nconst g = () => o.t\n"
    values = read(f"{head}{use}\nexport default {{ o, s }}")
    assert values == {"o": {"t": "x", "l": {"n": 1}}, "s": {"t": "x"}}


@pytest.mark.parametrize("later", ["module.exports.a = 2", "exports.a = 2", "delete exports.a"])
def test_an_export_that_is_changed_later_is_unknown(later):
    assert read(f"module.exports = exports = {{ a: 1 }}\n{later}") == {
        UNKNOWN: "module.exports, which is changed later"
    }


@pytest.mark.parametrize(
    "text",
    ["const\n  o = { a: 1 }\nexport default o", "let o: A = { a: 1 }\n++n\nexport default o",
     "const o = { a: 1 } as A<B>\nexport default o",
     "const o = { a: 1 }\nconst f = x => x\nexport default o"],
)  # fmt: skip
def test_a_line_break_ends_a_declaration(text):
    assert read(text) == {"a": 1}


# Places


def test_a_key_knows_its_line_and_column():
    value = read_script_config("export default {\r\n  a: 1, sources: [\n    { dir: 'x' } ] }")
    assert value.where("a") == (2, 3)
    assert value.where("sources") == (2, 9)
    assert value.where("sources", 0) == (3, 5)
    assert value.where("sources", 0, "dir") == (3, 7)


def test_a_key_that_is_not_there_has_the_place_of_its_object():
    value = read_script_config("const x = 1\nexport default {\n types: { adr: 1 } }")
    assert value.where("contentDir") == (2, 16)
    assert value.where("types", "rfc", "label") == (3, 2)


def test_a_key_of_a_spread_constant_has_the_place_where_it_is_written():
    value = read_script_config("const base = {\n  title: 1 }\nexport default { ...base }")
    assert value.where("title") == (2, 3)


def test_an_unknown_value_tells_reason_place_and_source():
    value = read_script_config(
        "export default {\n  contentDir: process.env.DIR ?? 'docs', a: 1 }"
    ).value
    unknown = value["contentDir"]
    assert (unknown.reason, unknown.line, unknown.column) == ("process.env.DIR", 2, 15)
    assert unknown.text == "process.env.DIR ?? 'docs'"


def test_the_source_of_an_unknown_value_ends_where_the_value_ends():
    value = read_script_config("export default [env('x', [1]), { a: b.c }, `${d}`, e]").value
    texts = [value[0].text, value[1]["a"].text, value[2].text, value[3].text]
    assert texts == ["env('x', [1])", "b.c", "`${d}`", "e"]


def test_the_source_of_an_unknown_value_is_at_most_forty_letters():
    value = read_script_config("export default { a: someFunction('" + "x" * 90 + "') }").value
    assert len(value["a"].text) == 40


def test_a_key_that_an_unknown_spread_may_hold_is_unknown():
    value = read_script_config("import b from 'b'\nexport default { title: 1, ...b, url: 2 }").value
    assert value.find("url") == 2
    assert value.find("title").reason == value.find("sources").reason == "an imported name"


def test_a_key_that_no_spread_hides_is_absent():
    value = read_script_config("export default { title: 1 }").value
    assert value.find("sources") is None
    assert value.find("sources", "default") == "default"


def test_a_byte_order_mark_does_not_move_columns():
    assert read_script_config("\ufeffexport default { a: 1 }").where("a") == (1, 18)


# Limits


def test_a_file_of_more_than_a_mebibyte_is_refused():
    with pytest.raises(ScriptError, match="more than 1048576 characters"):
        read_script_config("//" + " " * (1 << 20) + "\nexport default {}")


def test_values_nested_a_hundred_deep_are_read_and_deeper_ones_unknown():
    def innermost(depth):
        value = exported("[" * depth + "1" + "]" * depth)
        while isinstance(value, list):
            value = value[0]
        return value

    assert innermost(100) == 1
    assert innermost(150) == {UNKNOWN: "a value that is nested too deeply"}


@pytest.mark.parametrize(
    "doubling", ["[{0}, {0}]", "[...{0}, ...{0}]", "{0} + {0}", "`${{{0}}}${{{0}}}`"]
)
def test_names_that_double_each_other_end_as_unknown(doubling):
    lines = ["const a0 = ['x', 'y']" if "[" in doubling else "const a0 = 'xy'"]
    lines += [f"const a{n + 1} = {doubling.format(f'a{n}')}" for n in range(60)]
    started = time.monotonic()
    read_script_config("\n".join([*lines, "export default a60"]))
    assert time.monotonic() - started < 20


HOSTILE = [
    "a=>",
    "[/[a ",
    "()",
    "a<b,",
    "a ? b : ",
    "'a'+",
    "...x,",
    "!",
    "a.b=1;",
    "const a=",
    "x y,",
    "${",
    "import ",
    "/",
    "<",
    "(a):",
    "async ",
    "\n\r",
    "as ",
    "`${`",
    "module.exports=",
    "\\",
    "0x",
    "?.a",
    "f(a),",
    "...a,",
    ".b(a)",
    "[a]",
    "{a},",
    "`${a}`,",
    "x=a,",
    "a?",
    "a:",
    "a!",
    "f<a>(a);",
]


@pytest.mark.parametrize("piece", HOSTILE)
@pytest.mark.parametrize("start", ["const a = {}\nexport default ", "export default [", ""])
def test_time_grows_no_faster_than_a_repeated_piece(piece, start):
    def seconds(repeats):
        began = time.perf_counter()
        with contextlib.suppress(ScriptError):
            read_script_config(start + piece * repeats + "]" * ("[" in start))
        return time.perf_counter() - began

    assert seconds(8000) < 16 * seconds(2000) + 0.5  # quadratic would be 16 times as long


def test_damaged_files_raise_script_errors_alone():
    texts = [text_of(path) for path in VALID]
    places = []
    pieces = [
        "'",
        '"',
        "`",
        "${",
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        "/",
        "*/",
        "/*",
        "\\",
        "=>",
        "...",
        "?",
        ":",
        ",",
        "<",
        ">",
        "=",
        "\n",
        "const ",
        "export default ",
        "\ud800",
        "\x00",
        "async ",
    ]
    chance = random.Random(5)
    for _ in range(1500):
        text = chance.choice(texts)
        for _ in range(chance.randint(1, 4)):
            at, until = sorted(chance.choices(range(len(text) + 1), k=2))
            until = min(until, at + chance.choice([0, 0, 1, 30]))
            text = text[:at] + chance.choice([*pieces, "", text[until : until + 40]]) + text[until:]
        try:
            read_script_config(text)
        except ScriptError as error:
            places.append((error.line, error.column))
    assert len(places) > 100
    assert min(min(place) for place in places) >= 1
