// SPDX-License-Identifier: BSL-1.0
// A program that includes the usual headers and defines the usual names at namespace scope.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wshadow"  // in templates of the library, of the program's names
#endif
#include "support/catch.hpp"
#include <shardwise/shardwise.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <fcntl.h>
#include <filesystem>
#include <iostream>
#include <math.h>
#include <numeric>
#include <signal.h>
#include <sstream>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <strings.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <vector>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using X = sharded_tensor<float, extents<8, 16>, layout<pod, P<"data", "model">>>;

constexpr auto two_sums = [](const auto& x) {
  return reshard<P<>>(sum<0>(sum<1>(tanh(x)))) + reshard<P<>>(max<0>(max<1>(exp(x))));
};

// Variables and types of the program.
constexpr auto ledger = trace(two_sums, abstract<X>());
static_assert(ledger.collectives() == 2);
constexpr const char* name = "a program";
constexpr const char* text = "words";
constexpr double box[] = {1.0, 2.0};
constexpr int parts = 4;
constexpr auto program = trace_program<64>(two_sums, abstract<X>());
constexpr int count = 3;
constexpr int size = 5;
constexpr int key = 7;
constexpr int plan = 8;
const std::vector<float> data(8, 1.0F);
constexpr auto fill = [](int i) { return i + 1; };
constexpr auto check = [](bool right) { return right ? 1 : 0; };
struct result {
  int index = 0;
};
constexpr result first{}, last{};
struct node {
  const node* next = nullptr;
};
struct buffer {
  int bytes = 64;
};
struct machine {
  int cores = 2;
};
struct config {
  bool is_verbose = false;
};
struct window {
  int rows = 24;
};
struct piece {
  char color = 'w';
};
struct lifetime {
  double seconds = 0.5;
};
struct transport {
  int port = 80;
};
struct reader {
  int line = 1;
};
struct computation {
  int threads = 3;
};
struct arena {
  int blocks = 9;
};
struct suggestion {
  int votes = 12;
};
struct operations {
  int additions = 4;
};
enum class permission { granted, denied };
enum class transfer { none, whole };
constexpr double volume = 0.25;
constexpr int dimension = 3, extent = 16, operand = 2, nearest = 5;
constexpr bool lazy = true;
constexpr bool ordering = false;
constexpr double triangle[] = {3.0, 4.0, 5.0};
constexpr double contraction = 0.5;
const std::vector<const char*> types{"f32", "f64"}, quotes{"to be", "or not"};
const std::string sentence = "it is told";
const std::vector<int> schedule{1, 2};

// Functions of the program on its own types, with the names of operations.
struct image {
  int pixels = 6;
};
int full(const image& of) { return of.pixels; }
int step(const image& of) { return of.pixels + 1; }
int trace(const image& of) { return of.pixels + 2; }
int sync(const image& of) { return of.pixels + 3; }
int any(const image& of) { return of.pixels + 4; }
int softmax(const image& of) { return of.pixels + 5; }
int tile(const image& of) { return of.pixels + 6; }
int slice(const image& of, int begin) { return of.pixels - begin; }

TEST_CASE("a program's own names stand beside those of the library") {
  CHECK(std::string(name) + text == "a programwords");
  CHECK(box[0] + box[1] + parts + count + size + key + plan == 30.0);
  CHECK(buffer{}.bytes + machine{}.cores == 66);
  CHECK((node{}.next == nullptr && !config{}.is_verbose));
  CHECK(window{}.rows + transport{}.port + static_cast<int>(schedule.size()) == 106);
  CHECK((piece{}.color == 'w' && lifetime{}.seconds + volume == 0.75));
  CHECK(reader{}.line + computation{}.threads + arena{}.blocks + suggestion{}.votes +
            operations{}.additions ==
        29);
  CHECK((permission::granted != permission::denied && transfer::none != transfer::whole));
  CHECK(dimension + extent + operand + nearest + static_cast<int>(types.size() + quotes.size()) ==
        30);
  CHECK(sentence.size() == 10);
  CHECK((lazy && !ordering && triangle[2] * contraction == 2.5));
  CHECK(program.view().mesh->devices() == 8);
  CHECK(fill(1) + check(data.size() == 8) + first.index + last.index == 3);
  const image one;
  CHECK(full(one) + step(one) + trace(one) + sync(one) + any(one) + softmax(one) + tile(one) == 63);
  CHECK(slice(one, 2) == 4);
}

TEST_CASE("functions of the system and of the library are told apart by their operands") {
  const device_pool pool{pod{}};
  const auto x = full<X>(pool, 0.25F);
  const X y = exp(x) + sqrt(x) + pow(x, 2.0F) + sin(x) + abs(x) + round(x) + fmax(1.0F, 2.0F);
  CHECK(to_host(y)(0, 0) ==
        std::exp(0.25F) + 0.5F + 0.0625F + std::sin(0.25F) + 0.25F + 0.0F + 2.0F);
  sync(y);
  ::sync();
  CHECK(to_host(sum<0>(sum<1>(reshard<P<none, none>>(x))))() == 32.0F);
  std::ostringstream out;
  out << "x " << name << ' ' << ledger.collectives();
  CHECK(out.str() == "x a program 2");
  CHECK(fill(1) == 2);
  const auto made = normal<X>(pool, random_key{1});
  CHECK(local(made, 0).elements().size() == 16);
}
