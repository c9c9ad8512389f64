/// The library's message for a call that failed.
struct OnnxFailure: Error, Hashable {
  var message: String
}
