"""Robots in files: `load`, the catalogue, and readers and writers of TOML, URDF and MJCF."""

from tauforge.plugins import WRITERS

WRITERS |= {
    "SerialArm": {".toml": "arm_toml", ".urdf": "xml_writer", ".xml": "xml_writer"},
    "StewartPlatform": {".toml": "platform_toml"},
    "Mechanism": {".toml": "mechanism_toml", ".urdf": "urdf_writer", ".xml": "mjcf_writer"},
}
