import RetakeBench

/// The statement of an article in words, its figure, and the figure of Retake's trials.
typealias ArticleStatement = (statement: String, article: String, here: String)

/// The statements of one of the three articles that Retake follows, next to Retake's figures.
struct ArticleTable: Sendable, Encodable {
  enum Article: String, CaseIterable, Sendable, Encodable {
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

  struct Row: Sendable, Encodable {
    var statement: String
    var article: String
    var here: String

    fileprivate init(_ row: ArticleStatement) {
      (statement, article, here) = row
    }
  }

  var article: Article
  var rows: [Row]

  /// Runs the trials of articles, in virtual time: the same on every machine.
  ///
  /// - Throws: The error of a trial.
  static func tables(of articles: [Article]) throws -> [ArticleTable] {
    // Each article has statements about heat, and their trials are the same.
    let heat = try HeatTable().statements
    return try articles.map { article in
      let own: [ArticleStatement] =
        switch article {
        case .pipelines: []
        case .allocation: try AllocationArticle.rows()
        case .preview: try PreviewArticle.rows()
        }
      let hot = heat.filter { $0.of == article.number }.map { ($0.statement, $0.article, $0.here) }
      return ArticleTable(article: article, rows: (own + hot).map { Row($0) })
    }
  }

  /// A heading, and three lines for each statement: it, the article's figure, Retake's figure.
  var text: String {
    let blocks = rows.map { row in
      "\(row.statement)\n  article  \(row.article)\n  Retake   \(row.here)"
    }
    return ([article.title] + blocks).joined(separator: "\n\n")
  }
}
