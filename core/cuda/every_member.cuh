// Which tuples are sought: those of which a member gains, or, where EVERY_MEMBER is defined, those of which every one does
#pragma once

namespace interplay {

#ifdef EVERY_MEMBER
constexpr bool kEveryMember = true;
#else
constexpr bool kEveryMember = false;
#endif

}  // namespace interplay
