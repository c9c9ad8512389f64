/// Why a frame cannot be replayed: the codes of the column `frame.cause` that a decoding finds.
package enum FrameCause {
  /// The decoder says so.
  package static let damaged = "media.decode.damaged"
  /// The decoder says so in its log.
  package static let reported = "media.decode.reported"
  /// The container says so.
  package static let corrupt = "media.packet.corrupt"
  /// Its pixels are not the same in every decoding.
  package static let varies = "session.frame.varies"
  /// It does not come out of the decoder.
  package static let undecodable = "session.frame.undecodable"
}
