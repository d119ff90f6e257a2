// What the last job in a model directory was configured with, by which command and which versions: the file run.json there.
// Not needed to begin with.
//
//   if (auto record = tr::read_run_record("runs/fashion")) use(record->settings.at("optimizer.rate"));
//
// The program `troupe` keeps one of every job that it trains, and goes by it where no configuration is named; a program of your
// own does so with `describe_run` (run_description.hpp). Any thread may call; a record is a plain value.
#pragma once

#include <troupe/error.hpp>

#include <map>
#include <optional>
#include <variant>

namespace troupe {

inline constexpr std::string_view run_record_file = "run.json";

struct run_record {
  double wall_time = 0;                                ///< When it was made, in seconds since the epoch.
  std::vector<std::string> command = {};               ///< The program's arguments, its name first.
  std::string directory = {};                          ///< The working directory. The paths that `troupe` keeps are absolute.
  std::map<std::string, std::string> versions = {};    ///< "troupe", "numerics", "cpu": of the library; others are kept too.
  std::map<std::string, std::string> settings = {};    ///< The keys that were given, with their values as text.
  std::map<std::string, std::string> resolved = {};    ///< The same with the defaults of all others that had a say.
};

/// Replaces run.json as a whole, or leaves it as it was; adds the library's versions. Nothing is locked: call it from a hook of
/// the job that owns the directory. Whoever may read the directory may read the command and the settings. Bytes that are no
/// UTF-8 become U+FFFD. Errors of the file system.
TROUPE_API expected<void> keep_run_record(const std::string& model_dir, const run_record& record);

/// not_found: no such file, as in directories of programs that keep no record and of versions before; data_loss: damaged;
/// unimplemented: of a later version. Each names the file.
TROUPE_API expected<run_record> read_run_record(const std::string& model_dir);

/// Values that a run is compared by with others: TensorBoard has a page of them.
using hyperparameters = std::map<std::string, std::variant<double, bool, std::string>>;

struct setting_difference {
  std::string key;
  std::optional<std::string> before, now;              ///< Absent: it had no say.
  friend bool operator==(const setting_difference&, const setting_difference&) = default;
};
/// Of `resolved`, by key.
TROUPE_API std::vector<setting_difference> differences(const run_record& before, const run_record& now);
/// "optimizer.rate was 0.001 and is 0.0003"
TROUPE_API std::string to_text(const setting_difference& d);

}  // namespace troupe
