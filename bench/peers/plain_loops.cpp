// What somebody would write by hand for exactly one net, to measure single rows against: plain loops over fixed sizes,
// one precision, no checks, no choices. It shares no code with the library and is no part of its build:
//
//   c++ -std=c++20 -O3 -march=native -ffast-math bench/peers/plain_loops.cpp -o plain_loops
//   ./plain_loops windows-lstm-b1-h32-t100-k10
//
// With -ffast-math GCC calls the vector functions of the C library for exp; without it every exp is a call of its own.
// Prints one line of JSON: the median time of an update by the thread's clock.
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

namespace {

double nanoseconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

float sigmoid(float x) { return 1.0f / (1.0f + std::exp(-x)); }
float tanh_of(float x) { return 2.0f * sigmoid(2.0f * x) - 1.0f; }

/// An LSTM with one output, squared error, Adam with the norm clipped at 1. Weights lie with the gates side by side.
template <int D, int H, int K>
struct Lstm {
  static constexpr int G = 4 * H, P = (D + H + 1) * G + H + 1;
  struct Numbers {
    float w[D + H][G], b[G], v[H], c;
  };
  static_assert(sizeof(Numbers) == P * sizeof(float));
  alignas(64) Numbers weights, gradient, first, second;
  alignas(64) float x[K][D], h[K + 1][H], c[K + 1][H], gate[K][G], tanh_c[K][H], d_gate[K][G];
  double beta1 = 1, beta2 = 1;

  Lstm() {
    std::memset(static_cast<void*>(this), 0, sizeof *this);
    beta1 = beta2 = 1;
    std::uint32_t seed = 1;
    for (int i = 0; i < P; ++i) {
      seed = seed * 1664525u + 1013904223u;
      reinterpret_cast<float*>(&weights)[i] = (static_cast<float>(seed >> 8) / 8388608.0f - 1.0f) * 0.17f;
    }
  }

  void step(int l) {
    alignas(64) float sum[G];
    for (int g = 0; g < G; ++g) sum[g] = weights.b[g];
    for (int k = 0; k < D; ++k)
      for (int g = 0; g < G; ++g) sum[g] += x[l][k] * weights.w[k][g];
    for (int k = 0; k < H; ++k)
      for (int g = 0; g < G; ++g) sum[g] += h[l][k] * weights.w[D + k][g];
    for (int u = 0; u < H; ++u) {
      gate[l][u] = sigmoid(sum[u]);
      gate[l][H + u] = sigmoid(sum[H + u]);
      gate[l][2 * H + u] = tanh_of(sum[2 * H + u]);
      gate[l][3 * H + u] = sigmoid(sum[3 * H + u]);
      c[l + 1][u] = gate[l][H + u] * c[l][u] + gate[l][u] * gate[l][2 * H + u];
      tanh_c[l][u] = tanh_of(c[l + 1][u]);
      h[l + 1][u] = gate[l][3 * H + u] * tanh_c[l][u];
    }
  }

  float output(int l) const {
    float sum = weights.c;
    for (int u = 0; u < H; ++u) sum += weights.v[u] * h[l][u];
    return sum;
  }

  void back(float d) {
    alignas(64) float d_h[H], d_c[H];
    std::memset(static_cast<void*>(&gradient), 0, sizeof gradient);
    for (int u = 0; u < H; ++u) d_h[u] = d * weights.v[u], d_c[u] = 0, gradient.v[u] = d * h[K][u];
    gradient.c = d;
    for (int l = K - 1; l >= 0; --l) {
      float* to = d_gate[l];
      for (int u = 0; u < H; ++u) {
        const float i = gate[l][u], f = gate[l][H + u], g = gate[l][2 * H + u], o = gate[l][3 * H + u];
        const float all = d_c[u] + d_h[u] * o * (1 - tanh_c[l][u] * tanh_c[l][u]);
        to[u] = all * g * i * (1 - i);
        to[H + u] = all * c[l][u] * f * (1 - f);
        to[2 * H + u] = all * i * (1 - g * g);
        to[3 * H + u] = d_h[u] * tanh_c[l][u] * o * (1 - o);
        d_c[u] = all * f;
      }
      for (int k = 0; k < H; ++k) {
        float sum = 0;
        for (int g = 0; g < G; ++g) sum += to[g] * weights.w[D + k][g];
        d_h[k] = sum;
      }
    }
    for (int k = 0; k < D; ++k)
      for (int l = 0; l < K; ++l)
        for (int g = 0; g < G; ++g) gradient.w[k][g] += x[l][k] * d_gate[l][g];
    for (int k = 0; k < H; ++k)
      for (int l = 0; l < K; ++l)
        for (int g = 0; g < G; ++g) gradient.w[D + k][g] += h[l][k] * d_gate[l][g];
    for (int l = 0; l < K; ++l)
      for (int g = 0; g < G; ++g) gradient.b[g] += d_gate[l][g];
  }

