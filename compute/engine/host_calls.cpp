#include "compute/engine/host_calls.hpp"

#include "compute/engine/observed_values.hpp"
#include "compute/engine/summaries.hpp"
#include "words/guarded.hpp"
#include "words/text.hpp"

#include <algorithm>
#include <stdexcept>

namespace troupe {

// -- what a function sees --------------------------------------------------------------

host_call_step::host_call_step(std::string call, troupe::mode what, int64_t step, std::map<std::string, tensor> tensors)
  : call_(std::move(call)), mode_(what), step_(step), tensors_(std::move(tensors)) {}

const tensor& host_call_step::operator[](std::string_view name) const {
  const auto found = tensors_.find(std::string{name});
  if (found == tensors_.end())
    throw std::out_of_range{"the host call " + quoted(call_) + " has no tensor " + quoted(name) + "; it has "
                            + joined(tensors_, ", ", [](const auto& t) { return quoted(t.first); })};
  return found->second;
}

summary_value& host_call_step::add(std::string tag, summary_value::kind what) {
  if (tag.empty())
    throw std::invalid_argument{"a summary of the host call " + quoted(call_) + " has an empty tag"};
  return summaries_.emplace_back(summary_value{.what = what, .tag = std::move(tag)});
}

void host_call_step::scalar(std::string tag, double value) {
  add(std::move(tag), summary_value::kind::scalar).scalar = value;
}

void host_call_step::histogram(std::string tag, const tensor& values) {
  if (values.type() != dtype::float32 && values.type() != dtype::float64)
    throw std::invalid_argument{"the histogram " + quoted(tag) + " is of " + std::string{to_string(values.type())}
                                + "; it must be of float32 or float64"};
  add(std::move(tag), summary_value::kind::histogram).histogram = histogram_of({&values, 1});
}

void host_call_step::image(std::string tag, tensor pixels) {
  const auto& dims = pixels.dims();
  if (pixels.type() != dtype::uint8 || dims.rank() != 3 || dims.elements() == 0
      || (dims[2] != 1 && dims[2] != 3 && dims[2] != 4))
    throw std::invalid_argument{"the image " + quoted(tag) + " is " + std::string{to_string(pixels.type())} + " "
                                + to_text(dims) + "; it must be uint8 [height, width, 1, 3 or 4]"};
  add(std::move(tag), summary_value::kind::image).image = std::move(pixels);
}

void host_call_step::text(std::string tag, std::string text) {
  add(std::move(tag), summary_value::kind::text).text = std::move(text);
}

// -- calls -----------------------------------------------------------------------------

call_set calls_due(std::span<const host_call_form> calls, int64_t step_of_loop) {
  call_set due = 0;
  for (size_t c = 0; c < calls.size(); ++c)
    if (step_of_loop % calls[c].every == 0)
      due |= call_set{1} << c;
  return due;
}

expected<std::vector<summary_value>> run_calls(std::span<const host_call_form> calls, call_set due, mode what,
                                               int64_t step, std::span<const call_entry> entries) {
  std::vector<summary_value> recorded;
  size_t at = 0;
  for (size_t c = 0; c < calls.size(); ++c) {
    if ((due & (call_set{1} << c)) == 0)
      continue;
    const auto who = "the host call " + quoted(calls[c].name) + " of step " + std::to_string(step);
    std::map<std::string, tensor> tensors;
    for (const auto& name : calls[c].tensors) {
      std::vector<tensor> parts;
      for (const auto& entry : entries)
        parts.push_back(entry[at]);
      auto whole = parts.size() == 1 ? std::move(parts.front()) : join_rows(parts);
      if (!whole.data() && parts.size() > 1 && parts.front().data())
        return fail(errc::resource_exhausted, "no memory for the tensors of " + who);
      tensors.emplace(name, std::move(whole));
      ++at;
    }
    host_call_step seen{calls[c].name, what, step, std::move(tensors)};
    if (auto called = guarded(who, [&] { calls[c].function(seen); }); !called)
      return fail(called.error());
    recorded.insert(recorded.end(), seen.summaries().begin(), seen.summaries().end());
  }
  return recorded;
}

}  // namespace troupe
