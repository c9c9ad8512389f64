import RetakeCore

/// Memory that frames are made in while it exists, so that another process can read them without a
/// copy. Frames that do not fit into it use the heap.
///
/// It has sections of equal size. A block is inside of one section.
package final class FrameArena: Sendable {
  // SAFETY: the caller of `init` keeps the bytes valid and writable as long as `owner` exists, and
  // this object holds `owner`. Each block has one owner between `take` and `giveBack`.

  /// Where a plane is, in bytes: from the beginning of its section, and from one row to the next.
  package struct Place: Hashable, Sendable {
    package var offset: Int
    package var stride: Int

    package init(offset: Int, stride: Int) {
      (self.offset, self.stride) = (offset, stride)
    }
  }

  private struct State: Sendable {
    /// Blocks that were given back, by their size.
    var free: [Int: [Int]] = [:]
    /// The first byte that was never part of a block.
    var end = 0
    var lent = 0
  }

  /// Blocks consist of full pages, so that no page has parts of two frames.
  private static let pageBytes = 4_096

  private let address: UInt
  private let sectionBytes: Int
  private let byteCount: Int
  private let owner: any AnyObject & Sendable
  private let state = Locked(State())

  /// In the order in which they were first used.
  private static let used = Locked<[Weak]>([])

  private struct Weak: Sendable { weak var arena: FrameArena? }

  /// - Parameters:
  ///   - address: Of the first byte; a multiple of the page size.
  ///   - owner: Keeps the memory.
  package init(
    address: UInt, sections: Int, sectionBytes: Int, owner: any AnyObject & Sendable
  ) {
    precondition(sections > 0 && sectionBytes % Self.pageBytes == 0, "sections are whole pages")
    (self.address, self.sectionBytes, self.owner) = (address, sectionBytes, owner)
    byteCount = sections * sectionBytes
  }

  /// From now on frames are made here, as long as the arena exists. Of several arenas, the last one
  /// is used.
  package func beginUse() {
    Self.used.withLock { used in
      used.removeAll { $0.arena == nil }
      used.append(Weak(arena: self))
    }
  }

  /// The arena in which frames are made now, if there is one.
  package static var current: FrameArena? {
    used.withLock { used in used.last { $0.arena != nil }?.arena }
  }

  /// A block of at least that many bytes, which is undefined memory; `nil` if there is no space.
  func take(_ bytes: Int) -> UnsafeMutableRawPointer? {
    let size = Self.wholePages(bytes)
    guard bytes > 0, size <= sectionBytes else { return nil }
    let offset = state.withLock { state -> Int? in
      if let offset = state.free[size]?.popLast() {
        state.lent += 1
        return offset
      }
      // Blocks of another size are discarded together when no block is in use: a run with frames of
      // another size has begun.
      if state.lent == 0, !fits(size, after: state.end) { state = State() }
      guard let offset = place(size, after: state.end) else { return nil }
      state.end = offset + size
      state.lent += 1
      return offset
    }
    return offset.flatMap { UnsafeMutableRawPointer(bitPattern: address + UInt($0)) }
  }

  func giveBack(_ block: UnsafeMutableRawPointer, _ bytes: Int) {
    let offset = Int(UInt(bitPattern: block) - address)
    state.withLock { state in
      state.free[Self.wholePages(bytes), default: []].append(offset)
      state.lent -= 1
    }
  }

  private func fits(_ size: Int, after end: Int) -> Bool { place(size, after: end) != nil }

  /// The first place from `end` on where a block does not cross the end of a section.
  private func place(_ size: Int, after end: Int) -> Int? {
    let rest = sectionBytes - end % sectionBytes
    let offset = size <= rest ? end : end + rest
    return offset + size <= byteCount ? offset : nil
  }

  private static func wholePages(_ bytes: Int) -> Int {
    (bytes + pageBytes - 1) / pageBytes * pageBytes
  }

  /// The section that has all planes of the frame, and the places in it; `nil` if no section has
  /// them.
  package func places(of frame: Frame) -> (section: Int, planes: [Place])? {
    var planes: [Place] = []
    var section: Int?
    for (index, plane) in frame.storage.planes.enumerated() {
      // The offset of a plane below the arena wraps around, and is then beyond its end.
      let offset = UInt(bitPattern: plane.base) &- address
      let length =
        plane.stride * (frame.format.rowCount(plane: index, height: frame.height) - 1)
        + frame.format.rowBytes(plane: index, width: frame.width)
      guard offset < UInt(byteCount), plane.stride > 0 else { return nil }
      let (number, start) = Int(offset).quotientAndRemainder(dividingBy: sectionBytes)
      guard section ?? number == number, start + length <= sectionBytes else { return nil }
      section = number
      planes.append(Place(offset: start, stride: plane.stride))
    }
    return section.map { ($0, planes) }
  }
}
