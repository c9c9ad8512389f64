import RetakeCore
import RetakeStore

/// Collects the check's findings, up to a bound.
struct CheckNotes {
  let folder: SessionFolder
  private(set) var findings: [SessionFinding] = []
  private(set) var omitted = 0
  private(set) var hasErrors = false
  var packetsChecked = 0
  var framesChecked = 0
  var damagedFrames = 0

  init(folder: SessionFolder) {
    self.folder = folder
  }

  /// Advice for data that can be rebuilt from the media.
  var rebuildAdvice: String {
    "Rebuild the index from the media: retake session recover \(folder.path.shellWord) --from-media"
  }

  mutating func add(_ finding: SessionFinding) {
    // Counted even if the finding is omitted below: the verdict must not depend on the bound.
    if finding.severity == .error { hasErrors = true }
    if findings.count < SessionCheck.findingCount {
      findings.append(finding)
    } else {
      omitted += 1
    }
  }

  mutating func add(
    _ severity: SessionFinding.Severity, _ topic: String, _ message: String, file: String? = nil,
    table: String? = nil, track: Int? = nil, packet: Int? = nil, frame: FrameID? = nil,
    frames: ClosedRange<FrameID>? = nil, advice: String? = nil
  ) {
    add(
      SessionFinding(
        code: "session.check.\(topic)", severity: severity, message: message, file: file,
        table: table, track: track, packet: packet, frame: frame ?? frames?.lowerBound,
        lastFrame: frames?.upperBound, advice: advice))
  }

  mutating func add(
    _ severity: SessionFinding.Severity, _ topic: String, _ error: any CodedError,
    file: String? = nil, advice: String? = nil
  ) {
    let cause = error.cause.map { " (\($0))" } ?? ""
    add(
      severity, topic, error.message + cause, file: file ?? error.place?.file,
      frame: error.place?.frame, advice: advice ?? error.advice)
  }

  mutating func add(_ complaint: StoreReader.Complaint) {
    let (table, key) = (complaint.table, complaint.key)
    let isPacket = table == "packet" && key.count == 2
    let isFrame = table == "frame" && key.count == 2
    add(
      // docs/sessions.md: errors end with 2, and a row whose checksum alone is damaged may be used.
      complaint.kind == .check ? .warning : .error, complaint.kind.rawValue, complaint.text,
      file: "session.sqlite", table: table, track: isPacket || isFrame ? key[0] : nil,
      packet: isPacket ? key[1] : nil,
      frame: isFrame ? FrameID(track: key[0], sequence: key[1]) : nil, advice: advice(for: table))
  }

  /// Tables that cannot be rebuilt from the media.
  private static let unique: Set<String> = [
    "event", "run", "node", "span", "external_event", "decision", "result", "sensor",
    "sample",
  ]

  private func advice(for table: String?) -> String {
    guard let table, Self.unique.contains(table) else { return rebuildAdvice }
    let isSensor = ["sensor", "sample"].contains(table)
    let start =
      isSensor
      ? "Put a copy of session.sqlite back, import the file again, or"
      : "The media does not hold the \(table)s. Put a copy of session.sqlite back, or"
    return start + " keep the intact data, without the times of arrival: "
      + "retake session recover \(folder.path.shellWord) --from-media"
  }

  func diagnosis(status: SessionStatus?) -> SessionDiagnosis {
    SessionDiagnosis(
      path: folder.path, status: status, findings: findings, omitted: omitted,
      packetsChecked: packetsChecked, framesChecked: framesChecked, damagedFrames: damagedFrames,
      isHealthy: !hasErrors)
  }
}
