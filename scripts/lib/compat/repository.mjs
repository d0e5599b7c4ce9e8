import { spawnSync } from 'node:child_process'
import { lstatSync, statSync } from 'node:fs'
import { join } from 'node:path'

const GIT_MS = 60_000
const FILE_BYTES_MAX = 64 * 1024 * 1024

/** What a hook that runs the gate says of another repository. */
const OTHER_REPOSITORY = ['GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE']

/** A checkout, asked for commits and for files as they were. */
export function openRepository(root) {
  /** What git printed, or undefined when it said no. */
  function git(...args) {
    // A pipeline's checkout often belongs to another user than the one that runs it.
    const { status, stdout, error } = spawnSync('git', ['-c', 'safe.directory=*', ...args], {
      cwd: root,
      env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !OTHER_REPOSITORY.includes(name))),
      encoding: 'utf8',
      timeout: GIT_MS,
      maxBuffer: FILE_BYTES_MAX,
    })
    if (error) throw new Error(`git ${args[0]} failed: ${error.message}`, { cause: error })
    return status === 0 ? stdout.trimEnd() : undefined
  }

  return {
    commit: (name) => git('rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`),
    mergeBase: (a, b) => git('merge-base', a, b),
    fileAt: (commit, path) => git('show', `${commit}:${path}`),
    isLinkAt: (commit, path) => git('ls-tree', commit, '--', path)?.startsWith('120000 ') ?? false,
    /** Whether two paths of the working tree are one file. */
    isSameFile(a, b) {
      const [first, second] = [a, b].map((path) => statSync(join(root, path), { throwIfNoEntry: false }))
      return first !== undefined && second !== undefined && first.ino === second.ino && first.dev === second.dev
    },
    isLink: (path) => lstatSync(join(root, path), { throwIfNoEntry: false })?.isSymbolicLink() ?? false,
  }
}
