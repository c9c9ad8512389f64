/// Memory for the pixels of one frame.
package struct PixelBlock: @unchecked Sendable {
  // SAFETY: @unchecked because of the pointer; the block has one owner, which frees it once.

  package let base: UnsafeMutableRawPointer
  private let byteCount: Int
  private let arena: FrameArena

  /// - Parameter arena: By default the arena in which frames are made now.
  /// - Returns: `nil` without an arena, or without space in it.
  package init?(_ byteCount: Int, in arena: FrameArena? = .current) {
    guard let arena, let base = arena.take(byteCount) else { return nil }
    (self.base, self.byteCount, self.arena) = (base, byteCount, arena)
  }

  package func free() { arena.giveBack(base, byteCount) }
}
