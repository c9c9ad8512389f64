import Foundation
import Testing

/// Copies an MP4 or QuickTime file whose first track is shown turned clockwise. The matrix in the
/// track's header is replaced, because the option of the ffmpeg command differs between versions.
///
/// - Parameter degrees: 90, 180 or 270.
package func turnMovie(_ file: String, by degrees: Int, into copy: String) throws {
  let one: Int32 = 1 << 16
  let turns: [Int: [Int32]] = [
    90: [0, one, -one, 0], 180: [-one, 0, 0, -one], 270: [0, -one, one, 0],
  ]
  func matrix(_ turn: [Int32]) -> Data {
    [turn[0], turn[1], 0, turn[2], turn[3], 0, 0, 0, 1 << 30].reduce(into: Data()) { data, number in
      withUnsafeBytes(of: number.bigEndian) { data.append(contentsOf: $0) }
    }
  }
  let turn = try #require(turns[degrees])
  var data = try Data(contentsOf: URL(filePath: file))
  let header = try #require(data.range(of: Data("tkhd".utf8)))
  let upright = try #require(
    data.range(of: matrix([one, 0, 0, one]), in: header.upperBound..<data.count))
  data.replaceSubrange(upright, with: matrix(turn))
  try data.write(to: URL(filePath: copy))
}
