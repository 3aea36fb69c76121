#pragma once

#include "throughtime/learner.h"

namespace throughtime {

/// Shows what training is made of, each part under its name: the parameters, their optimizer and average, the learner.
inline void archive_training(Archive& archive, Trainee& trainee, Learner& learner) {
  archive.parameters(trainee.engine, trainee.parameters);
  {
    const Archive::Scope scope(archive, "optimizer");
    trainee.optimizer->archive(archive, trainee.engine);
  }
  {
    const Archive::Scope scope(archive, "average");
    trainee.average.archive(archive);
  }
  const Archive::Scope scope(archive, "learner");
  learner.archive(archive);
}

/// The same with the schedule of its rate.
inline void archive_training(Archive& archive, Trainee& trainee, Learner& learner, Schedule& schedule) {
  archive_training(archive, trainee, learner);
  const Archive::Scope scope(archive, "schedule");
  schedule.archive(archive);
}

/// What training on other data can go on with: what the optimizer, the schedule of its rate and, where it is the same
/// method with the same settings, the learner know about the weights. Their average begins anew.
inline void archive_memory(Archive& archive, Trainee& trainee, Learner* same, Schedule& schedule) {
  {
    const Archive::Scope scope(archive, "optimizer");
    trainee.optimizer->archive(archive, trainee.engine);
  }
  {
    const Archive::Scope scope(archive, "schedule");
    schedule.archive(archive);
  }
  if (same == nullptr) return;
  const Archive::Scope scope(archive, "learner");
  same->archive_memory(archive);
}

}  // namespace throughtime
