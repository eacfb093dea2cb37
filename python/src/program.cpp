#include "sim/isa/program.h"

#include <pybind11/stl.h>

#include <memory>

#include "python/src/arrays.h"
#include "python/src/bindings.h"
#include "python/src/compiled.h"
#include "python/src/interruptible.h"
#include "python/src/text.h"
#include "sim/compiler/compiler.h"
#include "sim/isa/decoder.h"
#include "sim/isa/opcode_fields.h"

namespace py = pybind11;

namespace tilewave::python {
namespace {

using Holder = std::shared_ptr<Compiled>;

Holder compile(const quant::QuantizedGraph& graph, const sim::Chip& chip, std::int64_t batch) {
  return interruptible([&](const std::stop_token& stop) {
    const sim::Chip used = sim::with_scheme(chip, graph.scheme);
    return std::make_shared<Compiled>(
        Compiled{sim::compile(graph, used, batch, stop), used, graph.scheme});
  });
}

Holder from_bytes(const py::bytes& file, const sim::Chip& chip, const std::string& where,
                  const std::optional<quant::Scheme>& scheme) {
  const auto text = static_cast<std::string_view>(file);
  const py::gil_scoped_release release;
  return std::make_shared<Compiled>(
      Compiled{sim::program_from_bytes({text.begin(), text.end()}, where), chip, scheme});
}

Holder assemble(const std::string& text, const sim::Chip& chip, const std::string& where) {
  const py::gil_scoped_release release;
  return std::make_shared<Compiled>(Compiled{sim::assemble(text, where), chip, {}});
}

py::bytes to_bytes(const Compiled& compiled) {
  const auto bytes = sim::to_bytes(compiled.program);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string disassemble(const Compiled& compiled) {
  const py::gil_scoped_release release;
  return sim::disassemble(compiled.program);
}

/// Every field of every instruction, as a structured array.
py::array instructions(const py::object& self) {
  const auto& all = self.cast<const Compiled&>().program.instructions;
  return view_of(all.data(), {static_cast<py::ssize_t>(all.size())}, self);
}

/// The layer of every instruction, -1 for none.
py::array_t<std::int32_t> instruction_layers(const Compiled& compiled) {
  std::vector<std::int32_t> layers;
  {
    const py::gil_scoped_release release;
    for (const sim::Operation& op : sim::decode_program(compiled.program, 0)) {
      layers.push_back(op.layer);
    }
  }
  return py::array_t<std::int32_t>(static_cast<py::ssize_t>(layers.size()), layers.data());
}

py::list layers(const Compiled& compiled) {
  py::list all;
  for (const sim::Layer& layer : compiled.program.layers) {
    py::dict entry;
    entry["name"] = text_of(layer.name);
    entry["op"] = text_of(layer.operation);
    entry["m"] = layer.m;
    entry["n"] = layer.n;
    entry["k"] = layer.k;
    entry["groups"] = layer.groups;
    entry["tiles"] = layer.tiles;
    entry["bands"] = layer.bands;
    entry["spilled_bytes"] = layer.spilled_bytes;
    all.append(entry);
  }
  return all;
}

/// The names of the fields that each opcode uses, by opcode.
py::dict opcode_fields() {
  py::dict all;
  for (int opcode = 0; opcode < sim::kOpcodes; ++opcode) {
    const sim::OpcodeInfo& info = sim::opcode_info(static_cast<sim::Opcode>(opcode));
    py::list fields;
    for (const sim::Field& field : info.fields) {
      fields.append(
          py::make_tuple(std::string(field.name), std::string(sim::member_name(field.member))));
    }
    all[py::str(std::string(info.mnemonic))] = fields;
  }
  return all;
}

template <std::size_t n>
py::tuple names(const std::string_view (&words)[n]) {
  py::tuple all(n);
  for (std::size_t i = 0; i < n; ++i) all[i] = py::str(std::string(words[i]));
  return all;
}

py::tuple shape_tuple(const models::Shape& shape) {
  return py::make_tuple(shape.height, shape.width, shape.channels);
}

}  // namespace

void bind_program(py::module_& module) {
  using sim::Instruction;
  static_assert(sim::kMembers == 16, "all of them are listed here, and the opcode");
  PYBIND11_NUMPY_DTYPE(Instruction, opcode, reg, space, next_tile, accumulate, keep_rows, value,
                       unified_buffer, source_b, destination, accumulator, first, rows, row_bytes,
                       stride, stride_b, host);

  py::class_<Compiled, Holder>(module, "Program")
      .def_property_readonly("name", [](const Compiled& c) { return text_of(c.program.name); })
      .def_property_readonly("batch", [](const Compiled& c) { return c.program.batch; })
      .def_readonly("chip", &Compiled::chip)
      .def_readonly("scheme", &Compiled::scheme)
      .def_property_readonly(
          "input_shape",
          [](const Compiled& c) { return shape_tuple(c.program.input.layout.shape); })
      .def_property_readonly(
          "outputs", [](const Compiled& c) { return c.program.output.layout.shape.elements(); })
      .def_property_readonly("unified_buffer_peak",
                             [](const Compiled& c) { return c.program.unified_buffer_peak; })
      .def("layers", &layers)
      .def("instructions", &instructions)
      .def("instruction_layers", &instruction_layers)
      .def("to_bytes", &to_bytes)
      .def("disassemble", &disassemble)
      .def("__eq__", [](const Compiled& a, const Compiled& b) {
        return a.program == b.program && a.chip == b.chip;
      });
  module.def("compile", &compile, py::arg("graph"), py::arg("chip"), py::arg("batch"));
  module.def("program_from_bytes", &from_bytes, py::arg("file"), py::arg("chip"), py::arg("where"),
             py::arg("scheme") = py::none());
  module.def("assemble", &assemble, py::arg("text"), py::arg("chip"), py::arg("where"));
  module.def("opcode_fields", &opcode_fields);
  module.attr("register_names") = names(sim::kRegisterNames);
  module.attr("space_names") = names(sim::kSpaceNames);
}

}  // namespace tilewave::python
