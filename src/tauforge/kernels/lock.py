"""The lock that everything which reaches LLVM runs under, and that a fork waits for.

A child process has only the thread that forked. A lock that another thread held at that moment stays held in the child
for ever: LLVM's own, llvmlite's, or that of a module being imported. So every call of llvmlite, its finalizers
included, and the imports that lead there, of public names or inside functions, happen under this lock; a fork takes it
first.
"""

from __future__ import annotations

import os
import threading

LOCK = threading.RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=LOCK.acquire, after_in_parent=LOCK.release, after_in_child=LOCK.release)
