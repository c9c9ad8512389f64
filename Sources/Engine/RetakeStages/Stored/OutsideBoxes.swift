/// How a `detections` node treats a box that has no pixel in its frame.
package enum OutsideBoxes: String, Hashable, Sendable, Codable, CaseIterable {
  case refuse, keep
}
