/// The channels of an input, in their order.
package enum ColorSpace: String, Hashable, Sendable, CaseIterable {
  case rgb = "RGB"
  case bgr = "BGR"
  case gray = "GRAY"

  package var channels: Int { self == .gray ? 1 : 3 }
}
