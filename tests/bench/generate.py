"""Write an archive of decision records of any size, for measurements.

    python tests/bench/generate.py DIR --records 10000 --style native --seed 1

The shape follows what public archives look like: log-normal bodies of about 3,300 bytes, sections
of paragraphs, lists, code and tables, a Zipf-like vocabulary of some thousand words, a few people
who decide most, one record in twenty superseding an earlier one. The same arguments always write
the same bytes. Modification times are set back (``--age``), since a server has to read a file again
that was written a moment ago; the time of the last *change* (ctime) cannot be set, so a measurement
of a warm server begins two seconds after the archive was written.
"""

from __future__ import annotations

import argparse
import bisect
import datetime
import itertools
import math
import os
import random
import sys
import time

LAST_DAY = datetime.date(2026, 11, 30)
LONGEST_SPAN = 2270  # days; nine in ten public archives are younger
STYLES = ("native", "nygard", "both")
TYPES = (("adr", 0.72), ("rfc", 0.90), ("ddr", 1.0))
STATUSES = {
    "adr": (("accepted", 0.76), ("implemented", 0.86), ("proposed", 0.94), ("rejected", 0.98)),
    "rfc": (("proposed", 0.35), ("in-review", 0.6), ("accepted", 0.9), ("withdrawn", 0.95)),
    "ddr": (("accepted", 0.9), ("proposed", 0.96)),
}
SECTIONS = ("Context", "Decision", "Consequences", "Considered Options", "More Information")
REAL_WORDS = """
the a of and to in is for that with we on it as be are this by not from one which or service data
order event queue topic cache request client server team user customer payment ledger invoice search
index page table column schema migration release build deployment cluster node region zone network
token session secret key certificate log trace metric alarm report import export backup replica
partition consumer producer broker postgres redis terraform graphql grpc rest json avro protobuf
python rust java typescript react worker job batch stream pipeline test cost risk latency throughput
failure retry timeout limit version contract boundary domain module library framework vendor licence
audit policy review approval owner incident
"""
RARE_WORDS = "kafka rabbitmq kubernetes"  # so rare that a search for one is a search
SYLLABLES = "ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu lan ter mis con dor"
FOREIGN = (
    "Die Prüfung läuft über Nacht, größere Änderungen brauchen eine Freigabe.",
    "決定は四半期ごとに見直します。",
    "Ship it 🚀 – after the second reviewer has said “ja”.",
    "Le délai dépasse l’échéance prévue; voilà pourquoi.",
)
DIRT = (  # share of the records, and what happens to the text of one
    (0.013, lambda text: text.replace("\n---\n", "\nbroken: [a, {b\n---\n", 1)),
    (0.005, lambda text: text.replace("date: 20", "date: 2023-02-31 # 20", 1)),
    (0.002, lambda text: text.replace("\n", "\r\n")),
    (0.001, lambda text: "\ufeff" + text),
)


class Words:
    """A vocabulary with Zipf-like frequencies, and blocks of text made of it in advance."""

    def __init__(self, rng: random.Random, size: int = 3000, blocks: int = 2500) -> None:
        self.rng = rng
        syllables, real = SYLLABLES.split(), REAL_WORDS.split()
        made = {"".join(rng.choices(syllables, k=rng.randint(2, 4))): None for _ in range(size)}
        self.words = [*real, *(word for word in made if word not in real)]
        self.words[2000:2000] = RARE_WORDS.split()
        weights = itertools.accumulate(1 / (rank + 4) for rank in range(len(self.words)))
        self.weights = list(weights)
        # Pools, because text made word by word would take minutes for 50,000 records.
        self.paragraphs = [self.paragraph() for _ in range(blocks)]
        self.others = [self.block() for _ in range(blocks)]

    def pick(self, count: int) -> list[str]:
        """Return so many words, frequent ones more often."""
        return self.rng.choices(self.words, cum_weights=self.weights, k=count)

    def sentence(self) -> str:
        """Return one sentence."""
        return " ".join(self.pick(self.rng.randint(6, 24))).capitalize() + "."

    def paragraph(self) -> str:
        """Return a few sentences on one line; one in fifty is not English."""
        if self.rng.random() < 0.02:
            return self.rng.choice(FOREIGN)
        return " ".join(self.sentence() for _ in range(self.rng.randint(1, 5)))

    def block(self) -> str:
        """Return a list, a code block, a table or a heading with a paragraph."""
        kind = self.rng.random()
        if kind < 0.69:
            return "\n".join("- " + self.sentence() for _ in range(self.rng.randint(2, 9)))
        if kind < 0.84:
            code = "\n".join("    " + "_".join(self.pick(3)) + "()" for _ in range(5))
            return f"```python\n{code}\n```"
        if kind < 0.89:
            rows = ["| {} | {} |".format(*self.pick(2)) for _ in range(self.rng.randint(2, 10))]
            return "| option | for |\n| --- | --- |\n" + "\n".join(rows)
        return "### " + " ".join(self.pick(4)).capitalize() + "\n\n" + self.paragraph()

    def title(self) -> str:
        """Return a title of 2 to 14 words, 5 to 6 on average."""
        count = min(14, max(2, round(self.rng.lognormvariate(1.65, 0.4))))
        return " ".join(self.pick(count)).capitalize()

    def body(self, rng: random.Random) -> str:
        """Return a body in sections, its length drawn from a log-normal distribution."""
        wanted = min(60_000, max(200, int(rng.lognormvariate(math.log(3300), 0.96))))
        sections = SECTIONS[: 3 + (wanted > 3000) + (wanted > 8000)]
        parts = []
        for name in sections:
            parts.append(f"## {name}")
            size = 300  # half a block, so that the sections end short as often as long
            while size < wanted / len(sections) or parts[-1].startswith("## "):
                pool = self.paragraphs if rng.random() < 0.55 else self.others
                block = pool[int(rng.random() * len(pool))]
                size += len(block)
                parts.append(block)
        if rng.random() < 0.0004:
            parts.append("![chart](data:image/png;base64," + "iVBORw0KGgo" * 18_000 + ")")
        return "\n\n".join(parts) + "\n"


