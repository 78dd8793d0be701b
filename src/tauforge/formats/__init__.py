"""Robots in files: `load`, the catalogue, and readers and writers of TOML, URDF and MJCF."""

from tauforge.plugins import register_writer

for _kind, _suffix, _module in (
    ("SerialArm", ".toml", "arm_toml"),
    ("SerialArm", ".urdf", "arm_as_mechanism"),
    ("SerialArm", ".xml", "arm_as_mechanism"),
    ("StewartPlatform", ".toml", "platform_toml"),
    ("Mechanism", ".toml", "mechanism_toml"),
    ("Mechanism", ".urdf", "urdf_text"),
    ("Mechanism", ".xml", "mjcf_text"),
):
    register_writer(_kind, _suffix, f"tauforge.formats.{_module}")
