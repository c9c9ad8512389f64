package import RetakeCore

/// A part of a frame in which the samples of each cell are replaced by their mean.
///
/// The corners of cells are multiples of the cell's side, counted from the frame's corner, and the
/// sides are powers of two. So chroma samples belong to one cell each, the cells of an object that
/// does not move are the same in each frame, and a cell of one area contains the smaller cells of
/// another completely.
package struct RedactedArea: Hashable, Sendable {
  /// Why the area is in a frame.
  package enum Reason: String, Hashable, Sendable, Codable {
    /// The pipeline found the object in this frame.
    case detected
    /// The pipeline found the object in an earlier and in a later frame.
    case interpolated
    /// The frame is shortly before the first or after the last frame in which the object was found.
    case dilated
  }

  package let x: Int
  package let y: Int
  package let width: Int
  package let height: Int
  /// The side of a cell, in pixels.
  package let cell: Int
  package let reason: Reason

  private static let cellMin = 16
  /// Bound of the loop that finds the side.
  private static let cellMax = 1 << 14
  /// Cells along the longer side of a box, at most. Face detectors find a face of eight.
  private static let cellsMax = 4.0
  /// Least margin at each side, in pixels.
  private static let marginMin = 8.0

  /// The cells that a box reaches; nil if the box is outside of the frame. A box with a number that
  /// is not finite covers the frame.
  ///
  /// - Parameters:
  ///   - margin: Added at each side, as a share of the box.
  ///   - frameWidth: The size of the frame, as `frameHeight`.
  package init?(
    _ box: Box, margin: Double, frameWidth: Int, frameHeight: Int, reason: Reason
  ) {
    let size = (width: Double(frameWidth), height: Double(frameHeight))
    let isFinite = [box.x, box.y, box.width, box.height].allSatisfy(\.isFinite)
    let across = isFinite ? Self.grown(box.x, box.width, margin) : 0...size.width
    let down = isFinite ? Self.grown(box.y, box.height, margin) : 0...size.height
    guard across.upperBound > 0, across.lowerBound < size.width, down.upperBound > 0,
      down.lowerBound < size.height
    else { return nil }
    let side =
      max(across.upperBound - across.lowerBound, down.upperBound - down.lowerBound) / Self.cellsMax
    var cell = Self.cellMin
    while Double(cell) < side, cell < Self.cellMax { cell *= 2 }
    let columns = Self.cells(across, of: cell, length: frameWidth)
    let rows = Self.cells(down, of: cell, length: frameHeight)
    (x, y, width, height) = (columns.lowerBound, rows.lowerBound, columns.count, rows.count)
    (self.cell, self.reason) = (cell, reason)
  }

  private static func grown(
    _ start: Double, _ length: Double, _ margin: Double
  ) -> ClosedRange<Double> {
    // A box with a negative side extends the other way.
    let (low, high) = (min(start, start + length), max(start, start + length))
    let side = max(marginMin, margin * (high - low))
    return (low - side)...(high + side)
  }

  /// The pixels of the cells that a range reaches, inside the frame.
  private static func cells(
    _ range: ClosedRange<Double>, of cell: Int, length: Int
  ) -> Range<Int> {
    // Inside the frame before the conversion: Int traps on a number beyond its range.
    let low = Int(max(0, range.lowerBound).rounded(.down))
    let high = Int(min(Double(length), range.upperBound).rounded(.up))
    return low / cell * cell..<min(length, (high + cell - 1) / cell * cell)
  }

  package func containsCenter(of other: RedactedArea) -> Bool {
    (x..<x + width).contains(other.x + other.width / 2)
      && (y..<y + height).contains(other.y + other.height / 2)
  }

  /// A line's part of `redaction.jsonl`.
  package var json: JSONValue {
    .object([
      "x": .integer(Int64(x)), "y": .integer(Int64(y)), "width": .integer(Int64(width)),
      "height": .integer(Int64(height)), "cell": .integer(Int64(cell)),
      "why": .string(reason.rawValue),
    ])
  }
}
