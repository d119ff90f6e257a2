#include "tests/arch/rules.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <regex>
#include <set>

namespace troupe::arch {

namespace {

constexpr size_t lines_max = 400;

using rooms = std::set<std::string>;

/// The arrows: for each folder, the folders and subfolders from which its files may include. The name of a folder also
/// stands for its subfolders.
const std::map<std::string, rooms>& arrows() {
  static const rooms public_words{"include", "words"};
  static const auto with = [](const rooms& all, const rooms& more) {
    rooms joined = all;
    joined.insert(more.begin(), more.end());
    return joined;
  };
  static const std::map<std::string, rooms> table = [] {
    std::map<std::string, rooms> t;
    t["include"] = {};
    t["words"] = {"include"};
    t["compute/kernels"] = t["compute/graph"] = public_words;
    t["compute/optimizers"] = with(public_words, {"compute/kernels"});
    t["compute/parameters"] = with(public_words, {"compute/kernels", "compute/graph", "compute/optimizers"});
    t["compute/operations"] = with(public_words, {"compute/kernels", "compute/graph", "compute/parameters"});
    t["compute/nn"] = with(public_words, {"compute/kernels", "compute/graph", "compute/operations"});
    t["compute/planner"] = with(t["compute/operations"], {"compute/operations"});
    t["compute/program"] = with(t["compute/planner"], {"compute/planner", "compute/optimizers"});
    t["compute/engine"] = with(t["compute/program"], {"compute/program"});
    t["models"] = with(public_words, {"compute"});
    t["storage/files"] = public_words;
    t["storage/proto"] = {};
    t["storage/encodings"] = with(public_words, {"storage/files"});
    t["storage/records"] = with(t["storage/encodings"], {"storage/encodings", "storage/proto"});
    t["storage/events"] = with(t["storage/records"], {"storage/records"});
    t["storage/checkpoints"] = with(t["storage/encodings"], {"storage/encodings", "storage/proto"});
    t["storage/predictions"] = with(t["storage/encodings"], {"storage/encodings"});
    t["storage/exports"] = with(t["storage/encodings"], {"storage/encodings"});
    t["storage/runs"] = with(t["storage/encodings"], {"storage/encodings"});
    t["storage/tensorflow"] = t["storage/checkpoints"];
    t["storage/archives"] = with(t["storage/checkpoints"], {"storage/checkpoints", "storage/tensorflow"});
    t["storage/examination"] = with(t["storage/events"],
                                    {"storage/events", "storage/checkpoints", "storage/runs", "storage/tensorflow"});
    t["input/streams"] = with(public_words, {"storage"});
    t["input/stages"] = t["input/sources"] = with(public_words, {"storage", "input/streams"});
    t["input"] = with(public_words, {"storage", "input/streams", "input/stages", "input/sources"});
    t["exports"] = with(public_words, {"compute", "models", "storage", "input"});
    t["plan"] = public_words;
    t["messages"] = with(public_words, {"plan"});
    t["cluster"] = public_words;
    t["ensemble"] = with(public_words, {"compute", "models"});
    const rooms below_actors = with(public_words,
                                    {"plan", "messages", "compute", "storage", "input", "cluster", "ensemble"});
    t["actors/steps"] = t["actors/writers"] = below_actors;
    t["actors"] = with(below_actors, {"actors/steps", "actors/writers"});
    t["actors/follower"] = with(t["actors/chief"] = with(t["actors"], {"actors"}), {"actors/chief"});
    t["pipeline/plan"] = with(below_actors, {"actors", "models"});
    t["pipeline/launch"] = with(t["pipeline/plan"], {"pipeline/plan"});
    t["inspection"] = with(t["exports"], {"exports", "cluster", "ensemble", "pipeline/plan"});
    t["estimator"] = with(below_actors, {"actors", "models", "exports", "pipeline", "inspection"});
    t["serving"] = with(public_words, {"storage"});
    t["modules"] = with(public_words, {"serving"});
    t["cli/configuration"] = {"include"};
    t["cli/reference"] = {"include", "cli/configuration"};
    t["cli/terminal"] = {"include", "cli/configuration"};
    t["cli/commands"] = {"include", "cli/configuration", "cli/reference", "cli/terminal"};
    t["cli"] = {"include", "cli/configuration", "cli/reference", "cli/terminal", "cli/commands"};
    t["examples"] = {"include"};
    return t;
  }();
  return table;
}

/// The innermost folder in the table that contains the path; empty if there is none.
std::string room_of(std::string path) {
  while (path.find('/') != std::string::npos) {
    path.resize(path.rfind('/'));
    if (arrows().contains(path))
      return path;
  }
  return "";
}

bool is_within(const std::string& room, const std::string& outer) {
  return room == outer || room.starts_with(outer + "/");
}

/// Whether files of one folder may include those of another. In the table, the name of a folder includes its
/// subfolders, but in the rows of those subfolders it means only the folder itself.
bool may_know(const std::string& from, const std::string& to) {
  if (from == to)
    return true;
  const auto& known = arrows().at(from);
  return std::any_of(known.begin(), known.end(),
                     [&](const auto& k) { return to == k || (is_within(to, k) && !is_within(from, k)); });
}

/// An included file's path, relative to the root ("include/troupe/error.hpp"). Empty for other libraries' headers.
std::string path_of(const include_line& i) {
  if (i.target.starts_with("troupe/"))
    return "include/" + i.target;
  return i.quoted ? i.target : "";
}

/// The lines whose code, without literals, matches `pattern`, in files for which `applies` is true.
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

/// The lines with an include whose target begins with one of the prefixes.
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

/// The union of both, each line once.
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
    const std::string room = room_of(file.path);
    if (room.empty()) {
      found.push_back({file.path, 1, "the folder " + file.folder() + "/ is not in the table of the arrows"});
      continue;
    }
    for (const auto& i : includes(file)) {
      const std::string path = path_of(i), target = room_of(path);
      if (path.empty() || (!target.empty() && may_know(room, target)))
        continue;
      const bool ours = !target.empty() || path.starts_with("tests/");
      found.push_back({file.path, i.number,
                       ours ? room + "/ may not know " + (target.empty() ? "tests" : target) + "/ (" + i.target + ")"
                            : "\"" + i.target + "\" is not named by its folder"});
    }
  }
  return found;
}

