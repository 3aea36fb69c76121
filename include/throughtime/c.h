#ifndef THROUGHTIME_C_H
#define THROUGHTIME_C_H

/* The C interface of throughtime, for C99 and for every language that can call C.
 *
 * Handles are numbers above 0: one that was freed, or never was one, is an error like any other. Every call returns
 * TT_OK or the class of an error; tt_last_error has its line. Options are the text of a configuration file
 * (docs/options.md). Arrays are pointers to numbers in C order; the caller keeps them alive as said with each call.
 * Nothing here throws, and nothing ends the process. A model is at work in one call at a time; different models may be
 * used in different threads.
 *
 * Text that a call returns goes into text [capacity], ended by 0, and *length becomes its length without that 0. Where
 * capacity is too small nothing but *length is written: ask with capacity 0 first. */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TT_API __attribute__((visibility("default")))

/* Classes of errors. */
enum {
  TT_OK = 0,
  TT_FAILED = 1,  /* a run that began well went wrong */
  TT_INVALID = 2, /* the caller asked for something that cannot be */
  TT_HANDLE = 3,  /* a handle that is dead, of another kind, or at work in another call */
  TT_MEMORY = 4,  /* there is not enough memory */
  TT_UNKNOWN = 5
};

/* Hears a JSON object about a run: "event" is start, progress, validation or end. Between them it is asked with NULL, a
 * few times per second at most. Any answer but 0 ends the run after the iteration that it is in; what was learnt is
 * kept. */
typedef int (*tt_progress)(void* user, const char* event);

/* The version of the library; lives for ever. */
TT_API const char* tt_version(void);
/* The line of this thread's last error; lives until the thread's next call that fails. */
TT_API const char* tt_last_error(void);
/* Ends a handle of any kind. A call that is at work with it goes on to its end. */
TT_API int tt_free(int64_t handle);
/* All options as a JSON array: key, type, default, allowed, names, low, high, help, users. */
TT_API int tt_options(char* text, size_t capacity, size_t* length);
/* Refuses those of `keys`, one to a line, that neither a training on arrays nor a stream reads with these options:
 * model.step with an LSTM, say. */
TT_API int tt_options_read(const char* options, const char* keys);

/* ---- arrays */

/* Data of a model that reads `reals` numbers and, where `vocabulary` is above 0, a token at each step. Targets are
 * `outputs` numbers, or with `labels` one of `outputs` classes; with `one_target` a sequence has one, else every step.
 * With `recording` each part is one long sequence, which is read in columns. */
TT_API int tt_data_new(int32_t reals, int32_t vocabulary, int32_t outputs, int32_t labels, int32_t one_target,
                       int32_t recording, int64_t* data);
/* Adds a sequence to a part (0 train, 1 validation, 2 test): inputs [steps, reals], tokens [steps], labels or targets
 * [steps, outputs] (or one of them), weights [steps] or NULL. Nothing is copied: the arrays must live until the data is
 * freed and no call is at work with it. Targets may be NULL where the data is for predictions only. */
TT_API int tt_data_add(int64_t data, int32_t part, int64_t steps, const float* inputs, const int32_t* tokens,
                       const int32_t* labels, const float* targets, const float* weights);

/* ---- models */

/* A model for such data, with first weights drawn from train.seed. */
TT_API int tt_model_new(const char* options, int32_t reals, int32_t vocabulary, int32_t outputs, int32_t labels,
                        int64_t* model);
/* Another model with the same options, weights and scales, which goes on with the same optimizer and method. Its
 * streams begin anew; those of the first one are left alone. */
