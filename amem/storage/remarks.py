"""What has been said to whoever uses a collection, and need not be said again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from amem.storage import tables

if TYPE_CHECKING:
    from amem.storage.session import Session

_META = tables.meta


class Remarks:
    """Remarks on the collection as a whole: the last one made about each thing."""

    def __init__(self, session: Session) -> None:
        self._run = session.connection.execute

    def last(self, about: str) -> str | None:
        """The last remark made; None when none was."""
        found: str | None = self._run(select(_META.c.value).where(_META.c.key == f"said {about}")).scalar()
        return found

    def make(self, about: str, remark: str) -> bool:
        """Keep a remark; False when it is the last one made already, by whatever process."""
        if self.last(about) == remark:
            return False
        self._run(_META.delete().where(_META.c.key == f"said {about}"))
        self._run(_META.insert().values(key=f"said {about}", value=remark))
        return True
