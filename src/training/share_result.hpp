// What the first rank of a group has come to, on all ranks.
#pragma once

#include "methods/common/method.hpp"
#include "tamis/group.hpp"
#include "tamis/model.hpp"

namespace tamis {

/// Numbers of the report and support vectors; what only people read stays on the first rank.
/// Throws Error on all ranks if the first has no machine.
void share_report(Group& group, MethodResult* result);

/// The model of the first rank; `mine` if every rank has one.
Model share_model(Group& group, Model mine);

}  // namespace tamis
