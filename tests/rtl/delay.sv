// CLOCKS registers in a row; without any there is nothing to clock.
module delay #(
    parameter int CLOCKS = 0,
    parameter int BITS = 1
) (
    // verilator lint_off UNUSEDSIGNAL
    input logic clk,
    // verilator lint_on UNUSEDSIGNAL
    input logic [BITS-1:0] in,
    output logic [BITS-1:0] out
);
  if (CLOCKS == 0) begin : gen_wire
    assign out = in;
  end else begin : gen_registers
    logic [BITS-1:0] stages[CLOCKS];
    assign out = stages[CLOCKS-1];
    for (genvar i = 0; i < CLOCKS; ++i) begin : gen_stage
      initial stages[i] = 0;
      always_ff @(posedge clk) stages[i] <= i == 0 ? in : stages[i-1];
    end
  end
endmodule
