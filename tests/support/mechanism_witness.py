"""A witness for mechanisms: Newton's and Euler's equations of every body and every joint, solved as one dense system.

It reads the public description alone and knows no spanning tree, no cut, no elimination and no recursion. Unknowns are
the accelerations of bodies and joints, the wrench in every joint and the forces of actuators. All is in world axes and
about the world's origin: twists (omega, v), wrenches (moment, force).

States may be complex with a tiny imaginary part, which is then that of the results: a derivative without differences.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import tauforge as tf
from tauforge.robots.mechanism.parts import MechanismJoint

Array = NDArray[Any]
SIX = np.eye(6)
RANK = 1e-11  # singular values below this share of the largest are zero
UNIQUE = 1e-9  # entries of an orthonormal null vector below this are zero


def numbers(values: Any) -> Array:
    """As floats, or as complex numbers where they are complex."""
    found = np.asarray(values)
    return found if np.iscomplexobj(found) else found.astype(float)


def length_of(v: Array) -> Any:
    """Analytic, as a norm is not."""
    return np.sqrt(v @ v)


@lru_cache(maxsize=4)
def decomposed(numbers: bytes, width: int) -> tuple[Array, Array, Array]:
    """U, s, Vt of a matrix given by its numbers: complex steps in all directions share their real parts."""
    found = np.linalg.svd(np.frombuffer(numbers).reshape(-1, width))
    return found.U, found.S, found.Vh


def shortest(A: Array, b: Array) -> tuple[Array, Array]:
    """The shortest solution of consistent equations, and orthonormal rows that span what solves A y = 0.

    Complex equations are solved to first order in the imaginary part.
    """
    U, s, Vt = decomposed(np.ascontiguousarray(A.real).tobytes(), A.shape[1])
    rank = int((s > RANK * s[0]).sum())

    def solved(right: Array) -> Array:
        y = np.zeros(A.shape[1])
        for _ in range(2):  # once more for what rounding left
            y = y + Vt[:rank].T @ ((U[:, :rank].T @ (right - A.real @ y)) / s[:rank])
        return y

    found = solved(b.real)
    if np.iscomplexobj(A) or np.iscomplexobj(b):
        found = found + 1j * solved(b.imag - A.imag @ found)
    return found, Vt[rank:]


def skew(v: Array) -> Array:
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def turn(axis: Array, angle: Any) -> Array:
    """Rodrigues' formula."""
    K = skew(numbers(axis))
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * (K @ K)


def turned(angles: Array) -> Array:
    """R = Rz Ry Rx."""
    x, y, z = np.eye(3)
    return turn(z, angles[2]) @ turn(y, angles[1]) @ turn(x, angles[0])


def moved(R: Array, p: Array) -> Array:
    T = np.eye(4, dtype=np.result_type(R, p, float))
    T[:3, :3], T[:3, 3] = R, p
    return T


def about(at: Array, R: Array) -> Array:
    """A rotation about a point."""
    return moved(R, at - R @ at)


def motion_cross(V: Array) -> Array:
    """The rate of a line that is carried by a body with twist V."""
    zero = np.zeros((3, 3))
    return np.block([[skew(V[:3]), zero], [skew(V[3:]), skew(V[:3])]])


def line(axis: Array, point: Array) -> Array:
    return np.concatenate([axis, np.cross(point, axis)])


def direction(axis: Array) -> Array:
    return np.concatenate([np.zeros(3), axis])


class JointMotion(NamedTuple):
    """What a joint does: displacement of the child after that of the parent, in home coordinates; the screws of its
    coordinates; and which twist carries each screw: the parent's and those of so many coordinates before it.
    """

    displacement: Array
    screws: list[Array]
    chained: bool


