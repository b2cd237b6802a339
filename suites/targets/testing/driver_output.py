"""What a driver of stripline-tune prints (../driver_plan.h), for the programs here that stand for other runtimes."""


def show(value):
    # Loading the module json would take a third of a launch; nothing that is shown needs its escapes.
    print(str(value).replace("'", '"').replace("True", "true").replace("False", "false"), flush=True)


def point_of(cell, variant):
    """A point, of the words of a plan's cell and one of its variants."""
    return {"experiment": "target." + cell[1], "variant": variant,
            "params": {"ranks": int(cell[2]), "bytes": int(cell[3]), "type": cell[4], "in_place": int(cell[5])}}


def show_series(point, run, once, noise, wrong=""):
    """Five repetitions that take about `once` seconds; none where they give wrong data, as `wrong` says."""
    once *= 1 + 0.002 * noise.random()
    values = [] if wrong else [once * (1 + 0.002 * noise.random()) for _ in range(5)]
    show({"point": point, "run": int(run), "values": values, "timestamps_s": [float(i) for i in range(len(values))],
          "warmup_dropped": 1, "stop_reason": "max_reps", "verified": not wrong, "note": wrong})
