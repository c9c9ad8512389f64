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

  /// A picture that is looked for.
  struct Wanted: Hashable, Sendable {
    var packet: Int
    var occurrence: Int
    var digest: Digest128
  }

  /// Where decoding a picture begins, and whether damage lies between there and the picture.
  struct Entry: Hashable, Sendable {
    var packet: Int
    var crossesDamage: Bool
  }

  init(
    table: any PacketTable, memory: PictureMemory, packets: [PacketRecord], damaged: Set<Int>,
    delay: Int = 0, decoderBytes: Int = 0
  ) {
    self.decoderBytes = decoderBytes
    // The second of two fields, and what the decoder holds back: drained early, H.264 drops
    // pictures that it would have shown later.
    margin = 2 + delay
    self.table = table
    self.memory = memory
    keys = packets.indices.filter { $0 == 0 || packets[$0].flags.contains(.key) }
    packetCount = packets.count
    self.damaged = damaged.sorted()
  }

  /// Spans are shared out to this many threads.
  private static let workerCount = 2

  /// - Parameter report: told how many frames are done, from any thread, one at a time; false stops.
  func find(
    _ wanted: [Wanted], report: @escaping @Sendable (Int) -> Bool
  ) throws(SessionError) -> [Wanted: Entry] {
    let spans = group(wanted)
    let shared = SharedEntries(report: report)
    let hasRoom = PixelBudget.ofProcess.allowsTwoDecoders(holding: decoderBytes)
    let workerCount = hasRoom ? min(Self.workerCount, max(1, spans.count)) : 1
    DispatchQueue.concurrentPerform(iterations: workerCount) { worker in
      // Contiguous shares: a demuxer that must be read in order reads each of them once.
      let share = spans.count * worker / workerCount..<spans.count * (worker + 1) / workerCount
      let fetcher = PacketFetcher(table: table)
      for span in spans[share] where shared.goesOn {
        do throws(SessionError) {
          shared.add(try resolve(span, fetcher: fetcher))
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
    var wanted: [Wanted]
  }

  private func group(_ wanted: [Wanted]) -> [Span] {
    var spans: [Int: [Wanted]] = [:]
    for picture in wanted { spans[key(atOrBefore: picture.packet), default: []].append(picture) }
    return spans.keys.sorted().map { Span(key: $0, wanted: spans[$0] ?? []) }
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

  private func resolve(
    _ span: Span, fetcher: PacketFetcher
  ) throws(SessionError) -> [(Wanted, Entry)] {
    var found: [(Wanted, Entry)] = []
    var open = span.wanted
    var key = span.key
    var stride = 1
    while !open.isEmpty {
      let entry = keys[key]
      let crossing = open.filter { damage(from: entry, through: $0.packet) != nil }
      found += crossing.map { ($0, Entry(packet: entry, crossesDamage: true)) }
      open.removeAll { crossing.contains($0) }
      if open.isEmpty { break }
      let equal = try decodedEqually(open, from: entry, fetcher: fetcher)
      found += equal.map { ($0, Entry(packet: entry, crossesDamage: false)) }
      open.removeAll { equal.contains($0) }
      // From the very beginning a picture is what it is, or cannot be decoded twice alike.
      if key == 0 {
        found += open.map { ($0, Entry(packet: entry, crossesDamage: true)) }
        break
      }
      key = max(0, key - stride)
      // A key at a time at first; with intra refresh it may be a long way.
      if span.key - key > Self.singleSteps { stride *= 2 }
    }
    return found
  }

  private static let singleSteps = 4
  /// Packets after the wanted ones that a picture may need before the decoder shows it.
  private let margin: Int

  /// Which of the pictures come out with equal pixels when decoding begins at `entry`.
  private func decodedEqually(
    _ wanted: [Wanted], from entry: Int, fetcher: PacketFetcher
  ) throws(SessionError) -> Set<Wanted> {
    guard let last = wanted.map(\.packet).max() else { return [] }
    let run = DecodeRun(fetcher: fetcher, from: entry, memory: memory)
    var missing = Set(wanted.map { Key(packet: $0.packet, occurrence: $0.occurrence) })
    let all = Set(wanted)
    var equal: Set<Wanted> = []
    var hasFinished = false
    while !missing.isEmpty {
      let limit = min(packetCount, last + 1 + margin)
      guard let outcome = try run.outcome(before: limit) else {
        if hasFinished { break }
        run.finish()
        hasFinished = true
        continue
      }
      guard case .frame(let decoded, let occurrence) = outcome else { continue }
      let key = Key(packet: decoded.packetIndex, occurrence: occurrence)
      guard missing.remove(key) != nil else { continue }
      let picture = Wanted(
        packet: key.packet, occurrence: key.occurrence, digest: decoded.frame.pixelDigest)
      if all.contains(picture) { equal.insert(picture) }
    }
    return equal
  }

  private struct Key: Hashable {
    var packet: Int
    var occurrence: Int
  }
}

/// What the finder's threads found so far.
private final class SharedEntries: @unchecked Sendable {
  // SAFETY: @unchecked because of the mutable state, all of it guarded by `lock`.
  private let lock = NSLock()
  private let report: @Sendable (Int) -> Bool
  private var entries: [EntryFinder.Wanted: EntryFinder.Entry] = [:]
  private var failure: SessionError?

  init(report: @escaping @Sendable (Int) -> Bool) {
    self.report = report
  }

  var goesOn: Bool { lock.withLock { failure == nil } }

  func add(_ found: [(EntryFinder.Wanted, EntryFinder.Entry)]) {
    lock.withLock {
      for (picture, entry) in found { entries[picture] = entry }
      if failure == nil, !report(entries.count) { failure = .interrupted }
    }
  }

  func fail(_ error: SessionError) {
    lock.withLock { if failure == nil { failure = error } }
  }

  func result() throws(SessionError) -> [EntryFinder.Wanted: EntryFinder.Entry] {
    lock.lock()
    defer { lock.unlock() }
    if let failure { throw failure }
    return entries
  }
}
