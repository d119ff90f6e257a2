// Iterates over an indexed dataset. Its position is only the number of the next element; of batches in order, the next
// example of an epoch, so that it does not depend on the size of a batch and the number of hosts.
#pragma once

#include "input/streams/row_stage.hpp"

namespace troupe::input {

class position_iterator final : public dataset_iterator {
 public:
  position_iterator(std::shared_ptr<const row_stage> node, const iterate_options& options);

  const element_spec& spec() const noexcept override { return spec_; }
  int64_t batch_rows() const noexcept override { return rows_; }
  expected<int64_t> read(std::span<std::byte* const> into, const std::stop_token& stop) override;
  expected<lent_batches> lend(int64_t most) override;
  expected<std::string> save() const override;
  expected<void> restore(std::string_view state) override;
  std::vector<std::string> warnings() const override { return warnings_; }
  std::optional<int64_t> source_rows() const override;
  void last_rows(std::span<int64_t> into) const override;

 private:
  std::vector<std::string> stages() const;
  std::string place() const;
  /// The number of the element at a place. Error: why there is none.
  expected<int64_t> element_at(int64_t epoch, int64_t example) const;

  std::shared_ptr<const row_stage> stage_;
  const row_reader& source_;
  reading reading_;
  int64_t host_;
  int64_t hosts_;
  element_spec spec_;
  int64_t rows_;
  int64_t rows_per_example_;
  int64_t length_;
  int64_t batches_of_epoch_;  ///< Of batches in order; 0: they are not.
  /// The first element that no host has read. It is the same on all hosts, for any number of hosts.
  int64_t round_ = 0;
  std::vector<std::string> warnings_;
  std::vector<row_range> ranges_;  ///< A member, so that batches reuse its memory.
};

/// Error: invalid_argument unless 0 <= host < hosts.
expected<void> check_hosts(const iterate_options& options);

}  // namespace troupe::input
