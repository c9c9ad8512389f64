import Foundation

/// A box of an MP4 file, or a file of boxes, for tests that assemble files.
package struct BoxFile {
  package typealias Box = (name: String, content: Data)

  /// The boxes in the bytes, next to each other.
  package static func boxes(in data: Data) -> [Box] {
    let data = Data(data)
    var boxes: [Box] = []
    var place = 0
    while place + 8 <= data.count {
      let size = (0..<4).reduce(0) { $0 << 8 | Int(data[place + $1]) }
      guard size >= 8, place + size <= data.count else { break }
      let name = String(decoding: data[place + 4..<place + 8], as: UTF8.self)
      boxes.append((name, Data(data[place + 8..<place + size])))
      place += size
    }
    return boxes
  }

  package static func box(_ name: String, _ content: Data) -> Data {
    number(8 + content.count) + Data(name.utf8) + content
  }

  /// Big-endian, in four bytes.
  package static func number(_ value: Int) -> Data {
    Data((0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) })
  }

  package static func find(_ path: [String], in data: Data) -> Data? {
    path.reduce(data as Data?) { inner, name in
      inner.flatMap { boxes(in: $0).first { $0.name == name }?.content }
    }
  }

  /// The same boxes, with changed content at the path.
  package static func changing(
    _ path: [String], in data: Data, _ change: (Data) -> Data
  ) -> Data {
    guard let name = path.first else { return change(data) }
    return boxes(in: data).reduce(Data()) { result, inner in
      let content =
        inner.name == name
        ? changing(Array(path.dropFirst()), in: inner.content, change) : inner.content
      return result + box(inner.name, content)
    }
  }

  private static let table = ["trak", "mdia", "minf", "stbl"]

  /// A file that begins with samples of `clear`, described as clear, and continues with samples of
  /// `secret`, described as encrypted. Both have the same samples in one chunk.
  package static func clearBeginning(
    _ count: Int, of clear: Data, then secret: Data
  ) -> Data? {
    func part(_ name: String, of file: Data) -> Data? { find(["moov"] + table + [name], in: file) }
    guard let sizes = part("stsz", of: clear), let movie = find(["moov"], in: clear),
      let type = find(["ftyp"], in: clear), let mine = part("stsd", of: clear),
      let theirs = part("stsd", of: secret),
      let places = [clear, secret].map({ part("stco", of: $0) }) as? [Data]
    else { return nil }
    func value(_ data: Data, _ place: Int) -> Int {
      (0..<4).reduce(0) { $0 << 8 | Int(data[place + $1]) }
    }
    let samples = (0..<value(sizes, 8)).map { value(sizes, 12 + 4 * $0) }
    let (head, all) = (samples.prefix(count).reduce(0, +), samples.reduce(0, +))
    let (one, other) = (value(places[0], 8), value(places[1], 8))
    let media = Data(clear)[one..<one + head] + Data(secret)[other + head..<other + all]
    let base = type.count + 16
    var result = changing(table + ["stsd"], in: movie) { _ in
      mine.prefix(4) + number(2) + mine.dropFirst(8) + theirs.dropFirst(8)
    }
    result = changing(table + ["stsc"], in: result) { _ in
      [0, 2, 1, count, 1, 2, samples.count - count, 2].reduce(Data()) { $0 + number($1) }
    }
    result = changing(table + ["stco"], in: result) { _ in
      [0, 2, base, base + head].reduce(Data()) { $0 + number($1) }
    }
    return box("ftyp", type) + box("mdat", media) + box("moov", result)
  }
}
