"""The operations of a graph in the words of a target: LLVM, CUDA C or C99.

A target gives `Arithmetic`, whose values are texts: names or constants of its language. Sine, cosine, arc tangent,
hyperbolic tangent, sign and rounding are written once in these words, without branches, and so is each node of a graph.
"""

from __future__ import annotations

import math
import struct
from typing import Protocol

from tauforge.tracing.graph import Graph, Node


class Arithmetic(Protocol):
    """Numbers of 32 or 64 bits: one, or a vector of them.

    fused: whether `fma` rounds once; otherwise it is a product and a sum
    """

    bits: int
    fused: bool

    def constant(self, value: float) -> str: ...

    def operation(self, op: str, a: str, b: str) -> str:
        """add, sub, mul or div; a product and a sum may fuse."""

    def exactly(self, op: str, a: str, b: str) -> str:
        """As `operation`, for steps that rely on their rounding."""

    def negated(self, a: str) -> str: ...

    def fma(self, a: str, b: str, c: str) -> str:
        """a b + c."""

    def intrinsic(self, name: str, *arguments: str) -> str:
        """sqrt, fabs or copysign."""

    def reciprocal(self, x: str) -> str: ...

    def reciprocal_root(self, x: str) -> str: ...

    def compare(self, how: str, a: str, b: str) -> str:
        """A truth value: olt, ogt, oeq, or ugt, which is also true for NaN."""

    def select(self, mask: str, a: str, b: str) -> str: ...

    def integer_constant(self, value: int) -> str: ...

    def integer_operation(self, op: str, a: str, b: str) -> str:
        """add, sub, and, xor or shl, of integers with as many bits as the numbers."""

    def is_odd(self, integer: str) -> str: ...

    def as_integers(self, a: str) -> str:
        """The bits of the numbers."""

    def as_numbers(self, a: str) -> str: ...


