import RetakeMedia
import RetakeStore

/// Demuxer errors in a row after which the file is considered ended.
let demuxFailureCount = 64

extension MediaPacket.Flags {
  init(_ flags: PacketRecord.Flags) {
    self = []
    if flags.contains(.key) { insert(.key) }
    if flags.contains(.discard) { insert(.discard) }
    if flags.contains(.corrupt) { insert(.corrupt) }
  }
}

extension PacketRecord.Flags {
  init(_ flags: MediaPacket.Flags) {
    self = []
    if flags.contains(.key) { insert(.key) }
    if flags.contains(.discard) { insert(.discard) }
    if flags.contains(.corrupt) { insert(.corrupt) }
  }
}
