"""The rules by which scripts/readme.py runs and compares."""
import contextlib
import io
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
        self.agree("stopped at step 300 after 0.1 s: loss 0.2", "stopped at step 300 after 12 s: loss 0.2")
        self.differ("stopped at step 300 after 0.1 s", "stopped at step 300 in 0.1 s")
        self.agree("638.4 kB in 2 files, saved 2026-11-21 19:20:38 UTC", "638 bytes in 2 files, saved 2031-01-02 03:04:05 UTC")
        self.agree("  global_step/sec  scalar  8  steps 200 to 900  357.2", "  global_step/sec  scalar  8  steps 200 to 900  1.5e+03")
        self.differ("  loss  scalar  8  steps 200 to 900  357.2", "  loss  scalar  8  steps 200 to 900  1.5e+03")
        self.agree("  events.out.tfevents.1795288836.vm", "  events.out.tfevents.1800000000.other-host")

    def test_the_number_of_an_export_may_differ(self):
        self.agree("runs/a/export/latest/1795431518", "runs/a/export/latest/1800000000")
        self.agree('{"version": "1795431518"}', '{"version": "1800000000"}')
        self.differ("export/latest/1795431518", "export/best/1795431518")

    def test_a_page_shows_nothing_that_only_one_run_prints(self):
        self.assertEqual(readme.lasting("finished at step 936, 936 steps in 3.2 s: loss 0.39"), "finished at step 936, 936 steps in … s: loss 0.39")
        self.assertEqual(readme.lasting("step 100/936  10%  289 steps/s  loss 0.7  ETA 0:03"), "step 100/936  10%  … steps/s  loss 0.7  ETA …")
        self.assertEqual(readme.lasting("a/events.out.tfevents.1795628606.a.host.description\n"), "a/events.out.tfevents.….description\n")
        self.agree("version … answers", "version 1795628726 answers")
        self.agree("  step  0  … UTC  2.8 MB", "  step  0  2026-01-02 03:04:05 UTC  2.8 MB")

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
        self.assertEqual([line for line, _ in complaints], [5])
        self.assertIn("echo two", complaints[0][1])

    def test_commands_share_a_directory_and_have_to_succeed(self):
        self.assertEqual(self.renewed("```console\n$ echo x >file\n$ cat file\nx\n```")[1], [])
        with self.assertRaisesRegex(readme.Trouble, "exits with 3"):
            self.renewed("```console\n$ exit 3\n```")

    def test_a_command_that_fails_is_named_with_its_line(self):
        with self.assertRaises(readme.Trouble) as caught:
            self.renewed("# A\n\n```console\n$ echo one\none\n$ exit 3\n```")
        self.assertEqual(caught.exception.line, 6)
        self.assertIn("`exit 3` exits with 3", str(caught.exception))

    def test_a_command_may_have_further_lines(self):
        text = "```console\n$ cat <<END\n> one\n> END\none\n$ echo \\\n>   two\ntwo\n```"
        self.assertEqual(self.renewed(text), (text, []))

    def test_the_folder_of_a_page_is_shown_under_one_name_and_has_the_examples(self):
        text = "```console\n$ pwd\n/home/me/project\n$ ls -d examples/guide\nexamples/guide\n```"
        self.assertEqual(self.renewed(text), (text, []))

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

    def test_a_region_has_a_name_and_loses_the_indentation_of_all_its_lines(self):
        with tempfile.NamedTemporaryFile("w", suffix=".cpp") as source:
            source.write("// README begins\na\n// README ends\nf() {\n  // loop begins\n  for (;;)\n    g();\n  // loop ends\n}\n")
            source.flush()
            self.assertEqual(readme.quoted(source.name), "a")
            self.assertEqual(readme.quoted(source.name, "loop"), "for (;;)\n  g();")
            self.assertEqual(len(readme.quoted(source.name, "whole").split("\n")), 9)
            with self.assertRaisesRegex(readme.Trouble, "no lines 'absent begins'"):
                readme.quoted(source.name, "absent")
        with self.assertRaises(readme.Trouble) as caught:
            self.renewed("A\n<!-- quoted: examples/absent.cpp -->\n```cpp\n```")
        self.assertEqual((caught.exception.line, str(caught.exception)), (4, "there is no examples/absent.cpp to quote"))

    def test_a_block_that_nothing_checks_is_an_error(self):
        for block in ("```\nstep 3\n```", "```cpp\nint main() {}\n```", "```console\noutput\n```", "```sh\n./dev tset\n```", "```console\n$ true"):
            with self.assertRaises(readme.Trouble, msg=block):
                self.renewed(block)


class Pages(unittest.TestCase):
    def run_pages(self, texts, check=True):
        """What is said of the pages, and what they are then."""
        with tempfile.TemporaryDirectory() as directory, tempfile.TemporaryDirectory() as kept:
            preparations = readme.Preparations(kept, pathlib.Path("/bin/false"))
            files = [pathlib.Path(directory, f"page{i}.md") for i in range(len(texts))]
            said = io.StringIO()
            for file, text in zip(files, texts):
                file.write_text(text)
                with contextlib.redirect_stdout(said):
                    readme.run_page(file, pathlib.Path("/bin/false"), preparations, check)
            return said.getvalue().replace(directory + "/", ""), [file.read_text() for file in files], len(preparations.made)

    def test_what_is_wrong_is_said_with_page_and_line(self):
        said, after, _ = self.run_pages(["```console\n$ echo one\ntwo\n```", "\n```console\n$ false\n```"])
        self.assertIn("page0.md:2: `echo one` prints something else:", said)
        self.assertIn("page1.md:3: `false` exits with 1", said)
        self.assertIn("two", after[0])

    def test_a_page_is_renewed_unless_it_cannot_be_run_to_its_end(self):
        stuck = "```console\n$ echo one\ntwo\n$ false\n```"
        _, after, _ = self.run_pages(["```console\n$ echo one\ntwo\n```", stuck], check=False)
        self.assertEqual(after, ["```console\n$ echo one\none\n```", stuck])

    def test_a_page_sees_nothing_of_another_one(self):
        said, _, _ = self.run_pages(["```console\n$ touch file\n```", "```console\n$ cat file\n```"])
        self.assertIn("page1.md:2: `cat file` exits with 1", said)

    def test_pages_that_begin_alike_share_one_run_and_get_a_copy_each(self):
        begin = "<!-- before: mkdir run && date +%N >run/at -->\n<!-- before: echo more >>run/at -->\n"
        spoil = begin + "```console\n$ tail -n 1 run/at\nmore\n$ echo spoilt >run/at\n```"
        said, _, made = self.run_pages([spoil, spoil, "<!-- before: true -->\n```console\n$ ls -d run || true\n```"])
        self.assertEqual(made, 2)
        self.assertNotIn("page0.md", said)
        self.assertNotIn("page1.md", said)
        self.assertIn("page2.md:3: `ls -d run || true` prints something else", said)

    def test_the_readme_and_the_guide_are_the_pages(self):
        names = [str(page.relative_to(readme.ROOT)) for page in readme.pages()]
        self.assertEqual(names[0], "README.md")
        self.assertIn("docs/guide/hooks.md", names)


if __name__ == "__main__":
    unittest.main()
