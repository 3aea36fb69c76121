/* Trains a small LSTM on a sine from C99, then goes on learning row by row. */
#include <math.h>
#include <stdio.h>
#include <throughtime/c.h>

enum { steps = 2000 };

static int require(int status) {
  if (status != TT_OK) fprintf(stderr, "%s\n", tt_last_error());
  return status;
}

/* Shows every event of the training; 0: go on. */
static int show(void* user, const char* event) {
  (void)user;
  if (event != NULL) printf("%.100s\n", event);
  return 0;
}

int main(void) {
  const char* options =
      "[model]\n"
      "hidden = 8\n"
      "[learner]\n"
      "name = \"fptt\"\n"
      "[learner.fptt]\n"
      "window_length = 10\n"
      "[train]\n"
      "batch = 4\n"
      "epochs = 3.0\n"
      "report_every = 10\n";
  static float inputs[steps], targets[steps];
  static double predictions[steps];
  int64_t model = 0, data = 0;
  double error = 0;

  for (int step = 0; step < steps; ++step) {
    inputs[step] = sinf(0.1f * (float)step);
    targets[step] = sinf(0.1f * (float)(step + 1));
  }
  if (require(tt_data_new(1, 0, 1, 0, 0, 1, &data))) return 1;
  if (require(tt_data_add(data, 0, steps, inputs, NULL, NULL, targets, NULL))) return 1;
  if (require(tt_model_new(options, 1, 0, 1, 0, &model))) return 1;
  if (require(tt_model_fit(model, data, NULL, 0, 0, show, NULL))) return 1;
  if (require(tt_model_predict(model, data, 0, predictions, steps))) return 1;
  for (int step = 0; step < steps; ++step) error += pow(predictions[step] - targets[step], 2) / steps;
  printf("mean squared error after fit: %.4f\n", error);

  error = 0;
  for (int step = 0; step < steps; ++step) {
    double prediction = 0;
    if (require(tt_stream_observe(model, 0, &inputs[step], -1, &targets[step], -1, &prediction))) return 1;
    error += pow(prediction - targets[step], 2) / steps;
  }
  printf("of the stream that goes on from there: %.4f\n", error);

  if (require(tt_free(model)) || require(tt_free(data))) return 1;
  return tt_free(model) == TT_HANDLE && error < 0.5 ? 0 : 1; /* a dead handle is an error, no crash */
}
