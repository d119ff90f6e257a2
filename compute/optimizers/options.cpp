#include "compute/optimizers/update.hpp"

#include <cmath>
#include <cstdio>

namespace troupe {
namespace {

std::string number(float x) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", static_cast<double>(x));
  return text;
}

struct range_check {
  std::string_view optimizer;
  expected<void> result = {};

  range_check& positive(std::string_view field, float x) { return check(field, x, std::isfinite(x) && x > 0, "must be above 0"); }
  range_check& share(std::string_view field, float x) { return check(field, x, x >= 0 && x < 1, "must be in [0, 1)"); }
  range_check& check(std::string_view field, float x, bool right, std::string_view rule) {
    if (!right && result)
      result = fail(errc::invalid_argument,
                    std::string{optimizer} + ": " + std::string{field} + " " + std::string{rule} + ", not " + number(x));
    return *this;
  }
};

template <class... Fs>
struct overloaded : Fs... { using Fs::operator()...; };

}  // namespace

expected<void> validate(const optimizer& o) {
  return std::visit(overloaded{
    [](const gradient_descent& x) { return range_check{"gradient_descent"}.positive("rate", x.rate).result; },
    [](const momentum& x) { return range_check{"momentum"}.positive("rate", x.rate).share("decay", x.decay).result; },
    [](const adam& x) {
      return range_check{"adam"}.positive("rate", x.rate).share("beta1", x.beta1).share("beta2", x.beta2).positive("epsilon", x.epsilon).result;
    }}, o);
}

std::string to_string(const optimizer& o) {
  return std::visit(overloaded{
    [](const gradient_descent& x) { return "gradient_descent(rate = " + number(x.rate) + ")"; },
    [](const momentum& x) {
      return "momentum(rate = " + number(x.rate) + ", decay = " + number(x.decay) + (x.nesterov ? ", nesterov)" : ")");
    },
    [](const adam& x) {
      return "adam(rate = " + number(x.rate) + ", beta1 = " + number(x.beta1) + ", beta2 = " + number(x.beta2) + ", epsilon = " + number(x.epsilon) + ")";
    }}, o);
}

std::vector<std::string_view> slot_names(const optimizer& o) {
  if (std::holds_alternative<momentum>(o))
    return {"Momentum"};
  if (std::holds_alternative<adam>(o))
    return {"Adam", "Adam_1"};
  return {};
}

}  // namespace troupe
