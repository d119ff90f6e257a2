"""The rules by which scripts/readme.py compares."""
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import readme  # noqa: E402


class Outputs(unittest.TestCase):
    def agree(self, shown, printed):
        self.assertEqual(readme.differences(shown, printed), [])

    def differ(self, shown, printed):
        self.assertNotEqual(readme.differences(shown, printed), [])

    def test_times_rates_sizes_and_file_names_of_the_second_may_differ(self):
        self.agree("10 results in 0.1 s from a", "10 results in 12.0 s from a")
        self.agree("638.4 kB in 2 files, saved 2026-11-21 19:20:38 UTC", "638 bytes in 2 files, saved 2031-01-02 03:04:05 UTC")
        self.agree("  global_step/sec  scalar  8  steps 200 to 900  357.2", "  global_step/sec  scalar  8  steps 200 to 900  1.5e+03")
        self.differ("  loss  scalar  8  steps 200 to 900  357.2", "  loss  scalar  8  steps 200 to 900  1.5e+03")
        self.agree("  events.out.tfevents.1795288836.vm", "  events.out.tfevents.1800000000.other-host")

    def test_the_number_of_an_export_may_differ(self):
        self.agree("runs/a/export/latest/1795431518", "runs/a/export/latest/1800000000")
        self.agree('{"version": "1795431518"}', '{"version": "1800000000"}')
        self.differ("1795431518 bytes", "1795431519.5 bytes")
        self.differ("export/latest/1795431518", "export/best/1795431518")

    def test_words_steps_and_counts_may_not_differ(self):
        self.differ("saved runs/a/model.ckpt-390", "saved runs/a/model.ckpt-391")
        self.differ("finished at step 10, 10 steps in 1.0 s", "finished at step 10, 11 steps in 1.0 s")
        self.differ("one line", "one line\nanother")

    def test_decimals_may_differ_by_five_percent(self):
        self.agree("accuracy 0.874, loss 0.348", "accuracy 0.871, loss 0.35")
        self.differ("accuracy 0.874", "accuracy 0.774")
        self.differ("loss 2.30", "loss 2.50")
        self.agree("[2.1e-08,0.99]", "[3.5e-08,0.99]")

    def test_progress_lines_are_compared_by_whether_there_are_any(self):
        progress = "step 100/2340  4%  457 steps/s  loss 0.7728  ETA 0:05\n"
        self.agree("started\n" + progress, "started\n" + progress + "step 500/2340  21%  356 steps/s  loss 0.3926  ETA 0:06\n")
        self.differ("started\n" + progress, "started\n")
        self.differ("started\nstep 100 of 2340\n", "started\n")


class Blocks(unittest.TestCase):
    def renewed(self, text, program="/bin/false"):
        with tempfile.TemporaryDirectory() as directory, readme.Place(directory, pathlib.Path(program)) as place:
            return readme.renewed(text, place)

    def test_a_console_block_is_run_and_its_output_replaced(self):
        text, complaints = self.renewed("# A\n```console\n$ echo one\none\n$ echo two >&2\n2\n```\nB")
        self.assertEqual(text, "# A\n```console\n$ echo one\none\n$ echo two >&2\ntwo\n```\nB")
        self.assertEqual(len(complaints), 1)
        self.assertIn("echo two", complaints[0])

    def test_commands_share_a_directory_and_have_to_succeed(self):
        self.assertEqual(self.renewed("```console\n$ echo x >file\n$ cat file\nx\n```")[1], [])
        with self.assertRaisesRegex(readme.Trouble, "exits with 3"):
            self.renewed("```console\n$ exit 3\n```")

    def test_a_server_answers_the_commands_after_it_on_a_port_that_is_shown_as_8501(self):
        server = """#!/usr/bin/env python3
import socketserver, sys
port = int(sys.argv[sys.argv.index("--port") + 1])
class Answer(socketserver.StreamRequestHandler):
    def handle(self):
        self.wfile.write(b"I answer on %d\\n" % port)
with socketserver.TCPServer(("127.0.0.1", port), Answer) as s:
    print("ready on", port, flush=True)
    s.serve_forever()
"""
        with tempfile.NamedTemporaryFile("w", suffix="troupe", delete=False) as program:
            program.write(server)
        path = pathlib.Path(program.name)
        path.chmod(0o700)
        try:
            text = "```console\n$ troupe serve runs/a &\nready on 8501\n$ cat </dev/tcp/127.0.0.1/8501\nI answer on 8501\n```"
            self.assertEqual(self.renewed(text, path), (text, []))
        finally:
            path.unlink()
        with self.assertRaisesRegex(readme.Trouble, "does not serve"):
            self.renewed("```console\n$ troupe serve runs/a &\n```")

    def test_a_quoted_block_is_the_marked_region_of_its_file(self):
        region = readme.quoted("examples/fashion_mnist.cpp")
        self.assertIn("train_and_evaluate", region)
        text, complaints = self.renewed("<!-- quoted: examples/fashion_mnist.cpp -->\n```cpp\nold\n```")
        self.assertEqual(text, f"<!-- quoted: examples/fashion_mnist.cpp -->\n```cpp\n{region}\n```")
        self.assertEqual(len(complaints), 1)
        self.assertEqual(self.renewed(text), (text, []))

    def test_a_block_that_nothing_checks_is_an_error(self):
        for block in ("```\nstep 3\n```", "```cpp\nint main() {}\n```", "```console\noutput\n```", "```sh\n./dev tset\n```", "```console\n$ true"):
            with self.assertRaises(readme.Trouble, msg=block):
                self.renewed(block)


if __name__ == "__main__":
    unittest.main()
