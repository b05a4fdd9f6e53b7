// SPDX-License-Identifier: BSL-1.0
// Convolutions and pooling on paper: legal layouts, the suggestions of errors, and the
// communication.
#include "unit/operation/inference_facts.hpp"

namespace {

using namespace inference;

TEST_CASE("A convolution passes splits of batch and features, and adds up over channels") {
  constexpr fact facts[] = {
      {{4, 2}, "convolution padding=2", "f32[16@x, 8, 128]; f32[4@y, 8, 5]", "f32[16@x, 4@y, 128]"},
      {{4, 2},
       "convolution padding=2",
       "f32[16@x, 8@y, 128]; f32[4, 8@y, 5]",
       "f32[16@x, 4, 128]{partial sum: y}"},
      // If only the channels of one operand are split, the other one may be replicated.
      {{4, 2},
       "convolution padding=2",
       "f32[16@x, 8@y, 128]; f32[4, 8, 5]",
       "f32[16@x, 4, 128]{partial sum: y}"},
      {{2},
       "convolution stride=2,2 padding=0,1,0,1",
       "f32[2@x, 192, 224, 224]; f32[64, 192, 3, 3]",
       "f32[2@x, 64, 112, 112]"},
      {{2},
       "convolution",
       "f32[4, 2, 9]{partial sum: x}; f32[3, 2, 2]",
       "f32[4, 3, 8]{partial sum: x}"},
      // A dimension that is split over an axis of one device is unsplit.
      {{1, 2}, "convolution", "f32[4, 2, 9@x]; f32[3@y, 2, 2]", "f32[4, 3@y, 8@x]"},
      // Groups are split in both operands, or in one and replicated in the other.
      {{4}, "convolution groups=4", "f32[8, 8@x, 9]; f32[12@x, 2, 3]", "f32[8, 12@x, 7]"},
      {{4}, "convolution groups=4", "f32[8, 8@x, 9]; f32[12, 2, 3]", "f32[8, 12@x, 7]"},
      {{4}, "convolution groups=8 stride=2", "f32[8, 8@x, 9]; f32[8@x, 1, 3]", "f32[8, 8@x, 4]"},
      // Windows are unsplit, and batch and features are not split over the same axis.
      {{2},
       "convolution",
       "f32[4, 2, 9]; f32[3, 2, 2@x]",
       "dimension_is_split: f32[4, 2, 9]; f32[3, 2, 2]"},
      {{2},
       "convolution",
       "f32[4@x, 2, 9]; f32[4@x, 2, 2]",
       "axis_would_split_twice: f32[4@x, 2, 9]; f32[4, 2, 2]"},
      {{2}, "convolution", "f32[4, 2, 9]; f32[3, 3, 2]", "operand_sizes_differ"},
      {{2}, "convolution", "f32[4, 2, 3]; f32[3, 2, 4]", "window_does_not_fit"},
      {{2}, "convolution groups=3", "f32[4, 4, 9]; f32[3, 2, 2]", "groups_do_not_divide_channels"},
      {{2}, "convolution groups=0", "f32[4, 4, 9]; f32[3, 2, 2]", "amount_is_out_of_range"},
      {{2}, "convolution stride=2,2", "f32[4, 2, 9]; f32[3, 2, 2]", "window_does_not_fit"},
      {{2}, "convolution stride=0", "f32[4, 2, 9]; f32[3, 2, 2]", "window_does_not_fit"},
      {{2}, "convolution", "f32[4, 2]; f32[3, 2]", "operand_rank_differs"},
  };
  check_facts(facts);
}

TEST_CASE("A stencil passes splits of the grid, whose neighbours are fetched where permitted") {
  constexpr fact facts[] = {
      {{4, 2}, "stencil", "f32[16@x, 8, 128]; f32[3]", "f32[16@x, 8, 128]"},
      {{4, 2}, "stencil padding=0", "f32[16@x, 8@y, 128]; f32[3]", "f32[16@x, 8@y, 126]"},
      {{2}, "stencil dilation=2,1 padding=2,2,0,1", "f32[8, 9]; f32[3, 4]", "f32[8, 7]"},
      {{2}, "stencil", "f32[8, 9]{partial sum: x}; f32[3]", "f32[8, 9]{partial sum: x}"},
      {{2}, "stencil", "f32[8, 9]; f32[3]{partial sum: x}", "f32[8, 9]{partial sum: x}"},
      {{2}, "stencil", "f32[8@x, 9]; f32[1, 3]", "f32[8@x, 9]"},
      {{2}, "stencil", "f32[8@x, 9]; f32[3, 3]", "dimension_is_split: f32[8, 9]; f32[3, 3]"},
      {{2}, "stencil across=x", "f32[8@x, 9]; f32[3, 3]", "f32[8@x, 9]"},
      {{2}, "stencil", "f32[8, 9]; f32[4@x]", "dimension_is_split: f32[8, 9]; f32[4]"},
      {{2}, "stencil", "f32[9]; f32[3, 3]", "operand_rank_differs"},
      {{2}, "stencil", "f32[9]; f32[]", "operand_rank_differs"},
      {{2}, "stencil padding=0", "f32[2]; f32[3]", "window_does_not_fit"},
      {{2}, "stencil padding=1,1,1", "f32[8, 9]; f32[3, 3]", "window_does_not_fit"},
  };
  check_facts(facts);
  constexpr movement movements[] = {
      {{2}, "stencil", "f32[8@x, 9]; f32[3, 3]", "", "all_gather x"},
      {{2}, "stencil across=x", "f32[8@x, 9]; f32[3, 3]", "", "halo_exchange x"},
      {{2, 2},
       "stencil across=x,y",
       "f32[8@x, 9@y]; f32[3, 3]",
       "",
       "halo_exchange x; halo_exchange y"},
  };
  check_movements(movements);
}

TEST_CASE("A split spatial dimension is gathered, or exchanges halos where that is permitted") {
  constexpr fact facts[] = {
      {{4, 2},
       "convolution padding=2",
       "f32[16@x, 8, 128@y]; f32[4, 8, 5]",
       "dimension_is_split: f32[16@x, 8, 128]; f32[4, 8, 5]"},
      {{4, 2},
       "convolution padding=2 across=x",
       "f32[16@x, 8, 128@y]; f32[4, 8, 5]",
       "dimension_is_split: f32[16@x, 8, 128]; f32[4, 8, 5]"},
      {{4, 2},
       "convolution padding=2 across=y",
       "f32[16@x, 8, 128@y]; f32[4, 8, 5]",
       "f32[16@x, 4, 128@y]"},
      {{2}, "convolution", "f32[4, 2, 8@x]; f32[3, 2, 1]", "f32[4, 3, 8@x]"},
      // Permission gathers the windows of weights too.
      {{2}, "convolution across=x", "f32[4, 2, 9]; f32[3, 2, 2@x]", "f32[4, 3, 8]"},
      {{2},
       "convolution_transpose stride=2",
       "f32[4, 2, 8]; f32[2, 3, 4@x]",
       "dimension_is_split: f32[4, 2, 8]; f32[2, 3, 4]"},
      {{2},
       "convolution_transpose stride=2 across=x",
       "f32[4, 2, 8]; f32[2, 3, 4@x]",
       "f32[4, 3, 18]"},
      {{2},
       "convolution_transpose stride=2 across=x",
       "f32[4, 2, 8@x]; f32[2, 3, 2]",
       "f32[4, 3, 16@x]"},
      // As many windows as results, each wider than they are.
      {{2},
       "convolution stride=2,2 padding=0,1,0,1",
       "f32[2, 192, 224@x, 224]; f32[64, 192, 112, 112]",
       "dimension_is_split: f32[2, 192, 224, 224]; f32[64, 192, 112, 112]"},
      {{2},
       "convolution stride=2,2 padding=0,1,0,1",
       "f32[2, 192, 224, 224]; f32[64, 192@x, 112, 112]",
       "f32[2, 64, 57, 57]{partial sum: x}"},
      // A window of one element and padding on one side shift the elements.
      {{2},
       "max_pool window=1,1 padding=-1,1,2,-2",
       "f32[2, 3, 8@x, 16]",
       "dimension_is_split: f32[2, 3, 8, 16]"},
      {{2},
       "max_pool window=1,1 padding=-1,1,2,-2 across=x",
       "f32[2, 3, 8, 16@x]",
       "f32[2, 3, 8, 16@x]"},
      {{2}, "convolution stride=2", "f32[4, 2, 8@x]; f32[3, 2, 2]", "f32[4, 3, 4@x]"},
      // Axes that do not divide the result.
      {{4, 2},
       "max_pool window=2 stride=2 padding=1,0",
       "f32[8@x, 6@y]",
       "extent_is_not_divisible: f32[8@x, 6]"},
      {{2},
       "max_pool window=3 stride=2 padding=0,1 across=x",
       "f32[2, 6@x]",
       "extent_is_not_divisible: f32[2, 6]"},
      {{4, 2}, "max_pool window=2", "f32[16@x, 8@y, 128]", "f32[16@x, 8@y, 64]"},
      {{4, 2}, "max_pool window=2", "f32[16, 8@y, 128@x]", "f32[16, 8@y, 64@x]"},
      {{2},
       "average_pool window=2,2",
       "f32[16, 8, 6@x, 4]",
       "dimension_is_split: f32[16, 8, 6, 4]"},
      {{2}, "max_pool window=2", "f32[4, 8]{partial max: x}", "f32[4, 4]{partial max: x}"},
      {{2}, "average_pool window=2", "f32[4, 8]{partial sum: x}", "f32[4, 4]{partial sum: x}"},
      {{2}, "max_pool window=2", "f32[4, 8]{partial sum: x}", "partial_value_is_read: f32[4, 8]"},
      {{2}, "max_pool window=2", "i32[4@x, 8]", "i32[4@x, 4]"},
      {{2}, "average_pool window=2", "i32[4@x, 8]", "elements_have_no_fractions"},
      {{2}, "max_pool window=9", "f32[4@x, 8]", "window_does_not_fit"},
      {{2}, "max_pool window=2,2,2", "f32[4@x, 8]", "operand_rank_differs"},
  };
  check_facts(facts);
  constexpr movement movements[] = {
      {{2}, "convolution padding=1", "f32[4, 2, 8@x]; f32[3, 2, 3]", "", "all_gather x"},
      {{2},
       "convolution padding=1 across=x",
       "f32[4, 2, 8@x]; f32[3, 2, 3]",
       "",
       "halo_exchange x"},
      {{2, 2},
       "convolution stride=2,2 padding=3,3 across=x,y",
       "f32[1, 1, 224@x, 224@y]; f32[1, 1, 7, 7]",
       "",
       "halo_exchange x; halo_exchange y"},
      {{2, 2},
       "convolution padding=1 across=x,y",
       "f32[1, 1, 16@(x,y)]; f32[1, 1, 3]",
       "",
       "halo_exchange x,y"},
      {{2}, "convolution_transpose across=x", "f32[4, 2, 8]; f32[2, 3, 4@x]", "", "all_gather x"},
      {{2},
       "convolution_transpose stride=2 across=x",
       "f32[4, 2, 8@x]; f32[2, 3, 4@x]",
       "",
       "all_gather x; halo_exchange x"},
      {{2},
       "convolution stride=2,2 padding=3,3 across=x",
       "f32[1, 3, 224@x, 224]; f32[64, 3, 7, 7]",
       "f32[1, 64, 112@x, 112]",
       "halo_exchange x"},
      {{4}, "max_pool window=2 across=x", "f32[2, 16@x]", "", ""},
      {{2}, "max_pool window=1 padding=-1,1 across=x", "f32[2, 16@x]", "", "halo_exchange x"},
      {{2, 2},
       "max_pool window=3,3 stride=1,1 padding=1,1 across=x,y",
       "f32[1, 2, 16@x, 16@y]",
       "",
       "halo_exchange x; halo_exchange y"},
      // A result that is split further is a slice, and halos are beyond the next device.
      {{2}, "max_pool window=3 stride=2 padding=1,0", "f32[6, 6]", "f32[6, 3@x]", ""},
      {{5},
       "max_pool window=4 stride=2 padding=3,0 across=x",
       "f32[2, 9@x]",
       "",
       "halo_exchange x"},
      {{4}, "max_pool window=3 stride=2 padding=1 across=x", "f32[2, 16@x]", "", "halo_exchange x"},
      {{2},
       "convolution padding=1 across=x",
       "f32[4, 2@x, 8]; f32[3, 2@x, 3]",
       "f32[4, 3, 8]",
       "all_reduce x"},
  };
  check_movements(movements);
}

}  // namespace
