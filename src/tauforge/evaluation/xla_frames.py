"""The C structs by which XLA calls a function, as far as we read them (`xla/ffi/api/c_api.h`)."""

from __future__ import annotations

from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_void_p

METADATA = 1  # the extension by which XLA asks for the version
EXECUTE = 3  # the stage that computes
MAJOR, FIRST_MINOR = 0, 1  # the version of the structs below; minor versions only add to their ends
INTERNAL_ERROR = 13


class Extension(Structure):
    _fields_ = [("struct_size", c_size_t), ("type", c_int), ("next", c_void_p)]


class Version(Structure):
    _fields_ = [("struct_size", c_size_t), ("extension", c_void_p), ("major", c_int), ("minor", c_int)]


class Metadata(Structure):
    _fields_ = [("struct_size", c_size_t), ("version", Version), ("traits", c_uint32)]


class MetadataExtension(Structure):
    _fields_ = [("base", Extension), ("metadata", POINTER(Metadata))]


class Buffer(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("extension", c_void_p),
        ("dtype", c_int),
        ("data", c_void_p),
        ("rank", c_int64),
        ("dims", POINTER(c_int64)),
    ]


class Scalar(Structure):
    _fields_ = [("dtype", c_int), ("value", POINTER(c_int64))]


class Buffers(Structure):
    """The arguments, or the results."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("extension", c_void_p),
        ("size", c_int64),
        ("types", c_void_p),
        ("buffers", POINTER(POINTER(Buffer))),
    ]


class Attributes(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("extension", c_void_p),
        ("size", c_int64),
        ("types", c_void_p),
        ("names", c_void_p),
        ("values", POINTER(POINTER(Scalar))),
    ]


class ErrorArguments(Structure):
    _fields_ = [("struct_size", c_size_t), ("extension", c_void_p), ("message", c_char_p), ("code", c_int)]


class StreamArguments(Structure):
    _fields_ = [("struct_size", c_size_t), ("extension", c_void_p), ("context", c_void_p), ("stream", c_void_p)]


class Api(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("extension", c_void_p),
        ("version", Version),
        ("internal", c_void_p),
        ("error", CFUNCTYPE(c_void_p, POINTER(ErrorArguments))),
        ("message_of_error", c_void_p),
        ("destroy_error", c_void_p),
        ("register", c_void_p),
        ("stream", CFUNCTYPE(c_void_p, POINTER(StreamArguments))),
    ]


class Frame(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("extension", POINTER(MetadataExtension)),
        ("api", POINTER(Api)),
        ("context", c_void_p),
        ("stage", c_int),
        ("arguments", Buffers),
        ("results", Buffers),
        ("attributes", Attributes),
    ]


HANDLER = CFUNCTYPE(c_void_p, POINTER(Frame))
