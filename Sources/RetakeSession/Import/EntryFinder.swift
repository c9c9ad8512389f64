import Dispatch
import Foundation
import RetakeBuffers
import RetakeCore
import RetakeMedia
import RetakeStore

/// Finds, for every frame, the packet from which decoding gives it with equal pixels.
///
/// A key packet promises that decoding can begin there, and often does not keep it (open groups of
/// pictures, intra refresh). So each key's span is decoded alone, and where a frame differs from
/// what decoding in order gave, its entry goes back one key, until the pixels are equal.
///
/// Each span is decoded with one thread. So the same work confirms or refutes facts that several
/// threads found: see `TrackFacts.Standing`.
struct EntryFinder: Sendable {
  let table: any PacketTable
  let memory: PictureMemory
  /// Packets at which decoding may begin, rising; the first packet is always one.
  let keys: [Int]
  let packetCount: Int
  /// Packets that the decoder refused or that gave damaged pictures, rising.
  let damaged: [Int]
  /// What one decoder holds, in bytes.
  private let decoderBytes: Int
  /// Of the facts. Provisional ones speak of no damage.
  private let standing: TrackFacts.Standing

  /// A picture that is looked for.
  struct Wanted: Hashable, Sendable {
    /// Its place among the facts.
    var fact: Int
    var packet: Int
    var shown: Int
    /// The last packet that the decoder had when it gave the picture in order.
    var through: Int
    var digest: Digest128

    init(_ place: Int, of facts: FactList) {
      let fact = facts[place]
      self.fact = place
      (packet, shown, digest) = (fact.packet, fact.shown, fact.digest)
      through = fact.through
    }
  }

  /// Where decoding a picture begins, and whether damage lies between there and the picture.
  struct Entry: Hashable, Sendable {
    var packet: Int
    var crossesDamage: Bool
  }

  init(
    table: any PacketTable, memory: PictureMemory, packets: PacketList, damaged: Set<Int>,
    delay: Int = 0, decoderBytes: Int = 0, standing: TrackFacts.Standing = .settled
  ) {
    precondition(standing == .settled || damaged.isEmpty, "facts of a damaged track are settled")
    self.decoderBytes = decoderBytes
    self.standing = standing
    // The second of two fields, and what the decoder holds back: drained early, H.264 drops
    // pictures that it would have shown later.
    margin = 2 + delay
    self.table = table
    self.memory = memory
    keys = packets.indices.filter { $0 == 0 || packets.flags($0).contains(.key) }
    packetCount = packets.count
    self.damaged = damaged.sorted()
  }

  /// Spans are shared out to this many threads.
  private static let workerCount = 2

  /// - Parameters:
  ///   - wanted: Places among the facts, rising by their packets.
  ///   - report: told how many frames are done, from any thread, one at a time; false stops.
  /// - Returns: by place among the facts; nil when the facts were provisional and are in doubt.
  func find(
    _ wanted: [Int], of facts: FactList, report: @escaping @Sendable (Int) -> Bool
  ) throws(SessionError) -> EntryTable? {
    let spans = group(wanted, of: facts)
    let shared = SharedEntries(count: facts.count, report: report)
    let hasRoom = PixelBudget.ofProcess.allowsTwoDecoders(holding: decoderBytes)
    let workerCount = hasRoom ? min(Self.workerCount, max(1, spans.count)) : 1
    DispatchQueue.concurrentPerform(iterations: workerCount) { worker in
      // Contiguous shares: a demuxer that must be read in order reads each of them once.
      let share = spans.count * worker / workerCount..<spans.count * (worker + 1) / workerCount
      let fetcher = PacketFetcher(table: table)
      for span in spans[share] where shared.goesOn {
        do throws(SessionError) {
          let pictures = wanted[span.wanted].map { Wanted($0, of: facts) }
          shared.add(try resolve(pictures, of: span, fetcher: fetcher))
        } catch {
          shared.fail(error)
        }
      }
    }
    return try shared.result()
  }

  /// The wanted pictures whose packets lie between one key and the next.
  private struct Span: Sendable {
    /// Which key, in `keys`.
    var key: Int
    var wanted: Range<Int>
    /// The first packet of the next span; the track's end for the last one.
    var end: Int
  }

