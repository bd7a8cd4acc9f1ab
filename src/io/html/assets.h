// The fixed parts of the report page.
#pragma once

namespace thimble::io {

extern const char* const kReportStyle;  // CSS
extern const char* const kReportBody;   // HTML that the scripts fill

// JavaScript, in this order; reads the constant DATA.
extern const char* const kCommonScript;
extern const char* const kCurvesScript;
extern const char* const kTimelineScript;
extern const char* const kPointerScript;
extern const char* const kMemoryScript;
extern const char* const kPageScript;

}  // namespace thimble::io
