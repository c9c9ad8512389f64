import RetakeMedia

/// Compares the numbers and times of neighboring fragments of an MP4 file (ISO/IEC 14496-12, 8.8).
///
/// Fragments may be numbered from anywhere and restart, and a packager may number the fragments of
/// several tracks together. So a fragment counts as missing only if the numbers leap and the decode
/// time of the same track leaps with them.
struct FragmentSequence {
  private struct Track {
    /// Where the next fragment should begin, in the track's time scale.
    var end: Int128
    /// The duration of the last sample.
    var step: Int64
    /// Numbers have leapt since this track's last fragment.
    var hasLeapt = false
  }

  /// A fragment's content for one track.
  private struct Part {
    var track: UInt32 = 0
    var start: Int64?
    /// In 128 bits, so that no number of a damaged file exceeds it.
    var duration: Int128 = 0
    var step: Int64 = 0
  }

  private let file: MediaFile
  private var number: Int64?
  private var tracks: [UInt32: Track] = [:]
  private var stepByTrack: [UInt32: Int64] = [:]
  private var missing = LossPlaces()
  private var leap: (from: Int64, to: Int64)?

  /// The boxes of a fragment of an hour have less.
  private static let fragmentBytesMax: Int64 = 16 << 20

  init(_ file: MediaFile) { self.file = file }

  var loss: String? {
    guard let first = missing.first, let leap else { return nil }
    return "fragments are missing before byte \(first): their numbers go from \(leap.from) to "
      + "\(leap.to), and time leaps" + missing.more("such places")
  }

  /// - Parameter content: The content of `moov`, with the default durations of samples.
  mutating func take(movie content: Range<Int64>) {
    try? MovieBoxes.eachBox(of: file, in: content) { (name, range) in
      guard name == "mvex", range.count <= Self.fragmentBytesMax else { return true }
      for box in BoxBytes(try file.bytes(range.count, at: range.lowerBound))
      where box.name == "trex" {
        guard let track = box.number(at: 4), let step = box.number(at: 12) else { continue }
        stepByTrack[UInt32(truncatingIfNeeded: track)] = step
      }
      return false
    }
  }

  /// - Parameter content: The content of `moof`.
  mutating func take(fragment content: Range<Int64>) {
    guard content.count <= Self.fragmentBytesMax,
      let bytes = try? file.bytes(content.count, at: content.lowerBound)
    else { return forget() }
    var parts: [Part] = []
    for box in BoxBytes(bytes) {
      if box.name == "mfhd", let next = box.number(at: 4) { take(number: next) }
      if box.name == "traf" { parts.append(part(box.content)) }
    }
    for part in parts { take(part, at: content.lowerBound - 8) }
  }

  private mutating func forget() { (number, tracks) = (nil, [:]) }

  private mutating func take(number next: Int64) {
    if let number, next > number + 1 {
      leap = leap ?? (number, next)
      for track in tracks.keys { tracks[track]?.hasLeapt = true }
    }
    number = next
  }

  private mutating func take(_ part: Part, at offset: Int64) {
    guard let start = part.start else {
      tracks[part.track] = nil
      return
    }
    if let before = tracks[part.track], before.hasLeapt, before.step > 0,
      Int128(start) - before.end >= Int128(before.step + 1) / 2
    {
      missing.add(offset)
    }
    tracks[part.track] = Track(end: Int128(start) + part.duration, step: part.step)
  }

  private func part(_ bytes: ArraySlice<UInt8>) -> Part {
    var part = Part()
    var step: Int64 = 0
    for box in BoxBytes(bytes) {
      switch box.name {
      case "tfhd":
        part.track = UInt32(truncatingIfNeeded: box.number(at: 4) ?? 0)
        step = Self.defaultStep(box) ?? stepByTrack[part.track] ?? 0
      case "tfdt":
        part.start = box.number(at: 4, bytes: box.version == 1 ? 8 : 4)
      case "trun": Self.add(box, to: &part, step: step)
      default: break
      }
    }
    return part
  }

  /// Optional fields precede the duration. Each optional field has its own flag.
  private static func defaultStep(_ header: BoxBytes.Box) -> Int64? {
    guard header.flags & 0x8 != 0 else { return nil }
    return header.number(at: 8 + (header.flags & 1 != 0 ? 8 : 0) + (header.flags & 2 != 0 ? 4 : 0))
  }

  private static func add(_ run: BoxBytes.Box, to part: inout Part, step: Int64) {
    guard let count = run.number(at: 4) else { return }
    guard run.flags & 0x100 != 0 else {
      part.duration += Int128(count) * Int128(step)
      part.step = step
      return
    }
    var place = 8 + (run.flags & 1 != 0 ? 4 : 0) + (run.flags & 4 != 0 ? 4 : 0)
    let fields = [0x100, 0x200, 0x400, 0x800].count { run.flags & $0 != 0 }
    for _ in 0..<count {
      guard let duration = run.number(at: place) else { return }
      part.duration += Int128(duration)
      part.step = duration
      place += 4 * fields
    }
  }
}

/// The boxes in bytes that were read.
struct BoxBytes: Sequence, IteratorProtocol {
  struct Box {
    var name: String
    var content: ArraySlice<UInt8>

    /// Of a box with a version and flags.
    var version: Int { content.first.map { Int($0) } ?? 0 }
    var flags: Int { Int((number(at: 0) ?? 0) & 0xFF_FFFF) }

    /// A big-endian number in the content; nil if it would extend past the content's end.
    func number(at place: Int, bytes: Int = 4) -> Int64? {
      guard place + bytes <= content.count else { return nil }
      let start = content.startIndex + place
      return Int64(
        truncatingIfNeeded: content[start..<start + bytes].reduce(UInt64(0)) {
          $0 << 8 | UInt64($1)
        })
    }
  }

  private var rest: ArraySlice<UInt8>

  init(_ bytes: some Collection<UInt8>) { rest = Array(bytes)[...] }

  mutating func next() -> Box? {
    guard rest.count >= 8 else { return nil }
    let box = Box(name: "", content: rest)
    guard let size = box.number(at: 0), size >= 8, size <= rest.count else { return nil }
    let end = rest.startIndex + Int(size)
    let name = String(decoding: rest.dropFirst(4).prefix(4), as: UTF8.self)
    defer { rest = rest[end...] }
    return Box(name: name, content: rest[(rest.startIndex + 8)..<end])
  }
}
