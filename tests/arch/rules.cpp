#include "tests/arch/rules.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <regex>
#include <set>

namespace troupe::arch {

namespace {

constexpr size_t lines_max = 400;

/// The arrows: what each folder may include from, beside itself.
const std::map<std::string, std::set<std::string>>& arrows() {
  static const std::set<std::string> below_pipeline{"include",  "words",    "compute", "storage",
                                                    "messages", "ensemble", "actors"};
  static const std::map<std::string, std::set<std::string>> table = [] {
    std::map<std::string, std::set<std::string>> t{
        {"include", {}},
        {"words", {"include"}},
        {"compute", {"include", "words"}},
        {"storage", {"include"}},
        {"messages", {"include"}},
        {"ensemble", {"include", "compute"}},
        {"actors", {"include", "words", "messages", "compute", "storage", "ensemble"}},
        {"pipeline", below_pipeline},
        {"estimator", below_pipeline},
        {"cli", {"include"}},
        {"examples", {"include"}},
    };
    t["estimator"].insert("pipeline");
    return t;
  }();
  return table;
}

/// The folder that an include points into: "include" for <troupe/...>, empty for what is not ours.
std::string folder_of(const include_line& i) {
  if (i.target.starts_with("troupe/"))
    return "include";
  return i.quoted ? i.target.substr(0, i.target.find('/')) : "";
}

/// Lines whose code without literals matches, in files that `applies` to.
violations matching(const source_files& files, const std::regex& pattern,
                    const std::function<bool(const source_file&)>& applies) {
  violations found;
  std::smatch match;
  for (const auto& file : files)
    if (applies(file))
      for (const auto& line : file.lines)
        if (std::regex_search(line.bare, match, pattern))
          found.push_back({file.path, line.number, "'" + match.str() + "'"});
  return found;
}

/// Lines that include something of which `target` begins with one of the prefixes.
violations including(const source_files& files, const std::vector<std::string>& prefixes,
                     const std::function<bool(const source_file&)>& applies) {
  violations found;
  for (const auto& file : files)
    if (applies(file))
      for (const auto& i : includes(file))
        for (const auto& prefix : prefixes)
          if (i.target.starts_with(prefix))
            found.push_back({file.path, i.number, "<" + i.target + ">"});
  return found;
}

/// Both, each line once.
violations operator+(violations a, const violations& b) {
  for (const auto& v : b)
    if (std::none_of(a.begin(), a.end(), [&v](const violation& w) { return w.path == v.path && w.line == v.line; }))
      a.push_back(v);
  return a;
}

bool public_header(const source_file& file) { return file.under("include"); }

}  // namespace

violations includes_against_the_arrows(const source_files& files) {
  violations found;
  for (const auto& file : files) {
    if (file.under("tests"))
      continue;
    const auto row = arrows().find(file.folder());
    if (row == arrows().end()) {
      found.push_back({file.path, 1, "the folder " + file.folder() + "/ is not in the table of the arrows"});
      continue;
    }
    for (const auto& i : includes(file)) {
      const std::string target = folder_of(i);
      if (target.empty() || target == row->first || row->second.contains(target))
        continue;
      const bool ours = arrows().contains(target) || target == "tests";
      found.push_back({file.path, i.number,
                       ours ? row->first + "/ may not know " + target + "/ (" + i.target + ")"
                            : "\"" + i.target + "\" is not named by its folder"});
    }
  }
  return found;
}

violations caf_outside_its_folders(const source_files& files) {
  const auto applies = [](const source_file& f) {
    const bool launches = f.under("pipeline") && !f.under("pipeline/input") && !f.path.starts_with("pipeline/plan.");
    static const std::set<std::string> for_caf_programs{"include/troupe/caf.hpp", "estimator/caf.cpp", "examples/inside_caf.cpp"};
    return !f.under("messages") && !f.under("actors") && !launches && !for_caf_programs.contains(f.path) && !f.under("tests");
  };
  static const std::regex name{R"(\bcaf::)"};
  return including(files, {"caf/"}, applies) + matching(files, name, applies);
}

violations foreign_types_in_public_headers(const source_files& files) {
  const auto but = [](const std::string& name) {
    return [path = "include/troupe/" + name](const source_file& f) { return public_header(f) && f.path != path; };
  };
  static const std::regex protobuf{R"(\bgoogle::protobuf\b|\.pb\.h)"};
  static const std::regex caf{R"(\bcaf::|\bCAF_\w+)"};
  static const std::regex eigen{R"(\bEigen\b)"};
  violations found = including(files, {"google/protobuf"}, public_header) + matching(files, protobuf, public_header);
  found = found + including(files, {"caf/"}, but("caf.hpp")) + matching(files, caf, but("caf.hpp"));
  found = found + including(files, {"Eigen/", "unsupported/Eigen"}, but("eigen.hpp"))
          + matching(files, eigen, but("eigen.hpp"));
  for (const auto& file : files)
    if (public_header(file))
      for (const auto& i : includes(file))
        if (i.target.ends_with(".pb.h"))
          found.push_back({file.path, i.number, i.target});
  return found;
}

violations file_access_outside_storage(const source_files& files) {
  // words/buffer.cpp maps memory, and no file.
  const auto applies = [](const source_file& f) { return !f.under("storage") && !f.under("tests") && f.path != "words/buffer.cpp"; };
  // A call of the C library has no object or namespace of ours before it: `store->open(` and `dataset::open(` are others.
  static const std::regex call{
      R"((^|[^\w.>:]|[^\w]::|\bstd::)(fopen|freopen|tmpfile|opendir|openat|creat|mkdir|mkdtemp|mkstemp|unlink|rmdir|truncate|fsync|flock|mmap)\s*\()"
      R"(|(^|[^\w:])::(open|rename|remove|stat|read|write|close)\s*\(|\bstd::rename\s*\(|\bstd::remove\s*\([^,()]*(\(\))?\))"
      R"(|\bstd::(basic_)?(i|o|)f(ile)?stream\b|\b(i|o)fstream\b|\bstd::filesystem\b|\btoml::parse_file\b)"};
  return including(files, {"fstream", "filesystem", "fcntl.h", "dirent.h", "sys/stat.h", "sys/mman.h", "sys/file.h"},
                   applies)
         + matching(files, call, applies);
}

violations clocks_and_chance(const source_files& files) {
  static const std::set<std::string> folders{"words", "compute", "messages", "ensemble", "actors"};
  const auto applies = [](const source_file& f) { return folders.contains(f.folder()); };
  static const std::regex word{
      R"(\w*_clock::now\b|\bclock_gettime\b|\bgettimeofday\b|(^|[^\w.>:]|\bstd::)time\s*\(\s*(nullptr|NULL|0|&|\)))"
      R"(|\bthis_thread::sleep|\bu?n?a?n?o?sleep\s*\()"
      R"(|\brandom_device\b|\bmt19937\w*|\bdefault_random_engine\b|\bminstd_rand\w*|(^|[^\w.>:]|\bstd::)s?rand\s*\(|\b[dlm]rand48\b|\bgetrandom\b)"};
  return including(files, {"random", "sys/random.h"}, applies) + matching(files, word, applies);
}

violations long_files(const source_files& files) {
  violations found;
  for (const auto& file : files)
    if (file.lines.size() > lines_max)
      found.push_back({file.path, static_cast<int>(lines_max) + 1, std::to_string(file.lines.size()) + " lines"});
  return found;
}

violations unlisted_public_headers(const source_files& files, const std::string& meson_build) {
  violations found;
  for (const auto& file : files)
    if (public_header(file)
        && meson_build.find("'" + file.path.substr(std::string{"include/troupe/"}.size()) + "'") == std::string::npos)
      found.push_back({file.path, 1, "not in include/meson.build"});
  return found;
}

}  // namespace troupe::arch