  private func group(_ wanted: [Int], of facts: FactList) -> [Span] {
    var spans: [Span] = []
    // Packets before the first picture may be damaged, too.
    if standing == .provisional { spans.append(Span(key: 0, wanted: 0..<0, end: packetCount)) }
    for (place, picture) in wanted.enumerated() {
      let key = key(atOrBefore: facts.packet(picture))
      if let last = spans.last, last.key == key {
        spans[spans.count - 1].wanted = last.wanted.lowerBound..<place + 1
      } else {
        if !spans.isEmpty { spans[spans.count - 1].end = keys[key] }
        spans.append(Span(key: key, wanted: place..<place + 1, end: packetCount))
      }
    }
    return spans
  }

  /// The place in `keys` of the last key at or before a packet.
  func key(atOrBefore packet: Int) -> Int {
    var (low, high) = (0, keys.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if keys[middle] <= packet { low = middle } else { high = middle }
    }
    return low
  }

  /// The first damaged packet in a stretch.
  func damage(from entry: Int, through packet: Int) -> Int? {
    var (low, high) = (0, damaged.count)
    while low < high {
      let middle = (low + high) / 2
      if damaged[middle] < entry { low = middle + 1 } else { high = middle }
    }
    guard low < damaged.count, damaged[low] <= packet else { return nil }
    return damaged[low]
  }

  /// - Returns: nil when provisional facts are in doubt.
  private func resolve(
    _ pictures: [Wanted], of span: Span, fetcher: PacketFetcher
  ) throws(SessionError) -> [(Wanted, Entry)]? {
    var found: [(Wanted, Entry)] = []
    var open = pictures
    var key = span.key
    var stride = 1
    var refused: Set<Int> = []
    if standing == .provisional {
      let sight = try look(for: open, from: keys[key], fetcher: fetcher, whole: span)
      guard !sight.isDoubtful else { return nil }
      refused = sight.refused
      found = sight.equal.map { ($0, Entry(packet: keys[key], crossesDamage: false)) }
      open.removeAll { sight.equal.contains($0) }
      if key == 0, !open.isEmpty { return nil }
      (key, stride) = step(back: key, of: span, stride)
    }
    while !open.isEmpty {
      let entry = keys[key]
      let crossing = open.filter { damage(from: entry, through: $0.packet) != nil }
      found += crossing.map { ($0, Entry(packet: entry, crossesDamage: true)) }
      if !crossing.isEmpty {
        let gone = Set(crossing)
        open.removeAll { gone.contains($0) }
      }
      if open.isEmpty { break }
      let sight = try look(for: open, from: entry, fetcher: fetcher)
      guard !sight.isDoubtful else { return nil }
      // What is missing at an open group's beginning may have been why they were refused.
      refused = refused.filter { $0 >= sight.end || sight.refused.contains($0) }
      found += sight.equal.map { ($0, Entry(packet: entry, crossesDamage: false)) }
      open.removeAll { sight.equal.contains($0) }
      // From the very beginning a picture is what it is, or cannot be decoded twice alike.
      if key == 0 {
        if standing == .provisional, !open.isEmpty { return nil }
        found += open.map { ($0, Entry(packet: entry, crossesDamage: true)) }
        break
      }
      (key, stride) = step(back: key, of: span, stride)
    }
    return refused.isEmpty ? found : nil
  }

  /// A key at a time at first; with intra refresh it may be a long way.
  private func step(back key: Int, of span: Span, _ stride: Int) -> (key: Int, stride: Int) {
    let next = max(0, key - stride)
    return (next, span.key - next > Self.singleSteps ? stride * 2 : stride)
  }

  private static let singleSteps = 4
  /// Packets after the wanted ones that a picture may need before the decoder shows it.
  private let margin: Int

  /// What decoding from one packet, with one thread, showed of the wanted pictures.
  private struct Sight {
    /// They came out with equal pixels.
    var equal: Set<Wanted> = []
    /// Packets of a whole span that the decoder refused.
    var refused: Set<Int> = []
    /// Behind the last packet that the decoder had.
    var end: Int
    /// Provisional facts are not what this run saw.
    var isDoubtful = false
  }

