"""What the client asks, and what it makes of answers; against a server that the test is itself."""

import hashlib
import os
import shutil
import ssl
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from fake_server import FakeServer  # noqa: E402

from stripline_client import AccessError, Client, ConnectionFailed, ServerError  # noqa: E402
from stripline_client.transport import path_of  # noqa: E402

PROBLEM = {
    "code": "NOT_FOUND",
    "reason": "CAMPAIGN_NOT_FOUND",
    "message": "there is no campaigns/c9",
    "metadata": {"name": "campaigns/c9"},
}


class WithServer(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        # Nothing of whoever runs the test.
        environment = {n: v for n, v in os.environ.items() if not n.startswith("STRIPLINE_")}
        environment["XDG_CONFIG_HOME"] = str(self.folder)
        patched = mock.patch.dict(os.environ, environment, clear=True)
        patched.start()
        self.addCleanup(patched.stop)
        self.server = FakeServer()
        self.addCleanup(self.server.close)

    def client(self, url=None, **options):
        client = Client(url or self.server.url, timeout_s=30, **options)
        self.addCleanup(client.close)
        return client

    def secret(self, text, mode=0o600, name="token"):
        path = self.folder / name
        path.write_text(text + "\n")
        path.chmod(mode)
        return str(path)


class Calls(WithServer):
    def test_names_are_taken_with_their_collection_or_without(self):
        for name in ("c1", "campaigns/c1"):
            self.server.will_answer({"name": "campaigns/c1", "samples": "12"})
            self.assertEqual(self.client().get_campaign(name)["samples"], "12")
            self.assertEqual(self.server.asked[-1].path, "/api/v1/campaigns/c1")
        names = {"model": "models/tcp", "version": "models/tcp/versions/2"}
        path = path_of("/models/{model}/versions/{version}", names)
        self.assertEqual(path, "/models/tcp/versions/2")
        self.assertEqual(path_of("/nodes/{node}", {"node": "a b?/c"}), "/nodes/a%20b%3F%2Fc")
        for wrong in ("", "..", "nodes/"):
            with self.assertRaises(ValueError):
                path_of("/nodes/{node}", {"node": wrong})

    def test_options_follow_the_path(self):
        self.server.will_answer({"decisions": []})
        self.client().tabulate_decisions("tcp", "1", "loop", bytes=["4MiB", "8MiB"], vectorised=True)
        self.assertEqual(
            self.server.asked[-1].path,
            "/api/v1/models/tcp/versions/1/decisions/loop?bytes=4MiB%2C8MiB&vectorised=true",
        )

    def test_what_is_given_is_posted(self):
        self.server.will_answer({"name": "nodes/n17"})
        self.client().drain_node("n17", reason="new NIC", time_limit_s=60)
        asked = self.server.asked[-1]
        self.assertEqual((asked.verb, asked.path), ("POST", "/api/v1/nodes/n17/drain"))
        self.assertEqual(asked.headers["Content-Type"], "application/json")
        self.assertEqual(asked.json(), {"reason": "new NIC", "time_limit_s": 60})
        self.server.will_answer({"name": "nodes/n17"})
        self.client().uncordon_node("n17")
        self.assertEqual(self.server.asked[-1].json(), {})

    def test_a_proxy_may_serve_below_a_path(self):
        self.server.will_answer({"nodes": []})
        self.client(self.server.url + "/tuning/").list_nodes()
        self.assertEqual(self.server.asked[-1].path, "/tuning/api/v1/nodes")


class Lists(WithServer):
    def test_pages_follow_each_other(self):
        self.server.will_answer({"nodes": [{"name": "nodes/a"}, {"name": "nodes/b"}], "next_page_token": "t1"})
        self.server.will_answer({"nodes": [{"name": "nodes/c"}], "next_page_token": ""})
        names = [node["name"] for node in self.client().all_nodes(page_size=2)]
        self.assertEqual(names, ["nodes/a", "nodes/b", "nodes/c"])
        paths = [asked.path for asked in self.server.asked]
        self.assertEqual(paths, ["/api/v1/nodes?page_size=2", "/api/v1/nodes?page_size=2&page_token=t1"])

    def test_pages_are_asked_for_when_they_are_needed(self):
        self.server.will_answer({"nodes": [{"name": "nodes/a"}], "next_page_token": "t1"})
        self.assertEqual(next(self.client().all_nodes())["name"], "nodes/a")
        self.assertEqual(len(self.server.asked), 1)

    def test_lists_below_a_name_have_pages_too(self):
        self.server.will_answer({"versions": [{"name": "models/m/versions/1"}]})
        self.assertEqual(len(list(self.client().all_model_versions("models/m"))), 1)
        self.assertEqual(self.server.asked[-1].path, "/api/v1/models/m/versions")

    def test_a_list_that_does_not_end_is_noticed(self):
        for _ in range(2):
            self.server.will_answer({"nodes": [], "next_page_token": "t"})
        with self.assertRaisesRegex(ConnectionFailed, "does not end"):
            list(self.client().all_nodes())


class Errors(WithServer):
    def test_refusals_have_their_reason(self):
        self.server.will_answer(PROBLEM, 404)
        with self.assertRaises(ServerError) as refused:
            self.client().get_campaign("c9")
        error = refused.exception
        self.assertEqual((error.status, error.code, error.reason), (404, "NOT_FOUND", "CAMPAIGN_NOT_FOUND"))
        self.assertEqual(error.message, "there is no campaigns/c9")
        self.assertEqual(error.metadata, {"name": "campaigns/c9"})
        self.assertIsNone(error.retry_after_s)
        self.assertIn("CAMPAIGN_NOT_FOUND: there is no campaigns/c9", str(error))

    def test_the_server_says_when_to_ask_again(self):
        self.server.will_answer({"reason": "TOO_MANY_CALLS", "message": "later"}, 429, Retry_After="3")
        with self.assertRaises(ServerError) as refused:
            self.client().list_nodes()
        self.assertEqual(refused.exception.retry_after_s, 3)

    def test_what_is_no_problem_is_an_error_as_well(self):
        self.server.will_answer(b"<h1>Bad gateway</h1>", 502)
        with self.assertRaisesRegex(ServerError, "502: <h1>Bad gateway"):
            self.client().list_nodes()

    def test_redirects_are_not_followed(self):
        self.server.will_answer(b"", 302, Location="http://127.0.0.1:1/")
        with self.assertRaises(ServerError):
            self.client().list_nodes()
        self.assertEqual(len(self.server.asked), 1)

    def test_answers_that_break_off_are_noticed(self):
        self.server.will_answer(b'{"points": [{"exp')
        with self.assertRaisesRegex(ConnectionFailed, "breaks off"):
            self.client().get_points("c1")

    def test_a_connection_that_was_closed_is_opened_again_to_read_and_not_to_change(self):
        client = self.client()
        self.server.will_answer({"nodes": []})
        client.list_nodes()
        self.server.will_answer(b"", 0)
        self.server.will_answer({"nodes": [{"name": "nodes/a"}]})
        self.assertEqual(len(client.list_nodes()["nodes"]), 1)
        self.server.will_answer(b"", 0)
        with self.assertRaises(ConnectionFailed):
            client.retry_campaign("c1")
        self.assertEqual(len(self.server.asked), 4)

    def test_no_server_is_an_error(self):
        self.server.close()
        self.server.close = lambda: None
        with self.assertRaises(ConnectionFailed):
            self.client().list_nodes()


class Events(WithServer):
    def test_events_come_with_their_names(self):
        self.server.will_answer(
            b'event: campaign\nid: 1\ndata: {"cursor": "1",\ndata: "message": "begins"}\n\n'
            b": still here\n\nevent: end\ndata: {}\n\n",
            Content_Type="text/event-stream",
        )
        events = list(self.client().watch_campaign("c1", cursor=0))
        self.assertEqual(events, [("campaign", {"cursor": "1", "message": "begins"}), ("end", {})])
        self.assertEqual(self.server.asked[-1].path, "/api/v1/campaigns/c1/events?cursor=0")

    def test_a_stream_may_be_refused(self):
        self.server.will_answer(PROBLEM, 404)
        with self.assertRaises(ServerError):
            list(self.client().watch_campaigns(after="c9:0"))


class Tokens(WithServer):
    def shown(self, **options):
        self.server.will_answer({"nodes": []})
        self.client(**options).list_nodes()
        return self.server.asked[-1].headers.get("Authorization")

    def test_a_token_is_shown_with_every_call(self):
        self.assertIsNone(self.shown())
        file = self.secret("stripline-dev.secret")
        self.assertEqual(self.shown(token_file=file), "Bearer stripline-dev.secret")
        with mock.patch.dict(os.environ, {"STRIPLINE_HTTP_TOKEN_FILE": file}):
            self.assertEqual(self.shown(), "Bearer stripline-dev.secret")

    def test_a_file_that_others_can_read_is_not_used(self):
        with self.assertRaisesRegex(AccessError, "chmod 600"):
            self.client(token_file=self.secret("stripline-dev.secret", 0o644))
        with self.assertRaisesRegex(AccessError, "cannot be read"):
            self.client(token_file=str(self.folder / "nothing"))

    def test_no_token_goes_over_the_network_in_plain_text(self):
        with self.assertRaisesRegex(AccessError, "plain http"):
            self.client("http://head:7413", token_file=self.secret("stripline-dev.secret"))

    def test_addresses_have_a_scheme_and_a_host(self):
        for wrong in ("head:7413", "ftp://head", "https://"):
            with self.assertRaises(ValueError):
                self.client(wrong)


@unittest.skipUnless(shutil.which("openssl"), "openssl makes the certificates (Debian: apt-get install openssl)")
class Tls(WithServer):
    def setUp(self):
        super().setUp()
        self.server.close()
        self.authority = self.certificate("right")
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(self.authority, self.folder / "right.key")
        self.server = FakeServer(tls)
        self.addCleanup(self.server.close)
        der = ssl.PEM_cert_to_DER_cert(Path(self.authority).read_text())
        self.token = f"stripline-user.{hashlib.sha256(der).hexdigest()}.secret"

    def certificate(self, name):
        path = self.folder / f"{name}.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
            + ["-subj", "/CN=head", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"]
            + ["-keyout", str(self.folder / f"{name}.key"), "-out", str(path)],
            check=True,
            capture_output=True,
        )
        return str(path)

    def test_a_server_is_known_by_its_authority(self):
        self.server.will_answer({"nodes": []})
        self.client(token_file=self.secret(self.token), ca_file=self.authority).list_nodes()
        self.assertEqual(self.server.asked[-1].headers["Authorization"], "Bearer " + self.token)
        other = self.certificate("other")
        with self.assertRaisesRegex(AccessError, "another authority"):
            self.client(token_file=self.secret(self.token), ca_file=other)
        with self.assertRaises(ConnectionFailed):
            self.client(ca_file=other).list_nodes()
        with self.assertRaises(ConnectionFailed):
            self.client().list_nodes()
        self.assertEqual(len(self.server.asked), 1)

    @unittest.skipUnless(sys.version_info >= (3, 11), "reading the file of logins needs Python 3.11")
    def test_logins_of_the_command_count(self):
        folder = self.folder / "stripline"
        folder.mkdir()
        path = folder / "config.toml"
        path.write_text(
            f'server = "127.0.0.1:7411"\n[servers."127.0.0.1:7411"]\n'
            f'authority = """{Path(self.authority).read_text()}"""\ntoken = "{self.token}"\n'
        )
        path.chmod(0o600)
        self.server.will_answer({"nodes": []})
        self.client().list_nodes()
        self.assertEqual(self.server.asked[-1].headers["Authorization"], "Bearer " + self.token)
        path.chmod(0o644)
        with self.assertRaisesRegex(AccessError, "chmod 600"):
            self.client()


if __name__ == "__main__":
    unittest.main()
