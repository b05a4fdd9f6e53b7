// SPDX-License-Identifier: BSL-1.0
// architecture RULE ROOT: checks one rule about the tree at ROOT.
//
// Prints every breach as file:line: sentence, and the number of files; exits with status 1 if there
// is a breach.
#include "source_tree.hpp"

#include <algorithm>
#include <array>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string_view>

namespace {

// The folders in the order of the data flow. A header includes its own folder and those before it.
constexpr std::array<std::string_view, 25> folders = {
    "core",       "mesh",    "spec",   "layout", "notation", "rule",   "expression",
    "operation",  "plan",    "export", "pool",   "kernel",   "tensor", "process",
    "engine",     "runtime", "host",   "nn",     "optim",    "io",     "data",
    "checkpoint", "interop", "draw",   "mpi"};
constexpr std::size_t paper_folders = 9;  // core to plan
// Not in shardwise.hpp.
const std::set<std::string> not_in_everything = {"checkpoint", "data", "export",
                                                 "interop",    "io",   "mpi"};

constexpr int most_lines = 400;
constexpr int many_lines = 250;

std::size_t position_of(std::string_view folder) {
  return static_cast<std::size_t>(std::find(folders.begin(), folders.end(), folder) -
                                  folders.begin());
}
bool is_folder(std::string_view folder) { return position_of(folder) < folders.size(); }
bool is_on_paper(std::string_view folder) { return position_of(folder) < paper_folders; }

bool begins(const std::string& text, std::string_view prefix) {
  return text.compare(0, prefix.size(), prefix) == 0;
}

// The result of a rule: breaches make it fail, notes do not.
struct findings {
  std::vector<std::string> breaches;
  std::vector<std::string> notes;