  void update() {
    float* w = reinterpret_cast<float*>(&weights);
    float* m = reinterpret_cast<float*>(&first);
    float* v = reinterpret_cast<float*>(&second);
    const float* g = reinterpret_cast<const float*>(&gradient);
    float squares = 0;
    for (int i = 0; i < P; ++i) squares += g[i] * g[i];
    const float scale = std::min(1.0f, 1.0f / (std::sqrt(squares) + 1e-6f));
    beta1 *= 0.9, beta2 *= 0.999;
    const double root = std::sqrt(1 - beta2);
    const float rate = static_cast<float>(1e-3 * root / (1 - beta1)), epsilon = static_cast<float>(1e-8 * root);
    for (int i = 0; i < P; ++i) {
      const float own = scale * g[i];
      m[i] += 0.1f * (own - m[i]);
      v[i] += 0.001f * (own * own - v[i]);
      w[i] -= rate * m[i] / (std::sqrt(v[i]) + epsilon);
    }
  }
};

/// Windows one after the other, each from the state at the end of the one before.
struct Windows {
  Lstm<2, 32, 10> net;
  std::vector<float> values;
  std::size_t at = 0;
  Windows() {
    for (int i = 0; i < 2000; ++i) values.push_back(std::sin(0.37f * static_cast<float>(i)));
  }
  void update() {
    std::memcpy(net.h[0], net.h[10], sizeof net.h[0]);
    std::memcpy(net.c[0], net.c[10], sizeof net.c[0]);
    std::memcpy(net.x, &values[at], sizeof net.x);
    for (int l = 0; l < 10; ++l) net.step(l);
    net.back(2 * (net.output(10) - 1.0f));
    net.update();
    at = (at + 20) % 1980;
  }
};

/// An observation: a prediction, then an update through the last ten steps.
struct Online {
  Lstm<1, 32, 10> net;
  std::vector<float> values;
  std::size_t at = 10;
  float prediction = 0;
  alignas(64) float state_h[32] = {}, state_c[32] = {}, past_h[11][32] = {}, past_c[11][32] = {};
  Online() {
    for (int i = 0; i < 2000; ++i) values.push_back(std::sin(0.1f * static_cast<float>(i)));
  }
  void update() {
    std::memcpy(net.h[0], state_h, sizeof state_h);
    std::memcpy(net.c[0], state_c, sizeof state_c);
    net.x[0][0] = values[at];
    net.step(0);
    prediction += net.output(1);
    std::memcpy(state_h, net.h[1], sizeof state_h);
    std::memcpy(state_c, net.c[1], sizeof state_c);
    // The window begins with the state that the one before made after its first step.
    std::memcpy(net.h[0], past_h[1], sizeof net.h[0]);
    std::memcpy(net.c[0], past_c[1], sizeof net.c[0]);
    for (int l = 0; l < 10; ++l) net.x[l][0] = values[at - 9 + static_cast<std::size_t>(l)];
    for (int l = 0; l < 10; ++l) net.step(l);
    net.back(2 * (net.output(10) - values[at + 1]));
    std::memcpy(past_h[1], net.h[1], sizeof net.h[1]);
    std::memcpy(past_c[1], net.c[1], sizeof net.c[1]);
    net.update();
    at = at + 2 < values.size() ? at + 1 : 10;
  }
};

/// FPP: a tanh network of four units that reads and predicts bits, ten steps, a buffer of a thousand.
struct Fpp {
  static constexpr int H = 4, T = 10, N = 1000, P = 2 * H + H * H + 2 * H + 2 * H + 2;
  struct Numbers {
    float x[2][H], w[H][H], b[2][H], v[2][H], c[2];
  };
  static_assert(sizeof(Numbers) == P * sizeof(float));
  Numbers weights, gradient, square;
  float state[N + 1][H] = {}, h[T + 1][H], d_a[T][H];
  std::uint8_t bit[N + 1] = {};
  std::uint64_t seed = 88172645463325252u;
  int newest = 0;
  float loss = 0;

