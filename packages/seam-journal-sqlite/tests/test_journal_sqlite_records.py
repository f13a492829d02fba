"""Any record comes back equal, wherever its values lie."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from journal_sqlite_story import closed, opened, settled
from pydantic import JsonValue

from seam.journal_sqlite import SqliteJournal, SqliteJournalConfig
from seam.journal_sqlite._request import decoded, encoded
from seam.journal_sqlite._values import part, put
from seam.tools_def import (
    CallSettled,
    Completed,
    Failed,
    Noted,
    Record,
    Text,
    canonical_json,
    record_of,
    record_text,
)

NASTY = "a\nb\rc\u2028d\x85e\0f\udcffg\U0001f600"

texts = st.text(st.characters(exclude_categories=[]), max_size=60)
values: st.SearchStrategy[JsonValue] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**80), 2**80)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(texts, inner, max_size=5),
    max_leaves=30,
)
records: st.SearchStrategy[Record] = st.one_of(
    st.builds(Noted, topic=texts, text=texts, call=st.none() | texts, data=values),
    st.builds(
        CallSettled,
        call=texts,
        tool=texts,
        outcome=st.builds(
            Completed, value=values, content=st.lists(st.builds(Text, text=texts), max_size=4).map(tuple)
        )
        | st.builds(Failed, code=texts, message=texts, value=values),
        ran=st.booleans(),
        seconds=st.floats(0, 1e6),
    ),
)


@given(records, st.integers(20, 400))
@settings(deadline=None, max_examples=200)
def test_a_record_is_parted_and_put_together_again(record: Record, limit: int) -> None:
    text = record_text(record)
    stored, moved = part(text, limit)
    assert stored.isascii()
    assert "\n" not in stored
    document: dict[str, JsonValue] = json.loads(stored)
    for value in moved:
        put(document, value.place, json.loads(value.text))
    assert canonical_json(document) == text
    assert record_of(canonical_json(document)) == record


@given(texts)
def test_any_text_has_one_encoding(text: str) -> None:
    assert decoded(encoded(text)) == text


@pytest.mark.anyio
async def test_pi_020_line_ends_nul_and_lone_surrogates_come_back_equal(tmp_path: Path) -> None:
    record = settled("c" + NASTY, Completed(value={NASTY: NASTY * 2000}, content=(Text(text=NASTY),)))
    config = SqliteJournalConfig(path=tmp_path / "journal.db", value_bytes=4096)
    async with SqliteJournal.open(config) as journal:
        await journal.append(NASTY, opened(NASTY), record, closed())
    async with SqliteJournal.open(config) as journal:
        entries = await journal.read(NASTY)
        assert [entry.record for entry in entries] == [opened(NASTY), record, closed()]
        assert not await journal.verify()
