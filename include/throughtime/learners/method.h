#pragma once

#include <memory>

// What the header of a training method speaks of; throughtime/learner.h has all of it.

namespace throughtime {

class Engine;
class Learner;
class Model;
class OptionList;
class StateRefiner;
struct EstimateSettings;
struct SharedWork;
struct StreamNeeds;
struct OptimizerConfig;
struct StretchShape;
struct Trainee;

}  // namespace throughtime
