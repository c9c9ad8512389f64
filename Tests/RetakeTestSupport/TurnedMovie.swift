import Foundation
import Testing

/// Copies an MP4 or QuickTime file whose first track is shown turned clockwise. The matrix in the
/// track's header is replaced, because the option of the ffmpeg command differs between versions.
///
/// - Parameter degrees: 90, 180 or 270.
package func turnMovie(_ file: String, by degrees: Int, into copy: String) throws {
  let turns: [Int: [Double]] = [90: [0, 1, -1, 0], 180: [-1, 0, 0, -1], 270: [0, -1, 1, 0]]
  try turnMovie(file, matrix: try #require(turns[degrees]), into: copy)
}

/// - Parameter matrix: The numbers a, b, c and d of the track's header.
package func turnMovie(_ file: String, matrix: [Double], into copy: String) throws {
  var data = try Data(contentsOf: URL(filePath: file))
  let header = try #require(data.range(of: Data("tkhd".utf8)))
  // A header of version 0: the matrix has nine numbers, and the third of each row is no factor.
  for (place, value) in zip([0, 1, 3, 4], matrix) {
    let start = header.upperBound + 40 + 4 * place
    let number = Int32((value * 65_536).rounded())
    data.replaceSubrange(
      start..<start + 4, with: withUnsafeBytes(of: number.bigEndian) { Data($0) })
  }
  try data.write(to: URL(filePath: copy))
}
