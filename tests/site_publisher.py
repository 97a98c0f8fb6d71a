"""Publishes an archive as a static site does, for tests of a server that reads sites.

``publish(SAMPLE, out)`` writes ``decisions.json``, ``llms.txt`` and ``<id>.md`` for each record.

It shares nothing with the server: it reads with PyYAML and by rules that are only as good as the
archives of the tests need. So what it publishes is a second opinion on what the server should say
about the same folder.
"""

from __future__ import annotations

import calendar
import datetime
import json
import posixpath
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import yaml

CURRENT = {"accepted", "implemented"}
PLAIN_KEYS = ("title", "description", "status", "date")
LIST_KEYS = ("authors", "deciders", "tags")
LINK_KEYS = ("supersedes", "supersededby", "related")
DUE_KEYS = """
reviewby reviewdue dueforreview nextreview nextreviewdate nextreviewdue reviewdate reviewon revisit
revisiton expires expirydate expireby validuntil resubmission
"""
REVIEWED_KEYS = "lastreviewed lastreviewedon lastreview lastreviewdate reviewed lastverified msdate"
EVERY_KEYS = "reviewin reviewevery reviewcycle reviewcadence reviewinterval reviewfrequency"
REVIEWER_KEYS = "reviewers approvers approvals approvedby quorum requiredapprovals"
NAMED_CYCLES = {"monthly": 1, "quarterly": 3, "annual": 12, "annually": 12, "yearly": 12}
STATES = {
    **dict.fromkeys(("approved", "approve", "lgtm", "yes", "true", "✅"), "approved"),
    **dict.fromkeys(("changesrequested", "rejected", "no", "❌"), "changes-requested"),
    **dict.fromkeys(("commented", "comment", "abstain"), "commented"),
}


class TextLoader(yaml.SafeLoader):
    """PyYAML without dates and octal numbers: what looks like a date stays text."""


