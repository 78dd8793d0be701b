"""Robots in files: `load`, the catalogue, and readers and writers of TOML, URDF and MJCF."""

from tauforge.plugins import register_writer

for _kind, _suffix, _module in (
    ("SerialArm", ".toml", "arm_toml"),
    ("SerialArm", ".urdf", "xml_writer"),
    ("SerialArm", ".xml", "xml_writer"),
    ("StewartPlatform", ".toml", "platform_toml"),
    ("Mechanism", ".toml", "mechanism_toml"),
    ("Mechanism", ".urdf", "urdf_writer"),
    ("Mechanism", ".xml", "mjcf_writer"),
):
    register_writer(_kind, _suffix, f"tauforge.formats.{_module}")
