"""Lists that have pages."""

from __future__ import annotations

from typing import Any, Callable, Generic, Iterator, TypeVar

Item = TypeVar("Item")


class Page(Generic[Item]):
    """Items, and the ``cursor`` of the next page, which is None on the last one."""

    def __init__(self, items: list[Item], next_cursor: str | None) -> None:
        self.items = items
        self.next_cursor = next_cursor

    def __repr__(self) -> str:
        return f"Page(items={self.items!r}, next_cursor={self.next_cursor!r})"


class Pages(Generic[Item]):
    """``for run in rungate.runs.list()`` goes over all items, and reads each page when it is needed. ``.page()`` is one page."""

    def __init__(self, read: Callable[[str | None], Any]) -> None:
        self._read = read

    def page(self, cursor: str | None = None) -> Page[Item]:
        """The first page, or the one of a ``cursor``."""
        found = self._read(cursor)
        return Page(found["items"], found["next_cursor"])

    def __iter__(self) -> Iterator[Item]:
        cursor: str | None = None
        while True:
            page = self.page(cursor)
            yield from page.items
            cursor = page.next_cursor
            if cursor is None:
                return
