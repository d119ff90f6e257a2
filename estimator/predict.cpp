// Prediction streams: batches from the pipeline, handed out row by row, with words where the model has them.
#include "estimator/describe.hpp"
#include "estimator/launched_by.hpp"
#include "input/streams/open_input.hpp"
#include "pipeline/launch/prediction_hooks.hpp"
#include "pipeline/launch/prepared_job.hpp"
#include "words/moved_from.hpp"

#include <troupe/predict.hpp>

#include <algorithm>
#include <mutex>

namespace troupe {

namespace {

bool is_wanted(const std::vector<std::string>& keys, const std::string& name) {
  return keys.empty() || std::find(keys.begin(), keys.end(), name) != keys.end();
}

int64_t integer_at(const tensor& t, int64_t i) {
  const auto at = static_cast<size_t>(i);
  switch (t.type()) {
    case dtype::int32: return t.as<int32_t>()[at];
    case dtype::int64: return t.as<int64_t>()[at];
    default: return t.as<uint8_t>()[at];
  }
}

expected<std::vector<std::string>> words_of(const std::string& name, const text_prediction& text,
                                            const tensor& indices) {
  std::vector<std::string> words;
  for (int64_t i = 0; i < indices.elements(); ++i) {
    const int64_t index = integer_at(indices, i);
    if (index < 0 || index >= static_cast<int64_t>(text.words.size()))
      return fail(errc::invalid_argument, "the text '" + name + "' has " + std::to_string(text.words.size())
                                              + " words, and '" + text.of + "' is " + std::to_string(index));
    words.push_back(text.words[static_cast<size_t>(index)]);
  }
  return words;
}

/// Row `row`, without the batch axis.
tensor row_of(const tensor& batch, int64_t row) { return batch.slice(row, 1).reshape(batch.dims().inner()); }

std::string remark_on(const loaded_state& from, const settled_config& config) {
  std::string remark;
  for (const auto& warning : from.warnings)
    remark += (remark.empty() ? "" : "; ") + warning;
  if (!from.prefix.empty())
    return remark;
  return config.model_dir
             ? *config.model_dir + " has no checkpoint: these are predictions of freshly initialised variables"
             : "without a model_dir these are predictions of freshly initialised variables";
}

}  // namespace

struct prediction_stream::impl {
  impl(std::shared_ptr<launcher> l, prediction_job j) : by(std::move(l)), job(std::move(j)) {}
  impl(const impl&) = delete;
  /// An abandoned stream ends its hooks too; errors that they throw then are dropped.
  ~impl() { static_cast<void>(end_hooks()); }

  std::shared_ptr<launcher> by;
  prediction_job job;
  std::vector<std::string> names;    ///< Names of the values in a batch.
  std::optional<step_values> batch;  ///< The batch whose rows are being returned.
  int64_t row = 0;                   ///< The next row of `batch`.
  loaded_state from;
  bool loaded = false, ended = false;  ///< `loaded`: the first result was no error.
  std::optional<error> failure;        ///< The error that ended the stream; absent at the end of the data.

  std::mutex guard;  ///< Protects the state that `cancel` reads.
  std::unique_ptr<running_prediction> running;
  bool cancelled = false;

  std::optional<prediction_hooks> hooks;  ///< Set once the hooks have begun.

