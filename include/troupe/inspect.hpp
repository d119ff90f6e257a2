// Inspects the files of a job and its parts: model directories, checkpoints, event files, exports, plans, graphs.
// Not needed to begin with.
//
//   auto graph = tr::inspect_graph(estimator, train_input, tr::mode::train);
//   if (graph) std::ofstream{"model.dot"} << tr::to_dot(*graph);
//
// Descriptions are plain values; `to_text` prints them for people, `to_json` as one JSON object for programs. Any
// thread may call. Nothing is written and no job is started.
#pragma once

#include <troupe/checkpoints.hpp>
#include <troupe/estimator.hpp>
#include <troupe/event_value.hpp>
#include <troupe/summary.hpp>

#include <variant>

namespace troupe {

// -- event files -------------------------------------------------------------------

/// All values of one tag and kind.
struct tag_description {
  std::string tag;
  int64_t count = 0;
  int64_t first_step = 0, last_step = 0;   ///< The least and the greatest step.
  std::optional<summary_value> last = {};  ///< The last value in the file, if the tag has summaries.
  std::optional<event_value> other = {};   ///< The last value in the file, if the tag has other values.
};

/// A start or end of a job, or a checkpoint that it committed.
struct session_description {
  std::string what;  ///< "start", "stop", "checkpoint"
  int64_t step = 0;
  double wall_time = 0;  ///< Seconds since the epoch.
  std::string checkpoint = {};
  std::string message = {};
};

/// Content of an event that is not a value of a tag: for other pages of TensorBoard, or for a log.
struct attachment_description {
  std::string what;  ///< "graph", "meta graph", "run metadata", "message"
  int64_t step = 0;
  double wall_time = 0;   ///< Seconds since the epoch.
  std::string name = {};  ///< The tag of run metadata, the text of a message.
  int64_t bytes = 0;
  int64_t nodes = 0;  ///< Nodes, if it is a graph.
};

struct event_file_description {
  std::string path;
  std::string file_version = {};  ///< "brain.Event:2"
  int64_t events = 0;
  int64_t bytes = 0;       ///< Size of the file.
  int64_t bytes_read = 0;  ///< Size of the complete records before the first damage.
  double first_wall_time = 0, last_wall_time = 0;
  std::vector<tag_description> tags = {};  ///< Sorted by tag.
  std::vector<session_description> sessions = {};
  std::vector<attachment_description> attachments = {};
  bool truncated = false;            ///< The last record is incomplete: being written, or cut off.
  std::vector<damage> damages = {};  ///< At most one, since records after it cannot be found.
};
/// Inspects an event file of Troupe or of another TensorBoard writer (TensorFlow 1 and 2, torch). The description has
/// every tag; damage is part of it. not_found; unavailable.
TROUPE_API expected<event_file_description> inspect_event_file(const std::string& path);

struct event_point {
  int64_t step = 0;
  double wall_time = 0;                     ///< Seconds since the epoch.
  std::optional<summary_value> value = {};  ///< The value, if it is a summary.
  std::optional<event_value> other = {};    ///< The value, if it is none.
};
struct event_history {
  std::vector<event_point> points = {};  ///< In the order in which they were written.
  std::vector<damage> damages = {};      ///< At most one for each file, since records after it cannot be found.
};
/// All values of `tag` in an event file, or in the event files of a directory without its subdirectories. If a job
/// resumed from an earlier step, its values replace those written before for later steps (TensorBoard's rule).
/// not_found: no such path, no event file in the directory, or no value of the tag, naming the existing tags;
/// unavailable.
TROUPE_API expected<event_history> event_points(const std::string& path, std::string_view tag);

// -- exported models ---------------------------------------------------------------

struct export_description {
  struct value {
    std::string name;
    std::string dtype;
    std::string shape;  ///< "[batch, 10]"
  };
  struct signature {
    std::string name;
    std::vector<value> inputs, outputs;
  };
  std::string path;
  std::string model = {};  ///< The model's name. From here on, fields that damage hides are empty.
  int64_t global_step = 0;
  std::string checkpoint = {};                    ///< The prefix of the checkpoint that was exported.
  std::map<std::string, double> evaluation = {};  ///< The metrics that led to the export.
  std::vector<std::string> files = {};            ///< Relative to `path`, including assets.extra.
  int64_t bytes = 0;                              ///< Total size of the files.
  int64_t nodes = 0;                              ///< Nodes of the graph.
  int64_t parameters = 0;                         ///< Number of elements in all variables.
  std::vector<signature> signatures = {};
  std::map<std::string, int64_t> words = {};     ///< Number of words of each label and each prediction that has words.
  std::vector<tensor_description> tensors = {};  ///< Variables and constants.
  std::vector<damage> damages = {};              ///< At most one, since the inspection ends there.
  std::string remark = {};                       ///< That of `exported_model`.
};
/// Inspects an export (exported_model.hpp); every byte is read. not_found: no export. unimplemented: written by a later
/// version, or an unknown operation.
TROUPE_API expected<export_description> inspect_export(const std::string& path, const inspect_options& options = {});

// -- any path ----------------------------------------------------------------------

using inspection = std::variant<directory_description, checkpoint_description, event_file_description,
                                export_description>;
/// Inspects any of these: the directory of a job or an export; a checkpoint's prefix, its manifest or a safetensors
/// file; an event file.
TROUPE_API expected<inspection> inspect(const std::string& path, const inspect_options& options = {});
/// Whether the description lists no damage. A truncated event file alone is not damage.
TROUPE_API bool is_sound(const inspection& description);

// -- jobs and models ---------------------------------------------------------------

struct plan_description {
  struct node {
    std::string name;  ///< "replica/0"
    std::string role;
    std::string work;  ///< Its dataset or program, as text.
  };
  struct edge {
    std::string from, to;
    std::string divide;         ///< How the rows of a batch are divided: "split", "broadcast".
    int64_t credit_blocks = 0;  ///< Most blocks that are in transit or with the reader at a time.
  };
  std::vector<node> nodes;
  std::vector<edge> edges;
  std::vector<std::string> snapshot_parts;  ///< The parts of one checkpoint; empty: none is written.
};
/// The actors that a job would have. Errors as `start`.
TROUPE_API expected<plan_description> inspect_plan(const estimator& e, const train_spec& training,
                                                   const eval_specs& evaluations = {});

/// The program that one replica runs for a batch or a gradient shard.
struct program_description {
  struct buffer {
    std::string name;  ///< The operation that makes the value.
    std::string dtype;
    std::vector<int64_t> shape;
    std::string where;  ///< "arena+64", "parameters+0", "feed 1"
    int64_t bytes = 0;
  };
  struct kernel {
    std::string title;  ///< "matmul +bias +relu"
    std::vector<buffer> reads, writes;
    int64_t scratch_bytes = 0;
    int64_t flops = 0;           ///< Multiply-adds × 2 in products and convolutions; else 0.
    bool for_summaries = false;  ///< Skipped in steps that write no summaries.
  };
  int64_t rows = 0;             ///< Rows of the batch or shard.
  int64_t arena_bytes = 0;      ///< Size of the arena: all values except fed ones, variables and gradients.
  int64_t live_bytes_max = 0;   ///< Most bytes of the arena in use at a time.
  int64_t flops = 0;            ///< Total of one execution.
  int32_t threads = 1;          ///< Threads in a job on this machine; this description is for one thread.
  std::vector<kernel> kernels;  ///< In execution order.
  std::string text;             ///< The kernels as text, with offsets.
};

struct graph_description {
  struct node {
    std::string name;   ///< "dense/matmul"
    std::string scope;  ///< "dense"; empty at the top.
    std::string op;
    std::string dtype;
    std::string shape;                ///< "[batch, 10]"
    std::vector<std::string> inputs;  ///< Names of nodes.
  };
  struct variable {
    std::string name;
    std::string dtype;
    std::vector<int64_t> shape;
    int64_t elements = 0;
    bool trainable = false;
  };
  std::string model;
  troupe::mode mode = troupe::mode::train;
  std::vector<node> nodes;  ///< In topological order.
  std::vector<variable> variables;
  int64_t parameters = 0;            ///< Number of elements in all variables.
  int64_t trainable_parameters = 0;  ///< Number of elements in trainable variables.
  program_description program;
};
/// How much `inspect_graph` finds out. Planning a program takes most of its time.
enum class graph_depth : uint8_t { with_program, graph_only };

/// The graph that the model's functions build for the elements of `input`, without the gradients, and the program that
/// is planned for a batch of `input`. Returns any error of the model or the dataset.
TROUPE_API expected<graph_description> inspect_graph(const estimator& e, const dataset& input, mode m,
                                                     graph_depth depth = graph_depth::with_program);

/// What one process does for a job: everything if it works alone, otherwise its task in the estimator's cluster.
struct process_description {
  cluster_task id = {};  ///< Worker 0 for a process that works alone.
  task_description task = {};
  std::optional<std::string> server = {};      ///< The address at which it listens, if it starts a server.
  std::vector<std::string> duties = {};        ///< While it trains, in the order in which they see a step.
  std::vector<graph_description> models = {};  ///< The model in each mode that it runs: for training, each evaluation.
  std::optional<plan_description> plan = {};   ///< Its actors, if it trains. Only a chief saves and writes summaries.
};
/// Checks the configuration, the model and the data of this process by planning all that it would run. Data that its
/// task does not read (`task_description::trains`, `evaluates`) are not looked at, and may be `dataset{nullptr}`.
/// Errors as `train_and_evaluate`, except that a cluster of several processes is described. state: as `server_address`.
TROUPE_API expected<process_description> inspect_process(const estimator& e, const train_spec& training,
                                                         const eval_specs& evaluations = {});

/// Time by kernel and operation, in wall-clock seconds of one step: the mean over `steps`.
struct step_profile {
  struct kernel {
    std::string title;  ///< As in the program; "update" for the optimizer.
    std::string name;   ///< The first operation whose value it makes, or the optimizer.
    double seconds = 0;
    int64_t flops = 0;  ///< As in the program.
  };
  struct operation {
    std::string title;  ///< The title of all kernels that are counted here.
    int64_t calls = 0;
    double seconds = 0;
    int64_t flops = 0;
  };
  std::string model;
  troupe::mode mode = troupe::mode::train;
  int64_t rows = 0;                   ///< Rows of a batch or gradient shard.
  int64_t steps = 0;                  ///< Steps measured: fewer than requested if the data end.
  double seconds = 0;                 ///< Total of all kernels.
  std::vector<operation> operations;  ///< Longest first.
  std::vector<kernel> kernels;        ///< Longest first.
};
/// Runs one replica's program over batches of `input` in this thread, from initial values; in train mode each step ends
/// with the update. The first step and the reading of batches are not measured. Nothing is written. invalid_argument:
/// `steps` is below 1; out_of_range: the data end before the second batch; any error of the model, the dataset or a
/// step.
TROUPE_API expected<step_profile> profile_model(const estimator& e, const dataset& input, mode m, int64_t steps = 20);

// -- printing ----------------------------------------------------------------------

/// Text for people. Its form may change.
TROUPE_API std::string to_text(const checkpoint_description& r);
TROUPE_API std::string to_text(const directory_description& r);
TROUPE_API std::string to_text(const search_description& r);
TROUPE_API std::string to_text(const event_file_description& r);
TROUPE_API std::string to_text(const export_description& r);
TROUPE_API std::string to_text(const plan_description& r);
TROUPE_API std::string to_text(const graph_description& r);
TROUPE_API std::string to_text(const process_description& r);
TROUPE_API std::string to_text(const step_profile& r);
TROUPE_API std::string to_text(const inspection& r);

/// One JSON object. Checksums are eight hexadecimal digits, bytes base64 (RFC 4648), and numbers that are not finite
/// null.
TROUPE_API std::string to_json(const checkpoint_description& r);
TROUPE_API std::string to_json(const directory_description& r);
TROUPE_API std::string to_json(const search_description& r);
TROUPE_API std::string to_json(const event_file_description& r);
TROUPE_API std::string to_json(const export_description& r);
TROUPE_API std::string to_json(const plan_description& r);
TROUPE_API std::string to_json(const graph_description& r);
TROUPE_API std::string to_json(const process_description& r);
TROUPE_API std::string to_json(const step_profile& r);
TROUPE_API std::string to_json(const inspection& r);

/// The graph for Graphviz: a cluster for each scope, an edge for each input.
TROUPE_API std::string to_dot(const graph_description& r);
/// The ensembles of a search for Graphviz, with their members: the winners, and the candidates of the open iteration.
TROUPE_API std::string to_dot(const search_description& r);
/// The bytes of a GraphDef, for TensorBoard's graph page: nodes by name, with dtypes and shapes as attributes.
TROUPE_API std::string to_graph_def(const graph_description& r);

}  // namespace troupe
