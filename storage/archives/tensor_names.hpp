// Maps names in TensorFlow 1.x checkpoints to ours. TensorFlow and Troupe name variables and slots in the same way, so
// most names stay the same.
#pragma once

#include "storage/archives/tensor_archive.hpp"

#include <map>

namespace troupe {

/// The tensors that a Troupe job could have, by our names. Most keep their name. TensorFlow puts a slot below a
/// partition or a tower of its variable, Troupe below the variable itself: "w/t_0/Adagrad" and "w/part_0/Adagrad"
/// become "w/Adagrad", unless the archive already has that name. The pointers are valid as long as the archive.
std::map<std::string, const archived_tensor*> names_here(const tensor_archive& archive);

/// The reason why a tensor cannot be in a Troupe checkpoint; absent if it can. "beta1_power" and "beta2_power" are left
/// out because our optimizers compute them from the step; texts and unknown dtypes cannot be stored.
std::optional<std::string> left_here(const archived_tensor& t);

}  // namespace troupe
