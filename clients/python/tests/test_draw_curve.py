"""The example draws what was measured, and nothing else."""

import contextlib
import io
import sys
import unittest
from pathlib import Path
from unittest import mock
from xml.etree import ElementTree

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "examples")]

import draw_curve  # noqa: E402
from fake_server import FakeServer  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"


def point(size, median, operation="put", experiment="micro.latency"):
    return {
        "experiment": experiment,
        "variant": "",
        "params": {"bytes": size, "operation": operation},
        "median": median,
        "low": None if median is None else median * 0.9,
        "high": None if median is None else median * 1.1,
    }


POINTS = [
    point(1024, 2e-6),
    point(8, 1e-6),
    point(1048576, 90e-6),
    point(64, None),
    point(8, 3e-6, "get <&>"),
    point(8, 1.0, experiment="micro.other"),
]


class Curves(unittest.TestCase):
    def test_curves_are_in_order_and_of_measured_points_alone(self):
        curves = draw_curve.curves_of(POINTS, "micro.latency", "bytes")
        self.assertEqual(list(curves), ["operation get <&>", "operation put"])
        self.assertEqual([p[0] for p in curves["operation put"]], [8, 1024, 1048576])

    def test_the_picture_shows_longer_times_higher_up(self):
        curves = draw_curve.curves_of(POINTS, "micro.latency", "bytes")
        root = ElementTree.fromstring(draw_curve.svg_of(curves, "c1: a < b", "bytes"))
        self.assertEqual(root.find(f"{SVG}title").text, "c1: a < b")
        put = root.findall(f"{SVG}polyline")[1].get("points").split()
        places = [tuple(float(v) for v in one.split(",")) for one in put]
        self.assertEqual(len(places), 3)
        self.assertEqual(places, sorted(places, key=lambda place: (place[0], -place[1])))
        for left, top in places:
            self.assertTrue(draw_curve.LEFT <= left <= draw_curve.WIDTH - draw_curve.RIGHT, left)
            self.assertTrue(draw_curve.TOP <= top <= draw_curve.HEIGHT - draw_curve.BOTTOM, top)
        self.assertEqual(len(root.findall(f"{SVG}circle")), 4)

    def test_units_are_those_that_people_read(self):
        self.assertEqual(draw_curve.time_text(1e-6), "1 us")
        self.assertEqual(draw_curve.time_text(1e-8), "10 ns")
        self.assertEqual(draw_curve.size_text(4096), "4 Ki")


class Program(unittest.TestCase):
    def setUp(self):
        self.server = FakeServer()
        self.addCleanup(self.server.close)

    def run_program(self, *arguments):
        out, err = io.StringIO(), io.StringIO()
        with mock.patch.object(sys, "argv", ["draw_curve.py", self.server.url, *arguments]), contextlib.redirect_stdout(
            out
        ), contextlib.redirect_stderr(err):
            code = draw_curve.main()
        return code, out.getvalue(), err.getvalue()

    def test_it_draws(self):
        self.server.will_answer({"points": POINTS})
        code, out, _ = self.run_program("campaigns/c1", "micro.latency")
        self.assertEqual(code, 0)
        ElementTree.fromstring(out)
        self.assertEqual(self.server.asked[0].path, "/api/v1/campaigns/c1/points")

    def test_it_says_what_there_is(self):
        self.server.will_answer({"points": POINTS})
        code, out, err = self.run_program("campaigns/c1", "poem")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("it has measured micro.latency, micro.other", err)
        self.server.will_answer({"reason": "CAMPAIGN_NOT_FOUND", "message": "there is none"}, 404)
        self.assertEqual(self.run_program("campaigns/c9", "poem")[2], "error: CAMPAIGN_NOT_FOUND: there is none\n")


if __name__ == "__main__":
    unittest.main()
