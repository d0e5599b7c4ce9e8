import { closeSync, constants, fsyncSync, openSync, writeSync } from 'node:fs'

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

/** Syncs the entries of a directory, so that a file created in it survives a power loss. */
export function syncDirectory(path: string): void {
  const directory = openSync(path, constants.O_RDONLY)
  try {
    fsyncSync(directory)
  } finally {
    closeSync(directory)
  }
}
