"""amem's own look: ink and paper-lamp colours, with one colour each for what people and what machines wrote."""

from __future__ import annotations

from textual.theme import Theme

INK = Theme(
    name="amem",
    primary="#7aa2d8",
    secondary="#8fb8a8",
    accent="#e0af68",
    success="#9ec586",
    warning="#e0af68",
    error="#e07a7a",
    foreground="#d5d9e3",
    background="#14171f",
    surface="#1a1e28",
    panel="#262c3a",
    dark=True,
    variables={
        "block-cursor-background": "#33405c",
        "block-cursor-foreground": "#f2f4f8",
        "block-cursor-text-style": "bold",
        "block-cursor-blurred-background": "#232a3a",
        "block-cursor-blurred-foreground": "#d5d9e3",
        "footer-key-foreground": "#e0af68",
        "input-selection-background": "#7aa2d8 35%",
    },
)