  void breach(const header& where, int line, const std::string& what) {
    breaches.push_back("include/shardwise/" + where.path + ":" + std::to_string(line) + ": " +
                       what);
  }
  void breach(const std::string& where, const std::string& what) {
    breaches.push_back(where + ": " + what);
  }
};

// The name of an umbrella header beside the folders: "mesh" for mesh.hpp.
std::string umbrella_name(const std::string& path) {
  return path.substr(0, path.size() - std::string_view(".hpp").size());
}

// True if a header of `folder` may include the target, a header of another folder or an umbrella.
std::string why_not(const std::string& folder, const std::string& target) {
  const std::size_t slash = target.find('/');
  if (slash == std::string::npos) {
    const std::string name = umbrella_name(target);
    if (name == "layout" || name == "paper" || name == "forward" || name == "shardwise")
      return "includes " + target + ", which is for programs; include single headers";
    if (!is_folder(name)) return "includes " + target + ", which is no folder's umbrella";
    if (position_of(name) >= position_of(folder)) return folder + " does not come after " + target;
    return {};
  }
  const std::string other = target.substr(0, slash);
  if (!is_folder(other))
    return "includes " + target + ", in a folder that has no place in the order";
  if (position_of(other) > position_of(folder)) return folder + " comes before " + other;
  return {};
}

// True if the umbrella `name` may include the target.
std::string why_umbrella_may_not(const std::string& name, const std::string& target) {
  const std::size_t slash = target.find('/');
  const std::string folder =
      slash == std::string::npos ? umbrella_name(target) : target.substr(0, slash);
  if (name == "shardwise" && target == "paper.hpp") return {};
  if (name == "shardwise")
    return not_in_everything.count(folder) ? "is everything but " + folder : std::string();
  // What programs include on paper, and for the names of types.
  if (name == "layout") return target == "paper.hpp" ? std::string() : "includes paper.hpp only";
  if (name == "paper" || name == "forward")
    return is_on_paper(folder) ? std::string() : folder + " is not on paper";
  // Before its headers, what writes the errors: their include stacks are then short.
  if (target == "core/broken_rule.hpp") return {};
  return folder == name && slash != std::string::npos
             ? std::string()
             : "an umbrella includes the headers of its own folder only, not " + target;
}

void include_order(const source_tree& tree, findings& found) {
  for (const header& h : tree.headers) {
    const std::string name = h.folder.empty() ? umbrella_name(h.path) : h.folder;
    if (!is_folder(name) && name != "paper" && name != "forward" && name != "shardwise")
      found.breach(h, 1, "`" + name + "` has no place in the order of folders");
    for (const auto& [line, target] : h.includes) {
      if (target.find('.') != std::string::npos && !begins(target, "shardwise/")) {
        if (target.find(".hpp") != std::string::npos && target.find('/') == std::string::npos)
          found.breach(h, line, "own headers are included by their full path, not " + target);
        continue;
      }
      if (!begins(target, "shardwise/")) continue;
      const std::string own = target.substr(std::string_view("shardwise/").size());
      const std::string reason =
          h.folder.empty() ? why_umbrella_may_not(name, own) : why_not(h.folder, own);
      if (!reason.empty()) found.breach(h, line, reason);
    }
  }
  std::set<std::string> present, without;
  for (const header& h : tree.headers) present.insert(h.path);
  for (const header& h : tree.headers)
    if (!h.folder.empty() && !present.count(h.folder + ".hpp")) without.insert(h.folder);
  for (const std::string& folder : without)
    found.breach("include/shardwise/" + folder, "no umbrella header " + folder + ".hpp beside it");
}

void paper_is_light(const source_tree& tree, findings& found) {
  static const std::set<std::string> heavy = {"vector",
                                              "string",
                                              "iostream",
                                              "ostream",
                                              "istream",
                                              "sstream",
                                              "fstream",
                                              "stdexcept",
                                              "thread",
                                              "mutex",
                                              "condition_variable",
                                              "future",
                                              "barrier",
                                              "latch",
                                              "semaphore",
                                              "stop_token"};
  for (const header& h : tree.headers) {
    const std::string name = h.folder.empty() ? umbrella_name(h.path) : h.folder;
    if (name != "paper" && !is_on_paper(name)) continue;
    for (const auto& [line, target] : h.includes)
      if (heavy.count(target) || begins(target, "Eigen/") || begins(target, "unsupported/") ||
          begins(target, "range/"))
        found.breach(h, line, "<" + target + "> is too heavy for what is on paper");
  }
}

void third_party_is_confined(const source_tree& tree, findings& found) {
  struct confined {
    std::string_view prefix;
    std::set<std::string> folders;
  };
  static const std::vector<confined> packages = {{"Eigen/", {"kernel"}},
                                                 {"unsupported/Eigen/", {}},
                                                 {"range/v3/", {"data"}},
                                                 {"zlib.h", {"io", "data"}},
                                                 {"nlohmann/", {"io", "checkpoint"}},
                                                 {"xxhash.h", {"checkpoint"}},
                                                 {"mpi.h", {}}};
  for (const header& h : tree.headers)
    for (const auto& [line, target] : h.includes) {
      for (const confined& package : packages)
        if (begins(target, package.prefix) && !package.folders.count(h.folder))
          found.breach(h, line, "<" + target + "> does not belong in this folder");
      if (target == "range/v3/all.hpp")
        found.breach(h, line, "take the single views, not range/v3/all.hpp");
      // Only one header includes the decompositions.
      if (begins(target, "Eigen/") && target != "Eigen/Core" &&
          h.path != "kernel/eigen_solvers.hpp")
        found.breach(h, line, "Eigen/Core is enough, not <" + target + ">");
    }
}

void header_size(const source_tree& tree, findings& found) {
  for (const header& h : tree.headers) {
    if (h.lines() > most_lines)
      found.breach(h, h.lines(), "more than " + std::to_string(most_lines) + " lines");
    else if (h.lines() > many_lines)
      found.notes.push_back("long: include/shardwise/" + h.path + ", " + std::to_string(h.lines()) +
                            " lines");
  }
}

void macros(const source_tree& tree, findings& found) {
  for (const header& h : tree.headers) {
    if (h.path == "core/config.hpp") continue;
    for (std::size_t hash = h.code.find('#'); hash != std::string::npos;
         hash = h.code.find('#', hash + 1)) {
      const std::size_t name = h.code.find_first_not_of(" \t", hash + 1);
      if (name == std::string::npos || h.code.compare(name, 7, "define ") != 0) continue;
      // The words of a list are defined around its inclusion; they take no arguments.
      const std::size_t begin = name + 7;
      const std::size_t end = h.code.find_first_of(" (\n", begin);
      const std::string word = h.code.substr(begin, end - begin);
      if (h.code[end] != ' ' || h.code.find("\n#undef " + word + "\n", end) == std::string::npos)
        found.breach(h, h.line_of(hash), "macros outlive core/config.hpp only: " + word);
    }
  }
}

void identifiers(const source_tree& tree, findings& found) {
  // Predefined names of compilers; all other names of this form are reserved for them.
  static const std::vector<std::string_view> prefixes = {"__builtin_", "__cpp_", "__has_",
                                                         "__clang",    "__m128", "__m256",
                                                         "__m512",     "__cxa_", "__sanitizer_"};
  static const std::set<std::string> names = {
      "__attribute__", "__restrict", "__restrict__", "__cplusplus",  "__func__",  "__int128",
      "__extension__", "__linux__",  "__unix__",     "__x86_64__",   "__i386__",  "__aarch64__",
      "__arm__",       "__riscv",    "__asm__",      "__volatile__", "__cxxabiv1"};
  for (const header& h : tree.headers)
    for (const word& w : words_of(h.code)) {
      if (begins(w.text, "enable_if") || begins(w.text, "void_t"))
        found.breach(h, h.line_of(w.position), "`" + w.text + "`: say it with a concept");
      // Where such a member is initialized with its class, clang 16 writes to no address.
      if (w.text == "no_unique_address")
        found.breach(h, h.line_of(w.position), "`" + w.text + "`: clang 16 miscompiles it");
      if (!begins(w.text, "__") || w.text.size() < 3 || w.text[2] < 'a' || w.text[2] > 'z')
        continue;
      const bool offered =
          names.count(w.text) || std::any_of(prefixes.begin(), prefixes.end(),
                                             [&](std::string_view p) { return begins(w.text, p); });
      if (!offered)
        found.breach(h, h.line_of(w.position), "`" + w.text + "` is a name of the compiler's");
    }
}

// The name that an unindented line declares, as far as the line itself says it.
std::string declared_by(const std::string& line) {
  std::istringstream stream(line.substr(0, line.find_first_of("(;={")));
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  for (std::size_t i = 0; i + 1 < words.size(); ++i)
    if (words[i] == "struct" || words[i] == "class" || words[i] == "concept" || words[i] == "using")
      return words[i + 1] == "class" && i + 2 < words.size() ? words[i + 2] : words[i + 1];
  if (words.empty()) return {};
  // A specialisation, `name<int>`, and an operator are not what others name.
  const std::string& last = words.back();
  return last.substr(0, last.find('<'));
}

// `detail` has what the headers of one folder share. What others use is in `internal`.
void details_are_private(const source_tree& tree, findings& found) {
  std::map<std::string, std::set<std::string>> folders_of;  // by name
  for (const header& h : tree.headers) {
    std::istringstream lines(h.text);
    bool inside = false;
    for (std::string line; std::getline(lines, line);) {
      if (line == "namespace detail {" || line == "namespace shardwise::detail {")
        inside = true;
      else if (begins(line, "}  // namespace"))
        inside = false;
      else if (inside && !line.empty() && std::string_view(" }/#").find(line[0]) == line.npos)
        folders_of[declared_by(line)].insert(h.folder);
    }
  }
  for (const header& h : tree.headers) {
    const std::vector<word> words = words_of(h.code);
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
      if (words[i].text != "detail" ||
          h.code.compare(words[i].position, std::string_view("detail::").size(), "detail::") != 0)
        continue;
      const auto declared = folders_of.find(words[i + 1].text);
      if (declared != folders_of.end() && !declared->second.count(h.folder))
        found.breach(h, h.line_of(words[i].position),
                     "`detail::" + words[i + 1].text + "` belongs to " + *declared->second.begin() +
                         "/: what folders share is in `internal`");
    }
  }
}

