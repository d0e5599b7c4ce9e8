import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

// Initialising a datastore costs more than most of the tests that run on it. It is done once for each version, and kept.

const folder = fileURLToPath(new URL('../../../node_modules/.cache/ctl-test/', import.meta.url))

/**
 * Path of a kept image. Makes one that is missing under a name of this process, then renames it: another process that was
 * first has made the same.
 * @param {string} name
 * @param {(path: string) => unknown} make Writes the image at that path.
 */
export async function keptImage(name, make) {
  const path = join(folder, name)
  if (existsSync(path)) return path
  mkdirSync(folder, { recursive: true })
  const made = `${path}.${process.pid}`
  await make(made)
  try {
    renameSync(made, path)
  } catch (error) {
    if (!existsSync(path)) throw error
    rmSync(made, { recursive: true, force: true })
  }
  return path
}

/**
 * Path of a PostgreSQL data directory that `initdb` made with these arguments. Only whoever ran it may copy it.
 * @param {string} bin Folder of the server's programs.
 * @param {readonly string[]} args Of `initdb`, but for the directory.
 * @param {{ uid: number, gid: number } | undefined} identity
 */
export function postgresImage(bin, args, identity) {
  const version = execFileSync(join(bin, 'initdb'), ['--version'], { encoding: 'utf8' })
  const key = createHash('sha256')
    .update(JSON.stringify([version, args, identity]))
    .digest('hex')
    .slice(0, 16)
  return keptImage(`postgres-${key}`, (path) => {
    // The account of the server may not be able to reach the folder: it works where it may, and the result is moved.
    const scratch = execFileSync('mktemp', ['-d'], { encoding: 'utf8', cwd: '/', ...identity }).trim()
    execFileSync(join(bin, 'initdb'), ['-D', join(scratch, 'data'), ...args], {
      cwd: scratch,
      stdio: 'pipe',
      ...identity,
    })
    execFileSync('cp', ['-a', join(scratch, 'data'), path])
    rmSync(scratch, { recursive: true, force: true })
  })
}
