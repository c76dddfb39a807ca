"""Eight doubles at a time: a vector type for kernels that run eight searches abreast.

``load`` takes a row of a table of shape (R, 8), the operators ``+ - * / < <= > >= & | ~`` and the
functions below act on all eight lanes, ``store`` puts the row back. In compiled code such a value
is one LLVM vector of eight doubles, one or a few registers of the machine; with the compiler
switched off it is an array of shape (8,), so that the same kernel runs as plain NumPy. Lanes never
mix (only ``any_of`` looks across): the result of a lane does not depend on its neighbours.

Numbers mix with lanes in arithmetic and comparisons. A comparison gives a mask for ``select``.
Without a compiler ``a += b`` changes the array itself: two names must not share it.
"""

# numba's registries are not typed
# mypy: disable-error-code="no-untyped-call,untyped-decorator,import-untyped,attr-defined"

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba.core import types
from numba.core.typeconv import Conversion
from numba.core.typing.templates import AbstractTemplate, infer_global
from numba.extending import lower_builtin, lower_cast, models, register_jitable, register_model

WIDTH = 8

F64 = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


def load(table: F64, row: int) -> F64:
    """Row ``row`` of a C-ordered table (R, 8)."""
    value: F64 = table[row].copy()
    return value


def store(table: F64, row: int, value: F64) -> None:
    """Row ``row`` of a C-ordered table (R, 8) becomes ``value``."""
    table[row] = value


def splat(value: float) -> F64:
    """The same number in all lanes."""
    return np.full(WIDTH, value, np.float64)


def lane_numbers() -> F64:
    """0, 1, ..., 7."""
    return np.arange(float(WIDTH))


def sum_of(a: F64) -> float:
    """Sum of the lanes, in pairs."""
    b = a[:4] + a[4:]
    c = b[:2] + b[2:]
    return float(c[0] + c[1])


def select(mask: Mask, yes: F64 | float, no: F64 | float) -> F64:
    """``yes`` where the mask holds, ``no`` elsewhere."""
    return np.where(mask, yes, no)


def larger(a: F64, b: F64) -> F64:
    """The larger of two numbers; ``b`` where one is NaN."""
    return np.where(a > b, a, b)


def smaller(a: F64, b: F64) -> F64:
    """The smaller of two numbers; ``b`` where one is NaN."""
    return np.where(a < b, a, b)


def size_of(a: F64) -> F64:
    """Absolute values."""
    return np.abs(a)


def any_of(mask: Mask) -> bool:
    """Whether the mask holds in some lane."""
    return bool(mask.any())


# 1.0 and sqrt(1/2) as bit patterns, up to the last 32 bits of the latter: a number is
# 2**exponent times a significand in [sqrt(1/2), sqrt(2)).
_ONE = 0x3FF0000000000000
_ROOT = 0x3FE6A09E00000000
_FRACTION = 0x000FFFFFFFFFFFFF


def exponent_of(a: F64) -> F64:
    """The exponent of positive normal numbers."""
    return (((a.view(np.int64) + (_ONE - _ROOT)) >> 52) - 1023).astype(np.float64)


def significand_of(a: F64) -> F64:
    """The significand of positive normal numbers, in [sqrt(1/2), sqrt(2))."""
    bits = a.view(np.int64) + (_ONE - _ROOT)
    return ((bits & _FRACTION) + _ROOT).view(np.float64)


@register_jitable
def log_of(a: F64) -> F64:
    """Natural logarithm, to 1 ulp; -inf for 0, negative, subnormal numbers and NaN.

    log m = f - (f^2/2 - s (f^2/2 + R)) with f = m - 1, s = f / (2 + f) and R the minimax polynomial
    of fdlibm's e_log.c, so that the result is the same on every machine.
    """
    power = exponent_of(a)
    f = significand_of(a) - 1.0
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    even = w * (
        3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01)
    )
    odd = z * (
        6.666666666666735130e-01
        + w
        * (2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01))
    )
    half = 0.5 * f * f
    small = s * (half + (even + odd)) + power * 1.90821492927058770002e-10
    value = power * 6.93147180369123816490e-01 - ((half - small) - f)
    return select(a >= 2.2250738585072014e-308, value, splat(-np.inf))


# --- the same for the compiler

_VECTOR = ir.VectorType(ir.DoubleType(), WIDTH)
_WHOLE = ir.VectorType(ir.IntType(64), WIDTH)
_BITS = ir.VectorType(ir.IntType(1), WIDTH)


class _LanesType(types.Type):
    def __init__(self) -> None:
        super().__init__(name="Lanes")

    def can_convert_from(self, typingctx: Any, other: Any) -> Any:  # noqa: ARG002
        return Conversion.safe if isinstance(other, types.Number) else None


class _MaskType(types.Type):
    def __init__(self) -> None:
        super().__init__(name="Mask")


_lanes = _LanesType()
_mask = _MaskType()


@register_model(_LanesType)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, _VECTOR)


@register_model(_MaskType)
class _MaskModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, _BITS)


@lower_cast(types.Number, _LanesType)
def _spread(context: Any, builder: Any, fromty: Any, toty: Any, value: Any) -> Any:  # noqa: ARG001
    number = context.cast(builder, value, fromty, types.float64)
    none = ir.Constant(_VECTOR, ir.Undefined)
    first = builder.insert_element(none, number, ir.Constant(ir.IntType(32), 0))
    order = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), None)
    return builder.shuffle_vector(first, none, order)


