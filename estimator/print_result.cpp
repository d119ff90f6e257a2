// Prints results and errors for simple main functions.
#include <troupe/estimator.hpp>

#include <cstdio>

namespace troupe {

namespace {

void print_metrics(const std::map<std::string, double>& metrics, const std::map<std::string, tensor>& arrays) {
  for (const auto& [name, value] : metrics)
    std::printf("  %s = %.6g\n", name.c_str(), value);
  std::fputs(arrays_text(arrays).c_str(), stdout);
}

void print_warnings(const std::vector<std::string>& warnings) {
  for (const auto& warning : warnings)
    std::fprintf(stderr, "warning: %s\n", warning.c_str());
}

}  // namespace

int print_error(const error& e) {
  std::fprintf(stderr, "error: %s\n", to_text(e).c_str());
  return 1;
}

int print_result(const expected<train_result>& result) {
  if (!result)
    return print_error(result.error());
  print_warnings(result->warnings);
  std::printf("%s at step %lld, %lld steps in %.1f s\n", result->stopped ? "stopped" : "finished",
              static_cast<long long>(result->global_step), static_cast<long long>(result->steps_run), result->seconds);
  if (!result->remark.empty())
    std::printf("  %s\n", result->remark.c_str());
  if (result->search)
    std::printf("  winner: %s\n", result->search->spec.c_str());
  print_metrics(result->metrics, result->arrays);
  return 0;
}

int print_result(const expected<evaluation_result>& result) {
  if (!result)
    return print_error(result.error());
  print_warnings(result->warnings);
  std::printf("step %lld, %lld batches\n", static_cast<long long>(result->global_step),
              static_cast<long long>(result->batches));
  print_metrics(result->metrics, result->arrays);
  return 0;
}

}  // namespace troupe
