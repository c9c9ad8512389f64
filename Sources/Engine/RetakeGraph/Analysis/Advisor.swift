import RetakeCore

/// Tries changes and reports the changes that help.
struct Advisor {
  let pipeline: Pipeline
  let options: AnalysisOptions
  /// The largest number of complaints whose changes are tried. Each trial surveys the pipeline
  /// again.
  private static let triedMax = 16

  func warning(_ complaint: Complaint, _ survey: PipelineSurvey) -> PipelineWarning {
    let rank = survey.complaints.firstIndex { $0.subject == complaint.subject } ?? 0
    let helping =
      rank < Self.triedMax ? complaint.candidates.filter { helps($0, complaint) } : []
    let words = helping.map { fix in fix.map { $0.words(for: pipeline) }.joined(separator: " and ")
    }
    let advice = words.isEmpty ? complaint.otherwise : words.joined(separator: ", or ")
    return PipelineWarning(
      complaint.kind, complaint.message, at: complaint.pointer,
      advice: advice.prefix(1).uppercased() + advice.dropFirst(), fixes: helping)
  }

  /// Whether the changed pipeline is valid and the complaint is gone.
  private func helps(_ fixes: [PipelineFix], _ complaint: Complaint) -> Bool {
    // Only this complaint has to be gone. The change may cause another one, such as a join whose
    // parts lose their partners, and the next check reports it.
    let changed = pipeline.applying(fixes)
    do {
      try changed.validate()
      return try !PipelineSurvey(changed, options).complaints.contains {
        $0.kind == complaint.kind && $0.subject == complaint.subject
      }
    } catch {
      // A change that makes the pipeline invalid, such as too many slots, is not proposed.
      return false
    }
  }
}
