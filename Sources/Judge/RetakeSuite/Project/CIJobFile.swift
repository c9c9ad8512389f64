import Foundation
import RetakeCore
import RetakeSession

/// The job file of a CI service: shards in parallel, and a job that merges their results.
package enum CIJobFile: String, Sendable, CaseIterable {
  case github
  case gitlab

  /// GitLab starts at most this number of jobs; GitHub starts a few more.
  package static let shardsMax = 200

  /// The place where the service looks for the file, relative to the repository.
  package var path: String {
    switch self {
    case .github: ".github/workflows/retake.yml"
    case .gitlab: ".gitlab-ci.yml"
    }
  }

  /// - Parameter path: Relative to the project's folder.
  /// - Throws: `suite.output.exists` for a file that exists, unless it is replaced;
  ///   `SuiteError.notWritable`.
  package func write(
    to path: String, in project: Project, shards: Int, replacing: Bool
  ) throws {
    try project.requireOwn(path)
    let target = project.path(path)
    guard replacing || !RegularFile.isTaken(target) else {
      throw SuiteError(
        "suite.output.exists", "a file exists here already", at: target,
        advice: "Replace it with --force, or write another file: --file FILE")
    }
    let folder = URL(fileURLWithPath: target).deletingLastPathComponent()
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    } catch {
      throw SuiteError.notWritable(path: folder.path, cause: error.systemText)
    }
    guard let file = PendingFile(for: target, ending: "") else {
      throw SuiteError.notWritable(path: target, cause: POSIXError.last.systemText)
    }
    do {
      try file.handle.write(contentsOf: Data(text(shards: shards).utf8))
      try file.finish(replacing: replacing)
    } catch {
      file.discard()
      throw SuiteError.notWritable(path: target, cause: error.systemText)
    }
  }

  package func text(shards: Int) -> String {
    switch self {
    case .github: Self.github(shards)
    case .gitlab: Self.gitlab(shards)
    }
  }

  private static func github(_ shards: Int) -> String {
    let numbers = (1...shards).map(String.init).joined(separator: ", ")
    return """
      # Written by 'retake ci init github'; docs/shards.md of Retake explains it.
      name: Retake
      on:
        push:
          branches: [main]
        pull_request:
      permissions:
        contents: read
      jobs:
        test:
          runs-on: ubuntu-latest
          container: debian:12        # the .deb depends on the FFmpeg of its Debian
          strategy:
            fail-fast: false
            matrix:
              shard: [\(numbers)]
          steps:
            - run: apt-get update && apt-get install -y git git-lfs ca-certificates
            - uses: actions/checkout@v4
              with:
                lfs: true
            - run: apt-get install -y ./tools/retake_*.deb
            - uses: actions/cache@v4
              with:
                path: .retake/cache
                key: retake-${{ matrix.shard }}-${{ github.run_id }}
                restore-keys: retake-${{ matrix.shard }}-
            - run: retake test --shard ${{ matrix.shard }}/\(shards) --blob retake-${{ matrix.shard }}.blob
              env:
                RETAKE_CACHE_KEY: ${{ secrets.RETAKE_CACHE_KEY }}
                RETAKE_PENDING_DIR: pending
            - if: always()
              uses: actions/upload-artifact@v4
              with:
                name: retake-blob-${{ matrix.shard }}
                path: |
                  retake-*.blob
                  pending
        merge:
          needs: test
          if: always()
          runs-on: ubuntu-latest
          container: debian:12
          steps:
            - run: apt-get update && apt-get install -y git ca-certificates
            - uses: actions/checkout@v4
            - run: apt-get install -y ./tools/retake_*.deb
            - uses: actions/download-artifact@v4
              with:
                pattern: retake-blob-*
                path: blobs
                merge-multiple: true
            - run: retake merge blobs/*.blob --report report
            - if: always()
              run: cat report/summary.md >> "$GITHUB_STEP_SUMMARY"
            - if: always()
              uses: actions/upload-artifact@v4
              with:
                name: retake-report
                path: |
                  report
                  blobs/pending
        comment:
          needs: merge
          # A pull request from a fork has no permission to comment.
          if: always() && github.event.pull_request.head.repo.full_name == github.repository
          runs-on: ubuntu-latest
          permissions:
            pull-requests: write
          steps:
            - uses: actions/download-artifact@v4
              with:
                name: retake-report
            - run: gh pr comment ${{ github.event.number }} --edit-last --create-if-none --body-file report/summary.md
              env:
                GH_TOKEN: ${{ github.token }}
                GH_REPO: ${{ github.repository }}

      """
  }

  private static func gitlab(_ shards: Int) -> String {
    """
    # Written by 'retake ci init gitlab'; docs/shards.md of Retake explains it.
    .retake:
      image: debian:12                # the .deb depends on the FFmpeg of its Debian
      before_script:
        - apt-get update && apt-get install -y git git-lfs ca-certificates ./tools/retake_*.deb

    retake-test:
      extends: .retake
      stage: test
      parallel: \(shards)
      variables:
        RETAKE_PENDING_DIR: pending
      cache:
        key: retake-$CI_NODE_INDEX
        paths: [.retake/cache]
        when: always
      script:
        - retake test --shard auto/\(shards) --blob retake-$CI_NODE_INDEX.blob
      retry:
        max: 1
        exit_codes: [75]              # a disk failed
      artifacts:
        when: always
        paths: ["retake-*.blob", pending]

    retake-merge:
      extends: .retake
      stage: test
      needs: [retake-test]
      when: always
      script:
        - retake merge retake-*.blob --report report
      artifacts:
        when: always
        paths: [report, pending]
        reports:
          junit: report/junit.xml
          codequality: report/codequality.json

    """
  }
}
