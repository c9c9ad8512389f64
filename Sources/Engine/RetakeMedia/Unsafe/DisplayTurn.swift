import CFFmpeg

/// How a viewer shows an image that is not shown as it is stored: mirrored left to right, and then
/// turned clockwise.
package struct DisplayTurn: Hashable, Sendable {
  package var isMirrored: Bool
  /// From 0 to below 360.
  package var degrees: Double

  /// As FFmpeg compares angles, in degrees.
  private static let tolerance = 1.0

  /// nil for other angles; such images are shown as they are stored.
  package var quarterDegrees: Int? {
    let quarters = (degrees / 90).rounded()
    guard abs(degrees - quarters * 90) < Self.tolerance else { return nil }
    return Int(quarters) % 4 * 90
  }

  /// `turn it 90° clockwise`
  package var text: String {
    let rounded = (degrees * 10).rounded() / 10
    let angle = quarterDegrees.map { "\($0)" } ?? "\(rounded)"
    switch (isMirrored, quarterDegrees) {
    case (true, 0): return "mirror it left to right"
    case (true, 180): return "mirror it top to bottom"
    case (true, _): return "mirror it left to right and turn it \(angle)° clockwise"
    case (false, _): return "turn it \(angle)° clockwise"
    }
  }

  package init(isMirrored: Bool, degrees: Double) {
    (self.isMirrored, self.degrees) = (isMirrored, degrees)
  }

  /// - Parameter matrix: Nine 32-bit numbers, as FFmpeg's display matrix; they may be unaligned.
  /// - Returns: nil if images are shown as they are stored.
  init?(matrix: UnsafeRawPointer) {
    // SAFETY: the caller has checked that nine numbers are there.
    var numbers = (0..<9).map { matrix.loadUnaligned(fromByteOffset: 4 * $0, as: Int32.self) }
    let (a, b, c, d) = (numbers[0], numbers[1], numbers[3], numbers[4])
    isMirrored = Int64(a) * Int64(d) < Int64(b) * Int64(c)
    // A mirror left to right before the turn negates the first row.
    if isMirrored { (numbers[0], numbers[1]) = (0 &- a, 0 &- b) }
    let counterclockwise = av_display_rotation_get(&numbers)
    guard counterclockwise.isFinite else { return nil }
    let clockwise = (-counterclockwise).truncatingRemainder(dividingBy: 360)
    degrees = clockwise < 0 ? clockwise + 360 : clockwise
    if !isMirrored, quarterDegrees == 0 { return nil }
  }

  /// FFmpeg's display matrix of the turn: nine 32-bit numbers.
  var matrix: [Int32] {
    var numbers = [Int32](repeating: 0, count: 9)
    av_display_rotation_set(&numbers, degrees)
    if isMirrored { (numbers[0], numbers[1]) = (0 &- numbers[0], 0 &- numbers[1]) }
    return numbers
  }

  /// The turn in the picture's display matrix.
  init?(of picture: AVFrame) {
    var picture = picture
    // SAFETY: the side data belongs to the picture; the matrix is copied.
    guard let side = av_frame_get_side_data(&picture, AV_FRAME_DATA_DISPLAYMATRIX),
      side.pointee.size >= 36
    else { return nil }
    self.init(matrix: side.pointee.data)
  }
}
