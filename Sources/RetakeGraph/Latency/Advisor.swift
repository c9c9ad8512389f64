import RetakeCore

/// Something that will disappoint, before it is known what helps.
struct Complaint {
  var kind: PipelineWarning.Kind
  /// The node or executor that it is about: what is still there after a change did not help.
  var subject: String
  var message: String
  var pointer: String
  /// Changes that may help, each alone.
  var candidates: [[PipelineFix]] = []
  /// What to do where none of them helps.
  var otherwise: String
}

/// Tries changes out and tells those that help.
struct Advisor {
  let pipeline: Pipeline
  let options: AnalysisOptions
  /// The most complaints whose changes are tried out; each takes a survey of the whole pipeline.
  private static let triedMax = 16

  init(pipeline: Pipeline, options: AnalysisOptions) {
    self.pipeline = pipeline
    self.options = options
  }

  func warning(_ complaint: Complaint, _ survey: PipelineSurvey) -> PipelineWarning {
    let rank = survey.complaints.firstIndex { $0.subject == complaint.subject } ?? 0
    let helping =
      rank < Self.triedMax ? complaint.candidates.filter { helps($0, complaint) } : []
    let words = helping.map { fix in fix.map(\.words).joined(separator: " and ") }
    let advice = words.isEmpty ? complaint.otherwise : words.joined(separator: ", or ")
    return PipelineWarning(
      complaint.kind, complaint.message, at: complaint.pointer,
      advice: advice.prefix(1).uppercased() + advice.dropFirst(), fixes: helping)
  }

  /// Whether the changed pipeline is valid and the complaint is gone.
  private func helps(_ fixes: [PipelineFix], _ complaint: Complaint) -> Bool {
    let changed = pipeline.applying(fixes)
    do throws(PipelineError) {
      try changed.validate()
      return try !PipelineSurvey(changed, options).complaints.contains {
        $0.kind == complaint.kind && $0.subject == complaint.subject
      }
    } catch {
      return false
    }
  }
}