def to_single(x: float) -> float:
    """Rounded to float32; infinite beyond its range."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", x))[0])
    except OverflowError:
        return math.copysign(math.inf, x)


# Minimax polynomials on [-pi/4, pi/4] (the fdlibm and Cephes coefficients): sin r = r + r^3 S(r^2), and
# cos r = 1 - r^2/2 + r^4 C(r^2).
SINE = {
    64: (
        -1.66666666666666324348e-01,
        8.33333333332248946124e-03,
        -1.98412698298579493134e-04,
        2.75573137070700676789e-06,
        -2.50507602534068634195e-08,
        1.58969099521155010221e-10,
    ),
    32: (-1.6666654611e-1, 8.3321608736e-3, -1.9515295891e-4),
}
COSINE = {
    64: (
        4.16666666666666019037e-02,
        -1.38888888888741095749e-03,
        2.48015872894767294178e-05,
        -2.75573143513906633035e-07,
        2.08757232129817482790e-09,
        -1.13596475577881948265e-11,
    ),
    32: (4.166664568298827e-2, -1.388731625493765e-3, 2.443315711809948e-5),
}
# atan r = r - r^3 A(r^2) for |r| < 7/16 (fdlibm), and tan(pi/8) (Cephes).
ARCTANGENT = {
    64: (
        3.33333333333329318027e-01,
        -1.99999999998764832476e-01,
        1.42857142725034663711e-01,
        -1.11111104054623557880e-01,
        9.09088713343650656196e-02,
        -7.69187620504482999495e-02,
        6.66107313738753120669e-02,
        -5.83357013379057348645e-02,
        4.97687799461593236017e-02,
        -3.65315727442169155270e-02,
        1.62858201153657823623e-02,
    ),
    32: (3.33329491539e-1, -1.99777106478e-1, 1.38776856032e-1, -8.05374449538e-2),
}
LARGEST_ANGLE = {(64, True): 1e9, (32, True): 1e6, (64, False): 1e9, (32, False): 6e3}  # by bits, and by fused steps
# pi/2 as a sum of floats, largest first (Cody & Waite). Without fused steps the products of a quarter turn's count and
# the parts must be exact, so all but the last part are short: 22 of 53 bits, or 12 of 24.
HALF_PI_PARTS = {
    (64, True): (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33),
    (32, True): (1.5707963705062866, -4.371138828673793e-08, -1.7763568394002505e-15),
    (64, False): (1.5707964897155762, -1.6292068494294654e-07, 5.390302529957765e-15, 3.2820035428735005e-22),
    (32, False): (1.57080078125, -4.453584551811218e-06, -8.705515752716053e-10),
}
ROUNDER = {64: 6755399441055744.0, 32: 12582912.0}  # 1.5 times 2^52 and 2^23: adding it rounds to an integer
ROUNDER_BITS = {64: 0x4338_0000_0000_0000, 32: 0x4B40_0000}  # less these, a rounded sum's are the integer added
EXPONENT_BITS = {64: (52, 1023), 32: (23, 127)}
TANH_IS_ONE = {64: 20.0, 32: 10.0}  # beyond, tanh rounds to 1


def largest_angle(v: Arithmetic) -> float:
    """Radians up to which sines and cosines are accurate; they are NaN beyond."""
    return LARGEST_ANGLE[v.bits, v.fused]


def horner(v: Arithmetic, coefficients: tuple[float, ...], z: str) -> str:
    """c0 + z (c1 + z (c2 + ...))."""
    value = v.constant(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        value = v.fma(value, z, v.constant(coefficient))
    return value


def sine_and_cosine(v: Arithmetic, x: str) -> tuple[str, str]:
    """Both at once: x less the nearest multiple of pi/2, by three fused steps, then polynomials and a quadrant.

    The error is 1.5 units in the last place for |x| up to 1e9 (64 bits) and 1e6 (32 bits). Without fused steps it is
    2.5 units, up to 1e9 and 6e3.
    Beyond, and for infinities, the result is NaN: too few digits of x are left for the angle within a turn.
    """
    beyond = v.compare("ugt", v.intrinsic("fabs", x), v.constant(largest_angle(v)))
    x = v.select(beyond, v.constant(math.nan), x)
    rounder = v.constant(ROUNDER[v.bits])
    shifted = v.fma(x, v.constant(2 / math.pi), rounder)
    multiple = v.exactly("sub", shifted, rounder)
    quadrant = v.as_integers(shifted)  # its lowest bits count quarter turns
    r = x
    for part in HALF_PI_PARTS[v.bits, v.fused]:
        r = v.fma(multiple, v.constant(-part), r)
    z = v.exactly("mul", r, r)
    sine = v.fma(horner(v, SINE[v.bits], z), v.exactly("mul", r, z), r)
    cosine = v.fma(horner(v, COSINE[v.bits], z), v.exactly("mul", z, z), v.fma(z, v.constant(-0.5), v.constant(1.0)))
    odd = v.is_odd(quadrant)
    first = signed(v, v.select(odd, cosine, sine), quadrant)
    second = signed(v, v.select(odd, sine, cosine), v.integer_operation("add", quadrant, v.integer_constant(1)))
    return first, second


def signed(v: Arithmetic, value: str, quadrant: str) -> str:
    """value, negated where the second bit of the quadrant is set."""
    top = v.integer_operation("shl", quadrant, v.integer_constant(v.bits - 2))
    sign = v.integer_operation("and", top, v.integer_constant(-(1 << (v.bits - 1))))
    return v.as_numbers(v.integer_operation("xor", v.as_integers(value), sign))


def arctangent(v: Arithmetic, y: str, x: str) -> str:
    """The angle of (x, y): that of the smaller magnitude over the larger one, less an eighth of a turn if the ratio is
    above tan(pi/8), then moved into its octant. It is 0 for the origin.
    """
    ax, ay = v.intrinsic("fabs", x), v.intrinsic("fabs", y)
    steep = v.compare("ogt", ay, ax)
    large, small = v.select(steep, ay, ax), v.select(steep, ax, ay)
    upper = v.compare("ogt", small, v.exactly("mul", large, v.constant(math.tan(math.pi / 8))))
    zero = v.constant(0.0)
    top = v.select(upper, v.exactly("sub", small, large), small)
    bottom = v.select(upper, v.exactly("add", small, large), large)
    quotient = v.exactly("div", top, bottom)
    r = v.select(v.compare("oeq", large, zero), zero, quotient)
    z = v.exactly("mul", r, r)
    angle = v.fma(v.negated(v.exactly("mul", r, z)), horner(v, ARCTANGENT[v.bits], z), r)
    angle = v.exactly("add", angle, v.select(upper, v.constant(math.pi / 4), zero))
    angle = v.select(steep, v.exactly("sub", v.constant(math.pi / 2), angle), angle)
    angle = v.select(v.compare("olt", x, zero), v.exactly("sub", v.constant(math.pi), angle), angle)
    return v.intrinsic("copysign", angle, y)


def sign(v: Arithmetic, x: str) -> str:
    """-1, 0 or 1, and NaN for NaN."""
    zero = v.constant(0.0)
    if v.bits == 64:  # one comparison: GPUs are slow at those of float64
        nonzero = v.compare("ogt", v.intrinsic("fabs", x), zero)
        return v.select(nonzero, v.intrinsic("copysign", v.constant(1.0), x), x)
    negative = v.select(v.compare("olt", x, zero), v.constant(-1.0), x)
    return v.select(v.compare("ogt", x, zero), v.constant(1.0), negative)


def nearest(v: Arithmetic, x: str) -> str:
    """The nearest whole number, the even one of two: 2^52 (or 2^23) and |x| add up to one where |x| is below that."""
    magnitude, most = v.intrinsic("fabs", x), v.constant(2.0 ** EXPONENT_BITS[v.bits][0])
    whole = v.exactly("sub", v.exactly("add", magnitude, most), most)
    return v.intrinsic("copysign", v.select(v.compare("olt", magnitude, most), whole, magnitude), x)


def hyperbolic_tangent(v: Arithmetic, x: str) -> str:
    """tanh |x| = -e / (e + 2) with e = exp(-2 |x|) - 1, which is accurate for small x, with the sign of x."""
    magnitude = v.intrinsic("fabs", x)
    limit = v.constant(TANH_IS_ONE[v.bits])
    magnitude = v.select(v.compare("ogt", magnitude, limit), limit, magnitude)
    e = exponential_minus_one(v, v.exactly("mul", magnitude, v.constant(-2.0)))
    quotient = v.operation("div", v.negated(e), v.operation("add", e, v.constant(2.0)))
    return v.intrinsic("copysign", quotient, x)


def exponential_minus_one(v: Arithmetic, y: str) -> str:
    """exp(y) - 1 = 2^k (exp(r) - 1) + (2^k - 1), y = k log 2 + r; for -100 < y <= 0."""
    rounder = v.constant(ROUNDER[v.bits])
    shifted = v.fma(y, v.constant(1 / math.log(2)), rounder)
    k = v.exactly("sub", shifted, rounder)
    high = math.log(2) if v.bits == 64 else to_single(math.log(2))
    low = 2.3190468138462996e-17 if v.bits == 64 else math.log(2) - high
    r = v.fma(k, v.constant(-low), v.fma(k, v.constant(-high), y))
    terms = 12 if v.bits == 64 else 6
    series = tuple(1 / math.factorial(n) for n in range(2, terms + 2))
    p = v.fma(horner(v, series, r), v.exactly("mul", r, r), r)
    fraction_bits, bias = EXPONENT_BITS[v.bits]
    count = v.integer_operation("sub", v.as_integers(shifted), v.integer_constant(ROUNDER_BITS[v.bits]))
    exponent = v.integer_operation("add", count, v.integer_constant(bias))
    power = v.as_numbers(v.integer_operation("shl", exponent, v.integer_constant(fraction_bits)))
    return v.fma(power, p, v.exactly("sub", power, v.constant(1.0)))


class NodeCode:
    """Writes nodes; a target says where a value that is already known is (`value`)."""

    def __init__(self, graph: Graph, numbers: Arithmetic) -> None:
        self.graph, self.numbers = graph, numbers
        self.pairs: dict[int, tuple[str, str]] = {}  # sine and cosine of a node
        self.reciprocals: dict[int, str] = {}

    def value(self, k: int) -> str:
        """The name of node k, or a constant."""
        raise NotImplementedError

    def sine_and_cosine(self, x: str) -> tuple[str, str]:
        return sine_and_cosine(self.numbers, x)

    def hyperbolic_tangent(self, x: str) -> str:
        return hyperbolic_tangent(self.numbers, x)

    def arctangent(self, y: str, x: str) -> str:
        return arctangent(self.numbers, y, x)

    def computed(self, node: Node) -> str:
        """The name of the result of one operation."""
        a, v = node.args[0], self.numbers
        match node.op:
            case "add" | "sub" | "mul":
                return v.operation(node.op, self.value(a), self.value(node.args[1]))
            case "div":
                return self.quotient(a, node.args[1])
            case "sin" | "cos":
                if a not in self.pairs:
                    self.pairs[a] = self.sine_and_cosine(self.value(a))
                return self.pairs[a][node.op == "cos"]
            case "sqrt":
                return v.intrinsic("sqrt", self.value(a))
            case "sign":
                return sign(v, self.value(a))
            case "tanh":
                return self.hyperbolic_tangent(self.value(a))
            case "atan2":
                return self.arctangent(self.value(a), self.value(node.args[1]))
            case "abs":
                return v.intrinsic("fabs", self.value(a))
            case "rint":
                return nearest(v, self.value(a))
            case "select":
                left, right, x, y = (self.value(k) for k in node.args)
                return v.select(v.compare("olt", left, right), x, y)
        raise NotImplementedError(node.op)

    def quotient(self, a: int, b: int) -> str:
        if b not in self.reciprocals:
            denominator = self.graph.nodes[b]
            if denominator.op == "sqrt":
                self.reciprocals[b] = self.numbers.reciprocal_root(self.value(denominator.args[0]))
            else:
                self.reciprocals[b] = self.numbers.reciprocal(self.value(b))
        numerator = self.graph.nodes[a]
        if numerator.op == "constant" and numerator.value == 1.0:
            return self.reciprocals[b]
        return self.numbers.operation("mul", self.value(a), self.reciprocals[b])
