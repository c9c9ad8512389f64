/// Codes that the driver itself reports.
enum LiveCode {
  /// The run ended before the swap was decided.
  static let ended = "swap.ended"
}
