// The record of a model directory's last job: its command, versions and settings, in the file run.json.
// Not needed to begin with.
//
//   if (auto record = tr::read_run_record("runs/fashion")) use(record->settings.at("optimizer.rate"));
//
// The program `troupe` writes one for every job that it trains, and uses it if no configuration is given. Your own
// program writes one with `describe_run` (run_description.hpp). Any thread may call; a record is a plain value.
#pragma once

#include <troupe/error.hpp>

#include <map>
#include <optional>
#include <variant>

namespace troupe {

inline constexpr std::string_view run_record_file = "run.json";

struct run_record {
  double wall_time = 0;                              ///< When it was made, in seconds since the epoch.
  std::vector<std::string> command = {};             ///< The program's name and arguments.
  std::string directory = {};                        ///< The working directory. `troupe` stores absolute paths.
  std::map<std::string, std::string> versions = {};  ///< The library's: "troupe", "numerics", "cpu"; and any others.
  std::map<std::string, std::string> settings = {};  ///< The keys that were given, with their values as text.
  std::map<std::string, std::string> resolved = {};  ///< `settings`, and the defaults of all other keys that applied.
};

/// Replaces run.json, completely or not at all, and adds the library's versions. There is no lock: call it from a hook
/// of the job that owns the directory. Everyone who can read the directory can read the command and the settings. Bytes
/// that are not UTF-8 become U+FFFD. Errors of the file system.
TROUPE_API expected<void> keep_run_record(const std::string& model_dir, const run_record& record);

/// Reads run.json. not_found: no such file, for example because the program kept no record; data_loss: damaged;
/// unimplemented: written by a later version. Each names the file.
TROUPE_API expected<run_record> read_run_record(const std::string& model_dir);

/// Values by which jobs are compared, on TensorBoard's page of hyperparameters.
using hyperparameters = std::map<std::string, std::variant<double, bool, std::string>>;

struct setting_difference {
  std::string key;
  std::optional<std::string> before, now;  ///< Absent: the key did not apply.
  friend bool operator==(const setting_difference&, const setting_difference&) = default;
};
/// The keys of `resolved` whose values differ, sorted.
TROUPE_API std::vector<setting_difference> differences(const run_record& before, const run_record& now);
/// "optimizer.rate was 0.001 and is 0.0003"
TROUPE_API std::string to_text(const setting_difference& d);

}  // namespace troupe
