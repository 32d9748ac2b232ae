"""Statistics and tables of the benchmark; plain Python, tested by test/bench."""

import math


def percentile(values, share):
    """The smallest value that at least this share of the values does not exceed (optc-run's definition)."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, math.ceil(share * len(ordered)) - 1))]


def median(values):
    """The middle value, or the mean of the two in the middle."""
    ordered, n = sorted(values), len(values)
    return ordered[n // 2] if n % 2 else (ordered[n // 2 - 1] + ordered[n // 2]) / 2


def geomean(values):
    """The geometric mean; None of nothing."""
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def summarize(milliseconds):
    """What one process reports about its runs."""
    return {
        "min_ms": min(milliseconds),
        "p50_ms": percentile(milliseconds, 0.5),
        "p95_ms": percentile(milliseconds, 0.95),
        "p99_ms": percentile(milliseconds, 0.99),
        "runs": len(milliseconds),
    }


def over_processes(reports):
    """One contender's reports of several processes as one: medians; peak memory is the largest, `spread` the distance
    of the largest minimum from the smallest, relative to their median."""
    result = {k: median([r[k] for r in reports]) for k in ("min_ms", "p50_ms", "p95_ms", "p99_ms", "load_ms")}
    for k in ("peak_rss_bytes", "net_rss_bytes"):
        if all(k in r for r in reports):
            result[k] = max(r[k] for r in reports)
    minima = [r["min_ms"] for r in reports]
    result["spread"] = (max(minima) - min(minima)) / result["min_ms"] if result["min_ms"] else 0.0
    result["processes"] = len(reports)
    return result


def ratios(times, own="optc"):
    """How many times as long each other contender takes, and the fastest of them ("best"), by minimum and by median.
    times: {contender: {min_ms, p50_ms}}; above 1 means that `own` is faster."""
    if own not in times:
        return {}
    others = [c for c in times if c != own]
    result = {c: {k: times[c][k] / times[own][k] for k in ("min_ms", "p50_ms")} for c in others}
    if others:
        result["best"] = {k: min(result[c][k] for c in others) for k in ("min_ms", "p50_ms")}
    return result


def share(gflop, milliseconds, peak):
    """The share of the peak (GFLOP/s) that a run reaches; None where there is no peak or nothing to count."""
    return gflop / (milliseconds * 1e-3) / peak if gflop and peak and milliseconds else None


def number(value, digits=3, unit=""):
    """A number with so many significant digits, or a dash."""
    if value is None:
        return "–"
    if value == 0:
        return "0" + unit
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:.{decimals}f}{unit}"


def percent(value):
    """A share as a percentage, or a dash."""
    return "–" if value is None else number(100 * value, 2, " %")


def markdown(header, rows):
    """A table whose columns are aligned in plain text as well: the first to the left, the others to the right."""
    rows = [[str(c) for c in r] for r in rows]
    widths = [max(len(r[i]) for r in [header, *rows]) for i in range(len(header))]
    line = (
        lambda r: "| " + " | ".join(c.rjust(w) if i else c.ljust(w) for i, (c, w) in enumerate(zip(r, widths))) + " |"
    )
    rule = "|" + "|".join("-" * (w + 1) + (":" if i else "-") for i, w in enumerate(widths)) + "|"
    return "\n".join([line(header), rule, *map(line, rows)])
