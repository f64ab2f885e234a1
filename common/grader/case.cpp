#include "case.hpp"

#include <bit>
#include <cstring>
#include <random>

namespace tilewise::grader {
namespace {

// What outputs hold before: a quiet NaN, to which nothing can be added; of integers, a number that nobody computes.
constexpr std::uint32_t kPoison = 0x7fc0dead;
constexpr std::uint64_t kPoison64 = 0x7ff80000dead0000;

}  // namespace

Values poison(const Values& like, std::size_t size) {
  if (std::holds_alternative<std::vector<float>>(like)) return std::vector<float>(size, std::bit_cast<float>(kPoison));
  if (std::holds_alternative<std::vector<double>>(like))
    return std::vector<double>(size, std::bit_cast<double>(kPoison64));
  return std::vector<std::int32_t>(size, std::bit_cast<std::int32_t>(kPoison));
}

bool is_poison(const Values& values, std::size_t i) {
  if (const auto* f = std::get_if<std::vector<float>>(&values)) return std::bit_cast<std::uint32_t>((*f)[i]) == kPoison;
  if (const auto* d = std::get_if<std::vector<double>>(&values))
    return std::bit_cast<std::uint64_t>((*d)[i]) == kPoison64;
  return std::bit_cast<std::uint32_t>(std::get<std::vector<std::int32_t>>(values)[i]) == kPoison;
}

const char* data_of(const Values& values) {
  return std::visit([](const auto& v) { return reinterpret_cast<const char*>(v.data()); }, values);
}

bool holds_integers(const Values& values) { return std::holds_alternative<std::vector<std::int32_t>>(values); }

Type type_of_values(const Values& values) {
  return holds_integers(values)                                ? Type::int32
         : std::holds_alternative<std::vector<double>>(values) ? Type::float64
                                                               : Type::float32;
}

Values read_values(const Values& like, std::size_t size, const char* from) {
  Values read = poison(like, size);
  std::visit(
      [&](auto& v) {
        if (size > 0) std::memcpy(v.data(), from, size * sizeof v[0]);
      },
      read);
  return read;
}

bool has_values(const Buffer& b) { return b.use == Use::input || b.use == Use::in_place; }
bool is_result(const Buffer& b) { return b.use == Use::output || b.use == Use::in_place; }

std::uint64_t new_nonce() {
  static thread_local std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

Request request_of(const std::string& task, const Sizes& sizes, const Problem& p, Mode mode) {
  Request request;
  request.nonce = new_nonce();
  request.mode = mode;
  request.own_streams = p.own_streams;
  request.devices = static_cast<std::uint8_t>(p.devices);
  request.thread_cost = p.thread_cost;
  std::strncpy(request.task, task.c_str(), sizeof request.task - 1);
  for (std::size_t i = 0; i < sizes.size(); ++i) request.sizes[i] = sizes[i];
  request.buffers = static_cast<std::uint32_t>(p.buffers.size());
  request.scalar_count = static_cast<std::uint32_t>(p.scalars.size());
  std::copy(p.scalars.begin(), p.scalars.end(), request.scalars);
  return request;
}

void call_before(Request& request, const Sizes& sizes, const Problem& p) {
  std::copy(sizes.begin(), sizes.end(), request.sizes_before);
  std::copy(p.scalars.begin(), p.scalars.end(), request.scalars_before);
  request.buffers_before = static_cast<std::uint32_t>(p.buffers.size());
  request.devices_before = static_cast<std::uint8_t>(p.devices);
}

std::string message_of(const Request& request, const Problem& p, const Problem* before) {
  std::string message;
  const auto put = [&](const auto& value) { message.append(reinterpret_cast<const char*>(&value), sizeof value); };
  put(request);
  std::vector<const Buffer*> buffers;
  for (const Problem* problem : {before, &p})
    for (std::size_t i = 0; problem && i < problem->buffers.size(); ++i) buffers.push_back(&problem->buffers[i]);
  for (const Buffer* buffer : buffers) {
    const Buffer& b = *buffer;
    BufferHeader header{.size = b.size(),
                        .type = type_of_values(b.values),
                        .in_place = b.use == Use::in_place,
                        .garbage = !has_values(b),
                        .pinned = b.pinned,
                        .device = static_cast<std::uint8_t>(b.device)};
    std::strncpy(header.name, b.name.c_str(), sizeof header.name - 1);
    put(header);
    const Values values = has_values(b) ? b.values : poison(b.values, b.size());
    message.append(data_of(values), bytes_of(values));
  }
  return message;
}

std::size_t reply_size(const Problem& p) {
  std::size_t bytes = sizeof(Reply) + sizeof(Reply::nonce);
  for (const Buffer& b : p.buffers) bytes += b.size() * bytes_of(type_of_values(b.values));
  return bytes;
}

}  // namespace tilewise::grader