  Fpp() {
    for (int i = 0; i < P; ++i) {
      reinterpret_cast<float*>(&weights)[i] = (static_cast<float>(next() >> 40) / 8388608.0f - 1.0f) * 0.5f;
      reinterpret_cast<float*>(&square)[i] = 1;
    }
    for (std::uint8_t& one : bit) one = next() & 1;
  }
  std::uint64_t next() {
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return seed;
  }
  void step(const float* from, int token, float* to) const {
    for (int u = 0; u < H; ++u) {
      float sum = weights.b[0][u] + weights.b[1][u] + weights.x[token][u];
      for (int k = 0; k < H; ++k) sum += from[k] * weights.w[k][u];
      to[u] = tanh_of(sum);
    }
  }
  void softmax(const float* from, int label, float* d) {
    float z[2] = {weights.c[0], weights.c[1]};
    for (int k = 0; k < H; ++k) z[0] += weights.v[0][k] * from[k], z[1] += weights.v[1][k] * from[k];
    const float most = std::max(z[0], z[1]);
    const float e0 = std::exp(z[0] - most), e1 = std::exp(z[1] - most), sum = e0 + e1;
    loss += std::log(sum) + most - z[label];
    d[0] = e0 / sum - (label == 0), d[1] = e1 / sum - (label == 1);
  }
  void update() {
    const int before = newest;
    newest = newest == N ? 0 : newest + 1;
    bit[newest] = next() & 1;
    step(state[before], bit[before], state[newest]);
    float unused[2], d_z[2], d_h[H];
    softmax(state[newest], bit[newest], unused);

    const int first = static_cast<int>((next() >> 33) * (N - T) >> 31), end = first + T;
    std::memcpy(h[0], state[first], sizeof h[0]);
    for (int l = 0; l < T; ++l) step(h[l], bit[first + l], h[l + 1]);
    softmax(h[T], bit[end], d_z);
    std::memset(static_cast<void*>(&gradient), 0, sizeof gradient);
    float penalty[H];
    for (int u = 0; u < H; ++u) {
      penalty[u] = h[T][u] - state[end][u];
      d_h[u] = d_z[0] * weights.v[0][u] + d_z[1] * weights.v[1][u] + penalty[u];
      gradient.v[0][u] = d_z[0] * h[T][u], gradient.v[1][u] = d_z[1] * h[T][u];
    }
    gradient.c[0] = d_z[0], gradient.c[1] = d_z[1];
    for (int l = T - 1; l >= 0; --l) {
      for (int u = 0; u < H; ++u) d_a[l][u] = d_h[u] * (1 - h[l + 1][u] * h[l + 1][u]);
      for (int k = 0; k < H; ++k) {
        d_h[k] = 0;
        for (int u = 0; u < H; ++u) d_h[k] += d_a[l][u] * weights.w[k][u], gradient.w[k][u] += h[l][k] * d_a[l][u];
      }
      for (int u = 0; u < H; ++u) {
        gradient.x[bit[first + l]][u] += d_a[l][u];
        gradient.b[0][u] += d_a[l][u], gradient.b[1][u] += d_a[l][u];
      }
    }
    for (int u = 0; u < H; ++u) state[first][u] -= 0.01f * d_h[u], state[end][u] += 0.01f * penalty[u];
    for (int i = 0; i < P; ++i) {
      const float g = reinterpret_cast<const float*>(&gradient)[i];
      float& m = reinterpret_cast<float*>(&square)[i];
      m += 0.1f * (g * g - m);
      reinterpret_cast<float*>(&weights)[i] -= 1e-3f * g / std::sqrt(m + 1e-10f);
    }
  }
};

template <class Net>
int measure(const char* name) {
  constexpr int samples = 101, updates = 4000;
  const auto net = std::make_unique<Net>();
  std::vector<double> times;
  for (int sample = 0; sample < samples; ++sample) {
    const double begin = nanoseconds();
    for (int i = 0; i < updates; ++i) net->update();
    times.push_back((nanoseconds() - begin) / updates);
  }
  std::nth_element(times.begin(), times.begin() + samples / 2, times.end());
  std::printf("{\"case\":\"%s\",\"nanoseconds_per_update\":%.1f}\n", name, times[samples / 2]);
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  const char* name = count == 2 ? arguments[1] : "";
  if (!std::strcmp(name, "windows-lstm-b1-h32-t100-k10")) return measure<Windows>(name);
  if (!std::strcmp(name, "online-tbptt-lstm-b1-h32-k10")) return measure<Online>(name);
  if (!std::strcmp(name, "fpp-rnn-b1-h4-t10")) return measure<Fpp>(name);
  std::fprintf(stderr,
               "[plain_loops] expected one case: windows-lstm-b1-h32-t100-k10, online-tbptt-lstm-b1-h32-k10 or "
               "fpp-rnn-b1-h4-t10\n");
  return 2;
}