void header_frame(const source_tree& tree, findings& found) {
  for (const header& h : tree.headers) {
    if (!begins(h.text, "// SPDX-License-Identifier: BSL-1.0\n"))
      found.breach(h, 1,
                   "the first line is not the licence, `// SPDX-License-Identifier: BSL-1.0`");
    if (h.text.find("\n#pragma once\n") == std::string::npos) found.breach(h, 1, "no #pragma once");
  }
}

void folder_readme(const source_tree& tree, findings& found) {
  std::map<std::string, std::vector<std::string>> files;  // of each folder that has headers
  for (const header& h : tree.headers) {
    const std::filesystem::path path(h.path);
    files[path.parent_path().generic_string()].push_back(path.filename().string());
  }
  for (const header& list : tree.lists) {
    const std::filesystem::path path(list.path);
    files[path.parent_path().generic_string()].push_back(path.filename().string());
  }
  for (const auto& [folder, names] : files) {
    const std::string shown =
        "include/shardwise/" + folder + (folder.empty() ? "" : "/") + "README.md";
    if (!std::filesystem::exists(tree.root / shown)) {
      found.breach(shown, "does not exist");
      continue;
    }
    const std::string text = read_file(tree.root / shown);
    for (const std::string& name : names)
      if (!mentions(text, name)) found.breach(shown, "does not name " + name);
  }
}

