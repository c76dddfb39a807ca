"""Draw the pictures of the pages again, by running the code of each page that shows one.

Used by ``make docs``; the tests check that each page still writes the pictures that it shows.
"""

import contextlib
import io
import os
import re
import shutil
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main() -> None:
    for page in sorted(HERE.parent.rglob("*.md")):
        text = page.read_text("utf-8")
        shown = re.findall(r"\]\((?:\.\./)?pictures/(\S+)\)", text)
        if not shown:
            continue
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            os.chdir(folder)
            space: dict[str, object] = {"__name__": "page"}
            for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
                exec(compile(code, page.name, "exec"), space)
            for name in shown:
                shutil.copy(name, HERE / name)
            os.chdir(HERE)


if __name__ == "__main__":
    main()
