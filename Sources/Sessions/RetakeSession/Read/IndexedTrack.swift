import Foundation
package import RetakeStore

/// One track of an index, as a table of packets for decoders.
package struct IndexedTrack: PacketTable {
  private let index: SessionIndex
  package let track: Int

  package init(index: SessionIndex, track: Int) {
    (self.index, self.track) = (index, track)
  }

  package func packet(_ index: Int) throws -> PacketRecord? {
    try self.index.packet(track: track, index: index)
  }

  package func segment(_ index: Int) throws -> SegmentView {
    try self.index.view(track: track, segment: index)
  }
}
