import CFFmpeg

/// Tells FFmpeg's callbacks which packet a thread of a decoder is at work on, and for which
/// decoder.
///
/// A callback knows only a context. A thread's context is a copy, and its `opaque` has the value
/// that the decoder's context had when the thread received its packet. So each packet sets another
/// value: a mark with the packet's number.
final class PacketMarks: @unchecked Sendable {
  // SAFETY: @unchecked because of the pointer. The decoder, which only one thread at a time uses,
  // writes a mark before FFmpeg's threads receive its address. `count` is larger than the number
  // of packets that they can have at once, so that none of them reads a mark while it is written.
  // The marks are freed once, in deinit, after the decoder has freed the context.

  /// One packet of one decoder.
  struct Mark {
    private let owner: Unmanaged<DecoderPictures>
    /// Negative before the first packet.
    let packet: Int

    fileprivate init(_ pictures: DecoderPictures, packet: Int) {
      (owner, self.packet) = (Unmanaged.passUnretained(pictures), packet)
    }

    /// - Parameter opaque: The `opaque` of a decoder's context.
    init(_ opaque: UnsafeMutableRawPointer) {
      self = opaque.assumingMemoryBound(to: Mark.self).pointee
    }

    var pictures: DecoderPictures { owner.takeUnretainedValue() }
  }

  private let pictures: DecoderPictures
  private let marks: UnsafeMutablePointer<Mark>
  private let count: Int
  private var last = 0

  init(_ pictures: DecoderPictures, threads: Int) {
    self.pictures = pictures
    count = threads + 2
    marks = .allocate(capacity: count)
    marks.initialize(repeating: Mark(pictures, packet: -1), count: count)
  }

  deinit {
    marks.deallocate()
  }

  /// For a decoder that has received no packet.
  var first: UnsafeMutableRawPointer { UnsafeMutableRawPointer(marks) }

  func next(for packet: Int) -> UnsafeMutableRawPointer {
    last = (last + 1) % count
    marks[last] = Mark(pictures, packet: packet)
    return UnsafeMutableRawPointer(marks + last)
  }
}
