#include "storage/exports/export_directory.hpp"

#include "storage/encodings/crc32c.hpp"
#include "storage/encodings/safetensors.hpp"
#include "storage/exports/export_json.hpp"
#include "storage/exports/export_manifest.hpp"
#include "words/text.hpp"

#include <algorithm>
#include <chrono>
#include <set>

namespace troupe {

namespace {

/// Greater than the number of processes that export to one place at the same time, plus the temporary directories that
/// a day leaves.
constexpr int numbers_tried_max = 100;
/// How often an export is written if somebody removes its files meanwhile.
constexpr int makings_max = 3;
constexpr size_t seconds_digits = 10;
constexpr int64_t number_max = 9'999'999'999;  // Seconds since the epoch, in the year 2286.
constexpr std::string_view temporary_prefix = "temp-", removed_prefix = "removed-";
/// Longer than any export takes to write, and than clocks of machines that share a directory differ.
constexpr int64_t abandoned_after_s = 24 * 60 * 60;

bool is_number(std::string_view name) {
  return !name.empty() && name.front() != '0' && name.size() <= 18
         && std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_there(const expected<file_info>& info) { return info || info.error().category != errc::not_found; }

/// Creates and syncs a file. `fill` writes its content.
template <class Fill>
expected<void> write_file(file_system& fs, const std::string& path, Fill fill) {
  auto file = fs.create(path);
  if (!file)
    return fail(std::move(file.error()));
  return fill(**file).and_then([&] { return (*file)->sync(); }).and_then([&] { return (*file)->close(); });
}

/// The entries of the manifest.
using file_list = std::vector<listed_file>;

expected<void> write_text(file_system& fs, const std::string& directory, std::string_view name,
                          const expected<std::string>& text, file_list& list) {
  if (!text)
    return fail(text.error());
  list.push_back({std::string{name}, std::ssize(*text), std::ssize(*text), crc32c(*text)});
  return write_file(fs, join_path(directory, name),
                    [&](writable_file& f) { return f.append(std::as_bytes(std::span{*text})); });
}

expected<void> write_weights(file_system& fs, const std::string& directory,
                             const std::map<std::string, tensor>& tensors, file_list& list) {
  std::vector<tensor_place> places;
  for (const auto& [name, t] : tensors)
    places.push_back({.name = name, .type = t.type(), .dims = t.dims()});
  // Tensors with wide elements come first, so that each tensor begins at a multiple of its element size: some readers
  // map the file.
  std::stable_sort(places.begin(), places.end(),
                   [](const auto& a, const auto& b) { return size_of(a.type) > size_of(b.type); });
  const auto header = lay_out_safetensors(places);
  if (!header)
    return fail(header.error());
  listed_file listed{std::string{weights_file_name}, std::ssize(*header), std::ssize(*header), crc32c(*header)};
  for (const auto& p : places)
    listed.bytes += p.bytes;
  list.push_back(listed);
  return write_file(fs, join_path(directory, weights_file_name), [&](writable_file& f) {
    auto done = f.append(std::as_bytes(std::span{*header}));
    for (size_t i = 0; done && i < places.size(); ++i)
      done = f.append(tensors.at(places[i].name).bytes());
    return done;
  });
}

// -- assets --------------------------------------------------------------------------

/// Checks that an asset's name is a relative path that stays below its directory.
expected<void> check_asset(const std::string& name) {
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('/', begin), name.size());
    const auto part = std::string_view{name}.substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..")
      return fail(errc::invalid_argument,
                  "an extra asset needs a relative path without '.' and '..', not '" + name + "'");
    begin = end + 1;
  }
  return {};
}

expected<void> copy_file(file_system& fs, const std::string& from, const std::string& to) {
  const auto source = fs.open(from);
  if (!source)
    return fail(source.error());
  return write_file(fs, to, [&](writable_file& f) -> expected<void> {
    constexpr int64_t chunk_max = int64_t{1} << 20;
    std::vector<std::byte> chunk;
    for (int64_t at = 0; at < (*source)->size(); at += std::ssize(chunk)) {
      chunk.resize(static_cast<size_t>(std::min(chunk_max, (*source)->size() - at)));
      if (auto done = (*source)->read(at, chunk).and_then([&] { return f.append(chunk); }); !done)
        return done;
    }
    return {};
  });
}

expected<void> copy_assets(file_system& fs, const std::string& directory, const export_assets& assets) {
  std::set<std::string> directories;
  for (const auto& [name, source] : assets) {
    const std::string path = join_path(directory, name);
    for (std::string up = parent_of(path); up.size() >= directory.size(); up = parent_of(up))
      directories.insert(up);
    if (auto done = fs.create_directories(parent_of(path)).and_then([&] { return copy_file(fs, source, path); }); !done)
      return done;
  }
  for (const auto& d : directories)
    if (auto done = fs.sync_directory(d); !done)
      return done;
  return {};
}

// -- names ---------------------------------------------------------------------------

/// Takes the number for a new export: creates the directory "temp-<number>", whose creator may use the number unless an
/// export has it already. The number is greater than all existing ones of ten digits, since the newest export is the
/// one that is served and is removed last. If the clock's number is taken, the next one is used without waiting, so
/// numbers may be ahead of the clock for a while.
expected<int64_t> take_number(file_system& fs, const std::string& base, int64_t now) {
  const auto others = exports_in(fs, base);
  if (!others)
    return fail(others.error());
  const auto newest = std::find_if(others->rbegin(), others->rend(), [](int64_t n) { return n < number_max; });
  const int64_t first = newest != others->rend() ? std::max(*newest + 1, now) : now;
  for (int64_t number = first; number < first + numbers_tried_max; ++number) {
    const std::string name = std::to_string(number), temporary = join_path(base, std::string{temporary_prefix} + name);
    const auto made = fs.create_directory(temporary);
    if (!made)
      return fail(made.error());
    if (!*made)
      continue;
    const auto taken = fs.info(join_path(base, name));
    if (!is_there(taken))
      return number;
    (void)fs.remove_empty_directory(temporary);
    if (!taken)
      return fail(taken.error());
  }
  return fail(errc::state, "there is no name for an export in " + base + ": " + std::to_string(numbers_tried_max)
                               + " numbers from " + std::to_string(first) + " on are taken");
}

/// Removes what processes that died have left: exports that were begun more than a day ago by their number, and exports
/// that were being removed. Errors are ignored; the next call tries again.
void remove_abandoned(file_system& fs, const std::string& base, int64_t now) {
  const auto number_after = [](std::string_view name, std::string_view prefix) -> std::optional<int64_t> {
    const bool is_one = name.starts_with(prefix) && name.size() == prefix.size() + seconds_digits
                        && is_number(name.substr(prefix.size()));
    return is_one ? std::optional{std::stoll(std::string{name.substr(prefix.size())})} : std::nullopt;
  };
  const auto entries = fs.list(base);
  if (!entries)
    return;
  for (const auto& e : *entries) {
    const auto begun = number_after(e.name, temporary_prefix);
    if (e.directory && (number_after(e.name, removed_prefix) || (begun && *begun < now - abandoned_after_s)))
      (void)remove_tree(fs, join_path(base, e.name));
  }
}

/// Creates `path` and its missing parents, durably.
expected<void> make_base(file_system& fs, const std::string& path) {
  std::vector<std::string> missing;
  for (std::string up = path; !is_there(fs.info(up)); up = parent_of(up)) {
    missing.push_back(up);
    if (parent_of(up) == up)
      break;
  }
  if (auto made = fs.create_directories(path); !made)
    return made;
  for (const auto& m : missing)
    if (auto done = fs.sync_directory(parent_of(m)); !done)
      return done;
  return {};
}

/// Checks that every written file exists. Error: not_found if one is missing, because somebody is removing the
/// directory.
expected<void> check_presence(file_system& fs, const std::string& directory, const file_list& list,
                              const export_assets& assets) {
  for (const auto& f : list)
    if (const auto there = fs.info(join_path(directory, f.name)); !there)
      return fail(there.error());
  for (const auto& [name, source] : assets)
    if (const auto there = fs.info(join_path(join_path(directory, assets_directory_name), name)); !there)
      return fail(there.error());
  return {};
}

expected<void> write_files(file_system& fs, const std::string& directory, const export_content& content,
                           const export_assets& assets) {
  graph_file graph{content.origin, content.graph, {}};
  for (const auto& [name, t] : content.tensors)
    graph.checksums[name] = crc32c(t.bytes());
  file_list list;
  return write_text(fs, directory, graph_file_name, write_graph_json(graph), list)
      .and_then([&] { return write_weights(fs, directory, content.tensors, list); })
      .and_then([&] {
        return write_text(fs, directory, signature_file_name,
                          write_signature_json(content.signatures, content.graph.unknowns), list);
      })
      .and_then([&] {
        return write_text(fs, directory, preparation_file_name, write_preparation_json(content.preparation), list);
      })
      .and_then([&] { return copy_assets(fs, join_path(directory, assets_directory_name), assets); })
      .and_then([&] { return write_text(fs, directory, manifest_file_name, write_export_manifest(list), list); })
      .and_then([&] { return check_presence(fs, directory, list, assets); })
      .and_then([&] { return fs.sync_directory(directory); });
}

expected<std::string> make_export(file_system& fs, const std::string& base, const export_content& content,
                                  const export_assets& assets, int64_t now) {
  if (auto made = make_base(fs, base); !made)
    return fail(made.error());
  const auto number = take_number(fs, base, now);
  if (!number)
    return fail(number.error());
  const std::string name = std::to_string(*number), temporary = join_path(base, std::string{temporary_prefix} + name),
                    path = join_path(base, name);
  auto done = write_files(fs, temporary, content, assets).and_then([&] { return fs.rename(temporary, path); });
  if (!done) {
    (void)remove_tree(fs, temporary);  // Errors are ignored: the disk may be full.
    return fail(std::move(done.error()));
  }
  return fs.sync_directory(base).map([&] { return path; });
}

}  // namespace

