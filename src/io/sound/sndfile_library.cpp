#if defined(THIMBLE_HAS_SNDFILE)

#include "io/sound/sndfile_library.h"

#include "io/dynamic_library.h"

namespace thimble::io {

const SndfileLibrary& sndfile_library() {
  static const SndfileLibrary loaded = [] {
    const DynamicLibrary library("libsndfile",
                                 {"libsndfile.so.1", "libsndfile.1.dylib", "libsndfile.so"},
                                 "read WAV files", "libsndfile1");
    SndfileLibrary found;
    library.find("sf_open_virtual", found.open);
    library.find("sf_readf_float", found.read);
    library.find("sf_seek", found.seek);
    library.find("sf_close", found.close);
    library.find("sf_strerror", found.error_text);
    return found;
  }();
  return loaded;
}

}  // namespace thimble::io

#endif
