"""Record files against Python's own gzip and zlib; ./dev interop has packages of others read them. Usage: record_file_test.py PROGRAM"""
import gzip
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zlib

PROGRAM = sys.argv.pop()


def run(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], text=True, capture_output=True, timeout=60)


class RecordFile(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.plain = self.path("plain")
        self.assertEqual(run("write", self.plain).returncode, 0)

    def path(self, name):
        return pathlib.Path(self.directory.name) / name

    def test_what_is_shown_is_what_was_written(self):
        lines = run("show", self.plain).stdout.splitlines()
        self.assertEqual(len(lines), 1005)
        self.assertEqual(lines[0], f"number=int64[-5,25] root=float[2.23606801] text=bytes[{b'record -5'.hex()},00ff] ")
        self.assertEqual(lines[-1].split()[0], "number=int64[999,998001]")

    def test_gzip_and_zlib_of_python_find_the_plain_file_in_compressed_ones(self):
        for how, decompress in (("gzip", gzip.decompress), ("zlib", zlib.decompress)):
            self.assertEqual(run("write", self.path(how), how).returncode, 0)
            self.assertEqual(decompress(self.path(how).read_bytes()), self.plain.read_bytes())

    def test_files_that_python_compressed_are_read(self):
        wanted = run("show", self.plain).stdout
        for how, compress in (("gzip", gzip.compress), ("zlib", zlib.compress)):
            self.path(how).write_bytes(compress(self.plain.read_bytes()))
            self.assertEqual(run("show", self.path(how), how).stdout, wanted)

    def test_a_damaged_file_is_shown_up_to_the_damage_and_misuse_exits_with_2(self):
        self.path("cut").write_bytes(self.plain.read_bytes()[:-1])
        cut = run("show", self.path("cut"))
        self.assertEqual((cut.returncode, len(cut.stdout.splitlines())), (1, 1004))
        self.assertIn("cut", cut.stderr)
        for arguments in ((), ("show",), ("show", self.plain, "bzip2"), ("read", self.plain)):
            self.assertEqual(run(*arguments).returncode, 2)


if __name__ == "__main__":
    unittest.main()
