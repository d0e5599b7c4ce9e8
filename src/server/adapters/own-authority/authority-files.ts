import { createPrivateKey, X509Certificate } from 'node:crypto'
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { BootError } from '../../ports/boot-error.ts'
import { syncDirectory, writeSecretFile } from '../../ports/secret-file.ts'
import type { PemPair } from './certificates.ts'

/** Files of one server's own authority, all of mode 0600. */
export interface AuthorityPaths {
  /** Key and certificate of the authority in one file, so that they cannot come apart. */
  readonly authority: string
  /** Certificate of the authority alone, for clients. */
  readonly certificate: string
  /** Key and certificate of the server. */
  readonly server: string
}

/** A pair whose certificate is parsed and has the key. */
export interface StoredPair extends PemPair {
  readonly parsed: X509Certificate
}

/** The files in that directory. */
export function pathsIn(directory: string): AuthorityPaths {
  return {
    authority: join(directory, 'authority.pem'),
    certificate: join(directory, 'ca.pem'),
    server: join(directory, 'server.pem'),
  }
}

/**
 * Reads the authority; undefined where there is none yet.
 * @throws BootError for a file that cannot be read or does not hold one: another authority would lock every client out.
 */
export function readAuthority(path: string): StoredPair | undefined {
  const text = readText(path)
  if (text === undefined) return undefined
  const pair = parsePair(text)
  if (pair?.parsed.ca === true) return pair
  throw new BootError(
    1,
    `The file ${path} must hold the key and the certificate of the authority of --tls-self-signed; restore it, or remove it to make another authority, which every client must then be given.`,
  )
}

/** Reads the server's pair; undefined where there is none or it is damaged: the authority can sign another. */
export function readServerPair(path: string): StoredPair | undefined {
  const text = readText(path)
  return text === undefined ? undefined : parsePair(text)
}

/** Creates the file of the authority unless another process has created it meanwhile. @throws BootError */
export function createAuthorityFile(path: string, { key, cert }: PemPair): void {
  guardWrite(path, () => {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    const staging = stage(path, key + cert)
    try {
      linkSync(staging, path)
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error
    } finally {
      rmSync(staging)
    }
    syncDirectory(dirname(path))
  })
}

/** Replaces a file atomically; it is on disk when this returns. @throws BootError */
export function replaceFile(path: string, text: string): void {
  if (readText(path) === text) return
  guardWrite(path, () => {
    renameSync(stage(path, text), path)
    syncDirectory(dirname(path))
  })
}

/** Writes a file beside it that no other process writes. */
function stage(path: string, text: string): string {
  const staging = `${path}.${process.pid}`
  // A left-over of a killed process that had the same id.
  rmSync(staging, { force: true })
  writeSecretFile(staging, text)
  return staging
}

function guardWrite(path: string, write: () => void): void {
  try {
    write()
  } catch (error) {
    throw new BootError(
      1,
      `The file ${path} of --tls-self-signed cannot be written (${codeOf(error)}); give a --data-dir that can be written.`,
      error,
    )
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw new BootError(
      1,
      `The file ${path} of --tls-self-signed cannot be read (${codeOf(error)}); check its mode.`,
      error,
    )
  }
}

/** The pair in a file that holds both in PEM; undefined where they are not there or do not belong to each other. */
function parsePair(text: string): StoredPair | undefined {
  try {
    const parsed = new X509Certificate(text)
    const privateKey = createPrivateKey(text)
    if (!parsed.checkPrivateKey(privateKey)) return undefined
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    return { parsed, key, cert: parsed.toString() }
  } catch {
    // Whatever is wrong with the text, it holds no pair; the caller decides what that means.
    return undefined
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}
