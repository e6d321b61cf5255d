# SPDX-License-Identifier: Apache-2.0
"""What the figures were measured on and with."""

import datetime
import os
import platform
import resource
import subprocess
import time


def first_line_of(*command, folder=None):
    """What the command says first, or nothing if it cannot be run."""
    try:
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return (run.stdout or run.stderr).strip().splitlines()[0] if run.stdout or run.stderr else None


def field_of(path, name, separator=":"):
    try:
        with open(path, encoding="utf-8") as text:
            for line in text:
                key, found, value = line.partition(separator)
                if found and key.strip() == name:
                    return value.strip()
    except OSError:
        pass
    return None


def compiler(root):
    """The compiler and the kind of build that CMake noted for the release preset."""
    cache = os.path.join(root, "build", "CMakeCache.txt")
    program = field_of(cache, "CMAKE_CXX_COMPILER:FILEPATH", "=") or field_of(cache, "CMAKE_CXX_COMPILER:STRING", "=")
    version = first_line_of(program, "--version") if program else None
    return {"compiler": version, "build": field_of(cache, "CMAKE_BUILD_TYPE:STRING", "=")}


def commit(root):
    return first_line_of("git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*", folder=root)


def virtual():
    return "hypervisor" in (field_of("/proc/cpuinfo", "flags") or "").split()


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")


def load():
    """The load average of the last minute."""
    return round(os.getloadavg()[0], 2)


class Watch:
    """What others make of the machine, from now on."""

    def __init__(self):
        self.start = (time.monotonic(), busy_s(), own_s())

    def others_busy(self):
        """How many processors were busy with what is not of this process and of those that it began and has seen end."""
        began, busy, own = self.start
        others = (busy_s() - busy) - (own_s() - own)
        return round(max(0.0, others) / (time.monotonic() - began), 2)


def busy_s():
    """What all processors together have worked since the machine began, and what they were kept from by a hypervisor."""
    with open("/proc/stat", encoding="utf-8") as text:
        user, nice, system, _, _, irq, soft, stolen = (int(field) for field in text.readline().split()[1:9])
    return (user + nice + system + irq + soft + stolen) / os.sysconf("SC_CLK_TCK")


def own_s():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def wake_us(times=2000):
    """What it takes to wake a process that sleeps in a read, with a write: two hand a byte to each other."""
    there, back = os.pipe(), os.pipe()
    other = os.fork()
    if other == 0:
        for _ in range(times):
            os.read(there[0], 1)
            os.write(back[1], b"x")
        os._exit(0)
    began = time.monotonic()
    for _ in range(times):
        os.write(there[1], b"x")
        os.read(back[0], 1)
    took = time.monotonic() - began
    os.waitpid(other, 0)
    for end in (*there, *back):
        os.close(end)
    return round(1e6 * took / times / 2, 1)


def kind(about):
    """What figures depend on most: those of another kind of machine, or server, are kept beside these."""
    return f"{about['cpu']}, {about['cores']} cores{', virtual' if about['virtual'] else ''}; {about['server']}"


def describe(root, server_version):
    memory_kb = field_of("/proc/meminfo", "MemTotal") or "0 kB"
    return {
        "cpu": field_of("/proc/cpuinfo", "model name") or platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "virtual": virtual(),
        "wake_us": wake_us(),
        "memory_gb": round(int(memory_kb.split()[0]) / 2**20, 1),
        "kernel": f"{platform.system()} {platform.release().split('-')[0]}",
        "server": server_version,
        "commit": commit(root),
        **compiler(root),
    }
