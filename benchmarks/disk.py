"""What takes the disk of a collection: each table and index of its database, and each other file, in bytes a note.

    python benchmarks/disk.py COLLECTION_FOLDER

Pages of the database are counted whole (SQLite's dbstat), what is written in them beside that: the difference is air.
"""

from __future__ import annotations

import argparse
import sqlite3
from pathlib import Path
from urllib.parse import quote

#: Less than so many bytes a note is summed up.
_SMALL = 20


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="What takes the disk of a collection.")
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder
    held = sqlite3.connect(f"file:{quote(str(folder / 'amem.db'))}?mode=ro", uri=True)
    (notes,) = held.execute("SELECT count(*) FROM notes").fetchone()
    parts = held.execute("SELECT name, sum(pgsize), sum(payload) FROM dbstat GROUP BY name ORDER BY 2 DESC").fetchall()
    held.close()
    print(f"{notes:,} notes\n{'bytes a note':<28}{'on disk':>9}{'written':>9}")
    large = [part for part in parts if part[1] >= _SMALL * notes]
    rest = [part for part in parts if part[1] < _SMALL * notes]
    small = (f"{len(rest)} smaller ones", sum(each[1] for each in rest), sum(each[2] for each in rest))
    for name, pages, written in (
        *large,
        small,
        ("amem.db", sum(each[1] for each in parts), sum(each[2] for each in parts)),
    ):
        print(f"{name:<28}{pages / notes:>9,.0f}{written / notes:>9,.0f}")
    for path in sorted(each for each in folder.iterdir() if each.name != "amem.db"):
        files = path.rglob("*") if path.is_dir() else [path]
        print(f"{path.name:<28}{sum(each.stat().st_size for each in files if each.is_file()) / notes:>9,.0f}")


if __name__ == "__main__":
    main()
