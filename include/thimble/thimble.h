// Everything of thimble.
#pragma once

#include <thimble/adapt.h>              // IWYU pragma: export
#include <thimble/attributes.h>         // IWYU pragma: export
#include <thimble/compiled_training.h>  // IWYU pragma: export
#include <thimble/data.h>               // IWYU pragma: export
#include <thimble/data_loader.h>        // IWYU pragma: export
#include <thimble/data_open.h>          // IWYU pragma: export
#include <thimble/data_split.h>         // IWYU pragma: export
#include <thimble/data_text.h>          // IWYU pragma: export
#include <thimble/error.h>              // IWYU pragma: export
#include <thimble/evaluator.h>          // IWYU pragma: export
#include <thimble/graph.h>              // IWYU pragma: export
#include <thimble/initializer.h>        // IWYU pragma: export
#include <thimble/lbfgs.h>              // IWYU pragma: export
#include <thimble/literals.h>           // IWYU pragma: export
#include <thimble/metrics.h>            // IWYU pragma: export
#include <thimble/model_file.h>         // IWYU pragma: export
#include <thimble/ops.h>                // IWYU pragma: export
#include <thimble/optimizer_state.h>    // IWYU pragma: export
#include <thimble/optimizers.h>         // IWYU pragma: export
#include <thimble/plan.h>               // IWYU pragma: export
#include <thimble/predictor.h>          // IWYU pragma: export
#include <thimble/quantize.h>           // IWYU pragma: export
#include <thimble/recipes.h>            // IWYU pragma: export
#include <thimble/schedule.h>           // IWYU pragma: export
#include <thimble/scheme_search.h>      // IWYU pragma: export
#include <thimble/trainer.h>            // IWYU pragma: export
#include <thimble/types.h>              // IWYU pragma: export
#include <thimble/update_scheme.h>      // IWYU pragma: export
