#include "compute/kernels/sums.hpp"

#include "tests/compute/operations/values.hpp"

namespace troupe {

using namespace test;

namespace {

/// Sums `rows` rows in the memory of one: a row stride of 0.
template <class T>
std::vector<T> sum_of_equal_rows(const std::vector<T>& row, int64_t rows, const sum_ratio& by = {}) {
  std::vector<T> y(row.size());
  sum_columns<T>(row.data(), rows, static_cast<int64_t>(row.size()), 0, y.data(), by);
  return y;
}

}  // namespace

TEST_CASE_TEMPLATE("the sum of 2^27 equal numbers is right to 1e-6, in every column", T, float, double) {
  constexpr int64_t rows = int64_t{1} << 27;
  for (size_t columns : {size_t{1}, size_t{37}}) {
    std::vector<T> row(columns, T{1});
    for (size_t j = 1; j < columns; ++j)
      row[j] = static_cast<T>(0.1 * static_cast<double>(j));
    const auto sums = sum_of_equal_rows(row, rows),
               means = sum_of_equal_rows(row, rows, {1, static_cast<double>(rows)});
    for (size_t j = 0; j < columns; ++j) {
      CHECK(std::abs(static_cast<double>(sums[j]) / (static_cast<double>(row[j]) * static_cast<double>(rows)) - 1)
            <= 1e-6);
      CHECK(std::abs(static_cast<double>(means[j]) / static_cast<double>(row[j]) - 1) <= 1e-6);
    }
    CHECK(sums[0] == static_cast<T>(rows));
    CHECK(means[0] == 1);
  }
}

TEST_CASE_TEMPLATE(
    "up to 512 rows are added in two chains, more in blocks of 64, and a column's bits do not depend on those beside "
    "it",
    T, float, double) {
  constexpr int64_t columns = 45;
  for (int64_t rows : {1, 2, 3, 64, 511, 512, 513, 576, 1000}) {
    const tensor x = noise<T>({rows, columns}, static_cast<uint64_t>(rows));
    const auto at = [&](int64_t r, int64_t j) { return x.template as<T>()[static_cast<size_t>(r * columns + j)]; };
    const auto in_chains = [&](int64_t first, int64_t end, int64_t j) {
      T even{0}, odd{0};
      for (int64_t r = first; r < end; ++r)
        ((r - first) % 2 == 0 ? even : odd) += at(r, j);
      return even + odd;
    };
    std::vector<T> together(columns);
    sum_columns<T>(x.template as<T>().data(), rows, columns, columns, together.data(), {1, 3});
    for (int64_t j = 0; j < columns; ++j) {
      double blocks = 0;
      for (int64_t r = 0; r < rows; r += 64)
        blocks += static_cast<double>(in_chains(r, std::min(rows, r + 64), j));
      const T right = rows <= 512 ? in_chains(0, rows, j) / 3 : static_cast<T>(blocks / 3);
      T alone;
      sum_columns<T>(x.template as<T>().data() + j, rows, 1, columns, &alone, {1, 3});
      CHECK(together[static_cast<size_t>(j)] == right);
      CHECK(alone == right);
    }
  }
}

}  // namespace troupe
