"""How it looks: themes by name, and colours that can be told apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from amem_tui.browser_app import NotesApp
from amem_tui.themes import AA, AAA, CONTRAST, INK, PAPER, THEMES, colours_of, contrast, known_theme, muted, readable
from driving import browsing, toasts, wait_until
from textual.color import Color
from textual.theme import BUILTIN_THEMES, Theme

from amem.errors import InvalidInput

if TYPE_CHECKING:
    from amem.memory_system import AgenticMemorySystem

SIGNALS = ("primary", "secondary", "accent", "success", "warning", "error")
GROUNDS = ("background", "surface", "panel")
OTHERS = [theme for theme in BUILTIN_THEMES.values() if not theme.name.startswith("ansi")]


def test_contrast_is_that_of_the_guidelines() -> None:
    black, white, grey = Color.parse("#000000"), Color.parse("#ffffff"), Color.parse("#777777")
    assert contrast(black, white) == pytest.approx(21)
    assert contrast(white, white) == pytest.approx(1)
    assert contrast(grey, white) == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize(("theme", "least"), [(INK, AA), (PAPER, AA), (CONTRAST, AAA)], ids=lambda each: str(each)[:20])
def test_all_text_of_amems_own_themes_can_be_read(theme: Theme, least: float) -> None:
    colours = {**colours_of(theme), "muted": Color.parse(muted(theme))}
    for ground in GROUNDS:
        for name in ("foreground", "muted", *SIGNALS):
            assert contrast(colours[name], colours[ground]) >= least, (name, ground)
    cursor = {name: Color.parse(theme.variables[f"block-cursor-{name}"]) for name in ("background", "foreground")}
    assert contrast(cursor["foreground"], cursor["background"]) >= least


@pytest.mark.parametrize("theme", OTHERS, ids=lambda theme: theme.name)
def test_signs_and_grey_can_be_read_on_every_theme(theme: Theme) -> None:
    colours = colours_of(theme)
    signals = {name: Color.parse(colour) for name, colour in readable(theme).items()}
    grey = Color.parse(muted(theme))
    for ground in (colours["background"], colours["surface"]):
        text = contrast(colours["foreground"], ground)
        assert contrast(grey, ground) >= min(AA, text)
        for name in SIGNALS:
            assert contrast(signals[name], ground) >= min(AA, text), name


def test_what_people_agents_and_machines_wrote_is_told_apart_by_colour_too() -> None:
    for theme in THEMES:
        colours = colours_of(theme)
        assert len({colours[name].hex for name in ("success", "primary", "accent")}) == 3


def test_an_unknown_theme_is_refused_with_the_names_there_are(empty: AgenticMemorySystem) -> None:
    with pytest.raises(InvalidInput, match="no theme 'solarised'") as raised:
        known_theme("solarised")
    assert "amem-light" in raised.value.hint
    assert "solarized-dark" in raised.value.hint
    with pytest.raises(InvalidInput):
        NotesApp(settings=empty.settings.replaced(tui_theme="solarised"))


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["amem-light", "nord", "ansi-dark"])
async def test_the_setting_chooses_the_theme(empty: AgenticMemorySystem, name: str) -> None:
    empty.settings = empty.settings.replaced(tui_theme=name)
    async with browsing(empty) as pilot:
        assert pilot.app.theme == name
        assert toasts(pilot) == ""


@pytest.mark.thorough
async def test_a_theme_chosen_in_the_palette_is_said_how_to_keep(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        await pilot.press("ctrl+p", *"amem-con")
        await wait_until(pilot, lambda: bool(pilot.app.screen.query("CommandList OptionList, CommandList")))
        pilot.app.theme = "amem-contrast"
        await wait_until(pilot, lambda: 'tui_theme = "amem-contrast"' in toasts(pilot))
        assert "config.toml" in toasts(pilot)
