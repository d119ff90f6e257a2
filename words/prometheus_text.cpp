#include "words/prometheus_text.hpp"

#include "words/text.hpp"

namespace troupe {

namespace {

std::string_view name_of(prometheus_text::kind what) {
  switch (what) {
    case prometheus_text::kind::counter: return "counter";
    case prometheus_text::kind::gauge: return "gauge";
    case prometheus_text::kind::histogram: return "histogram";
  }
  return "untyped";
}

/// The format escapes these three characters within a label's quotes.
std::string escaped(std::string_view label) {
  std::string text;
  for (const char c : label)
    if (c == '\n')
      text += "\\n";
    else
      text.append(c == '\\' || c == '"' ? "\\" : "").append(1, c);
  return text;
}

}  // namespace

void prometheus_text::begin(std::string_view name, kind what, std::string_view help) {
  name_ = name;
  text_.append("# HELP ").append(name).append(" ").append(help).append("\n# TYPE ");
  text_.append(name).append(" ").append(name_of(what)).append("\n");
}

void prometheus_text::add(double value, labels with, std::string_view suffix) {
  add_text(shortest_text(value), with, suffix);
}

void prometheus_text::add_text(std::string_view value, labels with, std::string_view suffix) {
  text_.append(name_).append(suffix);
  if (with.size() > 0)
    text_.append("{")
        .append(
            joined(with, ",", [](const auto& l) { return std::string{l.first} + "=\"" + escaped(l.second) + "\""; }))
        .append("}");
  text_.append(" ").append(value).append("\n");
}

}  // namespace troupe
