#include "storage/archives/conversion.hpp"

#include "storage/archives/tensor_names.hpp"
#include "storage/checkpoints/checkpoint_names.hpp"
#include "storage/checkpoints/checkpoint_store.hpp"
#include "storage/checkpoints/state_file.hpp"
#include "storage/encodings/safetensors.hpp"
#include "storage/files/output_file.hpp"
#include "storage/tensorflow/tensor_bundle.hpp"
#include "words/text.hpp"

#include <algorithm>
#include <cmath>

namespace troupe {

namespace {

constexpr std::string_view step_name = "global_step";

/// A tensor of the destination: `name` there, and the source tensor that it copies. If `from` is null, its value is
/// `made`.
struct piece {
  std::string name;
  const archived_tensor* from = nullptr;
  tensor made = {};
};

class conversion {
 public:
  conversion(const std::shared_ptr<file_system>& fs, tensor_archive& source, std::string to,
             const convert_options& options, double wall_time)
    : fs_(fs), source_(source), to_(std::move(to)), options_(options), wall_time_(wall_time) {
    report_.from = source.path();
    // Both enumerations list the formats in the same order.
    report_.from_format = static_cast<checkpoint_format>(source.format());
  }

  expected<conversion_result> run() {
    const bool is_file = to_.ends_with(".safetensors");
    report_.to_format = options_.format.value_or(is_file ? checkpoint_format::safetensors
                                                 : source_.format() == archive_format::tensorflow
                                                     ? checkpoint_format::troupe
                                                     : checkpoint_format::tensorflow);
    const auto step = step_of(source_);
    if (!step)
      return fail(step.error());
    const auto named = id_of_checkpoint(source_.path());
    report_.step = step->value_or(named ? named->step : 0);
    if (auto found = find_names(); !found)
      return fail(std::move(found.error()));
    choose();
    if (std::none_of(chosen_.begin(), chosen_.end(), [](const piece& p) { return p.from != nullptr; }))
      return fail(errc::type, source_.path() + " has no tensor that can be converted to "
                                  + std::string{to_string(report_.to_format)});
    auto done = check_destination().and_then([this] {
      switch (report_.to_format) {
        case checkpoint_format::troupe: return write_ours();
        case checkpoint_format::tensorflow: return write_tensorflow();
        case checkpoint_format::safetensors: break;
      }
      return write_safetensors();
    });
    if (!done)
      return fail(std::move(done.error()));
    return std::move(report_);
  }

 private:
  // -- what is converted --------------------------------------------------------------

  /// Reads the names of the checkpoint given as `like`, and maps our names to them.
  expected<void> find_names() {
    if (!options_.like)
      return {};
    if (report_.to_format != checkpoint_format::tensorflow)
      return fail(errc::invalid_argument, "like gives the names for a TensorFlow checkpoint, and " + to_ + " becomes "
                                              + std::string{to_string(report_.to_format)});
    const auto like = open_archive(fs_, *options_.like);
    if (!like)
      return fail(like.error());
    if ((*like)->format() != archive_format::tensorflow)
      return fail(errc::invalid_argument, (*like)->path() + " is no TensorFlow checkpoint whose names could be used");
    for (const auto& [name, t] : names_here(**like))
      names_[name] = t->name;
    for (const auto& t : (*like)->tensors())
      for (const char* power : {"beta1_power", "beta2_power"})
        if (t.name.ends_with(std::string{"/"} + power))
          names_[power] = t.name;
    return {};
  }
  const std::string& name_there(const std::string& name) const {
    const auto known = names_.find(name);
    return known == names_.end() ? name : known->second;
  }

  void choose() {
    if (report_.to_format == checkpoint_format::troupe) {
      for (const auto& [name, t] : names_here(source_))
        if (auto reason = left_here(*t))
          report_.left.push_back({t->name, std::move(*reason)});
        else
          chosen_.push_back({name, t});
    } else {
      for (const auto& t : source_.tensors())
        if (auto reason = left_there(t))
          report_.left.push_back({t.name, std::move(*reason)});
        else
          chosen_.push_back({name_there(t.name), &t});
    }
    if (report_.to_format != checkpoint_format::safetensors && !has(step_name))
      chosen_.push_back({std::string{step_name}, nullptr, tensor::scalar<int64_t>(report_.step)});
    if (report_.to_format == checkpoint_format::tensorflow)
      add_powers();
    std::sort(chosen_.begin(), chosen_.end(), [](const piece& a, const piece& b) { return a.name < b.name; });
    for (const auto& p : chosen_)
      if (p.from)
        report_.tensors.push_back(
            {p.name, p.name == p.from->name ? "" : p.from->name, p.from->type, p.from->extents, bytes_of(p)});
      else
        report_.tensors.push_back(
            {p.name, "", std::string{to_string(p.made.type())}, extents_of(p), p.made.byte_size(), true});
  }