TT_API int tt_model_copy(int64_t model, int64_t* copy);
/* Other options for the same model: those of model.* must describe the same weights. A stream ends. */
TT_API int tt_model_set_options(int64_t model, const char* options);
/* A JSON object: inputs and outputs, the blocks of the weights with their shapes, the options as a file. */
TT_API int tt_model_describe(int64_t model, char* text, size_t capacity, size_t* length);
/* All weights, block after block. */
TT_API int tt_model_get_parameters(int64_t model, double* values, int64_t count);
TT_API int tt_model_set_parameters(int64_t model, const double* values, int64_t count);
/* Trains from the weights as they are. `directory` or NULL: a run directory is written there. With `go_on` the
 * optimizer and the method go on from the training before, with `keep_best` the weights of the best validation are
 * kept. A stream ends. A run that fails leaves the model and its stream as they were. */
TT_API int tt_model_fit(int64_t model, int64_t data, const char* directory, int32_t go_on, int32_t keep_best,
                        tt_progress progress, void* user);
/* Predictions of one part: [all steps, outputs] one sequence after the other, or [sequences, outputs] where a sequence
 * has one target. Every sequence begins with the zero state; a stream is left alone. */
TT_API int tt_model_predict(int64_t model, int64_t data, int32_t part, double* predictions, int64_t count);
/* How far back gradients reach: a JSON object as `throughtime diagnose --json` prints it, from `positions` places, up
 * to `lags` steps, after `burn_in` steps. -1: as the options say. */
TT_API int tt_model_diagnose(int64_t model, int64_t data, int32_t positions, int32_t lags, int32_t burn_in, char* text,
                             size_t capacity, size_t* length);
/* A safetensors file of the model, its options, its stream and a text of the caller's. */
TT_API int tt_model_save(int64_t model, const char* path, const char* note);
TT_API int tt_model_load(const char* path, int64_t* model);
/* The text that was saved with it. */
TT_API int tt_model_note(int64_t model, char* text, size_t capacity, size_t* length);

/* ---- streams: stream.slots of them, each with its own state. They begin with the first of these calls, with the
 * weights of the training before, its optimizer, and what its method knows about the weights. A prediction that is no
 * number is TT_FAILED: the weights have diverged. tt_model_predict does the same. */

/* The prediction [outputs] for a step: inputs [reals] and a token (-1: none). Changes nothing. */
TT_API int tt_stream_predict(int64_t model, int32_t slot, const float* inputs, int32_t token, double* prediction);
/* Predicts, then learns from targets [outputs] or a label. NULL and -1: nobody knows the answer; the state moves on. */
TT_API int tt_stream_observe(int64_t model, int32_t slot, const float* inputs, int32_t token, const float* targets,
                             int32_t label, double* prediction);
/* The same for `rows` rows in one call; labels or targets may be NULL, and so may predictions [rows, outputs]. Where
 * one of the rows is refused, none of them is learned. */
TT_API int tt_stream_observe_many(int64_t model, int32_t slot, int64_t rows, const float* inputs, const int32_t* tokens,
                                  const float* targets, const int32_t* labels, double* predictions);
/* The two halves of observe, for answers that come late: predict and move on, and later, in the same order, learn. */
TT_API int tt_stream_advance(int64_t model, int32_t slot, const float* inputs, int32_t token, double* prediction);
TT_API int tt_stream_learn(int64_t model, int32_t slot, const float* inputs, int32_t token, const float* targets,
                           int32_t label);
/* `horizon` predictions [horizon, outputs] from the state of a slot on, which stays. The first step reads row 0 of
 * inputs [horizon, reals]; later ones read theirs too, but for their first `outputs` numbers, which are the prediction
 * before. */
TT_API int tt_stream_forecast(int64_t model, int32_t slot, int32_t horizon, const float* inputs, double* predictions);
/* A stream ends: its slot begins another with the zero state. */
TT_API int tt_stream_reset(int64_t model, int32_t slot);
/* All streams end. The weights stay what they became. */
TT_API int tt_stream_end(int64_t model);
/* Updates of the weights so far, those of the training before included, and bytes of the learner's tapes. */
TT_API int tt_stream_facts(int64_t model, int64_t* updates, int64_t* bytes);

