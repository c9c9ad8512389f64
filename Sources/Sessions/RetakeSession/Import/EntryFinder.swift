import Foundation
import RetakeBuffers
import RetakeCore
import RetakeMedia
import RetakeRuntime

/// Finds, for every frame, the packet from which decoding reproduces its exact pixels.
///
/// A key packet promises that decoding can begin there, but often that is not true (open groups of
/// pictures, intra refresh). So the span of each key is decoded separately. If a frame differs from
/// the result of decoding in order, its entry moves back one key at a time until the pixels are
/// equal.
struct EntryFinder: Sendable {
  let table: any PacketTable
  let memory: ImageMemory
  /// Packets at which decoding may begin, in ascending order; the first packet is always included.
  let keys: [Int]
  let packetCount: Int
  /// Packets that the decoder rejected or that gave damaged images, in ascending order.
  let damaged: [Int]
  /// Packets whose pictures are shown before their key picture. Only other such pictures refer to
  /// them.
  private let leading: Set<Int>
  /// The packets of `damaged` that are not leading.
  private let damagedTrailing: [Int]
  /// Memory of one decoder, in bytes.
  private let decoderBytes: Int

  /// A picture to find.
  struct Wanted: Hashable, Sendable {
    /// Its index among the facts.
    var fact: Int
    var packet: Int
    var shown: Int
    /// The last packet that the decoder had received when it returned the picture in order.
    var through: Int
    var digest: Digest128

    init(_ place: Int, of facts: FactList) {
      let fact = facts[place]
      self.fact = place
      (packet, shown, digest) = (fact.packet, fact.shown, fact.digest)
      through = fact.through
    }
  }

  /// Where decoding a picture begins, and whether there is damage between there and the picture.
  struct Entry: Hashable, Sendable {
    var packet: Int
    var crossesDamage: Bool
  }

  init(
    table: any PacketTable, memory: ImageMemory, packets: PacketList, damaged: Set<Int>,
    leading: Set<Int> = [], delay: Int = 0, decoderBytes: Int = 0
  ) {
    self.decoderBytes = decoderBytes
    // Accounts for the second of two fields, and for the decoder's delay. If H.264 is drained
    // early, it drops pictures that it would have shown later.
    margin = 2 + delay
    self.table = table
    self.memory = memory
    keys = packets.indices.filter { $0 == 0 || packets.flags($0).contains(.key) }
    packetCount = packets.count
    self.damaged = damaged.sorted()
    self.leading = leading
    damagedTrailing = damaged.subtracting(leading).sorted()
  }

  /// Spans are divided among this many threads.
  private static let workerCount = 2

  /// - Parameters:
  ///   - wanted: Indexes of facts, in ascending order of their packets.
  ///   - report: called with the number of frames done, from any thread, one at a time; false
  ///     stops.
  /// - Returns: the entries by index of the fact.
  func find(
    _ wanted: [Int], of facts: FactList, report: @escaping @Sendable (Int) -> Bool
  ) throws -> EntryTable {
    let spans = group(wanted, of: facts)
    let shared = SharedEntries(count: facts.count, report: report)
    // Each thread has a decoder. If two do not fit into the budget, one thread does all spans.
    let hasRoom = PixelBudget.ofProcess.allowsTwoDecoders(holding: decoderBytes)
    let workerCount = hasRoom ? min(Self.workerCount, max(1, spans.count)) : 1
    // The number of threads does not reach the result: each span is decoded
    // by itself, and its entries are stored by the index of the fact.
    NamedThread.concurrently(workerCount, "retake-entries") { [self] worker in
      // Contiguous shares: a demuxer that must be read in order then reads each share once.
      let share = spans.count * worker / workerCount..<spans.count * (worker + 1) / workerCount
      let fetcher = PacketFetcher(table: table)
      for span in spans[share] where shared.goesOn(worker) {
        do {
          let pictures = wanted[span.wanted].map { Wanted($0, of: facts) }
          shared.add(try resolve(pictures, of: span, fetcher: fetcher), worker: worker)
        } catch {
          shared.fail(error, worker: worker)
        }
      }
    }
    return try shared.result()
  }

  /// The wanted pictures whose packets are between one key and the next.
  private struct Span: Sendable {
    /// Index of the key in `keys`.
    var key: Int
    var wanted: Range<Int>
  }

  private func group(_ wanted: [Int], of facts: FactList) -> [Span] {
    var spans: [Span] = []
    for (place, picture) in wanted.enumerated() {
      let key = key(atOrBefore: facts.packet(picture))
      // `wanted` is in the order of packets, so the pictures of one key follow each other.
      if let last = spans.last, last.key == key {
        spans[spans.count - 1].wanted = last.wanted.lowerBound..<place + 1
      } else {
        spans.append(Span(key: key, wanted: place..<place + 1))
      }
    }
    return spans
  }

  /// The index in `keys` of the last key at or before a packet.
  func key(atOrBefore packet: Int) -> Int {
    // The first packet counts as a key, so every packet has one at or before it.
    var (low, high) = (0, keys.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if keys[middle] <= packet { low = middle } else { high = middle }
    }
    return low
  }

  /// The first damaged packet from an entry on that a packet may depend on.
  func damage(from entry: Int, through packet: Int) -> Int? {
    let damaged = leading.contains(packet) ? damaged : damagedTrailing
    var (low, high) = (0, damaged.count)
    while low < high {
      let middle = (low + high) / 2
      if damaged[middle] < entry { low = middle + 1 } else { high = middle }
    }
    guard low < damaged.count, damaged[low] <= packet else { return nil }
    return damaged[low]
  }

