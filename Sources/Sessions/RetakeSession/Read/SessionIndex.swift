import Foundation
import RetakeBuffers
package import RetakeCore
import RetakeMedia
package import RetakeStore

/// A session's rows, read page by page with a cache of recent pages. Safe to use from any thread.
package final class SessionIndex: @unchecked Sendable {
  // SAFETY: @unchecked because of the mutable state, all of it guarded by `lock`.
  let folder: SessionFolder
  package let store: StoreReader
  package let segments: [Int: SegmentRecord]
  /// By track, then by segment.
  package let parts: [Int: [Int: SegmentTrackRecord]]
  package let mirrored: MirroredTracks
  private let continuing: Set<PageKey>
  /// By name of the media file.
  let mediaSizes: [String: MediaSize]
  private let lock = NSLock()
  private var packetPages = PageCache<[PacketRecord]>(countMax: pagesMax)
  private var framePages = PageCache<[FrameRecord]>(countMax: pagesMax)
  private var files: [String: MediaFile] = [:]

  static let pageRows = 256
  private static let pagesMax = 16

  init(folder: SessionFolder, store: StoreReader) throws {
    self.folder = folder
    self.store = store
    let (segments, tracks) = try (store.segments(), store.segmentTracks())
    // Damaged rows may repeat a key. `uniqueKeysWithValues` would end the process then.
    self.segments = Dictionary(segments.map { ($0.index, $0) }) { first, _ in first }
    var parts: [Int: [Int: SegmentTrackRecord]] = [:]
    for part in tracks { parts[part.track, default: [:]][part.segment] = part }
    self.parts = parts
    mirrored = MirroredTracks(
      stored: try store.meta(MirroredTracks.fact))
    continuing = Self.continuing(parts, self.segments)
    mediaSizes = MediaSize.all(of: segments)
    // All names are checked when the session is opened, before any file is read.
    for segment in segments { _ = try folder.file(segment.file) }
  }

  /// In ascending order.
  package var tracks: [Int] { parts.keys.sorted() }

  package func requireTrack(_ track: Int) throws {
    guard parts[track] != nil else {
      throw SessionError.unknownTrack(session: folder.path, track: track, known: tracks)
    }
  }

  package func frame(_ id: FrameID) throws -> FrameRecord? {
    guard id.sequence >= 0 else { return nil }
    let number = id.sequence / Self.pageRows
    let page = try framePage(track: id.track, number: number)
    let place = id.sequence - number * Self.pageRows
    // Sequences have no gaps, so the place is known; only a page of damaged rows is searched.
    if page.indices.contains(place), page[place].sequence == id.sequence { return page[place] }
    return page.first { $0.sequence == id.sequence }
  }

  private func framePage(track: Int, number: Int) throws -> [FrameRecord] {
    let key = PageKey(track: track, number: number)
    // Not locked while the rows are read: two threads may read one page, and read the same.
    if let page = lock.withLock({ framePages[key] }) { return page }
    let start = number * Self.pageRows
    let page = try store.wholeFrames(track: track, sequences: start..<start + Self.pageRows)
    lock.withLock { framePages[key] = page }
    return page
  }

  package func packet(track: Int, index: Int) throws -> PacketRecord? {
    guard index >= 0 else { return nil }
    let key = PageKey(track: track, number: index / Self.pageRows)
    let page: [PacketRecord]
    if let kept = lock.withLock({ packetPages[key] }) {
      page = kept
    } else {
      let start = key.number * Self.pageRows
      page = try store.packets(track: track, indexes: start..<start + Self.pageRows)
      lock.withLock { packetPages[key] = page }
    }
    let place = index - key.number * Self.pageRows
    if page.indices.contains(place), page[place].index == index { return page[place] }
    return page.first { $0.index == index }
  }

  /// The first frame of a packet; nil if the packet has no frame.
  func frame(ofPacket packet: Int, of track: Int) -> FrameID? {
    // Only for the text of an error, so a failure here must not replace that error.
    let sequence = try? store.firstSequence(track: track, packet: packet)
    return sequence.map { FrameID(track: track, sequence: $0) }
  }

  /// Opens each path once, however many segments are in the file.
  func file(_ relative: String) throws -> MediaFile {
    let path = try folder.file(relative)
    if let file = lock.withLock({ files[path] }) { return file }
    let opened: MediaFile
    do {
      opened = try MediaFile(path: path)
    } catch MediaError.missing {
      throw SessionError.mediaMissing(file: path)
    }
    try requireSize(opened.size, of: relative, at: path)
    return lock.withLock {
      // The file that another thread may have opened meanwhile wins, because
      // `DecodeRun` compares files by identity and would begin again.
      let file = files[path] ?? opened
      files[path] = file
      return file
    }
  }

  /// Rejects media that has more bytes than were indexed, before any of them is read.
  ///
  /// - Parameter place: The folder of the media, if it is not the index's own.
  package func requireSizes(in place: SessionFolder? = nil) throws {
    // Sorted, so that the error names the same file each time.
    for name in mediaSizes.keys.sorted() {
      let path = try (place ?? folder).file(name)
      // A missing file is an error where it is read.
      guard let facts = try? RegularFile.facts(of: path, links: .followed) else { continue }
      try requireSize(facts.bytes, of: name, at: path)
    }
  }

  /// A file that is too short is still read, because each packet has its own checksum.
  private func requireSize(
    _ bytes: Int64, of name: String, at path: String
  ) throws {
    // Only a file of a pointer's size is looked into.
    if bytes < LargeFilePointer.bytesMax, LargeFilePointer(file: path) != nil {
      throw SessionError.pointer(file: path)
    }
    guard let size = mediaSizes[name], size.isComplete, bytes > size.bytes else { return }
    throw SessionError.mediaSize(file: path, bytes: bytes, indexedBytes: size.bytes)
  }

  func view(track: Int, segment: Int) throws -> SegmentView {
    guard let record = segments[segment], let part = parts[track]?[segment] else {
      throw StoreError.corrupt(
        path: folder.database, cause: "track \(track) has no part in segment \(segment)")
    }
    var stream = MediaStream(part)
    stream.isMirrored = mirrored.contains(track)
    return SegmentView(
      file: try file(record.file), stream: stream,
      continues: continuing.contains(PageKey(track: track, number: segment)))
  }

  /// The segments whose packets continue the packets of the segment before.
  private static func continuing(
    _ parts: [Int: [Int: SegmentTrackRecord]], _ segments: [Int: SegmentRecord]
  ) -> Set<PageKey> {
    var found: Set<PageKey> = []
    for (track, parts) in parts {
      let numbers = parts.keys.sorted()
      for (before, number) in zip(numbers, numbers.dropFirst())
      where segments[number]?.reason == SegmentRecord.limitReason {
        guard let part = parts[number], let earlier = parts[before],
          SegmentView.continues(MediaStream(part), MediaStream(earlier))
        else { continue }
        found.insert(PageKey(track: track, number: number))
      }
    }
    return found
  }
}

