// Looking at what a job leaves, and at what it is made of: model directories, checkpoints, event files, plans and graphs.
//
//   auto graph = tr::inspect_graph(estimator, train_input, tr::mode::train);
//   if (graph) std::ofstream{"model.dot"} << tr::to_dot(*graph);
//
// Reports are plain values, and every one can be had as text for people or as one JSON object for programs. Any thread may
// call; nothing is written, no job is started.
#pragma once

#include <troupe/checkpoints.hpp>
#include <troupe/estimator.hpp>
#include <troupe/summary.hpp>

#include <variant>

namespace troupe {

// -- event files -------------------------------------------------------------------

/// All values of one tag and kind.
struct tag_report {
  std::string tag;
  int64_t count = 0;
  int64_t first_step = 0, last_step = 0;     ///< Least and greatest.
  summary_value last = {};                   ///< The last one in the file; its kind is that of all.
};

/// That a job began or ended here, or committed a checkpoint.
struct session_report {
  std::string what;                          ///< "start", "stop", "checkpoint"
  int64_t step = 0;
  double wall_time = 0;                      ///< Seconds since the epoch.
  std::string checkpoint = {};
  std::string message = {};
};

struct event_report {
  std::string path;
  std::string file_version = {};             ///< "brain.Event:2"
  int64_t events = 0;
  int64_t bytes = 0;                         ///< Of the file,
  int64_t bytes_read = 0;                    ///< and of its whole records up to the first damage.
  double first_wall_time = 0, last_wall_time = 0;
  std::vector<tag_report> tags = {};         ///< By tag.
  std::vector<session_report> sessions = {};
  bool truncated = false;                    ///< The last record is torn: its writer is at it still, or died there.
  std::vector<damage> damages = {};          ///< One at most: what comes after it cannot be found.
};
/// An event file, of ours or of TensorBoard's other writers. not_found, unavailable; damage is in the report.
TROUPE_API expected<event_report> inspect_event_file(const std::string& path);

// -- any path ----------------------------------------------------------------------

using inspection = std::variant<directory_report, checkpoint_report, event_report>;
/// By the kind of path: a directory; a checkpoint's prefix, its manifest or a safetensors file; an event file.
TROUPE_API expected<inspection> inspect(const std::string& path, const inspect_options& options = {});
/// Whether nothing in the report is damaged. What is truncated only is not.
TROUPE_API bool is_sound(const inspection& report);

// -- jobs and models ---------------------------------------------------------------

struct plan_report {
  struct node {
    std::string name;                        ///< "replica/0"
    std::string role;
    std::string work;                        ///< Its dataset or program, in words.
  };
  struct edge {
    std::string from, to;
    std::string divide;                      ///< How the rows of a batch are divided: "split", "broadcast".
    int64_t credit_blocks = 0;               ///< Blocks on the way or with the reader, at most.
  };
  std::vector<node> nodes;
  std::vector<edge> edges;
  std::vector<std::string> snapshot_parts;   ///< What one checkpoint is put together from; empty: none are written.
};
/// The actors that a job would have. invalid_argument as `start`.
TROUPE_API expected<plan_report> inspect_plan(const estimator& e, const train_spec& training,
                                              const std::optional<eval_spec>& evaluation = {});

/// What one replica runs for a batch, or for one gradient shard of it.
struct program_report {
  struct buffer {
    std::string name;                        ///< Of the operation whose value it is.
    std::string dtype;
    std::vector<int64_t> shape;
    std::string where;                       ///< "arena+64", "parameters+0", "feed 1"
    int64_t bytes = 0;
  };
  struct kernel {
    std::string title;                       ///< "matmul +bias +relu"
    std::vector<buffer> reads, writes;
    int64_t scratch_bytes = 0;
    int64_t flops = 0;                       ///< Multiply-adds × 2 of products and convolutions; of others 0.
    bool for_summaries = false;              ///< Left out of steps that record nothing.
  };
  int64_t rows = 0;                          ///< Of the batch, or shard.
  int64_t arena_bytes = 0;                   ///< Of everything that is neither fed, nor a variable or its gradient.
  int64_t live_bytes_max = 0;                ///< The most of it that is in use at one time.
  int64_t flops = 0;                         ///< Of a run.
  std::vector<kernel> kernels;               ///< In the order in which they run.
  std::string text;                          ///< They, with offsets.
};

struct graph_report {
  struct node {
    std::string name;                        ///< "dense/matmul"
    std::string scope;                       ///< "dense"; empty at the top.
    std::string op;
    std::string dtype;
    std::string shape;                       ///< "[batch, 10]"
    std::vector<std::string> inputs;         ///< Names of nodes.
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
  std::vector<node> nodes;                   ///< In an order in which they could be computed.
  std::vector<variable> variables;
  int64_t parameters = 0;                    ///< Elements of all variables,
  int64_t trainable_parameters = 0;          ///< and of those that training changes.
  program_report program;
};
/// The graph that the model describes for the elements of `input`, as its functions built it, without the gradients; and
/// the program that is planned for a batch of `input`. Whatever the model or the dataset has to say.
TROUPE_API expected<graph_report> inspect_graph(const estimator& e, const dataset& input, mode m);

/// Where the time of a step goes, in seconds by the wall clock and for one step, the mean of `steps`.
struct profile_report {
  struct kernel {
    std::string title;                       ///< As the program has it; the optimizer's is "update".
    std::string name;                        ///< Of the first operation whose value it yields; of the update, the optimizer.
    double seconds = 0;
    int64_t flops = 0;                       ///< As the program has it.
  };
  struct operation {
    std::string title;                       ///< Of all kernels that have it.
    int64_t calls = 0;
    double seconds = 0;
    int64_t flops = 0;
  };
  std::string model;
  troupe::mode mode = troupe::mode::train;
  int64_t rows = 0;                          ///< Of a batch, or gradient shard.
  int64_t steps = 0;                         ///< That were counted: fewer than asked for where the data end.
  double seconds = 0;                        ///< Of all kernels.
  std::vector<operation> operations;         ///< The longest first,
  std::vector<kernel> kernels;               ///<   as here.
};
/// Runs the program of one replica over batches of `input` in this thread, from the starting values of its variables; while
/// training each step is followed by the update. The first step is not counted, nor is the reading of batches. Nothing
/// is kept. invalid_argument: steps below 1; out_of_range: the data end before the second batch; whatever the model, the dataset
/// or a step has to say.
TROUPE_API expected<profile_report> profile_model(const estimator& e, const dataset& input, mode m, int64_t steps = 20);

// -- printing ----------------------------------------------------------------------

/// Lines for people; they may change.
TROUPE_API std::string to_text(const checkpoint_report& r);
TROUPE_API std::string to_text(const directory_report& r);
TROUPE_API std::string to_text(const event_report& r);
TROUPE_API std::string to_text(const plan_report& r);
TROUPE_API std::string to_text(const graph_report& r);
TROUPE_API std::string to_text(const profile_report& r);
TROUPE_API std::string to_text(const inspection& r);

/// One JSON object. Checksums are eight hexadecimal digits, values base64 (RFC 4648), numbers that are not finite null.
TROUPE_API std::string to_json(const checkpoint_report& r);
TROUPE_API std::string to_json(const directory_report& r);
TROUPE_API std::string to_json(const event_report& r);
TROUPE_API std::string to_json(const plan_report& r);
TROUPE_API std::string to_json(const graph_report& r);
TROUPE_API std::string to_json(const profile_report& r);
TROUPE_API std::string to_json(const inspection& r);

/// For Graphviz: a cluster for each scope, an edge for each input.
TROUPE_API std::string to_dot(const graph_report& r);

}  // namespace troupe
