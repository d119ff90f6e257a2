#include "input/streams/stage_position.hpp"

#include <charconv>

namespace troupe::input {

std::string packed(const std::string& stage, stage_position at, const std::string& inner) {
  return stage + ": " + std::to_string(at.a) + " " + std::to_string(at.b) + "\n" + inner;
}

expected<stage_position> unpacked(const std::string& stage, std::string_view& state) {
  const auto line = state.substr(0, state.find('\n'));
  const std::string head = stage + ": ";
  if (!line.starts_with(head) || line.size() == state.size())
    return fail(errc::invalid_argument, "the state was saved by '" + std::string{line.substr(0, line.rfind(':'))}
                                            + "', here is '" + stage + "'");
  stage_position at;
  const char* end = line.data() + line.size();
  const auto first = std::from_chars(line.data() + head.size(), end, at.a);
  const auto second = first.ptr < end ? std::from_chars(first.ptr + 1, end, at.b) : first;
  if (first.ec != std::errc{} || second.ec != std::errc{} || second.ptr != end || at.a < 0 || at.b < 0)
    return fail(errc::invalid_argument, "the state's position '" + std::string{line} + "' is not two counts");
  state.remove_prefix(line.size() + 1);
  return at;
}

}  // namespace troupe::input