def _compiles_to(
    function: Any, kinds: tuple[Any, ...], result: Any, emit: Callable[..., Any]
) -> None:
    """Let compiled calls of ``function`` with operands of these kinds be what ``emit`` builds.

    A kind is a type of numba or a class of them. Numbers may stand for lanes, but not for all
    operands: that call is another function's.
    """

    class Template(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            if kws or len(args) != len(kinds):
                return None
            operands = []
            lanes_met = function in (splat, lane_numbers)
            for given, kind in zip(args, kinds, strict=True):
                number = kind is _lanes and isinstance(given, types.Number)
                same = isinstance(given, kind) if isinstance(kind, type) else given == kind
                if not (same or number):
                    return None
                lanes_met = lanes_met or same
                operands.append(kind if number else given)
            return result(*operands) if lanes_met else None

    infer_global(function)(Template)

    @lower_builtin(function, *kinds)
    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:  # noqa: ARG001
        return emit(builder, *args)


def _row(builder: Any, table: Any, row: Any) -> Any:
    # an array is a struct whose fifth member points to its data
    start = builder.gep(
        builder.extract_value(table, 4), [builder.mul(row, ir.Constant(row.type, WIDTH))]
    )
    return builder.bitcast(start, _VECTOR.as_pointer())


def _load(builder: Any, table: Any, row: Any) -> Any:
    return builder.load(_row(builder, table, row), align=8)


def _store(builder: Any, table: Any, row: Any, value: Any) -> Any:
    builder.store(value, _row(builder, table, row), align=8)
    return ir.Constant(ir.IntType(8).as_pointer(), None)


def _constant(number: int) -> Any:
    return ir.Constant(_WHOLE, [number] * WIDTH)


def _shifted(builder: Any, a: Any) -> Any:
    return builder.add(builder.bitcast(a, _WHOLE), _constant(_ONE - _ROOT))


def _exponent(builder: Any, a: Any) -> Any:
    power = builder.sub(builder.ashr(_shifted(builder, a), _constant(52)), _constant(1023))
    return builder.sitofp(power, _VECTOR)


def _significand(builder: Any, a: Any) -> Any:
    fraction = builder.and_(_shifted(builder, a), _constant(_FRACTION))
    return builder.bitcast(builder.add(fraction, _constant(_ROOT)), _VECTOR)


def _size(builder: Any, a: Any) -> Any:
    bits = builder.and_(builder.bitcast(a, _WHOLE), _constant(0x7FFFFFFFFFFFFFFF))
    return builder.bitcast(bits, _VECTOR)


def _numbers(_: Any) -> Any:
    return ir.Constant(_VECTOR, [float(lane) for lane in range(WIDTH)])


def _sum(builder: Any, a: Any) -> Any:
    for half in (4, 2, 1):
        order = [
            ir.Constant(ir.VectorType(ir.IntType(32), half), list(range(s, s + half)))
            for s in (0, half)
        ]
        parts = [builder.shuffle_vector(a, ir.Constant(a.type, ir.Undefined), o) for o in order]
        a = builder.fadd(*parts)
    return builder.extract_element(a, ir.Constant(ir.IntType(32), 0))


def _any(builder: Any, mask: Any) -> Any:
    bits = builder.bitcast(mask, ir.IntType(WIDTH))
    return builder.icmp_unsigned("!=", bits, ir.Constant(ir.IntType(WIDTH), 0))


_two = (_lanes, _lanes)
for _add, _sub, _mul in (
    (operator.add, operator.sub, operator.mul),
    (operator.iadd, operator.isub, operator.imul),
):
    _compiles_to(_add, _two, _lanes, lambda b, x, y: b.fadd(x, y))
    _compiles_to(_sub, _two, _lanes, lambda b, x, y: b.fsub(x, y))
    _compiles_to(_mul, _two, _lanes, lambda b, x, y: b.fmul(x, y))
_compiles_to(operator.truediv, _two, _lanes, lambda b, x, y: b.fdiv(x, y))
_compiles_to(operator.neg, (_lanes,), _lanes, lambda b, x: b.fneg(x))
_compiles_to(operator.lt, _two, _mask, lambda b, x, y: b.fcmp_ordered("<", x, y))
_compiles_to(operator.le, _two, _mask, lambda b, x, y: b.fcmp_ordered("<=", x, y))
_compiles_to(operator.gt, _two, _mask, lambda b, x, y: b.fcmp_ordered(">", x, y))
_compiles_to(operator.ge, _two, _mask, lambda b, x, y: b.fcmp_ordered(">=", x, y))
_compiles_to(operator.and_, (_mask, _mask), _mask, lambda b, x, y: b.and_(x, y))
_compiles_to(operator.or_, (_mask, _mask), _mask, lambda b, x, y: b.or_(x, y))
_compiles_to(operator.invert, (_mask,), _mask, lambda b, x: b.not_(x))
_compiles_to(select, (_mask, _lanes, _lanes), _lanes, lambda b, m, x, y: b.select(m, x, y))
_compiles_to(larger, _two, _lanes, lambda b, x, y: b.select(b.fcmp_ordered(">", x, y), x, y))
_compiles_to(smaller, _two, _lanes, lambda b, x, y: b.select(b.fcmp_ordered("<", x, y), x, y))
_compiles_to(size_of, (_lanes,), _lanes, _size)
_compiles_to(splat, (_lanes,), _lanes, lambda _, x: x)
_compiles_to(exponent_of, (_lanes,), _lanes, _exponent)
_compiles_to(significand_of, (_lanes,), _lanes, _significand)
_compiles_to(lane_numbers, (), _lanes, _numbers)
_compiles_to(sum_of, (_lanes,), types.float64, _sum)
_compiles_to(any_of, (_mask,), types.boolean, _any)
_compiles_to(load, (types.Array, types.Integer), _lanes, _load)
_compiles_to(store, (types.Array, types.Integer, _lanes), types.none, _store)
