/* Instructions of each call of an exported model's thimble_train_step and thimble_predict. */
#ifndef THIMBLE_BOARDS_STEPS_H_
#define THIMBLE_BOARDS_STEPS_H_

/* Prints them, for functions that were called: "train_step_instructions N" of the last call, which
   is like all but perhaps the first. */
void steps_print(void);

/* "train_step" or "predict": the last of them that was called. */
const char* steps_running(void);

#endif
