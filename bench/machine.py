"""The machine of the benchmark: its cores, what else runs on it, and its measured peaks (peak.c)."""

import os
import platform
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
BUILD = os.environ.get("OPTC_BUILD", os.path.join(ROOT, "build"))
WORK = os.path.join(BUILD, "bench")


def cores():
    """The cores this process may use, one per physical core."""
    allowed, chosen, seen = sorted(os.sched_getaffinity(0)), [], set()
    for c in allowed:
        try:
            with open(f"/sys/devices/system/cpu/cpu{c}/topology/thread_siblings_list") as f:
                siblings = f.read().strip()
        except OSError:
            siblings = str(c)
        if siblings not in seen:
            seen.add(siblings)
            chosen.append(c)
    return chosen


def busy_share(seconds=1.0):
    """The share of the machine's time that something uses, over so many seconds."""

    def sample():
        with open("/proc/stat") as f:
            t = list(map(int, f.readline().split()[1:]))
        return sum(t[:8]), t[3] + t[4]

    before = sample()
    time.sleep(seconds)
    after = sample()
    total = after[0] - before[0]
    return 1 - (after[1] - before[1]) / total if total else 0.0


def cpu_name():
    """The name that the CPU gives itself."""
    with open("/proc/cpuinfo") as f:
        names = [l.split(":", 1)[1].strip() for l in f if l.startswith("model name")]
    return names[0] if names else platform.machine()


def commit():
    """The commit of the tree and whether files differ from it, or None outside git."""
    p = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], capture_output=True, text=True)
    return p.stdout.strip() if p.returncode == 0 else None


class Peaks:
    """Measures the peaks in the same run as what is compared with them, and keeps the highest of each."""

    def __init__(self):
        self.fma, self.copy, self.program = {}, {}, None
        compiler = next((c for c in ("clang-22", "clang", "gcc", "cc") if shutil.which(c)), None)
        source, program = os.path.join(HERE, "peak.c"), os.path.join(WORK, "peak")
        if compiler is None:
            sys.exit("bench: there is no C compiler, which peak.c needs (Debian: clang-22)")
        subprocess.check_call([compiler, "-O2", "-pthread", source, "-o", program])
        self.program = program

    def _measure(self, where, key, pinned, *args):
        p = subprocess.run(
            [self.program, *map(str, args)],
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: os.sched_setaffinity(0, pinned),
        )
        if p.returncode == 0 and float(p.stdout) > where.get(key, 0):
            where[key] = float(p.stdout)
        return where.get(key)

    def measure_fma(self, pinned, seconds=0.2):
        """GFLOP/s of f32 FMA over the pinned cores, one thread each; the highest so far."""
        return self._measure(self.fma, len(pinned), pinned, "fma", len(pinned), seconds)

    def measure_copy(self, pinned, size, seconds=0.1):
        """GB/s (read plus written) of memcpy with buffers of `size` bytes in all; the highest so far."""
        return self._measure(self.copy, (len(pinned), size), pinned, "copy", len(pinned), seconds, size)


def describe(chosen):
    """What results are kept with."""
    return {
        "cpu": cpu_name(),
        "system": platform.platform(),
        "cores": chosen,
        "busy_share_before": round(busy_share(), 3),
        "load_average_before": os.getloadavg()[0],
        "commit": commit(),
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def warn_if_busy(machine):
    """Says so when other processes disturb the measurement."""
    if machine["busy_share_before"] > 0.1:
        print(
            f"bench: other processes use {100 * machine['busy_share_before']:.0f} % of this machine: the times are "
            "noisy; ratios of minima suffer least",
            file=sys.stderr,
        )
