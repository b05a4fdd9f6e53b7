// SPDX-License-Identifier: BSL-1.0
// checkpoints FOLDER: saves checkpoints for the tests of the shell tool, some of which are damaged.
#include <shardwise/checkpoint.hpp>
#include <shardwise/shardwise.hpp>

#include <filesystem>
#include <fstream>
#include <string>

namespace {

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
template <class Spec, index_t... N>
using tensor = sharded_tensor<float, extents<N...>, layout<pod, Spec>>;

struct model {
  tensor<P<"data", "model">, 4, 6> weight;
  tensor<P<none>, 6> bias;
  tensor<P<cyclic("data")>, 4> scale;
};

/// Changes one byte of a file.
void damage(const std::filesystem::path& path) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(-1, std::ios::end);
  const auto last = static_cast<char>(file.get() ^ 1);
  file.seekp(-1, std::ios::end);
  file.put(last);
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  const std::filesystem::path folder(words[1]);
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const device_pool pool{pod{}};
  const model all{iota<tensor<P<"data", "model">, 4, 6>>(pool), ones<tensor<P<none>, 6>>(pool),
                  zeros<tensor<P<cyclic("data")>, 4>>(pool)};
  {
    checkpoint_manager checkpoints((folder / "run").string());
    checkpoints.save(30, all, {.metadata = {{"epoch", "3"}, {"seed", "17"}}, .metric = 0.25});
  }
  save_checkpoint((folder / "plain").string(), all);
  const auto copy = std::filesystem::copy_options::recursive;
  for (const char* name : {"flipped", "cut"})
    std::filesystem::copy(folder / "plain", folder / name, copy);
  damage(folder / "flipped" / "part-1-of-1.safetensors");
  std::filesystem::resize_file(folder / "cut" / "checkpoint.json", 0);
}