TextLoader.yaml_implicit_resolvers = {
    first: [pair for pair in pairs if pair[0].rpartition(":")[2] not in ("timestamp", "int")]
    for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
DIGITS = list("-+0123456789")
TextLoader.add_implicit_resolver("tag:decimal", re.compile(r"[-+]?(0|[1-9][0-9]*)$"), DIGITS)
TextLoader.add_constructor("tag:decimal", lambda loader, node: int(node.value))


def publish(root: Path, out: Path, url: str | None = None) -> dict[str, Any]:
    """Write the site of the archive at ``root`` into ``out`` and return the index.

    ``url`` is the address of the site; the config's is used if it is not given.
    """
    config = json.loads((root / "inkan.config.json").read_text(encoding="utf-8"))
    content = root / config["contentDir"]
    url = (config.get("url", "") if url is None else url).rstrip("/")
    projects = read_projects(content)
    raw = {
        path.relative_to(content).with_suffix("").as_posix(): split(path.read_text("utf-8"))
        for path in sorted(content.rglob("*.md*"))
        if path.name not in ("README.md", "0000-template.md")
    }
    raw = {key: value for key, value in raw.items() if not value[0].get("draft")}
    names = {key: ref_of(key, projects) for key in raw}
    records = [
        record_of(key, front, {"config": config, "projects": projects, "names": names, "url": url})
        for key, (front, _) in raw.items()
    ]
    index = {
        "records": records,
        "fields": config.get("fields", {}),
        "projects": [{"id": key, **about(value)} for key, value in projects.items()],
    }
    write(out / "decisions.json", json.dumps(index, ensure_ascii=False, indent=1))
    write(out / "llms.txt", llms_text(config, projects, url))
    for key, (_, text) in raw.items():
        write(out / f"{key}.md", text)
    return index


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8"))


def about(project: dict[str, Any]) -> dict[str, Any]:
    return {key: project.get(key) for key in ("name", "description", "owners")}


def read_projects(content: Path) -> dict[str, dict[str, Any]]:
    """Return what each ``_project.yml`` says, by folder name in their stated order."""
    found = {
        path.parent.name: load(path.read_text(encoding="utf-8"))
        for path in content.glob("*/_project.yml")
    }
    return dict(sorted(found.items(), key=lambda item: item[1].get("order", 0)))


def llms_text(config: dict[str, Any], projects: dict[str, dict[str, Any]], url: str) -> str:
    lines = [f"# {config.get('title', 'Decisions')}", "", "## Projects", ""]
    for key, value in projects.items():
        lines.append(f"- [{value['name']}]({url}/{key}/): {value.get('description', '')}".rstrip())
    return "\n".join(lines) + "\n"


def load(text: str) -> Any:
    return yaml.load(text, TextLoader)


def split(text: str) -> tuple[dict[str, Any], str]:
    """Return the front matter and the whole text; a value with a bare colon gets its quotes."""
    if not text.startswith("---\n"):
        return {}, text
    block = text.split("---\n")[1]
    try:
        return load(block), text
    except yaml.YAMLError:
        quoted = re.sub(r"(?m)^(\w+): (.*: .*)$", lambda m: f"{m[1]}: {json.dumps(m[2])}", block)
        return load(quoted), text


def fold(key: str) -> str:
    """Return a key without case and separators: ``last_reviewed`` is ``lastReviewed``."""
    return re.sub(r"[ _.-]", "", key).lower()


def ref_of(key: str, projects: dict[str, dict[str, Any]]) -> str:
    project, type_, name = key.split("/")
    short = projects.get(project, {}).get("key", project)
    return f"{short}-{type_}-{name.partition('-')[0]}".upper()


def record_of(key: str, front: dict[str, Any], site: dict[str, Any]) -> dict[str, Any]:
    """Return the entry of one record in ``decisions.json``."""
    values = {fold(name): value for name, value in front.items()}
    project, type_, _ = key.split("/")
    settings = site["projects"].get(project, {})
    record = {name: values.get(name) for name in PLAIN_KEYS}
    record |= {"id": key, "ref": site["names"][key], "project": project, "type": type_}
    record |= {name: words(values.get(name)) for name in LIST_KEYS}
    for name, published in zip(LINK_KEYS, ("supersedes", "supersededBy", "related")):
        record[published] = [resolve(target, key, site["names"]) for target in many(values, name)]
    declared = {**site["config"].get("fields", {}), **settings.get("fields", {})}
    record["fields"] = custom_fields(front, declared)
    every = (settings.get("review") or site["config"].get("review", {})).get("every")
    record["review"] = review_of(values, every if record["status"] in CURRENT else None)
    people = reviewers_of(values)
    record["reviewers"] = [{"name": p["name"], "state": p["state"]} for p in people]
    limit = site["config"].get("types", {}).get(type_, {}).get("requiredApprovals")
    record["rfcReview"] = rfc_review(people, values, limit)
    record["url"] = f"{site['url']}/{quote(key)}"
    record["markdown"] = f"{site['url']}/{quote(key)}.md"
    return record


def many(values: dict[str, Any], key: str) -> list[Any]:
    """Return one or many values as a list."""
    value = values.get(key)
    return value if isinstance(value, list) else [] if value is None else [value]


def words(value: Any) -> list[str]:
    """Return a list of names; a text is split at its commas."""
    return value if isinstance(value, list) else re.split(r"\s*,\s*", value) if value else []


def resolve(target: Any, key: str, names: dict[str, str]) -> str:
    """Return the id that a link means, else the text as written."""
    text = str(target)
    wanted = re.sub(r"^\[\[|\]\]$", "", text).partition("|")[0]
    folder = posixpath.dirname(key)
    number = f"{folder}/{int(wanted):04d}-" if wanted.isdigit() else "?"
    path = posixpath.normpath(posixpath.join(folder, wanted))
    for id_, ref in names.items():
        stem = posixpath.basename(id_)
        spellings = (id_, ref, stem)
        if wanted in spellings or path == f"{id_}.md" or id_.startswith(number):
            return id_
    return text


def custom_fields(front: dict[str, Any], declared: dict[str, Any]) -> dict[str, Any]:
    """Return what is no key of the format, as its declaration says."""
    known = {
        *PLAIN_KEYS,
        *LIST_KEYS,
        *LINK_KEYS,
        *DUE_KEYS.split(),
        "draft",
        "type",
        "fields",
        "review",
    }
    known |= {"reviewafterdays", *f"{REVIEWED_KEYS} {EVERY_KEYS} {REVIEWER_KEYS}".split()}
    found = {key: value for key, value in front.items() if fold(key) not in known}
    found |= front.get("fields") or {}
    return {key: typed(value, declared.get(key, {})) for key, value in found.items()}


def typed(value: Any, declaration: dict[str, Any]) -> Any:
    """Return a value as its field's type says: ``21,600 EUR`` as a number, one item as a list."""
    if declaration.get("type") == "number" and isinstance(value, str):
        digits = re.sub(r"[ ,]", "", value.replace(declaration.get("unit", ""), ""))
        return int(digits) if re.fullmatch(r"-?\d+", digits) else value
    if declaration.get("type") == "list" and not isinstance(value, list):
        return [value]
    return value


def review_of(values: dict[str, Any], every: str | None) -> dict[str, Any] | None:
    """Return the schedule of reviews that the front matter states, else the archive's own."""
    nested = values.get("review")
    if isinstance(nested, dict):
        short = {fold(key): str(value) for key, value in nested.items()}
    elif nested is not None:
        short = {"due" if re.match(r"\d{4}-\d\d", nested) else "every": nested}
    else:
        short = {}
    due = first(values, DUE_KEYS) or short.get("due")
    reviewed = first(values, REVIEWED_KEYS) or short.get("reviewed")
    days = values.get("reviewafterdays")
    stated = first(values, EVERY_KEYS) or short.get("every") or (str(days) if days else None)
    every = stated or every
    if due is None and reviewed is None and every is None:
        return None
    day = iso(reviewed) if reviewed else None
    end = iso(due, last=True) if due else after(day or values["date"], every)
    return {"due": end, "reviewed": day, "every": every}


def first(values: dict[str, Any], keys: str) -> str | None:
    """Return the first value that there is."""
    return next((str(values[key]) for key in keys.split() if key in values), None)


def iso(text: str, *, last: bool = False) -> str:
    """Return a date as ISO 8601; a month alone is its first or its last day."""
    text = text.replace("Until ", "")
    if american := re.fullmatch(r"(\d\d)/(\d\d)/(\d{4})", text):
        return f"{american[3]}-{american[1]}-{american[2]}"
    if month := re.fullmatch(r"(\d{4})-(\d\d)", text):
        day = calendar.monthrange(int(month[1]), int(month[2]))[1] if last else 1
        return f"{text}-{day:02d}"
    return text


def after(day: str, every: str | None) -> str | None:
    """Return the day that lies a cycle later, or ``None`` where the cycle is no duration."""
    spelled = re.fullmatch(r"P?(\d+) ?([dwmy]?)[a-z]*", every or "", re.IGNORECASE)
    unit = spelled[2].lower() if spelled else "m"
    count = int(spelled[1]) if spelled else NAMED_CYCLES.get((every or "").lower(), 0)
    if not count:
        return None
    start = datetime.date.fromisoformat(day)
    if unit in ("d", "w") or (not unit and count >= 30):
        return str(start + datetime.timedelta(days=count * (7 if unit == "w" else 1)))
    months = start.year * 12 + start.month - 1 + count * (12 if unit == "y" else 1)
    year, month = divmod(months, 12)
    longest = calendar.monthrange(year, month + 1)[1]
    return str(datetime.date(year, month + 1, min(start.day, longest)))


def reviewers_of(values: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the people of a review: name, state, and whether their approval is indispensable."""
    people: dict[str, dict[str, Any]] = {}
    for key, state, needed in (
        ("reviewers", None, False),
        ("approvers", None, True),
        ("approvals", "approved", False),
        ("approvedby", "approved", False),
    ):
        for name, said in entries(values.get(key)):
            person = {"name": name, "state": state or said, "needed": needed}
            people[name.casefold()] = {**people.get(name.casefold(), {}), **person}
    return list(people.values())


def entries(value: Any) -> list[tuple[str, str]]:
    """Return name and state of each reviewer in any of the spellings that the tests use."""
    if isinstance(value, str):
        value = value.split()
    if isinstance(value, dict):
        return [(person(name), state_of(said)) for name, said in value.items()]
    return [entry(item) for item in value or []]


def entry(item: Any) -> tuple[str, str]:
    if isinstance(item, dict):
        name = next(item[key] for key in ("name", "github") if key in item)
        said = next((item[key] for key in ("state", "vote", "approved") if key in item), None)
        dated = re.match(r"\d{4}-", str(said))
        return person(name), "approved" if dated else state_of(said)
    link = re.match(r"\[(.*?)\]\(.*?\)(.*)", item) or re.match(r"(@?\w+)(.*)", item)
    return person(link[1]), state_of(link[2])


def person(text: str) -> str:
    """Return a name without ``@`` and address."""
    return re.sub(r"\s*<.*>$", "", text).lstrip("@")


def state_of(said: Any) -> str:
    """Return one of the four states; what is no state is ``pending``."""
    return STATES.get(re.sub(r"[ _():,-]", "", str(said)).lower(), "pending")


def rfc_review(
    people: list[dict[str, Any]], values: dict[str, Any], limit: int | None
) -> dict[str, Any] | None:
    """Return where a review stands, or ``None`` if nobody was asked."""
    if not people:
        return None
    stated = values.get("requiredapprovals", values.get("quorum"))
    required = int(stated) if stated is not None else min(limit or len(people), len(people))
    states = [p["state"] for p in people]
    approved = states.count("approved")
    missing = [p for p in people if p["needed"] and p["state"] != "approved"]
    status = "approved" if approved >= required and not missing else "pending"
    if "changes-requested" in states:
        status = "changes-requested"
    waiting = [p["name"] for p in people if p["state"] in ("pending", "commented")]
    return {
        "status": status,
        "approved": approved,
        "required": required,
        "waitingOn": [] if status == "approved" else waiting,
    }
