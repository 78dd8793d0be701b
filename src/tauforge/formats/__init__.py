"""Robots in files: `load`, the catalogue, and readers and writers of TOML, URDF and MJCF."""

from tauforge.plugins import WRITERS

WRITERS |= {
    "SerialArm": {
        ".toml": "tauforge.formats.arm_toml",
        ".urdf": "tauforge.formats.xml_writer",
        ".xml": "tauforge.formats.xml_writer",
    },
    "StewartPlatform": {".toml": "tauforge.formats.platform_toml"},
    "Mechanism": {
        ".toml": "tauforge.formats.mechanism_toml",
        ".urdf": "tauforge.formats.urdf_writer",
        ".xml": "tauforge.formats.mjcf_writer",
    },
}
