"""``amem maintain --install``: what the machine is told to do every night, for this home and collection."""

from __future__ import annotations

import hashlib
import shutil
import sys
from datetime import time
from pathlib import Path
from typing import TYPE_CHECKING

from platformdirs import user_data_path

from amem.cli.invocation import tell
from amem.cli.render import print_json, say
from amem.errors import InvalidInput
from amem.maintenance.schedule import Schedule, install, uninstall, units_folder

if TYPE_CHECKING:
    from amem.cli.invocation import Invocation

_NAME = "amem-maintain"


def install_nightly(call: Invocation, at: str, *, show: bool, as_json: bool) -> None:
    """Have the machine maintain this collection every day at that time; with `show` only print how."""
    schedule = _schedule(call, _time(at))
    if show:
        if as_json:
            return print_json({"units": schedule.units(), "crontab": schedule.cron_line()})
        for name, text in schedule.units().items():
            say(f"# {units_folder() / name}\n{text}")
        say(f"# crontab -e, where there is no systemd\n{schedule.cron_line()}")
        return None
    done = install(schedule)
    if as_json:
        return print_json({"by": done.by, "where": list(done.where), "at": f"{schedule.at:%H:%M}"})
    for where in done.where:
        say(where)
    tell(f"every night at {schedule.at:%H:%M}, by {done.by}; no longer with: {call.command('maintain', '--uninstall')}")
    return None


def uninstall_nightly(call: Invocation, as_json: bool) -> None:
    """No longer."""
    gone = uninstall(_name(call))
    if as_json:
        return print_json({"removed": gone})
    for each in gone:
        say(each)
    tell("no longer every night" if gone else "nothing was installed for this collection")
    return None


def _schedule(call: Invocation, at: time) -> Schedule:
    # Whoever starts it knows nothing of this shell: not its folder, not its variables.
    settings = call.settings()
    words = [*_program(), "--home", str(settings.home), "--collection", settings.collection]
    if call.env_file is not None:
        words += ["--env-file", str(Path(call.env_file).absolute())]
    return Schedule(_name(call), (*words, "maintain", "--due"), at)


def _name(call: Invocation) -> str:
    """One for each collection: plain for the usual one, so that it is easily found."""
    from amem.settings import Settings

    settings = call.settings()
    name = _NAME
    if settings.collection != Settings.model_fields["collection"].default:
        name += f"-{settings.collection}"
    if settings.home != user_data_path("amem", appauthor=False):
        name += f"-{hashlib.sha256(str(settings.home).encode()).hexdigest()[:8]}"
    return name


def _program() -> list[str]:
    """How this program is called from anywhere."""
    called = Path(sys.argv[0]).absolute()
    if called.name == "amem" and called.is_file():
        return [str(called)]
    found = shutil.which("amem")
    return [found] if found else [sys.executable, "-c", "from amem.cli import main; main()"]


def _time(text: str) -> time:
    try:
        return time.fromisoformat(text).replace(second=0, microsecond=0, tzinfo=None)
    except ValueError as error:
        raise InvalidInput(f"cannot read {text!r} as a time of day", hint="write --at 03:30") from error
