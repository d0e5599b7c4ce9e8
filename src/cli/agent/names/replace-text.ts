import { type FileHandle, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises'
import { CliError } from '../../errors/cli-error.ts'
import { EXIT } from '../../errors/exit-code.ts'
import { reasonOf, systemCode } from '../errors.ts'

/** Another program may change the file between reading and writing; then the edit is made again. */
const ATTEMPTS = 5

/** A mount point cannot be renamed over, and some folders take no new file though the file itself can be written. */
const IN_PLACE = new Set(['EBUSY', 'EXDEV', 'EROFS', 'EACCES', 'EPERM'])

/**
 * Changes a text file of the system. Mode and owner stay; a symbolic link is followed. The file is replaced atomically; where it
 * is a mount point, as `/etc/hosts` in containers, it is written in place. Text is Latin-1, one character a byte. Nothing is
 * written where the edit changes nothing.
 *
 * @throws CliError `hosts_file_unwritable` where the file cannot be read or written, or other programs change it all the time.
 */
export async function replaceText(path: string, edit: (text: string) => string): Promise<void> {
  try {
    const file = await realpath(path)
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const before = await readFile(file)
      const after = Buffer.from(edit(before.toString('latin1')), 'latin1')
      if (after.equals(before) || (await replace(file, before, after))) return
    }
  } catch (error) {
    if (error instanceof CliError) throw error
    throw unwritable(`${path} cannot be changed: ${reasonOf(error)}.`, error)
  }
  throw unwritable(`${path} cannot be changed: another program writes it all the time.`)
}

function unwritable(message: string, cause?: unknown): CliError {
  return new CliError(message, {
    exitCode: systemCode(cause) === 'EACCES' ? EXIT.denied : EXIT.failed,
    code: 'hosts_file_unwritable',
    hints: ['Make the file writable for the agent, or start it without --hosts.'],
    cause,
  })
}

/** False where the file is no longer what was read. */
async function replace(file: string, before: Buffer, after: Buffer): Promise<boolean> {
  const beside = `${file}.ctl-${process.pid}`
  try {
    await writeBeside(beside, file, after)
    if (!before.equals(await readFile(file))) return false
    await rename(beside, file)
    return true
  } catch (error) {
    if (!IN_PLACE.has(systemCode(error))) throw error
    return await writeInPlace(file, before, after)
  } finally {
    await rm(beside, { force: true })
  }
}

async function writeBeside(beside: string, file: string, bytes: Buffer): Promise<void> {
  const { mode, uid, gid } = await stat(file)
  // A file that an earlier agent with this process id left.
  await rm(beside, { force: true })
  const handle = await open(beside, 'wx', 0o600)
  try {
    await handle.writeFile(bytes)
    const own = await handle.stat()
    if (own.uid !== uid || own.gid !== gid) await handle.chown(uid, gid)
    await handle.chmod(mode & 0o7777)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function writeInPlace(file: string, before: Buffer, after: Buffer): Promise<boolean> {
  const handle = await open(file, 'r+')
  try {
    if (!before.equals(await handle.readFile())) return false
    await overwrite(handle, after)
  } catch (error) {
    // A full disk: the former bytes have their place.
    await overwrite(handle, before)
    throw error
  } finally {
    await handle.close()
  }
  if (!after.equals(await readFile(file))) throw new Error('it has other content than was written')
  return true
}

async function overwrite(handle: FileHandle, bytes: Buffer): Promise<void> {
  await writeAll(handle, bytes)
  await handle.truncate(bytes.byteLength)
  await handle.sync()
}

async function writeAll(handle: FileHandle, bytes: Buffer): Promise<void> {
  let written = 0
  while (written < bytes.byteLength) {
    const { bytesWritten } = await handle.write(bytes, written, bytes.byteLength - written, written)
    written += bytesWritten
  }
}
