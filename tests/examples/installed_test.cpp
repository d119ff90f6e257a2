// The files that `meson install` installs suffice for a separate project, which finds them by pkg-config.
#include "tests/examples/example_program.hpp"
#include "tests/support/has.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

TEST_CASE("the installed program finds its library, and a project outside of this one finds it by pkg-config, builds against it and runs") {
  temporary_directory directory;
  const auto root = directory / "root", build = directory / "build";
  const auto run = [](std::vector<std::string> command, const std::map<std::string, std::string>& more = {}) {
    example_program program{std::move(command), more};
    const int status = program.finish();
    REQUIRE_MESSAGE(status == 0, program.text());
    return program.text();
  };
  run({"meson", "install", "-C", TROUPE_BUILD_ROOT, "--no-rebuild", "--quiet", "--destdir", root});
  // The program looks for its library beside itself, wherever the prefix was moved to.
  const auto version = run({root + TROUPE_BINDIR "/troupe", "--version"}, {{"LD_LIBRARY_PATH", ""}});
  CHECK(has(version, TROUPE_VERSION));
  // Nothing but the installed files can be found: not this build's library, not its headers.
  const std::map<std::string, std::string> there{{"PKG_CONFIG_PATH", root + TROUPE_LIBDIR "/pkgconfig"},
                                                 {"PKG_CONFIG_SYSROOT_DIR", root},
                                                 {"LD_LIBRARY_PATH", root + TROUPE_LIBDIR}};
  run({"meson", "setup", build, TROUPE_SOURCE_ROOT "/examples/installed"}, there);
  run({"ninja", "-C", build}, there);
  const auto said = run({build + "/installed"}, there);
  CHECK(has(said, "finished at step 50, 50 steps"));
}

}  // namespace troupe::test
