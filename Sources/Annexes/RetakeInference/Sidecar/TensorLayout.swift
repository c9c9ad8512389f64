/// The order of an input's dimensions.
package enum TensorLayout: String, Hashable, Sendable, CaseIterable {
  case nchw = "NCHW"
  case nhwc = "NHWC"
}
