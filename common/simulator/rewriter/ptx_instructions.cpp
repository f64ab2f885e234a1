#include "ptx_instructions.hpp"

#include <algorithm>
#include <utility>

namespace tilewise::sim {
namespace {
namespace ptx_table {

bool begins(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

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
  std::string_view taken() const { return parts_[next_ - 1]; }
  /// Takes any.
  std::string_view next() { return empty() ? std::string_view() : parts_[next_++]; }

 private:
  std::vector<std::string_view> parts_;
  std::size_t next_ = 0;
};

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

// "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16": how many matrices, and whether they are transposed. Several orders are in use.
PtxInstruction load_matrices(std::string_view opcode) {
  Parts parts(opcode);
  if (!parts.take("ldmatrix") || !parts.take("sync") || !parts.take("aligned")) return {};
  std::size_t count = 0;
  bool shape = false, shared = false, transposed = false;
  while (!parts.empty() && parts.last() != "b16") {
    if (!shape && parts.take("m8n8"))
      shape = true;
    else if (!transposed && parts.take("trans"))
      transposed = true;
    else if (!shared && (parts.take("shared") || parts.take("shared::cta")))
      shared = true;
    else if (count == 0 && (parts.take("x1") || parts.take("x2") || parts.take("x4")))
      count = static_cast<std::size_t>(parts.taken().back() - '0');
    else
      return {};
  }
  if (!shape || !shared || count == 0) return {};
  return {"LoadMatrices<" + std::to_string(count) + (transposed ? ", true>" : ", false>"), count + 1, count + 1};
}
bool copies_asynchronously(std::string_view opcode) {
  for (const char* name : {"cp.async.ca.shared.global", "cp.async.cg.shared.global", "cp.async.ca.shared::cta.global",
                           "cp.async.cg.shared::cta.global"})
    if (opcode == name || (begins(opcode, name) && begins(opcode.substr(std::string_view(name).size()), ".L2::")))
      return opcode.find("cache_hint") == std::string_view::npos;
  return false;
}

// "vabsdiff4.u32.u32.u32.add": bytes or halves of a word, whose differences may be added up.
PtxInstruction absolute_differences(std::string_view opcode) {
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

// "ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4]", "ld.acquire.gpu.u32 %0, [%1]", and st: one access of all the elements.
PtxInstruction access_of_memory(std::string_view opcode) {
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
PtxInstruction atomic_instruction(std::string_view opcode) {
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
PtxInstruction fence_instruction(std::string_view opcode) {
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

// ---------------------------------------------------------------- numbers
constexpr std::string_view kPtx = "::tilewise::sim::ptx::";

std::string of_ptx(std::string_view name) { return std::string(kPtx) + std::string(name); }

// What stands in front of the type: "add", "mul.lo", "fma.rn", "rcp.approx.ftz".
struct Arithmetic {
  std::string_view name;
  std::string_view
      type;             // that stands for it; what is in its first template argument's place comes from the instruction
  std::string_view of;  // an operation that is a second argument
  std::size_t operands;
  std::string_view types;
};
constexpr std::string_view kIntegers = "u16 s16 u32 s32 u64 s64", kFloats = "f32 f64", kBits = "b16 b32 b64",
                           kWords = "u32 s32 u64 s64", kWide = "u16 s16 u32 s32", kFloat = "f32";
constexpr Arithmetic kArithmetic[] = {{"bfe", "ExtractBits", "", 4, kWords},
                                      {"bfi", "InsertBits", "", 5, "b32 b64"},
                                      {"bfind", "FindBit", "", 2, kWords},
                                      {"bfind.shiftamt", "ShiftOf", "", 2, kWords},
                                      {"popc", "CountBits", "", 2, "b32 b64"},
                                      {"clz", "CountZeros", "", 2, "b32 b64"},
                                      {"brev", "ReverseBits", "", 2, "b32 b64"},
                                      {"add", "Binary", "Added", 3, kIntegers},
                                      {"sub", "Binary", "Subtracted", 3, kIntegers},
                                      {"mul.lo", "Binary", "Multiplied", 3, kIntegers},
                                      {"mul.hi", "Binary", "HighOfProduct", 3, kIntegers},
                                      {"mul.wide", "MultiplyWide", "", 3, kWide},
                                      {"mad.lo", "MultiplyAdd", "", 4, kIntegers},
                                      {"mad.hi", "MultiplyHighAdd", "", 4, kIntegers},
                                      {"mad.wide", "MultiplyWideAdd", "", 4, kWide},
                                      {"div", "Binary", "Divided", 3, kIntegers},
                                      {"rem", "Binary", "Remainder", 3, kIntegers},
                                      {"min", "Binary", "Lesser", 3, kIntegers},
                                      {"max", "Binary", "Greater", 3, kIntegers},
                                      {"and", "Binary", "Anded", 3, kBits},
                                      {"or", "Binary", "Ored", 3, kBits},
                                      {"xor", "Binary", "Xored", 3, kBits},
                                      {"and", "Binary", "Anded", 3, "pred"},
                                      {"or", "Binary", "Ored", 3, "pred"},
                                      {"xor", "Binary", "Xored", 3, "pred"},
                                      {"not", "Unary", "Inverted", 2, kBits},
                                      {"not", "Unary", "Inverted", 2, "pred"},
                                      {"neg", "Unary", "Negated", 2, "s16 s32 s64"},
                                      {"abs", "Unary", "Absolute", 2, "s16 s32 s64"},
                                      {"shl", "Shift", "ShiftedLeft", 3, kBits},
                                      {"shr", "Shift", "ShiftedRight", 3, "b16 b32 b64 u16 s16 u32 s32 u64 s64"},
                                      {"selp", "Select", "", 4, "b16 b32 b64 u16 s16 u32 s32 u64 s64 f32 f64"},
                                      // Without .rn, ptxas may make one instruction of a product and a sum.
                                      {"add", "Binary", "Added", 3, kFloats},
                                      {"add.rn", "Binary", "Added", 3, kFloats},
                                      {"sub", "Binary", "Subtracted", 3, kFloats},
                                      {"sub.rn", "Binary", "Subtracted", 3, kFloats},
                                      {"mul", "Binary", "Multiplied", 3, kFloats},
                                      {"mul.rn", "Binary", "Multiplied", 3, kFloats},
                                      {"fma.rn", "FusedMultiplyAdd", "", 4, kFloats},
                                      {"mad.rn", "FusedMultiplyAdd", "", 4, kFloats},
                                      {"div.rn", "Binary", "Divided", 3, kFloats},
                                      {"div.approx", "Binary", "Divided", 3, kFloat},
                                      {"div.full", "Binary", "Divided", 3, kFloat},
                                      {"min", "Binary", "Lesser", 3, kFloats},
                                      {"max", "Binary", "Greater", 3, kFloats},
                                      {"neg", "Unary", "Negated", 2, kFloats},
                                      {"abs", "Unary", "Absolute", 2, kFloats},
                                      {"rcp.rn", "Unary", "Reciprocal", 2, kFloats},
                                      {"rcp.approx", "Unary", "Reciprocal", 2, kFloat},
                                      {"sqrt.rn", "Unary", "SquareRoot", 2, kFloats},
                                      {"sqrt.approx", "Unary", "SquareRoot", 2, kFloat},
                                      {"rsqrt.approx", "Unary", "InverseSquareRoot", 2, kFloats},
                                      {"ex2.approx", "Unary", "PowerOfTwo", 2, kFloat},
                                      {"lg2.approx", "Unary", "LogarithmOfTwo", 2, kFloat},
                                      {"sin.approx", "Unary", "Sine", 2, kFloat},
                                      {"cos.approx", "Unary", "Cosine", 2, kFloat},
                                      {"tanh.approx", "Unary", "HyperbolicTangent", 2, kFloat}};

// `types` is a list of words.
bool lists(std::string_view types, std::string_view type) {
  for (std::size_t at = 0; at < types.size();) {
    const std::size_t end = std::min(types.find(' ', at), types.size());
    if (types.substr(at, end - at) == type) return true;
    at = end + 1;
  }
  return false;
}

PtxInstruction arithmetic(std::string_view opcode) {
  const std::size_t dot = opcode.rfind('.');
  if (dot == std::string_view::npos) return {};
  const std::string_view suffix = opcode.substr(dot + 1);
  std::string_view name = opcode.substr(0, dot);
  constexpr std::string_view kFlush = ".ftz";  // subnormal numbers are zeros
  const bool flushes =
      suffix == "f32" && name.size() > kFlush.size() && name.substr(name.size() - kFlush.size()) == kFlush;
  if (flushes) name.remove_suffix(kFlush.size());
  for (const Arithmetic& one : kArithmetic) {
    if (one.name != name || !lists(one.types, suffix)) continue;
    std::string type = std::string(one.type) + "<" + (suffix == "pred" ? "bool" : type_in_memory(suffix));
    if (!one.of.empty()) type += ", " + of_ptx(one.of);
    if (flushes) type += ", true";
    return {type + ">", one.operands, one.operands};
  }
  return {};
}

// "setp.lt.s32 p, a, b", "setp.ge.and.f32 p|q, a, b, c": a comparison, and what becomes of it with a third predicate.
PtxInstruction comparison(std::string_view opcode, const std::vector<PtxOperand>& operands) {
  Parts parts(opcode);
  if (!parts.take("setp")) return {};
  struct Comparison {
    std::string_view name;
    const char* what;
    bool of_floats, of_integers;
  };
  static constexpr Comparison kComparisons[] = {
      {"eq", "Equal", true, true},        {"ne", "Unequal", true, true},       {"lt", "Below", true, true},
      {"le", "AtMost", true, true},       {"gt", "Above", true, true},         {"ge", "AtLeast", true, true},
      {"lo", "Below", false, true},       {"ls", "AtMost", false, true},       {"hi", "Above", false, true},
      {"hs", "AtLeast", false, true},     {"equ", "NotUnequal", true, false},  {"neu", "NotEqual", true, false},
      {"ltu", "NotAtLeast", true, false}, {"leu", "NotAbove", true, false},    {"gtu", "NotAtMost", true, false},
      {"geu", "NotBelow", true, false},   {"num", "BothNumbers", true, false}, {"nan", "AnyNan", true, false}};
  const std::string_view name = parts.next();
  const char* combined = parts.take("and")   ? "Anded"
                         : parts.take("or")  ? "Ored"
                         : parts.take("xor") ? "Xored"
                                             : nullptr;
  const bool flushes = parts.take("ftz");
  const std::string_view suffix = parts.last();
  const char* const type = type_in_memory(suffix);
  if (type == nullptr || suffix.back() == '8') return {};
  const bool floats = suffix.front() == 'f';
  if (flushes && suffix != "f32") return {};
  for (const Comparison& c : kComparisons) {
    if (c.name != name || !(floats ? c.of_floats : c.of_integers)) continue;
    std::string arguments = std::string(type) + ", " + of_ptx(c.what) + (flushes ? ", true" : ", false");
    if (combined != nullptr) arguments += ", " + of_ptx(combined);
    // One or two results.
    const std::size_t least = combined != nullptr ? 4 : 3;
    if (operands.size() > least)
      arguments = "2, " + arguments;
    else
      arguments = "1, " + arguments;
    return {"Compare<" + arguments + ">", least, least + 1};
  }
  return {};
}

// "mov.b64 {lo, hi}, d" takes a register apart, and the other way round.
PtxInstruction move(std::string_view opcode, const std::vector<PtxOperand>& operands) {
  Parts parts(opcode);
  if (!parts.take("mov")) return {};
  const std::string_view suffix = parts.last();
  if (suffix == "pred") return {"Move<bool>", 2, 2};
  const char* const type = type_in_memory(suffix);
  if (type == nullptr || suffix.back() == '8') return {};
  const std::size_t count = operands.empty() ? 0 : operands.size() - 1;
  const bool apart = count > 0 && operands.front().in_braces, together = count > 0 && operands.back().in_braces;
  if (!apart && !together) return {std::string("Move<") + type + ">", 2, 2};
  if (suffix.front() != 'b' || apart == together || (count != 2 && count != 4)) return {};
  return {std::string(apart ? "TakeApart<" : "PutTogether<") + type + ", " + std::to_string(count) + ">", count + 1,
          count + 1};
}

// "cvt.u32.u64", "cvt.rn.f32.s32", "cvt.rzi.s32.f32", "cvt.rn.f32.f64". Halves are left to the intrinsics.
PtxInstruction conversion(std::string_view opcode) {
  Parts parts(opcode);
  if (!parts.take("cvt")) return {};
  std::string_view rounding;
  for (const std::string_view one : {"rn", "rni", "rzi", "rmi", "rpi"})
    if (rounding.empty() && parts.take(one)) rounding = one;
  const std::string_view to = parts.next(), from = parts.last();
  const char *const to_type = type_in_memory(to), *const from_type = type_in_memory(from);
  if (to_type == nullptr || from_type == nullptr || to.front() == 'b' || from.front() == 'b') return {};
  const bool to_float = to.front() == 'f', from_float = from.front() == 'f', to_integer = rounding.size() == 3;
  if (from_float && !to_float && !to_integer) return {};  // must be said,
  if (to_integer && !from_float) return {};               // and only here
  if (to_float && to_integer && to != from) return {};    // a whole number of the same type
  if (rounding == "rn" && !(to_float && to != from)) return {};
  if (rounding.empty() && to_float && (!from_float || (to == "f32" && from == "f64"))) return {};
  const char* how = rounding == "rni"   ? "Nearest"
                    : rounding == "rzi" ? "ToZero"
                    : rounding == "rmi" ? "Down"
                    : rounding == "rpi" ? "Up"
                                        : "";
  return {std::string("Convert<") + to_type + ", " + from_type + (*how ? ", " + of_ptx(how) : "") + ">", 2, 2};
}

// "cvta.to.shared.u64", "cvta.shared.u64", and those of global memory, which change nothing.
PtxInstruction address(std::string_view opcode) {
  Parts parts(opcode);
  if (!parts.take("cvta")) return {};
  const bool to = parts.take("to"), shared = parts.take("shared") || parts.take("shared::cta");
  if (!shared && !parts.take("global")) return {};
  if (parts.last() != "u64") return {};
  return {shared ? to ? "ToShared" : "FromShared" : "Move<std::uint64_t>", 2, 2};
}

// What the threads of a warp or block do together.
PtxInstruction together(std::string_view opcode, const std::vector<PtxOperand>& operands) {
  const bool whole_block = operands.size() == 1 && operands[0].expression == "0";
  for (const char* name : {"bar.sync", "bar.cta.sync", "barrier.sync", "barrier.sync.aligned", "barrier.cta.sync",
                           "barrier.cta.sync.aligned"})
    if (opcode == name && whole_block) return {"BlockBarrier", 1, 1};
  if (opcode == "bar.warp.sync") return {"WarpBarrier", 1, 1};
  if (opcode == "activemask.b32") return {"ActiveMask", 1, 1};
  static constexpr std::pair<std::string_view, const char*> kShuffles[] = {{"shfl.sync.idx.b32", "index"},
                                                                           {"shfl.sync.up.b32", "up"},
                                                                           {"shfl.sync.down.b32", "down"},
                                                                           {"shfl.sync.bfly.b32", "butterfly"}};
  for (const auto& [name, how] : kShuffles)
    if (opcode == name)
      return {"Shuffle<" + of_ptx(std::string("By::") + how) + ", " + (operands.size() == 6 ? "true>" : "false>"), 5,
              6};
  static constexpr std::pair<std::string_view, const char*> kVotes[] = {{"vote.sync.ballot.b32", "Ballot"},
                                                                        {"vote.sync.any.pred", "AnyLane"},
                                                                        {"vote.sync.all.pred", "AllLanes"},
                                                                        {"vote.sync.uni.pred", "LanesAgree"}};
  for (const auto& [name, type] : kVotes)
    if (opcode == name) return {type, 3, 3};
  return {};
}

PtxInstruction of_one_name(std::string_view opcode) {
  constexpr std::size_t kOfMma = 4 + 4 + 2 + 4, kOfHalves = 2 + 4 + 2 + 2;
  struct Named {
    std::string_view opcode;
    const char* type;
    std::size_t least, most;
  };
  static constexpr Named kNamed[] = {
      {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "MmaBf16", kOfMma, kOfMma},
      {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "MmaF16", kOfMma, kOfMma},
      {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "MmaTf32", kOfMma, kOfMma},
      {"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", "MmaOfHalves", kOfHalves, kOfHalves},
      {"cvt.rna.tf32.f32", "ConvertToTf32", 2, 2},
      {"cp.async.commit_group", "CommitGroup", 0, 0},
      {"cp.async.wait_group", "WaitGroup", 1, 1},
      {"cp.async.wait_all", "WaitAll", 0, 0},
      {"lop3.b32", "AnyLogic", 5, 5},
      {"prmt.b32", "Permute", 4, 4},
      {"dp4a.u32.u32", "DotProduct<unsigned>", 4, 4},
      {"dp4a.s32.s32", "DotProduct<int>", 4, 4},
      {"nanosleep.u32", "Sleep", 1, 1},
      {"trap", "Trap", 0, 0}};
  for (const Named& one : kNamed)
    if (one.opcode == opcode) return {one.type, one.least, one.most};
  for (const char* hint : {"prefetch.global.L1", "prefetch.global.L2", "prefetch.L1", "prefetch.L2"})
    if (opcode == hint) return {"Hint", 1, 1};
  if (copies_asynchronously(opcode)) return {"CopyAsync", 3, 4};
  return {};
}

}  // namespace ptx_table
}  // namespace

PtxInstruction find_ptx_instruction(std::string_view opcode, const std::vector<PtxOperand>& operands) {
  using namespace ptx_table;
  for (const auto& find : {of_one_name, load_matrices, arithmetic, conversion, address, absolute_differences,
                           access_of_memory, atomic_instruction, fence_instruction})
    if (PtxInstruction found = find(opcode); !found.type.empty()) return found;
  for (const auto& find : {comparison, move, together})
    if (PtxInstruction found = find(opcode, operands); !found.type.empty()) return found;
  return {};
}

std::string what_ptx_needs(std::string_view opcode) {
  using ptx_table::begins;
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

PtxRegister find_ptx_register(std::string_view name) {
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
  for (const Register& r : kRegisters)
    if (r.name == name) return {r.type, r.wide};
  return {};
}

const char* type_of_ptx_register(std::string_view type) {
  if (type == "pred") return "bool";
  if (type == "f16" || type == "bf16") return "std::uint16_t";
  if (type == "f16x2" || type == "bf16x2") return "std::uint32_t";
  return ptx_table::type_in_memory(type);
}

}  // namespace tilewise::sim
