// A processing element of a weight-stationary array with two planes of weights, from docs/timing.md:
// activations move right, partial sums down, and the swap of the planes travels with the
// activations. The weights of the next tile come from above into the shadow plane, each with the
// number of the row that it is for: a PE takes what comes until it holds its own, and keeps that
// until the swap.
module pe #(
    parameter int ROW = 0,
    parameter int ROW_BITS = 1
) (
    input logic clk,

    input logic swap_in,
    input logic signed [7:0] activation_in,
    input logic signed [31:0] psum_in,
    input logic shadow_valid_in,
    input logic [ROW_BITS-1:0] shadow_row_in,
    input logic signed [7:0] shadow_in,

    output logic swap,
    output logic signed [7:0] activation,
    output logic signed [7:0] weight,
    output logic signed [31:0] psum,
    output logic shadow_valid,
    output logic [ROW_BITS-1:0] shadow_row,
    output logic signed [7:0] shadow
);
  // What arrives meets the weight that is in use from this clock on.
  wire signed [7:0] weight_in_use = swap_in ? shadow : weight;
  wire signed [15:0] product = 16'(activation_in) * 16'(weight_in_use);
  wire has_own_weight = shadow_valid && shadow_row == ROW_BITS'(ROW);
  wire takes_weight = shadow_valid_in && (swap_in || !has_own_weight);

  initial begin
    swap = 0;
    activation = 0;
    weight = 0;
    psum = 0;
    shadow_valid = 0;
    shadow_row = 0;
    shadow = 0;
  end

  always_ff @(posedge clk) begin
    swap <= swap_in;
    activation <= activation_in;
    weight <= weight_in_use;
    psum <= psum_in + 32'(product);
    if (takes_weight) begin
      shadow_valid <= 1;
      shadow_row <= shadow_row_in;
      shadow <= shadow_in;
    end else if (swap_in) begin
      shadow_valid <= 0;
    end
  end
endmodule
