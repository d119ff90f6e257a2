#include "words/checkpoint_books.hpp"

#include "words/text.hpp"

#include <charconv>
#include <cmath>

namespace troupe {

namespace {

// Keys in stored checkpoints: they must not change.
constexpr std::string_view first_step = "first_step", finished = "finished", rate_factor = "rate_factor",
                           warm_start = "warm_start", best = "best", best_value = "best_value", use_best = "use_best",
                           ended = "ended", ended_by = "ended_by", loop_begins = "loop_begins",
                           loop_steps = "loop_steps", left_group_key = "left/";

const std::string* find(const checkpoint_properties& in, std::string_view name) {
  const auto found = in.find(std::string{name});
  return found == in.end() ? nullptr : &found->second;
}

std::string text_of(bool value) { return value ? "true" : "false"; }

std::optional<double> number_in(const std::string* text) {
  if (!text)
    return std::nullopt;
  double number = 0;  // Not by strtod: the program around us may have a locale with another decimal point.
  const char* const end = text->data() + text->size();
  const auto [rest, failed] = std::from_chars(text->data(), end, number);
  return failed != std::errc{} || rest != end ? std::nullopt : std::optional{number};
}

/// Reads a text such as "12 nan_loss: ...".
checkpoint_books::departure departure_in(const std::string& text) {
  char* rest = nullptr;
  const int64_t step = std::strtoll(text.c_str(), &rest, 10);
  return {step, std::string{*rest == ' ' ? rest + 1 : rest}};
}

}  // namespace

checkpoint_properties write_books(const checkpoint_books& x) {
  checkpoint_properties all;
  const auto say = [&all](std::string_view name, std::string text) { all.emplace(name, std::move(text)); };
  if (x.first_step)
    say(first_step, std::to_string(*x.first_step));
  if (x.finished)
    say(finished, text_of(*x.finished));
  if (x.rate_factor)
    say(rate_factor, shortest_text(*x.rate_factor));
  if (x.loop) {
    say(loop_begins, std::to_string(x.loop->begins));
    say(loop_steps, std::to_string(x.loop->steps));
  }
  if (!x.warm_start.empty())
    say(warm_start, x.warm_start);
  if (x.best) {
    say(best, to_string(x.best->id));
    if (x.best->value)
      say(best_value, shortest_text(*x.best->value));
    say(use_best, text_of(x.best->in_use));
  }
  if (x.ended) {
    say(ended, x.ended->why);
    say(ended_by, x.ended->rule);
  }
  for (const auto& [group, d] : x.left)
    say(std::string{left_group_key} + group, std::to_string(d.step) + " " + d.why);
  return all;
}

checkpoint_books read_books(const checkpoint_properties& properties) {
  checkpoint_books x;
  if (const auto* text = find(properties, first_step))
    x.first_step = std::strtoll(text->c_str(), nullptr, 10);
  if (const auto* text = find(properties, finished); text && (*text == text_of(true) || *text == text_of(false)))
    x.finished = *text == text_of(true);
  if (const auto factor = number_in(find(properties, rate_factor)); factor && std::isfinite(*factor) && *factor > 0)
    x.rate_factor = factor;
  if (const auto* begins = find(properties, loop_begins), *steps = find(properties, loop_steps); begins && steps)
    if (const loop_span loop{std::strtoll(begins->c_str(), nullptr, 10), std::strtoll(steps->c_str(), nullptr, 10)};
        loop.begins >= 0 && loop.steps > 0)
      x.loop = loop;
  if (const auto* from = find(properties, warm_start))
    x.warm_start = *from;
  if (const auto* text = find(properties, best))
    if (const auto id = parse_checkpoint_id(*text)) {
      const auto* used = find(properties, use_best);
      x.best = {*id, number_in(find(properties, best_value)), used && *used == text_of(true)};
    }
  if (const auto* why = find(properties, ended), *rule = find(properties, ended_by); why && rule)
    x.ended = {*why, *rule};
  for (auto at = properties.lower_bound(std::string{left_group_key});
       at != properties.end() && at->first.starts_with(left_group_key); ++at)
    x.left.emplace(at->first.substr(left_group_key.size()), departure_in(at->second));
  return x;
}

}  // namespace troupe
