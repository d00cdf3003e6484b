// Every other row: the smallest method there is, as an example of how to add one (CONTRIBUTING.md).
#pragma once

#include "methods/common/method.hpp"

namespace tamis {

Method every_other_method();

}  // namespace tamis
