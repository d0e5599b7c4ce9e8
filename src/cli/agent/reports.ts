import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { systemCode } from './errors.ts'

/** The program of the agent, as it reports it. */
export interface AgentBinary {
  readonly version: string
  /** SHA-256 of its main file, 64 hex digits. */
  readonly checksum: string
}

const SSH_HOST_KEY = '/etc/ssh/ssh_host_ed25519_key.pub'

/** SHA-256 of a file, 64 hex digits. @throws the error of the file system. */
export async function checksumOf(path: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(path))
    .digest('hex')
}

/** The fingerprint of the machine's SSH host key, as `ssh-keygen -l` prints it; undefined where it has none. */
export async function sshFingerprint(path: string = SSH_HOST_KEY): Promise<string | undefined> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if (['ENOENT', 'EACCES'].includes(systemCode(error))) return undefined
    throw error
  }
  const key = /^ssh-ed25519 ([A-Za-z0-9+/]+={0,2})(?:\s|$)/.exec(text)?.[1]
  if (key === undefined) return undefined
  return `SHA256:${createHash('sha256').update(Buffer.from(key, 'base64')).digest('base64').replaceAll('=', '')}`
}
