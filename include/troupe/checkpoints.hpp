// Checkpoints and model directories from outside a job: reading variables, inspecting contents and integrity, deleting.
// Read it to begin with.
//
//   auto variables = tr::load_variables("runs/fashion");
//   if (variables) use(variables->at("dnn/logits/kernel").as<float>());
//
// Reports are plain values; `to_text` and `to_json` (inspect.hpp) print them. Inspection writes nothing and needs no
// lock; a lease, held for as long as the call lasts, keeps a running job from deleting what is being read. Damage is
// part of a report, not an error: an error means that inspection was not possible at all. Any thread may call any
// function.
#pragma once

#include <troupe/checkpoint_id.hpp>
#include <troupe/checkpoint_ref.hpp>
#include <troupe/run_record.hpp>
#include <troupe/tensor.hpp>

#include <map>

namespace troupe {

/// The path of a checkpoint of a model directory, "<directory>/model.ckpt-390": the newest one that the state file names, the best that a job has kept, or
/// one of a step; a path is returned as it is. not_found: no directory, no state file, or no such checkpoint; failed_precondition: the newest is a
/// TensorFlow checkpoint, which `troupe convert` makes one of ours of.
TROUPE_API expected<std::string> find_checkpoint(const std::string& directory, const checkpoint_ref& which = {});

/// All tensors of a checkpoint, by name: variables, and the optimizer's slots under "<variable>/<slot>". Every checksum is verified. Errors as
/// above, and data_loss, naming file, tensor and offset: no other checkpoint takes its place.
TROUPE_API expected<std::map<std::string, tensor>> load_variables(const std::string& directory, const checkpoint_ref& which = {});

/// A place where stored bytes are wrong, or could not be checked because they cannot be read.
struct damage {
  std::string file;                ///< Its path.
  std::string tensor = {};         ///< Empty: the file as a whole, or its header.
  std::optional<int64_t> offset;   ///< Offset in the file where the damage begins, where known.
  std::string reason;
  bool unreadable = false;         ///< The file exists but may not, or could not, be read: it may be whole.
  friend bool operator==(const damage&, const damage&) = default;
};

struct tensor_report {
  std::string name;
  std::string dtype;                    ///< "float32"; an unsupported dtype as the file names it: "BF16".
  std::vector<int64_t> shape;
  std::string file;                     ///< Without directory.
  int64_t offset = 0;                   ///< In bytes, from the beginning of the file.
  int64_t bytes = 0;
  std::optional<uint32_t> crc32c = {};  ///< CRC-32C of the raw little-endian bytes: from the manifest, else as read.
  std::optional<std::string> value = {};///< The raw bytes, where requested and readable.
};

/// Bytes that a part of a job keeps for itself, such as the position of an input.
struct blob_report {
  std::string name;                     ///< "infeed/0"
  int64_t bytes = 0;
  std::string text = {};                ///< The whole content where it is text, as the positions of our datasets are.
};

struct checkpoint_report {
  std::string path;                     ///< "<dir>/model.ckpt-390", or that of a safetensors file.
  std::optional<checkpoint_id> id = {}; ///< Absent: a safetensors file that is looked at alone, or a foreign prefix that names no step.
  double wall_time = 0;                 ///< When it was saved, in seconds since the epoch; 0: not recorded.
  int64_t bytes = 0;                    ///< Total size of its files.
  std::vector<std::string> files = {};  ///< Without directory.
  std::vector<tensor_report> tensors = {};
  std::vector<blob_report> blobs = {};
  std::map<std::string, std::string> properties = {};
  bool verified = false;                ///< Every byte was read, not only sizes and headers.
  std::vector<damage> damages = {};     ///< Empty: whole, as far as it was checked.
};

struct inspect_options {
  bool verify = false;                  ///< Read every byte and compare every checksum.
  bool values = false;                  ///< Keep the bytes of every tensor: as much memory as the checkpoint is large.
};

/// Inspects a checkpoint given by its prefix (dir/model.ckpt-390) or its manifest, a TensorFlow V2 checkpoint by its prefix or .index,
/// or any safetensors file from anywhere. For a damaged checkpoint the report has all that can be read: without a manifest, what the
/// headers of its shards say. not_found; invalid_argument: the path is none of these; unimplemented: a later version wrote it.
TROUPE_API expected<checkpoint_report> inspect_checkpoint(const std::string& path, const inspect_options& options = {});

struct checkpoint_entry {
  checkpoint_id id;
  double wall_time = 0;
  int64_t bytes = 0;
  bool listed = false;                  ///< In the state file: jobs resume from these, and retention counts them.
  bool preserved = false;               ///< Kept for ever, by keep_checkpoint_every_n_hours.
  bool foreign = false;                 ///< TensorFlow's: a job cannot go on from it before it is converted (convert.hpp).
  bool unfinished = false;              ///< Not listed: a save or deletion, under way or cut off; a job cleans it up.
  std::vector<damage> damages = {};
};

struct directory_report {
  std::string path;
  std::vector<checkpoint_entry> checkpoints = {};  ///< By step and iteration; listed ones are included even if missing.
  std::optional<checkpoint_id> newest = {};        ///< According to the state file.
  std::optional<std::string> owner = {};           ///< The process that holds the lock: "process 4711".
  std::vector<std::string> event_files = {};       ///< Relative to `path`, including those of evaluations.
  std::map<std::string, std::map<std::string, double>> evaluations = {};  ///< Last metrics, by "eval" or "eval_<name>".
  std::optional<run_record> record = {};           ///< What its last run was configured with, where that is kept.
  int64_t bytes = 0;                               ///< Total size of all files, also in subdirectories.
  bool verified = false;
  std::vector<std::string> warnings = {};          ///< About the state file, the record, and event files that cannot be read.
};

/// not_found; failed_precondition: not a directory.
TROUPE_API expected<directory_report> inspect_directory(const std::string& path, const inspect_options& options = {});

struct deleted_checkpoints {
  std::vector<checkpoint_id> deleted;
  std::vector<checkpoint_id> held;      ///< No longer listed, but still on disk because a reader has a lease.
};

/// Removes the checkpoints from the state file, then deletes their files. Fails before it changes anything:
/// failed_precondition, when a running job owns the directory (naming the process) or the newest is among them and
/// `newest_too` is not set; not_found, naming the first that does not exist.
TROUPE_API expected<deleted_checkpoints> delete_checkpoints(const std::string& directory, const std::vector<checkpoint_id>& ids,
                                                            bool newest_too = false);

}  // namespace troupe
