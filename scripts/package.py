#!/usr/bin/env python3
"""Makes Debian packages of a build directory: libtroupe0, libtroupe-dev and troupe.

Usage: package.py BUILD DIRECTORY      (./dev package builds build/release first)

What `meson install` installs is divided by the rules of PLACES and moved to /usr, whatever the prefix of the build is; a file for which
there is no rule is an error. No other tool of packaging than dpkg-deb is needed. The packages depend on the packages of the libraries
that were linked, from the version on that is installed here.
"""
import argparse
import gzip
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
MAINTAINER = "The Troupe authors"

# What is installed, by its path below the prefix: the package that it goes to, and where to if not to the same place in /usr. The first
# rule that matches counts. LIBDIR stands for the directory of libraries.
PLACES = [
    (r"LIBDIR/libtroupe\.so\..*", "libtroupe0", None),
    (r"LIBDIR/troupe/.*\.so", "libtroupe0", None),
    (r"LIBDIR/libtroupe\.so", "libtroupe-dev", None),
    (r"LIBDIR/(pkgconfig|cmake)/.*", "libtroupe-dev", None),
    (r"include/troupe/.*", "libtroupe-dev", None),
    (r"bin/troupe", "troupe", None),
    (r"share/man/.*", "troupe", None),
    (r"share/bash-completion/.*", "troupe", None),
    (r"share/fish/.*", "troupe", None),
    (r"share/zsh/site-functions/(.*)", "troupe", r"share/zsh/vendor-completions/\1"),  # Where Debian's zsh looks for those of packages.
]

PACKAGES = {
    "libtroupe0": {
        "Section": "libs",
        "Multi-Arch": "same",
        "Description": ("training, evaluation and serving of models as actors",
                        "The shared library, with the module that answers HTTP."),
    },
    "libtroupe-dev": {
        "Section": "libdevel",
        "Depends": "libtroupe0 (= VERSION), libexpected-dev",
        "Suggests": "libcaf-dev, libspdlog-dev, pkg-config, cmake",
        "Description": ("training, evaluation and serving of models as actors: development",
                        "The C++20 headers, with files for pkg-config and CMake."),
    },
    "troupe": {
        "Section": "science",
        "Depends": "libtroupe0 (= VERSION)",
        "Description": ("training, evaluation and serving of models as actors: program",
                        "The program troupe, with its manual page and completions for bash, zsh and fish."),
    },
}


class Trouble(Exception):
    pass


def output(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise Trouble(f"{' '.join(map(str, command))} failed:\n{done.stderr or done.stdout}")
    return done.stdout


def build_options(build):
    return {option["name"]: option["value"] for option in json.loads(output("meson", "introspect", "--buildoptions", build))}


def place_of(path, libdir):
    """Package and path in it of a path below the prefix."""
    for pattern, package, there in PLACES:
        match = re.fullmatch(pattern.replace("LIBDIR", re.escape(libdir)), path)
        if match:
            return package, match.expand(there) if there else path
    raise Trouble(f"{path} is installed, and PLACES has no package for it")


def divide(installed, prefix, libdir, into):
    """Copies the installed files into a tree for each package."""
    root = installed / prefix.lstrip("/")
    for path in sorted(p for p in installed.rglob("*") if p.is_symlink() or not p.is_dir()):
        if root not in path.parents:
            raise Trouble(f"/{path.relative_to(installed)} is installed outside of the prefix {prefix}")
        package, there = place_of(path.relative_to(root).as_posix(), libdir)
        target = into / package / "usr" / there
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target, follow_symlinks=False)
        if target.suffix == ".pc":
            target.write_text(re.sub(r"^prefix=.*$", "prefix=/usr", target.read_text(), flags=re.MULTILINE))
        if "/man/" in f"/{there}":
            target.with_name(target.name + ".gz").write_bytes(gzip.compress(target.read_bytes(), mtime=0))
            target.unlink()


def is_elf(path):
    return path.is_file() and not path.is_symlink() and path.read_bytes()[:4] == b"\x7fELF"


def strip(path):
    if shutil.which("strip"):
        output("strip", "--strip-unneeded", "--remove-section=.comment", path)


def owner_of(library):
    """The package of a library's file, which dpkg may know by its path before or after /usr was merged."""
    real = os.path.realpath(library)
    for path in (library, real, real.removeprefix("/usr"), "/usr" + real):
        done = subprocess.run(["dpkg-query", "-S", path], capture_output=True, text=True)
        if done.returncode == 0:
            return done.stdout.split(":")[0]
    raise Trouble(f"{library} belongs to no package")


