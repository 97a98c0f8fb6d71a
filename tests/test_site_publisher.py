"""The publisher that other tests lean on says what was worked out by hand for the sample."""

from __future__ import annotations

import json

import pytest
from generate import write_archive
from helpers import SAMPLE
from site_publisher import publish


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    index = publish(SAMPLE, tmp_path_factory.mktemp("site"))
    return {record["ref"]: record for record in index["records"]}


@pytest.mark.parametrize(
    ("ref", "due"),
    [
        ("PAY-ADR-0001", "2026-07-31"),  # reviewed on the 31st, every 6 months
        ("PAY-ADR-0003", "2027-02-28"),  # reviewed on 31 August, every P6M
        ("PAY-ADR-0006", "2026-11-30"),  # stated
        ("PAY-ADR-0008", "2027-02-28"),  # a month alone
        ("PAY-ADR-0009", "2026-12-02"),  # MM/DD/YYYY and 6 months
        ("PLT-ADR-0002", "2026-12-30"),  # 90 days
        ("PLT-ADR-0006", "2026-12-23"),  # the project's cycle
        ("SHOP-ADR-0006", None),  # a cycle that is no duration
        ("SHOP-ADR-0007", "2027-02-05"),  # the archive's cycle
    ],
)
def test_a_review_is_due_when_its_record_says(records, ref, due):
    assert records[ref]["review"]["due"] == due


@pytest.mark.parametrize(
    ("ref", "review"),
    [
        ("PAY-RFC-0001", ("changes-requested", 1, 2, ["leila"])),
        ("PAY-RFC-0002", ("pending", 1, 2, ["henrik", "leila"])),
        ("PLT-RFC-0001", ("approved", 2, 2, [])),
        ("PLT-RFC-0002", ("changes-requested", 1, 2, ["Jonas Keller", "henrik"])),
        ("SHOP-RFC-0001", ("pending", 1, 2, ["anouk", "sofia"])),
        ("SHOP-RFC-0003", ("pending", 1, 1, ["Jonas Keller"])),
        ("SHOP-ADR-0001", None),
    ],
)
def test_an_rfc_review_stands_where_its_reviewers_left_it(records, ref, review):
    stated = records[ref]["rfcReview"]
    assert (stated and tuple(stated.values())) == review


def test_a_published_body_keeps_its_front_matter_and_drafts_are_left_out(tmp_path):
    publish(SAMPLE, tmp_path, "https://example.org/base/")
    body = (tmp_path / "storefront/adr/0005-product-images-as-avif.md").read_text("utf-8")
    assert body.startswith("---\ntitle: Product images as AVIF\n")
    assert "https://example.org/base/payments/" in (tmp_path / "llms.txt").read_text("utf-8")
    assert not list(tmp_path.rglob("*partial-refunds*"))


def test_a_generated_archive_can_be_published(tmp_path):
    write_archive(tmp_path / "in", 40, "native", 1)
    publish(tmp_path / "in", tmp_path / "out")
    index = json.loads((tmp_path / "out/decisions.json").read_text("utf-8"))
    assert len(index["records"]) == len(list((tmp_path / "out").rglob("*.md"))) == 40
