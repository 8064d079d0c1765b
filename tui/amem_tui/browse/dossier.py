"""What is read of a note when it is opened."""

from __future__ import annotations

from amem_tui.browse.pane.asked import Dossier, open_dossier

__all__ = ["Dossier", "open_dossier"]