def libraries_of(binaries):
    """Packages, with their least versions, of the libraries that the binaries name."""
    found = {}
    for binary in binaries:
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-d", binary))
        paths = dict(re.findall(r"^\s*(\S+) => (/\S+)", output("ldd", binary), flags=re.MULTILINE))
        for name in needed:
            if name.startswith("libtroupe.") or name.startswith("ld-linux"):
                continue
            if name not in paths:
                raise Trouble(f"{binary.name} needs {name}, which is not installed")
            package = owner_of(paths[name])
            version = output("dpkg-query", "-W", "-f=${Version}", package)
            found[package] = version.rsplit("-", 1)[0]
    return [f"{package} (>= {version})" for package, version in sorted(found.items())]


def write_control(tree, package, version, architecture, libraries, cpu):
    fields = dict(PACKAGES[package])
    short, long = fields.pop("Description")
    depends = [d.replace("VERSION", version) for d in fields.pop("Depends", "").split(", ") if d] + libraries
    size = sum(p.lstat().st_size for p in tree.rglob("*") if not p.is_dir())
    control = {"Package": package, "Source": "troupe", "Version": version, "Architecture": architecture, "Maintainer": MAINTAINER,
               "Installed-Size": str((size + 1023) // 1024), "Priority": "optional", **fields}
    if depends:
        control["Depends"] = ", ".join(depends)
    if cpu == "v3" and package != "libtroupe-dev":
        long += "\n It is compiled for x86-64-v3 and needs a processor with AVX2 and FMA."
    control["Description"] = f"{short}\n {long}"
    (tree / "DEBIAN").mkdir()
    (tree / "DEBIAN/control").write_text("".join(f"{name}: {value}\n" for name, value in control.items()))
    sums = [f"{hashlib.md5(p.read_bytes()).hexdigest()}  {p.relative_to(tree)}\n" for p in sorted((tree / "usr").rglob("*"))
            if p.is_file() and not p.is_symlink()]
    (tree / "DEBIAN/md5sums").write_text("".join(sums))
    if package == "libtroupe0":
        (tree / "DEBIAN/triggers").write_text("activate-noawait ldconfig\n")
    for folder in (tree, tree / "DEBIAN"):
        folder.chmod(0o755)


def make_packages(build, directory):
    """Returns the paths of the packages."""
    options = build_options(build)
    prefix, libdir = options["prefix"], options["libdir"]
    version = json.loads(output("meson", "introspect", "--projectinfo", build))["version"]
    architecture = output("dpkg", "--print-architecture").strip()
    directory.mkdir(parents=True, exist_ok=True)
    made = []
    with tempfile.TemporaryDirectory() as temporary:
        installed, trees = pathlib.Path(temporary, "installed"), pathlib.Path(temporary, "packages")
        output("meson", "install", "-C", build, "--no-rebuild", "--quiet", "--destdir", installed)
        divide(installed, prefix, libdir, trees)
        # ldd finds libtroupe beside the program only as long as it is where it was installed.
        libraries = {package: libraries_of([p for p in sorted((trees / package).rglob("*")) if is_elf(p)]) for package in PACKAGES}
        for package in PACKAGES:
            tree = trees / package
            for path in filter(is_elf, tree.rglob("*")):
                strip(path)
            notice = tree / "usr/share/doc" / package / "copyright"
            notice.parent.mkdir(parents=True)
            shutil.copy(ROOT / "LICENSE", notice)
            for path in tree.rglob("*"):
                if not path.is_symlink():
                    path.chmod(0o755 if path.is_dir() or path.parent.name == "bin" else 0o644)
            write_control(tree, package, version, architecture, libraries[package], options["cpu"])
            made.append(directory / f"{package}_{version}_{architecture}.deb")
            output("dpkg-deb", "--build", "--root-owner-group", "-Zgzip", tree, made[-1])
    return made


def main():
    parser = argparse.ArgumentParser(description="Makes Debian packages of a build directory.")
    parser.add_argument("build", metavar="BUILD", type=pathlib.Path)
    parser.add_argument("directory", metavar="DIRECTORY", type=pathlib.Path)
    arguments = parser.parse_args()
    try:
        for tool in ("dpkg-deb", "readelf"):
            if not shutil.which(tool):
                raise Trouble(f"{tool} is not installed: packages are made on Debian, with binutils")
        for path in make_packages(arguments.build, arguments.directory):
            print(path)
    except Trouble as trouble:
        print(f"package: {trouble}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
