import Foundation
import RetakeCore
import RetakeMedia

/// A request to decode a picture, as a line.
struct PictureRequest: Hashable {
  var id: FrameID
  var picture: FrameRun.Picture
  /// The packet at which a new decoder begins; `nil` continues with the decoder of the request
  /// before.
  var start: Int?
  var threads: Int
  /// The slots whose pictures are not used any more.
  var released: [Int] = []

  init(id: FrameID, picture: FrameRun.Picture, start: Int?, threads: Int) {
    (self.id, self.picture, self.start, self.threads) = (id, picture, start, threads)
  }

  var text: String {
    let numbers = [
      id.track, id.sequence, picture.packet, picture.shown, picture.entry, threads, start ?? -1,
    ]
    return (numbers + released).map(String.init).joined(separator: " ")
  }

  /// - Returns: `nil` unless the text is a request.
  init?(text: String) {
    let numbers = text.split(separator: " ").compactMap { Int($0) }
    guard numbers.count >= 7 else { return nil }
    id = FrameID(track: numbers[0], sequence: numbers[1])
    picture = FrameRun.Picture(packet: numbers[2], shown: numbers[3], entry: numbers[4])
    threads = numbers[5]
    start = numbers[6] < 0 ? nil : numbers[6]
    released = Array(numbers[7...])
  }
}

/// The answer to a request, as a line.
enum PictureAnswer {
  /// In the shared memory: in a slot until it is released, or else until the next request.
  case picture(SharedPicture, slot: Int?, RunPosition)
  /// The decoder received all packets of the picture and did not return it.
  case noPicture(RunPosition)
  case failure(PictureFailure)

  var line: String {
    switch self {
    case .picture(let picture, let slot, let position):
      return "picture;\(slot ?? -1);\(position.text);\(picture.text)"
    case .noPicture(let position): return "none;\(position.text)"
    case .failure(let failure):
      let json = (try? JSONEncoder().encode(failure)).map { String(decoding: $0, as: UTF8.self) }
      return "failure;\(json ?? "")"
    }
  }

  /// - Returns: `nil` unless the line is an answer.
  init?(line: String) {
    let parts = line.split(separator: ";", maxSplits: 3, omittingEmptySubsequences: false)
    switch parts.first {
    case "picture" where parts.count == 4:
      guard let slot = Int(parts[1]), let position = RunPosition(text: parts[2]),
        let picture = SharedPicture(text: parts[3])
      else { return nil }
      self = .picture(picture, slot: slot < 0 ? nil : slot, position)
    case "none" where parts.count == 2:
      guard let position = RunPosition(text: parts[1]) else { return nil }
      self = .noPicture(position)
    case "failure":
      let json = Data(line.utf8.dropFirst("failure;".utf8.count))
      guard let failure = try? JSONDecoder().decode(PictureFailure.self, from: json) else {
        return nil
      }
      self = .failure(failure)
    default: return nil
    }
  }
}

/// An error of a decoder in another process. The error that a reader handles keeps its type; of
/// other errors, all facts are kept.
struct PictureFailure: Codable {
  private struct Mismatch: Codable {
    var file: String
    var track: Int
    var packet: Int
    var frame: FrameID?
    var cause: String
  }

  private var mismatch: Mismatch?
  private var code: String
  private var message: String
  private var cause: String?
  private var place: Place?
  private var advice: String?
  private var isAboutMemory: Bool

  init(_ error: any Error) {
    if case SessionError.mediaMismatch(let file, let track, let packet, let frame, let cause) =
      error
    {
      mismatch = Mismatch(file: file, track: track, packet: packet, frame: frame, cause: cause)
    }
    let facts = error.facts
    (code, message, cause) = (facts.code, facts.message, facts.cause)
    (place, advice, isAboutMemory) = (facts.place, facts.advice, error.isAboutMemory)
  }

  var error: any Error {
    if let mismatch {
      return SessionError.mediaMismatch(
        file: mismatch.file, track: mismatch.track, packet: mismatch.packet, frame: mismatch.frame,
        cause: mismatch.cause)
    }
    return ErrorFacts(
      code, message, cause: cause, place: place, advice: advice,
      kind: isAboutMemory ? .memory : .error)
  }
}