  /// The reason why the destination format cannot hold a tensor; absent if it can.
  std::optional<std::string> left_there(const archived_tensor& t) const {
    if (t.problem && t.problem->category != errc::unimplemented)
      return {};  // A damaged tensor is an error, so it is not left out.
    if (t.type == "string")
      return "texts cannot be written yet";
    const bool known = t.known && !t.problem
                       && (report_.to_format == checkpoint_format::tensorflow || !t.known->safetensors.empty());
    return known ? std::nullopt
                 : std::optional{"it is " + type_text(t) + ", and " + std::string{to_string(report_.to_format)}
                                 + " has no such tensors"};
  }

  bool has(std::string_view name) const {
    return std::any_of(chosen_.begin(), chosen_.end(), [name](const piece& p) { return p.name == name; });
  }
  bool has_slot(std::string_view slot) const {
    return std::any_of(chosen_.begin(), chosen_.end(),
                       [slot](const piece& p) { return p.from && p.from->name.ends_with(slot); });
  }

  /// By repeated squaring, which gives the same bits with every C library.
  static double power_of(double base, int64_t exponent) {
    double power = 1;
    for (; exponent > 0; exponent /= 2, base *= base)
      if (exponent % 2 != 0)
        power *= base;
    return power;
  }

  /// Adds the power variables of tf.train.AdamOptimizer: it multiplies each power, initially beta, by beta after every
  /// step. AdaMax has only the first power.
  void add_powers() {
    const auto add = [this](const std::string& name, double beta) {
      if (!has(name_there(name)))
        chosen_.push_back(
            {name_there(name), nullptr, tensor::scalar(static_cast<float>(power_of(beta, report_.step + 1)))});
    };
    const bool both = has_slot("/Adam_1");
    if (both || has_slot("/AdaMax_1"))
      add("beta1_power", options_.beta1);
    if (both)
      add("beta2_power", options_.beta2);
  }

  static int64_t bytes_of(const piece& p) {
    if (!p.from)
      return p.made.byte_size();
    int64_t bytes = p.from->known ? p.from->known->bytes : 0;
    for (const int64_t e : p.from->extents)
      bytes *= e;
    return bytes;
  }
  static std::vector<int64_t> extents_of(const piece& p) {
    const auto extents = p.made.dims().extents();
    return p.from ? p.from->extents : std::vector<int64_t>{extents.begin(), extents.end()};
  }
  static const element_type& type_of(const piece& p) {
    return p.from ? *p.from->known : element_type_of(p.made.type());
  }
  expected<std::shared_ptr<const std::byte>> bytes_read(const piece& p) {
    return p.from ? source_.read_bytes(*p.from) : p.made.buffer();
  }

  // -- where it goes ------------------------------------------------------------------

  expected<void> check_destination() const {
    if (report_.to_format == checkpoint_format::safetensors)
      return fs_->info(to_) ? fail(errc::failed_precondition, to_ + " exists; give a new file") : expected<void>{};
    if (to_.ends_with(".safetensors"))
      return fail(errc::invalid_argument, to_ + " is called like a safetensors file, and a directory is wanted for "
                                              + std::string{to_string(report_.to_format)});
    const auto info = fs_->info(to_);
    if (!info && info.error().category == errc::not_found)
      return {};
    if (!info)
      return fail(info.error());
    if (!info->directory)
      return fail(errc::failed_precondition, to_ + " is a file, and a directory is wanted there");
    for (const auto& name :
         {std::string{state_file_name}, manifest_name({report_.step}),
          bundle_index_name(checkpoint_name({report_.step})), bundle_data_name(checkpoint_name({report_.step}), 0, 1)})
      if (fs_->info(join_path(to_, name)))
        return fail(errc::failed_precondition,
                    to_ + " holds checkpoints already, as its file " + name + " shows; give a new directory");
    return {};
  }

