package import RetakeStore

/// The packets of one track, by their number in the session.
package protocol PacketTable: Sendable {
  var track: Int { get }
  /// nil after the last packet.
  func packet(_ index: Int) throws -> PacketRecord?
  /// The media file of a segment, and the description of the track in it.
  func segment(_ index: Int) throws -> SegmentView
}
