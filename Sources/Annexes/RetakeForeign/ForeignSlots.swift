import RetakeBuffers
import RetakeProcess

/// The shared memory of a program's copies: a slot for each copy, into which frames are copied, and
/// slots in which frames are made, so that they need no copy.
final class ForeignSlots: Sendable {
  /// Virtual bytes of a slot: enough for 8K with four channels. Only written pages use memory.
  static let slotBytes = 128 << 20
  /// Slots in which frames are made. Frames that do not fit into them are made elsewhere, and
  /// copied.
  private static let madeSlots = 2

  let memory: SharedMemory
  /// All slots.
  let count: Int
  /// Slots that belong to no copy now.
  private let free: Locked<[Int]>
  /// `nil` if frames are not made here.
  let arena: FrameArena?

  /// - Parameter copies: How many copies have a slot at the same time.
  init(copies: Int) throws {
    do {
      memory = try SharedMemory(byteCount: (copies + Self.madeSlots) * Self.slotBytes)
      count = copies + Self.madeSlots
    } catch {
      // Virtual memory is limited (ulimit -v): as much as is needed.
      memory = try SharedMemory(byteCount: copies * Self.slotBytes)
      count = copies
    }
    free = Locked(Array((0..<copies).reversed()))
    // A program that could write would change frames that other stages read.
    guard count > copies, memory.isSealed else {
      arena = nil
      return
    }
    let arena = FrameArena(
      address: memory.address(of: copies * Self.slotBytes), sections: Self.madeSlots,
      sectionBytes: Self.slotBytes, owner: memory)
    arena.beginUse()
    self.arena = arena
  }

  /// A slot for a copy; `nil` if all are in use.
  func take() -> Int? { free.withLock { $0.popLast() } }

  func giveBack(_ slot: Int) { free.withLock { $0.append(slot) } }

  /// Where the frame is, if it was made in the shared memory.
  func planes(of frame: Frame) -> FrameMessage.Planes? {
    guard let arena, let (section, places) = arena.places(of: frame) else { return nil }
    return FrameMessage.Planes(
      slot: count - Self.madeSlots + section,
      places: places.map { FrameMessage.Plane(offset: $0.offset, stride: $0.stride) })
  }
}
