#include "tests/arch/rules.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

namespace troupe::arch {

using test::has;

namespace {

const source_files& tree() {
  static const source_files files = read_tree(TROUPE_SOURCE_ROOT);
  return files;
}

std::string read(const std::string& path) {
  std::ifstream in{TROUPE_SOURCE_ROOT "/" + path};
  return {std::istreambuf_iterator<char>{in}, {}};
}

/// The documents in the root, in docs/ and in docs/guide/, as paths from the root.
std::set<std::string> documents() {
  std::set<std::string> found;
  for (const std::string folder : {"", "docs/", "docs/guide/"})
    for (const auto& entry : std::filesystem::directory_iterator{TROUPE_SOURCE_ROOT "/" + folder})
      if (entry.path().extension() == ".md")
        found.insert(folder + entry.path().filename().string());
  return found;
}

std::string to_text(const violations& found) {
  std::string text;
  for (const auto& v : found)
    text += "\n  " + v.path + ":" + std::to_string(v.line) + ": " + v.text;
  return text;
}

#define CHECK_NONE(found, rule) CHECK_MESSAGE((found).empty(), rule, to_text(found))

/// The numbers of the lines of one planted file that break `rule`, as "1 2 5".
std::string lines_found(violations (*rule)(const source_files&), const std::string& path, const std::string& text) {
  std::set<int> lines;
  for (const auto& v : rule({parse(path, text)}))
    lines.insert(v.line);
  std::string found;
  for (int line : lines)
    found += (found.empty() ? "" : " ") + std::to_string(line);
  return found;
}

}  // namespace

TEST_CASE("the rules see the whole tree") {
  CHECK(tree().size() > 20);
  CHECK(std::any_of(tree().begin(), tree().end(),
                    [](const auto& f) { return f.path == "include/troupe/error.hpp" && f.lines.size() > 10; }));
}

TEST_CASE("no folder includes against the arrows") {
  CHECK_NONE(includes_against_the_arrows(tree()), "a folder includes only what docs/ARCHITECTURE.md lets it know");
}

TEST_CASE("no folder reaches against the arrows by way of a header") {
  CHECK_NONE(reached_against_the_arrows(tree()), "what a header includes is included by all that include it");
}

TEST_CASE("the front door and all without actors are compiled without CAF") {
  CHECK_NONE(caf_reached_from_the_front_door(tree()),
             "only messages/, actors/, pipeline/launch/ and estimator/caf.cpp pay for CAF's headers");
}

TEST_CASE("CAF stays in messages/, actors/, the launcher and <troupe/caf.hpp>") {
  CHECK_NONE(caf_outside_its_folders(tree()), "CAF is for messages/, actors/ and the launcher in pipeline/");
}

TEST_CASE("public headers mention no protobuf, and CAF and Eigen in one header each") {
  CHECK_NONE(foreign_types_in_public_headers(tree()), "a public header brings no foreign types into a service");
}

TEST_CASE("every public header is installed") {
  CHECK_NONE(unlisted_public_headers(tree(), read("include/meson.build")),
             "include/meson.build lists every public header");
}

TEST_CASE("a public header says whether one reads it to begin with, and those are at most 1,900 lines") {
  CHECK_NONE(headers_of_unknown_use(tree()),
             "the second or third line of a public header says whether a beginner needs it");
  CHECK(lines_to_begin_with(tree()) > 1000);
  CHECK(lines_to_begin_with(tree()) <= 1900);
}

TEST_CASE("only storage/ touches files") {
  CHECK_NONE(file_access_outside_storage(tree()), "file access goes through storage/files/file_system.hpp");
}

TEST_CASE("no clock and no chance below pipeline/") {
  CHECK_NONE(clocks_and_chance(tree()), "time comes from the actor clock, randomness from keys");
}

TEST_CASE("no file has more than 400 lines") {
  CHECK_NONE(long_files(tree()), "a file that passes 400 lines is divided");
}

TEST_CASE("no line is wider than .clang-format says") {
  const int columns = column_limit(read(".clang-format"));
  REQUIRE(columns >= 80);
  CHECK_NONE(wide_lines(tree(), columns), "a line has at most as many columns as .clang-format says");
}

TEST_CASE("no comment names a document that is not in the tree") {
  REQUIRE(documents().contains("docs/ARCHITECTURE.md"));
  CHECK_NONE(missing_documents(tree(), documents()), "a comment gives the reason itself, or names a document in docs/");
}

TEST_CASE("a planted violation is found on its line, and what only looks like one is not") {
  SUBCASE("arrows") {
    const std::string text =
        "#include <troupe/error.hpp>\n#include \"compute/program/program.hpp\"\n#include \"program.hpp\"\n#include "
        "<vector>\n";
    CHECK(lines_found(includes_against_the_arrows, "storage/files/x.cpp", text) == "2 3");
    CHECK(lines_found(includes_against_the_arrows, "cli/commands/x.cpp", text) == "2 3");
    CHECK(lines_found(includes_against_the_arrows, "actors/x.cpp", text) == "3");
    CHECK(lines_found(includes_against_the_arrows, "tests/x.cpp", text) == "");
    CHECK(lines_found(includes_against_the_arrows, "attic/x.cpp", "int i;\n") == "1");
    CHECK(lines_found(includes_against_the_arrows, "compute/x.cpp", "#include \"tests/support/a.hpp\"\n") == "1");
  }
  SUBCASE("arrows between rooms") {
    const std::string text =
        "#include \"compute/kernels/simd.hpp\"\n#include \"compute/program/program.hpp\"\n#include "
        "\"compute/operations/walk.hpp\"\n";
    CHECK(lines_found(includes_against_the_arrows, "compute/operations/rows/x.cpp", text) == "2");
    CHECK(lines_found(includes_against_the_arrows, "compute/graph/x.cpp", text) == "1 2 3");
    CHECK(lines_found(includes_against_the_arrows, "actors/steps/x.cpp", text) == "");
    CHECK(lines_found(includes_against_the_arrows, "models/x.cpp", text) == "");
    CHECK(lines_found(includes_against_the_arrows, "actors/steps/x.cpp",
                      "#include \"actors/chief/chief.hpp\"\n#include \"actors/agents.hpp\"\n")
          == "1 2");
    CHECK(lines_found(includes_against_the_arrows, "inspection/x.cpp",
                      "#include \"pipeline/plan/jobs.hpp\"\n#include \"pipeline/launch/launcher.hpp\"\n")
          == "2");
  }
  SUBCASE("through headers") {
    const source_files chain{parse("models/a.cpp", "#include \"compute/graph/b.hpp\"\n"),
                             parse("compute/graph/b.hpp", "#include \"storage/files/c.hpp\"\n"),
                             parse("storage/files/c.hpp", "#include <caf/actor.hpp>\n")};
    const auto reached = reached_against_the_arrows(chain);
    REQUIRE(reached.size() == 1);
    CHECK(reached[0].path == "models/a.cpp");
    CHECK(reached[0].text
          == "models/ may not know storage/files/, which it reaches by compute/graph/b.hpp > storage/files/c.hpp");
    const auto caf = caf_reached_from_the_front_door(chain);
    REQUIRE(caf.size() == 3);
    CHECK(caf[0].text == "reaches <caf/actor.hpp> by compute/graph/b.hpp > storage/files/c.hpp > caf/actor.hpp");
  }
  SUBCASE("headers to begin with") {
    const auto troupe = parse("include/troupe/troupe.hpp", "#include <troupe/a.hpp>\n");
    const auto found = headers_of_unknown_use(
        {troupe, parse("include/troupe/a.hpp", "// A.\n// Read it to begin with.\n"),
         parse("include/troupe/b.hpp", "// B.\n// Read it to begin with.\n"),
         parse("include/troupe/c.hpp", "// C.\n//\n//\n// Not needed to begin with.\n"),
         parse("include/troupe/d.hpp", "// D.\n// Not needed to begin with.\n"), parse("words/e.hpp", "// E.\n")});
    REQUIRE(found.size() == 2);
    CHECK(found[0].path == "include/troupe/b.hpp");
    CHECK(found[1].path == "include/troupe/c.hpp");
  }
  SUBCASE("CAF") {
    const std::string text = "// caf::actor\n#include <caf/all.hpp>\ncaf::actor a;\nauto s = \"caf::actor\";\n";
    CHECK(lines_found(caf_outside_its_folders, "compute/x.cpp", text) == "2 3");
    CHECK(lines_found(caf_outside_its_folders, "input/x.cpp", text) == "2 3");
    CHECK(lines_found(caf_outside_its_folders, "pipeline/launch/launch.cpp", text) == "");
    CHECK(lines_found(caf_outside_its_folders, "include/troupe/caf.hpp", text) == "");
    CHECK(lines_found(caf_outside_its_folders, "estimator/caf.cpp", text) == "");
    CHECK(lines_found(caf_outside_its_folders, "estimator/job.cpp", text) == "2 3");
  }
  SUBCASE("public headers") {
    CHECK(lines_found(foreign_types_in_public_headers, "include/troupe/x.hpp",
                      "#include <Eigen/Core>\n#include \"storage/event.pb.h\"\ncaf::actor a;\n/* Eigen */ "
                      "google::protobuf::Message m;\n")
          == "1 2 3 4");
    const std::string logs = "#include <spdlog/logger.h>\nspdlog::logger* log;\n";
    CHECK(lines_found(foreign_types_in_public_headers, "include/troupe/job.hpp", logs) == "1 2");
    CHECK(lines_found(foreign_types_in_public_headers, "include/troupe/spdlog.hpp", logs) == "");
  }
  SUBCASE("files") {
    CHECK(lines_found(file_access_outside_storage, "pipeline/x.cpp",
                      "#include <fstream>\nstd::ifstream in;\nauto f = fopen(p, \"r\");\nint d = ::open(p, 0);\n"
                      "std::filesystem::path q;\nauto t = toml::parse_file(p);\nstd::remove(p);\n")
          == "1 2 3 4 5 6 7");
    CHECK(lines_found(file_access_outside_storage, "pipeline/x.cpp",
                      "auto s = checkpoint_store::open(fs, d);\nfs->open(p);\nfs.rename(a, b);\n// "
                      "std::ifstream\nlog(\"fopen(\");\n"
                      "v.erase(std::remove(v.begin(), v.end(), 1));\nfs->unlink(p);\n")
          == "");
    CHECK(lines_found(file_access_outside_storage, "storage/files/x.cpp", "std::ifstream in;\n") == "");
    CHECK(lines_found(file_access_outside_storage, "words/x.cpp",
                      "#include <sys/mman.h>\nauto p = ::mmap(q, n, r, f, -1, 0);\n")
          == "1 2");
    CHECK(lines_found(file_access_outside_storage, "words/buffer.cpp",
                      "#include <sys/mman.h>\nauto p = ::mmap(q, n, r, f, -1, 0);\n")
          == "");
  }
  SUBCASE("clocks and chance") {
    CHECK(
        lines_found(clocks_and_chance, "actors/x.cpp",
                    "auto t = std::chrono::steady_clock::now();\nint r = rand();\n#include <random>\nstd::mt19937 g;\n"
                    "std::this_thread::sleep_for(d);\nauto n = time(nullptr);\n")
        == "1 2 3 4 5 6");
    CHECK(lines_found(clocks_and_chance, "actors/x.cpp",
                      "auto t = self->clock().now();\nauto o = operand(x);\n// rand()\nreport.time(0);\n")
          == "");
    CHECK(lines_found(clocks_and_chance, "pipeline/x.cpp", "auto t = std::chrono::steady_clock::now();\n") == "");
  }
  SUBCASE("length") {
    CHECK(lines_found(long_files, "compute/x.cpp", std::string(400, '\n')) == "");
    CHECK(lines_found(long_files, "compute/x.cpp", std::string(401, '\n')) == "401");
  }
  SUBCASE("width") {
    const auto ten = [](const source_files& files) { return wide_lines(files, 10); };
    CHECK(lines_found(ten, "words/x.cpp", "0123456789\n01234567890\n// ÄÖÜ ä ö\n// ÄÖÜ ä ö ü\n  \"45678\";\n")
          == "2 4");
    CHECK(column_limit("BasedOnStyle: Google\nColumnLimit: 90\nTabWidth: 8\n") == 90);
    CHECK(column_limit("# ColumnLimit: 90\n") == 0);
  }
  SUBCASE("documents") {
    const auto one = [](const source_files& files) { return missing_documents(files, {"docs/a.md", "README.md"}); };
    CHECK(lines_found(
              one, "words/x.cpp",
              "// a.md, docs/a.md: 2.\nint i;  // b.md 3.2\n/* docs/README.md */\n// README.md.\nauto s = \"c.md\";\n")
          == "2 3");
  }
  SUBCASE("headers that are not installed") {
    const source_files files{parse("include/troupe/x.hpp", "#pragma once\n")};
    CHECK(unlisted_public_headers(files, "  'y.hpp',\n").size() == 1);
    CHECK(unlisted_public_headers(files, "  'x.hpp',\n").empty());
  }
  SUBCASE("comments and literals") {
    const auto file = parse("x.cpp", "a /* b\n c */ d; // e\nf(\"// g\", '\"', 1'000); // h\nR\"(/* i\n)\" j\n");
    REQUIRE(file.lines.size() == 5);
    CHECK(has(file.lines[1].code, "d;"));
    CHECK(file.lines[1].code.find('e') == std::string::npos);
    CHECK(has(file.lines[2].code, "// g"));
    CHECK(file.lines[2].bare.find('g') == std::string::npos);
    CHECK(has(file.lines[2].bare, "1'000"));
    CHECK(file.lines[2].code.find('h') == std::string::npos);
    CHECK(file.lines[4].code.find('j') != std::string::npos);
  }
}

}  // namespace troupe::arch
