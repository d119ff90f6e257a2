// Checkpoints and model directories, used without a job: read variables, inspect contents and integrity.
// Read it to begin with.
//
//   auto variables = tr::load_variables("runs/fashion");
//   if (variables) use(variables->at("dnn/logits/kernel").as<float>());
//
// Descriptions are plain values; `to_text` and `to_json` (inspect.hpp) print them. Inspection writes nothing; a lease
// keeps a job from deleting the checkpoint. It lists damage; an error means that it was not possible. Any thread.
#pragma once

#include <troupe/checkpoint_id.hpp>
#include <troupe/checkpoint_ref.hpp>
#include <troupe/run_record.hpp>
#include <troupe/search/search_description.hpp>
#include <troupe/tensor.hpp>

#include <map>

namespace troupe {

/// The path of a checkpoint of a model directory, "<directory>/model.ckpt-390": by default the newest one in the state
/// file. A `checkpoint_ref` that is a path is returned as it is. not_found: no directory, no state file, or no such
/// checkpoint; failed_precondition: the newest is a TensorFlow checkpoint, which `troupe convert` converts.
TROUPE_API expected<std::string> find_checkpoint(const std::string& directory, const checkpoint_ref& which = {});

/// All tensors of a checkpoint, by name: variables, and slots as "<variable>/<slot>". `directory` may be a prefix, too.
/// Every checksum is verified. Errors as above, and data_loss, naming file, tensor and offset: no older one is read.
TROUPE_API expected<std::map<std::string, tensor>> load_variables(const std::string& directory,
                                                                  const checkpoint_ref& which = {});

/// A place in a file whose bytes are wrong or cannot be read.
struct damage {
  std::string file;               ///< Path of the file.
  std::string tensor = {};        ///< Empty: the file as a whole, or its header.
  std::optional<int64_t> offset;  ///< Where the damage begins in the file, if known, in bytes.
  std::string reason;
  bool unreadable = false;  ///< The file could not be read (permission, device), so it may be whole.
  friend bool operator==(const damage&, const damage&) = default;
};

struct tensor_description {
  std::string name;
  std::string dtype;  ///< "float32"; an unsupported dtype by its name in the file: "BF16".
  std::vector<int64_t> shape;
  std::string file;                       ///< Name of the file, without its directory.
  int64_t offset = 0, bytes = 0;          ///< From the beginning of the file; of the tensor.
  std::optional<uint32_t> crc32c = {};    ///< CRC-32C of the raw little-endian bytes: from the manifest, else as read.
  std::optional<std::string> value = {};  ///< The raw bytes, if requested and readable.
};

/// State of a job that is not a tensor, such as the position of an input.
struct blob_description {
  std::string name;  ///< "infeed/0"
  int64_t bytes = 0;
  std::string text = {};  ///< The whole content if it is text, such as the position of a dataset.
};

struct checkpoint_description {
  std::string path;                      ///< "<dir>/model.ckpt-390", or the path of a safetensors file.
  std::optional<checkpoint_id> id = {};  ///< Absent: a single safetensors file, or a TensorFlow prefix without a step.
  double wall_time = 0;                  ///< When it was saved, in seconds since the epoch; 0: not recorded.
  int64_t bytes = 0;                     ///< Total size of its files.
  std::vector<std::string> files = {};   ///< Names of its files, without the directory.
  std::vector<tensor_description> tensors = {};
  std::vector<blob_description> blobs = {};
  std::map<std::string, std::string> properties = {};  ///< Facts that the job stored as text.
  bool verified = false;                               ///< Every byte was read; false: only sizes and headers.
  std::vector<damage> damages = {};                    ///< Empty: no damage, as far as it was checked.
};

struct inspect_options {
  bool verify = false;  ///< Reads every byte and compares checksums. False: sizes and headers only.
  bool values = false;  ///< Keeps the bytes of every tensor, which needs that much memory.
};

/// Inspects a checkpoint by its prefix (dir/model.ckpt-390) or manifest, a TensorFlow V2 checkpoint by its prefix or
/// .index, or any safetensors file. Of a damaged one it has what can be read: without a manifest, the shards' headers.
/// not_found; invalid_argument: the path is none of these; unimplemented: written by a later version.
TROUPE_API expected<checkpoint_description> inspect_checkpoint(const std::string& path,
                                                               const inspect_options& options = {});

struct checkpoint_entry {
  checkpoint_id id;
  double wall_time = 0;
  int64_t bytes = 0;
  bool listed = false;      ///< In the state file: jobs resume from it, and retention counts it.
  bool best = false;        ///< The one that keep_best keeps, according to the newest checkpoint.
  bool preserved = false;   ///< Kept for ever by keep_checkpoint_every_n_hours.
  bool foreign = false;     ///< A TensorFlow checkpoint: convert it (convert.hpp) to resume from it.
  bool unfinished = false;  ///< Not listed: an incomplete save or deletion, which the next job cleans up.
  std::vector<damage> damages = {};
};

struct directory_description {
  std::string path;
  std::vector<checkpoint_entry> checkpoints = {};  ///< By step and iteration, with listed ones that are missing.
  std::optional<checkpoint_id> newest = {};        ///< According to the state file.
  std::optional<std::string> owner = {};           ///< The process that holds the lock: "process 4711".
  std::vector<std::string> exports = {};           ///< Relative to `path`, oldest first.
  std::vector<std::string> event_files = {};       ///< Relative to `path`, including those of evaluations.
  std::map<std::string, std::map<std::string, double>> evaluations = {};  ///< Last ones, by "eval" or "eval_<name>".
  std::optional<run_record> record = {};          ///< The configuration of its last job, if kept.
  std::optional<search_description> search = {};  ///< Of a search, from the newest checkpoint.
  int64_t bytes = 0;                              ///< Total size of all files, subdirectories included.
  bool verified = false;
  std::vector<std::string> warnings = {};  ///< Problems of state file, run.json and event files.
};

/// Inspects a model directory. not_found; failed_precondition: not a directory.
TROUPE_API expected<directory_description> inspect_directory(const std::string& path,
                                                             const inspect_options& options = {});

}  // namespace troupe
