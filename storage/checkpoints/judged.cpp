#include "storage/checkpoints/judged.hpp"

#include "storage/checkpoints/checkpoint_names.hpp"
#include "storage/checkpoints/manifest.hpp"
#include "storage/encodings/crc32c.hpp"
#include "storage/encodings/json_tree.hpp"
#include "storage/encodings/sealed_text.hpp"
#include "storage/encodings/utf8.hpp"

#include <nlohmann/json.hpp>

#include <cmath>

namespace troupe {

namespace {

using json = nlohmann::ordered_json;

constexpr std::string_view judged_format = "troupe judged";
constexpr int64_t judged_version = 1;
constexpr std::string_view judged_crc_member = "crc32c";

json checkpoint_as_json(const judged_checkpoint& c) {
  return {{"step", c.id.step}, {"iteration", c.id.iteration}, {"manifest_crc32c", c.manifest_crc32c}};
}

expected<judged_checkpoint> checkpoint_in(const json_tree::value& j) {
  const auto step = integer_of(j.at("step")), iteration = integer_of(j.at("iteration")),
             crc = integer_of(j.at("manifest_crc32c"));
  if (step < 0 || iteration < 0 || crc < 0 || crc > UINT32_MAX)
    return fail(errc::data_loss, "no checkpoint is of step " + std::to_string(step) + ", iteration "
                                     + std::to_string(iteration) + " with the checksum " + std::to_string(crc));
  return judged_checkpoint{{step, iteration}, static_cast<uint32_t>(crc)};
}

/// JSON has no infinities.
json number_as_json(double x) {
  if (std::isinf(x))
    return x > 0 ? "inf" : "-inf";
  return x;
}

expected<double> number_in(const json_tree::value& j) {
  if (!j.is_string())
    return j.get<double>();
  const auto text = j.get<std::string>();
  if (text != "inf" && text != "-inf")
    return fail(errc::data_loss, "the value of a metric is " + text);
  return text == "inf" ? INFINITY : -INFINITY;
}

tl::unexpected<error> damaged_judgement(const std::string& path, const std::string& what) {
  return fail(errc::data_loss, path + " is damaged: " + what);
}

}  // namespace

std::string judged_text(const judged& j) {
  json root{{"format", judged_format}, {"format_version", judged_version}};
  if (j.best)
    root["best"] = {{"at", checkpoint_as_json(j.best->at)}, {"value", number_as_json(j.best->value)}};
  if (j.ends)
    root["ends"] = {
        {"at", checkpoint_as_json(j.ends->at)}, {"rule", as_utf8(j.ends->rule)}, {"why", as_utf8(j.ends->why)}};
  root[std::string{judged_crc_member}] = unsealed;
  return seal(root.dump(1) + "\n");
}

expected<judged> parse_judged(std::string text, const std::string& path) {
  if (const auto whole = unseal(text, judged_crc_member); !whole)
    return damaged_judgement(path, whole.error().message);
  return read_json(text, path + " is damaged: ", [&](const json_tree::value& j) -> expected<judged> {
    if (j.at("format") != judged_format)
      return damaged_judgement(path, "it is no " + std::string{judged_format});
    if (const auto version = integer_of(j.at("format_version")); version != judged_version)
      return fail(errc::unimplemented, path + ": format version " + std::to_string(version)
                                           + ", and this program reads " + std::to_string(judged_version));
    judged found;
    if (j.contains("best")) {
      const auto at = checkpoint_in(j.at("best").at("at"));
      const auto value = number_in(j.at("best").at("value"));
      if (!at || !value)
        return damaged_judgement(path, (at ? value.error() : at.error()).message);
      found.best = {*at, *value};
    }
    if (j.contains("ends")) {
      const auto at = checkpoint_in(j.at("ends").at("at"));
      if (!at)
        return damaged_judgement(path, at.error().message);
      found.ends = {*at, j.at("ends").at("rule").get<std::string>(), j.at("ends").at("why").get<std::string>()};
    }
    return found;
  });
}

expected<void> write_judged(file_system& fs, const std::string& model_dir, const judged& j) {
  return write_file_atomically(fs, model_dir, std::string{judged_file}, judged_text(j));
}

expected<judged> load_judged(file_system& fs, const std::string& model_dir) {
  const auto path = join_path(model_dir, judged_file);
  return read_file(fs, path).and_then([&](std::string text) { return parse_judged(std::move(text), path); });
}

expected<judged_checkpoint> judged_checkpoint_of(file_system& fs, const std::string& model_dir, checkpoint_id id) {
  return read_file(fs, join_path(model_dir, manifest_name(id)), manifest_bytes_max).map([&](const std::string& bytes) {
    return judged_checkpoint{id, crc32c(std::as_bytes(std::span{bytes}))};
  });
}

expected<bool> has_checkpoint(file_system& fs, const std::string& model_dir, const judged_checkpoint& meant) {
  const auto there = judged_checkpoint_of(fs, model_dir, meant.id);
  if (!there && there.error().category == errc::not_found)
    return false;
  return there.map([&](const judged_checkpoint& found) { return found == meant; });
}

}  // namespace troupe
