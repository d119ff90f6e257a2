// Callers: programs of one signature for a few numbers of rows, over weights that all callers share.
#include "compute/operations/stored_graph.hpp"
#include "compute/program/program.hpp"
#include "exports/served_model.hpp"
#include "exports/signature_graphs.hpp"
#include "words/moved_from.hpp"
#include "words/text.hpp"

#include <algorithm>
#include <cstring>

namespace troupe {

namespace {

constexpr size_t programs_max = 8;  ///< The limit of a caller that plans one for each number of rows.

/// What a caller and its copies share.
struct called_graph {
  std::shared_ptr<const exported_model::impl> model;
  graph g;
  model_spec spec;
  export_signature signature;
  std::vector<int64_t> rows;  ///< Empty: a program is planned for each number of rows.
  bool rows_apart = false;
};

struct planned_rows {
  int64_t rows = 0;
  std::unique_ptr<program> run;
  std::vector<std::shared_ptr<std::byte>> padded;  ///< By input: a buffer in which fewer rows are padded to `rows`.
};

}  // namespace

struct model_caller::impl {
  std::shared_ptr<const called_graph> of;
  std::vector<planned_rows> plans;  ///< In ascending order of rows; with empty `of->rows`, the last used is last.
  std::vector<size_t> fed;          ///< By input of a program: its index among the inputs of the signature.
  std::vector<const std::byte*> feeds;
  std::vector<const std::byte*> given;  ///< Scratch for calls with tensors.
  std::vector<std::byte*> taken;
  std::optional<error> failure;  ///< Why copying the caller failed; every call returns it.

