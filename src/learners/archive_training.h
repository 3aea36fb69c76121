#pragma once

#include "throughtime/learner.h"

namespace throughtime {

/// Shows what training is made of, each part under its name: the parameters, their optimizer, the learner, the schedule
/// of the rate.
inline void archive_training(Archive& archive, Trainee& trainee, Learner& learner, Schedule& schedule) {
  archive.parameters(trainee.engine, trainee.parameters);
  {
    const Archive::Scope scope(archive, "optimizer");
    trainee.optimizer->archive(archive, trainee.engine);
  }
  {
    const Archive::Scope scope(archive, "learner");
    learner.archive(archive);
  }
  const Archive::Scope scope(archive, "schedule");
  schedule.archive(archive);
}

}  // namespace throughtime
