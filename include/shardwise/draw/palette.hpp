// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/text.hpp"

namespace shardwise::detail {

/// Blocks are distinguished by colour and by hatching; adjacent ones differ in both.
inline constexpr index_t colour_count = 8;
inline constexpr index_t hatch_count = 5;

/// The hatching of a block; the first is none.
inline constexpr text_view hatch_names[] = {"", "dots", "rows", "columns", "grid"};

/// The style sheet of every picture: the colours of Okabe and Ito, which can be distinguished with
/// any colour vision, on a light and on a dark background.
inline constexpr text_view style_sheet = R"(<style>
text{font-family:ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;font-size:12px}
.t{font-size:14px;font-weight:bold}.s{font-size:11px}
.ground{fill:#fff}.ink{fill:#1f2328}.dim{fill:#57606a}
.plate{fill:#fff;fill-opacity:.86}.edge{fill:none;stroke:#1f2328}
.hole{fill:none;stroke:#57606a;stroke-dasharray:3 3}
.hatch{fill:none;stroke:#1f2328;stroke-opacity:.34}.dot{fill:#1f2328;fill-opacity:.4}
.stripe{stroke:#fff;stroke-width:5;stroke-opacity:.66}
.wire{fill:none;stroke:#57606a}.tip{fill:#57606a}
.stay{fill:none;stroke:#57606a;stroke-dasharray:2 4}
.c0{fill:#7cc5ee}.c1{fill:#efb43c}.c2{fill:#3fbf98}.c3{fill:#f4ea6e}
.c4{fill:#7aaede}.c5{fill:#ee8f50}.c6{fill:#dda0c2}.c7{fill:#b9bec4}
.w0{stroke:#2a8fc7}.w1{stroke:#b97f00}.w2{stroke:#00845f}.w3{stroke:#9a8f00}
.w4{stroke:#0072b2}.w5{stroke:#c65200}.w6{stroke:#b0588c}.w7{stroke:#6e7781}
@media (prefers-color-scheme:dark){
.ground{fill:#0d1117}.ink{fill:#e6edf3}.dim{fill:#9da7b3}
.plate{fill:#0d1117;fill-opacity:.82}.edge{stroke:#c9d1d9}
.hole{stroke:#9da7b3}.hatch{stroke:#0d1117;stroke-opacity:.55}.dot{fill:#0d1117;fill-opacity:.6}
.stripe{stroke:#0d1117;stroke-opacity:.6}.wire,.stay{stroke:#9da7b3}.tip{fill:#9da7b3}
.c0{fill:#3d8fbe}.c1{fill:#b98212}.c2{fill:#0a8a67}.c3{fill:#a79c2c}
.c4{fill:#3569a8}.c5{fill:#b95a1e}.c6{fill:#a3638a}.c7{fill:#6b727a}
.w0{stroke:#6cc0ee}.w1{stroke:#e6a832}.w2{stroke:#35c39a}.w3{stroke:#e0d65a}
.w4{stroke:#6aa5e6}.w5{stroke:#f08a4b}.w6{stroke:#e09cc3}.w7{stroke:#aab2bb}
}
</style>
<defs>
<pattern id="sw-dots" width="8" height="8" patternUnits="userSpaceOnUse">
<circle class="dot" cx="2" cy="2" r="1.3"/>
<circle class="dot" cx="6" cy="6" r="1.3"/></pattern>
<pattern id="sw-rows" width="6" height="6" patternUnits="userSpaceOnUse">
<path class="hatch" d="M0 3h6"/></pattern>
<pattern id="sw-columns" width="6" height="6" patternUnits="userSpaceOnUse">
<path class="hatch" d="M3 0v6"/></pattern>
<pattern id="sw-grid" width="8" height="8" patternUnits="userSpaceOnUse">
<path class="hatch" d="M0 4h8M4 0v8"/></pattern>
<pattern id="sw-partial" width="12" height="12" patternUnits="userSpaceOnUse">
<path class="stripe" d="M-3 3l6 -6M-3 15l18 -18M9 15l6 -6"/></pattern>
</defs>
)";

}  // namespace shardwise::detail
