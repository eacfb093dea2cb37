// ROWS x COLS PEs and the skew at their edges: row r of activations goes in r clocks late, column c
// of weights c clocks late, so that both move through the array as one diagonal wavefront. All
// registers of the PEs are outputs.
module systolic_array #(
    parameter int ROWS = 8,
    parameter int COLS = 8,
    localparam int ROW_BITS = ROWS > 1 ? $clog2(ROWS) : 1
) (
    input logic clk,

    // The row of activations that goes in; the first of a tile's rows brings the swap.
    input logic swap_in,
    input logic signed [7:0] activation_in[ROWS],

    // The row of weights that goes in at the top; the last row of a tile is the first to go in.
    input logic weights_valid_in,
    input logic [ROW_BITS-1:0] weights_row_in,
    input logic signed [7:0] weights_in[COLS],

    output logic signed [7:0] activation[ROWS][COLS],
    output logic signed [7:0] weight[ROWS][COLS],
    output logic signed [7:0] shadow[ROWS][COLS],
    output logic signed [31:0] psum[ROWS][COLS]
);
  logic swap[ROWS][COLS];
  logic shadow_valid[ROWS][COLS];
  logic [ROW_BITS-1:0] shadow_row[ROWS][COLS];

  for (genvar r = 0; r < ROWS; ++r) begin : gen_row
    logic [8:0] left;
    delay #(
        .CLOCKS(r),
        .BITS(9)
    ) skew (
        .clk,
        .in({swap_in, activation_in[r]}),
        .out(left)
    );

    for (genvar c = 0; c < COLS; ++c) begin : gen_col
      logic swap_left;
      logic signed [7:0] activation_left;
      if (c == 0) begin : gen_left_edge
        assign {swap_left, activation_left} = left;
      end else begin : gen_inside
        assign swap_left = swap[r][c-1];
        assign activation_left = activation[r][c-1];
      end

      logic signed [31:0] psum_above;
      logic valid_above;
      logic [ROW_BITS-1:0] row_above;
      logic signed [7:0] shadow_above;
      if (r == 0) begin : gen_top_edge
        assign psum_above = 0;
        delay #(
            .CLOCKS(c),
            .BITS(9 + ROW_BITS)
        ) skew (
            .clk,
            .in({weights_valid_in, weights_row_in, weights_in[c]}),
            .out({valid_above, row_above, shadow_above})
        );
      end else begin : gen_below
        assign psum_above = psum[r-1][c];
        assign valid_above = shadow_valid[r-1][c];
        assign row_above = shadow_row[r-1][c];
        assign shadow_above = shadow[r-1][c];
      end

      pe #(
          .ROW(r),
          .ROW_BITS(ROW_BITS)
      ) element (
          .clk,
          .swap_in(swap_left),
          .activation_in(activation_left),
          .psum_in(psum_above),
          .shadow_valid_in(valid_above),
          .shadow_row_in(row_above),
          .shadow_in(shadow_above),
          .swap(swap[r][c]),
          .activation(activation[r][c]),
          .weight(weight[r][c]),
          .psum(psum[r][c]),
          .shadow_valid(shadow_valid[r][c]),
          .shadow_row(shadow_row[r][c]),
          .shadow(shadow[r][c])
      );
    end
  end
endmodule
