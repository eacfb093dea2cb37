#pragma once

#include <memory>

namespace tilewave::sim::systemc {

/// One SystemC simulation's kernel state. The library has one current simulation per process, so a
/// Context holds a process-wide lock for as long as it lives; every module must be destroyed before
/// it. Reports of the library become exceptions (errors) or log lines (the rest).
class Context {
 public:
  Context();
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

 private:
  struct Kernel;
  std::unique_ptr<Kernel> kernel_;
};

}  // namespace tilewave::sim::systemc
