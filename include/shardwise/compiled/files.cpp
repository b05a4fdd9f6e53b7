// SPDX-License-Identifier: BSL-1.0
// Functions on files of tensors. Part of the library where there is a JSON library.
#define SHARDWISE_ENGINE
#include "shardwise/checkpoint/checkpoint_files_work.hpp"
#include "shardwise/checkpoint/checkpoint_index_work.hpp"
#include "shardwise/checkpoint/checkpoint_manager_work.hpp"
#include "shardwise/checkpoint/checkpoint_work.hpp"
#include "shardwise/checkpoint/save_checkpoint_work.hpp"
#include "shardwise/io/csv_work.hpp"
#include "shardwise/io/file_array_work.hpp"
#include "shardwise/io/file_bytes_work.hpp"
#include "shardwise/io/file_work.hpp"
#include "shardwise/io/load_array_work.hpp"
#include "shardwise/io/mapped_file_work.hpp"
#include "shardwise/io/npy_header_work.hpp"
#include "shardwise/io/npy_work.hpp"
#include "shardwise/io/open_files_work.hpp"
#include "shardwise/io/program_json_work.hpp"
#include "shardwise/io/safetensors_directory_work.hpp"
#include "shardwise/io/safetensors_header_work.hpp"
#include "shardwise/io/safetensors_index_work.hpp"
#include "shardwise/io/safetensors_work.hpp"
#include "shardwise/io/stored_part_work.hpp"
#include "shardwise/io/stored_tensors_work.hpp"
#include "shardwise/io/tensor_source_work.hpp"
#include "shardwise/io/weight_names_work.hpp"

#if !defined(SHARDWISE_COMPILED_FILES)
#error \
    "the compiled library is built with SHARDWISE_COMPILED_FILES, as the programs that link it are"
#endif