namespace {

/// Finds the headers that a file reaches by its includes, each with the path that leads there: "a.hpp > b.hpp".
class reach {
 public:
  explicit reach(const source_files& files) {
    for (const auto& file : files)
      by_path_[file.path] = &file;
  }
  /// Calls f(include line of `file`, include that reaches the header, path to it) once for each header that `file`
  /// reaches.
  template <class F>
  void each(const source_file& file, F f) const {
    std::set<std::string> seen;
    for (const auto& i : includes(file))
      follow(i, i, "", seen, f);
  }

 private:
  template <class F>
  void follow(const include_line& first, const include_line& i, const std::string& way, std::set<std::string>& seen,
              F f) const {
    if (!seen.insert(i.target).second)
      return;
    f(first, i, way);
    if (const auto next = by_path_.find(path_of(i)); next != by_path_.end())
      for (const auto& further : includes(*next->second))
        follow(first, further, way + i.target + " > ", seen, f);
  }
  std::map<std::string, const source_file*> by_path_;
};

}  // namespace

violations reached_against_the_arrows(const source_files& files) {
  violations found;
  const reach all{files};
  for (const auto& file : files) {
    const std::string room = room_of(file.path);
    if (file.under("tests") || room.empty())
      continue;
    all.each(file, [&](const include_line& first, const include_line& i, const std::string& way) {
      const std::string target = room_of(path_of(i));
      if (!way.empty() && !target.empty() && !may_know(room, target))
        found.push_back(
            {file.path, first.number, room + "/ may not know " + target + "/, which it reaches by " + way + i.target});
    });
  }
  return found;
}

violations caf_reached_from_the_front_door(const source_files& files) {
  violations found;
  const reach all{files};
  static const rooms without{"words",   "compute",    "models",    "storage", "input",
                             "exports", "inspection", "estimator", "cli",     "pipeline/plan"};
  for (const auto& file : files) {
    const std::string room = room_of(file.path);
    if (file.path == "estimator/caf.cpp"
        || std::none_of(without.begin(), without.end(), [&](const auto& w) { return is_within(room, w); }))
      continue;
    all.each(file, [&](const include_line& first, const include_line& i, const std::string& way) {
      if (i.target.starts_with("caf/"))
        found.push_back({file.path, first.number, "reaches <" + i.target + "> by " + way + i.target});
    });
  }
  return found;
}

