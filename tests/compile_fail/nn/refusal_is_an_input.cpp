// SPDX-License-Identifier: BSL-1.0
// A module, a loss or a transformation given the result of an invalid operation reports no further
// error, in a function that runs and in one that is traced.
// expect: shardwise::broken_rule<shardwise::violation::dimension_is_out_of_range,
#include <shardwise/nn.hpp>
#include <shardwise/optim.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>> {};
template <index_t... N>
using whole = nn::whole<float, pod, N...>;
using into = whole<8, 2, 4>;
using heads = nn::attention<into, into, into, whole<2, 4, 8>>;
using looking = nn::attention<into, into, into, whole<2, 4, 8>, nn::as_computed, nn::bidirectional>;
using turned =
    nn::attention<into, into, into, whole<2, 4, 8>, nn::as_computed, nn::causal, nn::rotary<>>;
using dense = nn::linear<whole<8, 8>, whole<8>>;
using block = nn::transformer_block<nn::rms_norm<whole<8>>, heads, nn::mlp<dense, dense>>;
struct modules {
  dense linear;
  nn::mlp<dense, dense> mlp;
  nn::gated_mlp<dense, dense, dense> gated;
  nn::layer_norm<whole<8>> layer_norm;
  nn::rms_norm<whole<8>> rms_norm;
  nn::group_norm<2, whole<8>> group_norm;
  nn::instance_norm<whole<8>> instance_norm;
  nn::batch_norm<whole<8>> batch_norm;
  heads attention;
  looking cross;
  turned rotating;
  block transformer;
  nn::embedding<whole<16, 8>> table;
  nn::convolution<whole<8, 8, 3>, whole<8>> convolution;
};

template <class... Results>
void see(const Results&...);

void use(const modules& m, const whole<8, 8>& x, const whole<2, 3, 8>& words,
         const nn::whole<int, pod, 8>& labels) {
  const auto bad = sum<7>(x);
  see(m.linear(bad), m.mlp(bad), m.gated(bad), m.layer_norm(bad), m.rms_norm(bad));
  see(m.group_norm(bad), m.instance_norm(bad), m.batch_norm(bad));
  see(m.batch_norm(bad, nn::momentum{0.1}));
  see(m.attention(bad), m.rotating(bad), m.transformer(bad), m.table(bad), m.table.scores(bad));
  see(m.cross(bad, words), m.cross(words, bad));
  see(m.attention(bad, nn::attention_mask{bad}), m.transformer(bad, nn::attention_mask{bad}));
  see(m.convolution(bad));
  see(nn::dropout<>{}(bad, random_key{1}), nn::rotary<>{}(bad), nn::rotary<>{}(bad, bad));
  see(nn::rotary<>{}(bad, labels));
  see(nn::mse(bad, x), nn::mse(x, bad), nn::l1(bad, x), nn::l1(x, bad));
  see(nn::huber(bad, x, 1.0), nn::huber(x, bad, 1.0));
  see(nn::binary_cross_entropy(bad, x), nn::binary_cross_entropy(x, bad));
  see(nn::kl_divergence(bad, x), nn::kl_divergence(x, bad));
  see(nn::nll(bad, labels), nn::nll(x, bad));
  see(nn::cross_entropy(bad, labels), nn::cross_entropy(x, bad));
  see(nn::cross_entropy(x, labels, bad), nn::cross_entropy(bad, labels, nn::smoothing{0.1}));
  see(nn::cross_entropy_ignoring<-1>(bad, labels), nn::cross_entropy_ignoring<-1>(x, bad));
  see(nn::cross_entropy_ignoring<-1>(x, labels, bad));
  see(nn::normalize<1>(bad), nn::cosine_similarity<1>(bad, x), nn::cosine_similarity<1>(x, bad));
  see(optim::global_norm(bad));

  constexpr auto mean_square = [](const auto& w, const auto& y) { return mean(square(w * y)); };
  see(gradient(mean_square)(bad, x), gradient(mean_square)(x, bad));
  see(value_and_grad(mean_square)(bad, x), value_and_grad(mean_square)(x, bad));
  see(vjp(mean_square, bad, x), vjp(mean_square, x, bad));
  see(recompute(mean_square)(bad, x), recompute(mean_square)(x, bad));
  see(vmap([](const auto& row) { return row * 2.0F; })(bad));
  see(scan([](const auto& h, const auto& row) { return h + row; }, bad, x));
  see(scan([](const auto& h, const auto& row) { return h + row; }, x, bad));
}
