// Which tuples are sought: those of which a member gains or, with EVERY_MEMBER defined, those of which every one does
#pragma once

namespace interplay {

#ifdef EVERY_MEMBER
constexpr bool kEveryMember = true;
#else
constexpr bool kEveryMember = false;
#endif

// What a tuple must reach, of what two of its members ask for: one of them, or both where every member must gain.
__device__ __forceinline__ float of_both(float a, float b) { return kEveryMember ? fmaxf(a, b) : fminf(a, b); }

}  // namespace interplay