def joint_motion(joint: MechanismJoint, q: Array, parent: Array, origins: dict[str, Array]) -> JointMotion:
    """parent: displacement of the parent from home."""
    R, at, dq = parent[:3, :3], np.array(joint.at), q - np.array(joint.home)

    def world(point: Array, T: Array) -> Array:
        return T[:3, :3] @ point + T[:3, 3]

    steps: list[tuple[str, Array, Any]] = []
    match joint:
        case tf.Hinge():
            steps = [("R", np.array(joint.axis), dq[0])]
        case tf.Slider():
            steps = [("P", np.array(joint.axis), dq[0])]
        case tf.Cylinder():
            steps = [("R", np.array(joint.axis), dq[0]), ("P", np.array(joint.axis), dq[1])]
        case tf.Universal():
            steps = [("R", np.array(axis), angle) for axis, angle in zip(joint.axes, dq, strict=True)]
        case tf.Planar():
            along, normal = np.array(joint.along), np.array(joint.axis)
            steps = [("P", along, dq[0]), ("P", np.cross(normal, along), dq[1]), ("R", normal, dq[2])]
        case tf.Spherical():
            centre = world(at, parent)
            return JointMotion(about(at, turned(q)), [line(R[:, k], centre) for k in range(3)], False)
        case tf.Free():
            inner, outer = origins[joint.parent], origins[joint.child]
            D = moved(np.eye(3), inner) @ moved(turned(q[3:]), q[:3]) @ moved(np.eye(3), -outer)
            centre = world(outer, parent @ D)
            screws = [direction(R[:, k]) for k in range(3)] + [line(R[:, k], centre) for k in range(3)]
            return JointMotion(D, screws, False)
        case _:
            return JointMotion(np.eye(4), [], False)
    D, screws = np.eye(4), []
    for kind, axis, value in steps:
        here = parent @ D
        w = here[:3, :3] @ axis
        screws.append(line(w, world(at, here)) if kind == "R" else direction(w))
        D = D @ (about(at, turn(axis, value)) if kind == "R" else moved(np.eye(3), axis * value))
    return JointMotion(D, screws, True)


class Solved(NamedTuple):
    """The equations of one state.

    qdd:      accelerations of the independent coordinates
    tau:      forces of the actuators, where they are unique the only ones
    wrenches: (joints, 6) force and moment on the child at the joint, world axes; NaN where they are not unique
    residual: of the equations, beside their largest term
    """

    qdd: Array
    tau: Array
    wrenches: Array
    residual: float


