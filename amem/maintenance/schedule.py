"""Has this machine run a command every night: a systemd user timer where there is one, else a line for cron.

What is written is marked with a name, so that writing it again replaces it and nothing else is ever touched.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from datetime import time
from pathlib import Path
from typing import TYPE_CHECKING

from platformdirs import user_data_path

from amem.errors import AmemError, InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.settings import Settings

_SECONDS, _NAME = 30.0, "amem-maintain"


@dataclass(frozen=True, slots=True)
class Schedule:
    """`command`, which begins with an absolute path, every day `at` a time of the machine's own zone, as `name`."""

    name: str
    command: tuple[str, ...]
    at: time

    def units(self) -> dict[str, str]:
        """The systemd units by file name."""
        quoted = [_unit_word(word, first=place == 0) for place, word in enumerate(self.command)]
        return {
            f"{self.name}.service": _SERVICE.format(command=" ".join(quoted)),
            f"{self.name}.timer": _TIMER.format(at=self.at),
        }

    def cron_line(self) -> str:
        """The line for crontab. Raises InvalidInput for a command that cron cannot take."""
        if any("\n" in word for word in self.command):
            raise InvalidInput("cron takes no path with a line break in it", hint="rename the folder")
        # Cron ends a command at %, and does so inside quotes, too.
        command = shlex.join(self.command).replace("%", r"\%")
        return f"{self.at.minute} {self.at.hour} * * * {command} >/dev/null {_mark(self.name)}"


@dataclass(frozen=True, slots=True)
class Installed:
    """What the schedule is kept by (`systemd` or `crontab`), and where."""

    by: str
    where: tuple[str, ...]


_SERVICE = """\
[Unit]
Description=Maintenance of an amem collection

[Service]
Type=oneshot
ExecStart={command}
Nice=10
IOSchedulingClass=idle
"""
_TIMER = """\
[Unit]
Description=Nightly maintenance of an amem collection

[Timer]
OnCalendar=*-*-* {at:%H:%M}:00
Persistent=true

[Install]
WantedBy=timers.target
"""


def maintenance_of(settings: Settings, at: str, env_file: str | None = None) -> Schedule:
    """The maintenance of a collection every night `at` a time of day, as "03:30". Raises InvalidInput."""
    try:
        clock = time.fromisoformat(at).replace(second=0, microsecond=0, tzinfo=None)
    except ValueError as error:
        raise InvalidInput(f"cannot read {at!r} as a time of day", hint="write --at 03:30") from error
    # Whoever starts it knows nothing of this shell: not its folder, not its variables.
    words = [*_program(), "--home", str(settings.home), "--collection", settings.collection]
    if env_file is not None:
        words += ["--env-file", str(Path(env_file).absolute())]
    return Schedule(name_for(settings), (*words, "maintain", "--due"), clock)


def name_for(settings: Settings) -> str:
    """One for each collection: plain for the usual one, so that it is easily found."""
    name = _NAME
    if settings.collection != type(settings).model_fields["collection"].default:
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


def install(schedule: Schedule) -> Installed:
    """Have the machine keep it, in place of an earlier one of this name. Raises AmemError where it can keep none."""
    if _has_systemd():
        folder = units_folder()
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in schedule.units().items():
            (folder / name).write_text(text, encoding="utf-8")
        _run("systemctl", "--user", "daemon-reload")
        _run("systemctl", "--user", "enable", "--now", f"{schedule.name}.timer")
        return Installed("systemd", tuple(str(folder / name) for name in schedule.units()))
    if shutil.which("crontab"):
        line = schedule.cron_line()
        _write_crontab([*_others(_crontab(), schedule.name), line])
        return Installed("crontab", (line,))
    raise AmemError(
        "neither systemd nor cron answers on this machine",
        hint="amem maintain --install --print shows the command; have your own scheduler run it",
    )


def uninstall(name: str) -> list[str]:
    """Take what was installed under this name away; returns what that was, empty when there was nothing."""
    gone: list[str] = []
    files = [units_folder() / f"{name}.{kind}" for kind in ("service", "timer")]
    if any(file.exists() for file in files):
        systemd = _has_systemd()
        if systemd:
            _run("systemctl", "--user", "disable", "--now", f"{name}.timer")
        for file in files:
            file.unlink(missing_ok=True)
            gone.append(str(file))
        if systemd:
            _run("systemctl", "--user", "daemon-reload")
    if shutil.which("crontab"):
        lines = _crontab()
        others = _others(lines, name)
        if len(others) < len(lines):
            _write_crontab(others)
            gone += [line for line in lines if line not in others]
    return gone


def units_folder() -> Path:
    """Where a user's systemd units are."""
    named = os.environ.get("XDG_CONFIG_HOME")
    return (Path(named) if named else Path.home() / ".config") / "systemd" / "user"


def _has_systemd() -> bool:
    if not shutil.which("systemctl"):
        return False
    # It is there in many containers and on many servers where no user's own systemd answers.
    return _try("systemctl", "--user", "show-environment").returncode == 0


def _crontab() -> list[str]:
    """The user's lines. Raises AmemError when they cannot be read: written back, they would be gone."""
    found = _try("crontab", "-l")
    if found.returncode and "no crontab" not in found.stderr:
        raise _failed(("crontab", "-l"), found)
    return [] if found.returncode else found.stdout.splitlines()


def _write_crontab(lines: Sequence[str]) -> None:
    _run("crontab", "-", input="".join(f"{line}\n" for line in lines))


def _others(lines: Sequence[str], name: str) -> list[str]:
    return [line for line in lines if not line.endswith(_mark(name))]


def _mark(name: str) -> str:
    return f"# {name}"


def _unit_word(word: str, *, first: bool) -> str:
    """A word of ExecStart: quoted, with % and (but in the path of the program, where it means nothing) $ doubled."""
    for plain, escaped in (("\\", r"\\"), ('"', r"\""), ("\n", r"\n"), ("%", "%%")):
        word = word.replace(plain, escaped)
    return f'"{word if first else word.replace("$", "$$")}"'


def _try(*words: str, input: str | None = None) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(words, input=input, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(words, 1, "", str(error))


def _run(*words: str, input: str | None = None) -> None:
    done = _try(*words, input=input)
    if done.returncode:
        raise _failed(words, done)


def _failed(words: Sequence[str], done: subprocess.CompletedProcess[str]) -> AmemError:
    said = " ".join((done.stderr or done.stdout).split()) or f"exit code {done.returncode}"
    return AmemError(f"{' '.join(words)} failed: {said}", hint="amem maintain --install --print shows what to set up")
