"""
The controller on an emulated Cortex-M4
=======================================

The exported step of computed torque, in float, runs on a microcontroller's processor with 4 MB of memory, emulated by
QEMU, without an operating system or a C library. The simulated arm asks it for torques two hundred times a second. The
program also paints its stack beforehand and counts what was touched, so that the bound in the header can be compared.

It needs Debian's gcc-arm-none-eabi and qemu-system-arm; without them only the law in Python is shown.
"""

import os
import re
import select
import shutil
import subprocess
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import tauforge as tf

KP, KV = 400.0, 40.0
arm = tf.load("puma560").without_friction()
move = tf.motion.JointMove([0, 0.8, -2.0, 0, 0.3, 0], [0.8, 0.0, -1.2, 0.4, -0.2, 0.5], duration=1.0)
law = tf.control.ComputedTorque(arm, kp=KP, kv=KV)

# %%
# The program waits for 42 numbers, calls the function and answers with six torques and the deepest stack so far. It
# speaks to the host by semihosting: a breakpoint instruction with a number for open, read and write.

PROGRAM = r"""
#include "puma.h"
#include <stdint.h>
#define PAINT 0xA5A5A5A5u
#define PAINTED 4096

static int host(int operation, const void *argument)
{
    register int r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

static int opened(const char *name, unsigned length, unsigned mode)
{
    const uintptr_t block[3] = {(uintptr_t)name, mode, length};
    return host(1, block);
}

static float given[7][6], answer[7];

__attribute__((noinline)) static void painted(int check)
{
    volatile uint32_t area[PAINTED];
    unsigned k = 0;
    if (check) {
        while (k < PAINTED && area[k] == PAINT) k++;
        answer[6] = 4.0f * (float)(PAINTED - k);
    } else {
        for (; k < PAINTED; k++) area[k] = PAINT;
    }
}

__attribute__((noreturn)) void reset(void)
{
    *(volatile uint32_t *)0xE000ED88 |= 0xFu << 20; /* switches the floating-point unit on */
    __asm__ volatile("dsb\n isb");
    const uintptr_t in = (uintptr_t)opened("in", 2, 1), out = (uintptr_t)opened("out", 3, 5);
    painted(0);
    for (;;) {
        uintptr_t left = sizeof given;
        while (left > 0) {
            const uintptr_t block[3] = {in, (uintptr_t)given + sizeof given - left, left};
            const uintptr_t now = (uintptr_t)host(6, block);
            if (now == left) host(0x18, (const void *)0x20026); /* nothing more comes */
            left = now;
        }
        puma_computed_torque(given[0], given[1], given[2], given[3], given[4], given[5], given[6], answer);
        painted(1);
        const uintptr_t block[3] = {out, (uintptr_t)answer, sizeof answer};
        host(5, block);
    }
}

extern char stack_top[];
__attribute__((section(".vectors"), used)) static const void *const vectors[2] = {stack_top, (const void *)reset};
"""
LAYOUT = """
ENTRY(reset)
SECTIONS {
    . = 0;
    .text : { KEEP(*(.vectors)) *(.text*) *(.rodata*) }
    . = 0x20000000;
    .bss : { *(.bss*) *(COMMON) }
    stack_top = 0x20040000;
}
"""
TARGET = ["-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"]
BUILD = ["-std=gnu99", "-O2", "-ffreestanding", "-fno-math-errno", "-nostdlib", "-Tlayout.ld"]


class Microcontroller:
    """The emulated processor; `simulate` calls it like any function of the state."""

    def __init__(self, folder):
        made = tf.export_c(arm, folder, functions=["computed_torque"], prefix="puma", dtype="float32")
        self.bound = int(re.search(r"Stack: at most (\d+) bytes", made.header.read_text())[1])
        (folder / "main.c").write_text(PROGRAM)
        (folder / "layout.ld").write_text(LAYOUT)
        for pipe in ("in", "out"):
            os.mkfifo(folder / pipe)
        compiler = ["arm-none-eabi-gcc", *TARGET, *BUILD, "main.c", "puma.c", "-lgcc", "-o", "program.elf"]
        subprocess.run(compiler, cwd=folder, check=True)
        machine = ["qemu-system-arm", "-M", "mps2-an386", "-kernel", "program.elf", "-display", "none"]
        machine += ["-serial", "null", "-monitor", "none", "-semihosting-config", "enable=on,target=native"]
        self.process = subprocess.Popen(machine, cwd=folder, stdin=subprocess.DEVNULL)
        self.give, self.take = (os.open(folder / pipe, os.O_RDWR) for pipe in ("in", "out"))  # does not wait
        self.stack = 0

    def __call__(self, t, position, velocity):
        gains = [np.full(arm.n, gain) for gain in (KP, KV)]
        os.write(self.give, np.array([position, velocity, *move.sample(t), *gains], "float32").tobytes())
        if not select.select([self.take], [], [], 30)[0]:
            raise TimeoutError("the emulated processor does not answer")
        *torques, self.stack = np.frombuffer(os.read(self.take, 28), "float32").tolist()
        return np.array(torques)

    def stop(self):
        self.process.kill()  # it waits for a state, and would not hear anything gentler
        self.process.wait(30)
        os.close(self.give)
        os.close(self.take)


def simulated(controller):
    return tf.simulate(arm, controller, move, control_period=0.005, duration=1.2)


# %%
# The arm under the law in Python, then under the emulated one.

runs = {"Python": simulated(law)}
if shutil.which("arm-none-eabi-gcc") and shutil.which("qemu-system-arm"):
    with tempfile.TemporaryDirectory() as name:
        controller = Microcontroller(Path(name))
        try:
            runs["Cortex-M4, float"] = simulated(controller)
        finally:
            controller.stop()
    print(
        f"stack of the emulated program: {controller.stack:.0f} bytes; bound of the function: {controller.bound} bytes"
    )
    assert controller.stack <= controller.bound + 256  # the caller's own frame is in what was painted
else:
    print("There is no arm-none-eabi-gcc or no qemu-system-arm: only the law in Python is shown.")
for name, run in runs.items():
    apart = np.abs(run.force - runs["Python"].force).max()
    error = np.abs(run.position[-1] - move.sample(1.2).position).max()
    print(f"{name}: torques within {apart:.0e} N m of the law in Python, {error:.0e} rad from the target at the end")
    assert apart < 1e-2

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
left.plot(runs["Python"].time, runs["Python"].error * 1e3)
left.set_title("joint errors", loc="left")
left.set_ylabel("mrad")
for name, run in runs.items():
    apart = np.abs(run.force - runs["Python"].force).max(axis=1)
    right.semilogy(run.time, np.maximum(apart, 1e-16), label=name)
right.set_title("largest difference from the law in Python", loc="left")
right.set_ylabel("N m")
right.legend(frameon=False)
for panel in (left, right):
    panel.set_xlabel("time (s)")
    panel.grid(alpha=0.3)
plt.show()