  expected<void> start();
  expected<void> end_hooks();
  expected<bool> fetch();
  expected<prediction> make(const std::function<tensor(const tensor&)>& part) const;
  expected<std::optional<prediction>> result();
  void release();
};

/// Plans and launches. If the source has no examples the stream ends at once, since there is no batch to plan for.
expected<void> prediction_stream::impl::start() {
  const auto examples = examples_of(job.input);
  if (!examples)
    return fail(examples.error());
  if (*examples == 0) {
    ended = true;
    return {};
  }
  auto prepared = prepare(job);
  if (!prepared)
    return fail(prepared.error());
  for (const auto& output : (*prepared)->in(mode::predict).engines.front()->outputs())
    names.push_back(output.name);
  auto launched = by->predict(std::move(*prepared));
  {
    std::lock_guard lock{guard};
    if (cancelled)
      launched->cancel();
    running = std::move(launched);
  }
  return job.hooks.empty() ? expected<void>{} : hooks.emplace(job.hooks, names).begin();
}

expected<void> prediction_stream::impl::end_hooks() {
  return hooks ? hooks->end(from.id.step, from.prefix, failure) : expected<void>{};
}

/// Makes sure that `batch` has a row to return; false at the end of the data.
expected<bool> prediction_stream::impl::fetch() {
  if (batch)
    return true;
  if (hooks && hooks->stopped())
    return false;
  auto next = running->next();
  if (!loaded) {
    from = running->from();
    loaded = next.has_value();
  }
  if (!next)
    return fail(next.error());
  batch = std::move(*next);
  row = 0;
  if (!batch)
    return false;
  return hooks ? hooks->show(*batch).map([] { return true; }) : true;
}

expected<prediction> prediction_stream::impl::make(const std::function<tensor(const tensor&)>& part) const {
  prediction made;
  const auto& keys = job.choice.keys;
  for (size_t i = 0; i < names.size(); ++i) {
    const tensor value = part(batch->values[i]);
    for (const auto& [name, text] : job.basis.source->texts)
      if (text.of == names[i] && is_wanted(keys, name)) {
        auto words = words_of(name, text, value);
        if (!words)
          return fail(words.error());
        made.texts[name] = std::move(*words);
      }
    if (is_wanted(keys, names[i]))
      made.values[names[i]] = value;
  }
  return made;
}

expected<std::optional<prediction>> prediction_stream::impl::result() {
  if (!running)
    if (auto started = start(); !started)
      return fail(started.error());
  if (ended)
    return std::optional<prediction>{};
  const auto there = fetch();
  if (!there)
    return fail(there.error());
  if (!*there)
    return std::optional<prediction>{};
  if (!job.choice.single_examples) {
    auto whole = make([](const tensor& t) { return t; });
    batch.reset();
    return whole ? expected<std::optional<prediction>>{std::move(*whole)} : fail(whole.error());
  }
  auto one = make([this](const tensor& t) { return row_of(t, row); });
  if (++row == batch->values.front().dims()[0])
    batch.reset();
  return one ? expected<std::optional<prediction>>{std::move(*one)} : fail(one.error());
}

/// Ends the actors at once, before the stream is destroyed.
void prediction_stream::impl::release() {
  std::unique_ptr<running_prediction> last;
  {
    std::lock_guard lock{guard};
    last = std::move(running);
  }
  batch.reset();
}

prediction_stream::prediction_stream(std::unique_ptr<impl> i) : impl_(std::move(i)) {}
prediction_stream::prediction_stream(prediction_stream&&) noexcept = default;
prediction_stream& prediction_stream::operator=(prediction_stream&&) noexcept = default;
prediction_stream::~prediction_stream() = default;

expected<std::optional<prediction>> prediction_stream::next() {
  if (!impl_)
    return fail(moved_from("stream"));
  auto& i = *impl_;
  if (i.failure)
    return fail(*i.failure);
  if (i.ended)
    return std::optional<prediction>{};
  {
    std::lock_guard lock{i.guard};
    if (i.cancelled)
      i.failure = error{errc::cancelled, "the prediction was cancelled"};
  }
  auto result = i.failure ? expected<std::optional<prediction>>{fail(*i.failure)} : i.result();
  if (!result)
    i.failure = result.error();
  if (!result || !*result) {
    i.ended = true;
    i.release();
    if (auto told = i.end_hooks(); !told && result) {
      i.failure = told.error();
      return fail(told.error());
    }
  }
  return result;
}

expected<void> prediction_stream::status() const {
  if (!impl_)
    return fail(moved_from("stream"));
  return impl_->failure ? expected<void>{fail(*impl_->failure)} : expected<void>{};
}

void prediction_stream::cancel() {
  if (!impl_)
    return;
  std::lock_guard lock{impl_->guard};
  impl_->cancelled = true;
  if (impl_->running)
    impl_->running->cancel();
}

std::string prediction_stream::checkpoint() const { return impl_ ? impl_->from.prefix : ""; }
int64_t prediction_stream::global_step() const { return impl_ ? impl_->from.id.step : 0; }
std::string prediction_stream::remark() const {
  return impl_ && impl_->loaded ? remark_on(impl_->from, impl_->job.basis.config) : "";
}

expected<prediction_stream> predict_by(std::shared_ptr<launcher> by, const estimator& e, const predict_spec& spec) {
  auto job = describe(e, spec);
  if (!job)
    return fail(job.error());
  job->basis.processors = by->processors();
  return prediction_stream{std::make_unique<prediction_stream::impl>(std::move(by), std::move(*job))};
}

expected<prediction_stream> predict(const estimator& e, const predict_spec& spec) {
  return predict_by(std::make_shared<local_launcher>(), e, spec);
}

}  // namespace troupe
