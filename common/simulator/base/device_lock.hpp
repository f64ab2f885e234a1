// A program may use the device from several host threads. They take turns: one API call or one launch at a time.
#pragma once

#include <mutex>

namespace tilewise::sim {

/// Recursive, since some API calls are made of others and a callback may ask about the device.
inline std::recursive_mutex& device_mutex() {
  static auto* mutex = new std::recursive_mutex;  // used before main and after it
  return *mutex;
}

using DeviceLock = std::lock_guard<std::recursive_mutex>;

}  // namespace tilewise::sim
