// What the processor can do at best.
#pragma once

namespace tamis {

/// Multiply-adds of floats per second of one thread that does nothing else, on the widest vectors
/// there are; a subtraction takes as long as a multiply-add.
double measured_peak();

}  // namespace tamis
