import RetakeMedia

/// Detects packets that do not show the image they contain, from their first bits.
///
/// VP8 and VP9 may decode an image long before it is shown, and VP9 shows it later with a packet of
/// one byte. A row of a recording holds one packet's image, so such packets cannot be copied.
enum AltRefFrames {
  static func mayBeIn(codec: String) -> Bool { ["vp8", "vp9"].contains(codec) }

  /// Whether the decoder shows no image for the packet, or shows an image of an earlier packet.
  static func areIn(_ packet: MediaPacket, codec: String) -> Bool {
    packet.withBytes { bytes in
      guard let first = bytes.first, let last = bytes.last else { return false }
      switch codec {
      // RFC 6386, 9.1: key frame (1 bit), version (3), show_frame.
      case "vp8": return first & 0x10 == 0
      case "vp9":
        // A superframe contains hidden frames together with the frame that is shown.
        guard first & 0xC0 == 0x80, last & 0xE0 != 0xC0 else { return false }
        // VP9 bitstream, 6.2: marker (2), profile (2; 3 has one more bit), show_existing_frame,
        // frame_type, show_frame.
        let shift = first & 0x30 == 0x30 ? 1 : 0
        let showsExisting = first >> (3 - shift) & 1 == 1
        return showsExisting || first >> (1 - shift) & 1 == 0
      default: return false
      }
    }
  }
}
