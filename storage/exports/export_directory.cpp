#include "storage/exports/export_directory.hpp"

#include "storage/encodings/crc32c.hpp"
#include "storage/encodings/safetensors.hpp"
#include "storage/exports/export_json.hpp"
#include "words/text.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

namespace troupe {

namespace {

constexpr int attempts_max = 10;
constexpr size_t seconds_digits = 10;
constexpr int64_t number_max = 9'999'999'999;  // In the year 2286.
constexpr std::string_view temporary_prefix = "temp-", removed_prefix = "removed-";
/// No export takes so long to write. Clocks of machines that share a directory differ by less.
constexpr int64_t abandoned_after_s = 24 * 60 * 60;

bool is_number(std::string_view name) {
  return !name.empty() && name.front() != '0' && name.size() <= 18 && std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_there(const expected<file_info>& info) { return info || info.error().category != errc::not_found; }

/// The text of a whole small file, or one tensor after the other.
template <class Fill>
expected<void> write_file(file_system& fs, const std::string& path, Fill fill) {
  auto file = fs.create(path);
  if (!file)
    return fail(std::move(file.error()));
  return fill(**file).and_then([&] { return (*file)->sync(); }).and_then([&] { return (*file)->close(); });
}

expected<void> write_text(file_system& fs, const std::string& path, const expected<std::string>& text) {
  if (!text)
    return fail(text.error());
  return write_file(fs, path, [&](writable_file& f) { return f.append(std::as_bytes(std::span{*text})); });
}

expected<void> write_weights(file_system& fs, const std::string& path, const std::map<std::string, tensor>& tensors) {
  std::vector<tensor_place> places;
  for (const auto& [name, t] : tensors)
    places.push_back({.name = name, .type = t.type(), .dims = t.dims()});
  // Wide elements come first, so that each tensor begins at a multiple of its element: some readers map the file.
  std::stable_sort(places.begin(), places.end(), [](const auto& a, const auto& b) { return size_of(a.type) > size_of(b.type); });
  const auto header = lay_out_safetensors(places);
  if (!header)
    return fail(header.error());
  return write_file(fs, path, [&](writable_file& f) {
    auto done = f.append(std::as_bytes(std::span{*header}));
    for (size_t i = 0; done && i < places.size(); ++i)
      done = f.append(tensors.at(places[i].name).bytes());
    return done;
  });
}

// -- assets --------------------------------------------------------------------------

/// Relative, and without a part that leads elsewhere.
expected<void> check_asset(const std::string& name) {
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('/', begin), name.size());
    const auto part = std::string_view{name}.substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..")
      return fail(errc::invalid_argument, "an extra asset needs a relative path without '.' and '..', not '" + name + "'");
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

/// The number of a directory "temp-<number>" that is made for this export alone. Who makes the directory may use the number, unless an export
/// has it already. It is above those that are there, also where the clock has been set back, as long as it has ten digits: the newest export is
/// the one that is served, and the last to be removed.
expected<int64_t> take_number(file_system& fs, const std::string& base, const export_clock& clock) {
  for (int attempt = 1;; ++attempt) {
    const auto others = exports_in(fs, base);
    if (!others)
      return fail(others.error());
    const auto newest = std::find_if(others->rbegin(), others->rend(), [](int64_t n) { return n < number_max; });
    const int64_t now = clock.seconds(), number = newest != others->rend() && *newest > now ? *newest + 1 : now;
    const std::string name = std::to_string(number), temporary = join_path(base, std::string{temporary_prefix} + name);
    const auto made = fs.create_directory(temporary);
    if (!made)
      return fail(made.error());
    if (*made) {
      const auto taken = fs.info(join_path(base, name));
      if (!is_there(taken))
        return number;
      (void)fs.remove_empty_directory(temporary);
      if (!taken)
        return fail(taken.error());
    }
    if (attempt == attempts_max)
      return fail(errc::state, "there is no name for an export in " + base + ": " + name + " is taken, and it was tried " + std::to_string(attempts_max)
                                 + " times, a second apart");
    clock.sleep(1);
  }
}

/// What processes that died have left: exports that were begun a day ago, which their numbers show, and those that were being removed. What
/// cannot be removed stays for the next time.
void remove_abandoned(file_system& fs, const std::string& base, int64_t now) {
  const auto number_after = [](std::string_view name, std::string_view prefix) -> std::optional<int64_t> {
    const bool is_one = name.starts_with(prefix) && name.size() == prefix.size() + seconds_digits && is_number(name.substr(prefix.size()));
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

/// Makes `path` and those above it that are missing, durably.
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

expected<void> write_files(file_system& fs, const std::string& directory, const export_content& content, const export_assets& assets) {
  graph_file graph{content.origin, content.graph, {}};
  for (const auto& [name, t] : content.tensors)
    graph.checksums[name] = crc32c(t.bytes());
  const auto at = [&](std::string_view name) { return join_path(directory, name); };
  return write_text(fs, at(graph_file_name), write_graph_json(graph))
    .and_then([&] { return write_weights(fs, at(weights_file_name), content.tensors); })
    .and_then([&] { return write_text(fs, at(signature_file_name), write_signature_json(content.signatures, content.graph.unknowns)); })
    .and_then([&] { return write_text(fs, at(preparation_file_name), write_preparation_json(content.preparation)); })
    .and_then([&] { return copy_assets(fs, at(assets_directory_name), assets); })
    .and_then([&] { return fs.sync_directory(directory); });
}

// -- reading -------------------------------------------------------------------------

/// A file that an export cannot be without.
expected<std::string> text_of(file_system& fs, const std::string& path) {
  auto text = read_file(fs, path);
  if (!text && text.error().category == errc::not_found)
    return fail(errc::data_loss, path + " is missing");
  return text;
}

expected<std::map<std::string, tensor>> read_weights(file_system& fs, const std::string& path, const std::map<std::string, uint32_t>& checksums) {
  const auto file = fs.open(path);
  if (!file)
    return fail(file.error().category == errc::not_found ? error{errc::data_loss, path + " is missing"} : file.error());
  const auto places = read_safetensors_header(**file, path);
  if (!places)
    return fail(places.error());
  std::map<std::string, tensor> tensors;
  for (const auto& place : *places) {
    const auto wanted = checksums.find(place.name);
    if (wanted == checksums.end())
      return fail(errc::data_loss, path + ": the tensor '" + place.name + "' is none of " + std::string{graph_file_name});
    auto read = read_tensor(**file, path, place);
    if (!read)
      return fail(std::move(read.error()));
    if (read->crc32c != wanted->second)
      return fail(errc::data_loss, path + ": tensor '" + place.name + "' at offset " + std::to_string(place.offset) + " has the checksum "
                                     + crc32c_text(read->crc32c) + " and should have " + crc32c_text(wanted->second));
    tensors.emplace(place.name, std::move(read->value));
  }
  for (const auto& [name, crc] : checksums)
    if (!tensors.contains(name))
      return fail(errc::data_loss, path + ": there is no tensor '" + name + "'");
  return tensors;
}

}  // namespace

export_clock system_export_clock() {
  return {[] { return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count(); },
          [](double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }};
}

expected<std::string> write_export(file_system& fs, const std::string& base, const export_content& content, const export_assets& assets,
                                   const export_clock& clock) {
  for (const auto& [name, source] : assets)
    if (auto right = check_asset(name); !right)
      return fail(right.error());
  if (auto made = make_base(fs, base); !made)
    return fail(made.error());
  const auto number = take_number(fs, base, clock);
  if (!number)
    return fail(number.error());
  const std::string name = std::to_string(*number), temporary = join_path(base, std::string{temporary_prefix} + name), path = join_path(base, name);
  auto done = write_files(fs, temporary, content, assets).and_then([&] { return fs.rename(temporary, path); });
  if (!done) {
    (void)remove_tree(fs, temporary);  // The disk may be full.
    return fail(std::move(done.error()));
  }
  if (auto durable = fs.sync_directory(base); !durable)
    return fail(std::move(durable.error()));
  remove_abandoned(fs, base, clock.seconds());
  return path;
}

bool is_export(file_system& fs, const std::string& directory) {
  const auto info = fs.info(join_path(directory, graph_file_name));
  return info && !info->directory;
}

expected<export_content> read_export(file_system& fs, const std::string& directory) {
  const auto at = [&](std::string_view name) { return join_path(directory, name); };
  const auto graph_text = read_file(fs, at(graph_file_name));
  if (!graph_text)
    return fail(graph_text.error().category == errc::not_found
                  ? error{errc::not_found, directory + " is not an exported model: it has no " + std::string{graph_file_name}} : graph_text.error());
  auto graph = parse_graph_json(*graph_text, at(graph_file_name));
  if (!graph)
    return fail(graph.error());
  auto signatures = text_of(fs, at(signature_file_name)).and_then([&](const std::string& text) {
    return parse_signature_json(text, graph->graph.unknowns, at(signature_file_name));
  });
  if (!signatures)
    return fail(signatures.error());
  auto preparation = text_of(fs, at(preparation_file_name)).and_then([&](const std::string& text) {
    return parse_preparation_json(text, at(preparation_file_name));
  });
  if (!preparation)
    return fail(preparation.error());
  auto tensors = read_weights(fs, at(weights_file_name), graph->checksums);
  if (!tensors)
    return fail(tensors.error());
  return export_content{std::move(graph->origin), std::move(graph->graph), std::move(*tensors), std::move(*signatures), std::move(*preparation)};
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
    if (!graph && graph.error().category != errc::not_found)
      return fail(graph.error());  // Whether it counts cannot be known.
    if (graph && !graph->directory)
      ours.push_back(name);
  }
  std::vector<std::string> removed;
  for (size_t i = 0; i + static_cast<size_t>(keep) < ours.size(); ++i) {
    const std::string path = join_path(base, ours[i]), leaving = join_path(base, std::string{removed_prefix} + ours[i]);
    auto gone = remove_tree(fs, leaving)  // Left by a process that died at this point.
                  .and_then([&] { return fs.rename(path, leaving); })
                  .and_then([&] { return fs.sync_directory(base); })
                  .and_then([&] { return remove_tree(fs, leaving); });
    if (!gone && gone.error().category != errc::not_found)  // Another exporter may have removed it meanwhile.
      return fail(std::move(gone.error()));
    removed.push_back(path);
  }
  if (!removed.empty())
    if (auto durable = fs.sync_directory(base); !durable)
      return fail(std::move(durable.error()));
  return removed;
}

}  // namespace troupe
