// The fixed parts of the report page.
#pragma once

namespace thimble::io {

extern const char* const kReportStyle;   // CSS
extern const char* const kReportBody;    // HTML that the script fills
extern const char* const kReportScript;  // JavaScript; reads the constant DATA

}  // namespace thimble::io
