#include "ptx.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

namespace tilewise::sim {
namespace {

bool begins(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

bool is_decimal(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// Without line breaks, and without the braces of a block around all of it.
std::string plain(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == 'n' || text[i + 1] == 't' || text[i + 1] == 'r')) {
      out += ' ';
      ++i;
    } else {
      out += std::isspace(static_cast<unsigned char>(text[i])) ? ' ' : text[i];
    }
  }
  const auto first = out.find_first_not_of(' ');
  const auto last = out.find_last_not_of(' ');
  if (first == std::string::npos) return "";
  out = out.substr(first, last - first + 1);
  if (out.front() == '{' && out.back() == '}') out = out.substr(1, out.size() - 2);
  return out;
}

std::vector<std::string> statements(const std::string& text) {
  std::vector<std::string> all;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(';', begin), text.size());
    const std::size_t first = text.find_first_not_of(' ', begin);
    if (first < end) all.push_back(text.substr(first, text.find_last_not_of(' ', end - 1) - first + 1));
    begin = end + 1;
  }
  return all;
}

std::string_view opcode_of(std::string_view statement) { return statement.substr(0, statement.find(' ')); }

// What the instruction would need, if that is a newer GPU.
std::string what_it_needs(std::string_view opcode) {
  const auto needs = [](std::string_view what, const char* capability) {
    return std::string(what) + " needs a GPU of compute capability " + capability + "; the simulator does not have it";
  };
  if (begins(opcode, "wgmma.")) return needs("wgmma", "9.0");
  if (begins(opcode, "cp.async.bulk") || begins(opcode, "cp.reduce.async.bulk"))
    return needs("cp.async.bulk (TMA)", "9.0");
  if (begins(opcode, "mbarrier.")) return needs("mbarrier for TMA", "9.0");
  for (const char* of_hopper : {"fence.proxy", "fence.mbarrier_init", "tensormap.", "prefetch.tensormap", "setmaxnreg.",
                                "barrier.cluster", "mapa.", "stmatrix.", "elect.sync", "griddepcontrol."})
    if (begins(opcode, of_hopper)) return needs(opcode, "9.0");
  if (begins(opcode, "tcgen05.")) return needs("tcgen05", "10.0");
  return "";
}

struct Known {
  std::string type;
  std::size_t least = 0, most = 0;  // operands
};

// "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16": how many matrices, and whether they are transposed.
Known load_matrices(std::string_view opcode) {
  for (const char* count : {"1", "2", "4"})
    for (const bool transposed : {false, true})
      for (const char* space : {"shared", "shared::cta"}) {
        const std::string name =
            std::string("ldmatrix.sync.aligned.m8n8.x") + count + (transposed ? ".trans" : "") + "." + space + ".b16";
        const std::size_t operands = static_cast<std::size_t>(count[0] - '0') + 1;
        if (opcode == name)
          return {std::string("LoadMatrices<") + count + (transposed ? ", true>" : ", false>"), operands, operands};
      }
  return {};
}

bool copies_asynchronously(std::string_view opcode) {
  for (const char* name : {"cp.async.ca.shared.global", "cp.async.cg.shared.global", "cp.async.ca.shared::cta.global",
                           "cp.async.cg.shared::cta.global"})
    if (opcode == name || (begins(opcode, name) && begins(opcode.substr(std::string_view(name).size()), ".L2::")))
      return opcode.find("cache_hint") == std::string_view::npos;
  return false;
}

Known known(std::string_view opcode) {
  constexpr std::size_t kOfMma = 4 + 4 + 2 + 4;
  if (opcode == "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32") return {"MmaBf16", kOfMma, kOfMma};
  if (opcode == "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32") return {"MmaF16", kOfMma, kOfMma};
  if (opcode == "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32") return {"MmaTf32", kOfMma, kOfMma};
  if (opcode == "cvt.rna.tf32.f32") return {"ConvertToTf32", 2, 2};
  if (copies_asynchronously(opcode)) return {"CopyAsync", 3, 4};
  if (opcode == "cp.async.commit_group") return {"CommitGroup", 0, 0};
  if (opcode == "cp.async.wait_group") return {"WaitGroup", 1, 1};
  if (opcode == "cp.async.wait_all") return {"WaitAll", 0, 0};
  return load_matrices(opcode);
}

// Reads "{%0, %1}, [%2], 16". False for what is neither a number nor an operand.
bool read_operands(std::string_view text, std::vector<PtxOperand>& operands) {
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == ' ' || text[i] == ',' || text[i] == '{' || text[i] == '}' || text[i] == '[' || text[i] == ']') {
      ++i;
      continue;
    }
    const bool numbered = text[i] == '%';
    const std::size_t begin = i + numbered;
    std::size_t end = begin;
    while (end < text.size() && is_decimal(text[end])) ++end;
    if (end == begin || end - begin > 6) return false;
    if (end < text.size() && text.find_first_of(" ,}]", end) != end) return false;
    PtxOperand operand;
    const std::string digits(text.substr(begin, end - begin));
    if (numbered)
      operand.number = std::stoul(digits);
    else
      operand.literal = digits;
    operands.push_back(std::move(operand));
    i = end;
  }
  return true;
}

// `mov` from a special register.
bool reads_special_register(std::string_view statement, PtxCall& call) {
  static constexpr std::pair<std::string_view, const char*> kRegisters[] = {
      {"mov.u32 %0, %%laneid", "LaneId"}, {"mov.u32 %0, %%clock", "Clock"}, {"mov.u64 %0, %%clock64", "Clock"}};
  for (const auto& [text, type] : kRegisters)
    if (statement == text) {
      call.instruction = type;
      call.operands.push_back({});
      return true;
    }
  return false;
}

PtxCall refused(std::string error) {
  PtxCall call;
  call.error = std::move(error);
  return call;
}

}  // namespace

PtxCall parse_ptx(std::string_view text) {
  const std::vector<std::string> all = statements(plain(text));
  for (const std::string& statement : all)
    if (std::string needs = what_it_needs(opcode_of(statement)); !needs.empty()) return refused(std::move(needs));
  PtxCall call;
  for (const std::string& statement : all) {
    const std::string_view opcode = opcode_of(statement);
    if (all.size() == 1 && reads_special_register(statement, call)) return call;
    const Known instruction = known(opcode);
    if (instruction.type.empty())
      return refused("the simulator does not support inline PTX (asm) with " + std::string(opcode) +
                     ": use a CUDA intrinsic or plain C++");
    if (all.size() > 1)
      return refused("the simulator does not support several PTX instructions in one asm: write an asm for each");
    std::vector<PtxOperand> operands;
    if (!read_operands(std::string_view(statement).substr(opcode.size()), operands))
      return refused(
          "the simulator reads operands of inline PTX (asm) that are %0, %1 ... or whole numbers, and not these of " +
          std::string(opcode));
    if (operands.size() < instruction.least || operands.size() > instruction.most)
      return refused(std::string(opcode) + " takes " + std::to_string(instruction.least) + " operands, and not " +
                     std::to_string(operands.size()));
    call.instruction = instruction.type;
    call.operands = std::move(operands);
    return call;
  }
  return refused("the simulator does not support inline PTX (asm) without an instruction in its text");
}

}  // namespace tilewise::sim