violations caf_outside_its_folders(const source_files& files) {
  const auto applies = [](const source_file& f) {
    const bool launches = f.under("pipeline/launch");
    static const std::set<std::string> for_caf_programs{"include/troupe/caf.hpp", "estimator/caf.cpp",
                                                        "examples/inside_caf.cpp"};
    return !f.under("messages") && !f.under("actors") && !launches && !for_caf_programs.contains(f.path)
           && !f.under("tests");
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
  static const std::regex spdlog{R"(\bspdlog::)"};
  violations found = including(files, {"google/protobuf"}, public_header) + matching(files, protobuf, public_header);
  found = found + including(files, {"caf/"}, but("caf.hpp")) + matching(files, caf, but("caf.hpp"));
  found = found + including(files, {"Eigen/", "unsupported/Eigen"}, public_header)
          + matching(files, eigen, public_header);
  found = found + including(files, {"spdlog/"}, but("spdlog.hpp")) + matching(files, spdlog, but("spdlog.hpp"));
  for (const auto& file : files)
    if (public_header(file))
      for (const auto& i : includes(file))
        if (i.target.ends_with(".pb.h"))
          found.push_back({file.path, i.number, i.target});
  return found;
}

violations file_access_outside_storage(const source_files& files) {
  // These map memory and close sockets, not files.
  static const std::set<std::string> no_files{"words/buffer.cpp", "serving/request_body.hpp",
                                              "modules/http/descriptor.hpp"};
  // The guide's programs read their own data, as users' programs do.
  const auto applies = [&](const source_file& f) {
    return !f.under("storage") && !f.under("tests") && !f.under("examples/guide") && !no_files.contains(f.path);
  };
  // A call of the C library has no object or namespace before it, unlike `store->open(` and `dataset::open(`.
  static const std::regex call{
      R"((^|[^\w.>:]|[^\w]::|\bstd::)(fopen|freopen|tmpfile|opendir|openat|creat|mkdir|mkdtemp|)"
      R"(mkstemp|unlink|rmdir|truncate|fsync|flock|mmap)\s*\()"
      R"(|(^|[^\w:])::(open|rename|remove|stat|read|write|close)\s*\()"
      R"(|\bstd::rename\s*\(|\bstd::remove\s*\([^,()]*(\(\))?\))"
      R"(|\bstd::(basic_)?(i|o|)f(ile)?stream\b|\b(i|o)fstream\b|\bstd::filesystem\b|\btoml::parse_file\b)"};
  return including(files, {"fstream", "filesystem", "fcntl.h", "dirent.h", "sys/stat.h", "sys/mman.h", "sys/file.h"},
                   applies)
         + matching(files, call, applies);
}

violations clocks_and_chance(const source_files& files) {
  static const std::set<std::string> folders{"words", "compute", "models", "messages", "cluster", "ensemble", "actors"};
  const auto applies = [](const source_file& f) { return folders.contains(f.folder()); };
  static const std::regex word{
      R"(\w*_clock::now\b|\bclock_gettime\b|\bgettimeofday\b|(^|[^\w.>:]|\bstd::)time\s*\(\s*(nullptr|NULL|0|&|\)))"
      R"(|\bthis_thread::sleep|\bu?n?a?n?o?sleep\s*\()"
      R"(|\brandom_device\b|\bmt19937\w*|\bdefault_random_engine\b|\bminstd_rand\w*)"
      R"(|(^|[^\w.>:]|\bstd::)s?rand\s*\(|\b[dlm]rand48\b|\bgetrandom\b)"};
  return including(files, {"random", "sys/random.h"}, applies) + matching(files, word, applies);
}

violations long_files(const source_files& files) {
  violations found;
  for (const auto& file : files)
    if (file.lines.size() > lines_max)
      found.push_back({file.path, static_cast<int>(lines_max) + 1, std::to_string(file.lines.size()) + " lines"});
  return found;
}

int column_limit(const std::string& clang_format) {
  static const std::regex pattern{R"((^|\n)ColumnLimit:\s*(\d{1,4})\s)"};
  std::smatch match;
  return std::regex_search(clang_format, match, pattern) ? std::stoi(match[2]) : 0;
}

violations wide_lines(const source_files& files, int columns) {
  violations found;
  for (const auto& file : files)
    for (const auto& line : file.lines)
      if (line.columns() > columns)
        found.push_back({file.path, line.number,
                         std::to_string(line.columns()) + " columns, and the limit is " + std::to_string(columns)});
  return found;
}

violations missing_documents(const source_files& files, const std::set<std::string>& documents) {
  static const std::regex pattern{R"([\w./-]*\w\.md\b)"};
  violations found;
  for (const auto& file : files)
    for (const auto& line : file.lines) {
      const std::string comment = line.comment();
      if (comment.find(".md") == std::string::npos)
        continue;
      for (std::sregex_iterator i{comment.begin(), comment.end(), pattern}, end; i != end; ++i)
        if (!documents.contains(i->str()) && !documents.contains("docs/" + i->str()))
          found.push_back({file.path, line.number, i->str() + " is not in the tree"});
    }
  return found;
}

namespace {

constexpr std::string_view to_begin_with = "// Read it to begin with.",
                           not_to_begin_with = "// Not needed to begin with.";
constexpr std::string_view first_header = "include/troupe/troupe.hpp";

/// The headers that troupe.hpp includes, as paths.
std::set<std::string> first_headers(const source_files& files) {
  std::set<std::string> all;
  for (const auto& file : files)
    if (file.path == first_header)
      for (const auto& include : includes(file))
        all.insert("include/" + include.target);
  return all;
}

}  // namespace

violations headers_of_unknown_use(const source_files& files) {
  violations found;
  const auto first = first_headers(files);
  for (const auto& file : files) {
    if (!file.under("include") || file.path == first_header)
      continue;
    const auto has = [&file](std::string_view words) {
      for (size_t i = 0; i < std::min<size_t>(3, file.lines.size()); ++i)
        if (file.lines[i].text == words)
          return true;
      return false;
    };
    const auto wanted = first.contains(file.path) ? to_begin_with : not_to_begin_with;
    if (!has(wanted))
      found.push_back({file.path, 1, "its first three lines lack '" + std::string{wanted} + "', as troupe.hpp says"});
  }
  return found;
}

size_t lines_to_begin_with(const source_files& files) {
  size_t lines = 0;
  const auto first = first_headers(files);
  for (const auto& file : files)
    lines += first.contains(file.path) ? file.lines.size() : 0;
  return lines;
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
