"""Graphs made callable: vector machine code through LLVM, bound to NumPy. This package knows no robot.

Everything that reaches LLVM runs under one lock, for which a fork waits. A child process has only the thread that
forked. A lock that another thread held at that moment stays held in the child for ever: LLVM's own, llvmlite's, or that
of a module being imported. So every call of llvmlite, its finalizers included, and every import that leads there, of
public names or inside functions, happens under this lock. A fork takes it first.
"""

from __future__ import annotations

import os
import threading

LOCK = threading.RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=LOCK.acquire, after_in_parent=LOCK.release, after_in_child=LOCK.release)
