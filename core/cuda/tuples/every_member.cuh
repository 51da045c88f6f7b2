// Which tuples are sought: tuples of which some member gains or, with EVERY_MEMBER defined, every member
#pragma once

namespace interplay {

#ifdef EVERY_MEMBER
constexpr bool kEveryMember = true;
#else
constexpr bool kEveryMember = false;
#endif

// The threshold of a tuple, by the thresholds of two members: the lower or, where every member must gain, the higher.
__device__ __forceinline__ float of_both(float a, float b) { return kEveryMember ? fmaxf(a, b) : fminf(a, b); }

}  // namespace interplay
