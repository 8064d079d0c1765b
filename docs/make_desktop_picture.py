"""Take the picture of the window, on a display of its own.

    python docs/make_desktop_picture.py

Writes ``docs/pictures/desktop.png``: the demo's notes in ``amem desktop``, a search with its menu open. Needs the
desktop extra, Pillow, Xvfb, xdotool, and a font with Chinese letters.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from io import BytesIO
from pathlib import Path

from make_pictures import AMEM, small
from PIL import ImageGrab

PICTURE = Path(__file__).parent / "pictures" / "desktop.png"
WIDTH, HEIGHT = 1200, 760


def main() -> None:
    """Open the window, search, open the menu, take the picture, close the window."""
    reader, writer = os.pipe()
    size = ["-screen", "0", f"{WIDTH}x{HEIGHT}x24"]
    screen = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writer), *size, "-nolisten", "tcp", "-noreset"], pass_fds=[writer]
    )
    os.close(writer)
    with os.fdopen(reader) as told:
        display = f":{told.readline().strip()}"
    environment = {**os.environ, "DISPLAY": display, "AMEM_LLM_BACKEND": "offline"}

    def xdotool(*words: str) -> str:
        return subprocess.run(["xdotool", *words], env=environment, capture_output=True, text=True).stdout

    with tempfile.TemporaryDirectory() as home:
        subprocess.run([*AMEM, "--home", home, "demo"], env=environment, stdout=subprocess.DEVNULL, check=True)
        Path(home, "window.json").write_text(
            f'{{"width": {WIDTH}, "height": {HEIGHT}, "x": 0, "y": 0, "maximized": false}}'
        )
        window = subprocess.Popen([*AMEM, "--home", home, "-c", "demo", "desktop"], env=environment)
        try:
            while not (found := xdotool("search", "--onlyvisible", "--name", "^amem: demo$").split()):
                time.sleep(0.5)
            xdotool("windowfocus", found[0])
            time.sleep(15)
            xdotool("key", "slash")
            xdotool("type", "Why did I leave Kestrel Freight?")
            xdotool("key", "Return")
            time.sleep(10)
            xdotool("key", "alt+n")
            time.sleep(3)
            taken = BytesIO()
            ImageGrab.grab(xdisplay=display).save(taken, "PNG")
            PICTURE.write_bytes(small(taken.getvalue()))
        finally:
            window.terminate()
            window.wait(30)
            screen.terminate()
            screen.wait()


if __name__ == "__main__":
    main()
