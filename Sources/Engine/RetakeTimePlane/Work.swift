/// A frame in flight, or one item of it.
package struct Work: Hashable, Sendable {
  /// The frame's slot.
  package var slot: Int32
  /// Index inside a forEach; −1 for the frame itself.
  package var item: Int32

  package init(slot: Int, item: Int = -1) {
    self.slot = Int32(slot)
    self.item = Int32(item)
  }

  package var slotIndex: Int { Int(slot) }
  package var isItem: Bool { item >= 0 }
}