/// The indexed size of a media file.
struct MediaSize {
  let bytes: Int64
  /// False while a recorder may still write it, and if the recorder ended before its last commit.
  let isComplete: Bool

  /// - Parameter segments: The segments whose media is in the file.
  init(_ segments: [SegmentRecord]) {
    bytes = segments.map(\.bytes).max() ?? 0
    isComplete = segments.allSatisfy(\.isClosed)
  }

  /// The sizes of the files, by name.
  static func all(of segments: [SegmentRecord]) -> [String: MediaSize] {
    Dictionary(grouping: segments, by: \.file).mapValues(MediaSize.init)
  }
}

struct PageKey: Hashable {
  var track: Int
  var number: Int
}

/// The most recently used pages.
struct PageCache<Page> {
  let countMax: Int
  private var pages: [PageKey: Page] = [:]
  /// Oldest first.
  private var order: [PageKey] = []

  init(countMax: Int) {
    self.countMax = countMax
  }

  subscript(key: PageKey) -> Page? {
    mutating get {
      guard let page = pages[key] else { return nil }
      if order.last != key, let place = order.firstIndex(of: key) {
        order.remove(at: place)
        order.append(key)
      }
      return page
    }
    set {
      if pages[key] == nil { order.append(key) }
      pages[key] = newValue
      if order.count > countMax { pages[order.removeFirst()] = nil }
    }
  }
}

extension MediaStream {
  /// Builds the stream that the index describes.
  package init(_ part: SegmentTrackRecord) {
    self.init(
      index: part.streamIndex, video: part.codec, extradata: part.extradata ?? [],
      width: part.width, height: part.height, pixelFormatName: part.pixelFormat,
      range: part.range.flatMap { ColorRange(rawValue: $0) } ?? .limited,
      matrix: part.matrix.flatMap { ColorMatrix(rawValue: $0) } ?? .assumed(height: part.height),
      rotationDegrees: part.rotationDegrees,
      sampleAspect: SampleAspect(
        Int32(clamping: part.aspectNumerator), Int32(clamping: part.aspectDenominator)),
      timeBase: part.timeBase, delay: part.delay, profile: part.profile ?? -99)
    rangeAssumed = part.range == nil
    matrixAssumed = part.matrix == nil
  }
}
