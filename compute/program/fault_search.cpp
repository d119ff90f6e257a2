#include "compute/program/fault_search.hpp"

#include "compute/kernels/element_text.hpp"
#include "words/text.hpp"

#include <cmath>

namespace troupe {

fault_search::fault_search(const program_draft& p, const std::vector<std::byte*>& bases)
  : draft_(p), bases_(bases), state_(p.values.size(), unknown), made_(p.values.size()) {
  for (const auto& c : p.calls)
    for (int32_t out : c.out)
      made_[static_cast<size_t>(out)] = true;
}

int32_t fault_search::holder(int32_t value) const {
  while (!made_[static_cast<size_t>(value)] && draft_.value(value).view_of >= 0)
    value = draft_.value(value).view_of;
  return value;
}

const std::byte* fault_search::at(int32_t value) const {
  const operand where = draft_.place_of(value);
  return bases_[static_cast<size_t>(where.base)] + where.offset;
}

int32_t fault_search::examine(int32_t value, int32_t call) {
  const auto& v = draft_.value(value);
  const auto bad = count_not_finite(v.type, at(value), v.dims.elements());
  if (bad.count == 0)
    return finite;
  origins_.push_back({call, value, bad.count, bad.first, element_text(v.type, at(value), bad.first)});
  return static_cast<int32_t>(origins_.size()) - 1;
}

void fault_search::before(size_t call) {
  inherited_ = finite;
  for (int32_t in : draft_.calls[call].in) {
    const int32_t from = holder(in);
    auto& state = state_[static_cast<size_t>(from)];
    if (state == unknown)  // A feed, a variable or a constant: no call writes it.
      state = examine(from, -1);
    if (state == finite || (inherited_ != finite && inherited_ <= state))
      continue;
    const auto& v = draft_.value(in);
    const bool whole = v.bytes() == draft_.value(from).bytes();
    if (whole || count_not_finite(v.type, at(in), v.dims.elements()).count > 0)
      inherited_ = state;
  }
}

void fault_search::after(size_t call) {
  for (int32_t out : draft_.calls[call].out) {
    const auto& v = draft_.value(out);
    auto& state = state_[static_cast<size_t>(out)];
    if (inherited_ == finite)
      state = examine(out, static_cast<int32_t>(call));
    else
      state = count_not_finite(v.type, at(out), v.dims.elements()).count > 0 ? inherited_ : finite;
    tell_wholes(out);
  }
}

void fault_search::tell_wholes(int32_t part) {
  const int32_t found = state_[static_cast<size_t>(part)];
  for (int32_t v = draft_.value(part).view_of; v >= 0 && !made_[static_cast<size_t>(v)]; v = draft_.value(v).view_of) {
    auto& state = state_[static_cast<size_t>(v)];
    if (state < 0 || (found >= 0 && found < state))
      state = found;
  }
}

const fault_search::origin* fault_search::origin_of(int32_t value) {
  const int32_t state = state_[static_cast<size_t>(holder(value))];
  return state < 0 ? nullptr : &origins_[static_cast<size_t>(state)];
}

std::string fault_search::place(int32_t value) const {
  const auto& v = draft_.value(value);
  if (v.gradient_of >= 0)
    return std::string{v.op->name} + ", of the gradient of " + draft_.value(v.gradient_of).name + ", which is "
           + place(v.gradient_of);
  return std::string{v.op ? v.op->name : "copy"}
         + (v.op && v.at.line() > 0 ? " at " + file_name_of(v.at.file_name()) + ":" + std::to_string(v.at.line()) : "");
}

std::string fault_search::operand_text(int32_t value, const origin& o) const {
  const auto& v = draft_.value(value);
  const int32_t from = holder(value);
  const auto* source = draft_.value(from).op;
  std::string text = source == &ops::variable      ? "operand variable "
                     : source == &ops::placeholder ? "operand fed, "
                     : source == &ops::state       ? "operand carried, "
                                                   : "operand ";
  text += v.name + ": " + range_text(v.type, v.dims, at(value));
  const auto& result = draft_.value(o.value);
  if (v.dims == result.dims && v.dims.rank() > 0)
    text += "; " + element_text(v.type, at(value), o.first) + index_text(v.dims, o.first);
  return text;
}

numeric_fault fault_search::describe(const origin& o) const {
  const auto& v = draft_.value(o.value);
  numeric_fault f;
  f.name = v.name;
  f.value = o.what + index_text(v.dims, o.first);
  if (o.call < 0) {
    f.what = v.op == &ops::placeholder ? numeric_fault::kind::feed
             : v.op == &ops::state     ? numeric_fault::kind::state
             : v.op == &ops::variable  ? numeric_fault::kind::variable
                                       : numeric_fault::kind::constant;
    f.updated = v.op == &ops::variable && v.where.base == base_parameters;
    f.details.push_back(f.name + ": " + range_text(v.type, v.dims, at(o.value)));
    if ((f.what == numeric_fault::kind::feed || f.what == numeric_fault::kind::state) && v.dims.rank() > 0) {
      const shape row = v.dims.inner();
      f.row = o.first / row.elements();
      f.value = o.what + index_text(row, o.first % row.elements());
    }
    return f;
  }
  const auto& call = draft_.calls[static_cast<size_t>(o.call)];
  f.details.push_back(f.name + " is " + place(o.value) + "; " + std::to_string(o.count) + " of its "
                      + std::to_string(v.dims.elements())
                      + (v.dims.elements() == 1 ? " element is not finite" : " elements are not finite"));
  if (call.nodes.size() > 1) {
    f.details.push_back("one kernel computes "
                        + joined(call.nodes, ", ", [this](int32_t n) { return draft_.value(n).name; }));
  }
  for (int32_t in : call.in)
    f.details.push_back(operand_text(in, o));
  const double& known = call.divisor == 1 ? call.attr.number : call.divisor;
  if (!std::isfinite(known) || call.divisor == 0)
    f.details.push_back("operand that is known while planning: "
                        + element_text(dtype::float64, reinterpret_cast<const std::byte*>(&known), 0));
  return f;
}

}  // namespace troupe