class Witness:
    """A mechanism at one state: where its bodies are, how they move, and its equations."""

    def __init__(
        self,
        m: tf.Mechanism,
        x: Array,
        qd: Array,
        *,
        external_wrench: Array | None = None,
        payload: tf.Payload | None = None,
        base_motion: tf.BaseMotion | None = None,
    ) -> None:
        self.m, self.x = m, numbers(x)
        self.external, self.payload = external_wrench, payload
        self.names = ["ground", *(body.name for body in m.bodies)]
        self.origins = {"ground": np.zeros(3)} | {body.name: np.array(body.origin) for body in m.bodies}
        ends = np.cumsum([len(joint.letters) for joint in m.joints])
        self.q = np.split(self.x[: ends[-1]], ends[:-1])
        self.span = [slice(e - len(j.letters), e) for e, j in zip(ends, m.joints, strict=True)]
        self.count = int(ends[-1])
        self.floating = m.structure.floating
        zero = np.zeros(3)
        base = tf.BaseMotion(zero, zero, zero) if base_motion is None else base_motion
        self.ground_twist = np.concatenate([np.asarray(base.angular_velocity), zero])
        self.ground_rate = np.concatenate([np.asarray(base.angular_acceleration), np.asarray(base.linear_acceleration)])
        self.kind = np.result_type(self.x, numbers(qd))
        self._place()
        self._move(numbers(qd))

    # ------------------------------------------------------------------------------------------------ where and how

    def _place(self) -> None:
        self.displaced = {"ground": np.eye(4)}
        for k, name in enumerate(self.floating):
            pose = self.x[self.count + 6 * k : self.count + 6 * k + 6]
            self.displaced[name] = moved(turned(pose[3:]), pose[:3]) @ moved(np.eye(3), -self.origins[name])
        motions: dict[int, JointMotion] = {}
        while len(self.displaced) < len(self.names):
            for k, joint in enumerate(self.m.joints):
                if joint.parent in self.displaced and joint.child not in self.displaced:
                    motions[k] = joint_motion(joint, self.q[k], self.displaced[joint.parent], self.origins)
                    self.displaced[joint.child] = self.displaced[joint.parent] @ motions[k].displacement
                elif joint.child in self.displaced and joint.parent not in self.displaced:
                    still = joint_motion(joint, self.q[k], np.eye(4), self.origins)
                    back = np.linalg.inv(still.displacement)
                    self.displaced[joint.parent] = self.displaced[joint.child] @ back
        self.motions = [
            joint_motion(joint, q, self.displaced[joint.parent], self.origins)
            for joint, q in zip(self.m.joints, self.q, strict=True)
        ]
        self.open = max(
            np.abs(self.displaced[j.parent] @ motion.displacement - self.displaced[j.child]).max()
            for j, motion in zip(self.m.joints, self.motions, strict=True)
        )

    def frame(self, body: str) -> Array:
        """World <- frame of the body."""
        return self.displaced[body] @ moved(np.eye(3), self.origins[body])

    def _columns(self) -> tuple[Array, Array]:
        """Rows of velocities: [bodies 6 each, joints' rates, poses' rates] -> 0; and rows of the independent rates."""
        bodies, N = len(self.names) - 1, self.count
        width = 6 * bodies + N + 6 * len(self.floating)
        rows = np.zeros((6 * len(self.m.joints), width), self.kind)
        for k, (joint, motion) in enumerate(zip(self.m.joints, self.motions, strict=True)):
            r = slice(6 * k, 6 * k + 6)
            for name, sign in ((joint.child, 1.0), (joint.parent, -1.0)):
                b = self.names.index(name) - 1
                if b >= 0:
                    rows[r, 6 * b : 6 * b + 6] = sign * SIX
            for i, screw in enumerate(motion.screws):
                rows[r, 6 * bodies + self.span[k].start + i] = -screw
        poses = np.zeros((6 * len(self.floating), width), self.kind)
        for k, name in enumerate(self.floating):
            b, centre = self.names.index(name) - 1, self.frame(name)[:3, 3]
            r = slice(6 * k, 6 * k + 6)
            poses[r, 6 * b : 6 * b + 6] = SIX
            screws = [direction(e) for e in np.eye(3)] + [line(e, centre) for e in np.eye(3)]
            poses[r, 6 * bodies + N + 6 * k : 6 * bodies + N + 6 * k + 6] = -np.array(screws).T
        return np.vstack([rows, poses]), self._picked(width, 6 * bodies)

    def _picked(self, width: int, first: int) -> Array:
        """Rows that pick the independent rates."""
        places = [self.m.coordinate_names.index(name) for name in self.m.structure.independent]
        picked = np.zeros((len(places), width))
        for i, place in enumerate(places):
            picked[i, first + place] = 1.0
        for i, joint in enumerate(self.m.joints):
            if joint.mimic is not None:
                leader = [other.name for other in self.m.joints].index(joint.mimic[0])
                row = np.zeros(width)
                row[first + self.span[i].start] = 1.0
                row[first + self.span[leader].start] -= joint.mimic[1]
                picked = np.vstack([picked, row])
        return picked

    def _move(self, qd: Array) -> None:
        self.rows, self.picked = self._columns()
        ties = len(self.picked) - len(qd)
        on_ground = self._ground_terms(self.ground_twist)
        right = np.concatenate([on_ground, qd, np.zeros(ties)])
        matrix = np.vstack([self.rows, self.picked])
        found, _ = shortest(matrix, right)
        self.velocity_residual = float(np.abs(matrix @ found - right).max() / max(np.abs(found).max(), 1e-300))
        bodies = len(self.names) - 1
        self.twists = {"ground": self.ground_twist}
        self.twists |= {name: found[6 * b : 6 * b + 6] for b, name in enumerate(self.names[1:])}
        self.rates = found[6 * bodies : 6 * bodies + self.count]
        self.pose_rates = found[6 * bodies + self.count :]

    def _ground_terms(self, value: Array) -> Array:
        """What the ground's own twist or its rate brings to the rows' right side; a floating body moves beside it."""
        right = np.zeros(len(self.rows))
        for k, joint in enumerate(self.m.joints):
            if joint.parent == "ground":
                right[6 * k : 6 * k + 6] += value
            if joint.child == "ground":
                right[6 * k : 6 * k + 6] -= value
        first = 6 * len(self.m.joints)
        for k in range(len(self.floating)):
            right[first + 6 * k : first + 6 * k + 6] += value
        return right

    def _bias(self) -> Array:
        """Rates of the screws times the rates of the coordinates."""
        found = []
        for joint, motion, span in zip(self.m.joints, self.motions, self.span, strict=True):
            V, total = self.twists[joint.parent], np.zeros(6, self.kind)
            for i, (screw, rate) in enumerate(zip(motion.screws, self.rates[span], strict=True)):
                if isinstance(joint, tf.Free) and i >= 3:
                    total += self._turning_about_centre(joint.child, V, screw) * rate
                else:
                    total += motion_cross(V) @ screw * rate
                if motion.chained:
                    V = V + screw * rate
            found.append(total)
        for k, name in enumerate(self.floating):
            rates, V = self.pose_rates[6 * k : 6 * k + 6], self.ground_twist
            total = np.zeros(6, self.kind)
            for i in range(3):
                e = np.eye(3)[i]
                total += motion_cross(V) @ direction(e) * rates[i]
                total += self._turning_about_centre(name, V, line(e, self.frame(name)[:3, 3])) * rates[3 + i]
            found.append(total)
        return np.concatenate(found)

    def _turning_about_centre(self, child: str, V: Array, screw: Array) -> Array:
        """The rate of a line through the child's origin whose direction the parent carries."""
        centre, axis = self.frame(child)[:3, 3], screw[:3]
        velocity = self.twists[child][3:] + np.cross(self.twists[child][:3], centre)
        turning = np.cross(V[:3], axis)
        return np.concatenate([turning, np.cross(velocity, axis) + np.cross(centre, turning)])

    def accelerations(self, qdd: Array) -> Array:
        """Rates of twists (6 for each body), joints and poses, with accelerations qdd of the coordinates."""
        ties = len(self.picked) - len(qdd)
        right = np.concatenate([self._bias() + self._ground_terms(self.ground_rate), qdd, np.zeros(ties)])
        return shortest(np.vstack([self.rows, self.picked]), right)[0]

    def joint_accelerations(self, qdd: Array) -> Array:
        first = 6 * len(self.m.bodies)
        return self.accelerations(qdd)[first : first + self.count]

    def centre_accelerations(self, qdd: Array) -> Array:
        """(bodies, 3), accelerations of the centres of mass."""
        rates, found = self.accelerations(qdd)[: 6 * len(self.m.bodies)].reshape(-1, 2, 3), []
        for body, (alpha, a) in zip(self.m.bodies, rates, strict=True):
            T, (omega, v) = self.displaced[body.name], np.split(self.twists[body.name], 2)
            centre = T[:3, :3] @ body.com + T[:3, 3]
            found.append(a + np.cross(alpha, centre) + np.cross(omega, v + np.cross(omega, centre)))
        return np.array(found)

    # ------------------------------------------------------------------------------------------------------- bodies

    def _inertias(self) -> dict[str, Array]:
        """Spatial inertia of each body about the world's origin."""
        found = {}
        for body in self.m.bodies:
            T = self.displaced[body.name]
            found[body.name] = _spatial(body.mass, T[:3, :3] @ body.com + T[:3, 3], T[:3, :3], np.array(body.inertia))
        if self.payload is not None:
            T, name = self.frame(self.m.tool_body), self.m.tool_body
            com = T[:3, :3] @ self.payload.com + T[:3, 3]
            found[name] = found[name] + _spatial(float(self.payload.mass), com, T[:3, :3], self.payload.inertia)
        return found

    def _loads(self) -> dict[str, Array]:
        """Gravity, springs, the external wrench and the gyroscopic terms: what acts on each body."""
        inertias = self._inertias()
        g = np.concatenate([np.zeros(3), self.m.gravity])
        found = {name: I @ g for name, I in inertias.items()}
        for name, I in inertias.items():
            V = self.twists[name]
            found[name] = found[name] + motion_cross(V).T @ (I @ V)
        if self.external is not None:
            force, moment = np.split(np.asarray(self.external, float), 2)
            centre = self.frame(self.m.tool_body)[:3, 3]
            found[self.m.tool_body] = found[self.m.tool_body] + np.concatenate(
                [moment + np.cross(centre, force), force]
            )
        for spring in self.m.springs:
            ends = []
            for name, point in ((spring.body_a, spring.point_a), (spring.body_b, spring.point_b)):
                T, V = self.displaced[name], self.twists[name]
                p = T[:3, :3] @ point + T[:3, 3]
                ends.append((name, p, V[3:] + np.cross(V[:3], p)))
            (a, pa, va), (b, pb, vb) = ends
            length = length_of(pb - pa)
            e = (pb - pa) / length
            pull = spring.stiffness * (length - spring.length) + spring.damping * (e @ (vb - va))
            for name, p, f in ((a, pa, pull * e), (b, pb, -pull * e)):
                if name != "ground":
                    found[name] = found[name] + np.concatenate([np.cross(p, f), f])
        return found

    def energy(self) -> tuple[float, float]:
        kinetic, potential = 0.0, 0.0
        for name, I in self._inertias().items():
            V = self.twists[name] - self.ground_twist
            kinetic += 0.5 * float(V @ I @ V)
            mass, first = I[5, 5], I[:3, 3:]
            moment = np.array([first[2, 1], first[0, 2], first[1, 0]])  # m c, of the skew matrix
            assert mass >= 0
            potential -= float(np.dot(self.m.gravity, moment))
        for joint, span in zip(self.m.joints, self.span, strict=True):
            kinetic += 0.5 * joint.motor_inertia * joint.gear_ratio**2 * float(self.rates[span] @ self.rates[span])
        for spring in self.m.springs:
            ends = [
                self.displaced[name][:3, :3] @ point + self.displaced[name][:3, 3]
                for name, point in ((spring.body_a, spring.point_a), (spring.body_b, spring.point_b))
            ]
            assert spring.length is not None  # of a robot as it is loaded
            potential += 0.5 * spring.stiffness * (float(np.linalg.norm(ends[1] - ends[0])) - spring.length) ** 2
        return kinetic, potential

    # ------------------------------------------------------------------------------------------------------ dynamics

    def friction(self, joint: MechanismJoint, rates: Array) -> Array:
        plus, minus = joint.coulomb
        G = abs(joint.gear_ratio)
        if self.m.coulomb_speed:
            s = np.tanh(rates / self.m.coulomb_speed)
            coulomb = G * ((plus + minus) / 2 * s + (plus - minus) / 2 * s * s)
        else:
            coulomb = G * (plus * (rates.real > 0) - minus * (rates.real < 0))
        return joint.viscous * G * G * rates + coulomb

    def inverse(self, qdd: Array, forces_on: str = "actuators") -> Solved:
        """Forces for accelerations; forces_on="independent": as if every independent coordinate had an actuator."""
        return self._solved(qdd=numbers(qdd), tau=None, on=forces_on)

    def forward(self, tau: Array) -> Solved:
        return self._solved(qdd=None, tau=numbers(tau), on="actuators")

    def _solved(self, qdd: Array | None, tau: Array | None, on: str) -> Solved:
        m = self.m
        B = 6 * len(m.bodies)
        J, N, E = 6 * len(m.joints), self.count, 6 * len(self.floating)
        names = m.structure.actuated if on == "actuators" else m.structure.independent
        driven = [m.coordinate_names.index(name) for name in names]
        f, ties = len(m.structure.independent), len(self.picked) - len(m.structure.independent)
        # unknowns: accelerations of bodies, joints and poses; joint wrenches on children; actuators; forces of ties
        at_wrench, at_tau, at_tie = B + N + E, B + N + E + J, B + N + E + J + len(driven)
        width = at_tie + ties
        blocks: list[tuple[Array, Array]] = []
        kinematic = np.zeros((len(self.rows), width), self.kind)
        kinematic[:, : B + N + E] = self.rows
        blocks.append((kinematic, self._bias() + self._ground_terms(self.ground_rate)))
        tied = np.zeros((ties, width))
        tied[:, : B + N + E] = self.picked[f:]
        blocks.append((tied, np.zeros(ties)))
        inertias, loads = self._inertias(), self._loads()
        for b, name in enumerate(self.names[1:]):
            rows = np.zeros((6, width), self.kind)
            rows[:, 6 * b : 6 * b + 6] = inertias[name]
            for k, joint in enumerate(m.joints):
                sign = 1.0 if joint.child == name else -1.0 if joint.parent == name else 0.0
                rows[:, at_wrench + 6 * k : at_wrench + 6 * k + 6] -= sign * SIX
            if on == "independent":
                for i, place in enumerate(driven):
                    if place >= N and self.floating[(place - N) // 6] == name:
                        c, d = self.frame(name)[:3, 3], (place - N) % 6
                        e = np.eye(3)[d % 3]
                        rows[:, at_tau + i] -= (
                            np.concatenate([np.cross(c, e), e]) if d < 3 else np.concatenate([e, 0 * e])
                        )
            blocks.append((rows, loads[name]))
        for k, (joint, motion) in enumerate(zip(m.joints, self.motions, strict=True)):
            span, rates = self.span[k], self.rates[self.span[k]]
            rows = np.zeros((len(motion.screws), width), self.kind)
            for i, screw in enumerate(motion.screws):
                rows[i, at_wrench + 6 * k : at_wrench + 6 * k + 6] = screw
                rows[i, B + span.start + i] = joint.motor_inertia * joint.gear_ratio**2
                if span.start + i in driven:
                    rows[i, at_tau + driven.index(span.start + i)] = -1.0
                for t, tie in enumerate(self.picked[f:]):
                    rows[i, at_tie + t] = -tie[B + span.start + i]
            blocks.append((rows, -self.friction(joint, rates)))
        if qdd is not None:
            rows = np.zeros((f, width))
            rows[:, : B + N + E] = self.picked[:f]
            blocks.append((rows, qdd))
        else:
            assert tau is not None
            rows = np.zeros((len(driven), width))
            rows[:, at_tau : at_tau + len(driven)] = np.eye(len(driven))
            blocks.append((rows, tau))
        A, given = np.vstack([block[0] for block in blocks]), np.concatenate([block[1] for block in blocks])
        solution, null = shortest(A, given)
        residual = float(np.abs(A @ solution - given).max() / np.abs(given).max())
        open_ = np.abs(null).max(axis=0, initial=0.0)
        wrenches = np.empty((len(m.joints), 6), solution.dtype)
        for k, joint in enumerate(m.joints):
            T = self.displaced[joint.child]
            p = T[:3, :3] @ joint.at + T[:3, 3]
            at_joint = np.block([[-skew(p) * 0 + np.zeros((3, 3)), np.eye(3)], [np.eye(3), -skew(p)]])
            here = slice(at_wrench + 6 * k, at_wrench + 6 * k + 6)
            wrenches[k] = at_joint @ solution[here]
            if len(null):
                felt = np.abs(at_joint @ null[:, here].T).max(axis=1)
                wrenches[k][felt > UNIQUE] = np.nan
        assert open_[: B + N + E].max(initial=0.0) < 1e-8 or qdd is None
        places = [m.coordinate_names.index(name) for name in m.structure.independent]
        return Solved(solution[[B + p for p in places]], solution[at_tau:at_tie], wrenches, residual)


def _spatial(mass: float, com: Array, R: Array, inertia: Array) -> Array:
    C = skew(com)
    I = R @ inertia @ R.T + mass * (C @ C.T)
    return np.block([[I, mass * C], [mass * C.T, mass * np.eye(3)]])
