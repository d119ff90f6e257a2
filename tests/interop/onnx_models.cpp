// Writes models of each kind as ONNX files, with inputs and our outputs, for scripts/interop to compare.
//
//   onnx_models DIRECTORY      writes NAME.onnx, and NAME-ROWS.safetensors with "in/<input>" and "out/<output>"
#include "storage/encodings/safetensors.hpp"
#include "tests/support/initialised_export.hpp"
#include "tests/support/predicting_models.hpp"

#include <troupe/onnx.hpp>

#include <cstdio>
#include <stdexcept>

namespace troupe {
namespace {

template <class T>
T need(expected<T> x) {
  if (!x)
    throw std::runtime_error(to_text(x.error()));
  if constexpr (!std::is_void_v<T>)
    return std::move(*x);
}

void write_tensors(const std::string& directory, const std::string& name,
                   const std::map<std::string, tensor>& tensors) {
  std::vector<tensor_place> places;
  for (const auto& [key, t] : tensors)
    places.push_back({.name = key, .type = t.type(), .dims = t.dims()});
  std::stable_sort(places.begin(), places.end(),
                   [](const auto& a, const auto& b) { return size_of(a.type) > size_of(b.type); });
  std::string bytes = need(lay_out_safetensors(places));
  for (const auto& p : places)
    bytes.append(reinterpret_cast<const char*>(tensors.at(p.name).data()), static_cast<size_t>(p.bytes));
  need(write_file_atomically(*posix_file_system(), directory, name, bytes));
}

void write_model(const test::predicting_model& one, const std::string& directory) {
  const auto m = need(
      exported_model::open(need(test::export_initialised(one.model(), one.features, directory + "/" + one.name))));
  // One model has its weights outside of the file, as a model larger than 2 GiB would have.
  need(write_onnx(m, directory + "/" + one.name + ".onnx",
                  {.inside_bytes_max = one.name == "LeNet" ? 0 : int64_t{1} << 30}));
  auto call = need(m.caller({.rows = {}}));
  for (const int64_t rows : {1, 3, 32}) {
    std::map<std::string, tensor> all, inputs;
    for (const auto& c : one.features)
      inputs[c.name] = test::random_rows(c, rows, one.entries, static_cast<uint64_t>(rows));
    for (const auto& [name, t] : inputs)
      all["in/" + name] = t;
    for (const auto& [name, t] : need(call.call(inputs)))
      all["out/" + name] = t;
    write_tensors(directory, one.name + "-" + std::to_string(rows) + ".safetensors", all);
  }
}

}  // namespace
}  // namespace troupe

int main(int argc, char** argv) {
  if (argc != 2)
    return 2;
  try {
    for (const auto& one : troupe::test::predicting_models())
      troupe::write_model(one, argv[1]);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return 0;
}
