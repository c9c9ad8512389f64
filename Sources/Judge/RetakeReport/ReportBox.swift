import Foundation
package import RetakeCore

/// A rectangle in the frame's own pixels, with the origin at the top left: a detection, or the bounds
/// of a mask or of points.
package struct ReportBox: Hashable, Sendable, Codable {
  package enum Side: String, Hashable, Sendable, Codable {
    case golden
    case actual
    /// The same on both sides: drawn faintly, for orientation.
    case both
    /// An object of the labels.
    case truth
  }

  package var side: Side
  package var x: Double
  package var y: Double
  package var width: Double
  package var height: Double
  package var label: String?
  /// The outline of a mask, or bones and points: x and y of each corner in turns; a point has one
  /// corner. `nil` for a detection.
  package var lines: [[Double]]?

  package init(_ side: Side, _ box: Box, label: String? = nil) {
    self.side = side
    x = box.x
    y = box.y
    width = box.width
    height = box.height
    self.label = label
  }
}

extension ReportBox {
  /// Drawn from a mask or from points; `nil` for an observation without positions.
  package init?(_ side: Side, _ observation: Observation) {
    guard case .points(let points)? = observation.mapPositions({ $0 })?.content,
      points.points.allSatisfy({ $0.x.isFinite && $0.y.isFinite })
    else { return nil }
    let (xs, ys) = (points.points.map(\.x), points.points.map(\.y))
    guard let left = xs.min(), let right = xs.max(), let top = ys.min(), let bottom = ys.max()
    else { return nil }
    let number = observation.identity.map { "\($0) " } ?? ""
    self.init(
      side, Box(x: left, y: top, width: right - left, height: bottom - top),
      label: "\(number)\(observation.label) \(observation.score)")
    lines = points.polylines.map { line in line.flatMap { [xs[$0], ys[$0]] } }
  }
}

extension KeyPoints {
  /// Chains of bones, then each named point, by their indices.
  fileprivate var polylines: [[Int]] {
    var chains: [[Int]] = []
    for bone in bones where points.indices.contains(bone.from) && points.indices.contains(bone.to) {
      if chains.last?.last == bone.from {
        chains[chains.count - 1].append(bone.to)
      } else {
        chains.append([bone.from, bone.to])
      }
    }
    return chains + points.indices.filter { !points[$0].name.isEmpty }.map { [$0] }
  }
}
