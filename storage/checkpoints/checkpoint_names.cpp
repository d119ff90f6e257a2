#include "storage/checkpoints/checkpoint_names.hpp"

#include "words/checkpoint_id.hpp"
#include "words/text.hpp"

namespace troupe {

namespace {

constexpr std::string_view manifest_ending = ".manifest.json";
constexpr std::string_view verdict_ending = ".verdict.json";
constexpr std::string_view shard_ending = ".safetensors";

bool take_digits(std::string_view& text) {
  const size_t n = text.find_first_not_of("0123456789");
  text.remove_prefix(n == std::string_view::npos ? text.size() : n);
  return n != 0;
}

bool take(std::string_view& text, std::string_view what) {
  if (!text.starts_with(what))
    return false;
  text.remove_prefix(what.size());
  return true;
}

/// Removes a checkpoint's name from the front of `name` and returns its id.
std::optional<checkpoint_id> take_id(std::string_view& name) {
  return take(name, checkpoint_stem) ? take_checkpoint_id(name) : std::nullopt;
}

}  // namespace

std::string manifest_name(checkpoint_id id) { return checkpoint_name(id) + std::string{manifest_ending}; }

std::string verdict_name(checkpoint_id id) { return checkpoint_name(id) + std::string{verdict_ending}; }

std::string shard_name(checkpoint_id id, int64_t index, int64_t count) {
  return checkpoint_name(id) + "-" + zero_padded(index, 5) + "-of-" + zero_padded(count, 5) + std::string{shard_ending};
}

std::optional<checkpoint_id> id_of_manifest(std::string_view file_name) {
  const auto id = take_id(file_name);
  return file_name == manifest_ending ? id : std::nullopt;
}

std::optional<checkpoint_id> id_of_verdict(std::string_view file_name) {
  const auto id = take_id(file_name);
  return file_name == verdict_ending ? id : std::nullopt;
}

std::optional<checkpoint_id> id_of_shard(std::string_view file_name) {
  const auto id = take_id(file_name);
  const bool shard = take(file_name, "-") && take_digits(file_name) && take(file_name, "-of-")
                     && take_digits(file_name);
  return shard && file_name == shard_ending ? id : std::nullopt;
}

bool is_temporary(std::string_view file_name) {
  if (!file_name.ends_with(".tmp"))
    return false;
  file_name.remove_suffix(4);
  return file_name == state_file_name || id_of_manifest(file_name) || id_of_verdict(file_name)
         || id_of_shard(file_name);
}

}  // namespace troupe
