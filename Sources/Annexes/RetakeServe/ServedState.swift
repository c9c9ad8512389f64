import Foundation
import RetakeBuffers
import RetakeCore
import RetakeGolden
import RetakeReport
import RetakeSession
import RetakeSuite

/// The lists of the first page: the response to `state.json`.
struct ServedState: Encodable, Sendable {
  /// The most items of each kind; the others are counted.
  static let itemsMax = 200

  struct Report: Encodable, Sendable {
    var id: String
    var path: String
    var title: String?
    var generatedAt: String?
    var exitCode: Int?
    var exitWord: String?
    var counts: String?
    /// Why it cannot be shown.
    var error: String?
  }

  struct Run: Encodable, Sendable {
    var path: String
    var frames: Int?
    var decisionDigest: String?
    var error: String?
  }

  struct Session: Encodable, Sendable {
    struct Track: Encodable, Sendable {
      var track: Int
      var width: Int
      var height: Int
      var frames: Int
    }

    struct Labels: Encodable, Sendable {
      /// Frames of the labelled tracks.
      var frames = 0
      /// Without drafts.
      var labelled = 0
      var drafts = 0
      /// Why they cannot be read.
      var error: String?
    }

    var name: String
    var tracks: [Track] = []
    /// `nil` without a file of labels.
    var labels: Labels?
    var error: String?
  }

  /// A case with a result that waits for acceptance.
  struct Pending: Encodable, Sendable {
    /// `session/case`.
    var key: String
    /// The newest report that contains the case; `nil` if no report does.
    var report: String?
    /// The anchor of the case in that report.
    var anchor: String?
  }

  var project: String
  /// The name of this program in commands to type.
  var program: String
  var isCI: Bool
  var reports: [Report] = []
  var runs: [Run] = []
  var sessions: [Session] = []
  var pending: [Pending] = []
  /// The number of items that are not listed.
  var more = 0

  init(_ site: ServedSite) {
    let project = site.project
    self.project = URL(fileURLWithPath: project.folder).lastPathComponent
    program = site.options.name.word
    isCI = site.options.isCI
    let library = ReportLibrary(project: project)
    var places: [String: Pending] = [:]
    for item in library.reports.prefix(Self.itemsMax) {
      // A report that cannot be read is listed with the reason; the others are shown all the same.
      let document = Result { try ServedReports.document(of: item) }
      var report = Report(item, document)
      report.error = report.error.map(site.options.name.applied(to:))
      reports.append(report)
      Pending.add(item.id, try? document.get(), to: &places)
    }
    runs = library.runs.prefix(Self.itemsMax).map { Run($0) }
    let names = project.sessionNames
    sessions = names.prefix(Self.itemsMax).map { Session($0, project, site.folder) }
    more =
      library.reports.count - reports.count + library.runs.count - runs.count + names.count
      - sessions.count
    pending = site.pendingLibrary.pendingKeys().map { key in
      places[key.description] ?? Pending(key: key.description)
    }
  }
}

extension ServedState.Pending {
  /// Records where a report shows its cases. The first report that shows a case is kept.
  fileprivate static func add(
    _ report: String, _ document: ReportDocument?, to places: inout [String: Self]
  ) {
    for (index, item) in (document?.cases ?? []).enumerated() where places[item.title] == nil {
      places[item.title] = Self(
        key: item.title, report: report, anchor: HTMLReport.anchor(ofCase: index))
    }
  }
}

extension ServedState.Report {
  init(_ item: ReportLibrary.Item, _ document: Result<ReportDocument, any Error>) {
    id = item.id
    path = item.path
    do {
      let document = try document.get()
      title = document.title
      generatedAt = document.generatedAt
      exitCode = document.exit.code
      exitWord = document.exit.shownWord
      counts = document.counts.text
    } catch {
      let coded = error as? any CodedError
      let words = [coded?.message, coded?.advice].compactMap(\.self)
      self.error = words.isEmpty ? error.causeText : words.joined(separator: ". ")
    }
  }
}

extension ServedState.Run {
  init(_ item: ReportLibrary.Item) {
    path = item.path
    do {
      // The folder may have come from elsewhere, and a file without a bound could fill the memory.
      let data = try RegularFile.contents(
        item.folder.appending(path: "run.json").path, bytesMax: Int64(ServedReports.bytesMax))
      let summary = try JSONDecoder().decode(RunSummary.self, from: data)
      frames = summary.frames.captured
      decisionDigest = summary.decisionDigest.short
    } catch {
      self.error = "run.json cannot be read"
    }
  }
}

extension ServedState.Session {
  init(_ name: String, _ project: Project, _ folder: ServedFolder) {
    self.name = name
    do {
      let session = SessionFolder(path: "\(project.recordings)/\(name)")
      try folder.check(session: session)
      let reader = try SessionReader(opening: session.path)
      tracks = reader.tracks.map { Track($0) }
      labels = Labels(reader, project, folder)
    } catch {
      self.error = (error as? any CodedError)?.message ?? "it cannot be read"
    }
  }
}

extension ServedState.Session.Track {
  init(_ track: TrackDescription) {
    self.init(
      track: track.track, width: track.width, height: track.height, frames: track.frameCount)
  }
}

extension ServedState.Session.Labels {
  /// `nil` if the session has no file of labels.
  fileprivate init?(
    _ reader: SessionReader, _ project: Project, _ folder: ServedFolder
  ) {
    do {
      let tracks = reader.tracks
      try folder.check(labels: project.labelFolder.file(reader.folder.name))
      guard let document = try project.labels(of: reader, tracks: tracks.map(\.track)) else {
        return nil
      }
      drafts = document.frames.values.count { $0.isDraft }
      labelled = document.frames.count - drafts
      let known = Set(document.frames.keys.map(\.track))
      frames = tracks.filter { known.contains($0.track) }.reduce(0) { $0 + $1.frameCount }
    } catch {
      self.error = (error as? any CodedError)?.message ?? "they cannot be read"
    }
  }
}

/// The reports in the project.
enum ServedReports {
  /// The most bytes of a report.json.
  static let bytesMax = 256 << 20

  /// - Throws: `ReportError`, and the error that prevents the file from being read.
  static func document(of item: ReportLibrary.Item) throws -> ReportDocument {
    let file = item.folder.appending(path: "report.json")
    let data: Data
    do {
      data = try RegularFile.contents(file.path, bytesMax: Int64(bytesMax))
    } catch RegularFile.Refusal.tooLarge {
      throw ReportError.unreadable(reason: "it has more than \(ByteText.limit(bytesMax))")
    }
    return try ReportDocument(parsing: data)
  }
}
