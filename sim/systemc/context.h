#pragma once

#include <memory>
#include <stop_token>

namespace tilewave::sim::systemc {

/// One SystemC simulation's kernel state. The library has one current simulation per process, so a
/// Context holds a process-wide lock for as long as it lives, for which it waits when it is made,
/// or throws Stopped; every module must be destroyed before it. Reports of the library become
/// exceptions (errors) or log lines (the rest).
class Context {
 public:
  explicit Context(const std::stop_token& stop);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

 private:
  struct Kernel;
  std::unique_ptr<Kernel> kernel_;
};

}  // namespace tilewave::sim::systemc
