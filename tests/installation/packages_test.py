"""What is in the Debian packages, and that a program builds and runs against their unpacked files."""
import gzip
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import package  # noqa: E402

BUILD = pathlib.Path(sys.argv.pop())


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        made = package.make_packages(BUILD, pathlib.Path(cls.directory.name, "packages"))
        cls.packages = {path.name.split("_")[0]: path for path in made}
        cls.root = pathlib.Path(cls.directory.name, "root")
        for path in made:
            package.output("dpkg-deb", "--extract", path, cls.root)
        options = package.build_options(BUILD)
        cls.libdir = cls.root / "usr" / options["libdir"]

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def field(self, name, field):
        return package.output("dpkg-deb", "--field", self.packages[name], field).strip()

    def files(self, name):
        """Paths, with owner and mode; directories are left out."""
        lines = package.output("dpkg-deb", "--contents", self.packages[name]).splitlines()
        found = [re.fullmatch(r"(\S+) (\S+) +\d+ \S+ \S+ \./(.*?)(?: -> .*)?", line).groups() for line in lines]
        return {path: (mode, owner) for mode, owner, path in found if not mode.startswith("d")}

    def test_there_is_one_for_the_library_one_for_its_headers_and_one_for_the_program(self):
        self.assertEqual(sorted(self.packages), ["libtroupe-dev", "libtroupe0", "troupe"])
        version = package.output("meson", "introspect", "--projectinfo", BUILD)
        for name in self.packages:
            self.assertEqual(self.field(name, "Package"), name)
            self.assertIn(f'"version": "{self.field(name, "Version")}"', version)
            self.assertEqual(self.field(name, "Architecture"), package.output("dpkg", "--print-architecture").strip())
            self.assertTrue(self.field(name, "Description"))

    def test_what_is_installed_is_in_one_of_them_each(self):
        contents = {name: self.files(name) for name in self.packages}
        every = [path for files in contents.values() for path in files]
        self.assertEqual(len(every), len(set(every)))
        library = {pathlib.PurePath(path).name for path in contents["libtroupe0"]}
        self.assertLessEqual({"libtroupe.so.0", "libtroupe_http.so", "copyright"}, library)
        development = {pathlib.PurePath(path).name for path in contents["libtroupe-dev"]}
        headers = {path.name for path in (ROOT / "include/troupe").rglob("*.hpp")}
        self.assertLessEqual(headers | {"libtroupe.so", "troupe.pc", "TroupeConfig.cmake", "TroupeConfigVersion.cmake"}, development)
        self.assertLessEqual({"usr/bin/troupe", "usr/share/man/man1/troupe.1.gz", "usr/share/bash-completion/completions/troupe",
                              "usr/share/zsh/vendor-completions/_troupe", "usr/share/fish/vendor_completions.d/troupe.fish"},
                             set(contents["troupe"]))

    def test_files_belong_to_root_and_only_the_program_is_executable(self):
        for name in self.packages:
            for path, (mode, owner) in self.files(name).items():
                self.assertEqual(owner, "root/root", path)
                expected = "lrwxrwxrwx" if mode.startswith("l") else "-rwxr-xr-x" if path == "usr/bin/troupe" else "-rw-r--r--"
                self.assertEqual(mode, expected, path)

    def test_they_depend_on_each_other_and_on_packages_that_are_installed_here(self):
        version = self.field("libtroupe0", "Version")
        for name in ("libtroupe-dev", "troupe"):
            self.assertIn(f"libtroupe0 (= {version})", self.field(name, "Depends"))
        self.assertIn("libexpected-dev", self.field("libtroupe-dev", "Depends"))
        libraries = self.field("libtroupe0", "Depends")
        for part in ("libc6", "libstdc++6", "libcaf-core", "libbrotli1"):
            self.assertIn(part, libraries)
        for name, least in re.findall(r"(\S+) \(>= (\S+)\)", libraries):
            here = package.output("dpkg-query", "-W", "-f=${Version}", name)
            subprocess.run(["dpkg", "--compare-versions", here, "ge", least], check=True)

    def test_the_sums_are_those_of_the_files(self):
        for name, path in self.packages.items():
            with tempfile.TemporaryDirectory() as control:
                package.output("dpkg-deb", "--control", path, control)
                sums = pathlib.Path(control, "md5sums").read_text()
            done = subprocess.run(["md5sum", "--check", "--strict", "--quiet"], input=sums, text=True, cwd=self.root, capture_output=True)
            self.assertEqual(done.returncode, 0, done.stderr + done.stdout)

    def test_the_program_runs_from_the_unpacked_files_and_has_its_manual_page(self):
        environment = {key: value for key, value in os.environ.items() if key != "LD_LIBRARY_PATH"}
        said = subprocess.run([self.root / "usr/bin/troupe", "--version"], env=environment, check=True, capture_output=True, text=True).stdout
        self.assertEqual(said, f"troupe {self.field('troupe', 'Version')}\n")
        page = gzip.decompress((self.root / "usr/share/man/man1/troupe.1.gz").read_bytes()).decode()
        self.assertTrue(page.startswith(".TH TROUPE 1"))

    def test_a_program_builds_and_runs_against_the_unpacked_files(self):
        environment = {**os.environ, "PKG_CONFIG_PATH": str(self.libdir / "pkgconfig"), "PKG_CONFIG_SYSROOT_DIR": str(self.root),
                       "PKG_CONFIG_ALLOW_SYSTEM_CFLAGS": "1", "PKG_CONFIG_ALLOW_SYSTEM_LIBS": "1"}
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "troupe"], env=environment, check=True, capture_output=True, text=True)
        self.assertIn(f"-I{self.root}/usr/include", flags.stdout)
        program = pathlib.Path(self.directory.name, "program")
        subprocess.run(["g++", "-std=c++20", ROOT / "examples/installed/main.cpp", *flags.stdout.split(), "-o", program], check=True)
        said = subprocess.run([program], env={**os.environ, "LD_LIBRARY_PATH": str(self.libdir)}, check=True, capture_output=True, text=True)
        self.assertIn("finished at step 50, 50 steps", said.stdout + said.stderr)

    def test_a_file_without_a_place_is_an_error_that_names_it(self):
        with self.assertRaisesRegex(package.Trouble, "share/new/thing is installed, and PLACES has no package for it"):
            package.place_of("share/new/thing", "lib")


if __name__ == "__main__":
    if not shutil.which("dpkg-deb"):
        sys.exit("dpkg-deb is missing: it comes with the package dpkg")
    unittest.main()