/* ---- running scales: inputs and number targets of streams to mean 0 and deviation 1, as rows come. */

TT_API int tt_scales_begin(int64_t model);
/* Shows rows to the scales and learns nothing else: inputs [rows, reals], targets [rows, outputs], or NULL for one of
 * them. */
TT_API int tt_scales_add(int64_t model, int64_t rows, const float* inputs, const float* targets);
/* Inputs [rows, reals], or with `of_targets` targets [rows, outputs], as the model sees them. */
TT_API int tt_scales_apply(int64_t model, int64_t rows, int32_t of_targets, const float* values, float* scaled);
/* Predictions [rows, outputs] in the units of the targets, in their place. */
TT_API int tt_scales_undo(int64_t model, int64_t rows, double* predictions);
/* means and deviations [reals + outputs], those of the inputs first. */
TT_API int tt_scales_get(int64_t model, double* means, double* deviations, int64_t count);

/* ---- own methods: the two calls that every training method is made of (docs/architecture.md), on a model's engine */

/* An engine for a model as it is now, with the optimizer of its options. It computes with weights of its own, buffer 0,
 * as many as the model has, and their gradient, buffer 1. Buffers are numbered; -1 stands for none. */
TT_API int tt_engine_new(int64_t model, int64_t* engine);
/* A further buffer of `count` zeros. */
TT_API int tt_engine_buffer(int64_t engine, int64_t count, int32_t* buffer);
TT_API int tt_engine_write(int64_t engine, int32_t buffer, const double* values, int64_t count);
TT_API int tt_engine_read(int64_t engine, int32_t buffer, double* values, int64_t count);
/* A window of `steps` steps of `rows` rows: row b reads the steps from start[b] on of sequence sequence[b] of the
 * training part of the data. weight [steps, rows] or NULL: 1 everywhere; reset [steps, rows] or NULL: the state is zero
 * before those steps. The data must outlive it. */
TT_API int tt_window_new(int64_t data, int32_t steps, int32_t rows, const int32_t* sequence, const int64_t* start,
                         const float* weight, const uint8_t* reset, int64_t* window);
/* Runs a window: buffers of states [rows, S], losses [steps, rows], their weighted sum [1], which is added to, and
 * predictions [steps, rows, outputs]. Its tape is kept until the next unroll of the engine. */
TT_API int tt_engine_unroll(int64_t engine, int64_t window, int32_t training, int32_t initial_state,
                            int32_t final_state, int32_t losses, int32_t loss_sum, int32_t predictions);
/* Takes gradients back through the window that was unrolled last: into buffer `gradient`, or added to it; cotangents of
 * the states [rows, S] after its last step and before its first. Sums over steps and rows. */
TT_API int tt_engine_pull_back(int64_t engine, int32_t gradient, int32_t add, int32_t end_cotangent,
                               int32_t initial_cotangent);
/* One update of buffer 0 with buffer `gradient` times `scale`, clipped as the options say. */
TT_API int tt_engine_update(int64_t engine, int32_t gradient, double rate, double scale);

/* ---- runs of the command */

/* Trains a configuration file with assignments "key=value", one to a line, into its run directory. */
TT_API int tt_train(const char* path, const char* assignments, tt_progress progress, void* user, char* directory,
                    size_t capacity, size_t* length);
/* How good the model of a run is: a JSON object as `throughtime evaluate --json` prints it. `request` is a JSON object
 * or NULL: split (train, validation, test), best (true: the weights that validation chose; false: the last ones; left
 * out: the first where there are any), set (a list of "key=value": where files lie now), and dynamic, an object for an
 * evaluation that goes on learning: tune, rate, decay, epsilon, scaling, segment, columns, as the command's options
 * (docs/language-models.md). */
TT_API int tt_evaluate(const char* run, const char* request, char* text, size_t capacity, size_t* length);

#ifdef __cplusplus
}
#endif

#endif
