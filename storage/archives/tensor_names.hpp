// The names of a TensorFlow 1.x checkpoint beside ours. Variables and slots are called alike here and there, so most names stay.
#pragma once

#include "storage/archives/tensor_archive.hpp"

#include <map>

namespace troupe {

/// The tensors that a job of ours could have, by our name of each: the tensor's own name, or that of a slot below a partition or a
/// tower of its variable, which is put below the variable: "w/t_0/Adagrad" and "w/part_0/Adagrad" become "w/Adagrad". A name that the
/// archive has itself is not taken. Pointers last as long as the archive.
std::map<std::string, const archived_tensor*> names_here(const tensor_archive& archive);

/// Why a tensor has no place in a checkpoint of ours; absent: it has one. "beta1_power" and "beta2_power" are powers that our optimizers
/// compute from the step; texts and dtypes that we do not have cannot be held.
std::optional<std::string> left_here(const archived_tensor& t);

}  // namespace troupe