class Plan:
    """What is known of a record before it is written."""

    __slots__ = ("date", "number", "people", "project", "slug", "status", "superseded_by")
    __slots__ += ("supersedes", "tags", "title", "type")

    def __init__(self, project: str, type_: str, number: int, title: str) -> None:
        self.project, self.type, self.number, self.title = project, type_, number, title
        words = "".join(c if c.isascii() and c.isalnum() else " " for c in title.lower()).split()
        self.slug = f"{number:04d}-" + "-".join(words)[:60].rstrip("-")
        self.date = LAST_DAY
        self.status = "accepted"
        self.people: list[str] = []
        self.tags: list[str] = []
        self.supersedes: list[Plan] = []
        self.superseded_by: list[Plan] = []

    @property
    def id(self) -> str:
        """Return the id that the record has in a native archive."""
        return f"{self.project}/{self.type}/{self.slug}"


def write_archive(
    folder: str | os.PathLike[str],
    records: int,
    style: str = "native",
    seed: int = 1,
    *,
    age: float = 600.0,
    dirt: bool = False,
) -> list[str]:
    """Write an archive into a folder, which is made if need be, and return the files' paths.

    ``style`` is ``native`` (an inkan archive), ``nygard`` (no front matter, as adr-tools writes
    them) or ``both`` (one of each, in folders of these names). Times are set ``age`` seconds back.
    """
    if style not in STYLES:
        raise ValueError(f"style is {style!r}; it must be one of {', '.join(STYLES)}")
    root = os.fspath(folder)
    if style == "both":
        return [
            path
            for each in STYLES[:2]
            for path in write_archive(
                os.path.join(root, each), records, each, seed, age=age, dirt=dirt
            )
        ]
    rng = random.Random(f"{seed} {style} {records}")
    words = Words(rng)
    plans = plan_records(rng, words, records)
    files = native_files if style == "native" else nygard_files
    writer = Writer(root, time.time() - age)
    for path, text in files(rng, words, plans, dirt):
        writer.write(path, text)
    return writer.finish()


class Writer:
    """Writes files below a folder and sets their times back."""

    def __init__(self, root: str, moment: float) -> None:
        self.root, self.moment = root, moment
        self.paths: list[str] = []
        self.folders: set[str] = set()

    def write(self, path: str, text: str) -> None:
        """Write one file, given its path below the folder with ``/``."""
        full = os.path.join(self.root, *path.split("/"))
        folder = os.path.dirname(full)
        if folder not in self.folders:
            os.makedirs(folder, exist_ok=True)
            self.folders.add(folder)
        with open(full, "wb") as stream:
            stream.write(text.encode("utf-8"))
        os.utime(full, (self.moment, self.moment))
        self.paths.append(full)

    def finish(self) -> list[str]:
        """Set the folders' times back too and return the paths of all files."""
        for folder in self.folders:
            os.utime(folder, (self.moment, self.moment))
        return self.paths


