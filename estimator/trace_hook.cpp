// The hook that writes traces of steps to files.
#include "storage/files/output_file.hpp"
#include "words/text.hpp"

#include <troupe/hooks.hpp>

namespace troupe {

namespace {

class step_traces final : public hook {
 public:
  explicit step_traces(trace_steps_options options) : options_(std::move(options)) {}

  needs begin(int64_t step) override {
    trace_need wanted{.first = options_.first, .steps = options_.steps};
    if (options_.every_steps) {
      wanted.every = *options_.every_steps;
      wanted.first = step + wanted.every;  // The first steps of a job are not like those after them.
    }
    return {.traces = {wanted}};
  }
  void end(int64_t step) override {
    if (!written_ && options_.warn && !options_.file.empty())
      options_.warn(options_.file + " was not written: the job ended at step " + std::to_string(step)
                    + ", and the trace begins with step " + std::to_string(options_.first));
  }
  void on_trace(const job_trace& trace, job_control&) override {
    written_ = true;
    const auto path = options_.file.empty()
                          ? join_path(options_.directory, "timeline-" + std::to_string(trace.end) + ".json")
                          : options_.file;
    const auto text = to_chrome_trace(trace);
    const auto files = posix_file_system();
    const auto done = files->create_directories(parent_of(path))
                          .and_then([&] { return output_file::create(files, path); })
                          .and_then([&](output_file file) {
                            return file.append(text).and_then([&] { return file.finish(); });
                          });
    if (!done && options_.warn)
      options_.warn(done.error().message + ": the trace is not written");
    else if (!done)
      throw std::runtime_error(done.error().message);
  }

 private:
  trace_steps_options options_;
  bool written_ = false;
};

tl::unexpected<error> refuse(const std::string& why) { return fail(errc::invalid_argument, "trace_steps: " + why); }

}  // namespace

expected<std::shared_ptr<hook>> trace_steps(trace_steps_options options) {
  if (options.file.empty() == options.directory.empty())
    return refuse("give a file for one trace, or a directory for one every every_steps");
  if (options.every_steps.has_value() == options.directory.empty())
    return refuse("every_steps goes with a directory, first with a file");
  if (options.steps < 1)
    return refuse("steps must be at least 1, not " + std::to_string(options.steps));
  if (options.first < 0)
    return refuse("first must be at least 0, not " + std::to_string(options.first));
  if (options.every_steps && *options.every_steps < options.steps)
    return refuse("every_steps must be at least steps, " + std::to_string(options.steps) + ", not "
                  + std::to_string(*options.every_steps));
  return std::make_shared<step_traces>(std::move(options));
}

}  // namespace troupe
