#include "model/timeline.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/device_lock.hpp"
#include "base/devices.hpp"
#include "base/for_ever.hpp"

namespace tilewise::sim {

namespace timeline {

namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

struct Node {
  order::Stream stream = 0;
  std::optional<Engine> engine;  // none: a mark, which takes no time
  int device = 0;                // whose engine
  double cost = 0;
  std::vector<std::size_t> before;  // nodes
  double end = -1;                  // once it has a place
};

struct State {
  bool wanted = false;
  double thread_cost = 0;
  std::vector<Node> nodes;
  std::map<std::pair<order::Stream, std::uint32_t>, std::size_t> node_of;  // work's
  std::size_t host = kNone;  // the last node that the host stayed for by itself
};

State& state() {
  static State* s = for_ever<State>();
  return *s;
}

using Engines = std::array<double, 3 * kMostDevices>;  // when each is free
double& free_at(Engines& engines, const Node& node) {
  return engines[3 * static_cast<std::size_t>(node.device) + static_cast<std::size_t>(*node.engine)];
}

using Queues = std::map<order::Stream, std::deque<std::size_t>>;  // nodes without a place, of each stream

// When the node could begin; none while one before it has no place.
std::optional<double> ready(const std::vector<Node>& nodes, const Node& node) {
  double time = 0;
  for (const std::size_t i : node.before) {
    if (nodes[i].end < 0) return std::nullopt;
    time = std::max(time, nodes[i].end);
  }
  return time;
}

// Gives the next node its place: of those that are first in their streams, the one that can begin first.
Piece place_next(std::vector<Node>& nodes, Queues& queues, Engines& engine_free) {
  std::deque<std::size_t>* chosen = nullptr;
  double begin = std::numeric_limits<double>::infinity();
  for (auto& [stream, queue] : queues) {
    if (queue.empty()) continue;
    const Node& node = nodes[queue.front()];
    const std::optional<double> could = ready(nodes, node);
    if (!could) continue;
    const double at = node.engine ? std::max(*could, free_at(engine_free, node)) : *could;
    if (at > begin || (at == begin && queue.front() > chosen->front())) continue;
    chosen = &queue;
    begin = at;
  }
  Node& node = nodes[chosen->front()];
  chosen->pop_front();
  node.end = begin + node.cost;
  if (!node.engine) return {};
  free_at(engine_free, node) = node.end;
  return {*node.engine, node.stream, begin, node.end, node.device};
}

Node* last() { return state().wanted && !state().nodes.empty() ? &state().nodes.back() : nullptr; }

}  // namespace

void asked_for(order::Work work, const order::Clock& before) {
  State& s = state();
  if (!s.wanted) return;
  Node node;
  node.stream = work.stream;
  node.device = order::device_of(work.stream);
  if (s.host != kNone) node.before.push_back(s.host);
  for (order::Stream stream = 0; stream < before.size(); ++stream) {
    const std::uint32_t number = before[stream] - (stream == work.stream ? 1 : 0);
    // What was asked for before begin_timeline() is over.
    const auto found = s.node_of.find({stream, number});
    if (found != s.node_of.end()) node.before.push_back(found->second);
  }
  s.node_of[{work.stream, work.number}] = s.nodes.size();
  s.nodes.push_back(std::move(node));
}

void is_copy(Engine engine, int device, std::size_t bytes, bool host_stays) {
  Node* const node = last();
  if (node == nullptr) return;
  node->engine = engine;
  node->device = device;
  node->cost = static_cast<double>(bytes);
  if (host_stays) state().host = state().nodes.size() - 1;
}

void is_launch(std::size_t threads) {
  Node* const node = last();
  if (node == nullptr) return;
  node->engine = Engine::sms;
  node->cost = static_cast<double>(threads) * state().thread_cost;
}

}  // namespace timeline

void begin_timeline(double thread_cost) {
  const DeviceLock lock(device_mutex());
  timeline::state() = {};
  timeline::state().wanted = true;
  timeline::state().thread_cost = thread_cost;
}

Timeline end_timeline() {
  const DeviceLock lock(device_mutex());
  std::vector<timeline::Node> nodes = std::move(timeline::state().nodes);
  timeline::state() = {};
  timeline::Queues queues;
  for (std::size_t i = 0; i < nodes.size(); ++i) queues[nodes[i].stream].push_back(i);
  timeline::Engines engine_free{};
  Timeline all;
  for (std::size_t placed = 0; placed < nodes.size(); ++placed) {
    const Piece piece = timeline::place_next(nodes, queues, engine_free);
    if (piece.end > piece.begin) all.pieces.push_back(piece);
    all.length = std::max(all.length, piece.end);
  }
  return all;
}

}  // namespace tilewise::sim
