// The files that `meson install` installs suffice for another project, which finds them with pkg-config or CMake.
#include "tests/examples/example_program.hpp"
#include "tests/support/has.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <fstream>

namespace troupe::test {

namespace {

using variables = std::map<std::string, std::string>;

std::string run(std::vector<std::string> command, const variables& more = {}) {
  example_program program{std::move(command), more};
  const int status = program.finish();
  REQUIRE_MESSAGE(status == 0, program.text());
  return program.text();
}

/// Installs the files below a directory of their own.
struct installation {
  installation() { run({"meson", "install", "-C", TROUPE_BUILD_ROOT, "--no-rebuild", "--quiet", "--destdir", root}); }

  temporary_directory directory = {};
  std::string root = directory / "root";
  std::string build = directory / "build";
};

}  // namespace

TEST_CASE_FIXTURE(
    installation,
    "the installed program finds its library, and another project finds it by pkg-config, builds against it and runs") {
  // The program finds its library relative to itself, wherever the prefix was moved.
  const auto version = run({root + TROUPE_BINDIR "/troupe", "--version"}, {{"LD_LIBRARY_PATH", ""}});
  CHECK(has(version, TROUPE_VERSION));
  // Only the installed files can be found, not this build's library and headers.
  const variables there{{"PKG_CONFIG_PATH", root + TROUPE_LIBDIR "/pkgconfig"},
                        {"PKG_CONFIG_SYSROOT_DIR", root},
                        {"LD_LIBRARY_PATH", root + TROUPE_LIBDIR}};
  run({"meson", "setup", build, TROUPE_SOURCE_ROOT "/examples/installed"}, there);
  run({"ninja", "-C", build}, there);
  CHECK(has(run({build + "/installed"}, there), "finished at step 50, 50 steps"));
}

TEST_CASE_FIXTURE(
    installation,
    "a project of CMake finds the installed library, of the version that it asks for, builds against it and runs") {
  const std::string prefix = "-DCMAKE_PREFIX_PATH=" + root + TROUPE_PREFIX;
  run({"cmake", "-B", build, "-S", TROUPE_SOURCE_ROOT "/examples/installed", prefix, "-DCMAKE_BUILD_TYPE=Debug"});
  run({"cmake", "--build", build});
  CHECK(has(run({build + "/installed"}), "finished at step 50, 50 steps"));

  const auto asking_for = [&](const std::string& version) {
    const std::string other = directory / ("asks-for-" + version);
    std::filesystem::create_directory(other);
    std::ofstream{other + "/CMakeLists.txt"}
        << "cmake_minimum_required(VERSION 3.16)\nproject(asks LANGUAGES CXX)\nfind_package(Troupe " << version
        << " REQUIRED)\nmessage(\"found ${Troupe_VERSION}\")\n";
    example_program program{{"cmake", "-B", other + "/build", "-S", other, prefix}};
    program.finish();
    return program.text();
  };
  CHECK(has(asking_for(TROUPE_VERSION), "found " TROUPE_VERSION));
  // CMake names the version that it found and refused.
  CHECK(has(asking_for("99.0"), "version: " TROUPE_VERSION));
}

}  // namespace troupe::test
