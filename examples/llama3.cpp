// SPDX-License-Identifier: BSL-1.0
// Llama 3 on paper: the training of 8, 70 and 405 billion parameters on 64 to 16,384 devices. The
// compiler says that the layouts are legal, and what each device holds, computes and receives; the
// assertions compare that with what was published, in The Llama 3 Herd of Models (Meta, 2024) and
// in How to Scale Your Model (Google DeepMind, 2025). All that runs is the table.
#include "llama3/model.hpp"

#include <cstdio>

namespace {

using namespace llama3;

// --- the trainings: of 405B those of table 4 of the paper, of the others what fits
// ----------------

struct pod_8b : mesh<axis<"data", 8>, axis<"context", 1>, axis<"pipe", 1>, axis<"model", 8>> {};
struct pod_70b : mesh<axis<"data", 16>, axis<"context", 1>, axis<"pipe", 4>, axis<"model", 8>> {};
struct half : mesh<axis<"data", 64>, axis<"context", 1>, axis<"pipe", 16>, axis<"model", 8>> {};
struct all : mesh<axis<"data", 128>, axis<"context", 1>, axis<"pipe", 16>, axis<"model", 8>> {};
struct far : mesh<axis<"data", 8>, axis<"context", 16>, axis<"pipe", 16>, axis<"model", 8>> {};
static_assert(pod_8b::devices == 64 && pod_70b::devices == 512 && half::devices == 8192);
static_assert(all::devices == 16'384 && far::devices == 16'384);

// Positions in a sequence, and sequences that one group along `data` takes in a step.
using train_8b = training<size_8b, pod_8b, 8192, 64>;
using train_70b = training<size_70b, pod_70b, 8192, 32>;
using train_half = training<size_405b, half, 8192, 32>;
using train_all = training<size_405b, all, 8192, 16>;
using train_far = training<size_405b, far, 131'072, 16>;

// --- parameters
// ---------------------------------------------------------------------------------------

constexpr bool is_near(double value, double published, double apart) {
  const double ratio = value / published;
  return ratio >= 1 - apart && ratio <= 1 + apart;
}
static_assert(train_8b::parameters == 8'030'261'248);
static_assert(train_70b::parameters == 70'553'706'496);
static_assert(train_all::parameters == 405'853'388'800);
// The feed-forward weights and the two vocabularies of 70B, as How to Scale Your Model counts them.
static_assert(3 * 80 / 4 * nest_elements<train_70b::up_of<bfloat16, none, partial<>>> ==
              56'371'445'760);
static_assert(2 * nest_elements<train_70b::words_of<none>> == 2'101'346'304);

// --- floating-point operations
// --------------------------------------------------------------------------

// Six for each parameter and token; 15.6 trillion tokens made 3.8e25.
static_assert(is_near(6.0 * double(train_all::parameters) * 15.6e12, 3.8e25, 0.01));
static_assert(train_half::tokens == train_all::tokens && train_all::tokens == train_far::tokens);
static_assert(train_all::tokens == 16'777'216);

/// That the ledger of a layer, there and back, is what the formula says, but for what is
/// elementwise: six for each weight and token, and attention once and in three gradients of twice
/// its size. Of the last product a gradient needs no value.
template <class T>
constexpr bool follows_the_formula() {
  const double layer = double(T::per_layer) * double(T::tokens_at_once);
  const double met = 4.0 * double(T::tokens_at_once) * double(T::length) * double(T::size::heads) *
                     double(head_size);
  const double last =
      2.0 * double(T::size::width) * double(T::size::hidden) * double(T::tokens_at_once);
  const double devices = double(T::devices) / T::stages;
  return is_near(double(T::there.flops()) * devices, 2 * layer + met, 0.01) &&
         is_near(double(T::back.flops()) * devices, 6 * layer + 7 * met - last, 0.01);
}
static_assert(follows_the_formula<train_8b>());
static_assert(follows_the_formula<train_70b>());
static_assert(follows_the_formula<train_all>());
static_assert(follows_the_formula<train_far>());

// --- what is held
// -------------------------------------------------------------------------------------------

// Split over all devices, weights and gradients of 2 bytes and three floats for Adam are 16 bytes a
// parameter: 6.48 TB for 405B.
static_assert(is_near(double(train_all::state_in_all), 6.48e12, 0.005));
// What a layer of 70B begins with, for 4 million tokens; four such checkpoints in each layer, which
// How to Scale Your Model keeps, are 20.97 TB.
static_assert(is_near(4 * 80 * 4e6 / double(train_70b::tokens_at_once) *
                          double(train_70b::devices) / train_70b::stages *
                          double(nest_bytes<train_70b::x>),
                      20.97e12, 0.001));
// It all fits in the 80 GB of an H100.
static_assert(train_8b::held <= 80'000'000'000 && train_70b::held <= 80'000'000'000);
static_assert(train_half::held <= 80'000'000'000 && train_all::held <= 80'000'000'000);
static_assert(train_far::held <= 80'000'000'000);

// --- what moves
// -----------------------------------------------------------------------------------------------

/// A gather or a scatter over a ring of `n` brings a device `(n - 1) / n` of the whole.
constexpr index_t ring(index_t whole, index_t n) { return whole / n * (n - 1); }

/// Over `model`, forward: two gathers and two scatters of the stream, as in Megatron-LM. Over
/// `context`: keys and values. Over `data` nothing but once a step.
template <class T>
constexpr bool moves_what_megatron_moves() {
  const index_t stream = nest_bytes<typename T::x> * 8;
  const index_t contexts = T::contexts;
  const index_t keys = 2 * T::length * head_size * 2;
  return T::there.collectives(collective::all_gather, "model") == 2 &&
         T::there.collectives(collective::reduce_scatter, "model") == 2 &&
         T::there.bytes_moved("model") == 4 * ring(stream, 8) &&
         T::there.bytes_moved("context") == ring(keys, contexts) &&
         T::there.bytes_moved("data") == 0 && T::back.bytes_moved("data") == 0;
}
static_assert(moves_what_megatron_moves<train_8b>());
static_assert(moves_what_megatron_moves<train_70b>());
static_assert(moves_what_megatron_moves<train_all>());
static_assert(moves_what_megatron_moves<train_far>());

// Once a step weights are gathered in 2 bytes and gradients scattered in 4.
static_assert(train_all::gathered.bytes_moved("data") ==
              ring(train_all::layer_bytes, train_all::data));
static_assert(train_all::scattered.bytes_moved("data") ==
              ring(nest_bytes<train_all::layer_of<float, none>>, train_all::data));

// --- the table
// ------------------------------------------------------------------------------------------------

template <class T>
void show() {
  const auto number = [](index_t n) { return static_cast<long long>(n); };
  const auto giga = [](index_t n) { return double(n) * 1e-9; };
  const cost_ledger step = T::step();
  std::printf("%-5s%8lld%6lld%5lld%5lld%5lld%8lld%9.2f |", T::size::name, number(T::devices),
              number(T::data), number(T::contexts), number(T::stages), number(T::models),
              number(T::length), double(step.flops()) * 1e-15);
  for (const index_t bytes : {T::weights, T::gradients, T::optimizer, T::activations, T::held})
    std::printf("%7.2f", giga(bytes));
  std::printf(" |");
  // Over an axis of size 1 nothing moves; the ledger names it where it stands beside another.
  for (const char* axis : {"data", "context", "model"})
    if (T::pod.size(T::pod.find(axis)) == 1)
      std::printf("%6s%8s", "-", "-");
    else
      std::printf("%6lld%8.2f", number(step.collectives(axis)), giga(step.bytes_moved(axis)));
  std::printf("%8.2f\n", giga(T::received_over_pipe));
}

}  // namespace

int main() {
  std::printf(
      "One step of training on paper. What one device computes (PFLOP), what it holds at once (GB) "
      "of\nweights, gradients, optimizer and activations, and what it receives: collectives and GB "
      "over each\naxis. Every layer is computed again for its gradient.\n\n"
      "model devices  data  ctx pipe model length    PFLOP | weight   grad  optim  activ    all |"
      "  data      GB   ctx      GB model      GB pipe GB\n");
  show<train_8b>();
  show<train_70b>();
  show<train_half>();
  show<train_all>();
  show<train_far>();
}
