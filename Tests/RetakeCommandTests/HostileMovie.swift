import Foundation

/// An MP4 file whose tables name more samples, each of one byte, than the file has bytes.
struct HostileMovie {
  private(set) var data: Data

  /// - Parameter movie: A file with one video track.
  init(_ movie: Data, samples: UInt32) throws {
    data = movie
    try replace("stsz", [1, samples])
    try replace("stts", [1, samples, 512])
    try replace("stsc", [1, 1, samples, 1])
    try replace("stco", [1])
    // Without offsets of times, and with all samples as key frames.
    for name in ["ctts", "stss"] {
      let type = try type(name)
      data.replaceSubrange(type, with: Data("free".utf8))
    }
  }

  private struct NoBox: Error {
    var name: String
  }

  private func type(_ name: String) throws -> Range<Data.Index> {
    guard let range = data.range(of: Data(name.utf8)) else { throw NoBox(name: name) }
    return range
  }

  /// Writes numbers after the version and flags of a box.
  private mutating func replace(_ name: String, _ numbers: [UInt32]) throws {
    let start = try type(name).upperBound + 4
    let bytes = numbers.flatMap { number in
      stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
    }
    data.replaceSubrange(start..<start + bytes.count, with: bytes)
  }
}
