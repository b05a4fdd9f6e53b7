// SPDX-License-Identifier: BSL-1.0
// Llama 3 on paper: the training of models with 8, 70 and 405 billion parameters on 64 to 16,384
// devices. The compiler checks that the layouts are legal and determines what each device stores,
// computes and receives. The assertions compare this with published figures, from The Llama 3 Herd
// of Models (Meta, 2024) and How to Scale Your Model (Google DeepMind, 2025). When it runs, the
// program only prints the table.
#include "llama3/model.hpp"

#include <cstdio>

namespace {

using namespace llama3;

// --- the training runs; those of 405B are from table 4 of the paper ------------------------------

struct pod_8b : mesh<axis<"data", 8>, axis<"context", 1>, axis<"pipe", 1>, axis<"model", 8>> {};
struct pod_70b : mesh<axis<"data", 16>, axis<"context", 1>, axis<"pipe", 4>, axis<"model", 8>> {};
struct half : mesh<axis<"data", 64>, axis<"context", 1>, axis<"pipe", 16>, axis<"model", 8>> {};
struct all : mesh<axis<"data", 128>, axis<"context", 1>, axis<"pipe", 16>, axis<"model", 8>> {};
struct far : mesh<axis<"data", 8>, axis<"context", 16>, axis<"pipe", 16>, axis<"model", 8>> {};
static_assert(pod_8b::devices == 64 && pod_70b::devices == 512 && half::devices == 8192);
static_assert(all::devices == 16'384 && far::devices == 16'384);

// The last two arguments are the length of a sequence, and the number of sequences that each group
// of devices along `data` processes in a step.
using train_8b = training<size_8b, pod_8b, 8192, 64>;
using train_70b = training<size_70b, pod_70b, 8192, 32>;
using train_half = training<size_405b, half, 8192, 32>;
using train_all = training<size_405b, all, 8192, 16>;
using train_far = training<size_405b, far, 131'072, 16>;

// --- parameters ----------------------------------------------------------------------------------

constexpr bool is_near(double value, double published, double apart) {
  const double ratio = value / published;
  return ratio >= 1 - apart && ratio <= 1 + apart;
}
static_assert(train_8b::parameters == 8'030'261'248);
static_assert(train_70b::parameters == 70'553'706'496);
static_assert(train_all::parameters == 405'853'388'800);
// The feed-forward weights and the two vocabulary matrices of 70B, as in How to Scale Your Model.
static_assert(3 * 80 / 4 * nest_elements<train_70b::up_of<bfloat16, none, partial<>>> ==
              56'371'445'760);
static_assert(2 * nest_elements<train_70b::words_of<none>> == 2'101'346'304);

// --- floating-point operations -------------------------------------------------------------------

// Six for each parameter and token: 3.8e25 for 15.6 trillion tokens.
static_assert(is_near(6.0 * double(train_all::parameters) * 15.6e12, 3.8e25, 0.01));
static_assert(train_half::tokens == train_all::tokens && train_all::tokens == train_far::tokens);
static_assert(train_all::tokens == 16'777'216);

/// Checks the operations in the ledgers of a layer's forward and backward passes against the usual
/// formula, up to elementwise functions. The forward pass takes two for each weight and token, plus
/// attention. The backward pass, which computes the layer again, takes six and seven times the
/// operations of attention, without the last product, whose value no gradient needs.
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

// --- memory --------------------------------------------------------------------------------------

// Weights and gradients take 2 bytes each, and Adam needs three floats: together 16 bytes for each
// parameter, or 6.48 TB for 405B, which are split over all devices.
static_assert(is_near(double(train_all::state_in_all), 6.48e12, 0.005));
// A checkpoint is the input of a layer. With four checkpoints for each layer of 70B, as in How to
// Scale Your Model, 4 million tokens need 20.97 TB.
static_assert(is_near(4 * 80 * 4e6 / double(train_70b::tokens_at_once) *
                          double(train_70b::devices) / train_70b::stages *
                          double(nest_bytes<train_70b::x>),
                      20.97e12, 0.001));
// Each device needs less than the 80 GB of an H100.
static_assert(train_8b::held <= 80'000'000'000 && train_70b::held <= 80'000'000'000);
static_assert(train_half::held <= 80'000'000'000 && train_all::held <= 80'000'000'000);
static_assert(train_far::held <= 80'000'000'000);

// --- communication -------------------------------------------------------------------------------

/// Returns the bytes that a device receives in an all_gather or a reduce_scatter of `whole` bytes
/// over a ring of `n` devices.
constexpr index_t ring(index_t whole, index_t n) { return whole / n * (n - 1); }

/// Checks the communication of a layer. As in Megatron-LM, the forward pass gathers and scatters
/// the activations twice over `model`. Over `context` it gathers keys and values. Over `data` a
/// layer communicates only once in a step.
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

// Once in each step, weights of 2 bytes are gathered, and gradients of 4 bytes are scattered.
static_assert(train_all::gathered.bytes_moved("data") ==
              ring(train_all::layer_bytes, train_all::data));
static_assert(train_all::scattered.bytes_moved("data") ==
              ring(nest_bytes<train_all::layer_of<float, none>>, train_all::data));

// --- the table -----------------------------------------------------------------------------------

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
  // Nothing is sent over an axis of size 1, even where the ledger lists it beside another axis.
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
      "One training step on paper: what one device computes (PFLOP), what it stores at once (GB)\n"
      "of weights, gradients, optimizer state and activations, and what it receives: collectives\n"
      "and GB over each axis. Every layer is computed again for its gradient.\n\n"
      "model devices  data  ctx pipe model length    PFLOP | weight   grad  optim  activ    all |"
      "  data      GB   ctx      GB model      GB pipe GB\n");
  show<train_8b>();
  show<train_70b>();
  show<train_half>();
  show<train_all>();
  show<train_far>();
}