def plan_records(rng: random.Random, words: Words, count: int) -> list[Plan]:
    """Decide everything about the records but their bodies."""
    names = project_names(rng, max(1, round(math.sqrt(count) / 4)))
    weights = list(itertools.accumulate(1 / (k + 1) ** 0.8 for k in range(len(names))))
    people = [f"{pair(rng)}{k}" for k in range(count // 25 + 3)]
    nouns = REAL_WORDS.split()[23:]
    tags = [f"{rng.choice(nouns)}-{k}" for k in range(max(8, int(0.9 * count)))]
    tag_weights = list(itertools.accumulate(1 / (k + 1) for k in range(len(tags))))
    groups: dict[tuple[str, str], list[Plan]] = {}
    plans = []
    for _ in range(count):
        project = rng.choices(names, cum_weights=weights)[0]
        type_ = drawn(rng, TYPES, "adr")
        group = groups.setdefault((project, type_), [])
        plan = Plan(project, type_, len(group) + 1, words.title())
        plan.status = drawn(rng, STATUSES[type_], "deprecated")
        plan.people = sorted(set(rng.choices(people, k=rng.choice((1, 1, 2, 2, 3, 5)))))
        if rng.random() < 0.7:
            picked = rng.choices(tags, cum_weights=tag_weights, k=rng.randint(1, 6))
            plan.tags = sorted(set(picked))
        group.append(plan)
        plans.append(plan)
    for group in groups.values():
        set_dates(rng, group)
        supersede(rng, group)
    return plans


def project_names(rng: random.Random, count: int) -> list[str]:
    """Return so many different names of projects."""
    names: dict[str, None] = {}
    nouns = REAL_WORDS.split()[23:]
    while len(names) < count:
        names[f"{rng.choice(nouns)}-{pair(rng)}"] = None
    return list(names)


def pair(rng: random.Random) -> str:
    """Return two syllables."""
    return "".join(rng.choices(SYLLABLES.split(), k=2))


def drawn(rng: random.Random, table: tuple[tuple[str, float], ...], last: str) -> str:
    """Return the first name whose cumulative share lies above a random number, else the last."""
    place = bisect.bisect_right([share for _, share in table], rng.random())
    return table[place][0] if place < len(table) else last


def set_dates(rng: random.Random, group: list[Plan]) -> None:
    """Give ascending dates: a quarter on the day of the one before, else about a week later."""
    gaps = [0.0 if rng.random() < 0.26 else rng.lognormvariate(math.log(7), 1.2) for _ in group]
    squeeze = min(1.0, LONGEST_SPAN / max(1.0, sum(gaps)))
    days = list(itertools.accumulate(gap * squeeze for gap in gaps))
    for plan, day in zip(group, days):
        plan.date = LAST_DAY - datetime.timedelta(days=int(days[-1] - day))


def supersede(rng: random.Random, group: list[Plan]) -> None:
    """Let one record in twenty supersede one earlier record of its group, rarely two or three."""
    heads: list[Plan] = []
    for place in range(1, len(group)):
        if rng.random() >= 0.045:
            continue
        plan = group[place]
        for _ in range(1 if rng.random() < 0.92 else rng.choice((2, 3))):
            chained = bool(heads) and rng.random() < 0.12
            target = rng.choice(heads) if chained else group[rng.randrange(place)]
            if target is plan or target in plan.supersedes:
                continue
            plan.supersedes.append(target)
            target.status = "superseded"
            if rng.random() < 0.75:
                target.superseded_by.append(plan)
        heads.append(plan)


def native_files(rng: random.Random, words: Words, plans: list[Plan], dirt: bool):
    """Yield path and text of every file of an inkan archive."""
    yield "inkan.config.json", CONFIG
    for order, project in enumerate(dict.fromkeys(plan.project for plan in plans)):
        about = f"name: {project.title()}\ndescription: {words.sentence()}\norder: {order}\n"
        yield f"content/{project}/_project.yml", about
    if dirt:
        yield from leftovers("content/" + plans[0].project + "/adr/")
    for plan in plans:
        text = native_record(rng, words, plan)
        path = f"content/{plan.id}.md"
        if dirt:
            text = soil(rng, text)
            if rng.random() < 0.01:
                yield path.replace(".md", "-again.md"), text
        yield path, text


CONFIG = """{
  "title": "A generated archive",
  "contentDir": "content",
  "fields": {
    "risk": {"type": "enum", "values": ["high", "medium", "low"]},
    "cost": {"type": "number", "unit": "EUR"}
  },
  "types": {"rfc": {"requiredApprovals": 2}}
}
"""


def native_record(rng: random.Random, words: Words, plan: Plan) -> str:
    """Return a record with front matter."""
    lines = [
        f'title: "{plan.title}"',
        f"description: {words.sentence()}",
        f"status: {plan.status}",
        f"date: {plan.date}",
        f"authors: [{plan.people[0]}]",
        f"deciders: [{', '.join(plan.people)}]",
    ]
    if plan.tags:
        lines.append(f"tags: [{', '.join(plan.tags)}]")
    for key, others in (("supersedes", plan.supersedes), ("supersededBy", plan.superseded_by)):
        if others:
            lines += [f"{key}:", *(f"  - {other.id}" for other in others)]
    if rng.random() < 0.4:
        lines += [f"risk: {rng.choice(('high', 'medium', 'low'))}", f"cost: {rng.randrange(90)}00"]
    if plan.status in ("accepted", "implemented") and rng.random() < 0.3:
        lines += [f"last_reviewed_on: {plan.date}", f"review_in: {rng.randint(3, 36)} months"]
    if plan.status in ("proposed", "in-review"):
        lines.append("reviewers:")
        states = ("approved", "pending", "commented", "changes-requested")
        lines += [f'  - "@{name}: {rng.choice(states)}"' for name in plan.people]
    return "---\n" + "\n".join(lines) + "\n---\n\n" + words.body(rng)


def nygard_files(rng: random.Random, words: Words, plans: list[Plan], dirt: bool):
    """Yield path and text of every file of a repository with records as adr-tools writes them."""
    alone = len({plan.project for plan in plans}) == 1
    yield "README.md", "# A repository\n\nIts decisions are in the folders named adr and rfc.\n"
    for plan in plans:
        base = "docs" if alone else f"services/{plan.project}/docs"
        text = nygard_record(rng, words, plan)
        yield f"{base}/{plan.type}/{plan.slug}.md", soil(rng, text) if dirt else text


def nygard_record(rng: random.Random, words: Words, plan: Plan) -> str:
    """Return a record without front matter: heading, date, status section."""
    head = [f"# {plan.number}. {plan.title}", f"Date: {plan.date}", "## Status"]
    status = plan.status.capitalize()
    if status != "Superseded" or not plan.superseded_by:
        head.append(status)
    for phrase, others in (("Superseded by", plan.superseded_by), ("Supersedes", plan.supersedes)):
        head += [f"{phrase} [{o.number}. {o.title}]({o.slug}.md)" for o in others]
    return "\n\n".join(head) + "\n\n" + words.body(rng)


def leftovers(folder: str):
    """Yield the files that lie in real folders of records without being records."""
    yield folder + "template.md", "# {short title of the decision}\n\n## Status\n\n{proposed}\n"
    yield folder + "README.md", "# Decisions\n\nSee the template.\n"
    yield folder + "index.md", "# Index\n\n- [First](0001.md)\n"
    yield folder + "9001-a name with spaces.md", "---\ntitle: Spaces\nstatus: accepted\n---\n\nA.\n"
    yield folder + "9002-large.md", "---\ntitle: Large\nstatus: draft\n---\n\n" + "word " * 60_000
    if os.name != "nt":
        yield folder + "9003-why-not?.md", "---\ntitle: Why not?\nstatus: rejected\n---\n\nNo.\n"


def soil(rng: random.Random, text: str) -> str:
    """Return the text, sometimes with one of the faults that real archives have."""
    for share, change in DIRT:
        if rng.random() < share:
            return change(text)
    return text


def main(arguments: list[str] | None = None) -> int:
    """Read the command line, write the archive, say what was written."""
    parser = argparse.ArgumentParser(description="Write an archive of decision records.")
    parser.add_argument("folder", help="where to write it; made if it does not exist")
    parser.add_argument("--records", type=int, default=1000, help="how many (default: 1000)")
    parser.add_argument("--style", choices=STYLES, default="native", help="default: native")
    parser.add_argument("--seed", type=int, default=1, help="another seed, another archive")
    parser.add_argument("--age", type=float, default=600.0, help="seconds to set file times back")
    parser.add_argument("--dirt", action="store_true", help="with the faults of real archives")
    given = parser.parse_args(arguments)
    started = time.perf_counter()
    options = {"age": given.age, "dirt": given.dirt}
    paths = write_archive(given.folder, given.records, given.style, given.seed, **options)
    size = sum(os.path.getsize(path) for path in paths)
    spent = time.perf_counter() - started
    sys.stdout.write(f"{len(paths)} files, {size / 1e6:.1f} MB, {spent:.1f} s in {given.folder}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
