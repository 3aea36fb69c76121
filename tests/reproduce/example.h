#pragma once

#include <string>

namespace throughtime::testing {

/// An experiment with a result: two claims with rules, one that cannot be run.
inline const std::string experiment =
    "[task.add]\nlength = 4\n"
    "[result]\ntitle = 'Figure 0'\npaper = 'Nobody, 1900'\nmetric = 'train_loss'\n"
    "[result.quick]\ntrain.iterations = 5\ntask.name = 'add'\n"
    "[[result.claim]]\nsays = 'first | beats second'\n[result.claim.values]\nfirst = 0.5\n"
    "[[result.claim.rule]]\nkind = 'less'\narms = ['first']\nthan = ['second']\ntrend = true\n"
    "[[result.claim]]\nsays = 'first is low'\nmeasure = 'final'\n"
    "[[result.claim.rule]]\nkind = 'below'\narms = ['first']\nhigh = 0.15\n"
    "[[result.claim]]\nsays = 'third is lost'\nvalues = { third = 7 }\nmissing = 'no data'\n"
    "[[arm]]\nname = 'first'\n[[arm]]\nname = 'second'\n";

}  // namespace throughtime::testing