  private func resolve(
    _ pictures: [Wanted], of span: Span, fetcher: PacketFetcher
  ) throws -> [(Wanted, Entry)] {
    var found: [(Wanted, Entry)] = []
    var open = pictures
    var key = span.key
    var stride = 1
    while !open.isEmpty {
      let entry = keys[key]
      // With damage between entry and picture, no earlier entry helps either: the search ends.
      let crossing = open.filter { damage(from: entry, through: $0.packet) != nil }
      found += crossing.map { ($0, Entry(packet: entry, crossesDamage: true)) }
      if !crossing.isEmpty {
        let gone = Set(crossing)
        open.removeAll { gone.contains($0) }
      }
      if open.isEmpty { break }
      let equal = try look(for: open, from: entry, fetcher: fetcher)
      found += equal.map { ($0, Entry(packet: entry, crossesDamage: false)) }
      open.removeAll { equal.contains($0) }
      // The first packet has no earlier entry: a picture that still differs is not
      // reproducible.
      if key == 0 {
        found += open.map { ($0, Entry(packet: entry, crossesDamage: true)) }
        break
      }
      (key, stride) = step(back: key, of: span, stride)
    }
    return found
  }

  /// Goes back one key at a time at first, then faster: with intra refresh it may be far.
  private func step(back key: Int, of span: Span, _ stride: Int) -> (key: Int, stride: Int) {
    let next = max(0, key - stride)
    return (next, span.key - next > Self.singleSteps ? stride * 2 : stride)
  }

  private static let singleSteps = 4
  /// Packets after a wanted packet that the decoder may need before it returns the picture.
  private let margin: Int

  /// Decodes from one packet.
  ///
  /// - Returns: the wanted pictures with equal pixels.
  private func look(
    for wanted: [Wanted], from entry: Int, fetcher: PacketFetcher
  ) throws -> Set<Wanted> {
    let limit = limit(of: wanted) ?? entry
    var equal: Set<Wanted> = []
    let run = DecodeRun(fetcher: fetcher, from: entry, memory: memory)
    let pictures = Dictionary(
      wanted.map { (Key(packet: $0.packet, shown: $0.shown), $0) }
    ) { first, _ in first }
    var missing = Set(pictures.keys)
    var hasFinished = false
    while !missing.isEmpty {
      guard let outcome = try run.outcome(before: limit) else {
        if hasFinished { break }
        // The decoder still delays pictures, which come without more packets
        // when it is drained. That can be done once.
        run.finish()
        hasFinished = true
        continue
      }
      guard case .frame(let decoded, let shown) = outcome else { continue }
      let key = Key(packet: decoded.packetIndex, shown: shown)
      guard missing.remove(key) != nil, let picture = pictures[key],
        picture.digest == decoded.frame.pixelDigest
      else { continue }
      // A picture that was decoded without some of its references may still be equal, if the scene
      // does not move. Only in a track without damage is the missing reference known to be the
      // reason.
      if !decoded.isDamaged || damaged.isEmpty { equal.insert(picture) }
    }
    return equal
  }

  /// One more than the last packet that the decoder needs; nil without pictures.
  private func limit(of wanted: [Wanted]) -> Int? {
    guard let last = wanted.map(\.packet).max() else { return nil }
    // Hidden pictures, and pictures that are shown again, are returned long after their packet.
    let late = wanted.filter { $0.through - $0.packet > margin }.map(\.through).max() ?? last
    return min(packetCount, max(last + margin, late) + 1)
  }

  private struct Key: Hashable {
    var packet: Int
    var shown: Int
  }
}

/// Entries by the index of a picture's fact, 4 bytes each.
struct EntryTable: Sendable {
  /// Twice the packet, plus one if damage is crossed; negative for a missing entry.
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

/// The results of the finder's threads so far.
final class SharedEntries: @unchecked Sendable {
  // SAFETY: @unchecked because of the mutable state, all of it guarded by `lock`.
  private let lock = NSLock()
  private let report: @Sendable (Int) -> Bool
  private var entries: EntryTable
  private var done = 0
  /// The error that ended a share early, of the earliest such share. The shares before it continue:
  /// the first failure in the order of packets is then the result, whichever thread is faster.
  private var failure: (worker: Int, error: any Error)?
  private var isStopped = false

  init(count: Int, report: @escaping @Sendable (Int) -> Bool) {
    entries = EntryTable(count: count)
    self.report = report
  }

  func goesOn(_ worker: Int) -> Bool {
    lock.withLock {
      !isStopped && failure.map { worker < $0.worker } ?? true
    }
  }

  func add(_ found: [(EntryFinder.Wanted, EntryFinder.Entry)], worker: Int) {
    lock.withLock {
      for (picture, entry) in found { entries[picture.fact] = entry }
      done += found.count
      if !isStopped, !report(done) { isStopped = true }
    }
  }

  func fail(_ error: any Error, worker: Int) {
    lock.withLock {
      if failure.map({ worker < $0.worker }) ?? true { failure = (worker, error) }
    }
  }

  func result() throws -> EntryTable {
    lock.lock()
    defer { lock.unlock() }
    if isStopped { throw SessionError.interrupted }
    if let failure { throw failure.error }
    return entries
  }
}
