package import Foundation
package import RetakeCore

/// The content of a report as one JSON document. Every other form is made from it.
///
/// Its schema is `docs/formats/report.schema.json`. Nothing in here reads a clock, a file or a run:
/// the caller fills in the document, and the renderers are pure functions of it.
package struct ReportDocument: Hashable, Sendable, Codable {
  package var v = 1
  package var tool: ReportTool
  /// The name of the run, such as `retake test` or the suite's name.
  package var title: String
  /// Wall-clock time as an ISO 8601 string, from the caller; absent where results must not vary.
  package var generatedAt: String?
  package var exit: ReportExit
  package var counts = VerdictCounts()
  package var totals = ReportTotals()
  package var environment: [EnvironmentRow] = []
  package var cases: [ReportCase]
  /// Errors that do not belong to a single case.
  package var errors: [ReportProblem] = []
  package var notes: [String] = []
  /// Commands to type next, in order.
  package var commands: [ReportCommand] = []

  /// Counts the verdicts and the frames of `cases`. The meaning of exit code 0 names cases that
  /// differ as expected.
  package init(tool: ReportTool, title: String, exit: ReportExit, cases: [ReportCase]) {
    self.tool = tool
    self.title = title
    self.exit = exit
    self.cases = cases
    for item in cases { counts.count(item) }
    if exit == ReportExit(code: exit.code) {
      self.exit = ReportExit(code: exit.code, expected: counts.expected)
    }
    totals.cases = cases.count
    totals.frames = cases.reduce(0) { $0 + $1.counts.compared }
  }

  /// The document as JSON: keys in byte order, no white space, one newline at the end.
  ///
  /// Numbers that JSON cannot represent are written as "NaN", "Infinity" and "-Infinity".
  package func encoded() throws -> Data { try Self.encoder.encode(self) + [0x0A] }

  static var encoder: JSONEncoder {
    let encoder = JSONEncoder()
    // Unsorted, Foundation writes keys in the order of a Dictionary, which differs from process to
    // process.
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // JSON has no NaN or infinity (RFC 8259, section 6). By default the encoder throws, and a
    // single such number would prevent the report.
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
    return encoder
  }

  static var decoder: JSONDecoder {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
    return decoder
  }

  /// Reads a document that `encoded()` wrote.
  ///
  /// - Throws: `ReportError.newerVersion`; `report.document.otherBuild` for a report of this version
  ///   that names the build that wrote it; otherwise `.unreadable`, for a report with the decoder's
  ///   reason.
  package init(parsing data: Data) throws {
    struct Anything: Decodable {}
    struct Version: Decodable {
      var v: Int
      var tool: ReportTool?
      /// Every report has one, unlike the other documents with a version, such as plans.
      var title: Anything?
    }
    let decoder = Self.decoder
    do {
      // The version first: a newer document may fail for any key, and the version says more than
      // the key.
      let version = try decoder.decode(Version.self, from: data)
      guard version.v <= 1 else { throw ReportError.newerVersion(version.v) }
      guard version.title != nil else {
        throw ReportError.unreadable(reason: "it is another kind of document")
      }
      do {
        self = try decoder.decode(ReportDocument.self, from: data)
      } catch {
        // Only after a failure, because it parses the document twice more.
        if let older = OlderReport.completed(data),
          let document = try? decoder.decode(ReportDocument.self, from: older)
        {
          self = document
        } else if let tool = version.tool {
          throw ReportError(
            "report.document.otherBuild",
            "the report was written by another build (\(tool.name) \(tool.version)), and this one "
              + "cannot read it",
            cause: error.causeText,
            advice: "Open its report.html from disk, or make the report again: "
              + "retake test --report report")
        } else {
          throw error
        }
      }
    } catch let error as ReportError {
      throw error
    } catch {
      throw ReportError.unreadable(reason: error.causeText)
    }
  }
}

/// The size and the speed of the run.
package struct ReportTotals: Hashable, Sendable, Codable {
  package var cases = 0
  /// Frames that were compared.
  package var frames = 0
  package var wallSeconds: Double?
  package var framesPerSecond: Double?
  /// The use of the cache by all cases together; absent if no cache was used.
  package var cache: ReportCache?

  package init() {}
}

/// How a run used the cache of earlier results.
package struct ReportCache: Hashable, Sendable, Codable {
  /// Values that did not have to be computed, or frames that did not have to be decoded.
  package var known: Int
  package var computed: Int
  /// Damaged records and damaged files; their values were computed again.
  package var damaged: Int
  package var keptBytes: Int
  /// Files that were written on another machine and not used; absent if there was no such file.
  package var foreign: Int?
  /// Why not all values could be stored.
  package var failure: String?

  package init(
    known: Int, computed: Int, damaged: Int, keptBytes: Int, foreign: Int? = nil,
    failure: String? = nil
  ) {
    self.known = known
    self.computed = computed
    self.damaged = damaged
    self.keptBytes = keptBytes
    self.foreign = foreign
    self.failure = failure
  }

  package init(_ use: RunSummary.CacheUse) {
    self.init(
      known: use.known, computed: use.computed, damaged: use.damaged, keptBytes: use.bytesWritten,
      foreign: use.foreign, failure: use.failure)
  }

  /// The sum over several runs.
  package static func + (first: ReportCache, second: ReportCache) -> ReportCache {
    ReportCache(
      known: first.known + second.known, computed: first.computed + second.computed,
      damaged: first.damaged + second.damaged, keptBytes: first.keptBytes + second.keptBytes,
      // `nil` if no run has such files, so that the member is absent; 0 would be written.
      foreign: [first.foreign, second.foreign].compactMap(\.self).reduce(nil) { ($0 ?? 0) + $1 },
      failure: first.failure ?? second.failure)
  }

  /// For people: `120 values came from it, 3 computed, 1.2 MB kept`.
  package var text: String {
    // After the word "cache".
    var parts =
      known == 0
      ? ["no value came from it", Wording.count(computed, "value") + " computed"]
      : [
        Wording.count(known, "value") + " came from it",
        (computed == 0 ? "0" : Wording.grouped(computed)) + " computed",
      ]
    if keptBytes > 0 { parts.append("\(ByteText.of(keptBytes)) kept") }
    if damaged > 0 { parts.append("\(Wording.grouped(damaged)) damaged and computed again") }
    if let foreign {
      let files = foreign == 1 ? "1 file" : "\(Wording.grouped(foreign)) files"
      parts.append(
        "\(files) made elsewhere: not used (RETAKE_CACHE_KEY shares a cache between machines)")
    }
    if let failure {
      parts.append("\(keptBytes > 0 ? "not all" : "nothing") could be kept (\(failure))")
    }
    return parts.joined(separator: ", ")
  }
}