  static expected<planned_rows> plan(const called_graph& of, int64_t rows);
  static expected<std::unique_ptr<impl>> make(std::shared_ptr<const called_graph> of);
  expected<planned_rows*> plan_for(int64_t left);
  expected<void> run(planned_rows& p, int64_t first, int64_t count, std::span<const std::byte* const> inputs,
                     std::span<std::byte* const> outputs);
  expected<void> call(int64_t rows, std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs);
};

expected<planned_rows> model_caller::impl::plan(const called_graph& of, int64_t rows) {
  auto made = program::make(of.g, of.spec, of.model->store->layout(), {.batch = rows});
  if (!made)
    return fail(made.error());
  planned_rows p{rows, std::move(*made), {}};
  for (const auto& c : p.run->inputs()) {
    p.padded.push_back(rows > 1 ? allocate_buffer(std::max<int64_t>(1, rows * c.row_bytes())) : nullptr);
    if (rows > 1 && !p.padded.back())
      return fail(errc::resource_exhausted, "no memory for " + std::to_string(rows) + " rows of '" + c.name + "'");
  }
  return p;
}

expected<std::unique_ptr<model_caller::impl>> model_caller::impl::make(std::shared_ptr<const called_graph> of) {
  auto made = std::make_unique<impl>();
  made->of = std::move(of);
  const auto& shared = *made->of;
  for (const int64_t rows : shared.rows) {
    auto p = plan(shared, rows);
    if (!p)
      return fail(p.error());
    made->plans.push_back(std::move(*p));
  }
  for (const int32_t n : contents_of(shared.g).placeholders) {
    const auto& name = contents_of(shared.g).nodes[static_cast<size_t>(n)].name;
    const auto& inputs = shared.signature.inputs;
    made->fed.push_back(static_cast<size_t>(
        std::find_if(inputs.begin(), inputs.end(), [&](const component& c) { return c.name == name; })
        - inputs.begin()));
  }
  made->feeds.resize(made->fed.size());
  made->given.resize(shared.signature.inputs.size());
  made->taken.resize(shared.signature.outputs.size());
  return made;
}

/// The program for the next of `left` rows: the largest that they fill, or the next larger one if they fill at least
/// half of it. If `of->rows` is empty, a program for exactly `left` rows.
expected<planned_rows*> model_caller::impl::plan_for(int64_t left) {
  if (of->rows.empty()) {
    auto found = std::find_if(plans.begin(), plans.end(), [left](const planned_rows& p) { return p.rows == left; });
    if (found == plans.end()) {
      auto p = plan(*of, left);
      if (!p)
        return fail(p.error());
      if (plans.size() == programs_max)
        plans.erase(plans.begin());
      found = plans.insert(plans.end(), std::move(*p));
    }
    std::rotate(found, found + 1, plans.end());
    return &plans.back();
  }
  auto larger = std::find_if(plans.begin(), plans.end(), [left](const planned_rows& p) { return p.rows > left; });
  if (larger == plans.begin() || (larger != plans.end() && 2 * left >= larger->rows))
    return &*larger;
  return &*(larger - 1);
}

expected<void> model_caller::impl::run(planned_rows& p, int64_t first, int64_t count,
                                       std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs) {
  const auto components = p.run->inputs();
  for (size_t i = 0; i < components.size(); ++i) {
    const int64_t row_bytes = components[i].row_bytes();
    const std::byte* from = inputs[fed[i]] + first * row_bytes;
    feeds[i] = from;
    if (count == p.rows)
      continue;
    // Fills up with repetitions of the last row: its values are computed anyway, so that padding causes no error of its
    // own, such as a value that is out of range or not finite.
    std::byte* to = p.padded[i].get();
    std::memcpy(to, from, static_cast<size_t>(count * row_bytes));
    for (int64_t r = count; r < p.rows; ++r)
      std::memcpy(to + r * row_bytes, from + (count - 1) * row_bytes, static_cast<size_t>(row_bytes));
    feeds[i] = to;
  }
  const auto& store = *of->model->store;
  const auto status = p.run->run({.parameters = store.arena(0), .shared = store.shared(), .feeds = feeds});
  if (status != step_status::ok) {
    auto e = p.run->last_error();
    e.step.reset();
    if (first > 0)
      e.message += ", counted from row " + std::to_string(first);
    return fail(std::move(e));
  }
  for (size_t o = 0; o < outputs.size(); ++o) {
    const int64_t row_bytes = of->signature.outputs[o].row_bytes();
    std::memcpy(outputs[o] + first * row_bytes, p.run->output_bytes(static_cast<int32_t>(o)).data(),
                static_cast<size_t>(count * row_bytes));
  }
  return {};
}

expected<void> model_caller::impl::call(int64_t rows, std::span<const std::byte* const> inputs,
                                        std::span<std::byte* const> outputs) {
  if (failure)
    return fail(*failure);
  for (int64_t done = 0; done < rows;) {
    const auto p = plan_for(rows - done);
    if (!p)
      return fail(p.error());
    const int64_t count = std::min((*p)->rows, rows - done);
    if (auto ran = run(**p, done, count, inputs, outputs); !ran)
      return ran;
    done += count;
  }
  return {};
}

namespace {

tl::unexpected<error> refuse_call(std::string what) { return fail(errc::invalid_argument, std::move(what)); }

/// Checks the dtype and the shape of an input, which needs `rows` rows like the others.
expected<void> check_input(const tensor& t, const component& c, int64_t rows) {
  if (t.type() == c.type && t.dims() == c.dims.prepend(rows))
    return {};
  const bool alone = t.type() == c.type && t.dims().rank() > 0 && t.dims().inner() == c.dims;
  return refuse_call("the input '" + c.name + "' is " + type_text(t.type(), t.dims())
                     + (alone ? ", and another one has " + std::to_string(rows) + " rows"
                              : ", and the model takes " + std::string{to_string(c.type)} + " [rows"
                                    + joined(c.dims.extents(), "", [](int64_t e) { return ", " + std::to_string(e); })
                                    + "]"));
}

}  // namespace

model_caller::model_caller(std::unique_ptr<impl> i) : impl_(std::move(i)) {}
model_caller::model_caller(model_caller&&) noexcept = default;
model_caller& model_caller::operator=(model_caller&&) noexcept = default;
model_caller::~model_caller() = default;

model_caller::model_caller(const model_caller& other) {
  if (!other.impl_)
    return;
  auto made = impl::make(other.impl_->of);
  if (made) {
    impl_ = std::move(*made);
    return;
  }
  impl_ = std::make_unique<impl>();
  impl_->of = other.impl_->of;
  impl_->failure = made.error();
}

model_caller& model_caller::operator=(const model_caller& other) {
  if (this != &other)
    *this = model_caller{other};
  return *this;
}

std::span<const component> model_caller::inputs() const noexcept {
  return impl_ ? impl_->of->signature.inputs : std::span<const component>{};
}
std::span<const component> model_caller::outputs() const noexcept {
  return impl_ ? impl_->of->signature.outputs : std::span<const component>{};
}

expected<void> model_caller::call(int64_t rows, std::span<const std::byte* const> inputs,
                                  std::span<std::byte* const> outputs) {
  if (!impl_)
    return fail(moved_from("model"));
  const auto& s = impl_->of->signature;
  if (rows < 0 || inputs.size() != s.inputs.size() || outputs.size() != s.outputs.size())
    return refuse_call("a call takes at least 0 rows of " + std::to_string(s.inputs.size()) + " inputs and "
                       + std::to_string(s.outputs.size()) + " outputs, not " + std::to_string(rows) + " of "
                       + std::to_string(inputs.size()) + " and " + std::to_string(outputs.size()));
  return impl_->call(rows, inputs, outputs);
}

bool model_caller::rows_are_apart() const noexcept { return impl_ && impl_->of->rows_apart; }

expected<std::vector<tensor>> model_caller::call(std::span<const tensor> inputs) {
  if (!impl_)
    return fail(moved_from("model"));
  auto& i = *impl_;
  const auto& s = i.of->signature;
  if (inputs.size() != s.inputs.size())
    return refuse_call("a call takes " + std::to_string(s.inputs.size()) + " inputs, not "
                       + std::to_string(inputs.size()));
  if (inputs.empty())
    return refuse_call("the signature takes no input: say the number of rows");
  const int64_t rows = inputs[0].dims().rank() == 0 ? 0 : inputs[0].dims()[0];
  for (size_t n = 0; n < inputs.size(); ++n) {
    if (auto right = check_input(inputs[n], s.inputs[n], rows); !right)
      return fail(right.error());
    i.given[n] = inputs[n].data();
  }
  std::vector<tensor> results;
  results.reserve(s.outputs.size());
  for (size_t o = 0; o < s.outputs.size(); ++o) {
    auto bytes = allocate_buffer(std::max<int64_t>(1, rows * s.outputs[o].row_bytes()));
    if (!bytes)
      return fail(errc::resource_exhausted,
                  "no memory for " + std::to_string(rows) + " rows of '" + s.outputs[o].name + "'");
    i.taken[o] = bytes.get();
    results.emplace_back(s.outputs[o].type, s.outputs[o].dims.prepend(rows), std::move(bytes));
  }
  if (auto done = i.call(rows, i.given, i.taken); !done)
    return fail(done.error());
  return results;
}

expected<std::map<std::string, tensor>> model_caller::call(const std::map<std::string, tensor>& inputs) {
  if (!impl_)
    return fail(moved_from("model"));
  const auto& s = impl_->of->signature;
  std::vector<tensor> in_order;
  for (const auto& c : s.inputs) {
    const auto found = inputs.find(c.name);
    if (found == inputs.end())
      return refuse_call(
          "the input '" + c.name + "' is missing: there is "
          + (inputs.empty() ? "none" : joined(inputs, ", ", [](const auto& x) { return quoted(x.first); })));
    in_order.push_back(found->second);
  }
  for (const auto& [name, value] : inputs)
    if (std::none_of(s.inputs.begin(), s.inputs.end(), [&name = name](const component& c) { return c.name == name; }))
      return refuse_call("the model takes no input '" + name + "', but "
                         + joined(s.inputs, ", ", [](const component& c) { return quoted(c.name); }));
  auto results = call(std::span<const tensor>{in_order});
  if (!results)
    return fail(results.error());
  std::map<std::string, tensor> by_name;
  for (size_t o = 0; o < s.outputs.size(); ++o)
    by_name.emplace(s.outputs[o].name, std::move((*results)[o]));
  return by_name;
}

expected<model_caller> exported_model::caller(const caller_options& options) const {
  const auto found = impl_->find(options.signature);
  if (!found)
    return fail(found.error());
  for (size_t i = 0; i < options.rows.size(); ++i)
    if (options.rows[i] < (i == 0 ? 1 : options.rows[i - 1] + 1))
      return refuse_call("the rows of a caller must ascend from 1, not {" + joined(options.rows) + "}");
  auto of = std::make_shared<called_graph>();
  of->model = impl_;
  const auto symbols = restore_nodes((*found)->graph, of->g, {.tensors = &impl_->tensors});
  if (!symbols)
    return fail(symbols.error());
  of->spec.mode = mode::predict;
  std::vector<int32_t> roots;
  for (const auto& [name, node] : (*found)->outputs) {
    const auto& s = of->spec.predictions[name] = (*symbols)[static_cast<size_t>(node)];
    if (!row_shape(s.dims(), contents_of(of->g).unknowns))
      return refuse_call(
          "'" + name + "' is " + describe(s)
          + " and has no row for each example: it can be predicted for by a job alone, in whole batches");
    roots.push_back(s.node());
  }
  for (const int32_t n : contents_of(of->g).placeholders)
    if (const auto& p = contents_of(of->g).nodes[static_cast<size_t>(n)];
        !row_shape(p.dims, contents_of(of->g).unknowns))
      return refuse_call("the input '" + p.name + "' has no row for each example");
  of->signature = impl_->signatures.at(options.signature);
  of->rows_apart = rows_are_apart(of->g, roots);
  if (of->rows_apart)
    of->rows = options.rows;
  auto made = model_caller::impl::make(std::move(of));
  if (!made)
    return fail(made.error());
  return model_caller{std::move(*made)};
}

}  // namespace troupe