export_clock system_export_clock() {
  return [] {
    return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
  };
}

expected<std::string> write_export(file_system& fs, const std::string& base, const export_content& content,
                                   const export_assets& assets, const export_clock& clock) {
  for (const auto& [name, source] : assets)
    if (auto right = check_asset(name); !right)
      return fail(right.error());
  auto path = make_export(fs, base, content, assets, clock());
  // not_found means that somebody removed what was just made, unless an asset's source is missing.
  const auto was_removed = [&] {
    return !path && path.error().category == errc::not_found
           && std::all_of(assets.begin(), assets.end(), [&](const auto& a) { return is_there(fs.info(a.second)); });
  };
  for (int made = 1; made < makings_max && was_removed(); ++made)
    path = make_export(fs, base, content, assets, clock());
  if (path)
    remove_abandoned(fs, base, clock());
  return path;
}

expected<std::vector<int64_t>> exports_in(file_system& fs, const std::string& base) {
  const auto entries = fs.list(base);
  if (!entries && entries.error().category == errc::not_found)
    return std::vector<int64_t>{};
  if (!entries)
    return fail(entries.error());
  std::vector<int64_t> numbers;
  for (const auto& e : *entries)
    if (e.directory && is_number(e.name))
      numbers.push_back(std::stoll(e.name));
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

expected<std::vector<std::string>> keep_exports(file_system& fs, const std::string& base, int64_t keep) {
  const auto numbers = exports_in(fs, base);
  if (!numbers)
    return fail(numbers.error());
  std::vector<std::string> ours;
  for (const int64_t n : *numbers) {
    const auto name = std::to_string(n);
    if (name.size() != seconds_digits)
      continue;
    const auto graph = fs.info(join_path(join_path(base, name), graph_file_name));
    // An export at which one cannot look, such as one whose graph is a loop of links, does not count, as it is served
    // by nobody. Where the disk itself fails it cannot be known.
    if (!graph && graph.error().category != errc::not_found && graph.error().category != errc::failed_precondition)
      return fail(graph.error());
    if (graph && !graph->directory)
      ours.push_back(name);
  }
  std::vector<std::string> removed;
  for (size_t i = 0; i + static_cast<size_t>(keep) < ours.size(); ++i) {
    const std::string path = join_path(base, ours[i]), leaving = join_path(base, std::string{removed_prefix} + ours[i]);
    auto gone = remove_tree(fs, leaving)  // May be left over from a process that died here.
                    .and_then([&] { return fs.rename(path, leaving); })
                    .and_then([&] { return fs.sync_directory(base); })
                    .and_then([&] { return remove_tree(fs, leaving); });
    if (!gone && gone.error().category != errc::not_found)  // Another exporter may have removed it meanwhile.
      return fail(std::move(gone.error()));
    removed.push_back(path);
  }
  if (!removed.empty())
    if (auto durable = fs.sync_directory(base); !durable && durable.error().category != errc::not_found)
      return fail(std::move(durable.error()));
  return removed;
}

}  // namespace troupe
