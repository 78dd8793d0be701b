"""Initial accelerations against exudyn, which keeps six coordinates for each body and joints as constraints.

It finds the velocity terms of constraints, the rate of the Jacobian C_q times q', by forward differences over every
coordinate (CSystem::ComputeConstraintJacobianDerivative), whose error is about 1e-7 at its usual step. Entries of C_q
are products of rotation matrices, quadratic in the Euler parameters, and of the map from their rates to angular
velocities, which is linear: at most of degree 2 + 2 + 1 in one parameter. So the difference quotients, and with them
the accelerations, are polynomials of degree four in the step, and five large steps give the value at a step of zero.
Measured: four steps leave 3e-4, five 1e-14.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import tauforge as tf
from support import random_mechanisms as mechanisms
from support.mechanism_witness import Witness
from support.random_mechanisms import closed_positions, random_masses, random_mechanism
from support.tolerances import OUTSIDE, error_beside

exu = pytest.importorskip("exudyn")

STEPS = (0.1, 0.2, 0.3, 0.4, 0.5)  # of exudyn's differences; weights of the extrapolation to zero: 5, -10, 10, -5, 1
DIFFERS = 1e-3  # what a single step is wrong by, at least
AXES = {
    tf.Hinge: [1, 1, 1, 1, 1, 0],
    tf.Spherical: [1, 1, 1, 0, 0, 0],
    tf.Slider: [1, 1, 0, 1, 1, 1],
    tf.Cylinder: [1, 1, 0, 1, 1, 0],
}  # constrained, along and about the axes of a frame whose z is the joint's axis


def frame_of(axis: Any) -> Any:
    z = np.array(axis, float)
    x = np.cross(np.eye(3)[np.abs(z).argmin()], z)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def exudyn_accelerations(m: tf.Mechanism, witness: Witness, tau: Any, step: float) -> Any:
    """(bodies, 3) of the centres of mass. step: of differences of the constraints' Jacobian"""
    import exudyn.itemInterface as items
    from exudyn import utilities

    container = exu.SystemContainer()
    system = container.AddSystem()
    numbers = {"ground": system.AddObject(items.ObjectGround())}
    coms = {"ground": np.zeros(3)}
    nodes = []
    for body in m.bodies:
        T, V = witness.displaced[body.name], witness.twists[body.name]
        R, com = T[:3, :3], T[:3, :3] @ body.com + T[:3, 3]
        inertia = np.array(body.inertia)
        p = utilities.RotationMatrix2EulerParameters(R)
        rates = utilities.AngularVelocity2EulerParameters_t(V[:3], p)
        node = system.AddNode(
            items.NodeRigidBodyEP(
                referenceCoordinates=[*com, *p], initialVelocities=[*(V[3:] + np.cross(V[:3], com)), *rates]
            )
        )
        six = [inertia[a, b] for a, b in ((0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1))]
        number = system.AddObject(items.ObjectRigidBody(physicsMass=body.mass, physicsInertia=six, nodeNumber=node))
        marker = system.AddMarker(items.MarkerBodyMass(bodyNumber=number))
        system.AddLoad(items.LoadMassProportional(markerNumber=marker, loadVector=list(m.gravity)))
        numbers[body.name], coms[body.name] = number, np.array(body.com)
        nodes.append(node)
    forces = dict(zip(m.structure.actuated, tau, strict=True))
    for joint in m.joints:
        R = frame_of(joint.axis) if hasattr(joint, "axis") else np.eye(3)
        markers = [
            system.AddMarker(
                items.MarkerBodyRigid(bodyNumber=numbers[name], localPosition=list(np.array(joint.at) - coms[name]))
            )
            for name in (joint.parent, joint.child)
        ]
        system.AddObject(
            items.GenericJoint(
                markerNumbers=markers, constrainedAxes=AXES[type(joint)], rotationMarker0=R, rotationMarker1=R
            )
        )
        if joint.name in forces:
            torque = forces[joint.name] * (witness.displaced[joint.parent][:3, :3] @ np.array(joint.axis))
            for sign, name, marker in ((-1.0, joint.parent, markers[0]), (1.0, joint.child, markers[1])):
                if name != "ground":
                    system.AddLoad(items.LoadTorqueVector(markerNumber=marker, loadVector=list(sign * torque)))
    system.Assemble()
    settings = exu.SimulationSettings()
    settings.timeIntegration.generalizedAlpha.computeInitialAccelerations = True
    settings.timeIntegration.verboseMode = 0
    differences = settings.timeIntegration.newton.numericalDifferentiation
    differences.relativeEpsilon, differences.minimumCoordinateSize = 1.0, step  # displacements are zero at the start
    settings.solution.file.write = False
    settings.linearSolver.ignoreSingularJacobian = True
    settings.linearSolver.solverType = exu.LinearSolverType.EigenDense
    exu.MainSolverImplicitSecondOrder().InitializeSolver(system, settings)
    found = np.array(system.systemData.GetODE2Coordinates_tt())
    return np.array([found[system.GetNodeODE2Index(node) :][:3] for node in nodes])


def extrapolated(values: list[Any]) -> Any:
    """The polynomial through values at STEPS, at zero."""
    weights = [np.prod([-b / (a - b) for b in STEPS if b != a]) for a in STEPS]
    return sum(weight * value for weight, value in zip(weights, values, strict=True))


def spatial(seed: int) -> tf.Mechanism:
    rng = np.random.default_rng(seed)
    kinds = [tf.Hinge, tf.Hinge, *((tf.Hinge, tf.Spherical, tf.Cylinder)[k] for k in rng.integers(0, 3, 2))]
    m = random_mechanism(rng, kinds, [tf.Spherical], actuated=0.0)
    return m.replace(joints=[dataclasses.replace(m.joints[0], actuated=True), *m.joints[1:]])


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("moving", [False, True])
@pytest.mark.parametrize("name", ["five_bar", "four_bar", "bennett", 1, 2, 3])
def test_initial_accelerations(name, moving):
    rng = np.random.default_rng(6)
    m = spatial(name) if isinstance(name, int) else random_masses(rng, getattr(mechanisms, name)())
    x = closed_positions(m, rng, 1)[0]
    qd, tau = moving * rng.normal(size=m.n), 3 * rng.normal(size=len(m.actuators))
    witness = Witness(m, x, qd)
    steps = [exudyn_accelerations(m, witness, tau, step) for step in STEPS]
    found = witness.centre_accelerations(m.forward_dynamics(x, qd, tau))
    assert error_beside(found, extrapolated(steps), steps) <= OUTSIDE
    # at rest there is no velocity term
    assert (error_beside(found, steps[0], steps) > DIFFERS) == moving
