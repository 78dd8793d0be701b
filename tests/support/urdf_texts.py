"""URDF texts that the tests read, as they are and changed."""

from __future__ import annotations

TREE = """<robot name="tree">
  <link name="world"/>
  <link name="pedestal"><inertial><mass value="100"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <joint name="floor" type="fixed"><parent link="world"/><child link="pedestal"/>
    <origin xyz="0.1 -0.2 0.3" rpy="0.2 0.1 -0.7"/></joint>
  <link name="a"><inertial><origin xyz="0.1 0.02 -0.05" rpy="0.3 -1.2 0.8"/><mass value="3"/>
    <inertia ixx="0.03" ixy="0.002" ixz="-0.001" iyy="0.04" iyz="0.003" izz="0.05"/></inertial></link>
  <joint name="turn" type="revolute"><parent link="pedestal"/><child link="a"/>
    <origin xyz="0 0.1 0.4" rpy="1.5707963267948966 0 -0.4"/><axis xyz="1 -2 3"/>
    <limit lower="-3" upper="2.5" effort="40" velocity="2"/><dynamics damping="0.3" friction="0.7"/></joint>
  <link name="box"><inertial><origin xyz="0 0.3 0.1" rpy="1 2 3"/><mass value="0.7"/>
    <inertia ixx="0.01" ixy="0.001" ixz="0.002" iyy="0.02" iyz="0" izz="0.015"/></inertial></link>
  <joint name="bolt" type="fixed"><parent link="a"/><child link="box"/><origin xyz="0.3 0 0" rpy="0 0.5 0"/></joint>
  <link name="disc"><inertial><origin xyz="0 0 0" rpy="0.4 0 0"/><mass value="0"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.02"/></inertial></link>
  <joint name="glue" type="fixed"><parent link="box"/><child link="disc"/><origin rpy="0.1 0.2 0.3"/>
    <mimic joint="turn"/></joint>
  <link name="b"><inertial><origin xyz="0.02 0 0.1"/><mass value="2"/>
    <inertia ixx="0.02" ixy="0" ixz="0.001" iyy="0.02" iyz="0" izz="0.01"/></inertial></link>
  <joint name="slide" type="prismatic"><parent link="box"/><child link="b"/>
    <origin xyz="0.2 0.1 0" rpy="0.1 0.2 0.3"/><axis xyz="-0.6 0 -0.8"/>
    <limit upper="0.5" effort="9" velocity="1"/></joint>
  <link name="c"/>
  <joint name="spin" type="continuous"><parent link="b"/><child link="c"/><origin xyz="0.1 0 0.1"/></joint>
  <link name="flange"><inertial><origin xyz="0 0.05 0"/><mass value="0.4"/>
    <inertia ixx="0.001" ixy="0" ixz="0" iyy="0.001" iyz="0" izz="0.001"/></inertial></link>
  <joint name="plate" type="fixed"><parent link="c"/><child link="flange"/><origin xyz="0 0 0.2" rpy="3 0 1"/></joint>
  <link name="finger"><inertial><origin xyz="0 0 0.04"/><mass value="0.1"/>
    <inertia ixx="0.0001" ixy="0" ixz="0" iyy="0.0001" iyz="0" izz="0.0001"/></inertial></link>
  <joint name="grip" type="prismatic"><parent link="flange"/><child link="finger"/><origin xyz="0 0 0.1"/>
    <axis xyz="0 2 0"/><limit lower="0" upper="0.04" effort="9" velocity="1"/><mimic joint="slide"/></joint>
  <link name="eye"/>
  <joint name="pan" type="continuous"><parent link="pedestal"/><child link="eye"/><axis xyz="0 0 1"/></joint>
</robot>
"""


VALID = """<?xml version="1.0"?>
<robot name="two">
  <link name="base"/>
  <link name="upper">
    <inertial>
      <origin xyz="0 0 0.1" rpy="0 0 0.3"/>
      <mass value="2.5"/>
      <inertia ixx="0.1" ixy="0.01" ixz="0" iyy="0.2" iyz="0" izz="0.15"/>
    </inertial>
  </link>
  <link name="lower">
    <inertial>
      <mass value="1.5"/>
      <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/>
    </inertial>
  </link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/>
    <child link="upper"/>
    <origin xyz="0 0 0.3" rpy="0 0 0"/>
    <axis xyz="0 0 1"/>
    <limit lower="-2" upper="2" effort="50" velocity="3"/>
    <dynamics damping="0.1" friction="0.2"/>
  </joint>
  <joint name="slide" type="prismatic">
    <parent link="upper"/>
    <child link="lower"/>
    <axis xyz="1 0 0"/>
    <limit lower="0" upper="1"/>
  </joint>
</robot>
"""


def changed(old: str, new: str) -> str:
    assert VALID.count(old) >= 1, old
    return VALID.replace(old, new, 1)
