// Names of a profiler that clients mention. They do nothing.
#pragma once

#define PROFILE_BEGIN(item)
#define PROFILE_END(item)

namespace nntrainer::profile {
class GenericProfileListener;
}
