import Mustache
package import RetakeCore

/// The report as one HTML file that opens from disk and makes no network requests.
///
/// Verdicts, root causes, graphs and commands are plain HTML. The page's own script creates the
/// frame inspector, the timeline and the tables of findings from the embedded document. The page
/// allows only one script and one style, each identified by its hash.
package enum HTMLReport {
  /// Additional properties of a page that a server with access to the sessions serves.
  package struct Served: Hashable, Sendable {
    /// The address of the server's first page without the host: `/TOKEN/`.
    package var root: String
    /// Whether the page may request an acceptance.
    package var canAccept: Bool
    /// The name of the server's program in commands to type.
    package var program: String

    package init(root: String, canAccept: Bool, program: ProgramName = .retake) {
      self.root = root
      self.canAccept = canAccept
      self.program = program.word
    }
  }

  /// The page as UTF-8 bytes.
  ///
  /// - Parameter served: `nil` for a page that opens from disk and makes no requests.
  /// - Throws: `ReportError.template` if the program's own resources are damaged.
  package static func render(
    _ document: ReportDocument, served: Served? = nil
  ) throws -> [UInt8] {
    let data = PageData(document)
    do {
      let json = try data.embedded()
      let context = PageContext(data: data, json: json, served: served).values
      return Array(try template.get().render(context).utf8)
    } catch {
      throw ReportError.template(reason: "\(error)")
    }
  }

  /// SHA-256 of the style and the script as they are in the page, in base64.
  ///
  /// A test computes them again and prints the new values after a change.
  static let styleHash = "9JUWOC9eBouS8CgJryfadBgdB5w2Op4JquozPkasnsI="
  static let scriptHash = "nkO+CxGHVFUhppxPH9TvLDbeniExd5ttnPdjGB+Oapg="

  /// The policy of a served page: the page's own policy, and no page may embed it in a frame.
  package static let servedPolicy =
    "default-src 'none'; img-src data: 'self'; connect-src 'self'; "
    + "style-src 'sha256-\(styleHash)'; script-src 'sha256-\(scriptHash)'; base-uri 'none'; "
    // Browsers ignore `frame-ancestors` in a meta element (Content Security Policy Level 3), so
    // only a served page, whose policy is also a header, can have it.
    + "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
    + "trusted-types 'none'"

  /// The anchor of a document's case on the page: the part of the address after `#`.
  package static func anchor(ofCase index: Int) -> String { "case-\(index + 1)" }

  package static let style = EmbeddedResources.pageCSS
  static let script = EmbeddedResources.pageJS

  private static let template = Result<MustacheTemplate, any Error> {
    // Before parsing: the template names this content type in its first line.
    MustacheContentTypes.register(PageText(), named: "RETAKE")
    return try MustacheTemplate(string: EmbeddedResources.pageMustache)
  }
}

/// Escapes by Unicode scalars. Mustache's own escape works on characters, and misses a quote that
/// is followed by a combining mark.
private struct PageText: MustacheContentType {
  /// The most characters of one string; labels can come from anywhere.
  private static let lengthMax = 2000

  func escapeText(_ text: String) -> String {
    MarkupText.escaped(
      // A string has at least as many bytes as characters, and counting bytes is cheap.
      text.utf8.count > Self.lengthMax ? text.visible(limit: Self.lengthMax) : text)
  }
}
