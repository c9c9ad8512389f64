import RetakeCore
import RetakeStore

/// What the doctor writes down, up to a bound.
struct DoctorNotes {
  let folder: SessionFolder
  private(set) var findings: [SessionFinding] = []
  private(set) var omitted = 0
  var packetsChecked = 0
  var framesChecked = 0

  init(folder: SessionFolder) {
    self.folder = folder
  }

  mutating func add(_ finding: SessionFinding) {
    if findings.count < SessionDoctor.findingCount {
      findings.append(finding)
    } else {
      omitted += 1
    }
  }

  mutating func add(
    _ severity: SessionFinding.Severity, _ topic: String, _ message: String, file: String? = nil,
    track: Int? = nil, packet: Int? = nil, frame: FrameID? = nil, advice: String? = nil
  ) {
    add(
      SessionFinding(
        code: "session.doctor.\(topic)", severity: severity, message: message, file: file,
        track: track, packet: packet, frame: frame, advice: advice))
  }

  mutating func add(
    _ severity: SessionFinding.Severity, _ topic: String, _ error: any CodedError,
    file: String? = nil
  ) {
    let cause = error.cause.map { " (\($0))" } ?? ""
    add(
      severity, topic, error.message + cause, file: file ?? error.place?.file,
      frame: error.place?.frame, advice: error.advice)
  }

  mutating func add(_ complaint: StoreReader.Complaint) {
    let advice = "Import the media again; the media itself is checked apart from the database"
    add(
      .error, complaint.kind.rawValue, complaint.text, file: "session.sqlite", advice: advice)
  }

  func diagnosis(status: SessionStatus?) -> SessionDiagnosis {
    SessionDiagnosis(
      path: folder.path, status: status, findings: findings, omitted: omitted,
      packetsChecked: packetsChecked, framesChecked: framesChecked)
  }
}
