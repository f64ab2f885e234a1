#include "ptx.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

namespace tilewise::sim {
namespace {

bool begins(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

bool is_decimal(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_hex(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }

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
        // Both orders are in use.
        const std::string how_many = std::string(".x") + count + (transposed ? ".trans" : "");
        const std::string tail = "." + std::string(space) + ".b16", head = "ldmatrix.sync.aligned";
        const std::size_t operands = static_cast<std::size_t>(count[0] - '0') + 1;
        if (opcode == head + ".m8n8" + how_many + tail || opcode == head + how_many + ".m8n8" + tail)
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

// Integers without memory: a type, and what it is made for.
Known integer_instruction(std::string_view opcode) {
  struct Instruction {
    std::string_view name;  // in front of the type
    const char* type;
    std::size_t operands;
    bool has_sign;  // .u32, .s32, .u64 and .s64, and not .b32 and .b64
  };
  static constexpr Instruction kInstructions[] = {{"bfe", "ExtractBits", 4, true},
                                                  {"bfi", "InsertBits", 5, false},
                                                  {"bfind", "FindBit", 2, true},
                                                  {"popc", "CountBits", 2, false},
                                                  {"clz", "CountZeros", 2, false},
                                                  {"brev", "ReverseBits", 2, false},
                                                  {"add", "Add", 3, true},
                                                  {"sub", "Subtract", 3, true},
                                                  {"mul.lo", "Multiply", 3, true},
                                                  {"mad.lo", "MultiplyAdd", 4, true},
                                                  {"bfind.shiftamt", "ShiftOf", 2, true}};
  const std::size_t dot = opcode.rfind('.');
  if (dot == std::string_view::npos) return {};
  const std::string_view name = opcode.substr(0, dot), suffix = opcode.substr(dot + 1);
  const bool wide = suffix == "u64" || suffix == "s64" || suffix == "b64";
  if (!wide && suffix != "u32" && suffix != "s32" && suffix != "b32") return {};
  for (const Instruction& i : kInstructions)
    if (i.name == name && i.has_sign == (suffix[0] != 'b')) {
      const std::string type = (suffix[0] == 's' ? "std::int" : "std::uint") + std::string(wide ? "64_t" : "32_t");
      return {std::string(i.type) + "<" + type + ">", i.operands, i.operands};
    }
  return {};
}

// "vabsdiff4.u32.u32.u32.add": bytes or halves of a word, whose differences may be added up.
Known absolute_differences(std::string_view opcode) {
  for (const char* lanes : {"", "2", "4"})
    for (const char* type : {"u32", "s32"})
      for (const bool added : {false, true}) {
        std::string name = "vabsdiff" + std::string(lanes);
        for (int i = 0; i < 3; ++i) name += "." + std::string(type);
        if (opcode != name + (added ? ".add" : "")) continue;
        const std::string number =
            std::string(type[0] == 's' ? "std::int" : "std::uint") + (lanes[0] == '4'   ? "8_t"
                                                                      : lanes[0] == '2' ? "16_t"
                                                                                        : "32_t");
        // Of two or four differences, the third source is there without .add, too.
        const std::size_t operands = lanes[0] == '\0' && !added ? 3 : 4;
        return {"Differences<" + number + (added ? ", true>" : ", false>"), operands, operands};
      }
  return {};
}

// Arguments of the types that instructions become.
constexpr const char* kForNone = "::tilewise::sim::ptx::For::none";
constexpr const char* kForBlock = "::tilewise::sim::ptx::For::block";
constexpr const char* kForAll = "::tilewise::sim::ptx::For::all";
constexpr const char* kInGeneric = "::tilewise::sim::ptx::In::generic";
constexpr const char* kInShared = "::tilewise::sim::ptx::In::shared";

/// An opcode's parts, taken from the front.
class Parts {
 public:
  explicit Parts(std::string_view opcode) {
    for (std::size_t at = 0; at <= opcode.size();) {
      const std::size_t end = std::min(opcode.find('.', at), opcode.size());
      parts_.push_back(opcode.substr(at, end - at));
      at = end + 1;
    }
  }
  bool take(std::string_view part) { return next_ < parts_.size() && parts_[next_] == part && ++next_ != 0; }
  /// The only one that is left; empty where more or fewer are.
  std::string_view last() const { return next_ + 1 == parts_.size() ? parts_.back() : std::string_view(); }
  bool empty() const { return next_ == parts_.size(); }

 private:
  std::vector<std::string_view> parts_;
  std::size_t next_ = 0;
};

// ".cta", ".cluster", ".gpu", ".sys": for whom what is in order. Empty where none of them stands here.
std::string scope(Parts& parts) {
  if (parts.take("cta")) return kForBlock;
  return parts.take("cluster") || parts.take("gpu") || parts.take("sys") ? kForAll : "";
}

// Empty for one that the simulator lacks, such as .local.
std::string state_space(Parts& parts, bool& is_generic) {
  is_generic = false;
  if (parts.take("global")) return kInGeneric;
  if (parts.take("shared") || parts.take("shared::cta")) return kInShared;
  is_generic = true;
  return kInGeneric;
}

const char* type_in_memory(std::string_view suffix) {
  static constexpr std::pair<std::string_view, const char*> kTypes[] = {
      {"f32", "float"},         {"f64", "double"},        {"u8", "std::uint8_t"},   {"s8", "std::int8_t"},
      {"b8", "std::uint8_t"},   {"u16", "std::uint16_t"}, {"s16", "std::int16_t"},  {"b16", "std::uint16_t"},
      {"u32", "std::uint32_t"}, {"s32", "std::int32_t"},  {"b32", "std::uint32_t"}, {"u64", "std::uint64_t"},
      {"s64", "std::int64_t"},  {"b64", "std::uint64_t"}};
  for (const auto& [name, type] : kTypes)
    if (name == suffix) return type;
  return nullptr;
}

// "ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4]", "ld.acquire.gpu.u32 %0, [%1]", and st: one access of all the elements.
Known access_of_memory(std::string_view opcode) {
  Parts parts(opcode);
  const bool loads = parts.take("ld");
  if (!loads && !parts.take("st")) return {};
  const bool orders = parts.take(loads ? "acquire" : "release");
  const bool scoped = orders || parts.take("relaxed"), strong = scoped || parts.take("volatile");
  const std::string whom = scoped ? scope(parts) : "";
  if (scoped && whom.empty()) return {};
  if (!strong) parts.take("weak");
  bool is_generic;
  const std::string in = state_space(parts, is_generic);
  // Where it is kept, which is no business of what is read: hints.
  for (bool hints = in == kInGeneric; hints;)
    hints = parts.take("L1::no_allocate") || parts.take("L1::evict_last") || parts.take("L2::128B") ||
            parts.take("L2::256B") ||
            (!strong &&
             (parts.take("ca") || parts.take("cg") || parts.take("cs") || (loads && !is_generic && parts.take("nc")) ||
              (loads ? parts.take("lu") || parts.take("cv") : parts.take("wb") || parts.take("wt"))));
  const int count = parts.take("v4") ? 4 : parts.take("v2") ? 2 : 1;
  const char* const type = type_in_memory(parts.last());
  if (type == nullptr || (count == 4 && parts.last().substr(1) == "64")) return {};
  const auto operands = static_cast<std::size_t>(count + 1);
  return {std::string(loads ? "Load<" : "Store<") + type + ", " + std::to_string(count) + ", " + in +
              (strong ? ", true, " : ", false, ") + (orders ? whom : kForNone) + ">",
          operands, operands};
}

// "atom.acq_rel.gpu.global.add.u32 %0, [%1], %2", and red, which gives nothing back.
Known atomic_instruction(std::string_view opcode) {
  Parts parts(opcode);
  const bool gives_back = parts.take("atom");
  if (!gives_back && !parts.take("red")) return {};
  const bool both = gives_back && parts.take("acq_rel");
  const bool acquires = both || (gives_back && parts.take("acquire")), releases = both || parts.take("release");
  if (!acquires && !releases) parts.take("relaxed");
  // Without a scope it's the GPU's.
  std::string whom = scope(parts);
  if (whom.empty()) whom = kForAll;
  bool is_generic;
  const std::string in = state_space(parts, is_generic);
  const std::string release = releases ? whom : kForNone, acquire = acquires ? whom : kForNone;
  struct Operation {
    std::string_view name;
    const char* type;
    std::string_view of;  // the types that it has
  };
  static constexpr Operation kOperations[] = {
      {"exch", "Exchanged", "b32 b64"},     {"add", "Added", "u32 s32 u64 f32 f64"},
      {"min", "Lesser", "u32 s32 u64 s64"}, {"max", "Greater", "u32 s32 u64 s64"},
      {"and", "Anded", "b32 b64"},          {"or", "Ored", "b32 b64"},
      {"xor", "Xored", "b32 b64"},          {"inc", "CountedUp", "u32"},
      {"dec", "CountedDown", "u32"},        {"cas", "", "b16 b32 b64"}};
  for (const Operation& operation : kOperations) {
    if (!parts.take(operation.name)) continue;
    const std::string_view suffix = parts.last();
    const char* const type = type_in_memory(suffix);
    if (type == nullptr || operation.of.find(suffix) == std::string_view::npos) return {};
    if (operation.name == "cas" && gives_back)
      return {std::string("CompareAndSwap<") + type + ", " + in + ", " + release + ", " + acquire + ">", 4, 4};
    const std::string what =
        std::string(type) + ", ::tilewise::sim::ptx::" + operation.type + ", " + in + ", " + release;
    if (gives_back) return {"Atomic<" + what + ", " + acquire + ">", 3, 3};
    if (operation.name != "cas" && operation.name != "exch") return {"Reduction<" + what + ">", 2, 2};
  }
  return {};
}

// "fence.acq_rel.gpu", "membar.gl".
Known fence_instruction(std::string_view opcode) {
  Parts parts(opcode);
  std::string whom;
  if (parts.take("membar")) {
    whom = parts.take("cta") ? kForBlock : parts.take("gl") || parts.take("sys") ? kForAll : "";
  } else if (parts.take("fence")) {
    if (!parts.take("sc")) parts.take("acq_rel");
    whom = scope(parts);
  }
  if (whom.empty() || !parts.empty()) return {};
  return {"Fence<" + whom + ">", 0, 0};
}

Known known(std::string_view opcode) {
  constexpr std::size_t kOfMma = 4 + 4 + 2 + 4;
  if (opcode == "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32") return {"MmaBf16", kOfMma, kOfMma};
  if (opcode == "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32") return {"MmaF16", kOfMma, kOfMma};
  if (opcode == "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32") return {"MmaTf32", kOfMma, kOfMma};
  if (opcode == "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16")
    return {"MmaOfHalves", 2 + 4 + 2 + 2, 2 + 4 + 2 + 2};
  if (opcode == "cvt.rna.tf32.f32") return {"ConvertToTf32", 2, 2};
  if (copies_asynchronously(opcode)) return {"CopyAsync", 3, 4};
  if (opcode == "cp.async.commit_group") return {"CommitGroup", 0, 0};
  if (opcode == "cp.async.wait_group") return {"WaitGroup", 1, 1};
  if (opcode == "cp.async.wait_all") return {"WaitAll", 0, 0};
  if (opcode == "lop3.b32") return {"AnyLogic", 5, 5};
  if (opcode == "prmt.b32") return {"Permute", 4, 4};
  for (const auto& others : {load_matrices, integer_instruction, absolute_differences, access_of_memory,
                             atomic_instruction, fence_instruction})
    if (Known found = others(opcode); !found.type.empty()) return found;
  return {};
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
    if (text[i] == '-') ++end;
    const std::size_t first_digit = end;
    const bool in_hex = !numbered && begins(text.substr(begin), "0x");
    if (in_hex) end += 2;
    while (end < text.size() && (in_hex ? is_hex(text[end]) : is_decimal(text[end]))) ++end;
    if (end == first_digit || end - begin > 10 || (numbered && end - begin > 6)) return false;
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

// `mov` from a special register: "mov.u32 %0, %%smid".
bool reads_special_register(std::string_view statement, PtxCall& call) {
  struct Register {
    std::string_view name;
    const char* type;
    bool wide = false;
  };
  static constexpr Register kRegisters[] = {{"laneid", "LaneId"},
                                            {"clock", "Clock"},
                                            {"clock64", "Clock", true},
                                            {"globaltimer", "GlobalTimer", true},
                                            {"globaltimer_lo", "GlobalTimer"},
                                            {"smid", "MultiprocessorId"},
                                            {"nsmid", "Multiprocessors"},
                                            {"warpid", "WarpId"},
                                            {"nwarpid", "WarpsOfMultiprocessor"},
                                            {"lanemask_eq", "Lanes<false, true, false>"},
                                            {"lanemask_lt", "Lanes<true, false, false>"},
                                            {"lanemask_le", "Lanes<true, true, false>"},
                                            {"lanemask_gt", "Lanes<false, false, true>"},
                                            {"lanemask_ge", "Lanes<false, true, true>"},
                                            {"tid.x", "Coordinate<&::tilewise::sim::thread_idx, &::uint3::x>"},
                                            {"tid.y", "Coordinate<&::tilewise::sim::thread_idx, &::uint3::y>"},
                                            {"tid.z", "Coordinate<&::tilewise::sim::thread_idx, &::uint3::z>"},
                                            {"ctaid.x", "Coordinate<&::tilewise::sim::block_idx, &::uint3::x>"},
                                            {"ctaid.y", "Coordinate<&::tilewise::sim::block_idx, &::uint3::y>"},
                                            {"ctaid.z", "Coordinate<&::tilewise::sim::block_idx, &::uint3::z>"},
                                            {"ntid.x", "Coordinate<&::tilewise::sim::block_dim, &::dim3::x>"},
                                            {"ntid.y", "Coordinate<&::tilewise::sim::block_dim, &::dim3::y>"},
                                            {"ntid.z", "Coordinate<&::tilewise::sim::block_dim, &::dim3::z>"},
                                            {"nctaid.x", "Coordinate<&::tilewise::sim::grid_dim, &::dim3::x>"},
                                            {"nctaid.y", "Coordinate<&::tilewise::sim::grid_dim, &::dim3::y>"},
                                            {"nctaid.z", "Coordinate<&::tilewise::sim::grid_dim, &::dim3::z>"}};
  const std::string_view opcode = opcode_of(statement);
  const bool wide = opcode == "mov.u64" || opcode == "mov.b64";
  if (!wide && opcode != "mov.u32" && opcode != "mov.b32" && opcode != "mov.s32") return false;
  std::string operands;
  for (const char c : statement.substr(opcode.size()))
    if (c != ' ') operands += c;
  if (!begins(operands, "%0,%")) return false;
  const std::string_view name = std::string_view(operands).substr(operands[4] == '%' ? 5 : 4);
  for (const Register& r : kRegisters)
    if (r.name == name && r.wide == wide) {
      call.instruction = r.type;
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