// The rules that a list asserts: `static_assert(satisfied SHARDWISE_RULE NAME SHARDWISE_SAYS`.
std::vector<std::string> diagnostics_of(const header& h) {
  std::vector<std::string> names;
  const std::vector<word> words = words_of(h.code);
  for (std::size_t i = 0; i + 3 < words.size(); ++i)
    if (words[i].text == "static_assert" && words[i + 1].text == "satisfied" &&
        words[i + 2].text == "SHARDWISE_RULE")
      names.push_back(words[i + 3].text);
  return names;
}

void diagnostics_are_tested(const source_tree& tree, findings& found) {
  std::string promised;  // the `// expect` lines of all cases
  const std::filesystem::path cases = tree.root / "tests" / "compile_fail";
  if (std::filesystem::is_directory(cases))
    for (const auto& entry : std::filesystem::recursive_directory_iterator(cases)) {
      if (entry.path().extension() != ".cpp") continue;
      const std::string text = read_file(entry.path());
      for (std::size_t at = text.find("// expect"); at != std::string::npos;
           at = text.find("// expect", at + 1))
        promised += text.substr(at, text.find('\n', at) - at) + "\n";
    }
  const std::string page = "docs/reference/diagnostics.md";
  const std::string described = read_file(tree.root / page);
  int count = 0;
  for (const header& h : tree.lists) {
    for (const std::string& name : diagnostics_of(h)) {
      ++count;
      if (!mentions(promised, name))
        found.breach(h, h.line_of(h.text.find(name)),
                     "no program in tests/compile_fail expects " + name);
      if (!mentions(described, name)) found.breach(page, "does not describe " + name);
    }
  }
  if (count < 60) found.breach(page, "finds " + std::to_string(count) + " diagnostics");
  found.notes.push_back(std::to_string(count) + " diagnostics");
}

void template_arguments(const source_tree& tree, findings& found) {
  // g++ 12 takes distinct values of classes with arrays for one; only fixed_string is safe.
  static const std::set<std::string> classes = {"array",     "pair", "inplace_vector", "diagnosis",
                                                "text_view", "name", "sentence"};
  for (const header& h : tree.headers) {
    const std::vector<word> words = words_of(h.code);
    for (const word& w : words) {
      if (w.text != "template") continue;
      const std::size_t open = h.code.find_first_not_of(" \n", w.position + w.text.size());
      if (open == std::string::npos || h.code[open] != '<') continue;
      const std::size_t end = after_angle(h.code, open);
      for (const word& type : words) {
        if (type.position < open || type.position >= end) continue;
        const bool is_class =
            classes.count(type.text) ||
            (type.text.size() > 5 && type.text.substr(type.text.size() - 5) == "_desc");
        // A parameter's type is followed by its name or `...`, and begins the parameter.
        std::size_t before = h.code.find_last_not_of(" \n:", type.position - 1);
        if (h.code.compare(before - 2, 3, "std") == 0)
          before = h.code.find_last_not_of(" \n", before - 3);
        if (is_class && (h.code[before] == '<' || h.code[before] == ','))
          found.breach(h, h.line_of(type.position),
                       "a value of class `" + type.text + "` as a template argument");
      }
    }
  }
}

// The name of the function whose declaration begins at the left edge of a line of a header: the
// word before the parenthesis.
std::string function_of(const std::string& line) {
  const std::size_t open = line.find('(');
  if (open == std::string::npos || open == 0 || line[0] == ' ') return {};
  const std::size_t before =
      line.find_last_not_of("abcdefghijklmnopqrstuvwxyz0123456789_", open - 1);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  if (begin == open || (begin > 0 && line[before] != ' ')) return {};
  return line.substr(begin, open - begin);
}

