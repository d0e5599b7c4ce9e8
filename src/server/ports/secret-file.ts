import { closeSync, constants, fsyncSync, linkSync, mkdirSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** Ends the name of a temporary file: nothing that an operator would call a key that is kept, such as `master.key.20261128`. */
const STAGED = '.partial'

/** Neither follows a symbolic link nor overwrites a file. */
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW

/**
 * Creates a file of mode 0600 and syncs its content to disk. The entry in its directory is synced by `syncDirectory`.
 *
 * @throws the system's error, with `EEXIST` where there is a file or a link of that name.
 */
export function writeSecretFile(path: string, text: string): void {
  const file = openSync(path, NEW_FILE, 0o600)
  try {
    writeSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/**
 * Creates a file of mode 0600 that is complete or absent, on disk before it returns: a temporary file is written and then
 * linked. Makes its directory where there is none.
 *
 * @throws the system's error, with `EEXIST` where there is a file of that name, which stays.
 */
export function placeSecretFile(path: string, text: string): void {
  const staging = `${path}.${process.pid}${STAGED}`
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  removeStaging(path)
  try {
    writeSecretFile(staging, text)
    linkSync(staging, path)
  } finally {
    rmSync(staging, { force: true })
  }
  syncDirectory(dirname(path))
}

/** Removes the temporary files of processes that were killed: they hold a secret, perhaps the one in use. */
export function removeStaging(path: string): void {
  const prefix = `${basename(path)}.`
  const left = readdirSync(dirname(path)).filter(
    (name) => name.startsWith(prefix) && /^\d+\.partial$/.test(name.slice(prefix.length)),
  )
  for (const name of left) rmSync(join(dirname(path), name), { force: true })
}

/** Syncs the entries of a directory, so that a file created in it survives a power loss. */
export function syncDirectory(path: string): void {
  const directory = openSync(path, constants.O_RDONLY)
  try {
    fsyncSync(directory)
  } finally {
    closeSync(directory)
  }
}
