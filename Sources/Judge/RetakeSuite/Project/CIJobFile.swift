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

  /// The facts of a project on which the file depends.
  private struct Setting {
    var shards: Int
    /// The project's folder in its repository; empty for the repository's own folder.
    var place: String
    /// The branch whose pushes are tested.
    var branch: String
    /// Whether rclone fetches the sessions.
    var usesRclone: Bool

    /// Before a path that the service resolves in the repository.
    var prefix: String { place.isEmpty ? "" : place + "/" }
    var packages: String { "git git-lfs ca-certificates" + (usesRclone ? " rclone" : "") }
    var cached: [String] {
      [".retake/cache"] + (usesRclone ? [".retake/sessions"] : [])
    }
  }

  /// Writes the file where the service looks for it, or to another place.
  ///
  /// - Parameter path: Relative to the project's folder; the service's own place if `nil`.
  /// - Returns: The file's path, relative to the project's folder.
  /// - Throws: `SuiteError` without retake.yml; `suite.ci.place` for a folder whose name a job file
  ///   cannot have; `suite.output.exists` for a file that exists, unless it is replaced;
  ///   `SuiteError.notWritable`.
  package func write(
    to path: String?, in project: Project, shards: Int, replacing: Bool
  ) throws -> String {
    guard project.hasFile else {
      throw SuiteError(
        "suite.project.none", "this folder has no \(Project.fileName)", at: project.folder,
        advice: "Make a project: retake init")
    }
    let text = text(try setting(project, shards: shards))
    if let path {
      try write(text, to: path, in: project, replacing: replacing)
      return path
    }
    // The service reads the file in the top folder of the repository alone.
    let owner = project.repository.map { Project(folder: $0) } ?? project
    try write(text, to: self.path, in: owner, replacing: replacing)
    let depth = project.placeInRepository.split(separator: "/").count
    return String(repeating: "../", count: depth) + self.path
  }

  private func setting(_ project: Project, shards: Int) throws -> Setting {
    let place = project.placeInRepository
    let isPlain = place.utf8.allSatisfy {
      UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0
        || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || "._-/".utf8.contains($0)
    }
    guard isPlain, !place.hasPrefix("-") else {
      throw SuiteError(
        "suite.ci.place", "a job file cannot name the folder '\(place)' of this project",
        cause: "only letters, digits, '.', '_' and '-' mean themselves in every line of the file",
        advice: "Rename the folder, or move the project to the top level of its repository")
    }
    return Setting(
      shards: shards, place: place, branch: self == .github ? try Self.branch(of: project) : "",
      usesRclone: project.usesRclone)
  }

  /// The default branch of origin, else the current branch.
  private static func branch(of project: Project) throws -> String {
    let git = Git(folder: project.folder, project.store.isInterrupted)
    let origin = "refs/remotes/origin/"
    for (name, prefix) in [(origin + "HEAD", origin), ("HEAD", "refs/heads/")] {
      let result = try git.call(["symbolic-ref", "--quiet", name], "HEAD")
      if result.status == 0, let line = result.lines.first(where: { $0.hasPrefix(prefix) }) {
        return String(line.dropFirst(prefix.count))
      }
    }
    return "main"
  }

  private func write(
    _ text: String, to path: String, in owner: Project, replacing: Bool
  ) throws {
    try owner.requireOwn(path)
    let target = owner.path(path)
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
      try file.handle.write(contentsOf: Data(text.utf8))
      try file.finish(replacing: replacing)
    } catch {
      file.discard()
      throw SuiteError.notWritable(path: target, cause: error.systemText)
    }
  }

  private func text(_ setting: Setting) -> String {
    switch self {
    case .github: Self.github(setting)
    case .gitlab: Self.gitlab(setting)
    }
  }

  private static func github(_ setting: Setting) -> String {
    let (shards, prefix) = (setting.shards, setting.prefix)
    let numbers = (1...shards).map(String.init).joined(separator: ", ")
    // In a filter of branches, '+' repeats the character before it.
    let branch = JSONValue.string(setting.branch.replacing("+", with: "\\+")).canonicalText
    let folder = prefix.isEmpty ? "" : "\n        working-directory: \"\(setting.place)\""
    let cached = setting.cached.map { "\n            \(prefix)\($0)" }.joined()
    let access =
      setting.usesRclone
      ? "\n          # And the variables of the store: docs/stores.md of Retake." : ""
    return """
      # Written by 'retake ci init github'; docs/shards.md of Retake explains it.
      name: Retake
      on:
        push:
          branches: [\(branch)]
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
            - run: apt-get update && apt-get install -y \(setting.packages)
            - uses: actions/checkout@v4
              with:
                lfs: true
            - run: apt-get install -y ./\(prefix)tools/retake_*.deb
            - uses: actions/cache@v4
              with:
                path: |\(cached)
                key: retake-${{ matrix.shard }}-${{ github.run_id }}
                restore-keys: retake-${{ matrix.shard }}-
            - run: retake test --shard ${{ matrix.shard }}/\(shards) --blob retake-${{ matrix.shard }}.blob\(folder)
              env:
                # Without this secret, a job does not use the cache of another job.
                RETAKE_CACHE_KEY: ${{ secrets.RETAKE_CACHE_KEY }}
                RETAKE_PENDING_DIR: pending\(access)
            - if: always()
              uses: actions/upload-artifact@v4
              with:
                name: retake-blob-${{ matrix.shard }}
                overwrite: true       # "Re-run failed jobs" uploads it again
                path: |
                  \(prefix)retake-*.blob
                  \(prefix)pending
        merge:
          needs: test
          if: always()
          runs-on: ubuntu-latest
          container: debian:12
          steps:
            - run: apt-get update && apt-get install -y git ca-certificates
            - uses: actions/checkout@v4
            - run: apt-get install -y ./\(prefix)tools/retake_*.deb
            - uses: actions/download-artifact@v4
              with:
                pattern: retake-blob-*
                path: "\(prefix.isEmpty ? "." : setting.place)"
                merge-multiple: true
            - run: retake merge retake-*.blob --report report\(folder)
            # A merge that is refused writes no report.
            - if: always()
              run: if [ -f report/summary.md ]; then cat report/summary.md >> "$GITHUB_STEP_SUMMARY"; fi\(folder)
            - if: always()
              uses: actions/upload-artifact@v4
              with:
                name: retake-report
                overwrite: true
                path: |
                  \(prefix)report
                  \(prefix)pending
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
                pattern: retake-report      # unlike a name, it may match nothing
                merge-multiple: true
            # Replaces the comment of an earlier run of this job file, and no other comment.
            - run: |
                set -o pipefail
                [ -f report/summary.md ] || exit 0
                mark='\(Self.mark(setting))'
                printf '\\n%s\\n' "$mark" >> report/summary.md
                id=$(gh api --paginate "repos/$GH_REPO/issues/${{ github.event.number }}/comments" --jq ".[] | select(.user.type == \\"Bot\\" and (.body | contains(\\"$mark\\"))) | .id" | tail -n 1)
                if [ -n "$id" ]; then
                  gh api --silent --method PATCH "repos/$GH_REPO/issues/comments/$id" -F body=@report/summary.md
                else
                  gh pr comment ${{ github.event.number }} --body-file report/summary.md
                fi
              env:
                GH_TOKEN: ${{ github.token }}
                GH_REPO: ${{ github.repository }}

      """
  }

  /// The end of a comment, which is not visible in it. Only bots write it: anyone can put it into a
  /// comment of a pull request.
  private static func mark(_ setting: Setting) -> String {
    "<!-- retake ci \(setting.place.isEmpty ? "." : setting.place) -->"
  }

  private static func gitlab(_ setting: Setting) -> String {
    let prefix = setting.prefix
    let enter = prefix.isEmpty ? "" : "\n    - cd \(setting.place)"
    let cached = setting.cached.map { prefix + $0 }.joined(separator: ", ")
    let access =
      setting.usesRclone ? "\n    # And the variables of the store: docs/stores.md of Retake." : ""
    return """
      # Written by 'retake ci init gitlab'; docs/shards.md of Retake explains it.
      .retake:
        image: debian:12                # the .deb depends on the FFmpeg of its Debian
        before_script:
          - apt-get update && apt-get install -y \(setting.packages) ./\(prefix)tools/retake_*.deb

      retake-test:
        extends: .retake
        stage: test
        parallel: \(setting.shards)
        variables:
          # Set RETAKE_CACHE_KEY as a variable of the project in GitLab, masked. Without it, a job
          # does not use the cache of another job.\(access)
          RETAKE_PENDING_DIR: pending
        cache:
          key: retake-$CI_NODE_INDEX
          paths: [\(cached)]
          when: always
        script:\(enter)
          - retake test --shard auto/\(setting.shards) --blob retake-$CI_NODE_INDEX.blob
        retry:
          max: 1
          exit_codes: [75]              # a disk failed
        artifacts:
          when: always
          paths: ["\(prefix)retake-*.blob", \(prefix)pending]

      retake-merge:
        extends: .retake
        stage: test
        needs: [retake-test]
        when: always
        script:\(enter)
          - retake merge retake-*.blob --report report
        artifacts:
          when: always
          paths: [\(prefix)report, \(prefix)pending]
          reports:
            junit: \(prefix)report/junit.xml
            codequality: \(prefix)report/codequality.json

      """
  }
}
