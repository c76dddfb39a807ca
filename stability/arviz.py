"""Draws as ArviZ wants them: the one adapter, for ArviZ 0.18 to 0.23 and 1.x.

ArviZ diagnoses what comes in chains of draws: posterior draws of a fit, and Monte Carlo debates in
replicated ensembles (R-hat, effective sample size, Monte Carlo standard error).
"""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt


def to_arviz(
    draws: Mapping[str, npt.ArrayLike],
    *,
    dims: Mapping[str, Sequence[str]] | None = None,
    coords: Mapping[str, Sequence[Any]] | None = None,
    log_likelihood: Mapping[str, npt.ArrayLike] | None = None,
    observed: Mapping[str, npt.ArrayLike] | None = None,
) -> Any:
    """Return draws as the object of the installed ArviZ.

    Parameters
    ----------
    draws : mapping of str to array, shape (chains, draws, ...)
        Numbers by variable; chains and draws are the same for all. NaN is kept.
    dims : mapping of str to sequence of str, optional
        Names of the axes after (chain, draw), by variable; also of ``log_likelihood`` and
        ``observed``.
    coords : mapping of str to sequence, optional
        Labels along the named axes.
    log_likelihood : mapping of str to array, shape (chains, draws, ...), optional
        Of each observation, for comparisons of models.
    observed : mapping of str to array, optional
        Data that were fitted.

    Returns
    -------
    arviz.InferenceData or xarray.DataTree
        The first of ArviZ 0.x, the second of 1.x; group "posterior" has the draws in either.

    Raises
    ------
    ValueError
        When there is no variable, shapes do not agree, or names in ``dims`` and ``coords`` do not
        fit them.

    Examples
    --------
    >>> import numpy as np
    >>> found = to_arviz({"accuracy": np.zeros((4, 100, 3))}, dims={"accuracy": ["round"]})
    >>> dict(found["posterior"]["accuracy"].sizes)
    {'chain': 4, 'draw': 100, 'round': 3}
    """
    samples = _numbers("draws", draws, None)
    if not samples:
        raise ValueError("`draws` must have at least one variable, got none")
    leading = next(iter(samples.values())).shape[:2]
    groups = {"posterior": _numbers("draws", draws, leading)}
    if log_likelihood is not None:
        groups["log_likelihood"] = _numbers("log_likelihood", log_likelihood, leading)
    skip = {name: 2 for one in groups.values() for name in one}
    if observed is not None:
        groups["observed_data"] = {name: np.asarray(data) for name, data in observed.items()}
        skip |= dict.fromkeys(groups["observed_data"], 0)
    shapes = {name: data.shape for one in groups.values() for name, data in one.items()}
    names = _named_axes(dims or {}, shapes, skip)
    labels = {name: list(values) for name, values in (coords or {}).items()}
    for variable, axes in names.items():
        sizes = shapes[variable][skip[variable] :]
        for axis, size in zip(axes, sizes, strict=True):
            if axis in labels and len(labels[axis]) != size:
                raise ValueError(
                    f"`coords` must have {size} labels for {axis!r}, the axis of {variable!r}, "
                    f"got {len(labels[axis])}"
                )
    unknown = set(labels) - {axis for axes in names.values() for axis in axes}
    if unknown:
        raise ValueError(f"`coords` must be of axes named in `dims`, got {sorted(unknown)}")
    with warnings.catch_warnings():
        # ArviZ 0.23 announces ArviZ 1 when it is imported
        warnings.simplefilter("ignore", FutureWarning)
        import arviz
    if int(arviz.__version__.split(".")[0]) >= 1:
        return arviz.from_dict(groups, dims=names, coords=labels)
    options: dict[str, Any] = {**groups, "dims": names, "coords": labels}
    return arviz.from_dict(**options)


def _numbers(
    what: str, given: Mapping[str, npt.ArrayLike], leading: tuple[int, ...] | None
) -> dict[str, npt.NDArray[Any]]:
    """Arrays by name; refuse what has no chains and draws, or others than the first."""
    if not isinstance(given, Mapping):
        raise ValueError(f"`{what}` must be a mapping from names to arrays, got {given!r}")
    found = {}
    for name, values in given.items():
        data = np.asarray(values)
        if data.dtype.kind not in "biuf":
            raise ValueError(f"`{what}` of {name!r} must be numbers, got {data.dtype}")
        if data.ndim < 2 or 0 in data.shape:
            raise ValueError(
                f"`{what}` of {name!r} must have the shape (chains, draws, ...), each >= 1, "
                f"got {data.shape}"
            )
        if leading is not None and data.shape[:2] != leading:
            raise ValueError(
                f"`{what}` of {name!r} must have {leading[0]} chains of {leading[1]} draws, as "
                f"the first variable, got {data.shape}"
            )
        found[str(name)] = data
    return found


def _named_axes(
    dims: Mapping[str, Sequence[str]],
    shapes: Mapping[str, tuple[int, ...]],
    skip: Mapping[str, int],
) -> dict[str, list[str]]:
    """Names of axes by variable, as many as it has after those skipped."""
    found = {}
    for variable, axes in dims.items():
        if variable not in shapes:
            raise ValueError(f"`dims` must name axes of {sorted(shapes)}, got {variable!r}")
        wanted = len(shapes[variable]) - skip[variable]
        if isinstance(axes, str) or len(axes) != wanted:
            raise ValueError(f"`dims` of {variable!r} must name {wanted} axes, got {axes!r}")
        found[variable] = [str(axis) for axis in axes]
    return found
