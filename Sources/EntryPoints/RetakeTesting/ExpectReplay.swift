import Foundation
import Retake
public import Testing

/// Replays a case and expects that its results equal the golden, within the tolerances of
/// retake.yml and golden.yml. The test needs the trait `retake`.
///
/// If they do not, it records one issue at the caller's place: the first frame and stage that
/// differ, and the commands to type next. The report's page and images of that frame are attached.
/// Outside of CI the results are pending afterwards, as after `retake test`.
///
/// ```swift
/// try await expectReplay(replay)
/// ```
///
/// - Parameters:
///   - testCase: One of `RetakeCase.all`.
///   - sourceLocation: The place of the issue.
/// - Throws: An error if the test is cancelled, for example by a time limit.
public func expectReplay(
  _ testCase: RetakeCase, sourceLocation: SourceLocation = #_sourceLocation
) async throws {
  func fail(_ text: String) {
    Issue.record(Comment(rawValue: text), sourceLocation: sourceLocation)
  }
  guard let scope = ReplayScope.current else {
    return fail("expectReplay needs a project. Write: @Suite(.retake()) or @Test(.retake())")
  }
  switch testCase.content {
  case .none(let reason): fail(reason)
  case .stale: fail(scope.hosted.staleText(testCase.testDescription))
  case .run(let selected):
    guard testCase.folder == scope.hosted.project.folder else {
      return fail(
        "\(testCase.testDescription) is a case of \(testCase.folder), and the suite's project is "
          + "\(scope.hosted.project.folder). Write the same project: in the trait and in "
          + "RetakeCase.all")
    }
    let outcome = try await scope.run(selected)
    for item in outcome.failing {
      attach(item, of: outcome.document, sourceLocation)
      fail(scope.hosted.attention(to: item, in: outcome.document))
    }
  }
}

/// Attaches the page of a case that fails, and the images of the first frame that differs.
private func attach(
  _ item: ReportCase, of document: ReportDocument, _ sourceLocation: SourceLocation
) {
  let name = "\(item.session)-\(item.name)"
  attachPage(of: document, named: "\(name)-report.html", at: sourceLocation)
  let first =
    item.rootCauses.lazy.compactMap(\.frame).first { frame in
      item.pictures.contains { $0.frame == frame }
    } ?? item.pictures.first?.frame
  for picture in item.pictures where picture.frame == first {
    guard let png = Data(base64Encoded: picture.png) else { continue }
    let frame = "frame-\(picture.frame.track)-\(picture.frame.sequence)"
    let node = picture.node.map { "-\($0)" } ?? ""
    Attachment.record(
      Array(png), named: "\(name)-\(frame)\(node)-\(picture.role.rawValue).png",
      sourceLocation: sourceLocation)
  }
}

func attachPage(
  of document: ReportDocument, named name: String, at sourceLocation: SourceLocation
) {
  do {
    Attachment.record(
      Array(try HTMLReport.render(document)), named: name, sourceLocation: sourceLocation)
  } catch {
    Issue.record("\(name) cannot be attached: \(error)", sourceLocation: sourceLocation)
  }
}
