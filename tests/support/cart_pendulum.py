"""A cart with a pendulum: a kind of robot that the package does not know, by Lagrange's equations."""

import numpy as np

from tauforge.algebra.scalars import cos, sin
from tauforge.evaluation.derivatives import with_derivatives
from tauforge.evaluation.functions import Argument, Function
from tauforge.robots.capabilities import Dissipation
from tauforge.robots.drawing import Drawing, Point, Segment
from tauforge.robots.records import Actuator, Coordinate
from tauforge.robots.robot import Robot


def inverse_dynamics(p, q, qd, qdd):
    moment, g = p["mass"] * p["length"], 9.81
    force = (p["cart_mass"] + p["mass"]) * qdd[0] + moment * (cos(q[1]) * qdd[1] - sin(q[1]) * qd[1] * qd[1])
    torque = moment * (cos(q[1]) * qdd[0] + p["length"] * qdd[1] + g * sin(q[1]))
    return [force + p["friction"] * qd[0], torque]


def forward_dynamics(p, q, qd, forces):
    f, t = (given - known for given, known in zip(forces, inverse_dynamics(p, q, qd, [0.0, 0.0]), strict=True))
    a, b, d = (p["cart_mass"] + p["mass"]), p["mass"] * p["length"] * cos(q[1]), p["mass"] * p["length"] * p["length"]
    return [(d * f - b * t) / (a * d - b * b), (a * t - b * f) / (a * d - b * b)]


def energy(p, q, qd):
    bob = qd[0] * (qd[0] + 2 * p["length"] * qd[1] * cos(q[1])) + p["length"] * p["length"] * qd[1] * qd[1]
    return [0.5 * (p["cart_mass"] * qd[0] * qd[0] + p["mass"] * bob), -9.81 * p["mass"] * p["length"] * cos(q[1])]


def pairs(*names):
    return tuple(Argument(name, (2,), "two numbers, of the cart and the pendulum") for name in names)


class CartPendulum(Robot):
    kind = "cart"
    coordinates = (Coordinate("cart", "m", "x", "v", "a", -0.5, 0.5), Coordinate("rod", "rad", "phi", "omega", "alpha"))
    actuators = (Actuator("motor", "N", "F", 50.0), Actuator("hinge", "N m", "T"))
    varying_fields = {"cart_mass": (), "mass": (), "length": ()}  # noqa: RUF012 - nobody changes it
    functions = with_derivatives(
        {
            "inverse_dynamics": Function(inverse_dynamics, pairs("q", "qd", "qdd"), ((2,),)),
            "forward_dynamics": Function(forward_dynamics, pairs("q", "qd", "forces"), ((2,),)),
            "energy": Function(energy, pairs("q", "qd"), ((), ())),
        }
    )

    def __init__(self, name="cart", **parameters):
        self.name = name
        self.parameters = {"cart_mass": 2.0, "mass": 0.7, "length": 0.6, "friction": 0.3, **parameters}

    @property
    def dissipation(self):
        return Dissipation(self) if self.parameters["friction"] > 0 else None

    def varied_model(self, values):
        return self.parameters | {name: value for name, (value,) in values.items()}

    def replace(self, **changes):
        return type(self)(self.name, **(self.parameters | {name: float(value) for name, value in changes.items()}))

    def drawing(self, position):
        x, angle = np.moveaxis(np.asarray(position, float), -1, 0)
        cart = np.stack([x, 0 * x, 0 * x], axis=-1)
        bob = cart + self.parameters["length"] * np.stack([np.sin(angle), 0 * x, -np.cos(angle)], axis=-1)
        return Drawing((Point("cart", cart), Point("bob", bob)), (Segment("rod", cart, bob),))
