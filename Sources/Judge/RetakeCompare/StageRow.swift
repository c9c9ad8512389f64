package import RetakeCore

/// One line of a digests file.
package struct StageRow: Hashable, Sendable {
  package var frame: FrameID
  /// The digest of the frame's packet; `-` if it has no packet.
  package var packet: StageCell
  /// One for each column.
  package var cells: [StageCell]

  package init(frame: FrameID, packet: StageCell, cells: [StageCell]) {
    self.frame = frame
    self.packet = packet
    self.cells = cells
  }
}
