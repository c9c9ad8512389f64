/// Compressed bytes that are not what their format says.
struct CompressionProblem: Error, Hashable {
  var cause: String
}
