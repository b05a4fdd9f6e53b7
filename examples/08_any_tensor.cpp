// SPDX-License-Identifier: BSL-1.0
// A program whose mesh is known only at run time: `08_any_tensor DATA MODEL`. The layout is a
// value, the engine and the rules are the same, and a broken rule throws the sentence that the
// compiler would have printed.
#include <shardwise/shardwise.hpp>

#include <charconv>
#include <exception>
#include <iostream>
#include <numeric>
#include <string_view>
#include <vector>

using namespace shardwise;

int run(index_t data, index_t model) {
  const mesh_desc mesh{{axis_desc{"data", data}, axis_desc{"model", model}}};
  device_pool pool(mesh);
  const auto spread = [&](index_t rows, index_t columns, const spec_desc& spec) {
    std::vector<float> host(static_cast<std::size_t>(rows * columns));
    std::iota(host.begin(), host.end(), 0.0F);
    // 30 and 20 are divisible by few mesh sizes: shards may be uneven.
    return distribute<float>(pool, host, {rows, columns}, spec, uneven{});
  };
  const any_tensor<float> x = spread(20, 30, spec_desc{{"data", "model"}});
  const any_tensor<float> w = spread(30, 10, spec_desc{{"model", ""}});

  const any_tensor<float> terms = einsum("bi,io->bo", x, w);
  const any_tensor<float> y = reshard(terms, spec_desc{{"data", ""}});
  visualize(y);
  std::cout << explain(y);
  const auto values = to_host(y);
  float want = 0;
  for (index_t i = 0; i < 30; ++i) want += static_cast<float>((3 * 30 + i) * (i * 10 + 7));
  std::cout << "y(3, 7) = " << values(3, 7) << ", should be " << want << '\n';

  // Reading a pending sum is an error, which suggests the call that fixes it.
  try {
    (void)to_host(terms);
    return 1;
  } catch (const error& refused) {
    std::cout << "refused: " << refused.what() << '\n';
  }
  return values(3, 7) == want ? 0 : 1;
}

/// Returns a number, or 0, which no mesh accepts.
index_t number(std::string_view words) {
  index_t read = 0;
  const auto [end, problem] = std::from_chars(words.data(), words.data() + words.size(), read);
  return problem == std::errc{} && end == words.data() + words.size() ? read : 0;
}

int main(int argc, char** argv) {
  try {
    return run(argc > 1 ? number(argv[1]) : 3, argc > 2 ? number(argv[2]) : 4);
  } catch (const std::exception& failure) {
    std::cerr << "08_any_tensor: " << failure.what() << '\n';
    return 2;
  }
}
