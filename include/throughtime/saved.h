#pragma once

#include <span>
#include <string>
#include <vector>

#include "throughtime/learner.h"
#include "throughtime/model.h"
#include "throughtime/online.h"

namespace throughtime {

// Files are safetensors; they appear once they are whole. Who loads one gets what was saved, bit for bit, or a line
// that says what is wrong with it (InvalidInput).

/// Writes the weights of a model (`Engine::read` of its parameters) with PyTorch's names and layouts.
void save_weights(const std::string& path, const Model& model, std::span<const double> parameters);
/// The weights of such a file, of `throughtime export`, of a checkpoint or of PyTorch: whatever has all blocks of the
/// model, in their shapes. For `initialise`'s place: make_trainee(engine, load_weights(...), ...).
std::vector<double> load_weights(const std::string& path, const Model& model);

/// Writes everything that decides how training goes on: weights, optimizer, learner.
void save_training(const std::string& path, Trainee& trainee, Learner& learner);
/// Puts it into training that was made with the same settings; the next stretches give the same bits as without the
/// break. The rate is the caller's: Learner::updates() says how far it was. Training that refused a file may have
/// taken a part of it: make it anew.
void load_training(const std::string& path, Trainee& trainee, Learner& learner);
/// The same of streams, with their states.
void save_training(const std::string& path, OnlineLearner& learner);
void load_training(const std::string& path, OnlineLearner& learner);

/// Trains a configuration file as `throughtime train` does, with overrides "key=value", and returns the run's
/// directory. `arm`: which [[arm]] of a file that has some (--arm). Says nothing; fails as the command does.
std::string train_file(const std::string& path, const std::vector<std::string>& overrides = {},
                       const std::string& arm = "");

/// `best`: the weights that validation chose. `chosen`: those, or the last ones where no validation chose any.
enum class Checkpoint { chosen, best, last };
/// What a run has learned.
struct SavedRun {
  Model model;
  std::vector<double> parameters;  // those that it is judged by: an optimizer's average, where that has begun
  std::string configuration;       // TOML, defaults included
};
/// Reads a run directory, and no data.
SavedRun load_run(const std::string& directory, Checkpoint checkpoint = Checkpoint::chosen);

}  // namespace throughtime
