"""Tables and pictures that commands write."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

TABLES = (".csv", ".parquet")


def check_table(path: Path | None) -> None:
    """Refuse a name that says no format, before anything is computed."""
    if path is not None and path.suffix not in TABLES:
        raise ValueError(f"`--out` must end in {' or '.join(TABLES)}, got {path}")


def write_table(frame: "pd.DataFrame", path: Path) -> None:
    """Write a table; folders are made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path, index=False)


def check_picture(path: Path | None) -> None:
    """Refuse a format that is not drawn, before anything is computed."""
    if path is None:
        return
    from matplotlib.figure import Figure

    known = sorted(Figure().canvas.get_supported_filetypes())
    if path.suffix.lstrip(".").lower() not in known:
        raise ValueError(f"`--plot` must end in one of {', '.join(known)}, got {path}")


def write_picture(ax: "Axes", path: Path) -> None:
    """Write the figure of the axes; folders are made."""
    from matplotlib import pyplot

    path.parent.mkdir(parents=True, exist_ok=True)
    whole: Any = ax.figure.figure
    whole.savefig(path, dpi=120)
    pyplot.close(whole)
