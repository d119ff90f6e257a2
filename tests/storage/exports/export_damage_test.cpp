// Exports with damaged files, and exports of format version 1, which have no manifest.
#include "storage/encodings/sealed_text.hpp"
#include "storage/exports/export_directory.hpp"
#include "storage/exports/export_json.hpp"
#include "storage/exports/export_manifest.hpp"
#include "tests/storage/exports/export_samples.hpp"
#include "tests/storage/samples.hpp"
#include "tests/support/has.hpp"

namespace troupe {

namespace {

constexpr std::string_view all_files[] = {graph_file_name, weights_file_name, signature_file_name,
                                          preparation_file_name, manifest_file_name};

struct damaged_export {
  std::shared_ptr<memory_disk> disk = memory_disk::make();
  std::string path = *write_export(*disk, "/m/export", sample_export(7), {}, [] { return int64_t{1'700'000'000}; });

  void refused(errc category, const std::string& names) const {
    const auto content = read_export(*disk, path);
    REQUIRE_FALSE(content);
    CHECK(content.error().category == category);
    CHECK_MESSAGE(has(content.error().message, names), content.error().message);
  }
};

std::string as_version_1(std::string text) {
  const std::string version = "\"format_version\": 2";
  return text.replace(text.find(version), version.size(), "\"format_version\": 1");
}

}  // namespace

TEST_CASE("each byte of an export's files that is changed is refused, naming the file and what differs") {
  const damaged_export e;
  for (const auto name : all_files) {
    const auto file = join_path(e.path, name);
    CAPTURE(file);
    const auto whole = *read_file(*e.disk, file);
    size_t refusals = 0;
    for (size_t at = 0; at < whole.size(); ++at)
      for (const int bit : {static_cast<int>(at % 7), 7}) {
        auto text = whole;
        text[at] = static_cast<char>(text[at] ^ (1 << bit));
        e.disk->overwrite(file, text);
        const auto content = read_export(*e.disk, e.path);
        const bool named = !content && content.error().category == errc::data_loss
                           && content.error().message.starts_with(file + ": ")
                           && (has(content.error().message, "checksum"));
        CHECK_MESSAGE(named, "byte ", at, ": ", (content ? "accepted" : content.error().message));
        refusals += named ? 1 : 0;
      }
    CHECK(refusals == 2 * whole.size());
    e.disk->overwrite(file, whole);
  }
  CHECK(same(*read_export(*e.disk, e.path), sample_export(7)));
}

TEST_CASE("an export without a file, with a shorter or longer one, or with another's is refused by the file's name") {
  const damaged_export e;
  const auto other = *write_export(*e.disk, "/m/export", sample_export(8), {}, [] { return int64_t{1'700'000'000}; });
  for (const auto name : all_files) {
    CAPTURE(name);
    const auto file = join_path(e.path, name);
    const auto whole = *read_file(*e.disk, file);
    REQUIRE(e.disk->remove(file));
    e.refused(errc::data_loss, name == manifest_file_name ? file + " is missing, and graph.json has format version 2"
                                                          : file + " is missing");
    CHECK(is_export(*e.disk, e.path));
    const auto bytes = std::to_string(whole.size());
    for (const auto& [text, size] :
         {std::pair{whole.substr(0, whole.size() / 2), whole.size() / 2}, std::pair{whole + " ", whole.size() + 1}}) {
      REQUIRE(write_file_atomically(*e.disk, e.path, std::string{name}, text));
      e.refused(errc::data_loss, name == manifest_file_name
                                     ? file + ": it does not end in its checksum"
                                     : file + " has " + std::to_string(size) + " bytes and should have " + bytes);
    }
    const auto others = *read_file(*e.disk, join_path(other, name));
    if (others != whole) {
      REQUIRE(write_file_atomically(*e.disk, e.path, std::string{name}, others));
      e.refused(errc::data_loss, "checksum");
    }
    REQUIRE(write_file_atomically(*e.disk, e.path, std::string{name}, whole));
    CHECK(read_export(*e.disk, e.path));
  }
  CHECK(read_export_origin(*e.disk, e.path) == sample_export(7).origin);
}

TEST_CASE("a manifest that lacks a file, and one of a later format, is refused as what it is") {
  const damaged_export e;
  const auto file = join_path(e.path, manifest_file_name);
  auto listed = *parse_export_manifest(*read_file(*e.disk, file), file);
  REQUIRE(listed.size() == 4);
  const auto signature = std::find_if(listed.begin(), listed.end(),
                                      [](const auto& f) { return f.name == signature_file_name; });
  REQUIRE(signature != listed.end());
  listed.erase(signature);
  e.disk->overwrite(file, write_export_manifest(listed));
  e.refused(errc::data_loss, file + " does not list signature.json");
  std::string
      later = "{\n \"format\": \"troupe export\",\n \"format_version\": 3,\n \"manifest_crc32c\": \"00000000\"\n}\n";
  e.disk->overwrite(file, seal(later));
  e.refused(errc::unimplemented, file + ": format version 3, and this program reads 2");
}

TEST_CASE("an export of format version 1 is read without a manifest, and says that it has none") {
  const damaged_export e;
  REQUIRE(e.disk->remove(join_path(e.path, manifest_file_name)));
  for (const auto name : {graph_file_name, signature_file_name, preparation_file_name})
    e.disk->overwrite(join_path(e.path, name), as_version_1(*read_file(*e.disk, join_path(e.path, name))));
  const auto content = read_export(*e.disk, e.path);
  REQUIRE_MESSAGE(content, (content ? "" : to_text(content.error())));
  CHECK_FALSE(content->has_manifest);
  CHECK(same(*content, sample_export(7)));
  CHECK(read_export_origin(*e.disk, e.path) == sample_export(7).origin);
  CHECK(write_graph_json(*parse_graph_json(*read_file(*e.disk, join_path(e.path, graph_file_name)), "g"))
        == read_file(*e.disk, join_path(e.path, graph_file_name)));
  for (const auto name : {weights_file_name, signature_file_name, preparation_file_name}) {
    const auto file = join_path(e.path, name);
    const auto whole = *read_file(*e.disk, file);
    REQUIRE(e.disk->remove(file));
    e.refused(errc::data_loss, file + " is missing");
    REQUIRE(write_file_atomically(*e.disk, e.path, std::string{name}, whole.substr(0, whole.size() / 2)));
    e.refused(errc::data_loss, file);
    REQUIRE(write_file_atomically(*e.disk, e.path, std::string{name}, whole));
  }
  auto weights = *read_file(*e.disk, join_path(e.path, weights_file_name));
  weights.back() ^= 1;
  e.disk->overwrite(join_path(e.path, weights_file_name), weights);
  e.refused(errc::data_loss, "has the checksum");
  REQUIRE(e.disk->remove(join_path(e.path, graph_file_name)));
  e.refused(errc::not_found, e.path + " is not an exported model: it has no graph.json");
  CHECK_FALSE(is_export(*e.disk, e.path));
}

TEST_CASE("a tensor that the graph does not list is refused, though the manifest lists the file") {
  auto content = sample_export(7);
  content.tensors.erase("flags");
  const damaged_export e;
  const auto other = *write_export(*e.disk, "/m/export", content, {}, [] { return int64_t{1'700'000'000}; });
  const auto manifest = join_path(e.path, manifest_file_name), graph = join_path(e.path, graph_file_name);
  auto listed = *parse_export_manifest(*read_file(*e.disk, manifest), manifest);
  const auto of_other = *parse_export_manifest(*read_file(*e.disk, join_path(other, manifest_file_name)), manifest);
  REQUIRE(listed.front().name == graph_file_name);
  listed.front() = of_other.front();
  e.disk->overwrite(manifest, write_export_manifest(listed));
  e.disk->overwrite(graph, *read_file(*e.disk, join_path(other, graph_file_name)));
  e.refused(errc::data_loss, "the tensor 'flags' is none of graph.json");
}

}  // namespace troupe