  /// - Parameter span: Read to its end, and searched for damage that the facts do not speak of.
  private func look(
    for wanted: [Wanted], from entry: Int, fetcher: PacketFetcher, whole span: Span? = nil
  ) throws(SessionError) -> Sight {
    let limit = max(limit(of: wanted) ?? entry, span?.end ?? entry)
    var sight = Sight(end: limit)
    let run = DecodeRun(fetcher: fetcher, from: entry, memory: memory)
    let pictures = Dictionary(
      wanted.map { (Key(packet: $0.packet, shown: $0.shown), $0) }
    ) { first, _ in first }
    var missing = Set(pictures.keys)
    var hasFinished = false
    while !missing.isEmpty || run.next < (span?.end ?? entry) {
      guard let outcome = try run.outcome(before: limit) else {
        if hasFinished { break }
        run.finish()
        hasFinished = true
        continue
      }
      switch outcome {
      case .refused(let packet, _):
        sight.refused.insert(packet)
      case .frame(let decoded, let shown):
        let key = Key(packet: decoded.packetIndex, shown: shown)
        if let span, pictures[key] == nil, (entry..<span.end).contains(key.packet) {
          sight.isDoubtful = true
        }
        guard missing.remove(key) != nil, let picture = pictures[key],
          picture.digest == decoded.frame.pixelDigest
        else { continue }
        take(picture, decoded, &sight)
      }
    }
    if let span { sight.refused = sight.refused.filter { $0 < span.end } }
    return sight
  }

  /// A picture that a decoder made without some of its references may be equal all the same, where
  /// nothing moves. Only in a track without damage is that known to be the reason.
  private func take(_ picture: Wanted, _ decoded: DecodedFrame, _ sight: inout Sight) {
    guard decoded.isDamaged else {
      sight.equal.insert(picture)
      return
    }
    switch standing {
    case .provisional: sight.isDoubtful = true
    case .settled: if damaged.isEmpty { sight.equal.insert(picture) }
    }
  }

  /// One more than the last packet that the decoder has to see; nil without pictures.
  private func limit(of wanted: [Wanted]) -> Int? {
    guard let last = wanted.map(\.packet).max() else { return nil }
    // Hidden pictures, and those that are shown again, come out long after their packet.
    let late = wanted.filter { $0.through - $0.packet > margin }.map(\.through).max() ?? last
    return min(packetCount, max(last + margin, late) + 1)
  }

  private struct Key: Hashable {
    var packet: Int
    var shown: Int
  }
}

/// Entries by a picture's place among the facts, 4 bytes for each.
struct EntryTable: Sendable {
  /// Twice the packet, and one more where damage is crossed; negative for none.
  private var packed: [Int32]

  init(count: Int) {
    packed = [Int32](repeating: -1, count: count)
  }

  subscript(fact: Int) -> EntryFinder.Entry? {
    get {
      let value = packed[fact]
      return value < 0
        ? nil : EntryFinder.Entry(packet: Int(value >> 1), crossesDamage: value & 1 == 1)
    }
    set {
      packed[fact] =
        newValue.map { Int32(clamping: $0.packet * 2 + ($0.crossesDamage ? 1 : 0)) }
        ?? -1
    }
  }
}

/// What the finder's threads found so far.
private final class SharedEntries: @unchecked Sendable {
  // SAFETY: @unchecked because of the mutable state, all of it guarded by `lock`.
  private let lock = NSLock()
  private let report: @Sendable (Int) -> Bool
  private var entries: EntryTable
  private var done = 0
  private var failure: SessionError?
  private var isDoubtful = false

  init(count: Int, report: @escaping @Sendable (Int) -> Bool) {
    entries = EntryTable(count: count)
    self.report = report
  }

  var goesOn: Bool { lock.withLock { failure == nil && !isDoubtful } }

  /// - Parameter found: nil when the facts are in doubt.
  func add(_ found: [(EntryFinder.Wanted, EntryFinder.Entry)]?) {
    lock.withLock {
      guard let found else {
        isDoubtful = true
        return
      }
      for (picture, entry) in found { entries[picture.fact] = entry }
      done += found.count
      if failure == nil, !report(done) { failure = .interrupted }
    }
  }

  func fail(_ error: SessionError) {
    lock.withLock { if failure == nil { failure = error } }
  }

  func result() throws(SessionError) -> EntryTable? {
    lock.lock()
    defer { lock.unlock() }
    if let failure { throw failure }
    return isDoubtful ? nil : entries
  }
}
