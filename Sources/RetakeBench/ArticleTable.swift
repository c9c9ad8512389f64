/// What one of the three articles that Retake follows states, next to Retake's figures.
package struct ArticleTable: Sendable, Encodable {
  package enum Article: String, CaseIterable, Sendable, Encodable {
    /// On declarative camera pipelines.
    case pipelines
    /// On the predictive allocation of frames.
    case allocation
    /// On double-buffered previews.
    case preview

    var title: String {
      switch self {
      case .pipelines: "Declarative camera pipelines"
      case .allocation: "Predictive allocation of frames"
      case .preview: "Double-buffered previews"
      }
    }

    /// How the trials of heat number the articles.
    fileprivate var number: Int {
      switch self {
      case .pipelines: 1
      case .allocation: 2
      case .preview: 3
      }
    }
  }

  package struct Row: Sendable, Encodable {
    package var statement: String
    package var article: String
    package var here: String

    init(_ row: (statement: String, article: String, here: String)) {
      (statement, article, here) = row
    }
  }

  package var article: Article
  package var rows: [Row]

  /// Runs the trials of an article, in virtual time: the same on every machine.
  ///
  /// - Throws: What a trial throws.
  package init(_ article: Article) throws {
    self.article = article
    let own: [(statement: String, article: String, here: String)] =
      switch article {
      case .pipelines: []
      case .allocation: try AllocationArticle.rows()
      case .preview: try PreviewArticle.rows()
      }
    let heat = try HeatFigures.rows().filter { $0.of == article.number }
    rows = own.map { Row($0) } + heat.map { Row(($0.statement, $0.article, $0.here)) }
  }

  /// A heading, and three lines for each statement: it, the article's figure, Retake's figure.
  package var text: String {
    let blocks = rows.map { row in
      "\(row.statement)\n  article  \(row.article)\n  Retake   \(row.here)"
    }
    return ([article.title] + blocks).joined(separator: "\n\n")
  }
}
