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
    logic [CLOCKS*BITS-1:0] stages;
    assign out = stages[CLOCKS*BITS-1-:BITS];
    initial stages = 0;
    always_ff @(posedge clk) stages <= (CLOCKS * BITS)'({stages, in});
  end
endmodule
