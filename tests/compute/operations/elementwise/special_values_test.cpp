#include "compute/graph/operation.hpp"
#include "tests/compute/operations/elementwise/special_functions.hpp"
#include "tests/compute/operations/values.hpp"

#include <cmath>
#include <fstream>
#include <set>

namespace troupe {

using namespace test;

namespace {

/// NaN, and with both signs: zero, denormal numbers, a very small number, 1, 2.5, a very large one, the largest,
/// infinity.
template <class T>
std::vector<T> special_values() {
  using limits = std::numeric_limits<T>;
  const T small = sizeof(T) == 4 ? T(1e-30) : T(1e-300), great = sizeof(T) == 4 ? T(1e30) : T(1e300);
  std::vector<T> all = {limits::quiet_NaN()};
  for (T x :
       {T{0}, limits::denorm_min(), limits::min() / 4, small, T{1}, T{2.5}, great, limits::max(), limits::infinity()}) {
    all.push_back(x);
    all.push_back(-x);
  }
  return all;
}

/// The number that a program uses for x: denormal numbers count as 0.
template <class T>
real seen(T x) {
  return std::abs(x) < std::numeric_limits<T>::min() ? std::copysign(T{0}, x) : x;
}
/// x rounded to the dtype.
template <class T>
T rounded(real x) {
  return static_cast<T>(seen(static_cast<T>(x)));
}

bool is_zero_of_other_sign(real a, real b) { return a == 0 && b == 0 && std::signbit(a) != std::signbit(b); }

template <class T>
bool close(T got, real want, double ulps, bool signed_zero) {
  const T right = rounded<T>(want), result = rounded<T>(got);
  if (std::isnan(right) || std::isinf(right) || right == 0)
    return std::isnan(right) ? std::isnan(result)
                             : result == right && !(signed_zero && is_zero_of_other_sign(result, right));
  const T unit = std::abs(right) * std::numeric_limits<T>::epsilon();
  return std::isfinite(result) && std::abs(result - right) <= static_cast<T>(ulps) * unit;
}

/// The values of the function at the operands, followed by its gradients.
std::vector<std::vector<double>> computed(const special_function& f, const std::vector<tensor>& at) {
  graph g;
  std::vector<symbol> x;
  for (const tensor& t : at)
    x.push_back(g.constant(t));
  model_spec spec;
  spec.mode = mode::predict;
  const symbol y = f.build(x);
  REQUIRE_MESSAGE(g.status(), f.name);
  spec.predictions["0"] = y;
  if (!f.slopes.empty())
    for (const auto& dx : gradients(reduce_sum(y), x))
      spec.predictions[std::to_string(spec.predictions.size())] = dx;
  auto p = program::make(g, spec, *parameter_layout::of(g, std::nullopt), {});
  REQUIRE_MESSAGE(p, (p ? "" : to_text(p.error())));
  REQUIRE((*p)->run({}) == step_status::ok);
  std::vector<std::vector<double>> all;
  for (int32_t i = 0; i <= static_cast<int32_t>(f.slopes.size()); ++i)
    all.push_back(numbers((*p)->output(i)));
  return all;
}

const known_difference* known_at(const std::vector<known_difference>& all, const special_function& f, int slope, real a,
                                 real b, real least) {
  for (const auto& d : all)
    if (d.slope == slope && std::find(d.functions.begin(), d.functions.end(), f.name) != d.functions.end()
        && d.where(a, b, least))
      return &d;
  return nullptr;
}

/// Compares one function in one dtype. Adds to `met` the ids of the known differences that it finds.
template <class T>
void check_special(const special_function& f, std::set<std::string>& met) {
  static const auto differences = known_differences();
  std::vector<std::vector<T>> at(static_cast<size_t>(f.operands));
  for (T a : special_values<T>())
    for (T b : f.operands == 2 ? special_values<T>() : std::vector<T>{T{0}}) {
      at[0].push_back(a);
      if (f.operands == 2)
        at[1].push_back(b);
    }
  std::vector<tensor> tensors;
  for (const auto& x : at)
    tensors.push_back(tensor::of<T>({static_cast<int64_t>(x.size())}, std::span<const T>{x}));
  const auto got = computed(f, tensors);
  for (size_t k = 0; k < got.size(); ++k) {
    REQUIRE(got[k].size() == at[0].size());
    const int slope = static_cast<int>(k) - 1;
    for (size_t i = 0; i < got[k].size(); ++i) {
      const real a = seen(at[0][i]), b = f.operands == 2 ? seen(at[1][i]) : 0;
      const auto* known = known_at(differences, f, slope, a, b, std::numeric_limits<T>::min());
      if (known)
        met.insert(known->id);
      const real want = known ? known->given(a, b) : slope < 0 ? f.value(a, b) : f.slopes[k - 1](a, b);
      const double result = got[k][i];
      const double ulps = slope < 0 ? f.ulps : f.slope_ulps;
      const bool narrow = sizeof(T) == 4 || f.form == "to float32", sign = slope < 0 && f.signed_zero;
      const bool right = narrow ? close(static_cast<float>(result), want, ulps, sign) : close(result, want, ulps, sign);
      CHECK_MESSAGE(right, f.name, " ", f.form, (sizeof(T) == 4 ? " in float32, " : " in float64, "),
                    (slope < 0 ? std::string{"value"} : "gradient of operand " + std::to_string(slope)), " at ",
                    at[0][i], ", ", static_cast<double>(b), ": ", result, " for ", static_cast<double>(want));
    }
  }
}

}  // namespace

TEST_CASE(
    "element-wise operations and their gradients are right at zeros, extreme and infinite numbers and NaN, or a table "
    "says what they give") {
  std::set<std::string> met;
  for (const auto& f : special_functions()) {
    check_special<float>(f, met);
    check_special<double>(f, met);
  }
  for (const auto& d : known_differences())
    CHECK_MESSAGE(met.contains(d.id), d.id, ": no operation differs there");
}

TEST_CASE("each element-wise operation is asked at special values") {
  std::set<std::string_view> asked;
  const auto all = special_functions();
  for (const auto& f : all)
    asked.insert(f.name);
  for (const operation* op : operations())
    if (op->elementwise)
      CHECK_MESSAGE(asked.contains(op->name), op->name, ": list it in special_functions.cpp");
}

TEST_CASE("the differences at special values that docs/compute.md lists are those that the test knows") {
  std::ifstream in{TROUPE_SOURCE_DIR "/docs/compute.md"};
  REQUIRE(in);
  std::set<std::string> listed, known;
  bool within = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("#"))
      within = line == "### What operations give at special values";
    else if (within && line.starts_with("| ") && !line.starts_with("| operation") && !line.starts_with("| ---"))
      listed.insert(line.substr(2, line.find(" |", 2) - 2));
  }
  for (const auto& d : known_differences())
    known.insert(d.id);
  CHECK(listed == known);
}

}  // namespace troupe
