/// Compressed bytes that do not fit their format.
struct CompressionProblem: Error, Hashable {
  var cause: String
}
