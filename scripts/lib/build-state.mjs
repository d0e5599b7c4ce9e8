import { readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './root.mjs'

/** Written last, so that a build that was cut short does not count. */
const STAMP = 'dist/.built'
const SOURCES = ['src', 'tsconfig.json', 'tsconfig.build.json', 'package.json', 'scripts/build.mjs', 'scripts/lib']

/** The latest change under a path, in ms; folders count too, so that a deleted file is noticed. */
function newest(path) {
  const stat = statSync(path)
  if (!stat.isDirectory()) return stat.mtimeMs
  return readdirSync(path).reduce((latest, name) => Math.max(latest, newest(join(path, name))), stat.mtimeMs)
}

/** Whether dist was built from the sources as they are. */
export function isBuildCurrent() {
  const stamp = statSync(join(root, STAMP), { throwIfNoEntry: false })
  return stamp !== undefined && SOURCES.every((source) => newest(join(root, source)) <= stamp.mtimeMs)
}

/** Marks a build as whole, as of the instant it began: a source saved meanwhile makes it stale. */
export function stampBuild(directory, startedAt) {
  const stamp = join(directory, '.built')
  writeFileSync(stamp, `${startedAt.toISOString()}\n`)
  utimesSync(stamp, startedAt, startedAt)
}