// Every function of tensors and every function of elements in operation/ is in the catalogue, from
// which the tool, the page of operations and tests are generated.
void operations_are_catalogued(const source_tree& tree, findings& found) {
  // Exceptions: functions that apply the operations of others, the identity, and functions with an
  // entry for each of their modes. The last three query manual axes and the position of a device
  // along them.
  static const std::set<std::string> no_operations = {
      "apply_operation",         "identity",  "scatter", "put_along", "enable_manual_sharding",
      "disable_manual_sharding", "axis_index"};
  static const std::set<std::string> keywords = {"requires", "decltype", "if", "static_assert"};
  std::string catalogue;
  std::set<std::string> included;
  for (const header& h : tree.headers) {
    if (h.path.starts_with("operation/catalogue") && h.path != "operation/catalogue_example.hpp")
      catalogue += h.text;
    if (h.path == "operation.hpp")
      for (const include_line& line : h.includes)
        included.insert(line.target.substr(std::string_view("shardwise/").size()));
  }
  catalogue.erase(std::remove_if(catalogue.begin(), catalogue.end(),
                                 [](char c) { return c == ' ' || c == '\n'; }),
                  catalogue.end());
  int count = 0;
  for (const header& h : tree.headers) {
    if (!included.count(h.path)) continue;
    std::string where;  // the namespace in shardwise
    bool is_template = false;
    std::ptrdiff_t open_braces = 0;  // those of definitions, not of namespaces
    int number = 0;
    std::istringstream lines(h.code);
    for (std::string line; std::getline(lines, line);) {
      ++number;
      if (begins(line, "namespace ")) {
        where = line.substr(std::string_view("namespace ").size());
        where.resize(where.find(' '));
        continue;
      }
      if (begins(line, "}") && open_braces == 0) {
        where = "shardwise";
        continue;
      }
      const bool is_inside = open_braces > 0;
      open_braces += std::count(line.begin(), line.end(), '{');
      open_braces -= std::count(line.begin(), line.end(), '}');
      if (is_inside) {
        if (open_braces == 0) is_template = false;
        continue;
      }
      if (begins(line, "template <")) {
        is_template = true;
        continue;
      }
      const bool is_function = (where == "shardwise" || where == "linalg") && is_template;
      std::string name = is_function ? function_of(line) : std::string();
      if (where == "functions" && !is_template && begins(line, "struct ")) {
        name = line.substr(std::string_view("struct ").size());
        name.resize(name.find_first_of(" ;{"));
      }
      if (name.empty() || keywords.count(name) || no_operations.count(name)) continue;
      ++count;
      // The name is the first argument of an entry.
      const std::string wanted = is_function ? "(\"" + name + '"' : "functions::" + name + ">";
      if (catalogue.find(wanted) == std::string::npos)
        found.breach(h, number, name + " is not in operation/catalogue.hpp");
    }
  }
  found.notes.push_back(std::to_string(count) + " functions of tensors and of elements");
  if (count < 100) found.breach("tests/architecture", "the functions of operations are not found");
}

void top_level(const source_tree& tree, findings& found) {
  static const std::set<std::string> expected = {
      "CMakeLists.txt", "CMakePresets.json", "README.md", "LICENSE", "include", "tests",
      "benchmarks",     "examples",          "docs",      "run",     "build"};
  for (const auto& entry : std::filesystem::directory_iterator(tree.root)) {
    const std::string name = entry.path().filename().string();
    if (name[0] != '.' && !expected.count(name))
      found.breach(name, "is not one of the things that the top level holds");
  }
}

using rule = void (*)(const source_tree&, findings&);
const std::map<std::string, rule> rules = {{"include_order", include_order},
                                           {"paper_is_light", paper_is_light},
                                           {"third_party_is_confined", third_party_is_confined},
                                           {"header_size", header_size},
                                           {"macros", macros},
                                           {"identifiers", identifiers},
                                           {"details_are_private", details_are_private},
                                           {"header_frame", header_frame},
                                           {"folder_readme", folder_readme},
                                           {"diagnostics_are_tested", diagnostics_are_tested},
                                           {"template_arguments", template_arguments},
                                           {"operations_are_catalogued", operations_are_catalogued},
                                           {"top_level", top_level}};

}  // namespace

int main(int count, char* arguments[]) {
  if (count != 3 || !rules.count(arguments[1])) {
    std::cerr << "usage: architecture RULE ROOT, where RULE is one of\n";
    for (const auto& [name, check] : rules) std::cerr << "  " << name << '\n';
    return 2;
  }
  const source_tree tree = read_tree(arguments[2]);
  if (tree.headers.empty()) {
    std::cerr << arguments[2] << " has no headers in include/shardwise\n";
    return 2;
  }
  findings found;
  rules.at(arguments[1])(tree, found);
  for (const std::string& note : found.notes) std::cout << note << '\n';
  for (const std::string& breach : found.breaches) std::cout << breach << '\n';
  std::cout << arguments[1] << ": " << tree.headers.size() << " headers, " << found.breaches.size()
            << " breaches\n";
  return found.breaches.empty() ? 0 : 1;
}
