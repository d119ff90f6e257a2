// Checkpoints seen from outside: what is in one, whether it is whole, what a model directory holds; and deleting some.
//
//   auto found = tr::inspect_directory("runs/fashion");
//   for (const auto& c : found->checkpoints) std::cout << c.step << (c.damages.empty() ? "\n" : " damaged\n");
//
// Reports are plain values; `to_text` and `to_json` (inspect.hpp) print them. Looking writes nothing and needs no lock; what
// is being read is not deleted by a running job (a lease, held for as long as the call lasts). Damage is part of a report
// and no error: errors are what keeps one from looking at all. Every function may be called from any thread.
#pragma once

#include <troupe/error.hpp>

#include <map>

namespace troupe {

/// A place where stored bytes are not what they should be, or of which nobody could say so since they cannot be read.
struct damage {
  std::string file;                ///< Its path.
  std::string tensor = {};         ///< Empty: the file as a whole, or its header.
  std::optional<int64_t> offset;   ///< The byte of the file where it begins, as far as that is known.
  std::string reason;
  bool unreadable = false;         ///< The file is there and may not, or could not, be read: it may be whole.
  friend bool operator==(const damage&, const damage&) = default;
};

struct tensor_report {
  std::string name;
  std::string dtype;                    ///< "float32"; one that we have not as the file calls it: "BF16".
  std::vector<int64_t> shape;
  std::string file;                     ///< Without directory.
  int64_t offset = 0;                   ///< In bytes, from the beginning of the file.
  int64_t bytes = 0;
  std::optional<uint32_t> crc32c = {};  ///< CRC-32C of the raw little-endian bytes: as the manifest has it; else as read.
  std::optional<std::string> value = {};///< The raw bytes, where they were asked for and could be read.
};

/// Bytes that a part of a job keeps for itself, such as the position of an input.
struct blob_report {
  std::string name;                     ///< "infeed/0"
  int64_t bytes = 0;
  std::string text = {};                ///< The whole of it where it is text, as the positions of our datasets are.
};

struct checkpoint_report {
  std::string path;                     ///< "<dir>/model.ckpt-390", or that of a safetensors file.
  std::optional<int64_t> step = {};     ///< Absent: a safetensors file that is looked at alone.
  double wall_time = 0;                 ///< When it was saved, in seconds since the epoch; 0: it does not say.
  int64_t bytes = 0;                    ///< Of all its files.
  std::vector<std::string> files = {};  ///< Without directory.
  std::vector<tensor_report> tensors = {};
  std::vector<blob_report> blobs = {};
  std::map<std::string, std::string> properties = {};
  bool verified = false;                ///< Every byte was read, and not sizes and headers alone.
  std::vector<damage> damages = {};     ///< Empty: it is whole, as far as was looked.
};

struct inspect_options {
  bool verify = false;                  ///< Read every byte and compare every checksum.
  bool values = false;                  ///< Keep the bytes of every tensor: as much memory as the checkpoint is large.
};

/// A checkpoint by its prefix (dir/model.ckpt-390) or its manifest, or any safetensors file from anywhere. Of a damaged one all
/// that can be read is there: without a manifest, what the headers of its shards say. not_found; invalid_argument: the
/// path is none of these; unimplemented: a later version wrote it.
TROUPE_API expected<checkpoint_report> inspect_checkpoint(const std::string& path, const inspect_options& options = {});

struct checkpoint_entry {
  int64_t step = 0;
  double wall_time = 0;
  int64_t bytes = 0;
  bool listed = false;                  ///< In the state file: what a job goes on from, and what retention counts.
  bool preserved = false;               ///< Kept for ever, by keep_checkpoint_every_n_hours.
  bool unfinished = false;              ///< Not listed: part of a save or deletion, under way or cut off; a job tidies up.
  std::vector<damage> damages = {};
};

struct directory_report {
  std::string path;
  std::vector<checkpoint_entry> checkpoints = {};  ///< By step; also those that are listed and not there.
  std::optional<int64_t> newest = {};              ///< That the state file names.
  std::optional<std::string> owner = {};           ///< "process 4711": who holds the lock.
  std::vector<std::string> event_files = {};       ///< Relative to `path`, those of evaluations too.
  std::map<std::string, std::map<std::string, double>> evaluations = {};  ///< By "eval" or "eval_<name>": last metrics.
  int64_t bytes = 0;                               ///< Of all files, also in directories below.
  bool verified = false;
  std::vector<std::string> warnings = {};          ///< About the state file, and event files that cannot be read.
};

/// not_found; failed_precondition: not a directory.
TROUPE_API expected<directory_report> inspect_directory(const std::string& path, const inspect_options& options = {});

struct deleted_checkpoints {
  std::vector<int64_t> deleted;
  std::vector<int64_t> held;            ///< No longer listed, and still there: somebody is reading them.
};

/// Takes the steps from the list, then deletes their files. Before it changes anything: failed_precondition, when a
/// running job owns the directory (naming the process) or the newest is among them and `newest_too` is not set; not_found
/// naming the first step that is not there.
TROUPE_API expected<deleted_checkpoints> delete_checkpoints(const std::string& directory, const std::vector<int64_t>& steps,
                                                            bool newest_too = false);

}  // namespace troupe
