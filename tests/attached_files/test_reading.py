"""What is read of a file, with files that other programs wrote, and with what is no good."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest
from PIL import Image

from agents.attached_files import reading
from agents.attached_files.reading import Contents, Unreadable, read_file
from agents.text.cutting import cut

FILES = Path(__file__).with_name("files")
HANDBOOK = (FILES / "handbook.pdf").read_bytes()  # Chromium's; its second page is a picture
WORD = (FILES / "handbook.docx").read_bytes()  # LibreOffice's
LOCKED = (FILES / "locked.pdf").read_bytes()  # qpdf's


def read(kind: str, data: bytes) -> Contents:
    return read_file(kind, "it", data, lambda: None)


def scanned() -> bytes:
    """A PDF that is a picture of a page."""
    Image.new("RGB", (60, 80), "white").save(out := io.BytesIO(), "PDF")
    return out.getvalue()


def zip_of(size: int) -> bytes:
    """A Word file that would become so large."""
    word = zipfile.ZipFile(io.BytesIO(WORD))
    with zipfile.ZipFile(out := io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as made:
        for name in word.namelist():
            data = word.read(name)
            if name == "word/document.xml":
                data = data.replace(b"first rule", b"<w:tab/>" * (size // 8))
            made.writestr(name, data)
    return out.getvalue()


def test_a_pdf_names_its_pages_and_those_without_text() -> None:
    first, third = read_file("pdf", "handbook.pdf", HANDBOOK, lambda: None).passages
    assert first.startswith("From handbook.pdf, page 1.\nHarbour handbook\n")
    assert "café “Kuri” serves pie at half past eight. Its office is flexible." in first
    assert third == (
        "From handbook.pdf, page 3.\nThe pilot Ilze keeps a dog named Kaspars.\nfirst rule"
    )
    assert read("pdf", HANDBOOK).remark == "Page 2 has no text that could be read."


def test_a_word_file_keeps_headings_tables_and_lists() -> None:
    (passage,) = read("docx", WORD).passages
    for part in ("## Harbour handbook", "“Kuri”", "| North | 9 m   |", "- first rule"):
        assert part in passage


@pytest.mark.parametrize(
    "data",
    [
        b"<html><meta charset=iso-8859-2><body><script>evil()</script><p>na\xb9e\n<img src=x>",
        "<html><body><nav>Menu</nav><p>naše</p></body>".encode(),
    ],
)
def test_html_is_read_in_its_charset_without_scripts(data: bytes) -> None:
    (passage,) = read("html", data).passages
    assert "naše" in passage
    assert "evil" not in passage


@pytest.mark.parametrize(
    "data", ["naïve”".encode(), "naïve”".encode("utf-16"), "naïve”".encode("cp1252")]
)
def test_text_is_read_in_the_charsets_that_editors_write(data: bytes) -> None:
    assert read("text", data).passages == ["From it.\nnaïve”"]


@pytest.mark.parametrize(
    ("kind", "data", "words"),
    [
        ("pdf", LOCKED, "password"),
        ("pdf", scanned(), "OCR"),
        ("pdf", HANDBOOK[:3000], "damaged"),
        ("pdf", b"no PDF", "damaged"),
        ("docx", WORD[:3000], "damaged"),
        ("docx", b"\xd0\xcf\x11\xe0 an old one", ".docx"),
        ("html", b"<html><body><script>all()</script></body>", "no text"),
        ("text", b" \n ", "no text"),
        ("text", b"\0\1\2", "damaged"),
        ("text", b"word \n\n" * 700_000, "at most 2,000"),
    ],
)
def test_what_is_no_good_is_refused_with_what_to_do(kind: str, data: bytes, words: str) -> None:
    with pytest.raises(Unreadable, match=words):
        read(kind, data)


def test_memory_time_and_output_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(reading, "MEMORY", 300 * 1024**2)
        assert read("docx", WORD).passages
        with pytest.raises(Unreadable, match="memory"):
            read("docx", zip_of(60_000_000))
    with monkeypatch.context() as patch:
        patch.setattr(reading, "LARGEST_OUTPUT", 2000)
        with pytest.raises(Unreadable, match="Split it"):
            read("text", b"word " * 10_000)
    signs: list[None] = []
    monkeypatch.setattr(reading, "PATIENCE", 0.02)
    monkeypatch.setattr(reading, "SIGN_SECONDS", 0.01)
    with pytest.raises(Unreadable, match="seconds"):
        read_file("text", "it", b"word", lambda: signs.append(None))
    assert signs


def test_the_reader_is_told_no_secrets(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    spy = tmp_path / "spy.py"
    spy.write_text("import json, os; print(json.dumps({'refused': '', 'names': [*os.environ]}))")
    monkeypatch.setattr(reading, "READER", spy)
    monkeypatch.setenv("OPENAI_API_KEY", "sesame")
    assert "OPENAI_API_KEY" not in reading.answer_of("text", b"", lambda: None)["names"]


def test_text_is_cut_where_it_may_be() -> None:
    sections = "# One\n\nFirst. Second.\n\nThird.\n\n# Two\n\nFourth.\n"
    assert cut(sections, 40) == ["# One\n\nFirst. Second.\n\nThird.", "# Two\n\nFourth."]
    assert cut("One two. Three four. Five six.", 21) == ["One two. Three four.", "Five six."]
    assert cut("x" * 25, 10) == ["x" * 10, "x" * 10, "x" * 5]
    long = "Some words in a line, and more.\n" * 500
    assert all(len(piece) <= 300 for piece in cut(long, 300))
    assert "\n".join(cut(long, 300)) == long.strip()