  expected<void> write_ours() {
    checkpoint_content content{.id = {report_.step},
                               .properties = {{"converted_from", std::string{to_string(report_.from_format)}}},
                               .wall_time = wall_time_};
    // Marks the checkpoint as one of a finished job: it has no input positions, so a job that continues reads its data
    // from the beginning.
    content.properties["finished"] = "true";
    for (auto& p : chosen_) {
      auto value = p.from ? source_.read(*p.from) : expected<tensor>{p.made};
      if (!value)
        return fail(std::move(value.error()));
      // Only an int64 scalar counts as "global_step"; any other is replaced by the step of the result.
      if (p.name == step_name)
        value = tensor::scalar<int64_t>(report_.step);
      content.tensors.push_back({p.name, std::move(*value)});
    }
    auto store = checkpoint_store::open(fs_, to_);
    if (!store)
      return fail(std::move(store.error()));
    if (auto still_free = check_destination(); !still_free)  // Another conversion may have owned it until now.
      return still_free;
    auto saved = (*store)->commit(content);
    if (!saved)
      return fail(std::move(saved.error()));
    report_.to = saved->prefix;
    return {};
  }

  expected<void> write_tensorflow() {
    std::vector<bundle_source> sources;
    for (const auto& p : chosen_)
      sources.push_back({p.name, &type_of(p), extents_of(p), [this, &p] { return bytes_read(p); }});
    if (auto made = fs_->create_directories(to_); !made)
      return made;
    const auto lock = fs_->lock(to_);
    if (!lock)
      return fail(lock.error());
    if (auto still_free = check_destination(); !still_free)
      return still_free;
    const checkpoint_id id{report_.step};
    report_.to = join_path(to_, checkpoint_name(id));
    if (auto written = write_bundle(*fs_, to_, checkpoint_name(id), std::move(sources)); !written)
      return written;
    auto listed = write_file_atomically(*fs_, to_, std::string{state_file_name}, write_state_file({id}), lock->get());
    if (!listed)
      for (const auto& path : {bundle_index_name(report_.to), bundle_data_name(report_.to, 0, 1)})
        static_cast<void>(fs_->remove(path));
    return listed;
  }

  expected<void> write_safetensors() {
    // Tensors with wider elements come first, so that each tensor is aligned to its elements.
    std::stable_sort(chosen_.begin(), chosen_.end(),
                     [](const piece& a, const piece& b) { return type_of(a).bytes > type_of(b).bytes; });
    std::vector<raw_place> places;
    for (const auto& p : chosen_)
      places.push_back({p.name, type_of(p).safetensors, extents_of(p), 0, bytes_of(p)});
    const auto header = lay_out_safetensors(std::span{places});
    if (!header)
      return fail(header.error());
    auto file = output_file::create(fs_, to_);
    if (!file)
      return fail(std::move(file.error()));
    auto done = file->append(*header);
    for (const auto& p : chosen_)
      if (done)
        done = bytes_read(p).and_then([&](const std::shared_ptr<const std::byte>& bytes) {
          return file->append(std::span{bytes.get(), static_cast<size_t>(bytes_of(p))});
        });
    report_.to = to_;
    return done.and_then([&] { return file->finish(); });
  }

  const std::shared_ptr<file_system>& fs_;
  tensor_archive& source_;
  std::string to_;
  const convert_options& options_;
  double wall_time_;
  conversion_result report_;
  std::map<std::string, std::string> names_;  ///< Our names to those of the destination, where these differ.
  std::vector<piece> chosen_;
};

}  // namespace

std::string_view to_string(checkpoint_format f) noexcept { return to_string(static_cast<archive_format>(f)); }

expected<conversion_result> convert_archive(const std::shared_ptr<file_system>& fs, const std::string& from,
                                            const std::string& to, const convert_options& options, double wall_time) {
  if (to.empty())
    return fail(errc::invalid_argument, "the destination of a conversion must not be ''");
  for (const auto& [name, beta] : {std::pair{"beta1", options.beta1}, std::pair{"beta2", options.beta2}})
    if (!(beta >= 0 && beta < 1))
      return fail(errc::invalid_argument, std::string{name} + " must be in [0, 1), not " + shortest_text(beta));
  auto source = open_archive(fs, from, options.step);
  if (!source)
    return fail(std::move(source.error()));
  return conversion{fs, **source, to, options, wall_time}.run();
}

}  // namespace troupe
