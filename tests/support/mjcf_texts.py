"""MJCF texts that the tests read, as they are and changed."""

from __future__ import annotations

TREE = """<mujoco model="tree">
  <compiler angle="degree" eulerseq="XYz"/>
  <option gravity="0.3 -0.2 -9.7"/>
  <default>
    <joint damping="0.2" armature="0.01"/>
    <geom density="700"/>
    <default class="light"><geom density="120"/><joint armature="0.02"/>
      <default class="lighter"><joint damping="0"/></default>
    </default>
    <motor ctrlrange="-3 2"/>
  </default>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body name="shoulder" pos="0.1 0.2 0.3" euler="20 -30 40">
      <joint name="pan" axis="1 2 3" pos="0.01 0.02 0" range="-90 120" ref="15"/>
      <joint name="lift" type="slide" axis="0 1 1" limited="true" range="-0.1 0.3" ref="0.05"/>
      <inertial pos="0.02 0.01 0.1" quat="1 0.2 0.3 -0.1" mass="2.5" diaginertia="0.03 0.04 0.05"/>
      <geom type="mesh" mesh="nowhere" group="3"/>
      <body name="elbow" pos="0 0.1 0.4" axisangle="1 1 0 35" childclass="light">
        <joint name="bend" axis="0 -1 0.2"/>
        <geom type="capsule" fromto="0 0 0 0.1 0.2 0.3" size="0.04"/>
        <geom type="box" size="0.05 0.06 0.07" pos="0.1 0 0" zaxis="1 1 1" class="main"/>
        <geom type="cylinder" size="0.03 0.1" xyaxes="1 1 0 -1 1 0.2"/>
        <geom type="ellipsoid" size="0.03 0.04 0.1" mass="0.3"/>
        <geom size="0.02" group="2" mass="0"/>
        <frame pos="0.1 0.2 0.3" euler="10 20 30">
          <body name="hand" pos="0 0 0.05">
            <joint name="wrist" type="ball" pos="0 0.01 0" class="lighter"/>
            <inertial pos="0 0 0.1" mass="0.7" fullinertia="0.01 0.012 0.009 0.001 -0.0005 0.0007"/>
            <site name="grip" pos="0 0 0.1"/>
            <body name="tool" pos="0 0 0.2" quat="0.9 0.1 0.2 0.3"><geom type="sphere" size="0.03"/></body>
          </body>
        </frame>
      </body>
      <body name="eye" pos="0.2 0 0"><joint name="blink" axis="1 0 0" damping="0"/>
        <geom type="box" fromto="0 0 0 0 0.1 0.1" size="0.01 0.02"/></body>
    </body>
    <body name="drone" pos="1 1 1" euler="0 40 10"><freejoint name="flight"/>
      <geom type="box" size="0.1 0.2 0.05"/>
      <body pos="0 0.3 0"><joint type="hinge" axis="0 0 1"/>
        <geom type="sphere" size="0.05" pos="0.1 0 0"/></body></body>
  </worldbody>
  <actuator>
    <motor name="m1" joint="pan" gear="10"/>
    <motor name="m2" joint="lift" forcerange="-1 1.5" gear="2"/>
    <motor name="m3" joint="bend"/>
  </actuator>
</mujoco>
"""

FOUR_BAR = """<mujoco model="four bar">
  <compiler angle="radian"/>
  <option gravity="0 -9.81 0"/>
  <worldbody>
    <body name="crank"><joint name="drive"/><geom type="capsule" fromto="0 0 0 0 0.2 0" size="0.01"/>
      <body name="coupler" pos="0 0.2 0"><joint name="knee"/>
        <geom type="capsule" fromto="0 0 0 0.5 0.1 0" size="0.01"/></body></body>
    <body name="rocker" pos="0.4 0 0"><joint name="swing"/>
      <geom type="capsule" fromto="0 0 0 0.1 0.3 0" size="0.01"/></body>
  </worldbody>
  <equality><connect name="end" body1="coupler" body2="rocker" anchor="0.5 0.1 0"/></equality>
  <actuator><motor joint="drive"/></actuator>
</mujoco>
"""

# The loop is closed by a weld: a stub turns on the end of the rocker and is one with the coupler.
WELDED = """<mujoco model="welded four bar">
  <compiler angle="degree"/>
  <option gravity="1 -9.81 2"/>
  <worldbody>
    <body name="crank"><joint name="drive" damping="0.02"/>
      <inertial pos="0.01 0.1 0.02" mass="0.8" fullinertia="0.01 0.004 0.011 0.001 0.0005 -0.0007"/>
      <body name="coupler" pos="0 0.2 0"><joint name="knee" ref="10"/>
        <inertial pos="0.25 0.04 -0.01" mass="1.1" diaginertia="0.004 0.02 0.021"/></body></body>
    <body name="rocker" pos="0.4 0 0"><joint name="swing" armature="0.003"/>
      <geom type="capsule" fromto="0 0 0 0.1 0.3 0" size="0.01"/>
      <body name="stub" pos="0.1 0.3 0"><joint name="pin"/>
        <inertial pos="0 0.02 0" euler="10 20 30" mass="0.2" diaginertia="0.0002 0.0003 0.0004"/></body></body>
  </worldbody>
  <equality><weld name="end" body1="stub" body2="coupler"/></equality>
  <actuator><motor joint="drive"/></actuator>
</mujoco>
"""
